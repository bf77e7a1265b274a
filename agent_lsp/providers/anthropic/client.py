"""A model behind the Messages API."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from agent_lsp.providers import switches, thinking
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.anthropic.stream import MessagesReader
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.exchange import exchange
from agent_lsp.providers.headers import headers_for

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM, Part, Request
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.failure import Fault

_ABOUT_HISTORY = re.compile(r"messages\.\d+")
_PATH = "/v1/messages"


class MessagesModel:
    """Keeps what it encoded of the contexts that it was sent, and nothing else."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._encoder = MessagesEncoder(endpoint)

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply."""
        return exchange(self._endpoint, _MessagesTalk(self._endpoint, self._encoder, request))


class _MessagesTalk:
    """One request, sent again without what the server refuses."""

    def __init__(self, endpoint: Endpoint, encoder: MessagesEncoder, request: Request) -> None:
        self._endpoint, self._encoder, self._request = endpoint, encoder, request
        self._refused = switches.refused_by(endpoint)
        self._with_thoughts = True
        has_version = endpoint.url("").endswith("/v1")
        self.url = endpoint.url(_PATH.removeprefix("/v1") if has_version else _PATH)
        self.headers = headers_for(endpoint, "x-api-key", anthropic_version="2023-06-01")

    def body(self) -> bytes:
        """The request as it is to be sent now."""
        return self._encoder.body(self._request, frozenset(self._refused), with_thoughts=self._with_thoughts)

    def decoder(self) -> BodyDecoder:
        """A decoder for the reply."""
        return BodyDecoder(MessagesReader(), self._endpoint.secrets)

    def lower(self, fault: Fault) -> str | None:
        """Gives up earlier thinking where a message of the history is named, else the wording of the level.

        A signature that the provider does not take again would block the session for good; without the thinking it is
        accepted. That is given up for this request only.
        """
        if self._request.response_schema and switches.names(fault, "tool_choice", "input_schema", "tools"):
            if "response_schema" in self._refused:
                return None
            self._refused.add("response_schema")
            return "the schema of the reply"
        if not switches.names(fault, "thinking", "signature", "effort", "output_config", "redacted_thinking"):
            return None
        if _ABOUT_HISTORY.search(fault.message) or switches.names(fault, "signature"):
            if not self._with_thoughts:
                return None
            self._with_thoughts = False
            return "the thinking of earlier turns"
        words = thinking.wording(
            thinking.claude_style(self._endpoint.model), self._request.thinking_level, frozenset(self._refused)
        )
        if not words:
            return None
        self._refused.add(thinking.given_up(words, fault))
        return f"thinking level {self._request.thinking_level}"


if TYPE_CHECKING:
    _: type[LLM] = MessagesModel
