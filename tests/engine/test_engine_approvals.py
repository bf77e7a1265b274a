"""Who decides about a call, when it is asked, and what a refusal comes to."""

import asyncio

import pytest

from agent_lsp.engine.ports import Decision
from agent_lsp.messages.content import ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision
from agent_lsp.providers.scripted import fail, text
from tests.engine.harness import DENY, Person, Rig, passing, virtual, work


@virtual
async def test_a_call_is_decided_at_once_while_the_stream_is_read():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([work("a"), text("1", "2")], [text("end")])
        await rig.run("go")
        labels = rig.labels(partials=True)
        assert labels.index("approval_decision:allow") < labels.index("partial_text:start")


@virtual
async def test_calls_are_asked_about_one_at_a_time_in_call_order():
    async with Rig(person=Person(delays={"a": 3, "b": 2, "c": 1})) as rig:
        rig.llm.script([work("a"), work("b"), work("c")], [text("end")])
        await rig.run("go")
        assert rig.person.asked == rig.ids(ApprovalDecision) == ["a", "b", "c"]
        assert rig.person.most_asking == 1


@virtual
async def test_a_waiting_approval_holds_up_neither_the_stream_nor_running_tools():
    async with Rig(person=Person(delays={"b": 60})) as rig:
        rig.llm.script([work("a", then=5), work("b"), work("c"), text("more")], [text("end")])
        await rig.run("go")
        at = dict(zip(rig.labels(partials=True), rig.screen.at_s, strict=False))
        assert rig.labels().index("request_end:completed") < rig.labels().index("tool_call_output")
        assert rig.screen.at_s[[*map(str, rig.labels(partials=True))].index("tool_call_output")] == 5
        assert rig.ids(ToolCallOutput) == ["a", "b", "c"] and at["request_end:completed"] == 60


@virtual
async def test_the_decision_stands_between_call_and_output():
    async with Rig(person=Person({"b": DENY})) as rig:
        rig.llm.script([work("a", say=["x"]), work("b")], [text("end")])
        await rig.run("go")
        seen = [one.payload for one in rig.screen.messages if getattr(one.payload, "tool_call_id", None) == "a"]
        kinds = [one.type for one in seen]
        assert kinds.index("tool_call") < kinds.index("approval_decision") < kinds.index("partial_tool_call_output")


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (DENY, "Tool call denied by user."),
        (Decision("deny", "rule", rule="rm *"), "Tool call denied by user."),
        (Decision("deny", "mode"), "Tool call denied by policy."),
        (Decision("forbidden", "policy"), "Tool call denied by policy."),
        (Decision("forbidden", "rule"), "Tool call denied by policy."),
        (Decision("deny", "user", feedback="not now"), "Tool call denied by user.\nnot now"),
    ],
)
@virtual
async def test_a_denied_call_has_its_output_at_once(decision, words):
    async with Rig(person=Person({"a": decision})) as rig:
        rig.llm.script([work("a")], [text("end")])
        assert (await rig.run("go")).text == "end"
        assert rig.tools.ran == []
        assert rig.of(ToolCallOutput) == [ToolCallOutput(tool_call_id="a", output=words, stop_reason="aborted")]
        (told,) = rig.of(ApprovalDecision)
        assert (told.decision, told.decided_by, told.rule) == (decision.decision, decision.decided_by, decision.rule)


@pytest.mark.parametrize(
    "answer",
    [
        RuntimeError("broken"),
        asyncio.CancelledError(),
        None,
        "yes",
        Decision("maybe", "user"),  # pyright: ignore[reportArgumentType]
        Decision("allow", "nobody"),  # pyright: ignore[reportArgumentType]
    ],
)
@virtual
async def test_what_is_no_answer_is_a_denial_by_default(answer, caplog):
    async with Rig(person=Person({"a": answer})) as rig:
        rig.llm.script([work("a"), work("b")], [text("end")])
        assert (await rig.run("go")).text == "end"
        told = [(one.tool_call_id, one.decision, one.decided_by) for one in rig.of(ApprovalDecision)]
        assert told == [("a", "deny", "default"), ("b", "allow", "user")]
        assert rig.tools.ran == ["b"]


@virtual
async def test_without_an_approver_everything_is_denied():
    async with Rig(has_approver=False) as rig:
        rig.llm.script([work("a"), work("b")], [text("end")])
        await rig.run("go")
        assert {(one.decision, one.decided_by) for one in rig.of(ApprovalDecision)} == {("deny", "default")}
        assert [one.output for one in rig.of(ToolCallOutput)] == ["Tool call denied by user."] * 2


@virtual
async def test_an_approval_is_withdrawn_when_its_attempt_fails():
    async with Rig(person=Person(never={"a"}), gap_s=1) as rig:
        rig.llm.script([work("a"), work("b"), text("."), fail("timeout")], [work("c")], [text("end")])
        assert (await rig.run("go")).text == "end"
        assert rig.person.asked == ["a", "c"] and rig.person.withdrawn == ["a"]
        assert rig.ids(ApprovalDecision) == rig.ids(ToolCallOutput) == rig.tools.ran == ["c"]


@virtual
async def test_the_one_behind_a_withdrawn_question_of_an_abort_is_never_asked():
    async with Rig(person=Person(never={"a"})) as rig:
        rig.llm.script([work("a"), work("b")])
        ticket = rig.start("go")
        await passing(1)
        rig.abort()
        assert (await ticket.result).status == "aborted"
        assert rig.person.asked == rig.person.withdrawn == ["a"]
        assert not rig.of(ApprovalDecision)


@virtual
async def test_the_state_tells_that_a_person_is_waited_for():
    async with Rig(person=Person(delays={"a": 1})) as rig:
        rig.llm.script([work("a")], [text("end")])
        await rig.run("go")
        assert rig.states() == ["running", "waiting_approval", "running", "idle"]
        assert [one.pending_approvals for one in rig.screen.states] == [0, 1, 0, 0]


@virtual
async def test_nobody_waits_for_a_person_once_the_run_was_aborted():
    async with Rig(person=Person(never={"a"})) as rig:
        rig.llm.script([work("a")])
        rig.at(1, rig.abort)
        await rig.run("go")
        await passing(1)
        assert [(one.state, one.pending_approvals) for one in rig.screen.states] == [
            ("running", 0),
            ("waiting_approval", 1),
            ("running", 0),
            ("idle", 0),
        ]
