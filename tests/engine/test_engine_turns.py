"""The turn loop: the order of the stream, what the next request holds, how a task ends."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import ImageUrl, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ApprovalDecision, RequestEnd, TokenCounts, TokenUsage
from agent_lsp.providers.scripted import call, fail, finish, gate, text, thinking, torn, usage
from tests.engine.harness import PIXEL, Deadlock, Person, Rig, forever, now_s, passing, run, virtual, work


def test_virtual_time_passes_at_once_and_a_deadlock_is_seen():
    async def a_day():
        await passing(86_400)
        return now_s()

    assert run(a_day()) == 86_400
    with pytest.raises(Deadlock):
        run(forever())


@virtual
async def test_a_text_reply_comes_in_order_and_the_input_is_not_echoed():
    async with Rig() as rig:
        rig.llm.script([thinking("hm"), text("Hel", "lo"), usage(100, 20, 40)])
        result = await rig.run("hi")
        assert rig.labels(partials=True) == [
            "tool_list_ready",
            "request_begin",
            *["partial_thinking:start", "partial_thinking:delta", "partial_thinking:stop", "thinking"],
            *["partial_text:start", "partial_text:delta", "partial_text:delta", "partial_text:stop", "text"],
            "token_usage",
            "request_end:completed",
        ]
        assert (result.status, result.text, result.turns, result.finish) == ("completed", "Hello", 1, "stop")
        assert rig.of(RequestEnd) == [RequestEnd(status="completed", finish="stop")]


@virtual
async def test_the_trace_has_run_and_input_before_what_is_streamed():
    async with Rig() as rig:
        rig.llm.script([text("ok")])
        ticket = rig.start("one", "two")
        await ticket.result
        traced = rig.traced()
        assert [one["type"] for one in traced[:4]] == ["run_begin", "tool_list_ready", "text", "text"]
        assert (traced[0]["run_id"], traced[2]["text"], traced[3]["text"]) == (ticket.run_id, "one", "two")
        assert not [one for one in traced if one["type"].startswith("partial_")]
        assert rig.trace.synced == len(rig.trace.lines), "the result comes when the trace is on the disk"


@virtual
async def test_what_a_request_came_to_is_on_the_disk_while_its_tool_still_runs():
    async with Rig() as rig:
        rig.llm.script([work("a", then=5)], [text("end")])
        rig.start("go")
        await passing(1)
        assert "request_end:completed" in rig.labels() and "tool_call_output" not in rig.labels()
        assert rig.trace.synced == len(rig.trace.lines)


@virtual
async def test_requests_that_end_in_quick_succession_share_a_sync_and_the_last_has_its_own():
    async with Rig() as rig:
        rig.llm.script(*[[work(f"c{n}", then=0.001)] for n in range(100)], [work("last", then=5)], [text("end")])
        rig.start("go")
        await passing(1)
        assert 3 <= rig.trace.syncs <= 8, "one for each 20 ms of a tenth of a second, and the first and the last"
        assert rig.trace.synced == len(rig.trace.lines)


@virtual
async def test_a_slow_disk_is_told_of_what_came_while_it_was_busy():
    async with Rig() as rig:
        rig.trace.sync_s = 2
        rig.llm.script([work("a", then=0.5)], [work("b", then=60)], [text("end")])
        rig.start("go")
        await passing(10)
        assert rig.trace.syncs == 2 and rig.trace.synced == len(rig.trace.lines)


@virtual
async def test_request_end_does_not_wait_for_tools():
    async with Rig() as rig:
        rig.llm.script([work("a", then=5)], [text("end")])
        await rig.run("go")
        labels = rig.labels()
        assert labels.index("request_end:completed") < labels.index("tool_call_output")
        assert rig.screen.at_s[-1] == 5


@virtual
async def test_the_next_request_waits_for_every_output():
    async with Rig() as rig:
        rig.llm.script([work("a", then=1), work("b", then=9), work("c", then=2)], [text("end")])
        await rig.run("go")
        labels = rig.labels()
        second = [at for at, label in enumerate(labels) if label == "request_begin"][1]
        assert labels[:second].count("tool_call_output") == 3


@virtual
async def test_outputs_come_as_they_complete_and_are_sent_in_call_order():
    async with Rig() as rig:
        rig.llm.script([work("a", then=2), work("b", then=1), work("c", unfit=1)], [text("end")])
        await rig.run("go")
        assert rig.ids(ToolCallOutput) == ["c", "b", "a"]
        assert rig.sent() == [
            ("user", "go"),
            *[("call", "a"), ("call", "b"), ("call", "c")],
            *[("output", "a", "ok"), ("output", "b", "ok"), ("output", "c", "[tool error] the arguments do not fit")],
        ]


@virtual
async def test_a_tool_runs_beside_the_stream_and_beside_the_others():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([work("a", then=5), work("b", then=9), text("1", "2", "3")], [text("end")])
        await rig.run("go")
        labels = rig.labels()
        assert labels.index("tool_call_output") < labels.index("request_end:completed")
        assert rig.tools.most_running == 2


@virtual
async def test_streamed_output_is_the_output():
    async with Rig() as rig:
        rig.llm.script([work("a", say=["1\n", "2\n"], gap=1, stop="failed", images=[PIXEL])], [text("end")])
        await rig.run("go")
        assert rig.of(ToolCallOutput) == [
            ToolCallOutput(tool_call_id="a", output="1\n2\n", stop_reason="failed", images=(PIXEL,))
        ]
        assert rig.labels(partials=True).count("partial_tool_call_output:delta") == 2


@virtual
async def test_a_tool_without_output_says_so():
    async with Rig() as rig:
        rig.llm.script([work("a", out="")], [text("end")])
        await rig.run("go")
        assert rig.of(ToolCallOutput) == [ToolCallOutput(tool_call_id="a", output="[no output]")]


@pytest.mark.parametrize("plan", [{"fail": 1}, {"quit": 1}, {"fail": 1, "say": ["a"]}])
@virtual
async def test_a_tool_that_breaks_has_a_failed_output(plan, caplog):
    async with Rig() as rig:
        rig.llm.script([work("a", **plan)], [text("end")])
        assert (await rig.run("go")).status == "completed"
        (output,) = rig.of(ToolCallOutput)
        assert output.stop_reason == "failed" and "[tool error]" in output.output


@virtual
async def test_unknown_tools_and_unfit_arguments_are_never_asked_about():
    async with Rig() as rig:
        rig.llm.script([call("nope", {}, "a"), work("b", unfit=1)], [text("end")])
        await rig.run("go")
        assert rig.person.asked == [] and rig.tools.ran == []
        assert [(one.tool_call_id, one.decision, one.decided_by) for one in rig.of(ApprovalDecision)] == [
            ("a", "allow", "default"),
            ("b", "allow", "default"),
        ]
        assert [one.stop_reason for one in rig.of(ToolCallOutput)] == ["failed", "failed"]
        assert rig.of(ToolCallOutput)[0].output == "Unknown tool: nope"


@pytest.mark.parametrize("raw", ["", " \n"])
@virtual
async def test_blank_arguments_mean_an_empty_object(raw):
    async with Rig() as rig:
        rig.llm.script([call("work", raw, "a")], [text("end")])
        await rig.run("go")
        assert rig.tools.ran == ["a"] and rig.of(RequestEnd)[0].status == "completed"
        assert rig.of(ToolCall)[0].arguments == raw


@pytest.mark.parametrize("raw", ["[1]", '{"cmd": "echo', "nope!", "1", "null", '"x"'])
@virtual
async def test_arguments_that_are_no_object_make_the_reply_malformed(raw):
    async with Rig() as rig:
        rig.llm.script([call("work", raw, "a")], [text("ok")])
        assert (await rig.run("go")).text == "ok"
        first, second = rig.of(RequestEnd)
        assert (first.status, first.attempt, second.status, second.attempt) == ("malformed", 1, "completed", 2)
        assert rig.person.asked == rig.tools.ran == [] and not rig.of(ApprovalDecision)
        assert rig.of(ToolCall)[0].stop_reason == "malformed"
        assert rig.sent() == [("user", "go")]


@pytest.mark.parametrize("reply", [[], [text(" ", "\n")], [thinking("only")]])
@virtual
async def test_a_reply_with_neither_words_nor_calls_is_malformed(reply):
    async with Rig() as rig:
        rig.llm.script(reply, [text("ok")])
        assert (await rig.run("go")).text == "ok"
        assert [one.status for one in rig.of(RequestEnd)] == ["malformed", "completed"]
        assert rig.of(RequestEnd)[0].error_message and len(rig.of(TokenUsage)) == 1


@virtual
async def test_a_text_cut_at_the_output_limit_is_completed_and_marked():
    async with Rig() as rig:
        rig.llm.script([thinking("t"), text("all I ha"), finish("length")])
        result = await rig.run("go")
        assert (result.status, result.finish, len(rig.llm.requests)) == ("completed", "length", 1)
        assert rig.of(Text) == [Text(role="assistant", text="all I ha", stop_reason="failed")]
        assert rig.of(Thinking)[0].stop_reason is None
        assert rig.of(RequestEnd) == [RequestEnd(status="completed", finish="length")]


@virtual
async def test_a_call_cut_at_the_output_limit_is_not_run_not_committed_and_told():
    async with Rig() as rig:
        rig.llm.script([work("whole"), torn("other", '{"content": "abc', "torn"), finish("length")], [text("end")])
        assert (await rig.run("go")).text == "end"
        assert [(one.tool_call_id, one.stop_reason) for one in rig.of(ToolCall)] == [
            ("whole", None),
            ("torn", "failed"),
        ]
        assert rig.ids(ApprovalDecision) == rig.tools.ran == ["whole"]
        *before, (role, told) = rig.sent()
        assert before == [("user", "go"), ("call", "whole"), ("output", "whole", "ok")]
        assert role == "user" and told.startswith("[output_limit]\n") and told.endswith("\n[/output_limit]")
        assert "other" in told and "work" not in told.replace("other", "")
        assert told in [one.text for one in rig.of(Text)], "what the engine writes itself is pushed"
        assert rig.labels().index("tool_call_output") < rig.labels().index("text")


@virtual
async def test_the_task_goes_on_after_a_reply_that_was_only_a_cut_call():
    async with Rig() as rig:
        rig.llm.script([torn("other", '{"a', "torn"), finish("length")], [text("smaller")])
        result = await rig.run("go")
        assert (result.text, result.turns) == ("smaller", 2)
        assert [one[0] for one in rig.sent()] == ["user", "user"]


@virtual
async def test_bad_arguments_in_a_reply_cut_at_the_limit_are_a_cut_call():
    async with Rig() as rig:
        rig.llm.script([call("other", '{"a', "bad"), finish("length")], [text("smaller")])
        assert (await rig.run("go")).text == "smaller"
        assert [one.status for one in rig.of(RequestEnd)] == ["completed", "completed"]
        assert rig.of(ToolCall)[0].stop_reason and "output_limit" in rig.sent()[-1][1]


@pytest.mark.parametrize("reason", ["refusal", "content_filter"])
@virtual
async def test_a_refusal_in_the_middle_of_a_call_is_no_output_limit(reason):
    async with Rig() as rig:
        rig.llm.script([text("no"), torn("other", '{"a', "torn"), finish(reason)])
        result = await rig.run("go")
        assert (result.status, result.finish, result.turns) == ("completed", reason, 1)
        assert rig.tools.ran == [] and len(rig.llm.requests) == 1


@virtual
async def test_max_turns_ends_the_run_and_keeps_its_outputs():
    async with Rig(options=EngineOptions(max_turns=1)) as rig:
        rig.llm.script([work("a")], [text("ok")])
        result = await rig.run("go")
        assert (result.status, result.turns, result.undelivered) == ("max_turns", 1, None)
        assert rig.of(Text)[-1].text == "[reached max turns (1); stopping]"
        assert rig.of(Text)[-1].stop_reason == "failed"
        assert rig.labels(partials=True)[-4:] == [*(f"partial_text:{x}" for x in ("start", "delta", "stop")), "text"]
        assert (await rig.run("next")).text == "ok"
        assert rig.sent() == [("user", "go"), ("call", "a"), ("output", "a", "ok"), ("user", "next")]


@virtual
async def test_a_run_that_ends_at_the_limit_by_itself_is_completed():
    async with Rig(options=EngineOptions(max_turns=2)) as rig:
        rig.llm.script([work("a")], [text("ok")])
        assert (await rig.run("go")).status == "completed"


@virtual
async def test_no_limit_means_no_limit():
    async with Rig(options=EngineOptions(max_turns=0)) as rig:
        rig.llm.script(*[[work(f"a{n}")] for n in range(150)], [text("ok")])
        assert (await rig.run("go")).turns == 151


@virtual
async def test_usage_counts_the_run_and_the_session():
    async with Rig() as rig:
        rig.llm.script([work("a"), usage(60, 20, 40)], [text("b"), usage(100, 5, 100)], [text("c"), usage(10, 1)])
        first, second = await rig.run("x"), await rig.run("y")
        assert first.usage == TokenCounts(cache_read=140, cache_write=160, output=25, total=325)
        assert second.usage == TokenCounts(cache_write=10, output=1, total=11)
        assert [one.session.total for one in rig.of(TokenUsage)] == [120, 325, 336]
        assert (rig.session.usage.total, rig.session.turns, rig.session.context_tokens) == (336, 3, 11)


@virtual
async def test_only_a_completed_request_has_a_token_usage():
    async with Rig() as rig:
        rig.llm.script([text("a"), fail("timeout")], [text("ok")])
        await rig.run("go")
        assert rig.labels().count("token_usage") == 1
        assert rig.labels()[-2:] == ["token_usage", "request_end:completed"]


@virtual
async def test_the_tool_list_is_told_once_a_context():
    async with Rig() as rig:
        await rig.run("a")
        await rig.run("b")
        assert rig.labels().count("tool_list_ready") == 1
        assert all(request.tools == rig.tools.tools() for request in rig.llm.requests)


@virtual
async def test_a_request_has_system_history_input_and_thinking_level():
    async with Rig() as rig:
        rig.llm.script([fail("timeout")], [work("a")], [text("b")], [text("c")])
        look = [Text(role="user", text="look"), ImageUrl(image_url=PIXEL)]
        await rig.session.run(look, thinking_level="high")
        await rig.run("next")
        assert [one.thinking_level for one in rig.llm.requests] == ["high", "high", "high", None]
        assert {(one.system, one.session_id) for one in rig.llm.requests} == {("be brief", "s")}
        assert rig.llm.requests[0].input == rig.llm.requests[1].input == tuple(look)
        assert [len(one.history) for one in rig.llm.requests] == [0, 0, 1, 2]


@virtual
async def test_fidelity_goes_back_as_it_came():
    async with Rig() as rig:
        kept = {"signature": "S==", "nested": {"none": None, "list": [None, 1.5, {"a": None}]}}
        rig.llm.script([thinking("t", fidelity=kept), text("x", fidelity={"i": 1})], [text("ok")])
        await rig.run("a")
        await rig.run("b")
        (commit,) = rig.llm.requests[1].history
        assert [one.fidelity for one in commit.messages] == [None, kept, {"i": 1}]


@virtual
async def test_segments_keep_the_order_of_the_provider():
    async with Rig() as rig:
        rig.llm.script([text("a"), thinking("b"), text("c"), work("d"), text("e")], [text("ok")])
        await rig.run("go")
        labels = [one for one in rig.labels() if one in ("text", "thinking", "tool_call:work")]
        assert labels[:5] == ["text", "thinking", "text", "tool_call:work", "text"]
        assert rig.sent()[:6] == [
            ("user", "go"),
            ("assistant", "a"),
            ("thinking", "b"),
            ("assistant", "c"),
            ("call", "d"),
            ("assistant", "e"),
        ]


@pytest.mark.parametrize("pieces", [["1\ud800", ToolResult()], [ToolResult("1\udcff")]])
@virtual
async def test_half_a_character_of_a_model_or_a_tool_spoils_nothing(pieces, monkeypatch):
    async def broken(plan):
        for piece in pieces:
            yield piece

    async with Rig() as rig:
        monkeypatch.setattr(rig.tools, "_doing", broken)
        rig.llm.script([text("a\ud800b"), work("t")], [text("ok")])
        assert (await rig.run("go")).text == "ok"
        assert rig.sent()[1:] == [("assistant", "a\ufffdb"), ("call", "t"), ("output", "t", "1\ufffd")]
        assert [one.status for one in rig.of(RequestEnd)] == ["completed", "completed"]


@virtual
async def test_an_adapter_that_raises_is_a_failed_attempt(caplog):
    async with Rig() as rig:
        rig.llm.script([text("a"), gate(None)], [text("ok")])  # a gate without an event: the adapter itself breaks
        assert (await rig.run("go")).text == "ok"
        assert [one.status for one in rig.of(RequestEnd)] == ["failed", "completed"]
        assert "adapter" in (rig.of(RequestEnd)[0].error_message or "")


@virtual
async def test_a_slow_front_end_holds_up_the_model_and_the_tools_but_not_the_approvals():
    async with Rig(person=Person(delays={"a": 1})) as rig:
        rig.llm.script([work("a", say=["1", "2"]), text("x", "y")], [text("ok")])
        rig.when("tool_call:work", rig.screen.room.clear)
        ticket = rig.start("go")
        await passing(5)
        assert rig.labels()[-2:] == ["tool_call:work", "approval_decision:allow"]
        assert rig.labels(partials=True).count("partial_tool_call_output:delta") == 1
        rig.screen.room.set()
        assert (await ticket.result).text == "ok"
