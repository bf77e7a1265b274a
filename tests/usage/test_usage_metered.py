import pytest

from agent_lsp.engine.ports import Outcome, Request, TextDelta
from agent_lsp.messages.content import PARTIAL_TYPES, PartialText, PartialToolCallOutput, Text, ToolCallOutput
from agent_lsp.messages.envelope import encode, envelope
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
    ToolListReady,
)
from agent_lsp.usage.metered import Meter, MeteredLLM, MeteredSink, MeteredTrace
from agent_lsp.usage.row import CompactionFailure, Subject

TOKENS = TokenCounts(cache_read=60, cache_write=40, output=20, total=120)
BEGAN = CompactionBegin(reason="context", mode="summarize", context=100, turns=3)


class Lines:
    def __init__(self):
        self.lines, self.heads = [], []

    def append(self, line):
        self.lines.append(line)

    def rotate(self, preamble):
        self.heads.append(preamble)

    async def sync(self):
        self.lines.append(b"synced")


class Screen:
    def __init__(self):
        self.pushed, self.states, self.drained = [], [], 0

    def push(self, message, run_id):
        self.pushed.append((message, run_id))

    def state(self, change):
        self.states.append(change)

    async def drain(self):
        self.drained += 1


class Stage:
    """Says things as the engine does: to the trace, then to the front end. `now_s` is the clock."""

    def __init__(self):
        self.now_s, self.rows = 0.0, []
        self.lines, self.screen = Lines(), Screen()
        self.meter = Meter(self, Subject("s", "/w", "p", "m", ("t",), "parent"), lambda: self.now_s)
        self.trace, self.sink = MeteredTrace(self.lines, self.meter), MeteredSink(self.screen, self.meter)

    def record(self, entry):
        self.rows.append(entry)

    def say(self, *payloads, traced_only=False, origin=None):
        for payload in payloads:
            message = envelope(payload, origin=origin)
            if not isinstance(payload, PARTIAL_TYPES) and origin is None:
                self.trace.append(encode(message))
            if not traced_only:
                self.sink.push(message, "r")

    def after(self, seconds, *payloads, **how):
        self.now_s += seconds
        self.say(*payloads, **how)


@pytest.fixture
def stage():
    return Stage()


def used(tokens=TOKENS):
    return TokenUsage(session=tokens, request=tokens)


def test_a_completed_request_is_a_row_with_its_tokens_and_times(stage):
    stage.say(RunBegin(run_id="r"), RequestBegin())
    stage.after(0.25, PartialText(event_type="start"))
    stage.after(1, PartialText(event_type="delta", text="hi"), Text(role="assistant", text="hi"))
    stage.after(0.5, used(), RequestEnd(status="completed", finish="stop"))

    (row,) = stage.rows
    assert (row.purpose, row.status, row.attempt, row.tokens, row.error) == ("turn", "completed", 1, TOKENS, None)
    assert (row.ttft_ms, row.duration_ms) == (250, 1750)
    assert (row.subject.session_id, row.subject.tags, row.subject.parent_id) == ("s", ("t",), "parent")
    assert row.ts == stage.screen.pushed[-1][0].timestamp


def test_every_attempt_is_a_row_and_a_failed_one_has_no_tokens(stage):
    stage.say(RequestBegin())
    stage.after(2, RequestEnd(status="timeout", error_message="silence", attempt=1, retry_in_ms=250))
    stage.say(RequestBegin(), used(), RequestEnd(status="completed", attempt=2, finish="stop"))

    failed, completed = stage.rows
    assert (failed.status, failed.attempt, failed.error, failed.tokens) == ("timeout", 1, "silence", TokenCounts())
    assert (failed.duration_ms, failed.ttft_ms) == (2000, None)
    assert (completed.status, completed.attempt, completed.tokens) == ("completed", 2, TOKENS)


def test_requests_of_a_compaction_are_told_apart_though_no_front_end_sees_them_fail(stage):
    stage.say(BEGAN)
    stage.say(RequestBegin(), RequestEnd(status="failed", error_message="no", attempt=1), traced_only=True)
    stage.say(RequestBegin(), traced_only=True)
    stage.after(1, PartialText(event_type="start"), used())
    stage.say(RequestEnd(status="completed", attempt=2), traced_only=True)
    stage.say(CompactionEnd(reason="context", mode="summarize", status="completed"))
    stage.say(RequestBegin(), used(), RequestEnd(status="completed"))

    assert [(row.purpose, row.status) for row in stage.rows] == [
        ("compaction", "failed"),
        ("compaction", "completed"),
        ("turn", "completed"),
    ]
    assert stage.rows[1].ttft_ms == 1000


@pytest.mark.parametrize(("status", "failures"), [("failed", 1), ("auth", 1), ("completed", 0), ("aborted", 0)])
def test_a_compaction_that_was_given_up_is_recorded_as_one(stage, status, failures):
    stage.say(BEGAN, CompactionEnd(reason="context", mode="summarize", status=status, attempt=6, error_message="no"))

    assert len(stage.rows) == failures
    assert all(isinstance(one, CompactionFailure) and (one.attempt, one.message) == (6, "no") for one in stage.rows)


def test_after_a_crash_in_a_compaction_the_next_run_is_turns_again(stage):
    stage.say(BEGAN, RequestBegin(), RunBegin(run_id="r2"), RequestBegin(), RequestEnd(status="completed"))

    assert [row.purpose for row in stage.rows] == ["turn"]


def test_tools_and_child_sessions_do_not_end_the_wait_for_the_model(stage):
    stage.say(RequestBegin(), PartialToolCallOutput(event_type="start", tool_call_id="c"))
    stage.say(PartialText(event_type="start"), origin=("child",))
    stage.after(3, RequestEnd(status="aborted"))

    assert stage.rows[0].ttft_ms is None


def test_a_changed_model_is_the_one_that_is_asked_from_then_on(stage):
    stage.say(SessionUpdate(title="t"), SessionUpdate(model="q/a/b"), RequestBegin(), RequestEnd(status="completed"))

    subject = stage.rows[0].subject
    assert (subject.provider, subject.model) == ("q", "a/b")


def test_a_text_that_looks_like_an_event_is_a_text(stage):
    looks = encode(envelope(RequestEnd(status="completed"))).decode()
    stage.say(Text(role="user", text=looks), ToolCallOutput(tool_call_id="c", output=looks), ToolListReady(tools=()))

    assert stage.rows == []


@pytest.mark.asyncio
async def test_whatever_is_wrapped_still_gets_everything(stage):
    stage.say(RequestBegin())
    stage.trace.rotate([b"head"])
    stage.sink.state("changed")
    await stage.sink.drain()
    await stage.trace.sync()

    assert (len(stage.lines.lines), stage.lines.heads) == (2, [[b"head"]])
    assert (len(stage.screen.pushed), stage.screen.states, stage.screen.drained) == (1, ["changed"], 1)


class Model:
    def __init__(self, stage, *parts):
        self.stage, self.parts = stage, parts

    async def stream(self, request):
        for part in self.parts:
            self.stage.now_s += 1
            yield part


async def streamed(llm):
    return [part async for part in llm.stream(Request("", (), (), ()))]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("outcome", "expected"),
    [
        (Outcome("completed", usage=TOKENS), ("completed", TOKENS, None)),
        (Outcome("failed", "no such model"), ("failed", TokenCounts(), "no such model")),
    ],
)
async def test_a_request_beside_the_conversation_is_a_row_of_its_own(stage, outcome, expected):
    parts = [TextDelta("A"), outcome]

    assert await streamed(MeteredLLM(Model(stage, *parts), stage.meter, "title")) == parts

    (row,) = stage.rows
    assert (row.purpose, row.ttft_ms, row.duration_ms) == ("title", 1000, 2000)
    assert (row.status, row.tokens, row.error) == expected


@pytest.mark.asyncio
async def test_a_request_that_was_let_go_of_is_recorded_as_aborted(stage):
    parts = MeteredLLM(Model(stage, TextDelta("A"), TextDelta("B")), stage.meter, "title").stream(
        Request("", (), (), ())
    )
    await anext(parts)
    await parts.aclose()

    assert [row.status for row in stage.rows] == ["aborted"]
