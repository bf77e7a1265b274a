"""From an endpoint to the model behind it. Each adapter is imported when it is first used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.errors import ModelUnavailable

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM
    from agent_lsp.providers.endpoint import Endpoint

APIS = ("openai-chat", "openai-responses", "anthropic", "gemini", "rehearsal")
"""The dialects that can be spoken."""


def build(endpoint: Endpoint) -> LLM:
    """The model of the endpoint. Does no I/O. Raises ModelUnavailable for a dialect that is not spoken."""
    if endpoint.api == "rehearsal":
        from agent_lsp.providers.rehearsal import Rehearsal

        return Rehearsal()
    llm = _adapter(endpoint)
    if not endpoint.vision:
        return llm
    from agent_lsp.providers.images import FittedImages, limits_of

    return FittedImages(llm, limits_of(endpoint))


def _adapter(endpoint: Endpoint) -> LLM:
    match endpoint.api:
        case "openai-chat":
            from agent_lsp.providers.openai_chat.client import ChatModel

            return ChatModel(endpoint)
        case "openai-responses":
            from agent_lsp.providers.openai_responses.client import ResponsesModel

            return ResponsesModel(endpoint)
        case "anthropic":
            from agent_lsp.providers.anthropic.client import MessagesModel

            return MessagesModel(endpoint)
        case "gemini":
            from agent_lsp.providers.gemini.client import GeminiModel

            return GeminiModel(endpoint)
        case other:
            raise ModelUnavailable(
                f"provider {endpoint.provider!r} speaks {other!r}, which this version does not",
                hint=f"set providers.{endpoint.provider}.api to one of {', '.join(APIS)}",
            )
