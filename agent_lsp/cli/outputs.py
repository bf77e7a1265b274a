"""The outputs of tool calls: their first lines, how many there were, and how they ended.

Calls of one reply run side by side. The output that began first is shown as it comes, the others when it has ended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.cli.titles import call_title, clipped
from agent_lsp.policy.visible import visible

if TYPE_CHECKING:
    from agent_lsp.cli.palette import Palette
    from agent_lsp.messages.content import PartialToolCallOutput, ToolCall, ToolCallOutput

LINES_SHOWN = 6
DIFF_LINES_SHOWN = 30
LINE_LENGTH = 160
_SHOWS_DIFF = frozenset({"edit_file", "write_file", "apply_patch"})


class Outputs:
    """Turns the outputs of one session into lines."""

    def __init__(self, palette: Palette) -> None:
        self._palette = palette
        self._calls: dict[str, ToolCall] = {}
        self._named = ""  # the call that was written last, whose output needs no name
        self._live: _Shown | None = None
        self._waiting: list[ToolCallOutput] = []
        self._known: set[str] = set()

    def called(self, call: ToolCall) -> None:
        """A call was just written."""
        self._calls[call.tool_call_id] = call
        self._named = call.tool_call_id

    def approved(self, call_id: str) -> None:
        """The person has seen the edit that a call makes: it is not shown again when it went well."""
        self._known.add(call_id)

    def part(self, part: PartialToolCallOutput) -> list[str]:
        """The lines that a fragment completes."""
        if self._live is None and part.event_type == "start" and part.tool_call_id not in self._known:
            self._live = self._begin(part.tool_call_id)
        if self._live is None or self._live.call_id != part.tool_call_id:
            return []
        return self._live.more(part.output)

    def complete(self, output: ToolCallOutput) -> list[str]:
        """The lines that a whole output adds to those shown already."""
        if self._live and self._live.call_id != output.tool_call_id:
            self._waiting.append(output)
            return []
        lines = self._finish(self._live or self._begin(output.tool_call_id), output)
        self._live = None
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            lines += self._finish(self._begin(one.tool_call_id), one)
        return lines

    def _begin(self, call_id: str) -> _Shown:
        call = self._calls.get(call_id)
        name = call_title(call) if call and call_id != self._named else ""
        return _Shown(self._palette, call_id, name, shows_diff=bool(call) and call.name in _SHOWS_DIFF)

    def _finish(self, shown: _Shown, output: ToolCallOutput) -> list[str]:
        self._calls.pop(output.tool_call_id, None)
        self._named = ""
        if output.tool_call_id in self._known and output.stop_reason in (None, "completed"):
            return [f"  {self._palette.paint('✓', 'green')} {self._palette.paint('as shown', 'dim')}"]
        return [*shown.rest(output.output), self._status(output)]

    def _status(self, output: ToolCallOutput) -> str:
        count = len(output.output.splitlines())
        size = self._palette.paint(f"{count} line{'' if count == 1 else 's'}", "dim")
        if output.stop_reason in (None, "completed"):
            return f"  {self._palette.paint('✓', 'green')} {size}"
        return f"  {self._palette.paint(f'✗ {output.stop_reason}', 'red')} {size}"


class _Shown:
    """What is on the screen of one output."""

    def __init__(self, palette: Palette, call_id: str, name: str, *, shows_diff: bool) -> None:
        self.call_id = call_id
        self._palette, self._diff = palette, shows_diff
        self._left = self._limit = DIFF_LINES_SHOWN if shows_diff else LINES_SHOWN
        self._head = [f"  {palette.paint(name, 'dim')}"] if name else []
        self._tail = ""
        self._length = 0

    def more(self, piece: str) -> list[str]:
        """The lines that the next piece completes, as far as they are shown."""
        self._length += len(piece)
        if self._left == 0:
            return []
        *whole, self._tail = (self._tail + piece).split("\n")
        return self._lines(whole)

    def rest(self, output: str) -> list[str]:
        """What the whole output adds at its end."""
        lines = self.more(output[self._length :])
        if self._tail:
            lines += self._lines([self._tail])
        if len(output.splitlines()) > self._limit:
            lines.append(f"  {self._palette.paint('│ …', 'dim')}")
        return lines

    def _lines(self, lines: list[str]) -> list[str]:
        shown = lines[: self._left]
        self._left -= len(shown)
        head, self._head = self._head if shown else [], [] if shown else self._head
        return head + [self._line(line) for line in shown]

    def _line(self, line: str) -> str:
        text = clipped(visible(line.removesuffix("\r")).expandtabs(4), LINE_LENGTH)
        painted = self._palette.diff(text) if self._diff else self._palette.paint(text, "dim")
        return f"  {self._palette.paint('│', 'dim')} {painted}"
