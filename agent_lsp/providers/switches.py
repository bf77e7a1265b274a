"""What a server was found not to understand, remembered for a provider and model as long as the process lives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint
    from agent_lsp.providers.failure import Fault

_remembered: dict[tuple[str, str, str], set[str]] = {}


def refused_by(endpoint: Endpoint) -> set[str]:
    """The names of what the endpoint refused; adding to the set remembers."""
    return _remembered.setdefault((endpoint.provider, endpoint.base_url, endpoint.model), set())


def names(fault: Fault, *words: str) -> bool:
    """Whether the fault names one of the words, as a word, in its parameter or its text."""
    said = f"{fault.param} {fault.message}"
    return any(re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", said, re.I) for word in words)
