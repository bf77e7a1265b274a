"""A trace that something has spoilt: what can be read of it is read, the session goes on, its requests are legal."""

from __future__ import annotations

import asyncio
import functools
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from agent_lsp.errors import AgentError
from agent_lsp.messages.content import ToolCall, ToolCallOutput
from agent_lsp.trace.paths import DataDir, make_private
from agent_lsp.trace.reader import read_trace
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.view.verify import verify
from tests.engine.harness import run, said
from tests.fuzz.mutation import Sample
from tests.fuzz.target import Target
from tests.sessions.test_sessions_crash import ID, lived, resumed

GOES_ON_WITHIN_S = 600
"""Of virtual time."""


@functools.cache
def traces() -> tuple[Sample, ...]:
    """The files of two sessions that were lived: runs, failures, calls, an interrupt, compactions."""
    with tempfile.TemporaryDirectory() as folder:
        files = [file for seed in (1, 2) for file in lived(seed, Path(folder) / str(seed)).files]
    return tuple(Sample(tuple(file.split(b"\n")), b"\n") for file in files)


def spoilt(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = DataDir(Path(folder))
        path = place.trace_path(ID, 1)
        make_private(path.parent)
        path.write_bytes(data)
        read = list(read_trace(path, lambda _: None))
        assert len(read) <= data.count(b"\n") + 1
        with suppress(AgentError):  # it is said that it cannot be read
            run(goes_on(place))
        look_at(place, path)


async def goes_on(place: DataDir) -> None:
    async with asyncio.timeout(GOES_ON_WITHIN_S):
        session, model, writer = await resumed(place, [])
        try:
            result = await session.run(said("again"))
            assert result.status in ("completed", "max_turns"), result
            for _, request in model.requests:
                check_pairing([one for commit in request.history for one in commit.messages] + list(request.input))
            await session.close()
        finally:
            writer.abandon()


def check_pairing(messages: list[Any]) -> None:
    """Each call is answered once, by the next outputs, in call order."""
    waiting: list[str] = []
    answering = False
    for one in messages:
        if isinstance(one, ToolCallOutput):
            assert waiting and waiting.pop(0) == one.tool_call_id, "an output without its call, or out of order"
            answering = bool(waiting)
        elif isinstance(one, ToolCall):
            assert not answering, "a call among the outputs of others"
            waiting.append(one.tool_call_id)
        else:
            assert not answering, "something among outputs"
    assert not waiting, "calls without outputs"


def look_at(place: DataDir, path: Path) -> None:
    """Whoever only looks at it gets an answer or a refusal."""
    store = SessionStore(place)
    store.list(None, 10, None)
    with suppress(AgentError):
        page = store.history(ID, 50, None)
        while page.next_cursor:
            page = store.history(ID, 50, page.next_cursor)
    verify(path)


def targets() -> tuple[Target, ...]:
    """Made when they are wanted: the sessions have to be lived first."""
    return (Target("trace", traces(), spoilt, 600),)
