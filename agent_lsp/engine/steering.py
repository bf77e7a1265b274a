"""What a person says while a task runs: queued in order of arrival, delivered at the next assembly of an input."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence

from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text, UserContent
from agent_lsp.slotted import frozen


@frozen
class Steering:
    """One entry: what was said, as it was given."""

    steer_id: str
    input: tuple[UserContent, ...]

    def messages(self, fold: Callable[[ImageUrl], str] | None = None) -> Iterator[UserContent]:
        """One `[user_steering]` text with all of its words, then whatever else it holds.

        With `fold`, an image is a line of the block: it must stay the whole text of its message.
        """
        words = "\n\n".join(one.text for one in self.input if isinstance(one, Text))
        images = [fold(one) for one in self.input if isinstance(one, ImageUrl)] if fold else []
        if words or images:
            yield Text(role="user", text=markers.steering("\n".join([*([words] if words else []), *images])))
        yield from (one for one in self.input if not isinstance(one, Text) and not (fold and isinstance(one, ImageUrl)))


class SteeringQueue:
    """The undelivered steering of one run."""

    def __init__(self) -> None:
        self._entries: list[Steering] = []

    def put(self, input: Sequence[UserContent]) -> Steering:
        """Queues an entry; an empty input is given an id and queues nothing."""
        entry = Steering(f"steer-{uuid.uuid4().hex[:8]}", tuple(input))
        if entry.input:
            self._entries.append(entry)
        return entry

    def withdraw(self, steer_id: str) -> bool:
        """Takes an entry back; false once it was delivered, or if it is not known."""
        kept = [entry for entry in self._entries if entry.steer_id != steer_id]
        withdrawn = len(kept) < len(self._entries)
        self._entries = kept
        return withdrawn

    def waiting(self) -> tuple[Steering, ...]:
        """What is queued, in order."""
        return tuple(self._entries)

    def take(self) -> tuple[Steering, ...]:
        """Empties the queue."""
        entries, self._entries = tuple(self._entries), []
        return entries
