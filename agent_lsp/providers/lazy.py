"""A model whose adapter, and with it the HTTP client, is imported with the first request."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import LLM, Outcome, Part, Request
from agent_lsp.errors import ModelUnavailable

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint


class LazyLLM:
    """Stands for the adapter of an endpoint.

    `find` tells for each request how the model is reached: a key that was put right counts from the next one on.
    """

    def __init__(self, find: Callable[[], Endpoint]) -> None:
        self._find = find
        self._built: tuple[Endpoint, LLM] | None = None

    def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams from the real adapter."""
        try:
            endpoint = self._find()
        except ModelUnavailable as error:
            return _unavailable(error)
        if self._built is None or self._built[0] != endpoint:
            from agent_lsp.providers.build import build

            self._built = endpoint, build(endpoint)
        return self._built[1].stream(request)


async def _unavailable(error: ModelUnavailable) -> AsyncGenerator[Part, None]:
    """The reply of a model that the configuration has taken away."""
    yield Outcome("failed", error.message, permanent=True)
