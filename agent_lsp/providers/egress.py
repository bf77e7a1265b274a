"""A record of what leaves this machine for a model: where to, how much and for which model, never what."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.policy.growing_file import add_line
from agent_lsp.providers.encoding import encode

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint

FILE_NAME = "egress.log"
"""Beside the other data. Lines of JSON, one for each request that is sent, repeated ones too."""

_log = logging.getLogger(__name__)


def note(endpoint: Endpoint, size_bytes: int) -> None:
    """Adds a line before a request is sent, if the endpoint names a file. One that cannot be written is said."""
    if endpoint.egress_log is None:
        return
    line = encode(
        {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "host": endpoint.host,
            "bytes": size_bytes,
            "provider": endpoint.provider,
            "model": endpoint.model,
        }
    )
    try:
        add_line(Path(endpoint.egress_log), line)
    except OSError as error:
        _log.warning("what was sent could not be noted in %s: %s", endpoint.egress_log, error.strerror or error)
