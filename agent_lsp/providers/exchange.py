"""One request and its reply, whatever the dialect: send, read, judge. Nothing is retried but a refused switch."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Protocol

from agent_lsp.engine.ports import Outcome, Part
from agent_lsp.providers import egress
from agent_lsp.providers.failure import Fault, TransportError, judge, judge_transport, one_line, read_answer
from agent_lsp.providers.http import Answer, post
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.providers.decoder import BodyDecoder
    from agent_lsp.providers.endpoint import Endpoint

log = logging.getLogger(__name__)

_GRACE_S = 2.0
"""How long a reply that said how it ended may take to tell its accounts: some servers never close."""
_DRAIN_S = 0.25
_LOWERABLE = (400, 422)
_now_s = time.monotonic


class Talk(Protocol):
    """One request in one dialect."""

    @property
    def url(self) -> str:
        """Where it goes."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """What goes with it, the credential too."""
        ...

    def body(self) -> bytes:
        """The request as it is to be sent now. Raises ValueError where it cannot be encoded."""
        ...

    def decoder(self) -> BodyDecoder:
        """A fresh decoder for the reply."""
        ...

    def lower(self, fault: Fault) -> str | None:
        """Gives up the switch that the fault names: its name, None if nothing is left to give up."""
        ...


async def exchange(endpoint: Endpoint, talk: Talk) -> AsyncGenerator[Part, None]:
    """The reply's parts, the outcome last. A refused switch is given up and the request sent again, once each."""
    while True:
        fault: Fault | None = None
        try:
            body = talk.body()
        except ValueError as error:
            said = one_line(f"the request cannot be encoded: {error}", endpoint.secrets)
            yield Outcome("failed", said, permanent=True)
            return
        egress.note(endpoint, len(body))
        silence_s = min(endpoint.request_timeout_s, endpoint.content_timeout_s)
        try:
            async with post(
                talk.url, talk.headers, body, silence_s=silence_s, is_loopback=endpoint.is_loopback
            ) as answer:
                if 200 <= answer.status < 300:
                    async with aclosing(_read(answer, talk.decoder(), endpoint.content_timeout_s)) as parts:
                        async for part in parts:
                            yield part
                    return
                fault = read_answer(answer.status, answer.headers, await answer.error_body())
        except TransportError as error:
            yield judge_transport(error, endpoint.secrets)
            return
        outcome = judge(fault, endpoint.secrets)
        is_lowerable = fault.status in _LOWERABLE and outcome.status == "failed" and not outcome.context_length
        switch = talk.lower(fault) if is_lowerable else None
        if switch is None:
            yield _with_remedy(outcome, endpoint)
            return
        log.info("%s/%s refuses %s: sent again without it", endpoint.provider, endpoint.model, switch)


def _with_remedy(outcome: Outcome, endpoint: Endpoint) -> Outcome:
    """The outcome; of a refused key also what to do, since that is all a person can act on."""
    if outcome.status != "auth":
        return outcome
    remedy = f"check the key of {endpoint.provider}; `agent-lsp doctor` says where it comes from"
    return replace(outcome, message=f"{(outcome.message or 'refused').rstrip('.')}; {remedy}")


async def _read(answer: Answer, decoder: BodyDecoder, content_timeout_s: float) -> AsyncGenerator[Part, None]:
    """The parts of a reply. Time counts only while waiting for the provider, never while a part is being handled."""
    waited_s = 0.0
    async with aclosing(answer.chunks()) as chunks:
        while not decoder.is_over:
            before = _now_s()
            chunk = await (_next_soon(chunks, _GRACE_S) if decoder.is_settled else _next(chunks))
            waited_s += _now_s() - before
            parts = decoder.close() if chunk is None else decoder.feed(chunk)
            if parts:
                waited_s = 0.0
            elif waited_s > content_timeout_s:
                raise TransportError("no_content")
            for part in parts:
                yield part
        while await _next_soon(chunks, _DRAIN_S) is not None:
            pass  # read to its end, the connection can be used again


async def _next(chunks: AsyncGenerator[bytes, None]) -> bytes | None:
    """The next chunk, None at the end."""
    try:
        return await chunks.__anext__()
    except StopAsyncIteration:
        return None


async def _next_soon(chunks: AsyncGenerator[bytes, None], within_s: float) -> bytes | None:
    """The next chunk, None at the end, when it breaks and when nothing comes in time."""
    try:
        async with asyncio.timeout(within_s):
            return await _next(chunks)
    except (TimeoutError, TransportError):
        return None
