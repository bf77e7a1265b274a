"""A model behind generateContent."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from agent_lsp.providers import switches, thinking
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.encoding import has_own
from agent_lsp.providers.exchange import exchange
from agent_lsp.providers.gemini.request import JSON_SCHEMA, REPLY_JSON_SCHEMA, REPLY_SCHEMA, GeminiEncoder, reply_format
from agent_lsp.providers.gemini.stream import ADAPTER, GeminiReader
from agent_lsp.providers.headers import BEARER, headers_for

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM, Part, Request
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.failure import Fault

_VERSION = re.compile(r"/v\d\w*(/|$)")
_SIGNATURE = re.compile(r"thought[ _]?signature", re.I)
_SCHEMA = (JSON_SCHEMA, "parameters_json_schema")
_REPLY_JSON_SCHEMA = (REPLY_JSON_SCHEMA, "response_json_schema")
_REPLY = (
    *_REPLY_JSON_SCHEMA,
    REPLY_SCHEMA,
    "response_schema",
    "responseMimeType",
    "response_mime_type",
    "response mime type",
    "schema",
    "JSON mode",
    "controlled generation",
)
_LEVEL = (
    "thinking",
    "thinking_level",
    "thinkingLevel",
    "thinking_budget",
    "thinkingBudget",
    "thinkingConfig",
    "budget",
)


class GeminiModel:
    """Keeps what it encoded of the contexts that it was sent, and nothing else."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._encoder = GeminiEncoder(endpoint)

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply."""
        return exchange(self._endpoint, _GeminiTalk(self._endpoint, self._encoder, request))


class _GeminiTalk:
    """One request, sent again without what the server refuses."""

    def __init__(self, endpoint: Endpoint, encoder: GeminiEncoder, request: Request) -> None:
        self._endpoint, self._encoder, self._request = endpoint, encoder, request
        self._refused = switches.refused_by(endpoint)
        self._with_signatures = True
        self.url = _url(endpoint)
        is_vertex = endpoint.host.endswith("aiplatform.googleapis.com")
        self.headers = headers_for(endpoint, BEARER if is_vertex else "x-goog-api-key")

    def body(self) -> bytes:
        """The request as it is to be sent now."""
        return self._encoder.body(self._request, frozenset(self._refused), with_signatures=self._with_signatures)

    def decoder(self) -> BodyDecoder:
        """A decoder for the reply."""
        return BodyDecoder(GeminiReader(self._endpoint.provider), self._endpoint.secrets)

    def lower(self, fault: Fault) -> str | None:
        """Gives up earlier signatures where the fault is about them, else the switch that it names.

        A signature that the provider does not take again would block the session for good. That is given up for this
        request only.
        """
        if _SIGNATURE.search(fault.message):
            if not self._with_signatures or not has_own(self._request, ADAPTER):
                return None
            self._with_signatures = False
            return "the signatures of earlier turns"
        if JSON_SCHEMA not in self._refused and self._request.tools and switches.names(fault, *_SCHEMA):
            self._refused.add(JSON_SCHEMA)
            return JSON_SCHEMA
        if switch := self._refused_format(fault):
            self._refused.add(switch)
            return switch
        words = self._encoder.wording(self._request, frozenset(self._refused))
        if words and switches.names(fault, *_LEVEL):
            self._refused.add(thinking.given_up(words, fault))
            return f"thinking level {self._request.thinking_level}"
        return None

    def _refused_format(self, fault: Fault) -> str | None:
        """What of the reply's format the fault names: the field alone, or that the reply has to fit a schema at all."""
        in_use = reply_format(self._request, frozenset(self._refused))
        if REPLY_JSON_SCHEMA in in_use and switches.names(fault, *_REPLY):
            if not switches.names(fault, *_REPLY_JSON_SCHEMA):
                self._refused.add(REPLY_SCHEMA)
            return REPLY_JSON_SCHEMA
        return REPLY_SCHEMA if REPLY_SCHEMA in in_use and switches.names(fault, *_REPLY) else None


def _url(endpoint: Endpoint) -> str:
    """The streaming method of the model; a base without a version gets the usual one. The key stays out of it."""
    version = "" if _VERSION.search(urlsplit(endpoint.base_url).path) else "/v1beta"
    model = endpoint.model if "/" in endpoint.model else f"models/{endpoint.model}"
    parts = urlsplit(endpoint.url(f"{version}/{quote(model)}:streamGenerateContent"))
    return urlunsplit(parts._replace(query="&".join(filter(None, (parts.query, "alt=sse")))))


if TYPE_CHECKING:
    _: type[LLM] = GeminiModel
