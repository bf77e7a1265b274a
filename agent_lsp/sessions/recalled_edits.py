"""The edits that a trace tells of, as far as they can still be taken back.

The trace has the diff of each edit, not the texts around it. Those are made again from the file as it is now, from the
last edit back to the first: where the lines that an edit left are still there, all of them with their surroundings, the
lines that stood there before are put back. What others have changed elsewhere in the file is in those texts too, as if
it had been there all along.

    now ── the lines of edit 3 undone ──▶ before edit 3 ── those of edit 2 ──▶ …

An edit counts as lost, with the reason, as soon as there is any doubt of what stood there before or where.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.sessions.edit_records import CHANGED
from agent_lsp.sessions.recalled_files import Locate, argument, diffs
from agent_lsp.sessions.told_diff import DiffUnreadable, ToldDiff, ToldHunk, ToldLine
from agent_lsp.slotted import frozen
from agent_lsp.tools.editor import Change, Snapshot, TextEdit
from agent_lsp.tools.mask import MASK

if TYPE_CHECKING:
    from agent_lsp.sessions.file_records import FileCall
    from agent_lsp.sessions.judged import Verdicts

_NOT_TRACED = "the session was resumed, and its record does not hold what stood there before"
_OUTSIDE = "the session was resumed, and the file is not plainly inside the workspace: it may be another one now"
_MIXED = "the session was resumed, and its record does not tell which of the file's kinds of line ends stood there"
_MOVED = "the session was resumed, and its record does not hold how the file that was deleted was written"
_MIXES = "mixes kinds of line ends]"  # `tools.changing`
_CONTEXT = 3
_MOST_CHARACTERS = 32 * 2**20
"""Of all texts that are made again. Older edits are forgotten, as they are in a session that goes on for long."""

Read = Callable[[Path], str | None]
"""The text of a file as it is now, None if there is none."""


@frozen
class RecalledEdit:
    """What one call made of one file: `before` and `after` around `change`.

    Or why that is `lost`; then `at` is about where it was.
    """

    run_id: str
    tool_call_id: str
    change: Change
    before: str | None = None
    after: str | None = None
    lost: str = ""
    at: int = 0


@frozen
class _Step:
    """An edit of a file as the trace has it. `content` is all that a file was made with."""

    made: FileCall
    path: Path
    hunks: tuple[ToldHunk, ...] = ()
    content: str | None = None
    lost: str = ""


def recalled_edits(
    made: Sequence[FileCall], locate: Locate, is_plain: Callable[[Path], bool], read: Read, verdicts: Verdicts
) -> list[RecalledEdit]:
    """The edits in the order in which they were made. Those that are undone already are left out.

    `is_plain`: whether a file is where its path says, inside the workspace.
    """
    steps = [step for one in made for step in _steps(one, locate) if not _is_undone(step, verdicts)]
    texts: dict[Path, _Text] = {}
    room = _MOST_CHARACTERS
    found: list[RecalledEdit] = []
    for step in reversed(steps):
        if not step.lost and not is_plain(step.path):
            step = _Step(step.made, step.path, lost=_OUTSIDE)
        if step.path not in texts:
            texts[step.path] = _Text(None if step.lost == _OUTSIDE else read(step.path))
        recalled = list(_recalled(step, texts[step.path]))
        room -= sum(len(one.before or "") + len(one.after or "") for one in recalled)
        if room < 0:
            break
        found += recalled
    return found[::-1]


def _is_undone(step: _Step, verdicts: Verdicts) -> bool:
    """Whether the person had the whole of it undone."""
    said = verdicts.get(step.made.call.tool_call_id, {}).get(str(step.path), [])
    return bool(said) and all(one == "undone" for one in said)


def _steps(made: FileCall, locate: Locate) -> Iterator[_Step]:
    """What a call has changed, one for each file."""
    output, name = made.output.output, argument(made, "file_path") or ""
    if made.call.name == "write_file" and output.startswith("Created "):
        if (content := argument(made, "content")) is not None:
            yield _Step(made, locate(name), content=content)
        return
    try:
        told = list(diffs(output.split("\n")))
    except DiffUnreadable:
        if name and "already had this content" not in output:
            yield _Step(made, locate(name), lost=_NOT_TRACED)
        return
    is_moving = any(one.new is None for one in told)
    is_mixed = _MIXES in output or "\r" in (argument(made, "content") or "")
    for diff in told:
        path = locate(name or diff.name)
        if is_moving or is_mixed:
            yield _Step(made, path, lost=_MOVED if is_moving else _MIXED)
        elif diff.old is None:
            content = _content(diff)
            yield _Step(made, path, content=content, lost="" if content is not None else _NOT_TRACED)
        else:
            is_certain = all(line.sign != "-" or _is_certain(line) for hunk in diff.hunks for line in hunk.lines)
            yield _Step(made, path, diff.hunks, lost="" if is_certain else _NOT_TRACED)


def _is_certain(line: ToldLine) -> bool:
    return MASK not in line.text and "\ufffd" not in line.text


def _content(diff: ToldDiff) -> str | None:
    """All of a file that a patch has made: its line ends are LF."""
    lines = [line for hunk in diff.hunks for line in hunk.lines]
    if not all(map(_is_certain, lines)):
        return None
    return "".join(line.text + "\n" * (not line.is_open) for line in lines)


def _recalled(step: _Step, text: _Text) -> Iterator[RecalledEdit]:
    """The edit, taken back in the text; what of it is not there any more as another one, which is lost."""
    ids = (step.made.run_id, step.made.call.tool_call_id)
    nothing = Change(step.path, None, None)
    if step.lost:
        yield RecalledEdit(*ids, nothing, lost=step.lost)
    elif step.content is not None:
        yield RecalledEdit(*ids, Change(step.path, None, (TextEdit(0, 0, step.content),)), None, step.content)
        text.lines = None
    elif text.lines is None:
        yield RecalledEdit(*ids, nothing, lost=CHANGED)
    else:
        after = "".join(text.lines)
        taken = text.take_back(step.hunks)
        if taken.edits:
            before = "".join(text.lines)
            yield RecalledEdit(*ids, Change(step.path, Snapshot(step.path, before), taken.edits), before, after)
        if taken.lost:
            yield RecalledEdit(*ids, nothing, lost=taken.lost, at=taken.at)


@frozen
class _Taken:
    """The edits that were taken back, in order; why there are some that were not, and where in the text these were."""

    edits: tuple[TextEdit, ...] = ()
    lost: str = ""
    at: int = 0


class _Text:
    """The text of a file on its way back: lines with their line ends; None while there is no file."""

    def __init__(self, text: str | None) -> None:
        self.lines = None if text is None else _split(text)

    def take_back(self, hunks: Sequence[ToldHunk]) -> _Taken:
        """Takes back those of an edit's hunks that are there."""
        lines = self.lines or []
        found: list[tuple[int, ToldHunk]] = []
        lost, lost_at, at, drift = "", 0, 0, 0
        for hunk in hunks:
            place = _find(lines, hunk, "-", at, drift)
            if place is not None:
                found.append((place, hunk))
                at, drift = place + len(hunk.side("-")), place - hunk.new_start
            elif _find(lines, hunk, "+", at, drift) is None:  # else it has been undone
                lost, lost_at = CHANGED, len("".join(lines[: hunk.new_start + drift]))
        ending = _ending(lines)
        restored = (line for _, hunk in found for line in hunk.lines if line.sign == "-")
        if ending is None and any(not line.is_open for line in restored):
            return _Taken(lost=_MIXED)
        self.lines, edits = _without(lines, found, ending or "")
        return _Taken(tuple(edits), lost, lost_at)


def _ending(lines: Sequence[str]) -> str | None:
    """The line end of these lines; None if they have several, or none."""
    endings = {"\r\n" if line.endswith("\r\n") else "\n" for line in lines if line.endswith("\n")}
    return endings.pop() if len(endings) == 1 else None


def _without(lines: list[str], found: Sequence[tuple[int, ToldHunk]], ending: str) -> tuple[list[str], list[TextEdit]]:
    """The lines with the hunks taken back at their places, and the edits that make them again."""
    before: list[str] = []
    edits: list[TextEdit] = []
    at = size = 0
    for place, hunk in found:
        before += lines[at:place]
        size += sum(map(len, lines[at:place]))
        at = place
        for is_kept, group in groupby(hunk.lines, key=lambda line: line.sign == " "):
            run = list(group)
            new = lines[at : at + sum(line.sign != "-" for line in run)]
            old = new if is_kept else [line.text + ending * (not line.is_open) for line in run if line.sign == "-"]
            if not is_kept:
                edits.append(TextEdit(size, size + sum(map(len, old)), "".join(new)))
            before += old
            at, size = at + len(new), size + sum(map(len, old))
    return [*before, *lines[at:]], edits


def _find(lines: list[str], hunk: ToldHunk, dropped: str, at: int, drift: int) -> int | None:
    """Where one side of a hunk is, from a line on: at its place, else where it is found once with all around it."""
    side, start = hunk.side(dropped), hunk.new_start if dropped == "-" else hunk.old_start
    if not side:
        return 0 if not lines else None
    place = start + drift
    if place >= at and _is_at(lines, side, place, hunk):
        return place
    if _context(hunk.lines) < _CONTEXT or _context(hunk.lines[::-1]) < _CONTEXT:
        return None
    first = side[0].text
    places = [n for n in range(at, len(lines)) if lines[n].startswith(first) and _is_at(lines, side, n, hunk)]
    return places[0] if len(places) == 1 else None


def _is_at(lines: list[str], side: Sequence[ToldLine], place: int, hunk: ToldHunk) -> bool:
    """Whether these lines are there; a file that had no line end at its end is one only there."""
    if place + len(side) > len(lines) or (place + len(side) < len(lines) and any(one.is_open for one in hunk.lines)):
        return False
    return all(
        line == told.text if told.is_open else line.endswith("\n") and line[:-1].removesuffix("\r") == told.text
        for line, told in zip(lines[place : place + len(side)], side, strict=True)
    )


def _context(lines: Sequence[ToldLine]) -> int:
    return next((count for count, line in enumerate(lines) if line.sign != " "), len(lines))


def _split(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])
