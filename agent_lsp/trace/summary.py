"""What the lines of a trace add up to: turns, tokens, the last settings. A second look reads only what was added."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from agent_lsp.messages.content import Text
from agent_lsp.messages.events import (
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import field, frozen, replace
from agent_lsp.trace.reader import parse

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message
    from agent_lsp.trace.paths import TracePath

_EVENT = b'"event_msg"'
"""In every line of an event, and in no other: inside a JSON text the quotes are escaped."""

_MOST_WORDS = 80
_ATTACHED = "[attached "
_STAMP = re.compile(rb'\{\s*"timestamp"\s*:\s*"([0-9]{4}-[0-9:T.-]{9,40}Z)"')
_TAIL_BYTES = 4096


@frozen
class Totals:
    """A session as its trace leaves it.

    `turns` are completed requests, compactions aside; `usage` is the session's. `context_tokens` were in the context at
    the last turn (0 after a compaction). `settings` holds the last value of each setting that was ever changed. `words`
    are the first that a person said in it, on one line; None as long as nothing was asked of a model.
    """

    turns: int = 0
    usage: TokenCounts = field(default_factory=TokenCounts)
    context_tokens: int = 0
    context_window: int | None = None
    compaction_at: int | None = None
    settings: SessionUpdate = field(default_factory=SessionUpdate)
    is_compacting: bool = False
    words: str | None = None

    def plus(self, message: Message | None) -> Totals:
        """These totals after one more message. What is no event changes nothing, the first words of a person aside."""
        match message.payload if message and message.origin is None else None:
            case Text(role="user", text=text, sender=None) if self.words is None and not text.startswith(_ATTACHED):
                return replace(self, words=visible_line(" ".join(text.split()), _MOST_WORDS))
            case RequestBegin() if self.words is None:
                return replace(self, words="")
            case RunBegin():
                return replace(self, is_compacting=False)  # a crash may have left a compaction without its end
            case CompactionBegin():
                return replace(self, is_compacting=True)
            case CompactionEnd(status=status):
                return replace(
                    self, is_compacting=False, context_tokens=0 if status == "completed" else self.context_tokens
                )
            case RequestEnd(status="completed") if not self.is_compacting:
                return replace(self, turns=self.turns + 1)
            case TokenUsage() as usage:
                return self._after_request(usage)
            case SessionUpdate() as update:
                changed = update.model_dump(exclude_none=True)
                return replace(self, settings=self.settings.model_copy(update=changed))
            case _:
                return self

    def _after_request(self, usage: TokenUsage) -> Totals:
        return replace(
            self,
            usage=usage.session,
            context_tokens=self.context_tokens if self.is_compacting else usage.request.total,
            context_window=usage.context_window or self.context_window,
            compaction_at=usage.compaction_at or self.compaction_at,
        )


@frozen
class Scan:
    """How far a session's files have been added up: up to `offset` of the file `index`, which has the inode `inode`.

    `totals` are those of the whole lines up to there, `shown` counts a last line without its line end too.
    """

    index: int = 0
    inode: int = 0
    offset: int = 0
    totals: Totals = field(default_factory=Totals)
    shown: Totals = field(default_factory=Totals)


def scan(files: Sequence[TracePath], last: Scan | None = None) -> Scan:
    """Adds up a session's files, oldest first; goes on from the last scan if it still fits. OSError as from reading."""
    reached = last if last and _fits(last, files) else Scan()
    for file in files:
        if file.index < reached.index:
            continue
        with file.path.open("rb") as opened:
            if file.index > reached.index:
                reached = replace(reached, index=file.index, inode=os.fstat(opened.fileno()).st_ino, offset=0)
            reached = _scan_file(opened, reached)
    return reached


def last_timestamp(path: Path, size: int) -> str | None:
    """When the last whole message of a trace was written, read from the end of the file. OSError as from reading."""
    with path.open("rb") as file:
        tail = _TAIL_BYTES
        while True:
            start = max(0, size - tail)
            file.seek(start)
            lines = file.read(size - start).split(b"\n")
            for line in reversed(lines[1:] if start else lines):
                if matched := _STAMP.match(line):
                    return matched[1].decode("ascii")
            if not start:
                return None
            tail *= 16


def _fits(last: Scan, files: Sequence[TracePath]) -> bool:
    same = next((file for file in files if file.index == last.index), None)
    if same is None:
        return False
    found = same.path.stat()
    return found.st_ino == last.inode and found.st_size >= last.offset


def _scan_file(opened: BinaryIO, reached: Scan) -> Scan:
    totals, offset, rest = reached.totals, reached.offset, b""
    opened.seek(offset)
    for line in opened:
        if not line.endswith(b"\n"):
            rest = line
            break
        offset += len(line)
        if _EVENT in line or totals.words is None:
            totals = totals.plus(parse(line))
    return replace(reached, offset=offset, totals=totals, shown=totals.plus(parse(rest)) if rest else totals)
