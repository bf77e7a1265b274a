"""What tokens cost: the prices that were configured, else those of the bundled price list, else unknown.

The list (`genai-prices`, optional) is data in a package: nothing is fetched. Its import takes a tenth of a second, so
it happens when a price of it is asked for, and never on the event loop.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache

from pydantic import TypeAdapter

from agent_lsp.config.sections import Model, Prices, Provider
from agent_lsp.messages.events import TokenCounts

_log = logging.getLogger(__name__)
_MILLION = 1_000_000

Cost = Callable[[str, str, TokenCounts, str], float | None]
"""(provider, model, tokens, ISO timestamp) → US dollars, or None when the price is unknown."""

_LISTED_AS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "openrouter": "openrouter",
    "deepseek": "deepseek",
    "mistral": "mistral",
    "groq": "groq",
    "xai": "x-ai",
    "zai": "zai",
    "moonshot": "moonshotai",
    "together": "together",
    "fireworks": "fireworks",
    "cerebras": "cerebras",
}
"""Built-in provider → its name in the price list. The others (local servers, rehearsal, your own) are not in it."""

_WRITES_CACHE = frozenset({"anthropic"})
"""Where input that was not read from the cache is written to it (its requests are marked so), at a price of its own."""


class PriceList:
    """Says what requests cost. Safe to use from any thread."""

    @classmethod
    def read(cls, written: str) -> PriceList:
        """The list that `written` was made of. ValueError when it is none."""
        prices = _written_form().validate_json(written)
        return cls({name: _provider(models) for name, models in prices.items()})

    def __init__(self, providers: Mapping[str, Provider]) -> None:
        self._configured = {
            (provider, model): settings.prices
            for provider, entry in providers.items()
            for model, settings in entry.models.items()
            if settings.prices is not None
        }

    def written(self) -> str:
        """The configured prices as JSON, by provider and model, for another process to `read`."""
        by_provider: dict[str, dict[str, Prices]] = {}
        for (provider, model), prices in self._configured.items():
            by_provider.setdefault(provider, {})[model] = prices
        return _written_form().dump_json(by_provider).decode()

    def cost_usd(self, provider: str, model: str, tokens: TokenCounts, ts: str) -> float | None:
        """US dollars for a request that ended at `ts` (prices change); None when the price is unknown."""
        if (prices := self._configured.get((provider, model))) is not None:
            return _at(prices, tokens)
        listed = _LISTED_AS.get(provider)
        return _listed_cost(listed, model, tokens, ts, written=provider in _WRITES_CACHE) if listed else None


@cache
def _written_form() -> TypeAdapter[dict[str, dict[str, Prices]]]:
    return TypeAdapter(dict[str, dict[str, Prices]])


def _provider(prices: Mapping[str, Prices]) -> Provider:
    return Provider(models={model: Model(prices=one) for model, one in prices.items()})


def _at(prices: Prices, tokens: TokenCounts) -> float:
    """The counts do not tell written input from the rest: where writing has a price, all of it counts as written."""
    uncached = prices.cache_write or prices.input
    return (
        tokens.cache_read * prices.cache_read + tokens.cache_write * uncached + tokens.output * prices.output
    ) / _MILLION


def _listed_cost(provider: str, model: str, tokens: TokenCounts, ts: str, *, written: bool) -> float | None:
    if not _is_list_installed():
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=tokens.cache_read + tokens.cache_write,
        cache_read_tokens=tokens.cache_read or None,
        cache_write_tokens=tokens.cache_write if written else None,
        output_tokens=tokens.output,
    )
    try:
        priced = calc_price(usage, model, provider_id=provider, genai_request_timestamp=datetime.fromisoformat(ts))
    except (LookupError, ValueError):  # no such model in the list, or one that it prices in another way
        return None
    return float(priced.total_price)


@cache
def _is_list_installed() -> bool:
    try:
        import genai_prices  # noqa: F401  # pyright: ignore[reportUnusedImport] - whether it can be
    except ImportError as error:
        _log.info("costs of models without configured prices are unknown: %s", error)
        return False
    return True
