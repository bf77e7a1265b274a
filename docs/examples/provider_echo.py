"""A model that says what it was asked: the whole of what the engine wants of a provider."""

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import LLM, Outcome, Part, Request, SegmentEnd, TextDelta
from agent_lsp.messages.content import Text
from agent_lsp.messages.events import TokenCounts


class Echo:
    """Stateless: all there is to know comes with each request."""

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the last words of the user; the last part is the outcome, whatever happens."""
        said = next((one.text for one in reversed(request.input) if isinstance(one, Text)), "")
        if not said:
            yield Outcome("failed", "there is nothing to repeat", permanent=True)
            return
        for word in said.split():
            yield TextDelta(f"{word} ")
        yield SegmentEnd()
        count = len(said.split())
        yield Outcome("completed", usage=TokenCounts(cache_write=count, output=count, total=2 * count), finish="stop")


if TYPE_CHECKING:
    _: LLM = Echo()
