"""A session's tools on a throwaway workspace, and ways to call them as an engine does."""

from __future__ import annotations

import json
import os
import select
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import ToolCall
from agent_lsp.tools.builtin import builtin_tools
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.late import ToolContext
from agent_lsp.tools.processes import Commands, Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace

LIMITS = ToolLimits(timeout_s=20)


@dataclass
class Done:
    """What came of one call."""

    pieces: list[str]
    result: ToolResult

    @property
    def output(self) -> str:
        assert not (self.pieces and self.result.output), "streamed and complete at once"
        return "".join(self.pieces) or self.result.output

    @property
    def failed(self) -> bool:
        return self.result.stop_reason == "failed"


def call(name: str, arguments: dict[str, Any] | str) -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(name=name, arguments=text, tool_call_id="c1")


async def use(toolset: Toolset, name: str, arguments: dict[str, Any] | str) -> Done:
    """One call from its check to its result, which comes once and last."""
    this = call(name, arguments)
    if (unfit := toolset.check(this)) is not None:
        return Done([], unfit)
    items = [item async for item in toolset.execute(this)]
    pieces, result = [item for item in items if isinstance(item, str)], items[-1]
    assert isinstance(result, ToolResult) and len(pieces) == len(items) - 1
    assert all(pieces) and (bool(pieces) != bool(result.output))
    return Done(pieces, result)


@dataclass
class Session:
    """The built-in tools of one session."""

    root: Path
    scratchpad: Path
    processes: Processes
    commands: Commands
    toolset: Toolset
    others: list[Toolset] = field(default_factory=list)

    async def use(self, name: str, **arguments: Any) -> Done:
        return await use(self.toolset, name, arguments)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work space"
    folder.mkdir()
    (folder / "hello.txt").write_text("hello\nworld\n")
    return folder


@pytest_asyncio.fixture
async def make_session(root: Path, tmp_path: Path) -> AsyncIterator[Callable[..., Session]]:
    made: list[Session] = []

    def make(
        limits: ToolLimits = LIMITS,
        secrets: tuple[str, ...] = (),
        processes: Any = None,
        **context: Any,
    ) -> Session:
        workspace = Workspace(root, tmp_path / "scratchpad")
        processes = processes or Processes(environment={**os.environ, "SHELL": "/bin/bash"})
        commands = processes.session()
        editor = context.pop("editor", None) or DiskEditor(workspace.scratchpad)
        tools = builtin_tools(ToolContext(workspace, editor, commands, **context))
        toolset = Toolset(tools, limits, workspace.scratchpad, secrets, shared=(commands,))
        made.append(Session(root, workspace.scratchpad, processes, commands, toolset))
        return made[-1]

    yield make
    for one in made:
        await one.toolset.close()
        await one.processes.close()


@pytest.fixture
def session(make_session: Callable[..., Session]) -> Session:
    return make_session()


def wait_until_gone(pid: int, within_s: float = 5) -> None:
    """Waits for the end of any process, child or not."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        assert poll.poll(within_s * 1000), f"process {pid} is still there"
    finally:
        os.close(descriptor)


def read_pids(fifo: Path, count: int, within_s: float = 10) -> list[int]:
    """Process ids that a command writes into a pipe made for it, once all are there."""
    descriptor = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
    deadline, text = time.monotonic() + within_s, ""
    try:
        while len(text.split()) < count or not text.endswith("\n"):
            readable, _, _ = select.select([descriptor], [], [], max(0, deadline - time.monotonic()))
            assert readable, f"only {text!r} came"
            text += os.read(descriptor, 4096).decode()
    finally:
        os.close(descriptor)
    return [int(one) for one in text.split()]
