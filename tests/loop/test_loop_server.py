"""Loop mode through the whole front end: how it is chosen, what is refused, what a client can see, what is resumed."""

import json

import pytest

from agent_lsp.app import models
from agent_lsp.providers.scripted import call, fail, text
from tests.server.front_end import front_end

REFUSAL = fail("failed", "HTTP 400: registry.ollama.ai/library/gemma does not support tools")


def provider(**model):
    own = {"api": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "models": {"m": model}}
    return {"providers": {"local": own}, "defaultModel": "local/m"}


def decision(tool, input):
    return [text(json.dumps({"tool": tool, "input": input}))]


def answer(words):
    return decision("final_answer", {"answer": words})


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "mode, calls, asked, says",
    [
        ("auto", False, None, "loop"),
        ("auto", True, None, "native"),
        ("loop", True, None, "loop"),
        ("loop", True, "native", "native"),
        ("native", False, None, "native"),
        ("auto", True, "loop", "loop"),
    ],
)
async def test_the_mode_of_a_session(tmp_path, monkeypatch, mode, calls, asked, says):
    async with front_end(tmp_path, monkeypatch, mode=mode, **provider(toolCalling=calls)) as (client, _):
        info = await client.ask("agent/session/new", **({"mode": asked} if asked else {}))
        assert info["mode"] == says


@pytest.mark.asyncio
async def test_auto_goes_over_to_loop_mode_when_tools_are_refused(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, mode="auto", **provider(toolCalling=True)) as (client, model):
        session = (await client.ask("agent/session/new"))["sessionId"]
        model.script([REFUSAL], decision("list_files", {}), answer("done"))
        result = await client.ask("agent/run", sessionId=session, input="go")
        assert (result["text"], result["loop"]) == ("done", {"outcome": "final_answer"})
        assert model.requests[0].tools and not model.requests[1].tools
        assert client.streamed("session_update") == [{"type": "session_update", "mode": "loop"}]
        snap = await client.ask("agent/session/snapshot", sessionId=session)
        assert [turn["prompt"] for turn in snap["turns"]] == ["go"]
        model.script(answer("again"))
        await client.ask("agent/run", sessionId=session, input="more")
        assert not model.requests[-1].tools
        assert (await client.ask("agent/session/list"))["sessions"][0]["mode"] == "loop"


@pytest.mark.asyncio
async def test_a_session_that_was_asked_to_be_native_stays_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, mode="auto", **provider(toolCalling=True)) as (client, model):
        session = (await client.ask("agent/session/new", mode="native"))["sessionId"]
        model.script([fail("failed", "this model does not support tools", permanent=True)])
        assert (await client.ask("agent/run", sessionId=session, input="go"))["status"] == "failed"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "params, field",
    [
        ({"mode": "loop", "limits": {"maxStepsPerTurn": "many"}}, "limits.maxStepsPerTurn"),
        (
            {"mode": "loop", "limits": {"historyCompressionThresholdTokens": 0}},
            "limits.historyCompressionThresholdTokens",
        ),
        (
            {"mode": "loop", "limits": {"historyCompressionMaxSummaryTokens": 199}},
            "limits.historyCompressionMaxSummaryTokens",
        ),
        ({"mode": "loop", "preparation": {"text": "", "retries": 1}}, "preparation.text"),
        ({"mode": "loop", "preparation": {"text": "x", "retries": -1}}, "preparation.retries"),
        ({"mode": "loop", "initialHistory": [{"role": "system", "message": "x"}]}, "initialHistory[0].role"),
        ({"mode": "loop", "initialHistory": [{"role": "user", "message": " "}]}, "initialHistory[0].message"),
        ({"mode": "native", "limits": {}}, "limits"),
        ({"mode": "native", "preparation": {"text": "x"}}, "preparation"),
    ],
)
async def test_what_a_new_session_is_refused_for(tmp_path, monkeypatch, params, field):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        assert (await client.refusal("agent/session/new", **params)).fields == [field]


@pytest.mark.asyncio
async def test_what_a_run_is_refused_for(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        native = (await client.ask("agent/session/new"))["sessionId"]
        for given, field in (({"expected": "x"}, "expected"), ({"maxRetries": 1}, "maxRetries")):
            assert (await client.refusal("agent/run", sessionId=native, input="go", **given)).fields == [field]
        loop = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        assert (await client.refusal("agent/run", sessionId=loop, input="go", maxRetries=-1)).fields == ["maxRetries"]


@pytest.mark.asyncio
async def test_limits_of_the_settings_and_of_the_session(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, loop={"maxErrors": 2, "maxStepsPerTurn": 9}) as (client, _):
        session = (await client.ask("agent/session/new", mode="loop", limits={"maxErrors": 3}))["sessionId"]
        options = (await client.ask("agent/session/snapshot", sessionId=session))["options"]
        assert (options["maxErrors"], options["maxStepsPerTurn"]) == (3, 9)


@pytest.mark.asyncio
async def test_a_loop_session_goes_on_in_another_process(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        session = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        model.script(decision("list_files", {}), decision("nope", {}), answer("one"))
        model.script(answer("Lyon"), decision("cannot_complete", {"reason": "who knows"}))
        await client.ask("agent/run", sessionId=session, input="first")
        await client.ask("agent/run", sessionId=session, input="second", expected="Paris")
        before = await client.ask("agent/session/snapshot", sessionId=session)
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        assert (await client.ask("agent/session/resume", sessionId=session))["mode"] == "loop"
        assert await client.ask("agent/session/snapshot", sessionId=session) == before
        model.script(answer("It was $$list_files-res-1"))
        result = await client.ask("agent/run", sessionId=session, input="third")
        assert result["text"].startswith("It was ") and "$$" not in result["text"]
        assert not model.requests[-1].tools


@pytest.mark.asyncio
async def test_a_preparation_runs_in_a_session_that_nobody_sees(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        preparation = {"text": "Look around.", "tools": ["list_files"]}
        session = (await client.ask("agent/session/new", mode="loop", preparation=preparation))["sessionId"]
        model.script(decision("list_files", {}), answer('@kind := "python"'), answer("done"))
        result = await client.ask("agent/run", sessionId=session, input="go")
        assert result["text"] == "done" and len(client.streamed("tool_call")) == 0
        assert "exec_command" not in model.requests[0].system
        assert '@kind := "python"' in model.requests[2].input[-1].text
        listed = await client.ask("agent/session/list")
        assert [one["sessionId"] for one in listed["sessions"]] == [session]


@pytest.mark.asyncio
async def test_a_reserved_decision_is_no_line_of_the_progress(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        model.script(decision("list_files", {}), decision("cannot_complete", {"reason": "no"}))
        await client.ask("agent/run", sessionId=session, input="go", workDoneToken="t")
        lines = [one["value"].get("message") for one in client.told("$/progress")]
        assert "turn 1 · list_files" in lines and not any("cannot_complete" in (line or "") for line in lines)


@pytest.mark.asyncio
async def test_the_mode_and_the_model_change_together_with_what_is_sent(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        model.script(
            decision("list_files", {}), answer("one"), [call("list_files", {})], [text("two")], answer("three")
        )
        await client.ask("agent/run", sessionId=session, input="a")
        await client.ask("agent/session/update", sessionId=session, mode="native")
        result = await client.ask("agent/run", sessionId=session, input="b")
        assert result["text"] == "two" and "loop" not in result and model.requests[2].tools
        assert (await client.ask("agent/session/snapshot", sessionId=session))["type"] == "native"
        await client.ask("agent/session/update", sessionId=session, mode="loop", model="rehearsal/rehearsal")
        assert (await client.ask("agent/run", sessionId=session, input="c"))["loop"] == {"outcome": "final_answer"}
        assert not model.requests[4].tools
        snap = await client.ask("agent/session/snapshot", sessionId=session)
        assert [turn["prompt"] for turn in snap["turns"]] == ["a", "c"]


@pytest.mark.asyncio
async def test_a_client_that_answers_with_an_error_is_counted(tmp_path, monkeypatch):
    from tests.server.front_end import Refused

    async with front_end(tmp_path, monkeypatch) as (client, model):

        def broken(params):
            raise Refused({"code": -32603, "message": "the dialog broke"})

        client.handlers["agent/approve"] = broken
        session = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        model.script(decision("write_file", {"file_path": "a", "content": "x"}), answer("done"))
        await client.ask("agent/run", sessionId=session, input="go")
        assert (await client.ask("agent/session/snapshot", sessionId=session))["errorCount"] == 1


@pytest.mark.asyncio
async def test_another_model_may_write_the_summary(tmp_path, monkeypatch):
    from agent_lsp.providers.scripted import Scripted

    low = {"historyCompressionThresholdTokens": 5, "historyCompressionKeepRecentEntries": 0}
    other = provider()["providers"]
    async with front_end(tmp_path, monkeypatch, providers=other) as (client, model):
        limits = {**low, "historyCompressionModel": "local/m"}
        session = (await client.ask("agent/session/new", mode="loop", limits=limits))["sessionId"]
        model.script(answer("x" * 100))
        await client.ask("agent/run", sessionId=session, input="a")
        summarizer = Scripted([[text("[summary]short[/summary]")]])
        monkeypatch.setattr(models, "LazyLLM", lambda find: summarizer)
        model.script(answer("done"))
        assert (await client.ask("agent/run", sessionId=session, input="b"))["text"] == "done"
        assert len(summarizer.requests) == 1 and "short" in model.requests[-1].history[0].messages[0].text


@pytest.mark.asyncio
async def test_model_and_thinking_level_of_a_prompt_stay(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, thinkingLevel="low") as (client, model):
        session = (await client.ask("agent/session/new", mode="loop"))["sessionId"]
        model.script(answer("one"), answer("two"))
        await client.ask("agent/run", sessionId=session, input="a", thinkingLevel="high")
        await client.ask("agent/run", sessionId=session, input="b")
        assert [request.thinking_level for request in model.requests] == ["high", "high"]
