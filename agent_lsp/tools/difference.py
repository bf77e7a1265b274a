"""Where two texts differ: the fewest characters that make one of the other, at bounded cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_lsp.tools.differing_lines import common, differing
from agent_lsp.tools.editor import TextEdit


def difference(old: str, new: str) -> tuple[TextEdit, ...]:
    """The edits that make `new` of `old`, in order; none cuts a CRLF in two, and no two touch."""
    return refine(old, (TextEdit(0, len(old), new),))


def refine(text: str, edits: Sequence[TextEdit]) -> tuple[TextEdit, ...]:
    """The same edits of the text, each no larger than it must be."""
    small = [one for edit in _joined(edits) for one in _narrowed(text, edit)]
    return tuple(_joined(_around_line_ends(text, one) for one in small))


def changed_lines(text: str, edits: Sequence[TextEdit]) -> tuple[TextEdit, ...]:
    """The same edits without the lines that they leave as they are; what is left of a line is left whole.

    For telling whether somebody reached into an edit: of `second` that became `2nd`, the `nd` is no less edited.
    """
    return tuple(one for edit in _joined(edits) for one in _without_equal_lines(text[edit.start : edit.end], edit))


def applied(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with the edits made."""
    pieces: list[str] = []
    at = 0
    for edit in edits:
        pieces += (text[at : edit.start], edit.text)
        at = edit.end
    return "".join((*pieces, text[at:]))


def locate(edits: Sequence[TextEdit], start: int, end: int) -> tuple[int, int] | None:
    """Where a stretch of the text is after the edits; None if one of them reached into it.

    A stretch of no length is gone as soon as anything happens at its place.
    """
    shift = 0
    for edit in edits:
        if edit.start > end or (edit.start == end and start < end):
            break
        if edit.end > start or (edit.end == start and start == end):
            return None
        shift += len(edit.text) - (edit.end - edit.start)
    return start + shift, end + shift


def _joined(edits: Iterable[TextEdit]) -> list[TextEdit]:
    joined: list[TextEdit] = []
    for edit in edits:
        if joined and joined[-1].end == edit.start:
            before = joined.pop()
            edit = TextEdit(before.start, edit.end, before.text + edit.text)
        joined.append(edit)
    return joined


def _narrowed(text: str, edit: TextEdit) -> Iterator[TextEdit]:
    """The parts of an edit that change something, to the character."""
    for one in _without_equal_lines(text[edit.start : edit.end], edit):
        old = text[one.start : one.end]
        head, tail = common(old, one.text)
        yield TextEdit(one.start + head, one.end - tail, one.text[head : len(one.text) - tail])


def _without_equal_lines(old: str, edit: TextEdit) -> Iterator[TextEdit]:
    """The parts of an edit that change something, to the line."""
    new = edit.text
    head, tail = common(old, new)
    first = old.rfind("\n", 0, head) + 1
    olds = old[first : _line_end(old, len(old) - tail)].splitlines(True)
    news = new[first : _line_end(new, len(new) - tail)].splitlines(True)
    at = edit.start + first
    done = 0
    for i, j, k, m in differing(olds, news):
        at += sum(map(len, olds[done:i]))
        removed = sum(map(len, olds[i:j]))
        yield TextEdit(at, at + removed, "".join(news[k:m]))
        at, done = at + removed, j


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _around_line_ends(text: str, edit: TextEdit) -> TextEdit:
    """The edit with every CRLF that it would cut in two taken in whole: nobody can point between its halves."""
    start, end, new = edit.start, edit.end, edit.text
    if text[start - 1 : start + 1] == "\r\n" and start:
        start, new = start - 1, "\r" + new
    if text[end - 1 : end + 1] == "\r\n" and end and end > start:
        end, new = end + 1, new + "\n"
    return TextEdit(start, end, new)
