"""What the slash commands do. Most answer in words, which are in no history."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agent_lsp.acp.settings import choosable
from agent_lsp.messages.events import SessionUpdate

if TYPE_CHECKING:
    from agent_lsp.acp.hub import Hub, Served
    from agent_lsp.acp.slash import Command
    from agent_lsp.engine.tasks import CompactionTicket
    from agent_lsp.wire.service import Call

END_TURN = {"stopReason": "end_turn"}


class Commands:
    """Carries out commands; each begins before this returns, as a prompt does."""

    def __init__(self, hub: Hub) -> None:
        self._opener = hub.opener
        self._carry_out: dict[str, Callable[[Served, str, Call], Awaitable[dict[str, Any]]]] = {
            "compact": self._compact,
            "model": self._model,
            "title": self._title,
            "tools": self._tools,
            "rules": self._rules,
            "usage": self._usage,
        }

    def carry_out(self, command: Command, served: Served, call: Call) -> Awaitable[dict[str, Any]]:
        """The answer of the prompt that the command is."""
        return self._carry_out[command.name](served, command.words, call)

    def _compact(self, served: Served, _: str, call: Call) -> Awaitable[dict[str, Any]]:
        ticket = served.opened.session.start_compaction()
        if ticket is None:
            return _said(served, "There is nothing to compact.")
        call.on_cancel(ticket.interrupt.fire)
        return _compacted(served, ticket)

    def _model(self, served: Served, name: str, _: Call) -> Awaitable[dict[str, Any]]:
        opened = served.opened
        if not name:
            names = choosable(opened, self._opener.models)
            return _said(served, _list(f"{one} (in use)" if one == opened.model.name else one for one in names))
        opened.update(SessionUpdate(model=name), self._opener)
        return _said(served, f"The model is now {opened.model.name}.")

    def _title(self, served: Served, words: str, _: Call) -> Awaitable[dict[str, Any]]:
        if words:
            served.opened.update(SessionUpdate(title=words), self._opener)
            return _said(served, f"The title is now: {words}")
        return _titled(served)

    def _tools(self, served: Served, _: str, __: Call) -> Awaitable[dict[str, Any]]:
        return _said(served, _list(served.opened.toolset.offered()))

    def _rules(self, served: Served, _: str, __: Call) -> Awaitable[dict[str, Any]]:
        labels = [rule.label for rule in served.opened.grants.rules()]
        return _said(served, _list(labels) if labels else "Nothing was allowed for longer than once.")

    def _usage(self, served: Served, _: str, __: Call) -> Awaitable[dict[str, Any]]:
        session, window = served.opened.session, served.opened.model.endpoint.context_window
        used, size = session.usage, f" of {window:,}" if window else ""
        return _said(
            served,
            f"{session.turns} turns, {used.total:,} tokens ({used.cache_read:,} read from the cache,"
            f" {used.output:,} generated). The context holds {session.context_tokens:,}{size} tokens.",
        )


def _list(names: Any) -> str:
    return "\n".join(f"- {name}" for name in names)


async def _said(served: Served, words: str) -> dict[str, Any]:
    served.speech.whole("agent_message_chunk", words)
    return END_TURN


async def _compacted(served: Served, ticket: CompactionTicket) -> dict[str, Any]:
    result = await asyncio.shield(ticket.result)
    if result.status == "aborted":
        return {"stopReason": "cancelled"}
    if result.status == "completed":
        return await _said(served, "The conversation was compacted.")
    return await _said(served, f"The conversation was not compacted: {result.error_message or result.status}")


async def _titled(served: Served) -> dict[str, Any]:
    title = await served.opened.retitle() or served.opened.title
    return await _said(served, f"The title is now: {title}" if title else "The model gave no title.")
