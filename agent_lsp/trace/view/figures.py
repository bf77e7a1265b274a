"""Numbers as a person reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.events import TokenCounts

if TYPE_CHECKING:
    from agent_lsp.trace.view.spans import RequestSpan

Cost = Callable[[str, str, TokenCounts, str], float | None]
"""(provider, model, tokens, ISO timestamp) → US dollars, or None when the price is unknown."""

_MINUTE_S, _HOUR_S, _DAY_S = 60, 3600, 86400


def short_count(number: int) -> str:
    """`940`, `12.3k`, `1.4M`."""
    for unit, size in (("M", 1_000_000), ("k", 1000)):
        if number >= size * 0.99995:
            return f"{number / size:.1f}".removesuffix(".0") + unit
    return str(number)


def duration(seconds: float) -> str:
    """`40 ms`, `2.3 s`, `4 m 05 s`, `3 h 20 m`, `2 d 4 h`."""
    if seconds < 1:
        return f"{max(0, round(seconds * 1000))} ms"
    if seconds < _MINUTE_S:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < _HOUR_S:
        return f"{whole // _MINUTE_S} m {whole % _MINUTE_S:02d} s"
    if whole < _DAY_S:
        return f"{whole // _HOUR_S} h {whole % _HOUR_S // _MINUTE_S:02d} m"
    return f"{whole // _DAY_S} d {whole % _DAY_S // _HOUR_S} h"


def money(usd: float | None) -> str:
    """`$1.25`, `$0.0042`; a dash when nobody knows."""
    if usd is None:
        return "–"
    return f"${usd:,.2f}" if usd >= 1 or usd == 0 else f"${usd:.4f}" if usd >= 0.0001 else "<$0.0001"


def plural(number: int, one: str, many: str | None = None) -> str:
    """`1 request`, `2 requests`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def request_cost(request: RequestSpan, cost: Cost) -> float | None:
    """What one request cost."""
    if request.tokens is None or request.ended_s is None:
        return None
    provider, _, model = request.model.partition("/")
    return cost(provider, model, request.tokens, timestamp(request.ended_s))


def summed(costs: Iterable[float | None]) -> float | None:
    """What is known of the costs; None when nothing is."""
    known = [one for one in costs if one is not None]
    return sum(known) if known else None
