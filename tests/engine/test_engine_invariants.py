"""What holds whatever a model, its tools, a person and a connection do: each rule a property on one generator."""

import gc
import weakref

import pytest
from hypothesis import HealthCheck, given, settings

from agent_lsp.engine.ports import Decision, TextDelta
from agent_lsp.messages.content import PARTIAL_TYPES, Text
from agent_lsp.messages.events import CompactionEnd
from agent_lsp.providers.scripted import Called, Said, fail, finish, text, thinking, torn, usage
from tests.engine import scenarios as rules
from tests.engine.harness import Rig, virtual, work
from tests.engine.scenarios import Scenario, check_all, cut, scenarios, told

holds = settings(deadline=None, max_examples=80, suppress_health_check=list(HealthCheck))


@holds
@given(scenarios())
def test_every_committed_call_has_exactly_one_output_before_anything_else(scenario):
    rules.check_every_committed_call_is_answered(told(scenario))


@holds
@given(scenarios())
def test_streaming_discipline_holds_on_every_path(scenario):
    rules.check_streaming_discipline(told(scenario))


@holds
@given(scenarios())
def test_a_decision_stands_between_a_call_and_its_output(scenario):
    rules.check_a_decision_stands_between_call_and_output(told(scenario))


@holds
@given(scenarios())
def test_the_trace_has_the_order_of_the_stream(scenario):
    rules.check_the_trace_has_the_order_of_the_stream(told(scenario))


@holds
@given(scenarios())
def test_completed_means_committed(scenario):
    rules.check_completed_means_committed(told(scenario))


@holds
@given(scenarios())
def test_no_message_follows_an_abort(scenario):
    rules.check_no_message_follows_an_abort(told(scenario))


@holds
@given(scenarios())
def test_the_context_rebuilt_from_the_trace_is_the_live_one(scenario):
    rules.check_the_trace_rebuilds_the_context(told(scenario))


@holds
@given(scenarios())
def test_each_request_extends_the_one_before(scenario):
    rules.check_each_request_extends_the_one_before(told(scenario))


@holds
@given(scenarios())
def test_each_request_extends_the_one_before_byte_for_byte(scenario):
    rules.check_each_request_extends_the_one_before_byte_for_byte(told(scenario))


@holds
@given(scenarios())
def test_every_beginning_of_the_trace_can_be_gone_on_with(scenario):
    rules.check_every_beginning_of_the_trace_can_be_gone_on_with(told(scenario))


@holds
@given(scenarios())
def test_the_tools_are_told_before_the_first_request_of_each_context(scenario):
    rules.check_the_tools_are_told_before_the_first_request_of_each_context(told(scenario))


@holds
@given(scenarios())
def test_the_same_bytes_and_results_give_the_same_stream(scenario):
    assert told(scenario).payloads == told(scenario).payloads


@holds
@given(scenarios())
def test_aborts_and_closes_return_in_time_and_leave_no_task(scenario):
    rules.check_everything_returns_in_time(told(scenario))


# --- every point of one rich conversation ---

FIRST = (
    thinking("h", "m"),
    text("I ", "look"),
    Called("work", ('{"say": ["1", "2"],', ' "gap": 0.5}'), "a"),
    Called("work", ('{"stubborn": 1, "then": 2}',), "b"),
    Called("work", ("{}",), "c"),
    Called("nope", ("{}",), "a"),
    text("so"),
)
RICH = Scenario(
    replies=(
        (text("half"), Called("work", ('{"then": 3}',), "a"), torn("other", '{"x', "t"), fail("timeout", "cut")),
        FIRST,
        (Called("work", ("{}",), "d"), torn("other", '{"y', "u"), finish("length")),
        (text("the", " end"),),
    ),
    gap_s=0.25,
    answers=(("c", Decision("deny", "user")),),
    delays=(("b", 1.0),),
)


def test_every_rule_holds_when_nothing_goes_wrong():
    story = told(RICH)
    check_all(story)
    assert [one.status for one in story.results] == ["completed"] * 3 and len(story.messages) > 80


def test_every_rule_holds_with_an_abort_at_every_message():
    for place in range(len(told(RICH).messages)):
        check_all(told(Scenario(**{**vars_of(RICH), "abort_at": place})))


def test_every_rule_holds_with_an_abort_at_every_moment():
    for moment in range(80):
        check_all(told(Scenario(**{**vars_of(RICH), "abort_at_s": moment / 8})))


def test_every_rule_holds_with_steering_at_every_message_and_none_is_lost():
    for place in range(len(told(RICH).messages)):
        story = told(Scenario(**{**vars_of(RICH), "steer_at": (place,)}))
        check_all(story)
        delivered = sum(isinstance(one, Text) and "user_steering" in one.text for one in story.payloads)
        assert delivered == 1


@pytest.mark.parametrize("status", ["timeout", "malformed", "failed", "auth"])
def test_every_rule_holds_with_a_fault_at_every_part(status):
    for parts in range(sum(len(piece.deltas if isinstance(piece, Said) else piece.pieces) for piece in FIRST)):
        replies = (cut(FIRST, parts, fail(status, "broken")), FIRST, *RICH.replies[2:])
        check_all(told(Scenario(**{**vars_of(RICH), "replies": replies})))


def test_every_rule_holds_with_a_fault_and_then_an_abort_at_every_moment():
    for moment in range(0, 80, 3):
        replies = (cut(FIRST, 7, fail("timeout", "broken")), FIRST)
        check_all(told(Scenario(**{**vars_of(RICH), "replies": replies, "abort_at_s": moment / 8})))


# --- every point of a conversation that is compacted in all ways ---

SUMMARY = (text("[summary]", "so far", "[/summary]"),)
STRANGE = (thinking("hm"), text("let me "), Called("work", ("{}",), "a"))
COMPACTED = Scenario(
    replies=(
        (Called("work", ('{"say": ["1"]}',), "a"), usage(90, 10)),
        (text("half"), fail("timeout", "cut")),
        STRANGE,
        (text("[summary] [/summary]"),),
        SUMMARY,
        (text("on"), Called("work", ("{}",), "a")),
        (fail("failed", "too long", context_length=True),),
        SUMMARY,
        (text("done"),),
        STRANGE,
        SUMMARY,
        (text("more"), usage(90, 10)),
        SUMMARY,
    ),
    gap_s=0.25,
    max_retries=3,
    max_context_length=50,
)
WAYS = pytest.mark.parametrize(
    "changed",
    [
        {"by_hand": "summarize"},
        {"by_hand": "discard", "max_session_turns": 1, "max_context_length": -1},
        {"max_retries": 1, "by_hand": "summarize"},
        {"max_retries": 0},
        {"compaction": "discard", "by_hand": "discard"},
        {"compaction": "off"},
    ],
    ids=["summarized", "by turns", "given up late", "given up", "discarded", "off"],
)


@WAYS
def test_every_rule_holds_when_contexts_give_way_to_others(changed):
    check_all(told(compacted(changed)))


def test_the_conversation_has_every_kind_of_compaction():
    story = told(compacted({"by_hand": "summarize"}))
    ends = [(one.reason, one.status) for one in story.payloads if isinstance(one, CompactionEnd)]
    assert {reason for reason, _ in ends} == {"context", "manual"} and len(story.contexts) > 3


@WAYS
def test_every_rule_holds_with_an_abort_at_every_line_of_a_trace_that_turns_over(changed):
    for place in range(len(told(compacted(changed)).lines)):
        check_all(told(compacted({**changed, "abort_at_line": place})))


@WAYS
def test_every_rule_holds_with_an_abort_at_every_message_around_compactions(changed):
    for place in range(0, len(told(compacted(changed)).messages), 2):
        check_all(told(compacted({**changed, "abort_at": place})))


@WAYS
def test_every_rule_holds_with_steering_at_every_line_and_none_is_lost_or_said_twice(changed):
    for place in range(len(told(compacted(changed)).lines)):
        story = told(compacted({**changed, "steer_at_line": place}))
        check_all(story)
        delivered = sum(isinstance(one, Text) and "user_steering" in one.text for one in story.payloads)
        assert delivered == len(story.steered)


def compacted(changed):
    return Scenario(**{**vars_of(COMPACTED), **changed})


def vars_of(scenario):
    return {name: getattr(scenario, name) for name in scenario.__dataclass_fields__}


# --- memory ---


@virtual
async def test_nothing_of_the_fragments_is_held_after_they_were_pushed():
    async with Rig() as rig:
        rig.screen.keep = False
        alive, most = weakref.WeakSet(), 0

        def look(message):
            nonlocal most
            if isinstance(message.payload, PARTIAL_TYPES):
                alive.add(message)
                most = max(most, len(alive))

        rig.screen.on_push.append(look)
        rig.llm.script([Said((TextDelta("x"),) * 20_000), work("a", say=["y"] * 5000)], [text("end")])
        await rig.run("go")
        assert most <= 8, "a fragment lives no longer than its push"
        gc.collect()
        assert not alive


@virtual
async def test_memory_is_bounded_by_the_context_not_by_the_stream():
    async with Rig() as rig:
        rig.screen.keep = False
        failed, whole = weakref.WeakSet(), []

        def look(message):
            if isinstance(message.payload, Text) and message.payload.stop_reason:
                failed.add(message.payload)
                whole.append(message.payload.text)

        rig.screen.on_push.append(look)
        rig.llm.script(*[[text("long " * 1000), fail("timeout")]] * 5, [text("ok")])
        await rig.run("go")
        gc.collect()
        assert len(whole) == 5 and not failed, "failed attempts are kept as one text of the input"
        assert not rig.session._runtime.scope._tasks
