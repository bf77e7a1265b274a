"""Models that configuration alone does not know of: what is asked for them, when, and what waits meanwhile."""

import asyncio
import json
import sys
from types import SimpleNamespace

import pytest

from agent_lsp.app import surroundings
from agent_lsp.config.builtin import KEY_VARIABLES
from agent_lsp.providers import probe
from agent_lsp.providers.catalog import configured_models
from agent_lsp.providers.scripted import call, fail, text
from tests.server.front_end import Refused, front_end

pytestmark = pytest.mark.asyncio
KEY = "sk-out-of-the-keyring"
REHEARSAL = {"provider": "rehearsal", "model": "rehearsal"}
LOCAL = {"provider": "ollama", "model": "qwen3:8b"}
BARE = {"defaultModel": None}


class Ring:
    """A keyring in memory that counts how often it is opened."""

    def __init__(self, **kept):
        self.kept, self.asked = kept, 0

    def get_password(self, service, name):
        self.asked += 1
        return self.kept.get(name)


class Machine:
    """This machine: the models that its servers have, told when `answer` lets them."""

    def __init__(self, *models):
        self.models, self.asked = models, 0
        self.answer = asyncio.Event()
        self.answer.set()

    async def discover(self):
        self.asked += 1
        await self.answer.wait()
        table = {"ollama": {"models": {name: {} for name in self.models}}}
        return [one for one in configured_models(table, {}) if one["provider"] == "ollama"]


@pytest.fixture(autouse=True)
def ring(monkeypatch):
    for name in (name for names in KEY_VARIABLES.values() for name in names):
        monkeypatch.delenv(name, raising=False)
    ring = Ring()
    monkeypatch.setitem(sys.modules, "keyring", ring)
    return ring


@pytest.fixture
def machine(monkeypatch):
    machine = Machine()
    monkeypatch.setattr(surroundings, "discover", machine.discover)
    return machine


@pytest.fixture
def tried(monkeypatch):
    """The endpoints that were tried out; each with the result that `results` has for it."""
    tried = SimpleNamespace(endpoints=[], results=[])

    async def test_model(endpoint):
        tried.endpoints.append(endpoint)
        return tried.results.pop(0) if tried.results else {"ok": True, "latencyMs": 1, "status": "completed"}

    monkeypatch.setattr(probe, "test_model", test_model)
    return tried


def hosted(**more):
    return {"hosted": {"api": "openai-chat", "baseUrl": "https://models.example/v1", "models": {"m": {}}, **more}}


# --- servers on this machine ------------------------------------------------------------------------------------------


async def test_a_session_without_a_model_gets_that_of_a_server_on_this_machine(tmp_path, monkeypatch, machine):
    machine.models = ("qwen3:8b",)
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, _):
        assert (await client.ask("agent/session/new"))["model"] == LOCAL
        assert client.told("agent/modelsChanged") == [{}]


async def test_a_run_without_a_session_waits_for_that_too_and_once(tmp_path, monkeypatch, machine):
    machine.models = ("qwen3:8b",)
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, model):
        model.script([text("Hello.")])
        result = await client.ask("agent/run", input="go")
        (listed,) = (await client.ask("agent/session/list"))["sessions"]
        assert (result["text"], listed["model"], machine.asked) == ("Hello.", LOCAL, 1)


async def test_without_any_server_it_is_the_rehearsal_and_nothing_has_changed(tmp_path, monkeypatch, machine):
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, _):
        for _ in range(2):
            assert (await client.ask("agent/session/new"))["model"] == REHEARSAL
        assert (machine.asked, client.told("agent/modelsChanged")) == (1, [])


async def test_what_is_said_meanwhile_waits_in_order(tmp_path, monkeypatch, machine):
    machine.answer.clear()
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, model):
        model.script([text("Hello.")])
        new, new_answer = client.prepare("agent/session/new")
        run, run_answer = client.prepare("agent/run", input="go")
        rules, rules_answer = client.prepare("agent/rules")
        client.say(new, run, rules)
        await asyncio.sleep(0)
        assert not rules_answer.done()
        machine.answer.set()

        session = await new_answer
        assert (await run_answer)["sessionId"] == session["sessionId"]
        assert (await rules_answer) == {"rules": []}
        assert len((await client.ask("agent/session/list"))["sessions"]) == 1


async def test_the_end_of_the_connection_does_not_wait(tmp_path, monkeypatch, machine):
    machine.answer.clear()
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, _):
        new = client.send("agent/session/new")
        client.connection.received(b"")
    with pytest.raises(Refused):
        await new


async def test_the_models_are_told_with_what_was_found_and_looked_for_again_while_nothing_is(
    tmp_path, monkeypatch, machine
):
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, _):
        assert (await client.ask("agent/models"))["defaultModel"] == REHEARSAL
        machine.models = ("qwen3:8b",)
        told = await client.ask("agent/models")
        assert told["defaultModel"] == LOCAL
        assert [one["model"] for one in told["models"]] == ["qwen3:8b", "rehearsal"]
        await client.ask("agent/models")
        assert (machine.asked, client.told("agent/modelsChanged")) == (2, [{}])


@pytest.mark.parametrize(
    "settings",
    [{"defaultModel": "rehearsal/rehearsal"}, {**BARE, "providers": hosted()}, {"defaultModel": "anthropic/x"}],
)
async def test_where_something_is_configured_the_machine_is_not_asked(tmp_path, monkeypatch, machine, settings):
    async with front_end(tmp_path, monkeypatch, **settings) as (client, _):
        await client.ask("agent/models")
        assert machine.asked == 0


async def test_offline_still_asks_this_machine(tmp_path, monkeypatch, machine):
    machine.models = ("qwen3:8b",)
    async with front_end(tmp_path, monkeypatch, **BARE, offline=True) as (client, _):
        assert (await client.ask("agent/session/new"))["model"] == LOCAL


# --- kept keys --------------------------------------------------------------------------------------------------------


async def test_a_kept_key_makes_its_provider_usable_and_the_default(tmp_path, monkeypatch, ring, machine):
    ring.kept = {"groq": KEY}
    async with front_end(tmp_path, monkeypatch, **BARE) as (client, _):
        assert (await client.ask("agent/session/new"))["model"]["provider"] == "groq"
        told = await client.ask("agent/models")
        assert {one["provider"] for one in told["models"] if one["hasCredential"]} == {"groq", "rehearsal"}
        assert (client.told("agent/modelsChanged"), machine.asked) == ([{}], 0)
        assert KEY not in json.dumps(client.log)


async def test_a_list_that_is_right_comes_at_once_and_what_is_added_is_told_after_it(tmp_path, monkeypatch, ring):
    ring.kept = {"groq": KEY}
    async with front_end(tmp_path, monkeypatch) as (client, _):
        first = await client.ask("agent/models")
        assert [one["provider"] for one in first["models"]] == ["rehearsal"]
        told = await client.ask("agent/models")
        assert {one["provider"] for one in told["models"]} == {"groq", "rehearsal"}
        assert client.told("agent/modelsChanged") == [{}]


async def test_a_list_that_could_be_wrong_waits(tmp_path, monkeypatch, ring):
    ring.kept = {"hosted": KEY}
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, _):
        told = await client.ask("agent/models")
        assert {one["provider"]: one["hasCredential"] for one in told["models"]}["hosted"]


async def test_a_named_model_waits_for_its_key(tmp_path, monkeypatch, ring):
    ring.kept = {"hosted": KEY}
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, _):
        session = (await client.ask("agent/session/new"))["sessionId"]
        assert ring.asked == 0
        updated = await client.ask("agent/session/update", sessionId=session, model="hosted/m")
        assert updated["model"] == {"provider": "hosted", "model": "m"}


async def test_a_key_that_is_nowhere_is_refused_with_what_to_set(tmp_path, monkeypatch, ring):
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, _):
        for _ in range(2):
            refused = await client.refusal("agent/session/new", model="hosted/m")
            assert (refused.code, "NOT_SET" in refused.data["hint"]) == (-32010, True)
            asked, ring.asked = ring.asked, 0
        assert (asked > 0, ring.asked) == (False, 0)


@pytest.mark.parametrize("provider", [hosted(apiKey="k" * 8), hosted(headers={"x-key": "k" * 8})])
async def test_the_keyring_is_not_opened_for_a_model_that_has_a_credential(tmp_path, monkeypatch, ring, provider):
    async with front_end(tmp_path, monkeypatch, providers=provider) as (client, _):
        await client.ask("agent/session/new", model="hosted/m")
        assert ring.asked == 0


async def test_offline_goes_before_the_keyring(tmp_path, monkeypatch, ring):
    async with front_end(tmp_path, monkeypatch, offline=True) as (client, _):
        for method in ("agent/session/new", "agent/models/test"):
            refused = await client.refusal(method, model="anthropic/claude-sonnet-5")
            assert (refused.code, "not on this machine" in refused.message) == (-32010, True)
        assert ring.asked == 0


async def test_a_kept_key_is_masked_in_sessions_that_were_open_before_it_was_known(tmp_path, monkeypatch, ring):
    ring.kept = {"hosted": KEY}
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, model):
        (tmp_path / "work" / "notes.txt").write_text(f"the key is {KEY}\n")
        session = (await client.ask("agent/session/new"))["sessionId"]
        await client.ask("agent/models")
        model.script([call("read_file", {"file_path": "notes.txt"})], [text("Read.")])
        await client.ask("agent/run", sessionId=session, input="go")
        assert "the key is ***" in json.dumps(client.log)
        assert KEY not in json.dumps(client.log)


async def test_a_run_after_a_refused_credential_looks_for_a_new_key(tmp_path, monkeypatch, ring):
    ring.kept = {"hosted": KEY}
    providers = hosted(apiKeyEnv="NOT_SET")
    async with front_end(tmp_path, monkeypatch, defaultModel="hosted/m", providers=providers) as (client, model):
        model.script([fail("auth", "no")], [text("Hello.")])
        assert (await client.ask("agent/run", input="go"))["status"] == "auth"
        asked = ring.asked
        assert (await client.ask("agent/run", input="go"))["text"] == "Hello."
        assert ring.asked > asked


# --- trying a model out -----------------------------------------------------------------------------------------------


async def test_a_model_is_tried_out_with_the_key_that_is_kept_now(tmp_path, monkeypatch, ring, tried):
    ring.kept = {"hosted": "sk-an-older-one"}
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, _):
        await client.ask("agent/models")
        ring.kept = {"hosted": KEY}
        result = await client.ask("agent/models/test", model={"provider": "hosted", "model": "m"})
        assert result == {"ok": True, "latencyMs": 1, "status": "completed"}
        assert [one.api_key for one in tried.endpoints] == [KEY]


async def test_a_success_ends_the_wait_for_a_credential_and_a_failure_does_not(tmp_path, monkeypatch, tried):
    providers = hosted(apiKey="k" * 8)
    refused = {"ok": False, "latencyMs": 1, "status": "auth", "message": "no"}
    async with front_end(tmp_path, monkeypatch, defaultModel="hosted/m", providers=providers) as (client, model):
        model.script([fail("auth", "no")])
        await client.ask("agent/run", input="go")
        tried.results = [refused]
        assert (await client.ask("agent/models/test", model="hosted/m")) == refused
        assert [one["state"] for one in client.told("agent/state")][-1] == "auth_required"
        await client.ask("agent/models/test", model="rehearsal/rehearsal")
        assert [one["state"] for one in client.told("agent/state")][-1] == "auth_required"
        await client.ask("agent/models/test", model="hosted/m")
        assert [one["state"] for one in client.told("agent/state")][-1] == "idle"


async def test_the_rehearsal_can_be_tried_out(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        result = await client.ask("agent/models/test", model="rehearsal/rehearsal")
        assert (result["ok"], result["status"]) == (True, "completed")


@pytest.mark.parametrize("name", ["nobody/m", "", "rehearsal/other", "hosted/m"])
async def test_a_model_that_cannot_be_tried_out_says_what_to_set(tmp_path, monkeypatch, tried, name):
    async with front_end(tmp_path, monkeypatch, providers=hosted(apiKeyEnv="NOT_SET")) as (client, _):
        refused = await client.refusal("agent/models/test", model=name)
        assert (refused.code, bool(refused.data["hint"]), tried.endpoints) == (-32010, True, [])
        assert (await client.refusal("agent/models/test")).fields == ["model"]


# --- the configuration changes ----------------------------------------------------------------------------------------


async def test_a_key_that_was_put_right_in_the_file_ends_the_wait_though_the_editors_settings_are_the_same(
    tmp_path, monkeypatch
):
    file = tmp_path / "mine.toml"
    file.write_text('[providers.hosted]\napi_key = "sk-wrong-one"\n')
    settings = {"config": str(file), "defaultModel": "hosted/m", "providers": hosted()}
    async with front_end(tmp_path, monkeypatch, **settings) as (client, model):
        model.script([fail("auth", "no")])
        await client.ask("agent/run", input="go")
        same = {"method": "workspace/didChangeConfiguration", "params": {"settings": {"agent": {}}}}
        client.say(same, {"method": "workspace/didChangeConfiguration", "params": {"settings": None}})
        await client.ask("agent/rules")
        assert [one["state"] for one in client.told("agent/state")][-1] == "auth_required"
        file.write_text('[providers.hosted]\napi_key = "sk-right-one"\n')
        client.say(same)
        await client.ask("agent/rules")
        assert [one["state"] for one in client.told("agent/state")][-1] == "idle"


async def test_requests_are_noted_where_the_person_wants_that_only(tmp_path, monkeypatch, tried):
    providers = hosted(apiKey="k" * 8)
    async with front_end(tmp_path, monkeypatch, providers=providers, egressLog=True) as (client, _):
        await client.ask("agent/models/test", model="hosted/m")
        assert tried.endpoints[0].egress_log == str(tmp_path / "data" / "egress.log")
        assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700
    async with front_end(tmp_path, monkeypatch, providers=providers) as (client, _):
        await client.ask("agent/models/test", model="hosted/m")
        assert tried.endpoints[1].egress_log is None


async def test_a_key_that_a_setting_names_later_is_no_longer_told_to_commands(tmp_path, monkeypatch):
    monkeypatch.setenv("LATER_KEY", "planted")
    file = tmp_path / "mine.toml"
    file.write_text("")
    async with front_end(tmp_path, monkeypatch, config=str(file), approvalMode="allow-all") as (client, model):
        for _ in range(2):
            model.script([call("exec_command", {"cmd": "echo is ${LATER_KEY:-gone}"})], [text("done")])
        await client.ask("agent/run", input="go")
        file.write_text('[providers.hosted]\napi = "anthropic"\napi_key_env = "LATER_KEY"\n')
        client.say({"method": "workspace/didChangeConfiguration", "params": {"settings": None}})
        await client.ask("agent/run", input="go")
        said = [one["output"] for one in client.streamed("tool_call_output")]
        assert ["planted" in said[0], "is gone" in said[-1]] == [True, True]


async def test_options_that_are_given_anew_take_the_place_of_those_at_the_start_and_count_as_much(
    tmp_path, monkeypatch
):
    async with front_end(tmp_path, monkeypatch, approvalMode="ask", maxTurns=7) as (client, _):

        async def mode() -> str:
            return (await client.ask("agent/session/new"))["approvalMode"]

        client.say({"method": "agent/options", "params": {"options": {"approvalMode": "auto-edit"}}})
        assert await mode() == "auto-edit"
        client.say({"method": "workspace/didChangeConfiguration", "params": {"settings": {"agent": {}}}})
        assert await mode() == "auto-edit"
        client.say({"method": "agent/options", "params": {"options": {"approvalMode": "everything"}}})
        assert await mode() == "auto-edit"
        assert "approvalMode" in client.told("window/showMessage")[-1]["message"]
        client.say({"method": "agent/options", "params": {"options": {}}})
        assert await mode() == "ask"
