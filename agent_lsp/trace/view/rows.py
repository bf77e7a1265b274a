"""The waterfall of a run: a row for whatever lasts, its bar in the lane, what it holds behind a click."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from agent_lsp.messages.content import ImageUrl, InlineData, Text, Thinking
from agent_lsp.trace.view.calls import about, arguments_of, change_of, looks_like_diff
from agent_lsp.trace.view.figures import Cost, duration, money, plural, request_cost, short_count, summed
from agent_lsp.trace.view.markup import bar, block, chip, diff, picture, text
from agent_lsp.trace.view.scale import Scale
from agent_lsp.trace.view.spans import CallSpan, CompactionSpan, Item, Note, Piece, RequestSpan, RunSpan

_SIGNS = {
    "input": "›",
    "steering": "»",
    "harness": "◇",
    "summary": "≡",
    "remark": "•",
    "abort": "■",
    "setting": "⚙",
    "event": "·",
}
_OPEN = {"input", "remark"}
"""Kinds of notes that a reader most likely wants to see in full."""
_LONG_INPUT = 2000
_NO_FIGURES = ("", "", "")
_LABEL_WIDTH = 13.0
"""Percent of the axis that the length of a wait takes up in words."""
_BAD = {"failed", "timeout", "malformed", "auth", "aborted"}


class Rows:
    """Writes the rows of one run."""

    def __init__(self, run: RunSpan, cost: Cost) -> None:
        self._run, self._cost = run, cost
        self.scale = Scale(run.began_s, run.ended_s, _busy(run))

    def all(self) -> Iterator[str]:
        """Every row, in order."""
        for index, item in enumerate(self._run.items):
            following = self._run.items[index + 1] if index + 1 < len(self._run.items) else None
            yield from self._item(item, following)

    def axis(self) -> str:
        """The line above the rows."""
        ticks = (f'<b style="left:{at:.3f}%">{_clock(seconds)}</b>' for seconds, at in self.scale.ticks())
        cuts: list[str] = []
        for cut, following in zip_longest(found := self.scale.cuts(), found[1:]):
            waited = duration(cut.seconds)
            has_room = following is None or following.at - cut.at > _LABEL_WIDTH
            label = f"⋯ {waited}" if has_room else "⋯"
            cuts.append(f'<em style="left:{cut.at:.3f}%" title="{waited} in which everything waited">{label}</em>')
        return f'<div class="row axis"><span></span><span class="lane">{"".join((*ticks, *cuts))}</span></div>'

    def _item(self, item: Item, following: Item | None) -> Iterator[str]:
        match item:
            case Note():
                yield self._note(item)
            case CompactionSpan():
                yield self._compaction(item)
                for index, one in enumerate(item.items):
                    if isinstance(one, Note):
                        yield self._note(one, "nested ")
                    else:
                        later = item.items[index + 1] if index + 1 < len(item.items) else None
                        yield from self._with_reply(one, later, "nested ")
            case RequestSpan():
                yield from self._with_reply(item, following, "")

    def _note(self, note: Note, nested: str = "") -> str:
        at = self.scale.at(note.at_s)
        said = text(note.text, 300) or plural(len(note.images), "image")
        name = f'<span class="sign">{_SIGNS[note.kind]}</span> <span class="excerpt">{said}</span>'
        body = block(note.text, "prose") + "".join(map(_picture, note.images))
        opened = note.kind in _OPEN and len(note.text) < _LONG_INPUT and ("\n" in note.text or bool(note.images))
        return _row(
            f"{nested}note {note.kind}", name, f'<i class="dot" style="left:{at:.3f}%"></i>', body=body, opened=opened
        )

    def _compaction(self, span: CompactionSpan) -> str:
        status = span.end.status if span.end else "open"
        why = f"{span.begin.reason}, at {short_count(span.begin.context)} tokens, {plural(span.begin.turns, 'turn')}"
        name = f'<span class="sign">≋</span> Compaction {chip(span.begin.mode)}{_status_chip(status)}'
        lane = self._bar(span.began_s, self._until(span.ended_s), f"compaction {status}", why)
        error = span.end.error_message if span.end and span.end.error_message else ""
        cost = summed(request_cost(one, self._cost) for one in span.requests)
        cells = ("", money(cost) if cost is not None else "", duration(self._until(span.ended_s) - span.began_s))
        body = f'<p class="quiet">{text(why)}</p>{block(error, "error")}'
        return _row("compaction", name, lane, cells, body=body)

    def _with_reply(self, request: RequestSpan, following: Item | None, nested: str) -> Iterator[str]:
        yield self._request(request, following, nested)
        for part in request.reply:
            yield self._call(part, nested) if isinstance(part, CallSpan) else self._piece(part, nested)

    def _request(self, request: RequestSpan, following: Item | None, nested: str) -> str:
        status = request.status or "open"
        number = "Summary request" if request.number is None else f"Request {request.number}"
        again = chip(f"attempt {request.attempt}", "warn") if request.attempt > 1 else ""
        end = request.end
        why = f'<span class="why">{text(end.error_message, 200)}</span>' if end and end.error_message else ""
        name = f'<span class="sign">▸</span> {number} {again}{_status_chip(status)}{why}'
        tokens = request.tokens
        cells = (
            f"{short_count(tokens.cache_read + tokens.cache_write)} → {short_count(tokens.output)}" if tokens else "",
            money(cost) if (cost := request_cost(request, self._cost)) is not None else "",
            duration(self._until(request.ended_s) - request.began_s),
        )
        return _row(
            f"{nested}request {status}", name, self._request_lane(request, following), cells, body=_facts(request)
        )

    def _request_lane(self, request: RequestSpan, following: Item | None) -> str:
        until = self._until(request.ended_s)
        bars = [
            self._bar(request.began_s, until, f"model {request.status or 'open'}", "the model, from asking to its end")
        ]
        for part in request.reply:
            kind, upto = ("call", part.asked_s) if isinstance(part, CallSpan) else (part.content.type, part.ended_s)
            bars.append(self._bar(part.began_s, upto, kind, f"{kind}: {duration(upto - part.began_s)}"))
        wait_ms = request.end.retry_in_ms if request.end else None
        if wait_ms is not None:
            resumed = following.began_s if isinstance(following, RequestSpan) else until + wait_ms / 1000
            title = f"waits {duration(wait_ms / 1000)} before it is asked again"
            bars.append(self._bar(until, resumed, "backoff", title))
        return "".join(bars)

    def _piece(self, piece: Piece, nested: str) -> str:
        content = piece.content
        lane = self._bar(piece.began_s, piece.ended_s, content.type)
        took = duration(piece.ended_s - piece.began_s)
        match content:
            case Thinking():
                said = text(content.thinking, 300) or "not shown by the provider"
                name, body = (
                    f'<span class="sign">∴</span> <span class="excerpt">{said}</span>',
                    block(content.thinking, "prose"),
                )
            case Text():
                name = f'<span class="sign">“</span> <span class="excerpt">{text(content.text, 300)}</span>'
                body = block(content.text, "prose")
            case InlineData():
                name, body = f"{text(content.mime_type)}", _picture(content)
        name += _status_chip(getattr(content, "stop_reason", None) or "completed")
        return _row(f"{nested}reply {content.type}", name, lane, ("", "", took), body=body)

    def _call(self, span: CallSpan, nested: str) -> str:
        call, output = span.call, span.output
        status = (output.stop_reason or "completed") if output else "open"
        lane = [self._bar(span.began_s, span.asked_s, "call", "the model writes the call")]
        decided = span.decided_s if span.decided_s is not None else span.ended_s
        if decided is not None and decided > span.asked_s:
            lane.append(
                self._bar(span.asked_s, decided, "approval", f"decided after {duration(decided - span.asked_s)}")
            )
        if decided is not None and not span.is_refused:
            until = self._until(span.ended_s)
            lane.append(self._bar(decided, until, f"tool {status}", f"ran for {duration(until - decided)}"))
        name = f'<span class="sign">●</span> <b>{text(call.name, 60)}</b> <code>{text(about(call), 200)}</code>'
        name += _decision(span) + ("" if span.is_refused else _status_chip(status))
        ran = output is not None and not span.is_refused
        took = duration(self._until(span.ended_s) - (decided or span.asked_s)) if ran else ""
        return _row(f"{nested}reply tool {status}", name, "".join(lane), ("", "", took), body=_call_body(span))

    def _bar(self, began_s: float, ended_s: float, kind: str, title: str = "") -> str:
        return bar(self.scale.at(began_s), self.scale.at(ended_s), kind, title)

    def _until(self, ended_s: float | None) -> float:
        return self._run.ended_s if ended_s is None else ended_s


def _row(kind: str, name: str, lane: str, figures: Sequence[str] = (), *, body: str = "", opened: bool = False) -> str:
    """A row: `figures` are the cells behind the lane (tokens, cost, time), `body` what a click shows."""
    cells = f'<span class="name">{name}</span><span class="lane">{lane}</span>'
    cells += "".join(f'<span class="figure">{one}</span>' for one in figures or _NO_FIGURES)
    if not body:
        return f'<div class="row {kind}">{cells}</div>'
    is_open = " open" if opened else ""
    summary = f'<summary class="row">{cells}</summary>'
    return f'<details class="{kind}"{is_open}>{summary}<div class="body">{body}</div></details>'


def _busy(run: RunSpan) -> Iterator[tuple[float, float]]:
    """When somebody works: the model, or a tool that was allowed."""
    for request in run.requests:
        yield request.began_s, run.ended_s if request.ended_s is None else request.ended_s
        for call in request.calls:
            if call.decided_s is not None:
                yield call.decided_s, run.ended_s if call.ended_s is None else call.ended_s


def _facts(request: RequestSpan) -> str:
    facts: list[tuple[str, str]] = [("model", request.model)]
    if tokens := request.tokens:
        facts += [
            ("input from the cache", f"{tokens.cache_read:,}"),
            ("other input", f"{tokens.cache_write:,}"),
            ("output", f"{tokens.output:,}"),
        ]
    if request.end and request.end.finish:
        facts.append(("ended by", request.end.finish))
    listed = "".join(f"<dt>{name}</dt><dd>{text(value)}</dd>" for name, value in facts)
    error = request.end.error_message if request.end and request.end.error_message else ""
    return f'<dl class="facts">{listed}</dl>{block(error, "error")}'


def _call_body(span: CallSpan) -> str:
    call, output = span.call, span.output
    is_shown = output is not None and looks_like_diff(output.output)
    change, given = "" if is_shown else change_of(call), arguments_of(call)
    written = json.dumps(given, indent=2, ensure_ascii=False) if given is not None else call.arguments
    parts = ["<h4>change</h4>" + diff(change)] if change else []
    arguments = block(written, "code")
    folded = f"<details><summary>arguments</summary>{arguments}</details>"
    parts.append(folded if change or is_shown else arguments)
    if output is not None:
        shown = diff(output.output) if is_shown else block(output.output, "output")
        parts.append(f"<h4>output</h4>{shown}{''.join(map(picture, output.images or ()))}")
    else:
        parts.append('<p class="quiet">no output</p>')
    return "".join(parts)


def _decision(span: CallSpan) -> str:
    if (made := span.decision) is None:
        return chip("never decided", "warn") if span.output is None else ""
    if made.decision == "allow" and made.decided_by == "default":
        return ""
    kind = "good" if made.decision == "allow" else "bad"
    waited = f" · {duration(span.waited_s)}" if span.waited_s else ""
    return chip(f"{made.decision} · {made.decided_by}{waited}", kind, made.rule or "")


def _status_chip(status: str) -> str:
    if status == "completed":
        return ""
    return chip(status, "bad" if status in _BAD else "warn")


def _picture(image: ImageUrl | InlineData) -> str:
    return picture(image.image_url if isinstance(image, ImageUrl) else f"data:{image.mime_type};base64,{image.data}")


def _clock(seconds: float) -> str:
    return "0" if seconds == 0 else duration(seconds).replace(".0 s", " s")
