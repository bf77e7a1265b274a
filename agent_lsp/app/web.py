"""What the tools have of the providers: pages from the web, and a model that sees."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import LLM, Outcome, Request, TextDelta
from agent_lsp.errors import ModelUnavailable
from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.tools.tool import End, failed

if TYPE_CHECKING:
    from agent_lsp.tools.read_image import Describe
    from agent_lsp.tools.web_fetch import Fetch, Page

_ASK = """\
Describe this image for a programmer who cannot see it: all of its text word for word, what it shows and where, colours
and states where they matter. Say what you cannot make out, and guess nothing."""


def fetcher(*, allow_private: bool) -> Fetch:
    """Fetches pages, with a client that is imported when the first one is wanted."""

    async def fetch(url: str) -> Page | str:
        from agent_lsp.providers.fetch import WebFetcher
        from agent_lsp.tools.web_fetch import Page

        found = await WebFetcher(allow_private=allow_private).fetch(url)
        if isinstance(found, str):
            return found
        return Page(found.url, found.status, found.content_type, found.body, found.is_cut)

    return fetch


def describer(find: Callable[[], LLM]) -> Describe:
    """Has a model describe images, by a request of its own each. `find` may raise ModelUnavailable."""

    async def describe(image_url: str, question: str) -> str | End:
        try:
            llm = find()
        except ModelUnavailable as error:
            return failed(f"The model that is to look at images cannot be used: {error.message}.")
        ask = Text(role="user", text=f"{_ASK}\n\nAbove all: {question}" if question else _ASK)
        said: list[str] = []
        async with aclosing(llm.stream(Request("", (), (), (ask, ImageUrl(image_url=image_url))))) as parts:
            async for part in parts:
                if isinstance(part, TextDelta):
                    said.append(part.text)
                elif isinstance(part, Outcome) and part.status != "completed":
                    return failed(f"The image could not be described: {part.message or part.status}.")
        return "".join(said).strip() or failed("The image could not be described: the model said nothing.")

    return describe
