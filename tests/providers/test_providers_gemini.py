# ruff: noqa: E501
"""The generateContent dialect: what a stream says and the parts that it becomes, and a context as a request."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import CallBegin, CallDelta, Commit, Outcome, Request, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import TokenCounts, ToolSpec
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.gemini.partial_args import PartialArgs
from agent_lsp.providers.gemini.request import UNSIGNED, GeminiEncoder
from agent_lsp.providers.gemini.schema import to_openapi
from agent_lsp.providers.gemini.stream import GeminiReader
from agent_lsp.providers.reply import REFUSED
from agent_lsp.slotted import replace
from tests.providers.replies import joined, messages, read, sse, whole_calls

STOP = {"candidates": [{"finishReason": "STOP"}]}


def gemini(*events):
    return read(GeminiReader("p"), sse(*events))


def ev(*parts, reason=None, **more):
    candidate = {"content": {"role": "model", "parts": list(parts)}, **({"finishReason": reason} if reason else {})}
    return {"candidates": [candidate], **more}


def text(words, sign=None, **more):
    return {"text": words, **more, **({"thoughtSignature": sign} if sign else {})}


def thought(words, sign=None):
    return text(words, sign, thought=True)


def fn(name="f", sign=None, **more):
    return {"functionCall": {"name": name, **more}, **({"thoughtSignature": sign} if sign else {})}


def mark(**kept):
    return {"gemini": {"provider": "p", **kept}}


def test_text_and_thinking_stream():
    assert gemini(ev(thought("hm")), ev(text("Hel"), text("lo")), STOP) == [
        ThinkingDelta("hm"), SegmentEnd(), TextDelta("Hello"), SegmentEnd(), Outcome("completed", usage=TokenCounts(), finish="stop"),
    ]  # fmt: skip


def test_calls_come_whole_and_end_at_once():
    parts = gemini(ev(fn(args={"a": 1}, id="7"), fn("g")), ev(text(""), reason="STOP"))
    assert parts[:3] == [CallBegin(0, "f", "7"), CallDelta(0, '{"a":1}'), SegmentEnd(0, mark(id="7"))]
    assert whole_calls(parts) == [("7", "f", '{"a":1}'), ("", "g", "{}")]
    assert parts[-1].finish == "tool_calls"


def test_where_words_were_signed_is_kept():
    assert messages(gemini(ev(text("ab")), ev(text("c", "S")), ev(text("d")), ev(text("", "T"), reason="STOP"))) == [
        Text(role="assistant", text="abcd", fidelity=mark(parts=[[2, ""], [1, "S"], [1, ""], [0, "T"]]))
    ]


def test_a_signature_without_words_of_its_own_is_a_hidden_thinking():
    parts = gemini(ev(fn()), ev(text("", "S"), reason="STOP"))
    assert messages(parts)[1] == Thinking(thinking="", fidelity=mark(part={"text": "", "thoughtSignature": "S"}))


def test_the_doings_of_the_provider_are_kept_and_not_shown():
    part = {"executableCode": {"code": "1"}, "thoughtSignature": "S"}
    assert messages(gemini(ev(part), ev(text("x"), reason="STOP")))[0] == Thinking(
        thinking="", fidelity=mark(part=part)
    )


def test_arguments_in_pieces_are_put_together():
    def piece(*pieces, **more):
        return ev({"functionCall": {"partialArgs": list(pieces), **more}})

    parts = gemini(
        ev(fn("f", "S", willContinue=True)),
        piece({"jsonPath": "$.a[0].b", "stringValue": "x"}, willContinue=True),
        piece({"jsonPath": "$.a[0].b", "stringValue": "y"}, {"jsonPath": "$.n", "numberValue": 0.5}, willContinue=True),
        ev({"functionCall": {"willContinue": True}}),
        piece({"jsonPath": "$['k.e']", "boolValue": True}, {"jsonPath": "$.z", "nullValue": None}),
        ev(fn("g", args={})),
        STOP,
    )
    assert whole_calls(parts) == [("", "f", '{"a":[{"b":"xy"}],"n":0.5,"k.e":true,"z":null}'), ("", "g", "{}")]
    assert parts[2] == SegmentEnd(0, mark(signature="S"))


@pytest.mark.parametrize("path", ["", "$", "$[0]", "$.a[99999999]", "$.s.b", "$..", "a", "$.a['", None, "$.s[1]"])
def test_a_piece_that_cannot_be_placed_is_dropped(path):
    arguments = PartialArgs()
    arguments.apply([{"jsonPath": "$.s", "stringValue": "x"}, {"jsonPath": path, "stringValue": "y"}, None])
    assert arguments.value["s"] == "x"


def test_the_counts_of_the_last_event_count():
    parts = gemini(
        ev(text("x"), usageMetadata={"promptTokenCount": 9, "candidatesTokenCount": 15, "totalTokenCount": 24}),
        ev(reason="STOP", usageMetadata={"promptTokenCount": 20, "toolUsePromptTokenCount": 4, "cachedContentTokenCount": 8, "thoughtsTokenCount": 6, "candidatesTokenCount": 1, "totalTokenCount": 31}),
    )  # fmt: skip
    assert parts[-1].usage == TokenCounts(cache_read=8, cache_write=16, output=7, total=31)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY"])
def test_a_blocked_reply_is_told_and_its_calls_do_not_run(reason):
    assert gemini(ev(reason=reason))[0] == TextDelta(REFUSED)
    parts = gemini(ev(text("I"), fn(), fn("g"), reason=reason))
    assert whole_calls(parts) == [] and parts[-1].finish == "content_filter"
    assert SegmentEnd() in parts and parts[0] == TextDelta("I")


def test_a_blocked_prompt_is_told():
    parts = gemini({"promptFeedback": {"blockReason": "OTHER"}})
    assert (parts[0], parts[-1].finish) == (TextDelta(REFUSED), "content_filter")


def test_the_limit_leaves_the_text_open():
    assert gemini(ev(text("Cu"), reason="MAX_TOKENS")) == [
        TextDelta("Cu"),
        Outcome("completed", usage=TokenCounts(), finish="length"),
    ]


ENDS = {
    "a body that breaks off": ([ev(text("Ha"))], "malformed", "ended before"),
    "nothing to use": ([STOP], "malformed", "neither text nor a call"),
    "a call that the model could not write": ([ev(reason="MALFORMED_FUNCTION_CALL")], "malformed", "MALFORMED_FUNCTION_CALL"),
    "the same beside a call": ([ev(fn(), reason="UNEXPECTED_TOOL_CALL")], "malformed", "UNEXPECTED_TOOL_CALL"),
    "an error": ([{"error": {"code": 503, "status": "UNAVAILABLE", "message": "busy"}}], "timeout", "busy"),
}  # fmt: skip


@pytest.mark.parametrize("name", ENDS)
def test_bad_ends(name):
    events, status, words = ENDS[name]
    parts = gemini(*events)
    assert parts[-1].status == status and words in parts[-1].message and whole_calls(parts) == []


def test_a_reason_on_an_empty_event_that_comes_first_is_no_end():
    reader = GeminiReader("p")
    reader.event("", ev(reason="STOP"))
    assert not reader.is_settled
    reader.event("", ev(text("Hi")))
    assert not reader.is_settled
    reader.event("", ev(reason="STOP"))
    assert reader.is_settled
    reader.close()
    assert reader.reply.take()[0] == TextDelta("Hi")


def test_a_whole_response_in_json_is_read():
    assert read(GeminiReader("p"), json.dumps(ev(text("Hi"), reason="STOP")).encode())[0] == TextDelta("Hi")
    assert (
        read(GeminiReader("p"), json.dumps([{"error": {"code": 404, "status": "NOT_FOUND"}}]).encode())[-1].status
        == "failed"
    )
    assert read(GeminiReader("p"), b'{"models": []}')[-1].status == "malformed"


EVENTS = st.sampled_from(
    [
        ev(text("a")), ev(text("", "S")), ev(thought("t", "T")), ev(fn(args={"a": 1})), ev(fn(willContinue=True)),
        ev({"functionCall": {"partialArgs": [{"jsonPath": "$.a", "stringValue": "x"}], "willContinue": True}}),
        ev({"functionCall": {}}), ev({"functionCall": None}), ev({"x": 1}), ev(reason="STOP"), ev(reason="SAFETY"),
        ev(text("b"), fn(), reason="MAX_TOKENS"), {"candidates": None}, {}, {"candidates": [3]}, b"null", STOP,
    ]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(EVENTS, max_size=12), st.integers(1, 40))
def test_any_events_in_any_chunks_are_one_reply(events, size):
    body = sse(*events)
    cut = read(GeminiReader("p"), *(body[at : at + size] for at in range(0, len(body), size)))
    assert joined(cut) == joined(gemini(*events))
    assert [isinstance(part, Outcome) for part in cut] == [False] * (len(cut) - 1) + [True]
    messages(cut)


# --- requests ---------------------------------------------------------------------------------------------------------

PIXEL = "data:image/png;base64,AAAA"
NEW = Endpoint("p", "gemini", "https://h", "gemini-3.5-flash", vision=True, max_output_tokens=50)
OLD = replace(NEW, model="gemini-2.5-pro")
TOOLS = (ToolSpec(name="a", description="x", parameters={"type": "object", "properties": {"x": {"type": "string"}}}),)


def user(words):
    return Text(role="user", text=words)


def model(words, **more):
    return Text(role="assistant", text=words, **more)


def call(arguments="{}", call_id="c1", **more):
    return ToolCall(name="a", arguments=arguments, tool_call_id=call_id, **more)


def output(words="done", call_id="c1", **more):
    return ToolCallOutput(tool_call_id=call_id, output=words, **more)


def asked(*given, history=(), **more):
    return Request("sys", TOOLS, tuple(Commit(tuple(one)) for one in history), given or (user("go"),), **more)


def body(request, endpoint=NEW, refused=frozenset(), **more):
    return json.loads(GeminiEncoder(endpoint).body(request, refused, **more))


def contents(*given, **more):
    """What becomes of the messages, after a first word of the user."""
    opening = ImageUrl(image_url="https://x/y.png") if given[0].role == "assistant" else None
    sent = body(asked(*filter(None, (opening, *given))), **more)["contents"]
    return sent[1:] if opening else sent


def test_settings():
    assert body(asked(thinking_level="high")) == {
        "systemInstruction": {"parts": [{"text": "sys"}]},
        "tools": [{"functionDeclarations": [{"name": "a", "description": "x", "parametersJsonSchema": TOOLS[0].parameters}]}],
        "contents": [{"role": "user", "parts": [{"text": "go"}]}],
        "generationConfig": {"thinkingConfig": {"thinkingLevel": "high", "includeThoughts": True}, "maxOutputTokens": 50},
    }  # fmt: skip
    plain = body(asked(), refused=frozenset({"parametersJsonSchema"}))["tools"][0]["functionDeclarations"][0]
    assert plain["parameters"] == {"type": "object", "properties": {"x": {"type": "string"}}}


@pytest.mark.parametrize(
    ("name", "level", "config"),
    [
        ("gemini-3.5-flash", "none", {"thinkingLevel": "minimal"}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "medium"}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 128}),
        ("gemini-2.5-pro", "max", {"thinkingBudget": 32_768}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-flash", "max", {"thinkingBudget": 24_576}),
    ],
)
def test_thinking_is_a_level_or_a_budget_never_both(name, level, config):
    sent = body(asked(thinking_level=level), replace(NEW, model=name))["generationConfig"]["thinkingConfig"]
    assert sent == {**config, "includeThoughts": True}


@pytest.mark.parametrize("name", ["gemini-2.0-flash", "gemma-3-27b-it"])
def test_a_model_that_does_not_think_is_not_asked_to(name):
    assert "thinkingConfig" not in body(asked(thinking_level="high"), replace(NEW, model=name))["generationConfig"]


def test_each_request_extends_the_one_before():
    turns = [
        [user("one"), model("a"), call('{"x":  1.0}')],
        [output(images=(PIXEL,)), user("steer"), model("b", fidelity=mark(parts=[[1, "S"]]))],
        [user("two"), call("", "c2"), call("{}", "c3")],
        [output(call_id="c2"), output(call_id="c3"), model("d")],
    ]
    inputs = [[one for one in turn if one.role == "user"] for turn in turns]
    bodies = [body(asked(*inputs[n], history=turns[:n])) for n in range(len(turns))]
    for before, after in pairwise(bodies):
        assert after["contents"][: len(before["contents"])] == before["contents"]
        assert {**after, "contents": 0} == {**before, "contents": 0}
    encoder = GeminiEncoder(NEW)
    again = asked(history=turns)
    assert (
        encoder.body(again, frozenset())
        == encoder.body(again, frozenset())
        == GeminiEncoder(NEW).body(again, frozenset())
    )
    assert b'"args":{"x":  1.0}' in encoder.body(again, frozenset())


def test_a_result_repeats_the_name_of_its_call_and_the_id_that_the_provider_gave():
    sent = body(
        asked(
            output(),
            output("no", "c2", stop_reason="failed"),
            user("next"),
            history=[[user("q"), call(fidelity=mark(id="c1", signature="S")), call(call_id="c2")]],
        )
    )
    assert sent["contents"][1]["parts"] == [
        {"functionCall": {"id": "c1", "name": "a", "args": {}}, "thoughtSignature": "S"},
        {"functionCall": {"name": "a", "args": {}}},
    ]
    assert sent["contents"][2:] == [
        {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "a", "response": {"output": "done"}}},
            {"functionResponse": {"name": "a", "response": {"error": "no"}}},
        ]},
        {"role": "user", "parts": [{"text": "next"}]},
    ]  # fmt: skip


def test_signatures_go_back_on_the_very_parts_that_had_them():
    signed = model("abcd", fidelity=mark(parts=[[2, ""], [1, "S"], [1, ""], [0, "T"]]))
    hidden = Thinking(thinking="", fidelity=mark(part={"text": "", "thoughtSignature": "H"}))
    thinking = Thinking(thinking="hm", fidelity=mark(parts=[[2, "U"]]))
    assert contents(thinking, Thinking(thinking="unsigned"), hidden, signed)[0]["parts"] == [
        thought("hm", "U"), text("", "H"), text("ab"), text("c", "S"), text("d"), text("", "T"),
    ]  # fmt: skip


def test_calls_of_other_models_are_signed_with_the_documented_words_where_that_is_wanted():
    foreign = call(fidelity={"gemini": {"provider": "other", "signature": "S"}})
    first, second = contents(foreign, call(call_id="c2"))[0]["parts"]
    assert first["thoughtSignature"] == UNSIGNED and "thoughtSignature" not in second
    assert "thoughtSignature" not in contents(foreign, endpoint=OLD)[0]["parts"][0]
    assert (
        contents(call(fidelity=mark(signature="S")), with_signatures=False)[0]["parts"][0]["thoughtSignature"]
        == UNSIGNED
    )


def test_images_of_tools_go_where_the_model_looks_for_them():
    image = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    new = contents(call(), output(images=(PIXEL,)))[1]["parts"]
    assert new == [{"functionResponse": {"name": "a", "response": {"output": "done"}, "parts": [image]}}]
    _, result, after = contents(call(), output(images=(PIXEL,)), user("look"), endpoint=OLD)
    assert "parts" not in result["parts"][0]["functionResponse"] and after["parts"] == [image, {"text": "look"}]


def test_images_and_other_data():
    (sent,) = contents(
        ImageUrl(image_url="https://x/y.png?z"), InlineData(role="user", data="AA", mime_type="application/pdf")
    )
    assert sent["parts"] == [
        {"fileData": {"mimeType": "image/png", "fileUri": "https://x/y.png?z"}},
        {"inlineData": {"mimeType": "application/pdf", "data": "AA"}},
    ]
    assert (
        "not shown" in contents(ImageUrl(image_url=PIXEL), endpoint=replace(NEW, vision=False))[0]["parts"][0]["text"]
    )


def test_the_user_has_the_first_word():
    sent = body(asked(history=[[model("hi")]]))["contents"]
    assert [one["role"] for one in sent] == ["user", "model", "user"]


def test_an_empty_turn_is_never_sent():
    assert contents(user(""), user("a"), Thinking(thinking="t", fidelity=mark(parts=[[1, "S"]])), model("")) == [
        {"role": "user", "parts": [{"text": "a"}]}
    ]


def test_a_schema_in_the_older_words():
    schema = {
        "type": "object", "additionalProperties": False, "required": ["a"],
        "$defs": {"T": {"type": "string", "description": "t"}, "R": {"properties": {"r": {"$ref": "#/$defs/R"}}}},
        "properties": {
            "a": {"type": ["string", "null"], "default": 1}, "b": {"const": 3}, "c": {"$ref": "#/$defs/T"},
            "d": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "e": {"type": "array", "items": {"type": "number"}},
        },
    }  # fmt: skip
    assert to_openapi(schema) == {
        "type": "object", "required": ["a"],
        "properties": {
            "a": {"type": "string", "nullable": True}, "b": {"type": "string", "enum": ["3"]},
            "c": {"type": "string", "description": "t"}, "d": {"anyOf": [{"type": "integer"}], "nullable": True},
            "e": {"type": "array", "items": {"type": "number"}},
        },
    }  # fmt: skip
    assert to_openapi({"type": "object"}) is None
    assert to_openapi({**schema, "properties": {"r": {"$ref": "#/$defs/R"}}})
