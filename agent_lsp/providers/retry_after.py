"""How long a provider asks to wait, in any of the ways in which providers say it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|h|hours?|m|min|minutes?|s|sec|seconds?)(?![a-z])", re.I)
_IN_TEXT = re.compile(
    r"(?:try again|retry|wait)(?: in| after| for)?:? ((?:\d+(?:\.\d+)?\s*(?:ms|milli\w*|h\w*|m\w*|s\w*)\s*)+)", re.I
)
_UNIT_MS = {"h": 3_600_000, "m": 60_000, "s": 1_000}
_RESETS = (
    re.compile(r"(anthropic-ratelimit-[\w-]+)-reset"),
    re.compile(r"(x-ratelimit)-reset(-[\w-]+)?"),
)
_FIRST_EPOCH_S, _FIRST_EPOCH_MS = 1e9, 1e12
_LONGEST_MS = 7 * 24 * 3_600_000


def retry_after_ms(
    headers: Mapping[str, str], delay: str | None, text: str, now_s: float, *, limits: bool
) -> int | None:
    """The wait that was asked for, None if none was. Header names in lower case; a moment that is past means 0.

    `delay` is the one that the error's body names ("34.07s"), `text` its message. `limits`: whether the rate-limit
    headers count; most answers carry them though nothing is exhausted.
    """
    in_text = _IN_TEXT.search(text)
    asked = (
        _positive(headers.get("retry-after-ms"), 1),
        _moment(headers.get("retry-after"), now_s),
        _duration(delay),
        _duration(in_text[1]) if in_text else None,
        max(_reset_waits(headers, now_s), default=None) if limits else None,
    )
    wait = next((one for one in asked if one is not None), None)
    return None if wait is None else int(min(max(wait, 0.0), _LONGEST_MS))


def _positive(value: str | None, unit_ms: float) -> float | None:
    """A number above zero; some servers write 0 beside a header that says more."""
    number = _number(value)
    return number * unit_ms if number else None


def _number(value: str | None) -> float | None:
    try:
        number = float(value or "")
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def _moment(value: str | None, now_s: float) -> float | None:
    """Seconds, a duration, seconds or milliseconds of the epoch, an RFC 3339 time or an HTTP date."""
    if not value:
        return None
    number = _number(value)
    if number is not None:
        if number >= _FIRST_EPOCH_MS:
            return number - now_s * 1000
        return (number - now_s if number >= _FIRST_EPOCH_S else number) * 1000
    at = _date(value)
    return (at.timestamp() - now_s) * 1000 if at else _duration(value)


def _date(value: str) -> datetime | None:
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = parse(value.strip())
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
        return at if at.tzinfo else at.replace(tzinfo=UTC)
    return None


def _duration(value: str | None) -> float | None:
    found = _DURATION.findall(value or "")
    if not found:
        return None
    return sum(
        float(number) * (1 if unit.lower().startswith(("ms", "milli")) else _UNIT_MS[unit[0].lower()])
        for number, unit in found
    )


def _reset_waits(headers: Mapping[str, str], now_s: float) -> Iterator[float]:
    """The waits for each limit of which nothing remains, as far as the headers tell."""
    for name, value in headers.items():
        for pattern in _RESETS:
            if (found := pattern.fullmatch(name)) and (wait := _moment(value, now_s)) is not None:
                kind = found[2] or "" if pattern.groups > 1 else ""
                if _number(headers.get(f"{found[1]}-remaining{kind}", "0")) == 0:
                    yield wait
