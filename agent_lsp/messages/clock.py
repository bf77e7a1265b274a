"""The moment, as everything that is written down is stamped with it."""

from __future__ import annotations

import time
from functools import lru_cache


def timestamp(now_s: float | None = None) -> str:
    """The moment (seconds since the epoch, default now) as ISO 8601 in UTC with milliseconds."""
    second, ms = divmod(int((time.time() if now_s is None else now_s) * 1000), 1000)
    return f"{_whole_second(second)}.{ms:03d}Z"


@lru_cache(maxsize=4)  # one strftime a second, not one a message
def _whole_second(second: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
