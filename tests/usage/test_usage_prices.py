import subprocess
import sys

import pytest

from agent_lsp.config.sections import Model, Prices, Provider
from agent_lsp.messages.events import TokenCounts
from agent_lsp.usage import prices as prices_module
from agent_lsp.usage.prices import PriceList

COUNTS = TokenCounts(cache_read=1_000_000, cache_write=1_000_000, output=1_000_000, total=3_000_000)
AT = "2026-11-29T12:00:00.000Z"


def configured(provider="local", **prices):
    return PriceList({provider: Provider(api="openai-chat", models={"m": Model(prices=Prices(**prices))})})


def test_configured_prices_are_dollars_for_a_million_tokens():
    assert configured(input=1.0, cache_read=0.1, output=5.0).cost_usd("local", "m", COUNTS, AT) == pytest.approx(6.1)


def test_where_writing_to_the_cache_has_a_price_new_input_costs_that():
    assert configured(input=1.0, cache_write=1.25).cost_usd("local", "m", COUNTS, AT) == pytest.approx(1.25)


def test_a_price_of_nothing_is_known_and_no_price_is_unknown():
    assert configured().cost_usd("local", "m", COUNTS, AT) == 0.0
    assert configured().cost_usd("local", "other", COUNTS, AT) is None
    assert PriceList({}).cost_usd("rehearsal", "rehearsal", COUNTS, AT) is None


def test_another_process_reads_the_same_prices():
    read = PriceList.read(configured(input=1.0, cache_read=0.1, output=5.0).written())
    assert read.cost_usd("local", "m", COUNTS, AT) == pytest.approx(6.1)
    assert PriceList.read(PriceList({}).written()).cost_usd("local", "m", COUNTS, AT) is None
    for nonsense in ("", "[]", '{"local": {"m": {"input": "much"}}}', '{"local": {"m": {"input": -1}}}'):
        with pytest.raises(ValueError, match="validation error"):
            PriceList.read(nonsense)


def test_the_list_knows_the_built_in_providers_and_not_every_model():
    pytest.importorskip("genai_prices")
    counts = TokenCounts(cache_read=1000, cache_write=1000, output=100, total=2100)

    assert PriceList({}).cost_usd("anthropic", "claude-sonnet-4-5", counts, AT) == pytest.approx(0.00555)
    assert PriceList({}).cost_usd("gemini", "gemini-2.5-pro", counts, AT)
    assert PriceList({}).cost_usd("anthropic", "no-such-model", counts, AT) is None


def test_what_is_configured_goes_before_the_list():
    prices = PriceList({"anthropic": Provider(models={"claude-sonnet-4-5": Model(prices=Prices(output=2.0))})})

    assert prices.cost_usd("anthropic", "claude-sonnet-4-5", COUNTS, AT) == pytest.approx(2.0)


def test_without_the_list_its_prices_are_unknown(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    prices_module._is_list_installed.cache_clear()
    try:
        assert PriceList({}).cost_usd("anthropic", "claude-sonnet-4-5", COUNTS, AT) is None
    finally:
        prices_module._is_list_installed.cache_clear()


def test_the_list_is_imported_when_it_is_asked_and_not_before():
    asked = "import sys, agent_lsp.usage.store, agent_lsp.usage.metered, agent_lsp.usage.prices as p; p.PriceList({})"
    told = subprocess.run(
        [sys.executable, "-c", f"{asked}; print({{'genai_prices', 'sqlite3'}} & set(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.strip() == "set()"
