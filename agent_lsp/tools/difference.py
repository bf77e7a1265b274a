"""Where two texts differ: the fewest characters that make one of the other, at bounded cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from agent_lsp.tools.editor import TextEdit

_MOST_COMPARED = 4_000  # lines: comparing them is quadratic


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
    """The parts of an edit that change something."""
    old, new = text[edit.start : edit.end], edit.text
    if old == new:
        return
    head, tail = _common(old, new)
    first = old.rfind("\n", 0, head) + 1
    last_old, last_new = _line_end(old, len(old) - tail), _line_end(new, len(new) - tail)
    olds, news = old[first:last_old].splitlines(True), new[first:last_new].splitlines(True)
    if len(olds) + len(news) > _MOST_COMPARED or min(len(olds), len(news)) < 2:
        yield TextEdit(edit.start + head, edit.end - tail, new[head : len(new) - tail])
        return
    at = edit.start + first
    for removed, added in _replaced(olds, news):
        if removed != added:
            head, tail = _common(removed, added)
            yield TextEdit(at + head, at + len(removed) - tail, added[head : len(added) - tail])
        at += len(removed)


def _without_equal_lines(old: str, edit: TextEdit) -> Iterator[TextEdit]:
    olds, news = old.splitlines(True), edit.text.splitlines(True)
    head, tail = _common(olds, news)
    at = edit.start + sum(map(len, olds[:head]))
    olds, news = olds[head : len(olds) - tail], news[head : len(news) - tail]
    if len(olds) + len(news) > _MOST_COMPARED:
        yield TextEdit(at, at + sum(map(len, olds)), "".join(news))
        return
    for removed, added in _replaced(olds, news):
        if removed != added:
            yield TextEdit(at, at + len(removed), added)
        at += len(removed)


def _replaced(olds: list[str], news: list[str]) -> Iterator[tuple[str, str]]:
    from difflib import SequenceMatcher

    for _, i, j, k, m in SequenceMatcher(None, olds, news, autojunk=False).get_opcodes():
        yield "".join(olds[i:j]), "".join(news[k:m])


def _line_end(text: str, at: int) -> int:
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How much the two have in common at their beginning, and at their end behind that."""
    most = min(len(old), len(new))
    head = _longest(most, lambda count: old[:count] == new[:count])
    tail = _longest(most - head, lambda count: old[len(old) - count :] == new[len(new) - count :])
    return head, tail


def _longest(most: int, fits: Callable[[int], bool]) -> int:
    """The largest count up to `most` that fits, where every smaller one does too."""
    low = 0
    while low < most:
        middle = (low + most + 1) // 2
        low, most = (middle, most) if fits(middle) else (low, middle - 1)
    return low


def _around_line_ends(text: str, edit: TextEdit) -> TextEdit:
    """The edit with every CRLF that it would cut in two taken in whole: nobody can point between its halves."""
    start, end, new = edit.start, edit.end, edit.text
    if text[start - 1 : start + 1] == "\r\n" and start:
        start, new = start - 1, "\r" + new
    if text[end - 1 : end + 1] == "\r\n" and end and end > start:
        end, new = end + 1, new + "\n"
    return TextEdit(start, end, new)
