"""Where a policy takes part in the loop, and what comes of it."""

import json

from agent_lsp.engine.hooks import Hooks, Retry, Stop
from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, SegmentEnd, ToolResult
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision, RequestEnd
from agent_lsp.providers.scripted import call, fail, text
from tests.engine.harness import Rig, block, passing, said, virtual, work


class Policy(Hooks):
    """Answers what it was given for each hook, and keeps the order in which they were called."""

    def __init__(self, **answers):
        self.seen, self._answers = [], answers

    def _answer(self, hook, default, *about):
        self.seen.append(hook)
        answer = self._answers.get(hook, default)
        return answer(*about) if callable(answer) else answer

    def initial_parts(self, input):
        return self._answer("initial_parts", (), input)

    def before_request(self):
        return self._answer("before_request", None)

    def after_attempt(self, outcome):
        return self._answer("after_attempt", None, outcome)

    def prepare_call(self, call):
        return self._answer("prepare_call", call, call)

    def after_tool(self, call, output, end):
        return self._answer("after_tool", None, call, output)

    def before_end(self):
        return self._answer("before_end", ())


@virtual
async def test_the_hooks_are_called_at_their_places():
    async with Rig(hooks=(policy := Policy())) as rig:
        rig.llm.script([fail("timeout")], [work("a")], [text("end")])
        await rig.run("go")
        assert policy.seen == [
            *["initial_parts", "before_request", "after_attempt"],
            *["prepare_call", "after_tool", "before_request", "before_end"],
        ]


@virtual
async def test_before_request_may_stop_without_a_request():
    async with Rig(hooks=Policy(before_request=Stop("max_turns", "enough"))) as rig:
        result = await rig.run("go")
        assert (result.status, result.text, result.turns) == ("max_turns", "enough", 0)
        assert not rig.llm.requests and rig.of(Text)[-1].text == "enough"
        assert "abort" not in rig.labels() and rig.session.state.state == "idle"


@virtual
async def test_after_attempt_may_add_a_note_to_the_next_attempt():
    note = Text(role="user", text="one object, please", sender="harness")
    async with Rig(hooks=Policy(after_attempt=Retry(note))) as rig:
        rig.llm.script([text("bad"), fail("malformed")], [text("ok")])
        await rig.run("go")
        assert rig.sent() == [
            ("user", "go"),
            ("user", note.text),
            ("user", block("turn_retried", "[text]bad[/text]")),
        ]
        assert rig.labels().index("request_end:malformed") < len(rig.labels()) and note in rig.of(Text)


@virtual
async def test_after_attempt_may_stop_before_the_ladder_does():
    async with Rig(hooks=Policy(after_attempt=Stop("failed", "no more"))) as rig:
        rig.llm.script([text("bad"), fail("malformed")], [text("ok")])
        result = await rig.run("go")
        assert (result.status, result.text) == ("failed", "no more")
        assert rig.of(RequestEnd)[0].retry_in_ms is None and len(rig.llm.requests) == 1
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("user", block("turn_retried", "[text]bad[/text]")), ("user", "next")]


@virtual
async def test_nothing_of_a_stopped_attempt_goes_on_after_the_run():
    async with Rig(hooks=Policy(after_attempt=Stop("failed", "no more")), gap_s=1) as rig:
        rig.llm.script([work("a", say=["1", "2"], gap=10), fail("malformed")], [text("ok")])
        await rig.run("go")
        said_ = len(rig.screen.messages)
        await passing(60)
        assert len(rig.screen.messages) == said_
        assert rig.ids(ToolCallOutput) == ["a"]
        await rig.run("next")
        assert 'tool_call_output id="a" status="aborted"' in rig.sent()[1][1]


@virtual
async def test_prepare_call_may_change_what_is_asked_and_run():
    def prepare(given):
        return given.model_copy(update={"arguments": json.dumps({"out": "prepared"})})

    async with Rig(hooks=Policy(prepare_call=prepare)) as rig:
        rig.llm.script([call("work", {"out": "$$x"}, "a")], [text("end")])
        await rig.run("go")
        assert rig.sent()[-1] == ("output", "a", "prepared")
        assert rig.of(ToolCall)[0].arguments == '{"out": "$$x"}', "the model's own call is what is told and kept"


@virtual
async def test_prepare_call_may_refuse():
    async with Rig(hooks=Policy(prepare_call=ToolResult("no such variable", "failed"))) as rig:
        rig.llm.script([work("a")], [text("end")])
        await rig.run("go")
        assert rig.tools.ran == rig.person.asked == []
        assert rig.of(ToolCallOutput) == [
            ToolCallOutput(tool_call_id="a", output="no such variable", stop_reason="failed")
        ]
        assert [one.decided_by for one in rig.of(ApprovalDecision)] == ["default"]


@virtual
async def test_after_tool_may_stop_once_the_batch_is_paired():
    def after(call, output, *_):
        return Stop("completed", "the answer") if call.tool_call_id == "a" else None

    async with Rig(hooks=Policy(after_tool=after)) as rig:
        rig.llm.script([work("a"), work("b", then=5)], [text("end")])
        result = await rig.run("go")
        assert (result.status, result.text) == ("completed", "the answer")
        assert rig.ids(ToolCallOutput) == ["a", "b"] and len(rig.llm.requests) == 1
        await rig.run("next")
        outputs = [("output", "a", "ok"), ("output", "b", "ok")]
        assert rig.sent() == [("user", "go"), ("call", "a"), ("call", "b"), *outputs, ("user", "next")]


@virtual
async def test_before_end_may_add_feedback_and_go_on():
    feedback = [[Text(role="user", text="not what was expected", sender="harness")], []]
    async with Rig(hooks=Policy(before_end=lambda: feedback.pop(0))) as rig:
        rig.llm.script([text("one")], [text("two")])
        result = await rig.run("go")
        assert (result.text, result.turns) == ("two", 2)
        assert rig.sent() == [("user", "go"), ("assistant", "one"), ("user", "not what was expected")]


@virtual
async def test_before_end_is_not_asked_while_steering_waits():
    async with Rig(hooks=(policy := Policy())) as rig:
        rig.llm.script([text("one")], [text("two")])
        rig.when("text", lambda: rig.session.steer(said("more")))
        await rig.run("go")
        assert policy.seen.count("before_end") == 1


@virtual
async def test_initial_parts_stand_for_the_first_reply():
    parts = [CallBegin(0, "work", "a"), CallDelta(0, "{}"), SegmentEnd(0), Outcome("completed", finish="tool_calls")]
    firsts = [parts, ()]
    async with Rig(hooks=Policy(initial_parts=lambda input: firsts.pop(0))) as rig:
        rig.llm.script([text("end")])
        result = await rig.run("go")
        assert (result.text, result.turns, len(rig.llm.requests)) == ("end", 2, 1)
        assert rig.sent() == [("user", "go"), ("call", "a"), ("output", "a", "ok")]
        assert rig.labels()[:3] == ["tool_list_ready", "request_begin", "tool_call:work"]
