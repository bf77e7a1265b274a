# ruff: noqa: E501
"""The Responses dialect: what a stream says and the parts that it becomes, and a context as a request."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import CallBegin, CallDelta, Commit, Outcome, Request, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import TokenCounts, ToolSpec
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.openai_responses.request import ResponsesEncoder
from agent_lsp.providers.openai_responses.stream import ResponsesReader
from agent_lsp.slotted import replace
from tests.providers.replies import joined, messages, read, sse, whole_calls

USAGE = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5}
COUNTED = TokenCounts(cache_read=4, cache_write=6, output=5, total=15)


def responses(*events):
    return read(ResponsesReader("p"), sse(*events))


def ev(kind, index=0, **more):
    return {"type": f"response.{kind}", "output_index": index, **more}


def added(index=0, **item):
    return ev("output_item.added", index, item=item)


def done(index=0, **item):
    return ev("output_item.done", index, item=item)


def said(piece, index=0):
    return ev("output_text.delta", index, delta=piece)


def argued(piece, index=0):
    return ev("function_call_arguments.delta", index, delta=piece)


def ended(status="completed", **more):
    return {"type": f"response.{status}", "response": {"status": status, "usage": USAGE, **more}}


def fn(call_id="c", name="f", arguments="", **more):
    return {
        "type": "function_call",
        "id": f"fc_{call_id}",
        "call_id": call_id,
        "name": name,
        "arguments": arguments,
        **more,
    }


def message(text, **more):
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text}],
        **more,
    }


def mark(**item):
    return {"openai_responses": {"provider": "p", "item": item}}


def test_text_streams_and_keeps_what_the_item_was_called():
    parts = responses(
        added(type="message", id="msg_1"),
        said("Hel"),
        said("lo"),
        done(**message("Hello", phase="final_answer", status="completed")),
        ended(),
    )
    assert joined(parts) == [
        TextDelta("Hello"),
        SegmentEnd(None, mark(type="message", id="msg_1", role="assistant", phase="final_answer", status="completed")),
        Outcome("completed", usage=COUNTED, finish="stop"),
    ]


CALLS = {
    "deltas": [added(**fn()), argued('{"a":'), argued("1}"), done(**fn(arguments='{"a":1}'))],
    "only what is done": [added(**fn()), done(**fn(arguments='{"a":1}'))],
    "never announced": [done(**fn(arguments='{"a":1}'))],
    "the whole arguments before the item is done": [added(**fn()), ev("function_call_arguments.done", arguments='{"a":1}'), done(**fn(arguments='{"a":1}'))],
    "a part of the arguments, then all": [added(**fn()), argued('{"a"'), done(**fn(arguments='{"a":1}'))],
    "arguments as an object": [added(**fn()), done(**fn(arguments={"a": 1}))],
    "the end mark of another dialect": [added(**fn()), argued('{"a":1}'), done(**fn(arguments='{"a":1}')), ended(), b"[DONE]"],
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls(name):
    parts = responses(*CALLS[name], ended())
    assert whole_calls(parts) == [("c", "f", '{"a":1}')]
    assert (parts[-1].status, parts[-1].finish) == ("completed", "tool_calls")


def test_parallel_calls_end_each_when_it_is_done():
    parts = responses(
        added(0, **fn("a")), argued("{}", 0), done(0, **fn("a", arguments="{}")),
        added(1, **fn("b", "g")), argued("{}", 1), done(1, **fn("b", "g", arguments="{}")), ended(),
    )  # fmt: skip
    kinds = [type(part) for part in parts]
    assert kinds == [CallBegin, CallDelta, SegmentEnd, CallBegin, CallDelta, SegmentEnd, Outcome]
    assert whole_calls(parts) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_a_call_without_arguments_is_whole():
    assert whole_calls(responses(added(**fn()), done(**fn()), ended())) == [("c", "f", "")]


def test_hidden_reasoning_is_an_empty_thinking_with_the_item_as_it_was_in_the_end():
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ENC"}
    parts = responses(added(**{**item, "encrypted_content": "begun"}), done(**item), done(1, **fn()), ended())
    assert parts[:2] == [ThinkingDelta(""), SegmentEnd(None, mark(**item))]


def test_parts_of_a_summary_are_told_apart_by_a_blank_line():
    def piece(text, index):
        return ev("reasoning_summary_text.delta", delta=text, summary_index=index)

    item = {"type": "reasoning", "id": "r", "summary": [{"text": "ab"}, {"text": "c"}]}
    parts = responses(
        added(**item), piece("a", 0), piece("b", 0), piece("c", 1), done(**item), done(1, **message("x")), ended()
    )
    assert joined(parts)[:2] == [ThinkingDelta("ab\n\nc"), SegmentEnd(None, mark(**item))]
    assert joined(responses(done(**item), done(1, **message("x")), ended()))[0] == ThinkingDelta("ab\n\nc")


def test_reasoning_in_plain_text_is_read_too():
    item = {"type": "reasoning", "id": "r", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}]}
    parts = responses(
        added(**item),
        ev("reasoning_text.delta", delta="hm", content_index=0),
        done(**item),
        done(1, **message("x")),
        ended(),
    )
    assert joined(parts)[:2] == [ThinkingDelta("hm"), SegmentEnd(None, mark(**item))]


def test_reasoning_that_is_done_after_the_text_leaves_the_text_its_own_marks():
    item = {"type": "reasoning", "id": "r", "summary": []}
    parts = responses(
        added(**item),
        ev("reasoning_text.delta", delta="hm"),
        said("x", 1),
        done(1, **message("x")),
        done(**item),
        ended(),
    )
    assert [one.fidelity for one in messages(parts)] == [None, mark(type="message", id="msg_1", role="assistant")]


def test_the_doings_of_the_provider_are_kept_and_not_shown():
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed"}
    parts = responses(added(type="web_search_call", id="ws_1"), done(**item), done(1, **message("x")), ended())
    assert parts[:2] == [ThinkingDelta(""), SegmentEnd(None, mark(**item))]


def test_a_refusal_is_told_and_stays_open():
    refused = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}
    for events in ([ev("refusal.delta", delta="No."), done(**refused)], [done(**refused)]):
        assert responses(*events, ended()) == [TextDelta("No."), Outcome("completed", usage=COUNTED, finish="refusal")]


def test_what_was_cut_stays_open():
    cut = ended("incomplete", incomplete_details={"reason": "max_output_tokens"})
    assert responses(said("Cu"), done(**message("Cu", status="incomplete")), cut)[:-1] == [TextDelta("Cu")]
    torn = responses(added(**fn()), argued('{"a":'), done(**fn(arguments='{"a":', status="incomplete")), cut)
    assert whole_calls(torn) == [] and torn[-1].finish == "length"
    filtered = ended("incomplete", incomplete_details={"reason": "content_filter"})
    parts = responses(added(**fn()), argued("{}"), filtered)
    assert whole_calls(parts) == [] and parts[-1].finish == "content_filter"


ENDS = {
    "a body that breaks off": ([said("Ha")], "malformed", "ended before"),
    "nothing to use": ([ended()], "malformed", "neither text nor a call"),
    "arguments that are cut": ([added(**fn()), argued("{"), done(**fn(arguments="{")), ended()], "malformed", "not a JSON object"),
    "a failure with a code": ([ended("failed", error={"code": "server_error", "message": "oops"})], "timeout", "oops"),
    "a failure without one": ([ended("failed", error=None)], "timeout", "failed"),
    "a flat error": ([{"type": "error", "code": "rate_limit_exceeded", "message": "slow"}], "timeout", "slow"),
    "a context that is too long": ([ended("failed", error={"code": "context_length_exceeded", "message": "x"})], "failed", "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_bad_ends(name):
    events, status, words = ENDS[name]
    outcome = responses(*events)[-1]
    assert outcome.status == status and words in outcome.message
    assert outcome.context_length == (name == "a context that is too long")


def test_a_whole_response_in_json_is_read():
    body = {"status": "completed", "usage": USAGE, "output": [message("Hi"), fn(arguments="{}")]}
    parts = read(ResponsesReader("p"), json.dumps(body).encode())
    assert joined(parts)[0] == TextDelta("Hi") and whole_calls(parts) == [("c", "f", "{}")]
    assert read(ResponsesReader("p"), b'{"object": "list"}')[-1].status == "malformed"


EVENTS = st.sampled_from(
    [
        *(said(piece, index) for piece in ("", "a") for index in (0, 1)),
        *(one for events in CALLS.values() for one in events),
        done(**message("ab")), done(2, type="reasoning", encrypted_content="E"), added(2, type="reasoning"),
        ev("reasoning_text.delta", 2, delta="hm"), ended(), ended("incomplete"), {"type": "response.output_item.done"},
        {"type": "response.completed"}, {"type": 3}, {}, ev("output_item.added", item=None), b"[DONE]",
    ]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=12), st.integers(1, 40))
def test_any_events_in_any_chunks_are_one_reply(events, size):
    body = sse(*events)
    cut = read(ResponsesReader("p"), *(body[at : at + size] for at in range(0, len(body), size)))
    assert joined(cut) == joined(responses(*events))
    assert [isinstance(part, Outcome) for part in cut] == [False] * (len(cut) - 1) + [True]
    messages(cut)


# --- requests ---------------------------------------------------------------------------------------------------------

PIXEL = "data:image/png;base64,AAAA"
GPT = Endpoint("p", "openai-responses", "https://h/v1", "gpt-5.1", vision=True, max_output_tokens=50)
TOOLS = (ToolSpec(name="a", description="x", parameters={"type": "object"}),)


def user(text):
    return Text(role="user", text=text)


def model(text, **more):
    return Text(role="assistant", text=text, **more)


def call(arguments="{}", call_id="c1", **more):
    return ToolCall(name="a", arguments=arguments, tool_call_id=call_id, **more)


def output(text="done", call_id="c1", **more):
    return ToolCallOutput(tool_call_id=call_id, output=text, **more)


def asked(*given, history=(), **more):
    return Request("sys", TOOLS, tuple(Commit(tuple(one)) for one in history), given or (user("go"),), **more)


def body(request, endpoint=GPT, refused=frozenset(), **more):
    return json.loads(ResponsesEncoder(endpoint).body(request, refused, **more))


def items(*given, **more):
    return body(asked(*given), **more)["input"]


def test_settings():
    sent = body(asked(thinking_level="high", session_id="s"))
    assert sent == {
        "model": "gpt-5.1", "instructions": "sys", "input": [{"role": "user", "content": "go"}], "stream": True,
        "tools": [{"type": "function", "name": "a", "description": "x", "parameters": {"type": "object"}, "strict": False}],
        "store": False, "include": ["reasoning.encrypted_content"], "max_output_tokens": 50, "prompt_cache_key": "s",
        "reasoning": {"effort": "high", "summary": "auto"},
    }  # fmt: skip
    refused = frozenset({"include", "store", "max_output_tokens", "prompt_cache_key", "summary"})
    assert body(asked(thinking_level="low", session_id="s"), refused=refused).keys() >= {"reasoning"}
    assert not refused & body(asked(session_id="s"), refused=refused).keys()
    assert body(asked(thinking_level="low"), refused=refused)["reasoning"] == {"effort": "low"}


@pytest.mark.parametrize("name", ["gpt-4.1", "gpt-4o-mini", "openai/gpt-4o", "chatgpt-4o-latest", "gpt-5-chat-latest"])
def test_a_model_that_does_not_reason_is_not_asked_to(name):
    sent = body(asked(thinking_level="high"), replace(GPT, model=name))
    assert "reasoning" not in sent and "include" not in sent


def test_each_request_extends_the_one_before():
    turns = [
        [user("one"), model("a"), call('{"x":  1.0}')],
        [output(images=(PIXEL,)), user("steer"), model("b")],
        [user("two"), Thinking(thinking="", fidelity=mark(type="reasoning", encrypted_content="E")), call("", "c2")],
        [output(call_id="c2"), model("d")],
    ]
    inputs = [[one for one in turn if one.role == "user"] for turn in turns]
    bodies = [body(asked(*inputs[n], history=turns[:n])) for n in range(len(turns))]
    for before, after in pairwise(bodies):
        assert after["input"][: len(before["input"])] == before["input"]
        assert {**after, "input": 0} == {**before, "input": 0}
    encoder = ResponsesEncoder(GPT)
    again = asked(history=turns)
    assert encoder.body(again, frozenset()) == encoder.body(again, frozenset())


def test_items_keep_their_names_when_all_have_one():
    thought = Thinking(
        thinking="hm", fidelity=mark(type="reasoning", id="rs_1", encrypted_content="E", summary=[{"text": "hm"}])
    )
    done_call = call(
        '{"x": 1}', fidelity=mark(type="function_call", id="fc_1", call_id="c1", name="a", status="completed")
    )
    assert items(thought, done_call) == [
        {"type": "reasoning", "id": "rs_1", "encrypted_content": "E", "summary": [{"text": "hm"}]},
        {
            "type": "function_call",
            "name": "a",
            "id": "fc_1",
            "call_id": "c1",
            "status": "completed",
            "arguments": '{"x": 1}',
        },
    ]
    first, second = items(thought, call())
    assert "id" not in first and first["encrypted_content"] == "E" and "id" not in second


def test_reasoning_that_nobody_can_read_is_left_out_with_the_names_around_it():
    plain = Thinking(thinking="hm", fidelity=mark(type="reasoning", id="rs_1", summary=[]))
    text = model("x", fidelity=mark(type="message", id="msg_1", role="assistant", phase="final_answer"))
    assert items(plain, text) == [
        {
            "type": "message",
            "role": "assistant",
            "phase": "final_answer",
            "content": [{"type": "output_text", "text": "x", "annotations": []}],
        }
    ]
    assert items(text, with_thoughts=False)[0].keys() == {"type", "role", "phase", "content"}


def test_what_another_provider_left_is_dropped_and_its_text_kept():
    foreign = {
        "openai_responses": {"provider": "other", "item": {"type": "reasoning", "id": "r", "encrypted_content": "E"}}
    }
    assert [one["type"] for one in items(Thinking(thinking="hm", fidelity=foreign), model("a"))] == ["message"]
    assert items(Thinking(thinking="hm", fidelity=mark(type="reasoning", encrypted_content="E")), model("")) == []


def test_results_of_tools_may_hold_images():
    assert items(output(images=(PIXEL,)), user("look"), ImageUrl(image_url=PIXEL)) == [
        {
            "type": "function_call_output",
            "call_id": "c1",
            "output": [{"type": "input_text", "text": "done"}, {"type": "input_image", "image_url": PIXEL}],
        },
        {
            "role": "user",
            "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": PIXEL}],
        },
    ]
    (blind,) = items(output(images=(PIXEL,)), endpoint=replace(GPT, vision=False))
    assert blind["output"][1]["text"] == "[image not shown: the model takes none]"


def test_other_data_goes_as_a_file_or_is_told_of():
    (sent,) = items(
        InlineData(role="user", data="AA", mime_type="application/pdf"),
        InlineData(role="user", data="AA", mime_type="audio/wav"),
    )
    assert sent["content"][0]["type"] == "input_file" and "audio/wav" in sent["content"][1]["text"]


def test_ids_fit():
    called, result = items(call(call_id="x" * 99), output(call_id="x" * 99))
    assert called["call_id"] == result["call_id"] and len(result["call_id"]) <= 64
