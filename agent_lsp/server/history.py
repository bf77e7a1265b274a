"""History that a client gives or asks for: seeds of a new session, and pages of an old one."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import to_json

from agent_lsp.engine.carry_over import is_paired
from agent_lsp.errors import InvalidParams
from agent_lsp.messages.content import CONTENT_TYPES, Content, ToolCall
from agent_lsp.messages.envelope import MESSAGE, Message, encode, envelope
from agent_lsp.server.hub import Hub, Served, refuse
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.session_methods import HistoryParams
    from agent_lsp.sessions.open_session import OpenSession
    from agent_lsp.trace.history import End, Page

_MOST_OF_A_CHILD = 10_000  # messages, the last ones


def read_seed(given: list[dict[str, Any]]) -> tuple[Content, ...]:
    """The messages of an `initialHistory`. Raises InvalidParams naming the index of what does not fit."""
    seed: list[Content] = []
    call_ids: set[str] = set()
    for index, raw in enumerate(given):
        field = f"initialHistory[{index}]"
        try:
            payload = MESSAGE.validate_python(raw).payload
        except ValidationError as error:
            raise refuse(field, f"is no message: {error.errors()[0]['msg']}") from None
        if not isinstance(payload, CONTENT_TYPES):
            raise refuse(field, f"a {payload.type} cannot be in a history")
        if isinstance(payload, ToolCall):
            if payload.tool_call_id in call_ids:
                raise refuse(field, f"the tool_call_id {payload.tool_call_id!r} is used twice")
            call_ids.add(payload.tool_call_id)
        seed.append(payload)
    if not is_paired(seed):
        raise InvalidParams(
            "invalid params: initialHistory",
            [("initialHistory", "each tool call needs its one output right after the reply it is in")],
        )
    return tuple(seed)


async def history(hub: Hub, connection: Connection, params: HistoryParams) -> bytes:
    """A page of a session's history, as JSON; for an open one also what is going on, all of it as of one moment."""
    served = hub.find(params.session_id)
    if served is None:
        stored = partial(hub.stored_history, from_end=params.from_end)
        page = await asyncio.to_thread(stored, params.session_id, params.limit, params.cursor)
        return _answer(page, (), 0, {"runs": [], "steers": [], "approvals": []})
    trace = served.session.trace
    next_seq, pending = connection.outbox.barrier(params.session_id), _pending(served)
    live = [_Live.of(one) for one in (served.session, *served.session.children_at_work())]
    until = trace.end()
    read = trace.latest if params.from_end else trace.history
    page = await asyncio.to_thread(read, params.limit, params.cursor, until)
    if page.next_cursor or (params.from_end and params.cursor is not None):
        return _answer(page, (), next_seq, pending)
    own, *children = live
    told = [message for child in children for message in await asyncio.to_thread(child.all)]
    return _answer(page, (*own.open, *told), next_seq, pending)


@frozen
class _Live:
    """What is going on in a session at one moment: its unfinished segments, and where its trace ends."""

    session: OpenSession
    open: tuple[Message, ...]
    until: End

    @classmethod
    def of(cls, session: OpenSession) -> _Live:
        """As of now."""
        return cls(session, tuple(map(envelope, session.session.so_far())), session.trace.end())

    def all(self) -> list[Message]:
        """All that a child has said: the history of its parent has none of it."""
        written = self.session.trace.latest(_MOST_OF_A_CHILD, until=self.until).messages
        origin = (self.session.session_id,)
        return [message.model_copy(update={"origin": origin}) for message in (*written, *self.open)]


def _answer(page: Page, live: Sequence[Message], next_seq: int, pending: dict[str, Any]) -> bytes:
    """Messages go out in the very bytes of the trace's encoding: an opaque `fidelity` is nobody's to tidy up."""
    fields = [b'"messages":[%b]' % b",".join(map(encode, page.messages)), b'"nextSeq":%d' % next_seq]
    if page.next_cursor:
        fields.append(b'"nextCursor":%b' % to_json(page.next_cursor))
    if page.previous_cursor:
        fields.append(b'"previousCursor":%b' % to_json(page.previous_cursor))
    if page.earlier is not None:
        fields.append(b'"earlier":%d' % page.earlier)
    if live:
        fields.append(b'"live":[%b]' % b",".join(map(encode, live)))
    fields.append(b'"pending":%b' % to_json(pending, by_alias=True, exclude_none=True))
    return b"{%b}" % b",".join(fields)


def _pending(served: Served) -> dict[str, Any]:
    session = served.session.session
    return {
        "runs": [{"runId": one.run_id, "input": served.given.get(one.run_id)} for one in session.waiting()],
        "steers": [{"steerId": one.steer_id, "input": served.given.get(one.steer_id)} for one in session.undelivered()],
        "approvals": list(served.person.open.values()),
    }
