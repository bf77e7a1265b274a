"""The methods of the protocol, each at its edges."""

import asyncio
import gc
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.app import build
from agent_lsp.messages.markers import steering
from agent_lsp.providers.scripted import call, fail, finish, gate, text, usage
from agent_lsp.server import method_names
from agent_lsp.server.methods import NewParams
from agent_lsp.server.run_methods import AbortParams, RunParams, SteerParams, UnsteerParams
from agent_lsp.server.session_methods import HistoryParams, ListParams, RevokeParams, UpdateParams
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
PARAMS = (
    NewParams,
    RunParams,
    SteerParams,
    AbortParams,
    UpdateParams,
    HistoryParams,
    ListParams,
    RevokeParams,
    UnsteerParams,
)
FIELDS = sorted({field.alias or name for params in PARAMS for name, field in params.model_fields.items()})
WORDS = ["open", "", "a", "/", "file:///", "rehearsal/rehearsal", "text", "image", "resource", "plan", "\ud800", "\0"]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(WORDS),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "text", "uri", "data", "url", "range", "payload"]), inner, max_size=4
        )
    ),
    max_leaves=6,
)


async def running(client, model, **params):
    """A run that has begun to speak, and the event that lets it end."""
    opened = asyncio.Event()
    model.script([text("begun"), gate(opened)])
    run = client.send("agent/run", input="go", **params)
    await client.until(lambda: client.streamed("partial_text"))
    return run, opened


async def test_what_is_announced_is_what_is_served(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        assert sorted(build(client.connection).requests) == sorted(method_names.METHODS)


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("agent/run", {}, "input"),
        ("agent/run", {"input": ""}, "input"),
        ("agent/run", {"input": []}, "input"),
        ("agent/run", {"input": [{"type": "text", "text": ""}]}, "input"),
        ("agent/run", {"input": 7}, "input"),
        ("agent/run", {"input": [{"type": "video"}]}, "input[0]"),
        ("agent/run", {"input": [{"type": "text", "text": "a"}, {"type": "text"}]}, "input[1].text"),
        ("agent/run", {"input": [{"type": "image"}]}, "input[0].url"),
        (
            "agent/run",
            {"input": [{"type": "resource", "uri": "/x", "range": {"start": {"line": 1, "character": 0}}}]},
            "input[0].range.end",
        ),
        ("agent/run", {"input": "go", "thinkingLevel": "deep"}, "thinkingLevel"),
        ("agent/run", {"input": "go", "queueIfBusy": "yes"}, "queueIfBusy"),
        ("agent/run", {"input": "go", "expected": "x"}, "expected"),
        ("agent/run", {"input": "go", "maxRetries": 1}, "maxRetries"),
        ("agent/steer", {"input": None}, "input"),
        ("agent/unsteer", {}, "steerId"),
        ("agent/session/new", {"approvalMode": "yolo"}, "approvalMode"),
        ("agent/session/new", {"agent": "nobody"}, "agent"),
        ("agent/session/new", {"maxTurns": "many"}, "maxTurns"),
        ("agent/session/new", {"mode": "loop", "limits": {"maxErrors": 0}}, "limits.maxErrors"),
        ("agent/session/new", {"mode": "loop", "preparation": {"retries": 1}}, "preparation.text"),
        ("agent/session/new", {"limits": {}}, "limits"),
        ("agent/session/new", {"preparation": {}}, "preparation"),
        ("agent/session/new", {"workspace": "http://example.org/"}, "workspace"),
        ("agent/session/new", {"model": {"provider": "x"}}, "model.model"),
        ("agent/session/history", {}, "sessionId"),
        ("agent/session/history", {"sessionId": 7}, "sessionId"),
        ("agent/session/list", {"limit": 0}, "limit"),
        ("agent/session/update", {"sessionId": "x", "title": ""}, "title"),
        ("agent/rules/revoke", {}, "ruleIds"),
    ],
)
async def test_a_wrong_field_is_named(tmp_path, monkeypatch, method, params, field):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal(method, **params)
        assert (refused.code, refused.data["kind"], refused.fields) == (-32602, "invalid_params", [field])
        assert (await client.ask("agent/session/list"))["sessions"] == []


async def test_every_wrong_field_is_named_at_once(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal("agent/session/new", title=7, maxTurns="x", tags="y", _meta={"any": "thing"})
        assert sorted(refused.fields) == ["maxTurns", "tags", "title"]


@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("agent/session/history", {}),
        ("agent/session/update", {"title": "x"}),
        ("agent/session/close", {}),
        ("agent/session/delete", {}),
        ("agent/run", {"input": "go"}),
        ("agent/steer", {"input": "go"}),
        ("agent/unsteer", {"steerId": "x"}),
        ("agent/abort", {}),
        ("agent/retryNow", {}),
        ("agent/compactability", {}),
        ("agent/tools", {}),
        ("agent/rules", {}),
    ],
)
@pytest.mark.parametrize("session", ["nobody", "", "../../etc", "\ud800"])
async def test_a_session_that_is_not_there_is_not_found(tmp_path, monkeypatch, method, more, session):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal(method, sessionId=session, **more)
        assert (refused.code, refused.data["kind"]) == (-32004, "session_not_found")
        assert refused.data["hint"]


@pytest.mark.parametrize(
    "name", ["nobody/big", "big", "", "rehearsal/", "openai/gpt-5", {"provider": "x", "model": "y"}]
)
async def test_a_model_that_cannot_be_used_says_what_to_set(tmp_path, monkeypatch, name):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        for method, more in (("agent/session/new", {}), ("agent/run", {"input": "go"})):
            refused = await client.refusal(method, model=name, **more)
            assert (refused.code, refused.data["kind"]) == (-32010, "model_unavailable")
            assert refused.data["hint"]


async def test_a_dialect_that_is_not_spoken_is_refused_before_a_session_is_made(tmp_path, monkeypatch):
    monkeypatch.setattr("agent_lsp.providers.build.APIS", ("rehearsal",))
    provider = {"api": "openai-chat", "baseUrl": "http://127.0.0.1:1/v1", "models": {"m": {}}}
    async with front_end(tmp_path, monkeypatch, providers={"mine": provider}) as (client, _):
        refused = await client.refusal("agent/session/new", model="mine/m")
        assert (refused.code, refused.data["kind"]) == (-32010, "model_unavailable")
        assert "providers.mine.api" in refused.data["hint"]
        assert (await client.ask("agent/session/list"))["sessions"] == []


async def test_a_run_says_how_it_ended(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script(
            [call("read_file", {"file_path": "x"}), usage(10, 5, 1)],
            [text("Half a"), finish("length"), usage(20, 6, 2)],
        )
        result = await client.ask("agent/run", input="go")
        assert (result["status"], result["turns"], result["text"], result["finish"]) == (
            "completed",
            2,
            "Half a",
            "length",
        )
        assert result["usage"] == {"cache_read": 3, "cache_write": 30, "output": 11, "total": 44}
        assert "queued" not in result
        assert "errorMessage" not in result


async def test_a_run_that_fails_is_a_result_with_the_reason(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([text("part"), fail("failed", "no such thing", permanent=True)])
        result = await client.ask("agent/run", input="go")
        assert (result["status"], result["text"], result["turns"]) == ("failed", "part", 0)
        assert "no such thing" in result["errorMessage"]


async def test_a_busy_session_says_which_run_keeps_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, opened = await running(client, model)
        refused = await client.refusal("agent/run", input="more")
        opened.set()
        assert (refused.code, refused.data["retryable"]) == (-32009, True)
        assert refused.data["runId"] == (await run)["runId"]
        assert refused.data["sessionId"] == (await run)["sessionId"]


@pytest.mark.parametrize("change", [{"model": "rehearsal/rehearsal"}, {"mode": "native"}, {"tools": ["read_file"]}])
async def test_what_changes_between_runs_only_is_refused_while_one_runs(tmp_path, monkeypatch, change):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, opened = await running(client, model)
        session = client.told("agent/state")[0]["sessionId"]
        assert (await client.refusal("agent/session/update", sessionId=session, **change)).code == -32009
        opened.set()
        await run
        assert await client.ask("agent/session/update", sessionId=session, **change)


async def test_the_rest_can_be_changed_while_a_run_goes_on(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, opened = await running(client, model)
        session = client.told("agent/state")[0]["sessionId"]
        told = await client.ask(
            "agent/session/update", sessionId=session, title="T", approvalMode="plan", thinkingLevel="low"
        )
        assert (told["title"], told["approvalMode"], told["thinkingLevel"], told["state"]) == (
            "T",
            "plan",
            "low",
            "running",
        )
        opened.set()
        await run
        [update] = client.streamed("session_update")
        assert update == {"type": "session_update", "title": "T", "approval_mode": "plan", "thinking_level": "low"}


async def test_an_update_that_is_refused_changes_nothing(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        before = await client.ask("agent/session/new")
        session = before["sessionId"]
        for wrong in ({"tools": ["nothing"]}, {"model": "nobody/none"}, {"mode": "other"}):
            await client.refusal("agent/session/update", sessionId=session, title="T", approvalMode="plan", **wrong)
        assert await client.ask("agent/session/update", sessionId=session) == before
        assert client.streamed("session_update") == []


async def test_only_the_tools_that_were_kept_are_told_to_the_model(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("agent/session/new"))["sessionId"]
        await client.ask("agent/session/update", sessionId=session, tools=["read_file"])
        await client.ask("agent/run", input="go")
        assert [tool.name for tool in model.requests[0].tools] == ["read_file"]
        assert [tool["name"] for tool in (await client.ask("agent/tools"))["tools"]] == ["read_file"]


async def test_a_thinking_level_goes_with_its_run_only(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        await client.ask("agent/session/new", thinkingLevel="low")
        for level in ({}, {"thinkingLevel": "max"}, {}):
            await client.ask("agent/run", input="go", **level)
        assert [one.thinking_level for one in model.requests] == ["low", "max", "low"]


async def test_max_turns_ends_a_run_and_says_what_was_not_delivered(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        await client.ask("agent/session/new", maxTurns=1)
        run, opened = await running(client, model)
        await client.ask("agent/steer", input="more")
        opened.set()
        assert ((await run)["status"], (await run)["undelivered"]) == ("max_turns", 1)


async def test_steering_is_accepted_while_a_run_goes_on_and_delivered(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, opened = await running(client, model)
        other = await client.ask("agent/steer", runId="another", input="left")
        steered = await client.ask("agent/steer", input="right")
        empty = await client.ask("agent/steer", input="")
        opened.set()
        run_id = (await run)["runId"]
        assert other == {"accepted": False}
        assert (steered["accepted"], steered["runId"]) == (True, run_id)
        assert empty["accepted"] is True
        assert [one.text for one in model.requests[1].input] == [steering("right")]
        assert (await client.ask("agent/steer", input="late")) == {"accepted": False}


async def test_steering_can_be_taken_back_until_it_is_delivered(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, opened = await running(client, model)
        steered = await client.ask("agent/steer", input="right")
        assert await client.ask("agent/unsteer", steerId=steered["steerId"]) == {"withdrawn": True}
        assert await client.ask("agent/unsteer", steerId=steered["steerId"]) == {"withdrawn": False}
        assert await client.ask("agent/unsteer", steerId="nonsense") == {"withdrawn": False}
        opened.set()
        await run
        assert len(model.requests) == 1


async def test_an_abort_says_what_it_has_ended(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, _ = await running(client, model)
        queued = [client.send("agent/run", input=words, queueIfBusy=True, workDoneToken=words) for words in "ab"]
        session = client.told("agent/state")[0]["sessionId"]
        waiting = (await client.ask("agent/session/history", sessionId=session))["pending"]["runs"]

        assert await client.ask("agent/abort", runId="another") == {"aborted": False}
        aborted = await client.ask("agent/abort", runId=waiting[1]["runId"])
        assert aborted == {"aborted": True, "what": "queued", "runId": waiting[1]["runId"]}
        assert ((await queued[1])["status"], (await queued[1])["turns"], (await queued[1])["queued"]) == (
            "aborted",
            0,
            True,
        )
        aborted = await client.ask("agent/abort", reason="enough")
        assert aborted == {"aborted": True, "what": "run", "runId": (await run)["runId"]}
        assert client.streamed("abort")[0]["reason"] == "enough"
        assert (await queued[0])["status"] == "completed"
        assert await client.ask("agent/abort") == {"aborted": False}


async def test_all_of_a_runs_messages_come_before_its_result(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        run, _ = await running(client, model)
        await client.ask("agent/abort")
        await run
        last_message = max(at for at, one in enumerate(client.log) if one.get("method") == "agent/message")
        result = next(at for at, one in enumerate(client.log) if (one.get("result") or {}).get("status") == "aborted")
        assert last_message < result


async def test_nothing_about_a_session_comes_before_it_was_answered(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = (await client.ask("agent/session/new", title="T", approvalMode="plan"))["sessionId"]
        first = next(one for one in client.log if session in str(one))
        assert first["result"]["sessionId"] == session


async def test_retry_now_ends_a_wait_and_nothing_else(tmp_path, monkeypatch):
    slow = {"maxRetries": 2, "baseMs": 60_000, "capMs": 60_000}
    async with front_end(tmp_path, monkeypatch, reconnect=slow) as (client, model):
        model.script([fail("timeout", "busy")], [text("back")])
        run = client.send("agent/run", input="go")
        await client.until(lambda: "reconnecting" in [one["state"] for one in client.told("agent/state")])
        told = client.told("agent/state")[-1]
        assert (told["attempt"], told["retryInMs"]) == (1, 60_000)
        assert await client.ask("agent/retryNow") == {"skipped": True}
        assert (await run)["text"] == "back"
        assert await client.ask("agent/retryNow") == {"skipped": False}


async def test_tools_and_models_are_told_without_a_session_and_without_a_key(tmp_path, monkeypatch):
    provider = {"api": "openai-chat", "baseUrl": "http://127.0.0.1:1/v1", "apiKey": "sk-planted", "models": {"m": {}}}
    async with front_end(tmp_path, monkeypatch, providers={"mine": provider}) as (client, _):
        tools = (await client.ask("agent/tools"))["tools"]
        assert {"name", "description", "parameters", "permission", "source"} <= set(tools[0])
        models = await client.ask("agent/models")
        [mine] = [one for one in models["models"] if one["provider"] == "mine"]
        assert mine["hasCredential"] is True
        assert models["defaultModel"] == {"provider": "rehearsal", "model": "rehearsal"}
        assert "sk-planted" not in str(client.log)


@given(
    st.lists(
        st.tuples(st.sampled_from(method_names.METHODS), st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=6)),
        max_size=12,
    )
)
@settings(deadline=None, max_examples=40)
async def test_whatever_is_asked_is_answered_once_and_never_as_a_bug(tmp_path_factory, requests):
    with pytest.MonkeyPatch.context() as patch:
        async with front_end(tmp_path_factory.mktemp("any"), patch) as (client, _):
            sessions = {"open": (await client.ask("agent/session/new"))["sessionId"]}
            answers = []
            for method, params in requests:
                if params.get("sessionId") == "open":
                    params = params | {"sessionId": sessions["open"]}
                answers.append(client.send(method, **params))
            await client.ask("shutdown")
            for answer in answers:
                assert answer.done()
                error = answer.exception()
                assert error is None or error.code != -32603, error


async def test_a_bug_in_a_handler_is_one_line_to_the_client_and_the_rest_to_the_log(tmp_path, monkeypatch, caplog):
    def broken(*_):
        raise ZeroDivisionError("at home")

    async with front_end(tmp_path, monkeypatch) as (client, _):
        monkeypatch.setattr("agent_lsp.server.hub.Hub.list", broken)
        refused = await client.refusal("agent/session/list")
        assert (refused.code, refused.data["kind"]) == (-32603, "internal_error")
        assert "at home" not in str(refused)
        assert "\n" not in refused.message
        assert "at home" in caplog.text


async def test_a_title_is_asked_for_when_the_model_has_nothing_else_to_answer(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, titles=True) as (client, model):
        for said in ("first", "second", "A title"):
            model.script([text(said)])
        opened = await client.ask("agent/session/new")
        runs = [await client.ask("agent/run", sessionId=opened["sessionId"], input="go") for _ in range(2)]
        assert [run["text"] for run in runs] == ["first", "second"]
        assert await client.until(lambda: client.streamed("session_update")) == [
            {"type": "session_update", "title": "A title"}
        ]


async def test_no_command_runs_beside_a_sandbox_that_is_set(tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: None)
    async with front_end(tmp_path, monkeypatch, tools={"sandbox": "bwrap"}, approvalMode="allow-all") as (
        client,
        model,
    ):
        model.script([call("exec_command", '{"cmd": "echo ran > proof"}'), finish("tool_calls")])
        model.script([text("done")])
        await client.ask("agent/run", input="go")
        (output,) = client.streamed("tool_call_output")
        assert "install bubblewrap" in output["output"] and not (tmp_path / "work/proof").exists()


async def test_a_deletion_that_is_cancelled_in_the_same_breath_is_answered_and_leaves_nothing_unawaited(
    tmp_path, monkeypatch
):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = (await client.ask("agent/session/new"))["sessionId"]
        deletion, answer = client.prepare("agent/session/delete", sessionId=session)
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            client.say(deletion, {"method": "$/cancelRequest", "params": {"id": deletion["id"]}})
            await asyncio.wait([answer])
            gc.collect()
        assert answer.exception().code == -32800
        assert [str(one.message) for one in warned] == []
