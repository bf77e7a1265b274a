"""Reads patches: unified diffs (git's too) and the V4A form. Whether they fit is seen elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from agent_lsp.slotted import field, mutable

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_V4A = re.compile(r"\*\*\* (Update|Add|Delete) File: (.+)")
_UNQUOTED = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


class PatchUnreadable(ValueError):
    """A text that is no patch; says where it stops being one."""


@mutable
class Hunk:
    """Lines with their signs (blank, `-`, `+`).

    `begin` is the line of the old file where it should fit (from 0), `anchors` are lines to be found first.
    `old_is_open` and `new_is_open`: the last line of that side has no line end, which a unified diff says and V4A does
    not know.
    """

    lines: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    begin: int | None = None
    anchors: tuple[str, ...] = ()
    is_at_end: bool = False
    old_is_open: bool = False
    new_is_open: bool = False

    def side(self, dropped: str) -> list[str]:
        """The lines of one side: all but those with the sign of the other."""
        return [text for sign, text in self.lines if sign != dropped]


@mutable
class FilePatch:
    """What a patch does to one file. A deletion's hunks, if it has any, must be all that is in the file."""

    kind: Literal["add", "update", "delete"]
    path: str
    move_to: str | None = None
    hunks: list[Hunk] = field(default_factory=list[Hunk])


def parse_patch(text: str) -> list[FilePatch]:
    """The files of a patch, in its order. Raises PatchUnreadable."""
    lines = text.replace("\r\n", "\n").strip("\n").split("\n")
    if any(line.startswith("*** ") for line in lines[:3]) or any(_V4A.fullmatch(line) for line in lines):
        files = list(_v4a(lines))
    else:
        files = _unified(lines)
    if not files:
        raise PatchUnreadable(
            "it names no file: give a unified diff (--- and +++ lines) or *** Begin Patch … *** End Patch"
        )
    seen: set[str] = set()
    for path in (path for one in files for path in (one.path, one.move_to) if path is not None):
        if not path.strip():
            raise PatchUnreadable("one of its files has no name: give the path of each")
        if path in seen:
            raise PatchUnreadable(f"it names {path} twice: put all its changes together")
        seen.add(path)
    return files


# --- V4A ---


def _v4a(lines: list[str]) -> Iterator[FilePatch]:
    file: FilePatch | None = None
    for number, line in enumerate(lines, 1):
        if line.strip() in ("*** Begin Patch", "*** End Patch"):
            continue
        if header := _V4A.fullmatch(line.rstrip()):
            if file:
                yield file
            kind: Literal["add", "update", "delete"] = {"Update": "update", "Add": "add"}.get(header[1], "delete")  # pyright: ignore[reportAssignmentType]
            file = FilePatch(kind, header[2])
        elif file is None:
            if line.strip():
                raise PatchUnreadable(f"line {number} belongs to no file: {line[:80]}")
        else:
            _v4a_line(file, line, number)
    if file:
        yield file


def _v4a_line(file: FilePatch, line: str, number: int) -> None:
    last = file.hunks[-1] if file.hunks else None
    if line.startswith("*** Move to: "):
        file.move_to = line.removeprefix("*** Move to: ").strip()
    elif line.startswith("*** End of File"):
        if last:
            last.is_at_end = True
    elif line.startswith("@@") and file.kind == "update":
        anchor = line.removeprefix("@@").removesuffix("@@").strip()
        if last is None or last.lines:
            last = Hunk()
            file.hunks.append(last)
        last.anchors += (anchor,) if anchor else ()
    elif file.kind == "add" and not line.startswith("+"):
        if line.strip():
            raise PatchUnreadable(f"line {number}: each line of an added file begins with +")
    else:
        if last is None:
            last = Hunk()
            file.hunks.append(last)
        last.lines.append(_signed(line, number))


def _signed(line: str, number: int) -> tuple[str, str]:
    if not line:
        return " ", ""
    if line[0] not in " +-":
        raise PatchUnreadable(f"line {number} begins with neither blank, + nor -: {line[:80]}")
    return line[0], line[1:]


# --- unified ---


def _unified(lines: list[str]) -> list[FilePatch]:
    """Models miscount: if the counts of the hunk headers do not add up, they are left aside."""
    try:
        return _UnifiedReader(lines, trusts_counts=True).files()
    except PatchUnreadable:
        return _UnifiedReader(lines, trusts_counts=False).files()


class _UnifiedReader:
    def __init__(self, lines: list[str], *, trusts_counts: bool) -> None:
        self._lines, self._trusts_counts = lines, trusts_counts
        self._at = 0

    def files(self) -> list[FilePatch]:
        files: list[FilePatch] = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if self._is_header(self._at):
                files.append(self._file(files))
            elif line.startswith("rename from "):
                files.append(FilePatch("update", line.removeprefix("rename from ")))
                self._at += 1
            elif line.startswith("rename to ") and files:
                files[-1].move_to = line.removeprefix("rename to ")
                self._at += 1
            elif line.startswith(("GIT binary patch", "Binary files ")):
                raise PatchUnreadable(f"line {self._at + 1}: binary files cannot be patched")
            elif line[:1] in "+-@ " and line.strip() and files:
                raise PatchUnreadable(f"line {self._at + 1} belongs to no hunk: {line[:80]}")
            else:
                self._at += 1
        return files

    def _is_header(self, at: int) -> bool:
        return (
            at + 1 < len(self._lines) and self._lines[at].startswith("--- ") and self._lines[at + 1].startswith("+++ ")
        )

    def _file(self, files: list[FilePatch]) -> FilePatch:
        old, new = _path(self._lines[self._at][4:]), _path(self._lines[self._at + 1][4:])
        self._at += 2
        if (not old or old.startswith("a/")) and (not new or new.startswith("b/")):
            old, new = old[2:], new[2:]
        if files and not files[-1].hunks and files[-1].move_to == new and files[-1].path == old:
            file = files.pop()
        elif old and new:
            file = FilePatch("update", old, None if old == new else new)
        else:
            file = FilePatch("delete" if old else "add", old or new)
        while self._at < len(self._lines) and (header := _HUNK.match(self._lines[self._at])):
            self._at += 1
            file.hunks.append(self._hunk(header))
        return file

    def _hunk(self, header: re.Match[str]) -> Hunk:
        hunk = Hunk(begin=max(0, int(header[1]) - 1))
        old, new = int(header[2] or 1), int(header[3] or 1)
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.startswith("\\"):
                _leave_open(hunk)
            elif (self._trusts_counts and old <= 0 and new <= 0) or (
                not self._trusts_counts and (self._is_header(self._at) or line.startswith(("@@ ", "diff --git ")))
            ):
                break
            else:
                sign, text = _signed(line, self._at + 1)
                hunk.lines.append((sign, text))
                old, new = old - (sign != "+"), new - (sign != "-")
            self._at += 1
        if self._trusts_counts and (old, new) != (0, 0):
            raise PatchUnreadable("the line counts of a hunk do not add up")
        return hunk


def _leave_open(hunk: Hunk) -> None:
    sign = hunk.lines[-1][0] if hunk.lines else " "
    hunk.old_is_open |= sign != "+"
    hunk.new_is_open |= sign != "-"


def _path(written: str) -> str:
    path = written.split("\t")[0].rstrip()
    if path.startswith('"') and path.endswith('"'):
        path = _unquoted(path[1:-1])
    return "" if path == "/dev/null" else path


def _unquoted(path: str) -> str:
    """Undoes git's quoting: octal bytes and C escapes."""
    raw = re.sub(
        rb"\\([0-7]{3}|.)",
        lambda found: (
            bytes([int(found[1], 8)]) if len(found[1]) == 3 else _UNQUOTED.get(found[1].decode(), "").encode()
        ),
        path.encode(),
    )
    return raw.decode("utf-8", "replace")
