"""Budgets through the whole front end."""

import pytest

from agent_lsp.providers.scripted import call, text
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
READ = call("list_files", {})


async def test_a_run_that_reaches_the_budget_of_the_settings_fails_and_says_so(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, budget={"tokensPerRun": 15}) as (client, model):
        model.script([READ], [text("done")])
        result = await client.ask("agent/run", input="go")
        assert (result["status"], result["turns"]) == ("failed", 1)
        assert result["errorMessage"] == "budget reached: this run has used 15 tokens of 15"
        assert client.streamed("text")[-1]["text"] == "[budget reached: this run has used 15 tokens of 15; stopping]"


async def test_a_run_may_bring_a_budget(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([READ], [text("done")], [READ], [text("done")])
        assert (await client.ask("agent/run", input="go", budget={"tokens": 10}))["status"] == "failed"
        assert (await client.ask("agent/run", input="go"))["status"] == "completed"


async def test_dollars_count_where_the_price_is_known(tmp_path, monkeypatch):
    prices = {"input": 100_000.0, "output": 100_000.0}
    known = {"p": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "apiKey": "k", "models": {"m": {}}}}
    known["p"]["models"]["m"]["prices"] = prices
    options = {"providers": known, "defaultModel": "p/m"}
    async with front_end(tmp_path, monkeypatch, **options) as (client, model):
        model.script([READ], [text("done")])
        result = await client.ask("agent/run", input="go", budget={"usd": 1.0})
        assert result["errorMessage"] == "budget reached: this run has cost $1.5000 of $1"


@pytest.mark.parametrize("budget", [{"usd": 0}, {"tokens": 0}, {"tokens": 1.5}, {"usd": "1"}, 5])
async def test_a_budget_that_is_none_is_refused(tmp_path, monkeypatch, budget):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        refused = await client.refusal("agent/run", input="go", budget=budget)
        assert refused.code == -32602 and refused.fields[0].startswith("budget")
