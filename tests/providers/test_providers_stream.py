# ruff: noqa: E501 - one case, one line
"""Oddities of servers, in small: what a stream says, and the parts that it becomes."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.events import TokenCounts
from agent_lsp.providers.anthropic.stream import MessagesReader
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.openai_chat.stream import ChatReader
from agent_lsp.providers.reply import REFUSED
from tests.providers.replies import read, sse, whole_calls


def chat(*events, done=True):
    return read(ChatReader("p"), sse(*events, *([b"[DONE]"] if done else [])))


def claude(*events):
    return read(MessagesReader(), sse(*events))


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def calls(*given, finish=None):
    return delta(finish, tool_calls=list(given))


def fn(index=None, id=None, name=None, arguments=None, **more):
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    places = {key: value for key, value in (("index", index), ("id", id)) if value is not None}
    return {**places, "function": function, **more}


STOP = delta("tool_calls")
ONE = [("a", "f", "{}")]
TWO = [("a", "f", '{"x":1}'), ("b", "g", '{"y":2}')]
CALLS = {
    "fragments of one call": ([calls(fn(0, "a", "f", "")), calls(fn(0, arguments="{")), calls(fn(0, arguments="}"))], ONE),
    "two calls, interleaved": ([calls(fn(0, "a", "f", '{"x"')), calls(fn(1, "b", "g", '{"y"')), calls(fn(0, arguments=":1}")), calls(fn(1, arguments=":2}"))], TWO),
    "indexes with gaps": ([calls(fn(3, "a", "f", '{"x":1}')), calls(fn(7, "b", "g", '{"y":2}'))], TWO),
    "no index, new ids": ([calls(fn(None, "a", "f", '{"x":1}')), calls(fn(None, "b", "g", '{"y":2}'))], TWO),
    "no index, no id goes on": ([calls(fn(None, "a", "f", "{")), calls(fn(arguments="}"))], ONE),
    "no index, no ids, whole calls": ([calls(fn(None, None, "f", '{"x":1}')), calls(fn(None, None, "g", '{"y":2}'))], [("", "f", '{"x":1}'), ("", "g", '{"y":2}')]),
    "one index for all, ids differ": ([calls(fn(0, "a", "f", '{"x":1}'), fn(0, "b", "g", '{"y":2}'))], TWO),
    "index null": ([calls({**fn(None, "a", "f", "{}"), "index": None})], ONE),
    "empty ids and names later": ([calls(fn(0, "a", "f", "{")), calls(fn(0, "", "", "}"))], ONE),
    "id and name in every delta": ([calls(fn(0, "a", "f", "{")), calls(fn(0, "a", "f", "}"))], ONE),
    "the name after the arguments": ([calls(fn(0, "a", None, "{")), calls(fn(0, None, "f", "}"))], ONE),
    "arguments as an object": ([calls(fn(0, "a", "f", {"x": 1}))], [("a", "f", '{"x":1}')]),
    "arguments null": ([calls({"index": 0, "id": "a", "function": {"name": "f", "arguments": None}})], [("a", "f", "")]),
    "arguments never sent": ([calls(fn(0, "a", "f"))], [("a", "f", "")]),
    "the last piece beside the finish": ([calls(fn(0, "a", "f", "{")), calls(fn(0, arguments="}"), finish="stop")], ONE),
    "a second finish": ([calls(fn(0, "a", "f", "{}")), STOP, delta("stop")], ONE),
    "numeric ids": ([calls(fn(0, 7, "f", "{}"))], [("7", "f", "{}")]),
    "the older function_call": ([delta(function_call={"name": "f", "arguments": "{}"})], [("", "f", "{}")]),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls_of_chat(name):
    events, wanted = CALLS[name]
    parts = chat(*events, STOP)
    assert whole_calls(parts) == wanted
    assert (parts[-1].status, parts[-1].finish) == ("completed", "tool_calls")


def test_a_call_of_chat_ends_when_the_next_begins_or_text_follows():
    parts = chat(calls(fn(0, "a", "f", "{}")), calls(fn(1, "b", "g", "{}")), delta(content="x"), STOP)
    assert parts[:7] == [
        *(CallBegin(0, "f", "a"), CallDelta(0, "{}"), SegmentEnd(0)),
        *(CallBegin(1, "g", "b"), CallDelta(1, "{}"), SegmentEnd(1), TextDelta("x")),
    ]


MALFORMED = {
    "arguments that do not parse": [calls(fn(0, "a", "f", '{"x": 1')), STOP],
    "arguments that are no object": [calls(fn(0, "a", "f", "[1]")), STOP],
    "a call without a name": [calls(fn(0, "a", None, "{}")), STOP],
    "two argument objects in one call": [calls(fn(0, "a", "f", '{"a":1}')), calls(fn(0, arguments='{"b":2}')), STOP],
    "more for a call that ended": [calls(fn(0, "a", "f", "{}")), calls(fn(1, "b", "g", "{}")), calls(fn(0, arguments="x")), STOP],
    "nothing": [delta("stop")],
    "white space": [delta(content=" \n"), delta("stop")],
    "thinking only": [delta(reasoning="hm"), delta("stop")],
    "thinking up to the limit": [delta(reasoning="hm"), delta("length")],
    "glued events": [b'{"choices":[{"delta":{"role":"adata: {}'],
}  # fmt: skip


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_replies_of_chat(name):
    ended = chat(*MALFORMED[name])[-1]
    assert ended.status == "malformed" and ended.message


def test_nothing_follows_the_outcome_though_the_event_says_more():
    late = calls(fn(0, arguments="x"), fn(2, "c", "h", "{}"))
    parts = chat(calls(fn(0, "a", "f", "{}"), fn(1, "b", "g", "{}")), late, STOP)
    assert parts[-1].status == "malformed" and CallBegin(2, "h", "c") not in parts


def test_a_malformed_call_is_named():
    assert "a call of f " in chat(calls(fn(0, "a", "f", "[1]")), STOP)[-1].message


TEXTS = {
    "no [DONE]": ([delta(content="a"), delta("stop")], False),
    "[DONE] alone": ([delta(content="a")], True),
    "choices null": ([delta(content="a"), {"choices": None}, delta("stop")], True),
    "choices missing": ([{"id": ""}, delta(content="a"), delta("stop")], True),
    "delta null": ([delta(content="a"), {"choices": [{"delta": None, "finish_reason": "stop"}]}], True),
    "delta missing": ([{"choices": [{"index": 0}]}, delta(content="a"), delta("stop")], True),
    "keep-alives": ([b"null", b": PROCESSING", delta(content="a"), delta("stop")], True),
    "content as a list": ([delta(content=[{"type": "text", "text": "a"}]), delta("stop")], True),
    "content beside the finish": ([delta("stop", content="a")], True),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_texts_of_chat(name):
    events, done = TEXTS[name]
    assert chat(*events, done=done)[:-1] == [TextDelta("a"), SegmentEnd()]


def test_a_text_cut_at_the_limit_stays_open_and_a_torn_call_too():
    assert chat(delta(content="a"), delta("length"))[:-1] == [TextDelta("a")]
    parts = chat(calls(fn(0, "a", "f", "{}")), calls(fn(1, "b", "g", '{"x')), delta("length"))
    assert whole_calls(parts) == ONE and parts[-1].finish == "length"
    assert whole_calls(chat(calls(fn(0, "a", "f")), delta("length"))) == []


def test_pieces_of_one_feed_are_one_part():
    assert chat(delta(content="a"), delta(content="b"), delta("stop"))[0] == TextDelta("ab")
    events = [sse(delta(content="a")), sse(delta(content="b")), sse(delta("stop"))]
    assert read(ChatReader("p"), *events)[:2] == [TextDelta("a"), TextDelta("b")]


@pytest.mark.parametrize(
    "fields", [{"reasoning": "h"}, {"reasoning_content": "h"}, {"reasoning": "h", "reasoning_content": "h"}]
)
def test_thinking_of_chat_keeps_the_name_of_its_field(fields):
    field = "reasoning_content" if "reasoning_content" in fields else "reasoning"
    parts = chat(delta(**fields), delta(content=""), delta(content="a"), delta("stop"))
    mark = {"openai_chat": {"provider": "p", "field": field}}
    assert parts[:-1] == [ThinkingDelta("h"), SegmentEnd(None, mark), TextDelta("a"), SegmentEnd()]


def test_details_of_thinking_are_put_together():
    def detail(**more):
        return delta(reasoning_details=[{"type": "reasoning.text", "index": 0, **more}])

    parts = chat(detail(text="a"), detail(text="b"), detail(signature="S"), delta(content="x"), delta("stop"))
    assert parts[1].fidelity["openai_chat"]["details"] == [
        {"type": "reasoning.text", "index": 0, "text": "ab", "signature": "S"}
    ]


def test_extra_content_of_a_call_is_kept():
    parts = chat(calls(fn(0, "a", "f", "{}", extra_content={"google": 1})), STOP)
    assert parts[2] == SegmentEnd(0, {"openai_chat": {"provider": "p", "extra_content": {"google": 1}}})


def test_a_call_in_a_reply_that_was_blocked_does_not_run():
    parts = chat(delta("content_filter", content="I", tool_calls=[fn(0, "a", "f", "{}"), fn(1, "b", "g", "{}")]))
    assert whole_calls(parts) == [] and parts[-1].finish == "content_filter"
    assert whole_calls(chat(calls(fn(0, "a", "f", "{}")), delta("content_filter"))) == []
    assert whole_calls(chat(calls(fn(0, "a", "f", "{}")), delta(refusal="No."), delta("stop"))) == []


def test_a_refusal_of_chat_is_told_and_stays_open():
    assert chat(delta(refusal="No."), delta("stop")) == [
        TextDelta("No."),
        Outcome("completed", usage=TokenCounts(), finish="refusal"),
    ]
    assert chat(delta("content_filter"))[0] == TextDelta(REFUSED)
    assert chat(delta(content="I"), delta("content_filter"))[:-1] == [TextDelta("I")]


def test_a_reply_that_the_provider_broke_off_is_a_timeout():
    assert chat(delta(content="a"), delta("error"))[-1].status == "timeout"


def test_an_error_after_the_finish_still_counts():
    assert chat(delta("stop", content="a"), {"error": {"message": "x", "code": 400}})[-1].status == "failed"


USAGE = {
    "plain": ({"prompt_tokens": 10, "completion_tokens": 3}, (0, 10, 3)),
    "cached": ({"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}, (4, 6, 3)),
    "cached, DeepSeek": ({"prompt_tokens": 10, "completion_tokens": 3, "prompt_cache_hit_tokens": 4}, (4, 6, 3)),
    "cached, Kimi": ({"prompt_tokens": 10, "completion_tokens": 3, "cached_tokens": 4}, (4, 6, 3)),
    "more cached than prompted": ({"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 5}}, (5, 3, 1)),
    "reasoning left out": ({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 17, "completion_tokens_details": {"reasoning_tokens": 5}}, (0, 10, 7)),
    "nulls": ({"prompt_tokens": None, "completion_tokens": "x"}, (0, 0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", USAGE)
def test_usage_of_chat(name):
    usage, (read_tokens, fresh, output) = USAGE[name]
    ended = chat(delta("stop", content="a"), {"choices": [], "usage": usage}, {"usage": None})[-1]
    assert ended.usage == TokenCounts(
        cache_read=read_tokens, cache_write=fresh, output=output, total=read_tokens + fresh + output
    )


def test_the_last_usage_counts():
    events = [{**delta(content="a"), "usage": {"prompt_tokens": 1, "completion_tokens": n}} for n in (1, 2, 3)]
    assert chat(*events, {"x_groq": {"usage": {"prompt_tokens": 5}}}, delta("stop"))[-1].usage.total == 8


# --- Messages ---------------------------------------------------------------------------------------------------------

START = {
    "type": "message_start",
    "message": {"id": "m", "usage": {"input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1}},
}
END = {"type": "message_stop"}


def begin(index, kind, **more):
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **more}}


def piece(index, kind, **more):
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **more}}


def stop(index):
    return {"type": "content_block_stop", "index": index}


def reason(why, **more):
    return {
        "type": "message_delta",
        "delta": {"stop_reason": why, **more},
        "usage": {"output_tokens": 9, "input_tokens": None},
    }


def words(index, text):
    return [begin(index, "text", text=""), piece(index, "text_delta", text=text), stop(index)]


def use(index, raw, call_id="t", **more):
    return [
        begin(index, "tool_use", id=call_id, name="f", **more),
        piece(index, "input_json_delta", partial_json=raw),
        stop(index),
    ]


def test_a_reply_of_claude():
    thought = [begin(0, "thinking", thinking="", signature=""), piece(0, "thinking_delta", thinking="hm")]
    signed = [piece(0, "signature_delta", signature="S"), piece(0, "signature_delta", signature="G"), stop(0)]
    parts = claude(
        START, *thought, *signed, *words(1, "a"), {"type": "ping"}, *use(2, '{"x": 1}'), reason("tool_use"), END
    )
    assert parts == [
        *(ThinkingDelta("hm"), SegmentEnd(None, {"anthropic": {"signature": "SG"}}), TextDelta("a"), SegmentEnd()),
        *(CallBegin(0, "f", "t"), CallDelta(0, '{"x": 1}'), SegmentEnd(0)),
        Outcome("completed", usage=TokenCounts(cache_read=2, cache_write=5, output=9, total=16), finish="tool_calls"),
    ]


def test_a_call_of_claude_ends_with_its_block_but_a_text_waits():
    decoder = BodyDecoder(MessagesReader(), [])
    assert decoder.feed(sse(START, *words(0, "a"))) == [TextDelta("a")]
    assert decoder.feed(sse(*use(1, "{}"))) == [SegmentEnd(), CallBegin(0, "f", "t"), CallDelta(0, "{}"), SegmentEnd(0)]
    assert decoder.feed(sse(*use(2, "", "u"))) == [CallBegin(1, "f", "u")]
    assert decoder.feed(sse(reason("tool_use"), END))[0] == SegmentEnd(1)


def test_a_call_of_claude_without_a_name_is_never_one_and_the_reply_is_no_good():
    nameless = [begin(0, "tool_use", id="t"), piece(0, "input_json_delta", partial_json="{}"), stop(0)]
    (outcome,) = claude(START, *nameless, reason("tool_use"), END)
    assert outcome.status == "malformed" and "without a name" in outcome.message


@pytest.mark.parametrize("why", ["max_tokens", "model_context_window_exceeded"])
def test_what_claude_cut_stays_open(why):
    assert claude(START, *words(0, "a"), reason(why), END)[:-1] == [TextDelta("a")]
    parts = claude(START, *use(0, "{}"), *use(1, '{"x', "u"), reason(why), END)
    assert whole_calls(parts) == [("t", "f", "{}")] and parts[-1].finish == "length"


def test_inputs_of_claude():
    assert whole_calls(
        claude(START, begin(0, "tool_use", id="t", name="f", input={"a": 1}), stop(0), reason("tool_use"), END)
    ) == [("t", "f", '{"a":1}')]
    assert claude(START, *use(0, "[1]"), reason("tool_use"), END)[-1].status == "malformed"
    assert claude(START, *use(0, '{"x'), *words(1, "a"), reason("end_turn"), END)[-1].status == "malformed"


def test_hidden_blocks_of_claude_are_kept():
    redacted = {"type": "redacted_thinking", "data": "D"}
    server = [
        begin(1, "server_tool_use", id="s", name="w", input={}),
        piece(1, "input_json_delta", partial_json='{"q":1}'),
        stop(1),
    ]
    parts = claude(
        START,
        begin(0, **{"kind": "redacted_thinking", "data": "D"}),
        stop(0),
        *server,
        *words(2, "a"),
        reason("end_turn"),
        END,
    )
    assert parts[:4] == [
        *(ThinkingDelta(""), SegmentEnd(None, {"anthropic": {"block": redacted}})),
        *(
            ThinkingDelta(""),
            SegmentEnd(
                None, {"anthropic": {"block": {"type": "server_tool_use", "id": "s", "name": "w", "input": {"q": 1}}}}
            ),
        ),
    ]


def test_a_refusal_of_claude_is_told_and_stays_open():
    assert claude(START, *words(0, "a"), reason("refusal"), END)[:-1] == [TextDelta("a")]
    told = claude(START, reason("refusal", stop_details={"explanation": "Not that."}), END)
    assert told[0] == TextDelta(f"{REFUSED} Not that.") and told[-1].finish == "refusal"
    assert claude(START, reason("refusal"), END)[0] == TextDelta(REFUSED)


def test_the_end_of_claude():
    assert claude(START, *words(0, "a"), reason("end_turn"))[-1].finish == "stop"
    assert claude(START, *words(0, "a"))[-1].status == "malformed"
    assert claude(START, *words(0, "a"), reason("pause_turn"), END)[-1].finish == "pause"
    assert claude(START, reason("end_turn"), END)[-1].status == "malformed"


def test_replies_that_are_mixed_are_malformed_but_a_start_told_twice_is_not():
    other = {"type": "message_start", "message": {"id": "n"}}
    assert claude(START, *words(0, "a"), other, reason("end_turn"), END)[-1].status == "malformed"
    assert claude(START, START, *words(0, "a"), reason("end_turn"), END)[-1].status == "completed"


def test_an_error_inside_a_stream_of_claude():
    ended = claude(START, *words(0, "a"), {"type": "error", "error": {"type": "overloaded_error", "message": "x"}})[-1]
    assert ended.status == "timeout"


def test_whole_documents_of_both():
    message = {
        "type": "message",
        "content": [{"type": "text", "text": "a"}, {"type": "tool_use", "id": "t", "name": "f", "input": {"x": 1}}],
        "stop_reason": "tool_use",
        "usage": {"output_tokens": 1},
    }
    parts = read(MessagesReader(), json.dumps(message, indent=1).encode())
    assert parts[0] == TextDelta("a") and whole_calls(parts) == [("t", "f", '{"x":1}')]
    for reader in (MessagesReader(), ChatReader("p")):
        assert read(reader, b'[{"error": {"message": "x", "code": 503}}]')[-1].status == "timeout"
    for reader in (MessagesReader(), ChatReader("p")):
        assert read(reader, b'{"hello": 1}')[-1].status == "malformed"


# --- anything at all --------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", "{", "}", "text", "stop"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "index",
                    "id",
                    "function",
                    "name",
                    "arguments",
                    "finish_reason",
                    "usage",
                    "type",
                    "reasoning",
                    "reasoning_details",
                    "text",
                    "thinking",
                    "input",
                    "content_block",
                    "stop_reason",
                    "partial_json",
                    "signature",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)
NAMES = [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
]
KINDS = [
    "text",
    "thinking",
    "tool_use",
    "redacted_thinking",
    "other",
    "text_delta",
    "input_json_delta",
    "thinking_delta",
    "signature_delta",
]


@st.composite
def odd_events(draw):
    """Events of nearly the right shape, with anything in them."""
    value = draw(JSON)
    shape = draw(st.sampled_from(["raw", "chat", "claude"]))
    if shape == "chat":
        return {"choices": [{"delta": value, "finish_reason": draw(JSON)}]}
    if shape == "claude":
        inner = {**value, "type": draw(st.sampled_from(KINDS))} if isinstance(value, dict) else value
        return {
            "type": draw(st.sampled_from(NAMES)),
            "index": draw(st.integers(0, 2)),
            "content_block": inner,
            "delta": inner,
        }
    return value


DOCUMENT = b'{"type": "message", "content": [{"type": "text", "text": "hi"}], "stop_reason": "end_turn"}'
EVENTS = b'data: {"type": "message_stop"}\n\n'


@pytest.mark.parametrize("body", [DOCUMENT, EVENTS, b"{}", b"", b"<html>"])
@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"\n" * 9, b"\xef\xbb\xbf" + b" \r\n" * 4, b"\xef", b"\xef\xbb"])
def test_a_body_is_the_same_whatever_stands_before_it_and_wherever_it_is_cut(before, body):
    whole = before + body
    by_bytes = [whole[at : at + 1] for at in range(len(whole))]
    assert parts_of_body([whole]) == parts_of_body(by_bytes) != []
    if before in (b"\xef\xbb\xbf", b"\n" * 9) and body:
        assert parts_of_body([whole]) == parts_of_body([body])


def parts_of_body(chunks):
    decoder = BodyDecoder(MessagesReader(), [])
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.close()]


@given(events=st.lists(odd_events(), max_size=6), is_chat=st.booleans(), data=st.data())
@settings(deadline=None, max_examples=300)
def test_whatever_comes_there_is_one_outcome_and_chunks_make_no_difference(events, is_chat, data):
    body = sse(*events)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=5)))
    chunks = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    ends = []
    for pieces in ([body], chunks):
        parts = read(ChatReader("p") if is_chat else MessagesReader(), *pieces)
        assert [isinstance(part, Outcome) for part in parts] == [False] * (len(parts) - 1) + [True]
        ends.append(parts[-1])
    assert ends[0] == ends[1]


@given(body=st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_end_in_an_outcome(body):
    assert isinstance(read(ChatReader("p"), body)[-1], Outcome)
