"""What the rows add up to, in values and as the answer to `agent/usage`."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Literal

from agent_lsp.errors import InvalidParams
from agent_lsp.slotted import frozen

GroupBy = Literal["model", "day", "session"]


@frozen
class UsageGroup:
    """Requests that belong together. `cost_usd` adds up what is known of the costs; None: nothing is.

    `unpriced` of its requests used tokens whose price is unknown. `key`: a day is one of UTC, a model `provider/model`.
    """

    key: str
    requests: int = 0
    cache_read: int = 0
    cache_write: int = 0
    output: int = 0
    total: int = 0
    cost_usd: float | None = None
    unpriced: int = 0


@frozen
class UsageError:
    """A request that failed (`kind` is its status), or a compaction that did (`compaction_failed`)."""

    ts: str
    session_id: str
    kind: str
    attempt: int
    message: str


@frozen
class UsageReport:
    """Groups (days in order, others by what they used, the most first), their sum, and the latest errors in order."""

    rows: tuple[UsageGroup, ...] = ()
    totals: UsageGroup = UsageGroup("total")
    errors: tuple[UsageError, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The report in the names of the protocol."""
        totals = _group(self.totals)
        del totals["key"]
        return {
            "rows": [_group(one) for one in self.rows],
            "totals": totals,
            "errors": [
                {
                    "ts": one.ts,
                    "sessionId": one.session_id,
                    "kind": one.kind,
                    "attempt": one.attempt,
                    "message": one.message,
                }
                for one in self.errors
            ],
        }


@frozen
class Period:
    """From a moment on, up to but without another one; both as the rows have them, and either may be open."""

    begin: str | None = None
    end: str | None = None


def period(from_: str | None = None, to: str | None = None) -> Period:
    """The period between two dates or times in ISO 8601 (without an offset: UTC); a date as `to` counts in full.

    InvalidParams when one is neither.
    """
    begin = _moment("from", from_) if from_ is not None else None
    end = _moment("to", to) + (timedelta(days=1) if _is_date(to) else timedelta()) if to is not None else None
    return Period(begin and _stamp(begin), end and _stamp(end))


def _moment(field: str, text: str) -> datetime:
    try:
        if _is_date(text):
            return datetime.combine(date.fromisoformat(text), time(), UTC)
        moment = datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidParams(f"invalid params: {field}", [(field, "must be a date or a time in ISO 8601")]) from error


def _is_date(text: str) -> bool:
    return len(text) == len("2026-11-29")


def _stamp(moment: datetime) -> str:
    return moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _group(group: UsageGroup) -> dict[str, Any]:
    return {
        "key": group.key,
        "requests": group.requests,
        "cacheRead": group.cache_read,
        "cacheWrite": group.cache_write,
        "output": group.output,
        "total": group.total,
        "costUsd": group.cost_usd,
    }
