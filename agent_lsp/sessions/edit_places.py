"""Where the places that an edit has changed are in a text that has gone on changing: pure functions of texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agent_lsp.slotted import frozen
from agent_lsp.tools.difference import changed_lines, difference, locate
from agent_lsp.tools.editor import TextEdit

_MOST_PLACES = 100  # of one file in one call; what is more counts as one place


@frozen
class Place:
    """A stretch of the text after the edit, and what stood there before."""

    start: int
    end: int
    old: str


class Places:
    """The present text of a file (None: there is no file), in which places are looked for."""

    def __init__(self, text: str | None) -> None:
        self.text = text
        self._since: dict[int, tuple[str, tuple[TextEdit, ...]]] = {}

    @staticmethod
    def made(before: str | None, edits: Sequence[TextEdit] | None) -> list[Place]:
        """The places that a change makes, none if it changes nothing. A file made or deleted is one place."""
        if before is None or edits is None:
            return [Place(0, sum(len(edit.text) for edit in edits or ()), before or "")]
        small = changed_lines(before, edits)
        if len(small) > _MOST_PLACES:
            start, end = small[0].start, small[-1].end
            small = (TextEdit(start, end, _between(before, small)),)
        return list(_placed(before, small))

    def find(self, place: Place, before: str | None, after: str | None) -> tuple[int, int] | None:
        """Where the place is, if nobody has reached into it; the texts are those of the file around the edit.

        A file that was made is the place as a whole: whatever else is in it now reaches into it.
        """
        if before is None or after is None or self.text is None:
            return (0, len(after or "")) if self.text == after else None
        return locate(self._changes_since(after), place.start, place.end)

    def is_taken_back(self, place: Place, before: str | None, after: str | None) -> bool:
        """Whether at the place there is again what stood there before."""
        if before is None or after is None or self.text is None:
            return self.text == before
        if place.old not in self.text:
            return False
        undone = after[: place.start] + place.old + after[place.end :]
        return locate(difference(undone, self.text), place.start, place.start + len(place.old)) is not None

    def near(self, place: Place) -> tuple[int, int]:
        """About where a place is that is gone."""
        length = len(self.text or "")
        return min(place.start, length), min(place.end, length)

    def _changes_since(self, after: str) -> tuple[TextEdit, ...]:
        assert self.text is not None
        known = self._since.get(id(after))  # the text is kept beside its edits, so its id stays its own
        if known is None:
            known = self._since[id(after)] = (after, difference(after, self.text))
        return known[1]


def _placed(before: str, edits: Sequence[TextEdit]) -> Iterator[Place]:
    shift = 0
    for edit in edits:
        yield Place(edit.start + shift, edit.start + shift + len(edit.text), before[edit.start : edit.end])
        shift += len(edit.text) - (edit.end - edit.start)


def _between(before: str, edits: Sequence[TextEdit]) -> str:
    """The new text from the first edit to the last."""
    pieces: list[str] = []
    at = edits[0].start
    for edit in edits:
        pieces += (before[at : edit.start], edit.text)
        at = edit.end
    return "".join(pieces)
