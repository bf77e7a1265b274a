"""Generated conversations, with faults, denials, steering and interrupts anywhere, and what holds in all of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal

from hypothesis import strategies as st

from agent_lsp.engine.account import RunResult
from agent_lsp.engine.carry_over import is_paired
from agent_lsp.engine.ledger import Ledger
from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Commit, Decision, Request
from agent_lsp.engine.steering import Steering
from agent_lsp.messages.content import PARTIAL_TYPES, Content, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import MESSAGE, Message, encode
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    CompactionMode,
    RequestBegin,
    RequestEnd,
    RunBegin,
    TokenUsage,
)
from agent_lsp.messages.partial import Aggregator
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.openai_chat.dialect import Dialect
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.providers.scripted import Called, Said, fail, finish, text, thinking, torn, usage
from tests.engine.harness import Person, Rig, now_s, other_tasks, passing, run, said

IDS = ("a", "b", "c", "a#2")
ABORT_LIMIT_S = 0.1
CLOSE_LIMIT_S = 5.0


@dataclass(frozen=True)
class Scenario:
    """Two runs on scripted replies, perhaps a compaction by hand between them, and a third run that always completes.

    Positions count the messages pushed, those of lines the lines of the trace.
    """

    replies: tuple[tuple[Any, ...], ...]
    gap_s: float = 0
    stubborn_model: bool = False
    answers: tuple[tuple[str, Any], ...] = ()
    delays: tuple[tuple[str, float], ...] = ()
    abort_at: int | None = None
    abort_at_s: float | None = None
    steer_at: tuple[int, ...] = ()
    stall_at: int | None = None
    max_turns: int = 6
    max_retries: int = 2
    close_early: bool = False
    compaction: CompactionMode | Literal["off"] = "summarize"
    max_context_length: int = -1
    max_session_turns: int = -1
    by_hand: CompactionMode | None = None
    abort_at_line: int | None = None
    steer_at_line: int | None = None


@dataclass
class Story:
    """What came of a scenario."""

    messages: list[Message] = field(default_factory=list[Message])
    run_ids: list[str | None] = field(default_factory=list["str | None"])
    lines: list[bytes] = field(default_factory=list[bytes])
    contexts: list[int] = field(default_factory=list[int])
    heads: set[int] = field(default_factory=set[int])
    turned_over: bool = False
    breaks: list[int] = field(default_factory=list[int])
    steered: list[Steering] = field(default_factory=list[Steering])
    requests: list[Request] = field(default_factory=list[Request])
    history: list[Commit] = field(default_factory=list[Commit])
    input: tuple[Content, ...] = ()
    results: list[RunResult] = field(default_factory=list[RunResult])
    aborts_s: list[float] = field(default_factory=list[float])
    closed_s: float = 0
    tasks_left: int = 0

    @property
    def payloads(self) -> list[Any]:
        """The payloads of the stream."""
        return [one.payload for one in self.messages]

    @property
    def traced(self) -> list[Any]:
        """The payloads of the trace."""
        return [MESSAGE.validate_json(line).payload for line in self.lines]

    @property
    def requests_by_context(self) -> list[list[Request]]:
        """The requests, context by context."""
        ends = [*self.breaks, len(self.requests)]
        return [self.requests[start:end] for start, end in zip([0, *ends], ends, strict=False)]


# --- generation -------------------------------------------------------------------------------------------------------

WORDS = st.text("ab [/text]\n", max_size=6)
PIECES = st.lists(WORDS, max_size=3)
PLANS = st.fixed_dictionaries(
    {},
    optional={
        "say": PIECES.filter(any),
        "gap": st.sampled_from([0, 0.5, 3]),
        "then": st.sampled_from([0, 0.5, 2, 40]),
        "stubborn": st.just(1),
        "stop": st.sampled_from(["failed", "timeout"]),
        "fail": st.just(1),
        "quit": st.just(1),
        "unfit": st.just(1),
        "images": st.just(["data:,x"]),
    },
)
CALLS = st.builds(
    lambda name, plan, id: Called(name, (json.dumps(plan),), id),
    st.sampled_from(["work", "other", "nope"]),
    PLANS,
    st.sampled_from(IDS),
)
BAD_CALLS = st.builds(
    lambda raw, id: Called("work", (raw,), id), st.sampled_from(["[1]", "{", ""]), st.sampled_from(IDS)
)
SUMMARIES = st.sampled_from(["[summary]s[/summary]", "[summary][/summary]", "<summary>[/text]</summary>"])
SEGMENTS = st.one_of(
    PIECES.map(lambda pieces: text(*pieces)),
    SUMMARIES.map(text),
    PIECES.map(lambda pieces: thinking(*pieces)),
    CALLS,
    CALLS,
    BAD_CALLS,
)
ENDS = st.one_of(
    st.just(()),
    st.just(()),
    st.just(()),
    st.sampled_from(["stop", "length", "refusal"]).map(lambda reason: (finish(reason),)),
    st.just((usage(90, 10),)),
    st.just((fail("failed", "too long", context_length=True),)),
    st.sampled_from(IDS).map(lambda id: (torn("other", '{"x', id), finish("length"))),
    st.builds(
        lambda status, permanent: (fail(status, "no good", permanent=permanent),),
        st.sampled_from(["timeout", "malformed", "failed", "auth"]),
        st.sampled_from([False, False, False, True]),
    ),
    st.sampled_from(IDS).map(lambda id: (torn("other", '{"x', id), fail("timeout", "cut"))),
)
REPLIES = st.builds(lambda segments, end: (*segments, *end), st.lists(SEGMENTS, max_size=4).map(tuple), ENDS)
ANSWERS = st.sampled_from(
    [Decision("deny", "user"), Decision("forbidden", "policy"), Decision("deny", "mode"), RuntimeError("broken")]
)
PLACES = st.one_of(st.none(), st.integers(0, 80))


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Any scenario."""
    return Scenario(
        replies=tuple(draw(st.lists(REPLIES, min_size=1, max_size=6))),
        gap_s=draw(st.sampled_from([0, 0, 0.25, 2])),
        stubborn_model=draw(st.booleans()),
        answers=tuple(draw(st.dictionaries(st.sampled_from(IDS), ANSWERS, max_size=2)).items()),
        delays=tuple(draw(st.dictionaries(st.sampled_from(IDS), st.sampled_from([1.0, 30.0]), max_size=2)).items()),
        abort_at=draw(PLACES),
        abort_at_s=draw(st.one_of(st.none(), st.sampled_from([0.0, 0.1, 0.6, 1.0, 2.5, 7.0, 35.0]))),
        steer_at=tuple(draw(st.lists(st.integers(0, 60), max_size=3))),
        stall_at=draw(PLACES),
        max_turns=draw(st.sampled_from([0, 1, 2, 6])),
        max_retries=draw(st.sampled_from([0, 1, 2])),
        close_early=draw(st.sampled_from([False, False, True])),
        compaction=draw(st.sampled_from(["summarize", "summarize", "discard", "off"])),
        max_context_length=draw(st.sampled_from([-1, 1, 50, 50])),
        max_session_turns=draw(st.sampled_from([-1, -1, 1, 3])),
        by_hand=draw(st.sampled_from([None, None, "summarize", "discard"])),
        abort_at_line=draw(PLACES),
        steer_at_line=draw(PLACES),
    )


# --- the run ----------------------------------------------------------------------------------------------------------


def told(scenario: Scenario) -> Story:
    """Plays a scenario in virtual time."""
    return run(_play(scenario))


async def _play(scenario: Scenario) -> Story:
    rig = Rig(
        person=Person(dict(scenario.answers), dict(scenario.delays)),
        options=EngineOptions(
            max_turns=scenario.max_turns,
            max_retries=scenario.max_retries,
            compaction_mode=scenario.compaction,
            max_context_length=scenario.max_context_length,
            max_session_turns=scenario.max_session_turns,
        ),
        gap_s=scenario.gap_s,
        stubborn_model=scenario.stubborn_model,
    )
    story = Story()
    rig.screen.on_push.append(_Meddler(rig, scenario, story))
    rig.trace.on_append.append(_LineMeddler(rig, scenario, story))
    if scenario.abort_at_s is not None:
        rig.at(scenario.abort_at_s, _abort, rig, story)
    rig.llm.script(*scenario.replies)
    await _run(rig, story, "go")
    if not scenario.close_early:
        if scenario.by_hand:
            await rig.session.compact(scenario.by_hand)
        await _run(rig, story, "next")
        rig.llm.turns.clear()
        await _run(rig, story, "last")
        await passing(400)
    else:
        rig.start("closing")
    before_s = now_s()
    await rig.session.close()
    story.closed_s = now_s() - before_s
    await passing(400)
    story.tasks_left = len(other_tasks())
    story.messages, story.run_ids, story.lines = rig.screen.messages, rig.screen.run_ids, rig.trace.lines
    story.contexts, story.heads, story.turned_over = rig.trace.contexts, rig.trace.heads, rig.trace.opening is not None
    story.requests, story.history, story.input = rig.llm.requests, rig.ledger.history, rig.ledger.request_input()
    return story


async def _run(rig: Rig, story: Story, words: str) -> None:
    ticket = rig.start(words)
    story.results.append(await ticket.result)


def _abort(rig: Rig, story: Story) -> None:
    if compaction := rig.session.compaction():
        compaction.interrupt.fire()
    if ticket := rig.session.current():
        began_s = now_s()
        ticket.result.add_done_callback(lambda _: story.aborts_s.append(now_s() - began_s))
        rig.abort()


class _Meddler:
    """Does what the scenario says when so many messages have been pushed."""

    def __init__(self, rig: Rig, scenario: Scenario, story: Story) -> None:
        self._rig, self._scenario, self._story, self._count = rig, scenario, story, 0

    def __call__(self, message: Message) -> None:
        scenario, rig = self._scenario, self._rig
        if self._count in scenario.steer_at:
            rig.session.steer(said(f"steer {self._count}"))
        if self._count == scenario.stall_at:
            rig.screen.room.clear()
            rig.at(5, rig.screen.room.set)
        if self._count == scenario.abort_at:
            _abort(rig, self._story)
        self._count += 1


class _LineMeddler:
    """Does what the scenario says when the trace has so many lines, and notes where contexts end."""

    def __init__(self, rig: Rig, scenario: Scenario, story: Story) -> None:
        self._rig, self._scenario, self._story, self._count = rig, scenario, story, 0

    def __call__(self, line: bytes) -> None:
        payload = MESSAGE.validate_json(line).payload
        if isinstance(payload, CompactionEnd) and payload.status == "completed":
            self._story.breaks.append(len(self._rig.llm.requests))
        if self._count == self._scenario.steer_at_line and (steered := self._rig.session.steer(said("steer"))):
            self._story.steered.append(steered)
        if self._count == self._scenario.abort_at_line:
            _abort(self._rig, self._story)
        self._count += 1


# --- the rules --------------------------------------------------------------------------------------------------------


def check_every_committed_call_is_answered(story: Story) -> None:
    """Each call has exactly one output, in call order, before anything else follows."""
    for request in story.requests:
        waiting: list[str] = []
        answering = False
        for one in (*(message for commit in request.history for message in commit.messages), *request.input):
            if isinstance(one, ToolCallOutput):
                assert waiting and waiting.pop(0) == one.tool_call_id
                answering = bool(waiting)
            elif isinstance(one, ToolCall):
                assert not answering
                waiting.append(one.tool_call_id)
            else:
                assert not answering and not (waiting and getattr(one, "role", "") == "user")
        assert not waiting


def check_streaming_discipline(story: Story) -> None:
    """`start → delta* → stop → complete`, and nothing is left open."""
    joined = Aggregator()
    for message in story.messages:
        if message.type == "model_msg":
            joined.apply(message.payload)
    assert not joined.open


def check_a_decision_stands_between_call_and_output(story: Story) -> None:
    """No output before its decision, no decision before its call, no second one of either."""
    calls, decided, answered = set[str](), set[str](), set[str]()
    for one in story.payloads:
        if isinstance(one, ToolCall) and one.stop_reason is None:
            assert one.tool_call_id not in calls
            calls.add(one.tool_call_id)
        elif isinstance(one, ApprovalDecision):
            assert one.tool_call_id in calls - decided
            decided.add(one.tool_call_id)
        elif one.type in ("tool_call_output", "partial_tool_call_output"):
            assert one.tool_call_id in decided - answered
            if isinstance(one, ToolCallOutput):
                answered.add(one.tool_call_id)


def _is_given(payload) -> bool:
    return isinstance(payload, Text) and payload.role == "user" and payload.sender is None


def check_the_trace_has_the_order_of_the_stream(story: Story) -> None:
    """The trace is what was pushed, fragments aside, each run's begin and input, and the inside of compactions."""
    pushed = [encode(one) for one in story.messages if not isinstance(one.payload, PARTIAL_TYPES)]
    payloads = story.traced
    starts = [at for at, one in enumerate(payloads) if isinstance(one, RunBegin)]
    given = [next(at for at in range(start, len(payloads)) if _is_given(payloads[at])) for start in starts]
    hidden = {*starts, *given, *_inside_compactions(payloads)}
    lines = [line for at, line in enumerate(story.lines) if at not in hidden | story.heads]
    assert _but_tool_lists(lines) == _but_tool_lists(pushed)


def _but_tool_lists(lines: list[bytes]) -> list[bytes]:
    """A list that is told for a new context stands in the head of its file."""
    return [line for line in lines if b'"type":"tool_list_ready"' not in line]


def _inside_compactions(payloads: list[Any]) -> Iterator[int]:
    """The places of what the client does not hear of: everything but the summary's text and the usage."""
    inside = False
    for at, one in enumerate(payloads):
        if isinstance(one, CompactionEnd):
            inside = False
        if inside and not isinstance(one, TokenUsage) and not (isinstance(one, Text) and one.role == "assistant"):
            yield at
        inside = inside or isinstance(one, CompactionBegin)


def check_completed_means_committed(story: Story) -> None:
    """The history is the replies of the context's completed requests, each in one piece, and of no other."""
    replies: list[list[Content]] = []
    reply: list[Content] = []
    for one in story.traced:
        if isinstance(one, CompactionEnd) and one.status == "completed":
            replies = []
        elif isinstance(one, RequestBegin):
            reply = []
        elif isinstance(one, Thinking | ToolCall) or (isinstance(one, Text) and one.role == "assistant"):
            reply.append(one)
        elif isinstance(one, RequestEnd) and one.status == "completed":
            replies.append([whole for whole in reply if not (isinstance(whole, ToolCall) and whole.stop_reason)])
    assert len(story.history) == len(replies)
    for commit, expected in zip(story.history, replies, strict=True):
        committed = [one for one in commit.messages if getattr(one, "role", "") == "assistant"]
        assert list(map(_without_id, committed)) == list(map(_without_id, expected))


def _without_id(payload: Any) -> Any:
    return payload.model_copy(update={"tool_call_id": ""}) if isinstance(payload, ToolCall) else payload


def check_no_message_follows_an_abort(story: Story) -> None:
    """An `abort` is the last message of its run, and an idle session says nothing."""
    last: dict[str | None, Any] = {}
    for run_id, payload in zip(story.run_ids, story.payloads, strict=True):
        if run_id is None:
            assert payload.type in ("compaction_begin", "partial_text", "text", "token_usage", "compaction_end")
            continue
        assert not isinstance(last.get(run_id), Abort)
        last[run_id] = payload
    for result in story.results:
        given_up = result.status in ("aborted", "timeout", "malformed", "failed", "auth")
        assert isinstance(last[result.run_id], Abort) == given_up


def check_the_trace_rebuilds_the_context(story: Story) -> None:
    """A fresh ledger fed with the lines has the same history and the same next input, synthetic blocks included."""
    replayed = _replayed(story, len(story.lines))
    assert [one.messages for one in replayed.history] == [one.messages for one in story.history]
    assert replayed.request_input() == story.input
    assert replayed.wire(replayed.request_input()) == replayed.wire(story.input)


def check_every_beginning_of_the_trace_can_be_gone_on_with(story: Story) -> None:
    """Wherever the process ended, the history that a resume finds is paired and takes the next prompt."""
    payloads = story.traced
    for end in range(story.contexts[-1], len(payloads), max(1, len(payloads) // 25)):
        ledger = _replayed(story, end)
        ledger.apply(RunBegin(run_id="resumed"))
        ledger.apply(Text(role="user", text="again"))
        messages = [
            *(one for commit in ledger.history for one in commit.messages),
            *ledger.wire(ledger.request_input()),
        ]
        assert is_paired(messages)
        assert ledger.request_input()[-1] == Text(role="user", text="again")


def _replayed(story: Story, end: int) -> Ledger:
    """The ledger of a session that is resumed from its newest file, when that had been written so far."""
    ledger, payloads, start = Ledger(), story.traced[:end], story.contexts[-1]
    for one in payloads[:start]:
        if isinstance(one, ToolCall):
            ledger.ids.note(one.tool_call_id)
    for one in payloads[start:]:
        ledger.apply(one)
    ledger.end_replay()
    return ledger


def check_each_request_extends_the_one_before_byte_for_byte(story: Story) -> None:
    """What a provider has in its cache is the beginning of the next request, cache marks aside."""
    chat = ChatEncoder(Endpoint("p", "openai-chat", "https://h/v1", "m"), Dialect())
    claude = MessagesEncoder(Endpoint("p", "anthropic", "https://h", "claude-sonnet-5"))
    for requests in story.requests_by_context:
        for old, new in pairwise(requests):
            if len(new.history) > len(old.history):
                said, _, _ = chat.body(old, frozenset()).partition(b'],"tools":')
                assert chat.body(new, frozenset()).startswith(said)
                assert _unmarked(claude.body(new, frozenset())).startswith(
                    _unmarked(claude.body(old, frozenset()))[:-2]
                )


def _unmarked(body: bytes) -> bytes:
    return body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


def check_each_request_extends_the_one_before(story: Story) -> None:
    """System prompt, tools and history never change in the middle; a committed request is the next one's beginning."""
    for requests in story.requests_by_context:
        assert not requests or not requests[0].history
        for old, new in pairwise(requests):
            assert (new.system, new.tools) == (old.system, old.tools)
            assert list(new.history[: len(old.history)]) == list(old.history), "the very same commits"
            if len(new.history) > len(old.history):
                assert new.history[len(old.history)].messages[: len(old.input)] == old.input
    assert all(request.input for request in story.requests)


def check_the_tools_are_told_before_the_first_request_of_each_context(story: Story) -> None:
    """Once a context, to the client as in the trace."""
    told = 0
    for one in story.payloads:
        if one.type == "compaction_end" and one.status == "completed":
            told = 0
        elif one.type == "tool_list_ready":
            told += 1
            assert told == 1
        elif one.type == "request_begin":
            assert told == 1


def check_everything_returns_in_time(story: Story) -> None:
    """An abort returns within a tenth of a second, a close within five, and no task is left."""
    assert all(took <= ABORT_LIMIT_S for took in story.aborts_s)
    assert story.closed_s <= CLOSE_LIMIT_S + 0.001
    assert story.tasks_left == 0


CHECKS = [
    check_every_committed_call_is_answered,
    check_streaming_discipline,
    check_a_decision_stands_between_call_and_output,
    check_the_trace_has_the_order_of_the_stream,
    check_completed_means_committed,
    check_no_message_follows_an_abort,
    check_the_trace_rebuilds_the_context,
    check_every_beginning_of_the_trace_can_be_gone_on_with,
    check_each_request_extends_the_one_before,
    check_each_request_extends_the_one_before_byte_for_byte,
    check_the_tools_are_told_before_the_first_request_of_each_context,
    check_everything_returns_in_time,
]


def check_all(story: Story) -> None:
    """Every rule."""
    for check in CHECKS:
        check(story)


def cut(reply: tuple[Any, ...], parts: int, end: Any) -> tuple[Any, ...]:
    """The first segments of a reply, as far as `parts` pieces go, and then `end`."""
    kept: list[Any] = []
    for piece in reply:
        size = len(piece.deltas) if isinstance(piece, Said) else len(piece.pieces)
        if parts < size:
            kept += _beginning(piece, parts)
            break
        kept.append(piece)
        parts -= size
    return (*kept, end)


def _beginning(piece: Any, parts: int) -> list[Any]:
    if isinstance(piece, Said):
        return [Said(piece.deltas[:parts])] if parts else []
    return [Called(piece.name, piece.pieces[:parts], piece.call_id, whole=False)]
