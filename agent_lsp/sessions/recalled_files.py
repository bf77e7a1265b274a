"""What the model saw last of each file, as a trace tells it: the lines that it was shown, and those that it wrote.

Of a file that was read in parts only these parts are known. Whatever cannot be told for certain is not known: an output
that was shortened, a line with a masked secret, a diff that does not fit what was there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.content import Text
from agent_lsp.sessions.told_diff import DiffReader, DiffUnreadable, ToldDiff
from agent_lsp.slotted import field, mutable
from agent_lsp.tools.arguments import Arguments, parse
from agent_lsp.tools.mask import MASK

if TYPE_CHECKING:
    from agent_lsp.sessions.file_records import FileCall

_NUMBERED = re.compile(r" *([0-9]+)\t(.*)", re.DOTALL)
_GO_ON = re.compile(r"\[lines [0-9]+-[0-9]+ of [0-9]+; go on with offset [0-9]+\]")
_CUT = re.compile(r" \[[0-9]+ more characters in this line\]$")
_EMPTY = "[the file is empty]"
_ATTACHED = re.compile(r"\[attached file: (?P<name>.+?)(?P<range>:[0-9]+-[0-9]+)?\]")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@mutable
class Seen:
    """The lines of a file, None for one that is not known. `has_end`: there are no more of them.

    `is_there` is false once the model knows that the file is gone. `is_attached`: somebody has shown the text below
    the name, and the name may be that of no file.
    """

    lines: list[str | None] = field(default_factory=list[str | None])
    has_end: bool = False
    is_there: bool = True
    is_attached: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether all of it is known."""
        return self.has_end and None not in self.lines

    def fits(self, text: str) -> bool:
        """Whether the text is what was seen, as far as it was."""
        now = shown_lines(text)
        if self.has_end and len(now) != len(self.lines):
            return False
        return len(now) >= len(self.lines) and all(
            seen is None or seen == line for seen, line in zip(self.lines, now, strict=False)
        )

    def text(self, like: str | None) -> str:
        """All of it, with the line ends and the final one of another text."""
        ending = "\r\n" if like is not None and "\r\n" in like else "\n"
        body = ending.join(line or "" for line in self.lines)
        is_open = like is not None and like != "" and not like.endswith("\n")
        return body + ending * (bool(self.lines) and not is_open)


def shown_lines(text: str) -> list[str]:
    """The lines of a text as they are shown to a model: without line ends, and without what is no character."""
    lines = (text if text.isascii() else _LONE_SURROGATE.sub("\ufffd", text)).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


Locate = Callable[[str], Path]
"""The absolute path that a name means to the tools."""


def recalled_files(told: Iterable[FileCall | Text], locate: Locate) -> dict[Path, Seen]:
    """What was seen of each file; those seen last come last."""
    recalled = _Recalled(locate)
    for one in told:
        recalled.hear(one)
    return recalled.files()


_See = Callable[[Seen | None], Seen | None]
"""What is known of a file after it was seen once more, made of what was known before; None: nothing."""


class _Recalled:
    """The files after so many of the records.

    What was seen of a file is put together at the end: a model reads the same file again and again, and a whole look at
    it makes those before it worthless.
    """

    def __init__(self, locate: Locate) -> None:
        self._looks: dict[Path, list[_See]] = {}
        self._locate = locate

    def files(self) -> dict[Path, Seen]:
        """What is known of each file by now."""
        found: dict[Path, Seen] = {}
        for path, looks in self._looks.items():
            seen: Seen | None = None
            for look in looks:
                seen = look(seen)
            if seen is not None:
                found[path] = seen
        return found

    def hear(self, one: FileCall | Text) -> None:
        """One more record."""
        if isinstance(one, Text):
            self._hear_text(one)
            return
        name, output = argument(one, "file_path") or "", one.output.output
        match one.call.name:
            case "read_file":
                is_whole = output.startswith("     1\t") and not output.endswith("]")
                self._look(name, lambda before: _read(before, output), is_whole=is_whole)
            case "write_file":
                content = argument(one, "content")
                self._look(name, lambda _: None if content is None else _whole(content), is_whole=True)
            case _:
                self._hear_diffs(output.split("\n"), name, argument(one, "patch") or "")

    def _hear_text(self, said: Text) -> None:
        """A file that the person has shown, or what the model was told of changes by others."""
        head, _, body = said.text.partition("\n")
        if said.sender == "harness":
            self._hear_report(body.split("\n"))
        elif said.sender is None and (attached := _ATTACHED.fullmatch(head)) and not attached["range"]:
            self._look(attached["name"], lambda _: _attached(body), is_whole=True)

    def _hear_diffs(self, lines: Sequence[str], name: str, patch: str) -> None:
        """The output of a call that has changed files; those of which it does not tell all are not known any more."""
        try:
            for diff in diffs(lines):
                self._look_at_diff(diff)
        except DiffUnreadable:
            self._forget("\n".join((*lines, name, patch)))

    def _hear_report(self, lines: Sequence[str]) -> None:
        """A heading, then for each file a line that names it and what has changed, then the end of the block."""
        reader = DiffReader(lines, 1)
        try:
            while reader.at < len(lines) - 1:
                reader.at += 1
                diff = reader.read()
                if reader.is_at_diff:
                    raise DiffUnreadable  # changes from before and after an edit of the agent's: in no order to go by
                self._look_at_diff(diff)
        except DiffUnreadable:
            self._forget("\n".join(lines))

    def _look_at_diff(self, diff: ToldDiff) -> None:
        is_whole = diff.old is None or diff.new is None
        self._look(diff.name, lambda before: _changed(before, diff), is_whole=is_whole)

    def _look(self, name: str, see: _See, *, is_whole: bool) -> None:
        if not name or ".." in Path(name).parts or not name.isprintable():
            self._forget(name)  # it may be another name of a file that is known
            return
        path = self._locate(name)
        before = self._looks.pop(path, [])
        self._looks[path] = [see] if is_whole else [*before, see]

    def _forget(self, text: str) -> None:
        """Nothing is certain of the files that may be meant here."""
        self._looks = {path: looks for path, looks in self._looks.items() if path.name not in text}


def diffs(lines: Sequence[str]) -> Iterator[ToldDiff]:
    """The diffs that an output begins with, behind its first line at the latest.

    Raises DiffUnreadable where there is none, or not the whole of one.
    """
    reader = DiffReader(lines)
    if not reader.is_at_diff:
        reader.at = 1
    yield reader.read()
    while reader.is_at_diff:
        yield reader.read()
    if any(line.startswith("[output truncated: ") for line in lines[reader.at :]):
        raise DiffUnreadable


def argument(made: FileCall, name: str) -> str | None:
    """A text among the arguments of a call, read as its tool does."""
    read = parse(_AnyArguments, made.call.arguments)
    given: Any = None if isinstance(read, str) else (read.model_extra or {}).get(name)
    return given if isinstance(given, str) else None


class _AnyArguments(Arguments, extra="allow"):
    """Whatever a call was given."""


def _whole(content: str) -> Seen:
    return Seen(list(shown_lines(content)), has_end=True)


def _attached(body: str) -> Seen:
    return Seen([_certain(line) for line in shown_lines(body)], has_end=True, is_attached=True)


def _read(before: Seen | None, output: str) -> Seen | None:
    """What is known after a page was read; pages of one file make up what is known of it, as long as they agree."""
    if output == _EMPTY:
        return Seen([], has_end=True)
    *lines, last = output.split("\n")
    goes_on = _GO_ON.fullmatch(last) is not None
    numbered = [_NUMBERED.fullmatch(line) for line in lines]
    if (last and not goes_on) or not numbered or not numbered[0]:
        return None
    start = int(numbered[0][1]) - 1
    page: list[str | None] = []
    for number, found in enumerate(numbered, start + 1):
        if found is None or int(found[1]) != number:
            return None
        page.append(None if _CUT.search(found[2]) else _certain(found[2]))
    seen = Seen([None] * start + page, has_end=not goes_on)
    return _joined(before, seen) if before else seen


def _joined(before: Seen, page: Seen) -> Seen:
    longest = max(len(before.lines), len(page.lines))
    if not before.is_there or any(one.has_end and len(one.lines) < longest for one in (before, page)):
        return page
    lines: list[str | None] = []
    for number in range(longest):
        was = before.lines[number] if number < len(before.lines) else None
        now = page.lines[number] if number < len(page.lines) else None
        if was is not None and now is not None and was != now:
            return page
        lines.append(was if now is None else now)
    return Seen(lines, has_end=before.has_end or page.has_end)


def _changed(before: Seen | None, diff: ToldDiff) -> Seen:
    """What is known after a change: the lines of the diff, and what was known around them if it fits."""
    if diff.new is None:
        return Seen(is_there=False)
    if diff.old is None:
        return Seen([_certain(line.text) for hunk in diff.hunks for line in hunk.side("-")], has_end=True)
    known = before if before and before.is_there and _fits(before, diff) else Seen()
    lines = list(known.lines)
    for hunk in reversed(diff.hunks):
        lines += [None] * (hunk.old_start - len(lines))
        new: list[str | None] = [_certain(line.text) for line in hunk.side("-")]
        lines[hunk.old_start : hunk.old_start + len(hunk.side("+"))] = new
    return Seen(lines, has_end=known.has_end)


def _fits(seen: Seen, diff: ToldDiff) -> bool:
    for hunk in diff.hunks:
        old = hunk.side("+")
        if seen.has_end and hunk.old_start + len(old) > len(seen.lines):
            return False
        there = seen.lines[hunk.old_start : hunk.old_start + len(old)]
        if any(line is not None and line != told.text for line, told in zip(there, old, strict=False)):
            return False
    return True


def _certain(line: str) -> str | None:
    """The line, unless it may be another than the one in the file."""
    return None if MASK in line or "\ufffd" in line or "[\\/user_edits]" in line else line
