"""A model behind a Chat Completions server."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING

from agent_lsp.providers import switches, thinking
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.exchange import exchange
from agent_lsp.providers.headers import headers_for
from agent_lsp.providers.openai_chat.dialect import Dialect, dialect_of
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.providers.openai_chat.stream import ChatReader

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM, Part, Request
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.failure import Fault

_LEVEL = ("reasoning", "reasoning.effort", "reasoningEffort", "thinking", "effort")


class ChatModel:
    """Keeps what it encoded of the contexts that it was sent, and nothing else."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._dialect = dialect_of(endpoint)
        self._encoder = ChatEncoder(endpoint, self._dialect)

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply."""
        return exchange(self._endpoint, _ChatTalk(self._endpoint, self._dialect, self._encoder, request))


class _ChatTalk:
    """One request, sent again without what the server refuses."""

    def __init__(self, endpoint: Endpoint, dialect: Dialect, encoder: ChatEncoder, request: Request) -> None:
        self._endpoint, self._dialect, self._encoder, self._request = endpoint, dialect, encoder, request
        self._refused = switches.refused_by(endpoint)
        self.url = endpoint.url("/chat/completions")
        self.headers = headers_for(endpoint, dialect.key_header)

    def body(self) -> bytes:
        """The request as it is to be sent now."""
        return self._encoder.body(self._request, frozenset(self._refused))

    def decoder(self) -> BodyDecoder:
        """A decoder for the reply."""
        return BodyDecoder(self._reader(), self._endpoint.secrets)

    def _reader(self) -> ChatReader:
        return ChatReader(self._endpoint.provider, think_tags=self._endpoint.think_tags)

    def lower(self, fault: Fault) -> str | None:
        """Gives up the first switch in use that the fault names."""
        for switch, words in self._in_use().items():
            if switches.names(fault, *words):
                self._refused.add(switch)
                return words[0]
        words = thinking.wording(self._dialect.thinking, self._request.thinking_level, frozenset(self._refused))
        if words and thinking.is_about(words, fault) and switches.names(fault, *words, *_LEVEL):
            self._refused.add(thinking.given_up(words, fault))
            return next(iter(words))
        return None

    def _in_use(self) -> Mapping[str, tuple[str, ...]]:
        """What this request can do without: under which name it is remembered, and how a server would name it."""
        refused = frozenset(self._refused)
        in_use: dict[str, tuple[str, ...]] = {}
        if self._dialect.stream_options:
            in_use["stream_options"] = ("stream_options", "include_usage")
        if self._dialect.cache_key:
            in_use["prompt_cache_key"] = ("prompt_cache_key",)
        if self._request.response_schema:
            in_use["response_format"] = ("response_format", "json_schema", "schema", "grammar", "structured outputs")
        if limit := self._encoder.max_tokens_field(refused):
            in_use[limit] = (limit,)
        return {switch: words for switch, words in in_use.items() if switch not in refused}


if TYPE_CHECKING:
    _: type[LLM] = ChatModel
