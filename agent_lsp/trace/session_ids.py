"""What a session is called. Its own module, as a session has its name before there is anything else of it."""

from __future__ import annotations

import os
import re
import time

ID = re.compile(r"session-([0-9]{4})([0-9]{2})([0-9]{2})-[0-9]{6}-[0-9a-f]{8}")
"""Year, month and day are groups."""


def new_session_id(now_s: float | None = None) -> str:
    """An id nobody has: `session-YYYYMMDD-HHMMSS-<8 hex>` of the moment (seconds since the epoch, default now), UTC."""
    return f"session-{time.strftime('%Y%m%d-%H%M%S', time.gmtime(now_s))}-{os.urandom(4).hex()}"


def is_session_id(text: str) -> bool:
    """Whether the text has the form of a session id. One that has is safe as part of a path."""
    return ID.fullmatch(text) is not None
