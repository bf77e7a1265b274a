"""A loop session: the records, the rules and the planned model of one session of the engine, kept together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from agent_lsp.loop.policy import Around, LoopPolicy
from agent_lsp.loop.records import Entry, Records
from agent_lsp.loop.reducer import Reducer
from agent_lsp.messages.content import PARTIAL_TYPES
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM
    from agent_lsp.loop.options import LoopOptions
    from agent_lsp.loop.variables import ReadArchive
    from agent_lsp.messages.envelope import Message
    from agent_lsp.messages.events import Mode, ToolSpec


@frozen
class Surroundings:
    """What a loop session is plugged into. `read_archive`: the text of a file that an output was archived to."""

    around: Around
    read_archive: ReadArchive
    base_prompt: Callable[[], str]


class LoopSession:
    """Give `policy` to the engine's session as its hooks, and what `plan` makes as its model."""

    def __init__(self, options: LoopOptions, surroundings: Surroundings, mode: Mode = "loop") -> None:
        self._options, self._surroundings = options, surroundings
        self._reducer = Reducer(Records(options.limits, surroundings.read_archive), mode)
        self.policy = LoopPolicy(options, self._reducer, surroundings.around)

    @property
    def records(self) -> Records:
        """What has happened."""
        return self._reducer.records

    @property
    def mode(self) -> Mode:
        """The mode as the stream tells it."""
        return self._reducer.mode

    def plan(self, llm: LLM) -> LLM:
        """The model, asked for one decision at a time."""
        from agent_lsp.loop.planned_llm import PlannedLLM  # every session has a loop session, few are in loop mode

        return PlannedLLM(llm, self.records.variables.resolve, self._options.max_output_chars)

    def plan_when_refused(self, llm: LLM, refused: Callable[[], None]) -> LLM:
        """The model as it is, until it refuses tools."""
        from agent_lsp.loop.refusal import UntilRefused

        return UntilRefused(llm, self.plan(llm), refused)

    def replay(self, messages: Iterable[Message]) -> None:
        """Takes in what was traced before, all files of the session in order; what has no end there was interrupted."""
        for message in messages:
            if not isinstance(message.payload, PARTIAL_TYPES):
                self._reducer.apply(message.payload)
        self._reducer.turns.settle()

    def snapshot(self) -> Entry:
        """The records as JSON values, which nothing changes any more."""
        from agent_lsp.loop.contract import system_prompt

        base = self._surroundings.base_prompt()
        tools: Sequence[ToolSpec] = self._surroundings.around.tools()
        return self.records.snapshot(system_prompt(base, tools), base)
