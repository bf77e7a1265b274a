"""The planned model: what it is sent, what comes of its replies, and variables."""

import asyncio
import json

import pytest

from agent_lsp.engine.ports import CallBegin, CallDelta, Commit, Outcome, Request, SegmentEnd, TextDelta
from agent_lsp.loop.marks import Mark
from agent_lsp.loop.planned_llm import DECISION_TOOL, PlannedLLM
from agent_lsp.messages.content import Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import RequestEnd, ToolSpec
from agent_lsp.providers.scripted import Scripted, call, fail, finish, gate, text, thinking
from tests.engine.harness import Person, said, virtual
from tests.loop.loop_rig import BASE, LoopRig

TOOL = ToolSpec(name="read_file", description="Reads.", parameters={"type": "object"})


def asked(*input, history=(), tools=(TOOL,), system="be brief"):
    return PlannedLLM(Scripted(), str, 100).plan(Request(system, tools, history, tuple(input)))


def user(words, sender=None):
    return Text(role="user", text=words, sender=sender)


def test_the_request_is_texts_alone_with_the_tools_in_the_prompt():
    request = asked(user("go"))
    assert request.tools == () and request.system.startswith("be brief\n\n")
    for name in ("read_file", "final_answer", "cannot_complete", "Reads."):
        assert name in request.system
    assert request.response_schema["properties"]["tool"]["enum"] == ["read_file", "final_answer", "cannot_complete"]


def test_calls_and_outputs_are_told_as_decisions_and_results():
    made = ToolCall(name="read_file", arguments='{"a": 1}', tool_call_id="c", fidelity={"loop": {"reason": "why"}})
    output = ToolCallOutput(tool_call_id="c", output="x [/tool_result] y", fidelity=Mark("read_file-res-1").fidelity())
    request = asked(output, history=(Commit((user("go"), made)),))
    (commit,) = request.history
    assert json.loads(commit.messages[1].text) == {"tool": "read_file", "input": {"a": 1}, "reason": "why"}
    assert request.input[0].text == (
        '[tool_result name="read_file" ref="read_file-res-1" status="ok"]\nx [\\/tool_result] y\n[/tool_result]'
    )


@pytest.mark.parametrize(
    "stop, output, status",
    [
        (None, "fine", "ok"),
        ("aborted", "Tool call denied by user.\nno", "denied"),
        ("aborted", "Tool call denied by policy.", "denied"),
        ("aborted", "[interrupted: tool aborted by user]", "error"),
        ("failed", "boom", "error"),
        ("timeout", "slow", "error"),
    ],
)
def test_the_status_of_a_result(stop, output, status):
    request = asked(ToolCallOutput(tool_call_id="c", output=output, stop_reason=stop))
    assert f'status="{status}"]' in request.input[0].text


def test_a_long_output_is_cut_and_says_where_the_whole_is():
    output = ToolCallOutput(tool_call_id="c", output="x" * 500, fidelity=Mark("t-res-3").fidelity())
    told = asked(output).input[0].text
    assert "[cut: 100 of 500 characters; the whole is in $$t-res-3]" in told and "x" * 101 not in told


def test_an_answer_of_the_past_is_told_as_the_decision_it_was():
    request = asked(user("b"), history=(Commit((user("a"), Text(role="assistant", text="yes"))),))
    decided = json.loads(request.history[0].messages[1].text)
    assert decided == {"tool": "final_answer", "input": {"answer": "yes"}}


def test_the_same_commit_is_rendered_once_and_thinking_stays():
    planned = PlannedLLM(Scripted(), str, 100)
    commit = Commit((user("a"), Thinking(thinking="hm"), Text(role="assistant", text="yes")))
    first, second = (planned.plan(Request("s", (TOOL,), (commit,), (user("b"),))) for _ in range(2))
    assert first.history[0] is second.history[0] and first.system is second.system
    assert any(isinstance(one, Thinking) for one in first.history[0].messages)


def test_what_is_no_question_for_a_decision_goes_through():
    async def titles():
        inner = Scripted([[text("A title")]])
        request = Request("", (), (), (user("title?"),))
        parts = [part async for part in PlannedLLM(inner, str, 100).stream(request)]
        assert inner.requests == [request] and parts[0] == TextDelta("A title")

    asyncio.run(titles())


async def parts_of(*pieces):
    inner = Scripted([pieces])
    return [part async for part in PlannedLLM(inner, str, 100).stream(Request("s", (TOOL,), (), (user("go"),)))]


def test_a_schema_enforced_by_a_tool_is_read_as_the_reply():
    raw = '{"tool": "read_file", "input": {"a": 1}}'
    parts = asyncio.run(parts_of(call(DECISION_TOOL, raw, pieces=3)))
    assert parts[:3] == [CallBegin(0, "read_file", ""), CallDelta(0, '{"a":1}'), SegmentEnd(0, None)]


def test_an_answer_through_such_a_tool_ends_as_an_answer():
    raw = '{"tool": "final_answer", "input": {"answer": "hi"}}'
    parts = asyncio.run(parts_of(call(DECISION_TOOL, raw, pieces=9)))
    assert "".join(one.text for one in parts if isinstance(one, TextDelta)) == "hi" and parts[-1].finish == "stop"


def test_a_real_call_is_taken_as_it_is():
    parts = asyncio.run(parts_of(call("read_file", {"a": 1}, "c")))
    assert parts[0] == CallBegin(0, "read_file", "c") and parts[-1].status == "completed"


def test_thinking_passes_with_its_fidelity():
    parts = asyncio.run(parts_of(thinking("hm", fidelity={"x": 1}), text("yes")))
    assert parts[1] == SegmentEnd(None, {"x": 1}) and parts[-1].status == "completed"


@pytest.mark.parametrize("raw", ['{"colour": "blue"}', "[1]", "42", '{"tool": "x"'])
def test_what_cannot_be_read_is_malformed_and_brings_what_was_written(raw):
    (outcome,) = asyncio.run(parts_of(text(raw)))
    assert (outcome.status, outcome.reply) == ("malformed", raw) and outcome.message.startswith("unreadable decision: ")


def test_a_failure_of_the_provider_is_passed_on():
    parts = asyncio.run(parts_of(text('{"tool": "re'), fail("timeout", "slow")))
    assert parts == [Outcome("timeout", "slow")]


@virtual
async def test_a_decision_cut_at_the_output_limit_never_runs():
    async with LoopRig() as rig:
        rig.llm.script([text('{"tool": "work", "input": {"out": "half'), finish("length")])
        rig.decide("smaller, then")
        assert (await rig.prompt("go")).text == "smaller, then"
        assert rig.tools.ran == [] and "[output_limit]" in rig.told()[-1][1]


@virtual
async def test_an_unreadable_reply_is_told_behind_what_was_sent_before():
    async with LoopRig() as rig:
        rig.llm.script([text('{"colour": "blue"}')], [text("[1, 2]")])
        rig.decide("done")
        await rig.prompt("go")
        first, second, third = (rig.told(number) for number in range(3))
        assert second[: len(first)] == first and third[: len(second)] == second
        assert second[1:][0] == ("assistant", '{"colour": "blue"}') and "names one" in second[2][1]
        assert third[3] == ("assistant", "[1, 2]") and rig.snap()["errorCount"] == 2
        assert [one.status for one in rig.of(RequestEnd)] == ["malformed", "malformed", "completed"]


@virtual
async def test_requests_only_grow():
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "1"}), ("nope", {}), "one", ("work", {"out": "2"}), "two")
        await rig.prompt("go")
        await rig.prompt("again")
        for number in range(4):
            before, after = rig.told(number), rig.told(number + 1)
            assert after[: len(before)] == before and len(after) > len(before)
            assert rig.llm.requests[number].system == rig.llm.requests[number + 1].system


@virtual
async def test_the_answer_is_streamed_while_it_is_written():
    async with LoopRig() as rig:
        written = asyncio.Event()
        rig.llm.script([text('{"tool": "final_answer", "input": {"answer": "Hel'), gate(written), text('lo"}}')])
        ticket = rig.session.submit(said("go"))
        await rig.until("partial_text:delta")
        assert rig.session.so_far()[-1].text == "Hel" and not ticket.result.done()
        written.set()
        assert (await ticket.result).text == "Hello"


# --- variables --------------------------------------------------------------------------------------------------------


@virtual
async def test_results_become_variables_that_count_up_and_never_start_anew():
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "a"}), ("work", {"stop": "failed", "out": "b"}), ("other", {"out": "c"}), "one")
        await rig.prompt("go")
        rig.decide(("work", {"out": "d"}), "two")
        await rig.prompt("go")
        assert rig.snap()["toolVars"] == {"work-res-1": "a", "other-res-2": "c", "work-res-3": "d"}
        assert rig.snap()["toolVarCounter"] == 3


@virtual
async def test_a_denied_call_is_a_variable_too():
    from agent_lsp.engine.ports import Decision

    class No(Person):
        async def approve(self, call, asking):
            return Decision("deny", "user", feedback="no")

    async with LoopRig(person=No()) as rig:
        rig.decide(("work", {}), "ok")
        await rig.prompt("go")
        assert rig.snap()["toolVars"] == {"work-res-1": "Tool call denied by user.\nno"}


@virtual
async def test_a_reference_is_replaced_before_the_approval():
    asked_about = []

    class Looking(Person):
        async def approve(self, call, asking):
            asked_about.append(json.loads(call.arguments))
            return await super().approve(call, asking)

    async with LoopRig(person=Looking()) as rig:
        rig.decide(("work", {"out": "v"}), ("work", {"out": "<$$work-res-1>", "deep": [{"x": "$$work-res-1"}]}), "ok")
        await rig.prompt("go")
        assert asked_about[1] == {"out": "<v>", "deep": [{"x": "v"}]}


@virtual
async def test_values_are_data_and_are_not_looked_into():
    async with LoopRig() as rig:
        rig.decide(
            ("work", {"out": "$$other"}), ("work", {"out": "<$$work-res-1>", "deep": [{"x": "$$HOME $5"}]}), "ok"
        )
        await rig.prompt("go")
        assert rig.snap()["toolVars"]["work-res-2"] == "<$$other>"


@virtual
async def test_an_unknown_reference_is_told_and_nothing_runs():
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "$$work-res-7"}), "ok")
        await rig.prompt("go")
        assert rig.tools.ran == [] and rig.snap()["errorCount"] == 1 and not rig.person.asked
        assert 'status="error"' in rig.told()[-1][1] and "$$work-res-7" in rig.told()[-1][1]


@pytest.mark.parametrize("pieces", [1, 7, 1000])
@virtual
async def test_an_answer_has_the_values_however_it_is_cut(pieces):
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "42"}))
        raw = json.dumps({"tool": "final_answer", "input": {"answer": "It is $$work-res-1, for $5 or $$HOME."}})
        size = max(1, len(raw) // pieces)
        rig.llm.script([text(*(raw[at : at + size] for at in range(0, len(raw), size)))])
        result = await rig.prompt("go")
        assert result.text == "It is 42, for $5 or $$HOME." == rig.snap()["lastAnswer"]
        assert rig.of(Text)[-1].text == result.text


@virtual
async def test_an_unknown_reference_in_an_answer_is_an_error():
    async with LoopRig() as rig:
        rig.decide("It is $$work-res-9.", "It is nothing.")
        assert (await rig.prompt("go")).text == "It is nothing." and rig.snap()["errorCount"] == 1


@virtual
async def test_a_value_is_without_the_closing_note_and_whole_where_the_output_was_cut():
    from agent_lsp.engine.ports import ToolResult
    from tests.loop.loop_rig import LoopTools

    class Noting(LoopTools):
        async def execute(self, call):
            yield ToolResult("first\n[exit code: 0]", note_chars=15, archive="/whole")

    async with LoopRig(archives={"/whole": "first and all the rest"}) as rig:
        rig.session._runtime.environment = Noting()
        rig.decide(("work", {}), "$$work-res-1")
        assert (await rig.prompt("go")).text == "first and all the rest"
        rig.surroundings.read_archive.__self__.clear()
        assert rig.snap()["toolVars"]["work-res-1"] == "first"


@virtual
async def test_the_snapshot_is_a_copy_with_both_prompts():
    async with LoopRig(limits={"max_errors": 4}) as rig:
        rig.decide(("work", {"out": "x"}), "done")
        await rig.prompt("go")
        snap = rig.snap()
        assert snap["baseSystemPrompt"] == BASE and snap["systemPrompt"] == rig.llm.requests[0].system
        assert (snap["options"]["maxErrors"], snap["options"]["maxStepsPerTurn"]) == (4, 8)
        snap["history"].clear()
        snap["turns"][0]["steps"].clear()
        assert len(rig.snap()["history"]) == 4 and len(rig.snap()["turns"][0]["steps"]) == 2
