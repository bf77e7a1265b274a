"""The first session is told before it is there: truly, only where nothing can go wrong, and nothing is lost by it."""

import json
import os

import pytest
from pydantic import ValidationError

from agent_lsp.config import shape
from agent_lsp.errors import ModelUnavailable
from agent_lsp.server import greeting
from agent_lsp.server.early_session import EarlySession, PromisedSession, promise
from agent_lsp.server.framing import Decoder, frame
from agent_lsp.server.handshake import Handshake
from agent_lsp.server.hub import Hub
from agent_lsp.server.methods import NewParams
from agent_lsp.server.options import configure
from tests.server.front_end import front_end

MODEL = {"contextWindow": 50_000, "maxOutputTokens": 4_000}
MOCK = {"api": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "models": {"mock": MODEL, "bare": {}}}
HOSTED = {"api": "anthropic", "baseUrl": "https://models.example", "apiKey": "sk-x", "models": {"big": MODEL}}
BASIC = {"defaultModel": "mock/mock", "providers": {"mock": MOCK}}
CERTAIN = {
    "nothing but a model": (BASIC, {}),
    "the rehearsal": ({"defaultModel": "rehearsal/rehearsal"}, {}),
    "a model that nothing is known of": (BASIC, {"model": "mock/bare"}),
    "a model that is not listed": (BASIC, {"model": "mock/other/with-a-slash"}),
    "a model in two parts": (BASIC, {"model": {"provider": "mock", "model": "bare"}}),
    "a hosted model with its key": ({"defaultModel": "far/big", "providers": {"far": HOSTED}}, {}),
    "a built-in provider with a key": ({"providers": {"anthropic": {"apiKey": "sk-x"}}}, {}),
    "a mode": (BASIC, {"mode": "loop"}),
    "a mode of the settings": (BASIC | {"mode": "loop"}, {}),
    "a mode that follows the model": (
        {
            "mode": "auto",
            "defaultModel": "mock/no",
            "providers": {"mock": MOCK | {"models": {"no": {"toolCalling": False}}}},
        },
        {},
    ),
    "a mode that follows an able model": (BASIC | {"mode": "auto"}, {}),
    "permissions": (BASIC, {"approvalMode": "auto-edit"}),
    "permissions of the settings": (BASIC | {"approvalMode": "read-only"}, {}),
    "thinking": (BASIC, {"thinkingLevel": "max"}),
    "thinking of the settings": (BASIC | {"thinkingLevel": "low"}, {}),
    "a title": (BASIC, {"title": "Grüße"}),
    "what leaves no trace": (BASIC, {"ephemeral": True}),
    "nulls": (BASIC, {"title": None, "model": None, "limits": None, "agent": None}),
    "no compaction": (BASIC | {"compaction": {"mode": "off"}}, {}),
    "compaction without a limit": (BASIC | {"compaction": {"maxContextLength": 0}}, {}),
    "an early compaction": (BASIC | {"compaction": {"maxContextLength": 1000, "mode": "discard"}}, {}),
    "offline, and the model is here": (BASIC | {"offline": True}, {}),
}
UNCERTAIN = {
    "no model at all": ({"defaultModel": None}, {}),
    "a provider whose key may be in the keyring": ({"defaultModel": "anthropic/claude"}, {}),
    "a provider that nobody knows": (BASIC, {"model": "nobody/x"}),
    "a provider without its model": (BASIC, {"model": "mock"}),
    "a rehearsal of something else": ({"defaultModel": "rehearsal/other"}, {}),
    "offline, and the model is elsewhere": (
        {"offline": True, "defaultModel": "far/big", "providers": {"far": HOSTED}},
        {},
    ),
    "settings that are only nearly right": (BASIC | {"compaction": {"maxContextLength": 1000, "colour": 1}}, {}),
    "a folder that is none": (BASIC, {"workspace": "file:///no/such/folder"}),
    "a folder on another machine": (BASIC, {"workspace": "ssh://there/folder"}),
    "a folder that cannot be": (BASIC, {"workspace": "/a\0b"}),
    "a value of the wrong type": (BASIC, {"title": 3}),
    "a choice that there is not": (BASIC, {"approvalMode": "sometimes"}),
    "half a model": (BASIC, {"model": {"provider": "mock"}}),
    "an empty name": (BASIC, {"model": ""}),
    "what is no text": (BASIC, {"title": "\ud800"}),
    "a profile": (BASIC, {"agent": "reviewer"}),
    "limits of a loop": (BASIC, {"mode": "loop", "limits": {"max_errors": 1}}),
    "a history": (BASIC, {"initialHistory": []}),
    "a field that nobody knows": (BASIC, {"flavour": "sweet"}),
}


def greeted_with(folder, options):
    settings = {"dataDir": str(folder / "data"), "config": str(folder / "none.toml")}
    handshake = Handshake(configure({}, {"HOME": str(folder)}))
    params = {"rootUri": folder.as_uri(), "capabilities": {"experimental": {"agent": {}}}}
    given = {name: one for name, one in options.items() if one is not None}
    params["initializationOptions"] = {"agent": settings | given}
    handshake.feed(frame(json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).encode()))
    return handshake.greeted


@pytest.mark.parametrize(("options", "params"), CERTAIN.values(), ids=CERTAIN)
@pytest.mark.asyncio
async def test_what_is_promised_is_what_the_session_says_of_itself(tmp_path, monkeypatch, options, params):
    for name in [name for name in os.environ if name.endswith(("_API_KEY", "_BASE_URL"))]:
        monkeypatch.delenv(name)
    told = {}

    def meanwhile(greeted):
        told.update(promise(greeted, params, {"HOME": str(tmp_path)}))
        greeted.promised = PromisedSession(told["sessionId"], told["createdAt"], params)

    given = {"defaultModel": None} | options
    async with front_end(tmp_path, monkeypatch, meanwhile=meanwhile, **given) as (client, _):
        assert await client.ask("agent/session/update", sessionId=told["sessionId"]) == told
        assert (await client.ask("agent/session/new", **params)).keys() == told.keys()


@pytest.mark.parametrize("place", ["file", "path", "nowhere"])
def test_the_folder_is_the_one_that_is_named_else_the_one_that_is_open(tmp_path, place):
    other = tmp_path / "another one"
    other.mkdir()
    named = {"file": {"workspace": other.as_uri()}, "path": {"workspace": f"{other}/"}, "nowhere": {}}[place]
    told = promise(greeted_with(tmp_path, BASIC), named, {})
    assert told["workspace"] == (tmp_path if place == "nowhere" else other).as_uri()


@pytest.mark.parametrize(("options", "params"), UNCERTAIN.values(), ids=UNCERTAIN)
def test_nothing_is_promised_where_anything_is_unusual(tmp_path, options, params):
    assert promise(greeted_with(tmp_path, options), params, {"HOME": str(tmp_path)}) is None


@pytest.mark.parametrize("field", ["mode", "approvalMode", "thinkingLevel"])
def test_each_choice_that_is_taken_for_right_is_right_for_the_model(field):
    every = {*shape.APPROVAL_MODES, *shape.THINKING_LEVELS, "native", "loop", "auto", "ask-twice"}
    taken = {choice for choice in every if shape.fits_session({field: choice})}
    assert taken and all(NewParams.model_validate({field: choice}) for choice in taken)
    for choice in every - taken:
        with pytest.raises(ValidationError):
            NewParams.model_validate({field: choice})


@pytest.mark.asyncio
async def test_a_promise_that_cannot_be_kept_is_told_and_the_server_goes_on(tmp_path, monkeypatch, caplog):
    create = Hub.create

    def fails(hub, spec, promised_id=None):
        if promised_id:
            raise ModelUnavailable("the model is gone")
        return create(hub, spec)

    monkeypatch.setattr(Hub, "create", fails)

    def meanwhile(greeted):
        greeted.promised = PromisedSession("session-20261129-212041-0123abcd", "2026-11-29T21:20:41.000Z", {})

    async with front_end(tmp_path, monkeypatch, meanwhile=meanwhile) as (client, _):
        refused = await client.refusal("agent/run", sessionId="session-20261129-212041-0123abcd", input="go")
        assert "session" in refused.message
        (shown,) = client.told("window/showMessage")
        assert "the model is gone" in shown["message"] and shown["type"] == 1
        assert (await client.ask("agent/session/new"))["state"] == "idle"
    assert "cannot be made" in caplog.text


# --- what comes, and when ---


class Talk:
    """A client's end of two pipes, and the other ends."""

    def __init__(self, greeted):
        self.greeted = greeted
        self.read_fd, self._write_fd = os.pipe()
        self._answers_fd, self.write_fd = os.pipe()
        os.set_blocking(self._answers_fd, False)
        self.early = EarlySession(greeted, self.read_fd, self.write_fd)

    def say(self, *messages, cut=None):
        data = b"".join(frame(json.dumps({"jsonrpc": "2.0", **one}).encode()) for one in messages)
        os.write(self._write_fd, data[:cut])
        return data[cut:] if cut else b""

    def say_rest(self, data):
        os.write(self._write_fd, data)

    def leave(self):
        os.close(self._write_fd)

    def close_answers(self):
        os.close(self._answers_fd)

    def answers(self):
        decoder = Decoder()
        try:
            decoder.feed(os.read(self._answers_fd, 65536))
        except BlockingIOError:
            return []
        return [json.loads(body) for body in iter(decoder.take, None)]

    def left_over(self):
        return [json.loads(body)["method"] for body in iter(self.greeted.decoder.take, None)]


@pytest.fixture
def talk(tmp_path):
    return Talk(greeted_with(tmp_path, BASIC))


NEW = {"id": 1, "method": "agent/session/new", "params": {}}
INITIALIZED = {"method": "initialized", "params": {}}
OPENED = {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": "file:///a", "text": "x"}}}


def test_the_request_is_answered_and_all_before_and_behind_it_is_kept_in_order(talk):
    talk.say(INITIALIZED, OPENED, NEW, {"id": 2, "method": "agent/run", "params": {"input": "go"}})
    talk.early.look()
    (answer,) = talk.answers()
    assert answer["id"] == 1 and answer["result"]["sessionId"] == talk.greeted.promised.session_id
    assert talk.left_over() == ["initialized", "textDocument/didOpen", "agent/run"]


def test_a_request_that_came_in_one_read_with_the_handshake_is_answered_without_another_read(talk):
    said = [{"jsonrpc": "2.0", **one} for one in (INITIALIZED, NEW)]
    talk.greeted.decoder.feed(b"".join(frame(json.dumps(one).encode()) for one in said))
    talk.early.look()
    assert [one["id"] for one in talk.answers()] == [1]
    assert talk.left_over() == ["initialized"]


def test_a_request_that_comes_in_pieces_and_late_is_answered_when_it_is_whole(talk):
    talk.early.look()
    rest = talk.say(INITIALIZED, NEW, cut=150)
    talk.early.look()
    assert talk.answers() == [] and talk.greeted.promised is None
    talk.say_rest(rest)
    talk.early.look()
    assert [one["id"] for one in talk.answers()] == [1]
    assert talk.left_over() == ["initialized"]


def test_each_look_reads_once_so_that_nobody_can_hold_up_the_start(talk, monkeypatch):
    monkeypatch.setattr(greeting, "_READ_BYTES", 100)
    talk.say(INITIALIZED, OPENED, NEW)
    looks = 0
    while talk.greeted.promised is None:
        talk.early.look()
        looks += 1
    assert looks > 2
    assert talk.left_over() == ["initialized", "textDocument/didOpen"]


def test_nothing_is_lost_when_nobody_reads_the_answer(talk):
    talk.close_answers()
    talk.say(INITIALIZED, NEW, {"id": 2, "method": "agent/run", "params": {"input": "go"}})
    talk.early.look()
    assert talk.left_over() == ["initialized", "agent/run"]


@pytest.mark.parametrize(
    "first",
    [
        {"id": 7, "method": "agent/models", "params": {}},
        {"id": 7, "method": "shutdown"},
        {"method": "workspace/didChangeConfiguration", "params": {"settings": {"agent": {"mode": "loop"}}}},
        {"method": "agent/options", "params": {"options": {}}},
        {"method": "agent/workspaceTrust", "params": {"trusted": True}},
        {"method": "$/cancelRequest", "params": {"id": 1}},
        {"method": "exit"},
    ],
    ids=lambda first: first["method"],
)
def test_behind_anything_that_could_matter_nothing_is_answered_early(talk, first):
    talk.say(first, NEW)
    talk.early.look()
    assert talk.answers() == [] and talk.greeted.promised is None
    assert talk.left_over() == [first["method"], "agent/session/new"]


def test_only_the_first_session_is_answered_early(talk):
    talk.say(NEW)
    talk.early.look()
    talk.say(NEW | {"id": 2})
    talk.early.look()
    assert [one["id"] for one in talk.answers()] == [1]


def test_bytes_that_are_no_message_are_left_to_whoever_answers_them(talk):
    talk.say_rest(b"Content-Length: x\r\n\r\n")
    talk.say(NEW)
    talk.early.look()
    assert talk.answers() == [] and talk.greeted.promised is None


def test_a_client_that_has_left_is_none_of_its_business(talk):
    talk.say(INITIALIZED)
    talk.leave()
    talk.early.look()
    assert talk.answers() == [] and talk.left_over() == ["initialized"]


def test_nothing_is_read_where_another_protocol_is_around_the_bytes(talk):
    other = EarlySession(talk.greeted, talk.read_fd, talk.write_fd, is_open=False)
    talk.say(NEW)
    other.look()
    assert talk.answers() == [] and talk.left_over() == []
