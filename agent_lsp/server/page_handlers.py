"""The handlers of pages: what is to be looked at in a browser, made anew whenever somebody asks for it."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.server.methods import NamedSessionParams, NoParams, Result
from agent_lsp.server.uris import uri_of
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.sessions.pages import Pages


class PageAnswer(Result):
    """A page of HTML that needs nothing else: the `file:` URI of where it is on the server's machine."""

    uri: str


class PageHandlers:
    """What makes pages; the client opens them. Cancelling a request ends the process that is at it."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "agent/session/page": Method(NamedSessionParams, self.session_page),
            "agent/usage/page": Method(NoParams, self.usage_page),
        }

    def session_page(self, params: NamedSessionParams, _: Call) -> Awaitable[PageAnswer]:
        """`agent/session/page`: of an open session or of one on the disk; up to what has happened by now."""
        return _answer(self._pages.of_session(params.session_id))

    def usage_page(self, _: NoParams, __: Call) -> Awaitable[PageAnswer]:
        """`agent/usage/page`: of all sessions in the last 30 days."""
        return _answer(self._pages.of_usage())


async def _answer(made: Awaitable[Path]) -> PageAnswer:
    return PageAnswer(uri=uri_of(await made))
