"""One task of a trace: its records, what it was given, and what it must have been set to.

A place is a record's number in the task. Whatever was done at a place is done again when everything before it has
happened again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages import markers
from agent_lsp.messages.content import (
    Content,
    ImageUrl,
    InlineData,
    Text,
    Thinking,
    ToolCall,
    ToolCallOutput,
    UserContent,
)
from agent_lsp.messages.events import (
    Abort,
    CompactionBegin,
    CompactionEnd,
    Event,
    RequestBegin,
    RequestEnd,
    RunBegin,
    TokenUsage,
    ToolListReady,
    ToolSpec,
)
from agent_lsp.slotted import frozen

Payload = Content | Event

GIVEN_UP = re.compile(r"(?:reconnect|malformed response|llm request) failed after ([0-9]+) retries|llm request error: ")
_MAX_TURNS = re.compile(r"\[reached max turns \(([0-9]+)\); stopping\]")
_ENDLESS_RETRIES = 10_000


@frozen
class Task:
    """The records of a run or of a compaction by hand, each with its line. `is_last`: the file ends with it."""

    records: tuple[Payload, ...]
    lines: tuple[int, ...]
    is_last: bool

    @property
    def is_run(self) -> bool:
        """Whether it is a run."""
        return isinstance(self.records[0], RunBegin)

    @property
    def has_ended(self) -> bool:
        """Whether its last record is one that ends a task; else the process did, or it goes on in another file."""
        last = self.records[-1]
        if isinstance(last, RequestEnd):
            return last.status == "completed" and not self.is_last and not any(_calls_of_last(self.records))
        return isinstance(last, Abort | CompactionEnd) and not self.is_last

    def input(self) -> list[UserContent]:
        """What the run was given, reports that came before it aside."""
        leading = self.records[1 : self._first(RequestBegin, CompactionBegin)]
        given = [one for one in leading if not isinstance(one, ToolListReady)]
        own = next((at for at, one in enumerate(given) if not _is_harness(one)), len(given))
        return [one for one in given[own:] if isinstance(one, UserContent)]

    def tools(self, before: tuple[ToolSpec, ...]) -> tuple[ToolSpec, ...]:
        """The tools that it had; `before` is what the session had until then."""
        return next((one.tools for one in self.records if isinstance(one, ToolListReady)), before)

    def reports(self, place: int) -> list[str]:
        """What the model was told there of things beside its calls."""
        found: list[str] = []
        for one in self.records[place:]:
            if not (isinstance(one, Text) and _is_harness(one) and not _is_engines(one.text)):
                break
            found.append(one.text)
        return found

    def steering(self, place: int) -> list[list[UserContent]]:
        """The steering that was delivered between the request at that place and the next one, entry by entry."""
        entries: list[list[UserContent]] = []
        for one in self.records[place + 1 :]:
            if isinstance(one, RequestBegin):
                break
            if isinstance(one, Text) and markers.is_block(one.text, "user_steering"):
                words = one.text.removeprefix("[user_steering]\n").removesuffix("\n[/user_steering]")
                entries.append([Text(role="user", text=words)])
            elif isinstance(one, ImageUrl | InlineData) and one.role == "user":
                entries.append([one])
        return entries

    def lost_steering(self, place: int) -> bool:
        """Whether steering that came in the request or compaction at that place is in no trace, lost in an interrupt.

        Only then is a run aborted that had nothing else to go on with.
        """
        end, last = self.records[-2:] if len(self.records) > 1 else (None, None)
        if not isinstance(last, Abort):
            return False
        if isinstance(self.records[place], RequestBegin):
            is_last = not any(isinstance(one, RequestBegin | CompactionBegin) for one in self.records[place + 1 :])
            has_completed = isinstance(end, RequestEnd) and end.status == "completed"
            return is_last and has_completed and not any(_calls_of_last(self.records))
        ended_both = isinstance(end, CompactionEnd) and end.status == "aborted"
        return ended_both and not any(_calls_of_last(self.records[:place]))

    def interrupt(self) -> tuple[int, str | None] | None:
        """The place at which somebody interrupted it, and the reason that was told."""
        for place, one in enumerate(self.records):
            if isinstance(one, Abort) and GIVEN_UP.match(one.reason or ""):
                return None
            ended_so = isinstance(one, RequestEnd | CompactionEnd) and one.status == "aborted"
            if ended_so or isinstance(one, Abort):
                reason = next((later.reason for later in self.records[place:] if isinstance(later, Abort)), None)
                return self._consequences(place), reason
        return None

    def waits_for_interrupt(self, place: int) -> bool:
        """Whether a wait that begins at the place was interrupted: no request came behind it any more."""
        interrupt = self.interrupt()
        return interrupt is not None and not any(
            isinstance(one, RequestBegin) for one in self.records[place : interrupt[0]]
        )

    def is_cut_short(self, place: int) -> bool:
        """Whether an interrupt at that place closed something which had been begun: a segment, a tool's output."""
        return any(
            one.stop_reason == "aborted" and not (isinstance(one, ToolCallOutput) and one.output == markers.INTERRUPTED)
            for one in self.records[place:]
            if isinstance(one, Text | Thinking | ToolCall | ToolCallOutput)
        )

    def options(self, context_window: int | None) -> EngineOptions:
        """The settings that it must have had; where it has no compaction, none was to be, whatever was due."""
        begun = [one for one in self.records if isinstance(one, CompactionBegin)]
        due = [one.compaction_at for one in self.records if isinstance(one, TokenUsage) and one.compaction_at]
        prompt = EngineOptions().compaction_prompt
        if begun:
            after = self.records[self._first(CompactionBegin) + 1 :]
            prompt = next((one.text for one in after if isinstance(one, Text) and one.sender == "harness"), prompt)
        return EngineOptions(
            max_turns=next((int(found[1]) for found in self._texts(_MAX_TURNS)), 0),
            max_retries=self._max_retries(),
            retry_base_ms=0,
            context_window=context_window,
            compaction_mode=begun[0].mode if begun else "off",
            compaction_prompt=prompt,
            max_context_length=due[0] if due else 0,
            max_session_turns=next((one.turns for one in begun if one.reason == "turns"), -1),
        )

    def _max_retries(self) -> int:
        for one in reversed(self.records):
            if isinstance(one, Abort) and (given_up := GIVEN_UP.match(one.reason or "")) and given_up[1]:
                return int(given_up[1])
            if isinstance(one, CompactionEnd) and one.status == "failed" and one.attempt:
                return one.attempt - 1
        return _ENDLESS_RETRIES

    def _texts(self, form: re.Pattern[str]) -> Iterator[re.Match[str]]:
        for one in self.records:
            if isinstance(one, Text) and (matched := form.fullmatch(one.text)):
                yield matched

    def _first(self, *kinds: type[Payload]) -> int:
        return next((at for at, one in enumerate(self.records) if isinstance(one, kinds)), len(self.records))

    def _consequences(self, place: int) -> int:
        """Where an interrupt began whose first end is at `place`: segments and calls were closed before that."""
        while place > 1:
            before = self.records[place - 1]
            closed = isinstance(before, Text | Thinking | ToolCall) and before.stop_reason == "aborted"
            cancelled = isinstance(before, ToolCallOutput) and before.output.endswith(markers.INTERRUPTED)
            if not closed and not cancelled:
                break
            place -= 1
        return place


def _calls_of_last(records: Sequence[Payload]) -> Iterator[ToolCall]:
    """The calls of the last request's reply."""
    for one in reversed(records):
        if isinstance(one, RequestBegin):
            return
        if isinstance(one, ToolCall):
            yield one


def _is_harness(one: Payload) -> bool:
    return isinstance(one, Text) and one.sender == "harness"


def _is_engines(text: str) -> bool:
    """Whether the engine itself writes such a text, so that nobody has to report it."""
    return text == markers.GO_ON or any(
        markers.is_block(text, tag) for tag in ("output_limit", "context_summary", "turn_aborted", "turn_retried")
    )
