"""The headers of a request: what every dialect says, how it takes its key, and what the user adds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from agent_lsp import __version__

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint

BEARER = "authorization"


def headers_for(endpoint: Endpoint, key_header: str = BEARER, **more: str) -> Mapping[str, str]:
    """Names in lower case; `more` are further ones with `_` for `-`. What the user configured wins."""
    headers = {
        "content-type": "application/json",
        "accept": "text/event-stream",
        "user-agent": f"agent-lsp/{__version__}",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }
    if endpoint.api_key:
        headers[key_header] = f"Bearer {endpoint.api_key}" if key_header == BEARER else endpoint.api_key
    return headers | {name.lower(): value for name, value in endpoint.headers.items()}
