# ruff: noqa: E501
import json
from itertools import pairwise

import pytest

from agent_lsp.engine.ports import Commit, Request
from agent_lsp.messages.content import ImageUrl, InlineData, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.openai_chat.dialect import Dialect, dialect_of
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.slotted import replace

PIXEL = "data:image/png;base64,AAAA"
CLAUDE = Endpoint("claude", "anthropic", "https://h", "claude-sonnet-5", vision=True)
CHAT = Endpoint("p", "openai-chat", "https://h/v1", "m", vision=True, max_output_tokens=50)
TOOLS = (
    ToolSpec(name="a", description="x", parameters={"type": "object"}),
    ToolSpec(name="b", description="y", parameters={}),
)


def user(text, **more):
    return Text(role="user", text=text, **more)


def said(text, **more):
    return Text(role="assistant", text=text, **more)


def call(arguments="{}", call_id="c1", **more):
    return ToolCall(name="a", arguments=arguments, tool_call_id=call_id, **more)


def output(text="done", call_id="c1", **more):
    return ToolCallOutput(tool_call_id=call_id, output=text, **more)


def asked(*messages, history=(), **more):
    commits = tuple(Commit(tuple(one)) for one in history)
    return Request("sys", TOOLS, commits, messages or (user("go"),), **more)


def claude_raw(request, endpoint=CLAUDE, refused=frozenset(), **more):
    return MessagesEncoder(endpoint).body(request, refused, **more)


def chat_raw(request, endpoint=CHAT, dialect=None, refused=frozenset()):
    return ChatEncoder(endpoint, dialect or Dialect()).body(request, refused)


def unmarked(value):
    if isinstance(value, dict):
        return {name: unmarked(inner) for name, inner in value.items() if name != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value


def claude(*messages, **more):
    return unmarked(json.loads(claude_raw(asked(*messages), **more))["messages"])


def chat(*messages, **more):
    return json.loads(chat_raw(asked(*messages), **more))["messages"][1:]


# --- both dialects ----------------------------------------------------------------------------------------------------

TURNS = [
    [user("one"), ImageUrl(image_url=PIXEL), Thinking(thinking="t", fidelity={"anthropic": {"signature": "S"}}), said("a"), call('{"x":  1.0}')],
    [output(images=(PIXEL,)), user("steer"), said("b")],
    [user("two"), said("c"), call("", "c2"), call("{}", "c3")],
    [output(call_id="c2"), output(call_id="c3"), said("d")],
]  # fmt: skip


@pytest.mark.parametrize("encode", [claude_raw, chat_raw])
def test_each_request_extends_the_one_before(encode):
    inputs = [[m for m in turn if m.role == "user"] for turn in TURNS]
    bodies = [unmarked(json.loads(encode(asked(*inputs[n], history=TURNS[:n])))) for n in range(len(TURNS))]
    for before, after in pairwise(bodies):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert {**after, "messages": 0} == {**before, "messages": 0}


@pytest.mark.parametrize("encoder", [MessagesEncoder(CLAUDE), ChatEncoder(CHAT, Dialect())])
def test_a_kept_history_gives_the_bytes_of_a_fresh_one(encoder):
    request = asked(history=TURNS)
    first = encoder.body(request, frozenset())
    assert first == encoder.body(request, frozenset()) == type(encoder)(*_made_with(encoder)).body(request, frozenset())


def _made_with(encoder):
    return (CLAUDE,) if isinstance(encoder, MessagesEncoder) else (CHAT, Dialect())


@pytest.mark.parametrize("encoder", [MessagesEncoder(CLAUDE), ChatEncoder(CHAT, Dialect())])
def test_a_commit_is_encoded_once(encoder, monkeypatch):
    request = asked(history=TURNS)
    encoder.body(request, frozenset())
    seen = []
    original = type(encoder)._encoded
    monkeypatch.setattr(
        type(encoder), "_encoded", lambda self, messages: seen.append(messages) or original(self, messages)
    )
    encoder.body(replace(request, input=(user("next"),)), frozenset())
    assert seen == [(user("next"),)]


# --- Chat Completions -------------------------------------------------------------------------------------------------


def test_chat_settings():
    body = json.loads(chat_raw(asked(thinking_level="high", session_id="s")))
    assert body["model"] == "m" and body["stream"] is True and body["stream_options"] == {"include_usage": True}
    assert body["max_tokens"] == 50 and body["reasoning_effort"] == "high" and "prompt_cache_key" not in body
    assert body["messages"][0] == {"role": "system", "content": "sys"}
    assert body["tools"][0]["function"] == {"name": "a", "description": "x", "parameters": {"type": "object"}}


def test_chat_leaves_out_what_is_refused():
    refused = frozenset({"stream_options", "max_tokens"})
    body = json.loads(chat_raw(asked(), refused=refused))
    assert "stream_options" not in body and body["max_completion_tokens"] == 50
    assert "max_completion_tokens" not in json.loads(chat_raw(asked(), refused=refused | {"max_completion_tokens"}))


def test_chat_calls_and_their_results():
    assert chat(call('{"x":  1.0}'), call("  ", "c2"), output(), output("y", "c2")) == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "a", "arguments": '{"x":  1.0}'}},
                {"id": "c2", "type": "function", "function": {"name": "a", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "tool", "tool_call_id": "c2", "content": "y"},
    ]


def test_chat_puts_the_image_of_a_tool_into_the_next_user_message():
    tool, after = chat(output(images=(PIXEL,)), user("look"))
    image = {"type": "image_url", "image_url": {"url": PIXEL}}
    assert tool["content"] == "done" and after["content"] == [image, {"type": "text", "text": "look"}]
    (tool,) = chat(output(images=(PIXEL,)), dialect=Dialect(user_after_tool=False))
    assert tool["content"].startswith("done\n[image not shown: ")


def test_chat_users_have_one_message_or_plain_texts():
    assert chat(user("a"))[0]["content"] == "a"
    assert [part["text"] for part in chat(user("a"), user(""), user("b"))[0]["content"]] == ["a", "b"]
    assert [one["content"] for one in chat(user("a"), user("b"), dialect=Dialect(text_parts=False))] == ["a", "b"]


def test_chat_without_vision_says_so():
    (message,) = chat(ImageUrl(image_url=PIXEL), endpoint=replace(CHAT, vision=False))
    assert message["content"] == "[image not shown: the model takes none]"


def test_chat_thinking_goes_back_in_the_field_it_came_in():
    def thought(provider, field):
        return Thinking(thinking="hm", fidelity={"openai_chat": {"provider": provider, "field": field}})

    assert chat(thought("p", "reasoning"), said("a"))[0]["reasoning"] == "hm"
    assert "reasoning" not in chat(thought("other", "reasoning"), said("a"))[0]
    assert chat(thought("other", "x"), said("a"), dialect=Dialect(thinking_field="reasoning_content"))[0] == {
        "role": "assistant",
        "content": "a",
        "reasoning_content": "hm",
    }


def test_chat_details_and_extra_content_go_back_unchanged():
    details = [{"type": "reasoning.text", "text": "hm", "signature": "S"}]
    mark = {"openai_chat": {"provider": "p", "field": "reasoning", "details": details}}
    extra = {"google": {"thought_signature": "U"}}
    (message,) = chat(
        Thinking(thinking="hm", fidelity=mark),
        call(fidelity={"openai_chat": {"provider": "p", "extra_content": extra}}),
    )
    assert message["reasoning_details"] == details and message["tool_calls"][0]["extra_content"] == extra


def test_chat_calls_of_other_models_are_signed_where_that_is_wanted():
    google = dialect_of(replace(CHAT, base_url="https://generativelanguage.googleapis.com/v1beta/openai"))
    extra = {"google": {"thought_signature": "U"}}
    own = call(fidelity={"openai_chat": {"provider": "p", "extra_content": extra}})
    first, second = chat(call(), call(call_id="c2"), dialect=google)[0]["tool_calls"]
    assert first["extra_content"] == google.unsigned_extra and "extra_content" not in second
    assert chat(own, dialect=google)[0]["tool_calls"][0]["extra_content"] == extra


def test_chat_an_empty_turn_is_never_sent():
    assert chat(Thinking(thinking="hm"), said("")) == []


def test_chat_ids_fit_the_server():
    called, result = chat(call(call_id="long-id"), output(call_id="long-id"), dialect=Dialect(nine_character_ids=True))
    assert called["tool_calls"][0]["id"] == result["tool_call_id"] and len(result["tool_call_id"]) == 9
    assert len(chat(output(call_id="x" * 99))[0]["tool_call_id"]) <= 40


def test_chat_marks_for_the_cache_where_a_model_needs_them():
    marked = Dialect(cache_marks=("claude",))
    called = [user("q"), call()]
    request = asked(output(), user("next"), history=[[user("0"), said("a")], called])
    sent = json.loads(chat_raw(request, replace(CHAT, model="anthropic/claude-x"), marked))["messages"]
    spots = [at for at, one in enumerate(sent) if "cache_control" in json.dumps(one)]
    assert [sent[at]["content"][-1]["text"] for at in spots] == ["sys", "q", "next"]
    assert "cache_control" not in chat_raw(request, dialect=marked).decode()
    (tool,) = json.loads(chat_raw(asked(output("")), replace(CHAT, model="claude"), marked))["messages"][1:]
    assert tool["content"] == ""  # a mark on an empty text is refused


def test_dialects_are_known_by_host_then_by_name():
    assert dialect_of(replace(CHAT, base_url="https://api.mistral.ai/v1")).nine_character_ids
    assert dialect_of(replace(CHAT, base_url="https://x.openai.azure.com/v1")).key_header == "api-key"
    assert dialect_of(replace(CHAT, provider="deepseek", base_url="http://proxy")).thinking_field
    assert dialect_of(replace(CHAT, provider="ollama", base_url="http://127.0.0.1:1")).thinking == "low_high"
    assert dialect_of(replace(CHAT, base_url="https://api.openai.com/v1", model="gpt-4.1")).thinking == "silent"
    assert dialect_of(replace(CHAT, base_url="https://evil-api.mistral.ai.com")) == Dialect()


# --- Messages ---------------------------------------------------------------------------------------------------------


def test_claude_settings():
    body = json.loads(claude_raw(asked(thinking_level="high")))
    assert body["model"] == "claude-sonnet-5" and body["stream"] is True and body["max_tokens"] == 32_000
    assert body["thinking"] == {"type": "adaptive"} and body["output_config"] == {"effort": "high"}
    assert unmarked(body["system"]) == [{"type": "text", "text": "sys"}]
    assert unmarked(body["tools"])[0] == {"name": "a", "description": "x", "input_schema": {"type": "object"}}


def test_claude_budget_leaves_room_for_the_reply():
    old = replace(CLAUDE, model="claude-sonnet-4-5", max_output_tokens=8_000)
    body = json.loads(claude_raw(asked(thinking_level="max"), old))
    assert body["thinking"] == {"type": "enabled", "budget_tokens": 6_000}
    assert "thinking" not in json.loads(claude_raw(asked(thinking_level="low"), replace(old, max_output_tokens=1_000)))


def test_claude_marks_tools_system_and_the_last_user_blocks():
    body = json.loads(claude_raw(asked(user("x"), user("now"), history=TURNS)))
    marked = [block for message in body["messages"] for block in message["content"] if "cache_control" in block]
    assert [block.get("text") or block.get("tool_use_id") for block in marked] == ["c3", "now"]
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    assert "cache_control" in body["system"][-1]
    assert claude_raw(asked()).count(b"cache_control") == 3


def test_claude_results_come_first_in_one_message():
    _, message = claude(
        call(), call(call_id="c2"), output(), user("steer"), output("no", "c2", stop_reason="failed", images=(PIXEL,))
    )
    assert message["role"] == "user"
    assert [block["type"] for block in message["content"]] == ["tool_result", "tool_result", "text"]
    assert message["content"][1]["is_error"] is True
    assert message["content"][1]["content"][1]["source"] == {
        "type": "base64",
        "media_type": "image/png",
        "data": "AAAA",
    }


def test_claude_signed_thinking_goes_back_and_other_thinking_does_not():
    signed = Thinking(thinking="hm", fidelity={"anthropic": {"signature": "S"}})
    hidden = Thinking(thinking="", fidelity={"anthropic": {"block": {"type": "redacted_thinking", "data": "D"}}})
    foreign = Thinking(thinking="x", fidelity={"openai_chat": {"field": "reasoning"}})
    (message,) = claude(signed, hidden, foreign, Thinking(thinking="y"), said("a"))
    assert message["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": "S"},
        {"type": "redacted_thinking", "data": "D"},
        {"type": "text", "text": "a"},
    ]
    assert claude(signed, said("a"), with_thoughts=True)[0]["content"][0]["type"] == "thinking"
    stripped = json.loads(claude_raw(asked(history=[[user("q"), signed, said("a")]]), with_thoughts=False))
    assert [block["type"] for block in stripped["messages"][1]["content"]] == ["text"]


def test_claude_arguments_stand_as_they_were_written():
    assert b'"input":{"b":  1.0, "a": 2}' in claude_raw(asked(call('{"b":  1.0, "a": 2}')))
    assert claude(call(" "))[0]["content"][0]["input"] == {}


def test_claude_gets_no_empty_block_and_no_empty_turn():
    assert claude(
        user(" "), user("a"), Thinking(thinking="t", fidelity={"anthropic": {"signature": "S"}}), said("\n")
    ) == [{"role": "user", "content": [{"type": "text", "text": "a"}]}]


def test_claude_takes_documents_and_web_images():
    (message,) = claude(
        ImageUrl(image_url="https://x/y.png"),
        InlineData(role="user", data="AA", mime_type="application/pdf"),
        InlineData(role="user", data="AA", mime_type="audio/wav"),
    )
    assert message["content"][0]["source"] == {"type": "url", "url": "https://x/y.png"}
    assert message["content"][1]["type"] == "document" and "audio/wav" in message["content"][2]["text"]


def test_claude_ids_fit():
    called, result = claude(call(call_id="a#2"), output(call_id="a#2"))
    assert called["content"][0]["id"] == result["content"][0]["tool_use_id"]
    assert called["content"][0]["id"].replace("_", "").isalnum()
