"""A trace as one HTML file that needs nothing else: what the session was, and each of its runs as a waterfall."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from typing import TYPE_CHECKING

from agent_lsp.trace.view.figures import Cost, duration, money, plural, request_cost, short_count, summed
from agent_lsp.trace.view.markup import block, chip, text
from agent_lsp.trace.view.rows import Rows
from agent_lsp.trace.view.scale import Scale

if TYPE_CHECKING:
    from agent_lsp.messages.events import TokenCounts
    from agent_lsp.trace.view.spans import RequestSpan, RunSpan, Timeline

_ENDINGS = {
    "completed": ("completed", "good"),
    "aborted": ("aborted", "warn"),
    "max_turns": ("limit of turns", "warn"),
    None: ("not ended", "warn"),
}
_LEAST_CHARTED = 4
"""Requests below which a chart of them says nothing that the rows do not."""
_MOST_CHARTED = 120
"""Columns of that chart; more of them would be too thin to be seen."""
_WORTH_TELLING_S = 1.0
_LEGEND = (
    ("model", "model"),
    ("thinking", "thinking"),
    ("text", "text"),
    ("call", "call"),
    ("approval", "waits for a decision"),
    ("tool", "tool"),
    ("backoff", "waits to retry"),
    ("compaction", "compaction"),
)


def render(timeline: Timeline, cost: Cost) -> str:
    """The page. `cost` prices a request; None where nobody knows, which is shown as such."""
    style, script = _asset("page.css"), _asset("page.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    title = text(_title(timeline), 120)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark"><meta name="referrer" content="no-referrer">\n'
        f"<title>{title} – agent-lsp trace</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{_header(timeline, cost)}{_overview(timeline)}{_controls()}<main>\n"
        f"{''.join(_run(index, run, cost) for index, run in enumerate(timeline.runs, 1))}</main>\n"
        f"{_footer(timeline)}<script>{script}</script>\n</body>\n</html>\n"
    )


def _asset(name: str) -> str:
    return files("agent_lsp.trace.view").joinpath("assets", name).read_text(encoding="utf-8")


def _title(timeline: Timeline) -> str:
    first = next((run.prompt for run in timeline.runs if run.prompt), "")
    return timeline.settings.title or first or "A session without words"


# --- above the runs ---


def _header(timeline: Timeline, cost: Cost) -> str:
    meta = timeline.meta
    facts = [timeline.model, *((meta.workspace, _moment(meta.created_at), meta.session_id) if meta else ())]
    if meta and meta.parent_id:
        facts.append(f"{meta.source or 'child'} of {meta.parent_id}")
    shown = "".join(f"<span>{text(fact)}</span>" for fact in facts)
    return (
        f'<header class="top"><h1>{text(_title(timeline), 160)}</h1><p class="facts">{shown}</p>'
        f'<div class="cards">{"".join(_cards(timeline, cost))}</div>'
        f"{_context_chart(timeline)}{_details(timeline)}</header>\n"
    )


def _cards(timeline: Timeline, cost: Cost) -> Iterator[str]:
    requests, tokens = timeline.requests, timeline.tokens
    runs = [run for run in timeline.runs if run.run_id is not None]
    calls = [call for one in requests for call in one.calls]
    worked = sum(run.ended_s - run.began_s for run in runs)
    failed = sum(1 for one in requests if one.status not in ("completed", None))
    refused = sum(1 for call in calls if call.is_refused)
    waited = sum(call.waited_s for call in calls)
    asked = sum(1 for call in calls if call.decision and call.decision.decided_by == "user")
    spent = [request_cost(one, cost) for one in requests if one.tokens]
    unknown = sum(1 for one in spent if one is None)
    yield _card(
        duration(worked),
        plural(len(runs), "run"),
        f"{duration(waited)} of it waiting for decisions" if waited >= _WORTH_TELLING_S else "",
    )
    yield _card(
        str(len(requests)), "request" if len(requests) == 1 else "requests", f"{failed} failed" if failed else ""
    )
    yield _card(
        str(len(calls)),
        "tool call" if len(calls) == 1 else "tool calls",
        _and(f"{asked} asked" if asked else "", f"{refused} denied" if refused else ""),
    )
    yield _card(short_count(tokens.total), "tokens", extra=_share_bar(tokens))
    yield _card(money(summed(spent)), "cost", f"{plural(unknown, 'request')} without a price" if unknown else "")


def _card(value: str, name: str, remark: str = "", extra: str = "") -> str:
    below = f"<small>{text(remark)}</small>" if remark else extra
    return f'<div class="card"><strong>{text(value)}</strong><span>{text(name)}</span>{below}</div>'


def _share_bar(tokens: TokenCounts) -> str:
    if not tokens.total:
        return ""
    shares = (
        ("cached", "from the cache", tokens.cache_read),
        ("fresh", "other input", tokens.cache_write),
        ("out", "output", tokens.output),
    )
    parts = "".join(f'<i class="{kind}" style="flex:{count}"></i>' for kind, _, count in shares if count)
    hint = ", ".join(f"{count:,} {name}" for _, name, count in shares)
    cached = round(100 * tokens.cache_read / max(1, tokens.cache_read + tokens.cache_write))
    return f'<span class="shares" title="{hint}">{parts}</span><small>{cached} % of the input from the cache</small>'


def _largest_of_each_few(
    counted: Sequence[tuple[RequestSpan, TokenCounts]],
) -> Iterator[tuple[RequestSpan, TokenCounts]]:
    """The requests, or where they are too many to be columns, of each few neighbours the largest."""
    few = -(-len(counted) // _MOST_CHARTED)
    return (max(counted[at : at + few], key=lambda one: one[1].total) for at in range(0, len(counted), few))


def _context_chart(timeline: Timeline) -> str:
    """The size of the context, request by request."""
    counted = [(one, one.tokens) for one in timeline.requests if one.tokens and one.number is not None]
    if len(counted) < _LEAST_CHARTED:
        return ""
    largest = max(tokens.total for _, tokens in counted)
    columns = "".join(
        f'<i title="request {one.number}: {tokens.cache_read:,} cached, {tokens.cache_write:,} new,'
        f' {tokens.output:,} out">'
        f'<b class="out" style="height:{100 * tokens.output / largest:.2f}%"></b>'
        f'<b class="fresh" style="height:{100 * tokens.cache_write / largest:.2f}%"></b>'
        f'<b class="cached" style="height:{100 * tokens.cache_read / largest:.2f}%"></b></i>'
        for one, tokens in _largest_of_each_few(counted)
    )
    window = timeline.meta.model_context_window if timeline.meta else None
    share = f" · {round(100 * largest / window)} % of the window" if window else ""
    key = '<i class="cached"></i>cached <i class="fresh"></i>new <i class="out"></i>output'
    caption = f"context per request, up to {short_count(largest)} tokens{share}"
    return (
        f'<figure class="context"><div>{columns}</div>'
        f'<figcaption>{caption}<span class="key">{key}</span></figcaption></figure>'
    )


def _details(timeline: Timeline) -> str:
    meta, parts = timeline.meta, list[str]()
    if meta and meta.system_prompt.strip():
        parts.append(f"<details><summary>System prompt</summary>{block(meta.system_prompt, 'prose')}</details>")
    if timeline.tools:
        named = "".join(f"<dt>{text(one.name)}</dt><dd>{text(one.description, 300)}</dd>" for one in timeline.tools)
        parts.append(f"<details><summary>{plural(len(timeline.tools), 'tool')}</summary><dl>{named}</dl></details>")
    return f'<div class="asides">{"".join(parts)}</div>' if parts else ""


def _overview(timeline: Timeline) -> str:
    """All runs on one line, each a link to itself."""
    runs = [(index, run) for index, run in enumerate(timeline.runs, 1) if run.run_id is not None]
    if len(runs) < 2:
        return ""
    scale = Scale(runs[0][1].began_s, runs[-1][1].ended_s, [(run.began_s, run.ended_s) for _, run in runs])
    bars = ""
    for index, run in runs:
        left, right = scale.at(run.began_s), scale.at(run.ended_s)
        place = f"left:min({left:.3f}%,100% - 6px);width:{right - left:.3f}%"
        hint = text(run.prompt, 120)
        bars += f'<a class="{_ending(run)[1]}" href="#run-{index}" title="{hint}" style="{place}"></a>'
    cuts = "".join(
        f'<em style="left:{cut.at:.3f}%" title="nothing for {duration(cut.seconds)}">⋯</em>' for cut in scale.cuts()
    )
    return f'<nav class="overview" aria-label="runs">{bars}{cuts}</nav>\n'


def _controls() -> str:
    legend = "".join(f'<span><i class="bar {kind}"></i>{name}</span>' for kind, name in _LEGEND)
    return (
        '<div class="controls"><input type="search" placeholder="Find in this trace  ( / )" aria-label="find">'
        '<span class="found" role="status"></span><button type="button" data-do="open">Expand all</button>'
        '<button type="button" data-do="close">Collapse all</button>'
        f'<button type="button" data-do="theme">Light / dark</button><span class="legend">{legend}</span></div>\n'
    )


# --- a run ---


def _run(index: int, run: RunSpan, cost: Cost) -> str:
    rows = Rows(run, cost)
    body = "".join(f"{row}\n" for row in rows.all())
    if run.run_id is None:
        return f'<section class="run between" id="run-{index}">{body}</section>\n' if body else ""
    spent = summed(request_cost(one, cost) for one in run.requests)
    facts = (
        _time(run.began_s),
        duration(run.ended_s - run.began_s),
        plural(len(run.requests), "request"),
        f"{short_count(run.tokens.total)} tokens",
        *((money(spent),) if spent is not None else ()),
    )
    return (
        f'<section class="run" id="run-{index}"><header><h2>{text(run.prompt, 160) or "A run without words"}</h2>'
        f"<p>{chip(*_ending(run))}{''.join(f'<span>{one}</span>' for one in facts)}</p></header>\n"
        f"{rows.axis()}\n{body}</section>\n"
    )


def _ending(run: RunSpan) -> tuple[str, str]:
    return _ENDINGS.get(run.status, (run.status or "", "bad"))


def _footer(timeline: Timeline) -> str:
    bad = f" {plural(len(timeline.bad_lines), 'line')} of the trace could not be read." if timeline.bad_lines else ""
    return f"<footer>Made from its trace by agent-lsp; times are UTC.{bad}</footer>\n"


def _moment(stamp: str) -> str:
    return stamp[:19].replace("T", " ")


def _time(at_s: float) -> str:
    return f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d %H:%M:%S}"


def _and(*remarks: str) -> str:
    return ", ".join(one for one in remarks if one)
