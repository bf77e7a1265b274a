"""Tries a model out: the smallest request that shows whether it can be used."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agent_lsp.engine.ports import LLM, Outcome, Request
from agent_lsp.messages.content import Text
from agent_lsp.providers.build import build
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint

WITHIN_S = 60.0
_MAX_TOKENS = 1_024
"""Enough for a model that thinks before it says a word; the reply is dropped at its first piece."""
_REQUEST = Request("", (), (), (Text(role="user", text="Reply with the word OK."),))


async def test_model(endpoint: Endpoint, *, within_s: float = WITHIN_S) -> dict[str, Any]:
    """`{ok, latencyMs, status, message?}`: whether a reply begins, and how long that took. Never raises."""
    limit = min(endpoint.max_output_tokens or _MAX_TOKENS, _MAX_TOKENS)
    began_s = time.monotonic()
    try:
        async with asyncio.timeout(within_s):
            outcome = await _first(build(replace(endpoint, max_output_tokens=limit)))
    except TimeoutError:
        outcome = Outcome("timeout", f"no answer within {within_s:g} s")
    result: dict[str, Any] = {
        "ok": outcome.status == "completed",
        "latencyMs": round((time.monotonic() - began_s) * 1000),
        "status": outcome.status,
    }
    return result | ({"message": outcome.message} if outcome.message else {})


async def _first(llm: LLM) -> Outcome:
    """How the request ended; a piece of a reply is success enough."""
    async with aclosing(llm.stream(_REQUEST)) as parts:
        async for part in parts:
            return part if isinstance(part, Outcome) else Outcome("completed")
    return Outcome("malformed", "the reply ended without its end")
