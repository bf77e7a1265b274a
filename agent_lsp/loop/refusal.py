"""A model that may or may not call tools: found out by asking, once."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import LLM, Outcome, Part, Request

_ABOUT_TOOLS = re.compile(
    r"(?:not support|unsupported|no support|not allowed|requires?|not enabled|unknown|unrecognized|unexpected)"
    r"[^.\n]{0,80}\b(?:tools?|tool[-_ ](?:use|choice|call\w*)|function[-_ ]call\w*)\b"
    r"|\b(?:tools?|tool[-_ ](?:use|choice|call\w*)|function[-_ ]call\w*)\b"
    r"[^.\n]{0,80}(?:not support|unsupported|not available|not allowed|not enabled|requires?|unknown|unrecognized)",
    re.IGNORECASE,
)


class UntilRefused:
    """Asks `native` until it refuses tools, and `planned` from that very request on. `refused` is told of it, once."""

    def __init__(self, native: LLM, planned: LLM, refused: Callable[[], None]) -> None:
        self._native, self._planned, self._refused = native, planned, refused
        self._is_planned = False

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply of the one or the other."""
        if not self._is_planned:
            has_begun = False
            async with aclosing(self._native.stream(request)) as parts:
                async for part in parts:
                    if not has_begun and request.tools and is_refusal_of_tools(part):
                        self._is_planned = True
                        continue
                    has_begun = True
                    yield part
            if not self._is_planned:
                return
            self._refused()
        async with aclosing(self._planned.stream(request)) as parts:
            async for part in parts:
                yield part


def is_refusal_of_tools(part: Part) -> bool:
    """Whether a request has failed because it offered tools."""
    return isinstance(part, Outcome) and part.status == "failed" and bool(_ABOUT_TOOLS.search(part.message or ""))


if TYPE_CHECKING:
    _: type[LLM] = UntilRefused
