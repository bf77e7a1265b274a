"""What tools report of things that go on beside the calls."""

from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, SegmentEnd
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision
from agent_lsp.providers.scripted import fail, play, text
from tests.engine.harness import Rig, virtual, work

REPORT = ("user", "[proc-1 has ended]")


@virtual
async def test_a_report_comes_with_the_next_input_after_the_outputs():
    async with Rig() as rig:
        rig.llm.script([work("a", then=2)], [text("ok")])
        rig.at(1, lambda: rig.tools.beside.append(REPORT[1]))
        await rig.run("go")
        assert rig.sent() == [("user", "go"), ("call", "a"), ("output", "a", "ok"), REPORT]
        assert [one.sender for one in rig.of(Text)] == ["harness", None]


@virtual
async def test_a_report_keeps_no_task_going_and_waits_for_the_next_prompt():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one")], [text("two")])
        rig.at(0.5, lambda: rig.tools.beside.append(REPORT[1]))
        assert (await rig.run("go")).turns == 1
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("assistant", "one"), REPORT, ("user", "next")]


@virtual
async def test_a_tool_that_still_runs_after_the_last_attempt_is_waited_for_and_carried_over():
    async with Rig(gap_s=1, options=EngineOptions(max_retries=0)) as rig:
        rig.llm.script([work("a", say=["done "], gap=5), fail("timeout", "busy")], [text("ok")])
        assert (await rig.run("go")).status == "timeout"
        (output,) = rig.of(ToolCallOutput)
        assert output.stop_reason is None and rig.labels()[-2:] == ["tool_call_output", "abort"]
        await rig.run("next")
        assert '[tool_call_output id="a" status="completed"]' in rig.sent()[1][1]


@virtual
async def test_calls_that_end_out_of_order_are_taken_in_the_order_in_which_they_began():
    async with Rig() as rig:
        begun = [CallBegin(0, "work", "same"), CallBegin(1, "work", "same")]
        said = [CallDelta(0, "{}"), CallDelta(1, "{}"), SegmentEnd(1), SegmentEnd(0)]

        class Interleaving:
            async def stream(self, request):
                parts = [text("ok")] if request.history else [*begun, *said, Outcome("completed", finish="tool_calls")]
                for part in play(parts, 2) if request.history else parts:
                    yield part

        rig.session.configure(llm=Interleaving())
        await rig.run("go")
        assert [one.tool_call_id for one in rig.of(ToolCall)] == ["same", "same#2"]
        assert [one.tool_call_id for one in rig.of(ApprovalDecision)] == ["same", "same#2"]
