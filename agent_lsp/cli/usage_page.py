"""The usage as one HTML page that needs nothing else: tokens and costs by day, by model and by session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from importlib.resources import files
from typing import NamedTuple

from agent_lsp.trace.view.figures import money, plural, short_count
from agent_lsp.trace.view.markup import text
from agent_lsp.usage.report import UsageGroup, UsageReport

_MOST_DAYS = 366
_MOST_ROWS = 50
_PARTS = (("cached", "read from a cache"), ("fresh", "input"), ("out", "output"))
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Reports(NamedTuple):
    """The same time, grouped three ways."""

    days: UsageReport
    models: UsageReport
    sessions: UsageReport


def render(reports: Reports, span: str) -> str:
    """The page. `span` says in words which time it is about."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>agent-lsp usage</title>\n<style>\n{_style()}</style>\n</head>\n<body>\n"
        f"<h1>Usage</h1><p>{text(span)}. Days are those of UTC.</p>\n{_body(reports)}</body>\n</html>\n"
    )


def _body(reports: Reports) -> str:
    if not reports.days.rows:
        return "<p>Nothing was used.</p>\n"
    return (
        f"{_cards(reports.days)}<h2>By day</h2>\n{_days(reports.days.rows)}"
        f"<h2>By model</h2>\n{_table(reports.models.rows)}<h2>By session</h2>\n{_table(reports.sessions.rows)}"
        f"{_errors(reports.days)}"
    )


def _style() -> str:
    return files("agent_lsp.cli").joinpath("assets", "usage.css").read_text(encoding="utf-8")


def cost(group: UsageGroup) -> str:
    """What it cost at least, where the price of some of it is unknown."""
    return ("≥" if group.unpriced and group.cost_usd is not None else "") + money(group.cost_usd)


def _cards(report: UsageReport) -> str:
    totals = report.totals
    cached = f"{round(100 * totals.cache_read / taken)} %" if (taken := totals.cache_read + totals.cache_write) else "–"
    facts = (
        (cost(totals), f"price of {plural(totals.unpriced, 'request')} unknown" if totals.unpriced else "cost"),
        (short_count(totals.total), "tokens"),
        (f"{totals.requests:,}", "requests"),
        (cached, "of the input from a cache"),
        (str(len(report.errors)), "errors"),
    )
    cards = "".join(f"<div><b>{text(value)}</b><span>{text(name)}</span></div>" for value, name in facts)
    return f'<div class="cards">{cards}</div>\n'


def _days(rows: Sequence[UsageGroup]) -> str:
    """A column a day, days without any included."""
    used = {one.key: one for one in rows}
    first, last = date.fromisoformat(rows[0].key), date.fromisoformat(rows[-1].key)
    first = max(first, last - timedelta(days=_MOST_DAYS - 1))
    days = [str(first + timedelta(days=number)) for number in range((last - first).days + 1)]
    most = max(one.total for one in rows) or 1
    columns = "".join(_column(day, used.get(day, UsageGroup(day)), most) for day in days)
    legend = "".join(f'<i class="{name}"></i>{words}' for name, words in _PARTS)
    axis = (
        f'<div class="axis"><span>{days[0]}</span><span>{days[-1]}</span></div>'
        if len(days) > 1
        else f"<p>{days[0]}</p>"
    )
    return f'<div class="sheet"><div class="days">{columns}</div>{axis}<p class="legend">{legend}</p></div>\n'


def _column(day: str, one: UsageGroup, most: int) -> str:
    said = f"{day}: {short_count(one.total)} tokens, {plural(one.requests, 'request')}, {cost(one)}"
    parts = "".join(f'<i class="{name}" style="height:{share:.2f}%"></i>' for name, share in _shares(one, most))
    return f'<div title="{text(said)}">{parts}</div>'


def _table(rows: Sequence[UsageGroup]) -> str:
    most = max((one.total for one in rows), default=0) or 1
    head = "".join(f"<th>{name}</th>" for name in ("", "", "requests", "cached", "input", "output", "total", "cost"))
    lines = "".join(f"<tr>{''.join(_cells(one, most))}</tr>\n" for one in rows[:_MOST_ROWS])
    rest = f"<p>and {len(rows) - _MOST_ROWS:,} more</p>" if len(rows) > _MOST_ROWS else ""
    return f'<div class="sheet"><table><tr>{head}</tr>\n{lines}</table>{rest}</div>\n'


def _cells(one: UsageGroup, most: int) -> Iterator[str]:
    yield f"<td>{text(one.key)}</td>"
    bar = "".join(f'<i class="{name}" style="width:{share:.2f}%"></i>' for name, share in _shares(one, most))
    yield f'<td><div class="bar">{bar}</div></td>'
    counts = (one.cache_read, one.cache_write, one.output, one.total)
    yield from (f"<td>{value}</td>" for value in (f"{one.requests:,}", *map(short_count, counts), text(cost(one))))


def _shares(one: UsageGroup, most: int) -> Iterable[tuple[str, float]]:
    values = (one.cache_read, one.cache_write, one.output)
    return ((name, 100 * value / most) for (name, _), value in zip(_PARTS, values, strict=True))


def _errors(report: UsageReport) -> str:
    if not report.errors:
        return ""
    lines = "".join(
        f'<tr><td>{text(one.ts[:19].replace("T", " "))}</td><td class="error">{text(one.kind)}</td>'
        f"<td>{text(one.message, 200)}</td></tr>\n"
        for one in reversed(report.errors[-_MOST_ROWS:])
    )
    return f'<h2>Errors</h2>\n<div class="sheet"><table>{lines}</table></div>\n'
