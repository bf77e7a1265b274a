"""A model behind the Responses API."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from agent_lsp.providers import switches, thinking
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.encoding import has_own
from agent_lsp.providers.exchange import exchange
from agent_lsp.providers.headers import BEARER, headers_for
from agent_lsp.providers.openai_responses.request import ResponsesEncoder
from agent_lsp.providers.openai_responses.stream import ADAPTER, ResponsesReader

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM, Part, Request
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.failure import Fault

_ABOUT_HISTORY = re.compile(
    r"encrypted[ _]content .*(verified|decrypt|parsed|invalid)|invalid_encrypted_content|without its required"
    r"|Item (with id )?'?(rs|msg|fc)_",
    re.I,
)
_WORDS: Mapping[str, tuple[str, ...]] = {
    "include": ("include", "reasoning.encrypted_content", "encrypted content is not supported"),
    "summary": ("reasoning.summary", "summary", "summaries"),
    "store": ("store",),
    "max_output_tokens": ("max_output_tokens",),
    "prompt_cache_key": ("prompt_cache_key",),
    "text": ("text.format", "text", "response_format", "json_schema", "schema", "structured outputs", "grammar"),
}
_LEVEL = ("reasoning.effort", "reasoning", "effort")


class ResponsesModel:
    """Keeps what it encoded of the contexts that it was sent, and nothing else."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._encoder = ResponsesEncoder(endpoint)

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply."""
        return exchange(self._endpoint, _ResponsesTalk(self._endpoint, self._encoder, request))


class _ResponsesTalk:
    """One request, sent again without what the server refuses."""

    def __init__(self, endpoint: Endpoint, encoder: ResponsesEncoder, request: Request) -> None:
        self._endpoint, self._encoder, self._request = endpoint, encoder, request
        self._refused = switches.refused_by(endpoint)
        self._with_thoughts = True
        self.url = endpoint.url("/responses")
        self.headers = headers_for(endpoint, "api-key" if endpoint.host.endswith(".openai.azure.com") else BEARER)

    def body(self) -> bytes:
        """The request as it is to be sent now."""
        return self._encoder.body(self._request, frozenset(self._refused), with_thoughts=self._with_thoughts)

    def decoder(self) -> BodyDecoder:
        """A decoder for the reply."""
        reader = ResponsesReader(self._endpoint.provider, self._endpoint.secrets)
        return BodyDecoder(reader, self._endpoint.secrets)

    def lower(self, fault: Fault) -> str | None:
        """Gives up earlier reasoning where the fault is about it, else the first switch in use that it names.

        Reasoning that the provider cannot read any more would block the session for good; without it the history is
        accepted. That is given up for this request only.
        """
        said = f"{fault.message} {' '.join(fault.codes)}"
        if _ABOUT_HISTORY.search(said):
            if not self._with_thoughts or not has_own(self._request, ADAPTER):
                return None
            self._with_thoughts = False
            return "the reasoning of earlier turns"
        refused = frozenset(self._refused)
        words = self._encoder.wording(self._request, refused)
        in_use = {*self._encoder.optional(self._request, refused), *(["summary"] if words else [])} - refused
        for switch, names in _WORDS.items():
            if switch in in_use and switches.names(fault, *names):
                self._refused.add(switch)
                return switch
        if words and thinking.is_about(words, fault) and switches.names(fault, *_LEVEL):
            self._refused.add(thinking.given_up(words, fault))
            return f"thinking level {self._request.thinking_level}"
        return None


if TYPE_CHECKING:
    _: type[LLM] = ResponsesModel
