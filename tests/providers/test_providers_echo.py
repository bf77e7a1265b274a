"""What a reply left has to come back in the next request as it was, where recordings of it are at hand."""

import json
from pathlib import Path

import pytest

from agent_lsp.engine.ports import Commit, Request
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.anthropic.stream import MessagesReader
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.gemini.request import UNSIGNED, GeminiEncoder
from agent_lsp.providers.gemini.stream import GeminiReader
from agent_lsp.providers.openai_chat.dialect import Dialect
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.providers.openai_chat.stream import ChatReader
from agent_lsp.providers.openai_responses.request import ResponsesEncoder
from agent_lsp.providers.openai_responses.stream import ResponsesReader
from tests.providers.replies import messages, read

PUBLIC = Path(__file__).parents[3] / "shared" / "wire" / "public"
READERS = {
    "anthropic": lambda: MessagesReader(),
    "openai_chat": lambda: ChatReader("p"),
    "openai_responses": lambda: ResponsesReader("p"),
    "gemini": lambda: GeminiReader("p"),
}
ENCODERS = {
    "anthropic": lambda endpoint: MessagesEncoder(endpoint),
    "openai_chat": lambda endpoint: ChatEncoder(endpoint, Dialect()),
    "openai_responses": lambda endpoint: ResponsesEncoder(endpoint),
    "gemini": lambda endpoint: GeminiEncoder(endpoint),
}
FOLLOW_UPS = {
    "bedrock_mantle_responses/01-openai-gpt-5-6-luna-enc": "bedrock_mantle_responses/03-openai-gpt-5-6-luna-enc-tools1",
    "openai_responses/23-gpt-5-nano-2025-08-07-enc": "openai_responses/37-gpt-5-nano-2025-08-07-enc-tools1",
    "xai_responses/01-grok-4-3-think-enc-tools1-cache": "xai_responses/03-grok-4-3-think-enc-tools1-cache",
    "xai_responses/04-grok-4-3-think-enc-cache": "xai_responses/06-grok-4-3-think-enc-tools1-cache",
    "xai_responses/07-grok-4-3-think-enc-cache": "xai_responses/03-grok-4-3-think-enc-tools1-cache",
    "gemini/06-gemini-3-1-pro-preview-text": "gemini/30-gemini-3-1-pro-preview-tools1",
    "gemini_vertex/04-gemini-2-5-pro-text": "gemini_vertex/03-gemini-2-5-pro-tools2",
}


def found():
    for path in sorted(PUBLIC.rglob("*.expect.json")):
        expect = json.loads(path.read_text())
        if expect.get("fidelity") and expect["family"] in READERS and not expect.get("error"):
            base = str(path).removesuffix(".expect.json")
            body = next(p for p in (Path(f"{base}.response.sse"), Path(f"{base}.response.json")) if p.exists())
            yield pytest.param(expect, body.read_bytes(), id=f"{path.parent.name}/{Path(base).name}")


NONE = [pytest.param(None, None, marks=pytest.mark.skip("no recordings here"))]


def answered(expect, body, model="m"):
    """(the reply's messages, the JSON of the request that goes on from it)."""
    parts = read(READERS[expect["family"]](), body)
    if parts[-1].status != "completed":
        pytest.skip("nothing is committed")
    reply = messages(parts)
    outputs = [ToolCallOutput(tool_call_id=one.tool_call_id, output="x") for one in reply if isinstance(one, ToolCall)]
    go = Text(role="user", text="go")
    request = Request("", (), (Commit((go, *reply)),), (*outputs, go))
    endpoint = Endpoint("p", "x", "https://h", expect["model"] if model is None else model)
    return reply, json.loads(ENCODERS[expect["family"]](endpoint).body(request, frozenset()))


def below(value, name):
    """Every value of that name, in order."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == name:
                yield inner
            yield from below(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from below(inner, name)


def is_turn(expect):
    return bool((expect.get("text") or "").strip() or expect.get("tool_calls"))


def is_spliced(expect):
    return expect.get("checks", {}).get("items_match_final") is False


@pytest.mark.parametrize(("expect", "body"), list(found()) or NONE)
def test_what_a_reply_left_comes_back_as_it_was(expect, body):
    if not is_turn(expect) or is_spliced(expect):
        pytest.skip("there is no such turn to send")
    _, sent = answered(expect, body)
    left = expect["fidelity"]
    match expect["family"]:
        case "anthropic":
            wanted = [one for one in left.get("thinking_signatures") or [] if one]
            assert list(below(sent["messages"], "signature")) == wanted
            hidden = [block["data"] for block in below(sent, "content") if isinstance(block, dict) and "data" in block]
            assert len(hidden) <= len(left.get("redacted_thinking") or [])
            for block in left.get("redacted_thinking") or []:
                assert (block["data"] if isinstance(block, dict) else block) in json.dumps(sent)
        case "openai_responses":
            items = [one for one in left["output_items"] if one["type"] == "reasoning" and one.get("encrypted_content")]
            got = [one for one in sent["input"] if one.get("type") == "reasoning"]
            assert [one for one in got if one.get("encrypted_content")] == items
        case "gemini":
            wanted = [one["signature"] for one in left.get("thought_signatures") or []]
            assert [one for one in below(sent["contents"], "thoughtSignature") if one != UNSIGNED] == wanted
        case _:
            details = [one for one in below(sent["messages"][1], "reasoning_details") for one in one]
            for field in ("text", "summary", "data", "signature"):
                wanted = [one.get(field) for one in left.get("reasoning_details") or []]
                assert "".join(one.get(field) or "" for one in details) == "".join(filter(None, wanted))


def recorded(name, what):
    path = next(PUBLIC.glob(f"{name}.{what}"), None)
    return path.read_bytes() if path else pytest.skip("no recordings here")


@pytest.mark.parametrize("later", FOLLOW_UPS)
def test_the_next_request_has_what_a_recorded_client_sent_back(later):
    expect = json.loads(recorded(FOLLOW_UPS[later], "expect.json"))
    _, ours = answered(expect, recorded(FOLLOW_UPS[later], "response.sse"), model=None)
    theirs = json.loads(recorded(later, "request.json"))["body"]
    kept = "encrypted_content" if "input" in ours else "thoughtSignature"
    mine = {one[kept]: one for one in nodes(ours) if kept in one}
    shared = [one for one in nodes(theirs) if one.get(kept) in mine]
    assert shared
    for one in shared:
        assert {name: mine[one[kept]][name] for name in one} == one


def nodes(value):
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for inner in value:
            yield from nodes(inner)
