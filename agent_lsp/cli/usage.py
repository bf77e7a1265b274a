"""`agent-lsp usage`: what was used and what it cost, by day, by model and by session."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from agent_lsp.cli.kept import DATA_DIR_HELP, data_dir, prices, show_page, width
from agent_lsp.cli.tables import Column, table
from agent_lsp.cli.usage_page import Reports, cost, render
from agent_lsp.policy.visible import visible_line
from agent_lsp.trace.view.figures import plural, short_count
from agent_lsp.usage.report import GroupBy, UsageGroup, UsageReport
from agent_lsp.usage.store import UsageStore

_DAYS = 30
_BAR = 40
_ERRORS_SHOWN = 10
_BLOCKS = " ▏▎▍▌▋▊▉█"
_NUMBERS = ("requests", "cached", "input", "output", "total", "cost")


def add_usage(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the command to those that `add` makes."""
    command = add(
        "usage",
        help="what was used, and what it cost",
        description="Adds up the requests of all sessions. Days are those of UTC; a cost is what is known of it.",
    )
    command.add_argument("--by", choices=("day", "model", "session"), help="one table; default: by day and by model")
    command.add_argument("--from", dest="from_", metavar="DATE", help=f"first day or moment; default: {_DAYS} days ago")
    command.add_argument("--to", metavar="DATE", help="last day (in full) or moment; default: now")
    command.add_argument("--session", metavar="ID", help="one session alone, from its beginning")
    command.add_argument("--json", action="store_true", help="as the answer to agent/usage")
    command.add_argument("--html", metavar="OUT", help="as a page with charts, into this file; - is stdout")
    command.add_argument(
        "--open", action="store_true", help="show that page in the browser; without --html: usage.html"
    )
    command.add_argument("--data-dir", type=Path, metavar="DIR", help=DATA_DIR_HELP)
    command.set_defaults(carry_out=_usage)


def _usage(given: argparse.Namespace) -> int:
    store = UsageStore(data_dir(given.data_dir).root, prices().cost_usd)
    begin = given.from_ or (None if given.session else f"{datetime.now(UTC).date() - timedelta(days=_DAYS - 1)}")

    def report(by: GroupBy) -> UsageReport:
        return store.query(given.session, begin, given.to, by)

    if given.json:
        print(json.dumps(report(given.by or "model").as_json(), indent=2, ensure_ascii=False))
        return 0
    days = report("day")
    if given.html or given.open:
        reports = Reports(days, report("model"), report("session"))
        return show_page(render(reports, _span(begin, given)), given.html or "usage.html", is_opened=given.open)
    if not days.totals.requests:
        print("nothing was used" + (f" since {visible_line(begin)}" if begin else ""))
        return 0
    if given.by in (None, "day"):
        _print(_chart(days.rows))
    if given.by != "day":
        _print(_table(report(given.by or "model"), given.by or "model", width()))
    _print(_remarks(days))
    return 0


def _span(begin: str | None, given: argparse.Namespace) -> str:
    """The time that is looked at, in words."""
    since = f"since {begin}" if begin else "all of its time" if given.session else "since the beginning"
    until = f" until {given.to}" if given.to else ""
    return f"Session {given.session}, {since}{until}" if given.session else f"All sessions, {since}{until}"


def _print(lines: Iterator[str]) -> None:
    for line in lines:
        print(line)
    print()


def _chart(days: Sequence[UsageGroup]) -> Iterator[str]:
    """A bar a day for its tokens, days without any included."""
    used = {one.key: one for one in days}
    largest = max(one.total for one in days)
    first, last = date.fromisoformat(days[0].key), date.fromisoformat(days[-1].key)
    yield f"{'day':<10}  {'tokens':<{_BAR}}  {'':>7}  {'cost':>9}"
    for number in range((last - first).days + 1):
        day = str(first + timedelta(days=number))
        one = used.get(day, UsageGroup(day))
        total = short_count(one.total) if one.requests else "·"
        price = cost(one) if one.requests else ""
        yield f"{day}  {_bar(one.total, largest):<{_BAR}}  {total:>7}  {price:>9}".rstrip()


def _bar(value: int, largest: int) -> str:
    eighths = round(8 * _BAR * value / largest) if largest else 0
    eighths = max(eighths, 1) if value else 0
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")


def _table(report: UsageReport, by: str, columns: int) -> Iterator[str]:
    head = (Column(by, shrinks=True), *(Column(name, is_number=True) for name in _NUMBERS))
    rows = [_row(one) for one in report.rows]
    if len(rows) > 1:
        rows.append(_row(report.totals))
    return table(head, rows, columns)


def _row(group: UsageGroup) -> tuple[str, ...]:
    counts = (group.cache_read, group.cache_write, group.output, group.total)
    return (group.key, str(group.requests), *map(short_count, counts), cost(group))


def _remarks(report: UsageReport) -> Iterator[str]:
    totals = report.totals
    yield f"{plural(totals.requests, 'request')}, {short_count(totals.total)} tokens, {cost(totals)}"
    if totals.unpriced:
        unpriced = plural(totals.unpriced, "request")
        yield f"the price of {unpriced} is unknown; set it as providers.NAME.models.MODEL.prices"
    if report.errors:
        yield f"{plural(len(report.errors), 'error')}, the latest:"
    for one in report.errors[-_ERRORS_SHOWN:]:
        when = one.ts[:19].replace("T", " ")
        yield visible_line(f"  {when}  {one.kind}  {one.message}", 200)
