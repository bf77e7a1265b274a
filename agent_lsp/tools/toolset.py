"""The environment of one session: everything about a call that is the same for every tool."""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp.engine.ports import Permission, ToolResult
from agent_lsp.messages.events import Event, ToolSpec
from agent_lsp.policy.access import Access, CommandPreview, EditPreview, Preview, TextPreview
from agent_lsp.policy.visible import visible, visible_line
from agent_lsp.slotted import frozen, replace
from agent_lsp.tools.arguments import parse, schema
from agent_lsp.tools.late import LateTool
from agent_lsp.tools.mask import Mask
from agent_lsp.tools.output import Output
from agent_lsp.tools.repeats import Repeats
from agent_lsp.tools.running import RunningTool
from agent_lsp.tools.tool import CURRENT_CALL, End, Tool

if TYPE_CHECKING:
    from pydantic import BaseModel

    from agent_lsp.messages.content import ToolCall
    from agent_lsp.tools.shared import LateTools, Shared

_log = logging.getLogger(__name__)
_CLOSE_TOOLS_S, _TITLE_CHARS = 1.0, 200


@frozen
class ToolLimits:
    """Limits of every call: characters of output, seconds of running (≤ 0: no limit)."""

    max_output_length: int = 16_000
    timeout_s: float = 120.0


@frozen
class _Bound:
    """A call that fits its tool."""

    tool: Tool[Any]
    args: BaseModel


class Toolset:
    """The tools of one session: an `Environment` to the engine, `Proposals` to whoever decides.

    `secrets` are gone through again with every call. `shared` is closed with the session. `disabled` tools are neither
    offered nor run. Tools that are `late` join when the first run has waited for them, else with the next context.
    """

    def __init__(
        self,
        tools: Sequence[Tool[Any] | LateTool],
        limits: ToolLimits,
        scratchpad: Path,
        secrets: Iterable[str] = (),
        disabled: Iterable[str] = (),
        shared: Sequence[Shared] = (),
    ) -> None:
        self._own, self._off, self._kept = tuple(tools), frozenset(disabled), None
        self._hidden = frozenset[str]()
        self._late: LateTools | None = None
        self.renew()
        self._limits, self._scratchpad, self._shared = limits, scratchpad, shared
        self._secrets, self._known_mask = secrets, Mask(())
        self._repeats = Repeats()
        self._running: set[asyncio.Task[None]] = set()
        self._touched: Callable[[Access], None] = _nothing

    def add(self, tools: Iterable[Tool[Any]]) -> None:
        """Has more tools join, each in the place of one that has its name. Before the first run."""
        self._own = (*self._own, *tools)
        self.renew()

    def add_late(self, late: LateTools) -> None:
        """Has tools join that are not there yet."""
        self._late = late
        self._shared = (*self._shared, late)

    def outside(self) -> tuple[str, ...]:
        """The servers that the late tools come from."""
        return self._late.owners() if self._late else ()

    # --- Environment ---

    def prepare(self, announce: Callable[[Event], None]) -> asyncio.Future[None] | None:
        """Waits for late tools, which join then, as long as they ask for."""
        awaited = self._late.prepare(announce) if self._late else None
        if awaited:
            awaited.add_done_callback(lambda _: self.renew())
        return awaited

    def renew(self) -> None:
        """Has the tools be those that are there now."""
        there = (*self._own, *(self._late.tools() if self._late else ()))
        named = {_name(tool): tool for tool in there}
        self._all = {name: tool for name, tool in named.items() if name not in self._off}
        self._take(self._kept)

    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools as the model is told of them, in the order they were given."""
        if self._specs is None:  # schemas take as long to make as all the rest of a session
            self._specs = _specs(map(_real, self._tools.values()))
        return self._specs

    def offered(self) -> tuple[str, ...]:
        """The names of the tools that the model is told of."""
        return tuple(self._tools)

    def names(self) -> tuple[str, ...]:
        """All tools there are, those that were taken away by `keep` included."""
        return tuple(self._all)

    def keep(self, names: Iterable[str]) -> None:
        """Leaves these of the session's tools (unknown names mean nothing) and takes the others away."""
        self._take(frozenset(names))

    def hide(self, names: Iterable[str]) -> None:
        """Takes these away whatever else is chosen, and gives back those that were hidden before."""
        self._hidden = frozenset(names)
        self._take(self._kept)

    def watch(self, touched: Callable[[Access], None]) -> None:
        """Has `touched` be told of each call that runs, and of what it touches."""
        self._touched = touched

    def described(self) -> list[dict[str, Any]]:
        """The tools for a person: name, description, parameters, permission, source."""
        return [
            {**told.model_dump(), "permission": spec.permission, "source": spec.source}
            for told, spec in ((told, _real(self._tools[told.name]).spec) for told in self.tools())
        ]

    def check(self, call: ToolCall) -> ToolResult | None:
        """None when the call names a tool and fits its schema, else the failed result."""
        bound = self._bind(call)
        if isinstance(bound, _Bound):
            return None
        return self._result(call, self._output(), bound, "")

    async def execute(self, call: ToolCall) -> AsyncGenerator[str | ToolResult, None]:
        """Runs a call: pieces of output as they come, then the result."""
        bound = self._bind(call)
        if isinstance(bound, End):
            yield self._result(call, self._output(), bound, "")
            return
        self._touched(bound.tool.access(bound.args))
        output = self._output(bound.tool.spec.max_output_length)
        running = self._start(bound, call)
        try:
            while (piece := await running.next()) is not None:
                if shown := output.feed(piece):
                    yield shown
        except BaseException:
            output.discard()
            raise
        finally:
            running.cancel()
        streamed, end = output.text, running.end or End()
        result = self._result(call, output, end, streamed)
        if streamed:
            if tail := output.text[len(streamed) :]:
                yield tail
            result = replace(result, output="")
        yield result

    def reports(self) -> list[str]:
        """What happened beside the calls, each told once."""
        return [self._mask(report) for one in self._shared for report in one.take_reports()]

    async def close(self) -> None:
        """Ends everything the tools have left running, within 5 s."""
        for task in self._running:
            task.cancel()
        if self._running:
            _, stubborn = await asyncio.wait(self._running, timeout=_CLOSE_TOOLS_S)
            if stubborn:
                _log.warning("%d tools did not end when their session was closed", len(stubborn))
        await asyncio.gather(*(one.close() for one in self._shared))

    # --- Proposals ---

    def permission(self, call: ToolCall) -> Permission:
        """Whether the tool only reads."""
        return self._bound(call).tool.spec.permission

    def title(self, call: ToolCall) -> str:
        """One line for a person, control characters made visible."""
        bound = self._bound(call)
        return visible_line(self._mask(bound.tool.title(bound.args)), _TITLE_CHARS)

    def access(self, call: ToolCall) -> Access:
        """What the call would touch."""
        bound = self._bound(call)
        return bound.tool.access(bound.args)

    async def preview(self, call: ToolCall) -> Preview | None:
        """What the call would do, control characters made visible."""
        bound = self._bound(call)
        match await bound.tool.preview(bound.args):
            case EditPreview() as edit:
                return replace(edit, diff=self._shown(edit.diff))
            case CommandPreview() as command:
                return replace(command, command=self._shown(command.command))
            case TextPreview() as text:
                return TextPreview(self._shown(text.text))
            case None:
                return None

    # --- the call ---

    @property
    def _mask(self) -> Mask:
        """Masks every secret there is now, or was when an earlier call was made."""
        self._known_mask = self._known_mask.with_more(self._secrets)
        return self._known_mask

    def _take(self, kept: frozenset[str] | None) -> None:
        self._kept = kept
        self._tools = {name: tool for name, tool in self._all.items() if self._offers(name, kept)}
        self._specs: tuple[ToolSpec, ...] | None = None

    def _offers(self, name: str, kept: frozenset[str] | None) -> bool:
        return name not in self._hidden and (kept is None or name in kept)

    def _bind(self, call: ToolCall) -> _Bound | End:
        known = self._tools.get(call.name)
        if known is None:
            return End(text=f"Unknown tool: {call.name}", stop_reason="failed")
        tool = _real(known)
        spec = tool.spec
        args = spec.parse(call.arguments) if spec.parse else parse(spec.args, call.arguments)
        if isinstance(args, str):
            return End(text=f"Invalid arguments for {call.name}:\n{args}", stop_reason="failed")
        return _Bound(tool, args)

    def _bound(self, call: ToolCall) -> _Bound:
        bound = self._bind(call)
        if isinstance(bound, End):
            raise ValueError(f"call {call.tool_call_id} was proposed though its check failed: {bound.text}")
        return bound

    def _start(self, bound: _Bound, call: ToolCall) -> RunningTool:
        name = bound.tool.spec.name

        def on_error(error: Exception) -> End:
            trace = "".join(traceback.format_exception(error))
            _log.error("tool %s failed: %s", name, self._mask(trace))
            return End(
                note=f"[{name} failed: {visible_line(f'{type(error).__name__}: {error}', _TITLE_CHARS)}]",
                stop_reason="failed",
            )

        outer = CURRENT_CALL.set(call)
        running = RunningTool(bound.tool, bound.args, on_error)  # its task keeps the context of this moment
        CURRENT_CALL.reset(outer)
        self._running.add(running.task)
        running.task.add_done_callback(self._running.discard)
        if bound.tool.spec.timed and self._limits.timeout_s > 0:
            running.time_out_after(self._limits.timeout_s)
        return running

    def _output(self, own_limit: int | None = None) -> Output:
        return Output(own_limit or self._limits.max_output_length, self._scratchpad, self._mask)

    def _result(self, call: ToolCall, output: Output, end: End, streamed: str) -> ToolResult:
        output.feed(end.text)
        seen = f"{streamed}{end.text}{end.note}"
        repeated = self._repeats.note(call, seen, is_failure=end.stop_reason == "failed")
        output.close(end.note, repeated)
        return ToolResult(output.text, end.stop_reason, end.images, end.needs_input, output.note_chars, output.archive)

    def _shown(self, text: str) -> str:
        return visible(self._mask(text))


def _name(tool: Tool[Any] | LateTool) -> str:
    return tool.name if isinstance(tool, LateTool) else tool.spec.name


def _real(tool: Tool[Any] | LateTool) -> Tool[Any]:
    return tool.real() if isinstance(tool, LateTool) else tool


def _nothing(_: Access) -> None:
    pass


def _specs(tools: Iterable[Tool[Any]]) -> tuple[ToolSpec, ...]:
    return tuple(
        ToolSpec(name=spec.name, description=spec.description, parameters=spec.parameters or schema(spec.args))
        for spec in (tool.spec for tool in tools)
    )
