"""Where a provider can hold a reply to a schema, it is told to; where it does not want to, the request goes without."""

import json

from agent_lsp.engine.ports import Request
from agent_lsp.loop.contract import decision_schema
from agent_lsp.messages.content import Text
from agent_lsp.providers import switches
from agent_lsp.providers.anthropic import client as anthropic
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.failure import Fault
from agent_lsp.providers.openai_chat import client as chat
from agent_lsp.providers.openai_chat.dialect import Dialect
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.slotted import replace

SCHEMA = decision_schema(())
ASKED = Request("s", (), (), (Text(role="user", text="go"),), response_schema=SCHEMA)
CHAT = Endpoint("p-schema", "openai-chat", "https://h/v1", "m")
CLAUDE = Endpoint("c-schema", "anthropic", "https://h", "claude-sonnet-5")


def test_chat_completions_gets_a_response_format():
    body = json.loads(ChatEncoder(CHAT, Dialect()).body(ASKED, frozenset()))
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    plain = json.loads(ChatEncoder(CHAT, Dialect()).body(replace(ASKED, response_schema=None), frozenset()))
    assert "response_format" not in plain


def test_chat_completions_goes_without_it_when_it_is_refused():
    encoder = ChatEncoder(CHAT, Dialect())
    talk = chat._ChatTalk(CHAT, Dialect(), encoder, ASKED)
    switches.refused_by(CHAT).clear()
    assert talk.lower(Fault("This response_format type is unavailable now")) == "response_format"
    assert "response_format" not in json.loads(talk.body())


def test_messages_forces_a_tool_unless_the_model_thinks():
    body = json.loads(MessagesEncoder(CLAUDE).body(ASKED, frozenset()))
    assert body["tool_choice"] == {"type": "tool", "name": "decide"} and body["tools"][0]["input_schema"] == SCHEMA
    thinks = json.loads(MessagesEncoder(CLAUDE).body(replace(ASKED, thinking_level="high"), frozenset()))
    assert "tool_choice" not in thinks and "tools" not in thinks


def test_messages_goes_without_it_when_it_is_refused():
    talk = anthropic._MessagesTalk(CLAUDE, MessagesEncoder(CLAUDE), ASKED)
    switches.refused_by(CLAUDE).clear()
    assert talk.lower(Fault("tool_choice: tool is not supported"))
    assert "tool_choice" not in json.loads(talk.body())


def test_a_schema_has_its_alternatives_below_the_top():
    assert set(SCHEMA) == {"type", "properties", "required", "additionalProperties"}
    assert SCHEMA["properties"]["tool"]["enum"] == ["final_answer", "cannot_complete"]
