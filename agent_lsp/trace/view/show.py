"""A trace as text for a terminal or a pager, the control characters in it made visible."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from agent_lsp.messages.content import Text, Thinking
from agent_lsp.policy.visible import visible, visible_line
from agent_lsp.trace.view.calls import about
from agent_lsp.trace.view.figures import Cost, duration, money, plural, request_cost, short_count, summed
from agent_lsp.trace.view.spans import CallSpan, CompactionSpan, Note, Piece, RequestSpan, RunSpan, Timeline

LINES_SHOWN = 12
"""Lines of an output or a thinking segment, unless everything is asked for."""
_WIDTH = 100
_SIGNS = {"input": "›", "steering": "»", "abort": "■", "summary": "≡", "remark": "•"}


def show(timeline: Timeline, cost: Cost, *, full: bool = False) -> Iterator[str]:
    """The lines, without their line ends. `full` leaves nothing out."""
    yield from _head(timeline, cost)
    for number, run in enumerate((run for run in timeline.runs if run.items), 1):
        yield ""
        yield _rule(number, run, cost)
        for item in run.items:
            match item:
                case Note():
                    yield from _note(item, full=full)
                case RequestSpan():
                    yield from _request(item, cost, full=full)
                case CompactionSpan():
                    yield from _compaction(item, cost, full=full)
    if timeline.bad_lines:
        named = ", ".join(f"{name}:{line}" for name, line in timeline.bad_lines[:20])
        yield ""
        yield visible_line(f"{plural(len(timeline.bad_lines), 'line')} could not be read: {named}")


def _head(timeline: Timeline, cost: Cost) -> Iterator[str]:
    meta = timeline.meta
    if title := timeline.settings.title:
        yield visible_line(title)
    where = f"{meta.session_id} · {meta.workspace} · {meta.created_at}" if meta else "a trace without a session_meta"
    yield visible_line(f"{timeline.model} · {where}")
    spent = summed(request_cost(one, cost) for one in timeline.requests)
    runs = sum(1 for run in timeline.runs if run.run_id is not None)
    yield " · ".join(
        (
            plural(runs, "run"),
            plural(len(timeline.requests), "request"),
            f"{short_count(timeline.tokens.total)} tokens",
            *((money(spent),) if spent is not None else ()),
        )
    )


def _rule(number: int, run: RunSpan, cost: Cost) -> str:
    if run.run_id is None:
        return "── before the first run " + "─" * (_WIDTH - 24)
    spent = summed(request_cost(one, cost) for one in run.requests)
    facts = [
        f"── {number}",
        f"{datetime.fromtimestamp(run.began_s, UTC):%Y-%m-%d %H:%M:%S}",
        (run.status or "not ended").replace("_", " "),
        duration(run.ended_s - run.began_s),
        f"{short_count(run.tokens.total)} tokens",
        *((money(spent),) if spent is not None else ()),
    ]
    line = " · ".join(facts) + " "
    return line + "─" * max(2, _WIDTH - len(line))


def _note(note: Note, *, full: bool) -> Iterator[str]:
    sign = _SIGNS.get(note.kind, "·")
    limit = None if full or note.kind in ("input", "steering") else LINES_SHOWN
    yield from _body(note.text, f"{sign} ", "  ", limit)
    for _ in note.images:
        yield "  [image]"


def _request(request: RequestSpan, cost: Cost, *, full: bool) -> Iterator[str]:
    name = "summary request" if request.number is None else f"request {request.number}"
    facts = [f"▸ {name}" + (f", attempt {request.attempt}" if request.attempt > 1 else "")]
    facts.append(request.status or "no end")
    if request.ended_s is not None:
        facts.append(duration(request.ended_s - request.began_s))
    if tokens := request.tokens:
        cached = f" ({short_count(tokens.cache_read)} cached)" if tokens.cache_read else ""
        facts.append(f"{short_count(tokens.cache_read + tokens.cache_write)}{cached} → {short_count(tokens.output)}")
    if (spent := request_cost(request, cost)) is not None:
        facts.append(money(spent))
    yield " · ".join(facts)
    if request.end and request.end.error_message:
        yield visible_line(f"  ! {request.end.error_message}")
    for part in request.reply:
        yield from _call(part, full=full) if isinstance(part, CallSpan) else _piece(part, full=full)
    if request.end and request.end.retry_in_ms is not None:
        yield f"  ↻ again in {duration(request.end.retry_in_ms / 1000)}"


def _piece(piece: Piece, *, full: bool) -> Iterator[str]:
    match piece.content:
        case Text(text=text):
            yield from _body(text, "  ", "  ", None)
        case Thinking(thinking=thinking):
            yield from _body(thinking, "  ∴ ", "    ", None if full else LINES_SHOWN)
        case _:
            yield visible_line(f"  [{piece.content.mime_type}]")


def _call(span: CallSpan, *, full: bool) -> Iterator[str]:
    said = visible_line(f"{span.call.name} {about(span.call)}".rstrip(), None if full else 3 * _WIDTH)
    yield f"  ● {said}{_decided(span)}"
    if span.output is None:
        yield "    (no output)"
        return
    yield from _body(span.output.output, "    │ ", "    │ ", None if full else LINES_SHOWN)
    if span.output.stop_reason and not span.is_refused:
        yield f"    ✗ {span.output.stop_reason}"


def _decided(span: CallSpan) -> str:
    made = span.decision
    if made is None or (made.decision == "allow" and made.decided_by == "default"):
        return ""
    waited = f", after {duration(span.waited_s)}" if span.waited_s else ""
    return visible_line(f"   [{made.decision} by {made.rule or made.decided_by}{waited}]")


def _compaction(span: CompactionSpan, cost: Cost, *, full: bool) -> Iterator[str]:
    status = span.end.status if span.end else "no end"
    begin = span.begin
    yield f"≋ compaction · {begin.mode} · {begin.reason} · at {short_count(begin.context)} tokens · {status}"
    for item in span.items:
        lines = _note(item, full=full) if isinstance(item, Note) else _request(item, cost, full=full)
        yield from (f"  {line}" for line in lines)


def _body(text: str, first: str, other: str, limit: int | None) -> Iterator[str]:
    lines = visible(text).rstrip("\n").split("\n")
    for number, line in enumerate(lines[:limit]):
        yield f"{other if number else first}{line}".rstrip()
    if limit is not None and len(lines) > limit:
        yield f"{other}… {plural(len(lines) - limit, 'more line')}"
