"""Throws old sessions away: which ones follows from rules, and nobody's open session is among them.

A session and those of its subagents stay or go together. Everything here blocks on the disk.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.errors import SessionBusy, SessionNotFound
from agent_lsp.slotted import field, frozen, mutable
from agent_lsp.trace.reader import read_meta
from agent_lsp.trace.session_ids import is_session_id

if TYPE_CHECKING:
    from agent_lsp.trace.paths import DataDir
    from agent_lsp.trace.store import SessionStore

_DAY_S = 86400


@frozen
class Rules:
    """What may stay. A session goes as soon as one rule says so; None: no such rule."""

    older_than_days: float | None = None
    keep: int | None = None
    max_bytes: int | None = None


@mutable
class Family:
    """A session with its subagents' sessions. `used_s` is when any of them was last written."""

    session_ids: list[str] = field(default_factory=list[str])
    used_s: float = 0.0
    size_bytes: int = 0


@frozen
class Pruned:
    """What went, what could not because it is open or the disk refused, and the bytes that are free again."""

    removed: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    freed_bytes: int = 0


def plan(data: DataDir, rules: Rules, now_s: float) -> list[Family]:
    """What the rules would have gone, the oldest first. Changes nothing."""
    newest_first = sorted(_families(data), key=lambda one: one.used_s, reverse=True)
    going: list[Family] = []
    kept_bytes = 0
    for place, family in enumerate(newest_first):
        is_old = rules.older_than_days is not None and now_s - family.used_s > rules.older_than_days * _DAY_S
        is_one_too_many = rules.keep is not None and place >= rules.keep
        is_too_much = rules.max_bytes is not None and kept_bytes + family.size_bytes > rules.max_bytes
        if is_old or is_one_too_many or is_too_much:
            going.append(family)
        else:
            kept_bytes += family.size_bytes
    return going[::-1]


def prune(store: SessionStore, families: Iterable[Family]) -> Pruned:
    """Removes them, traces, scratchpads and pages. Never raises; what is open stays whole, its subagents included."""
    removed, kept, freed = list[str](), list[str](), 0
    for family in families:
        gone: list[str] = []
        for session_id in family.session_ids:  # the parent first: while it is open its children are in use
            try:
                store.delete(session_id)
            except SessionNotFound:
                continue  # somebody else was faster
            except (SessionBusy, OSError):
                kept.append(session_id)
                break
            gone.append(session_id)
        removed += gone
        freed += family.size_bytes if len(gone) == len(family.session_ids) else 0
    return Pruned(tuple(removed), tuple(kept), freed)


def _families(data: DataDir) -> Sequence[Family]:
    families: dict[str, Family] = {}
    for session_id, files in data.all_trace_files().items():
        paths = [file.path for file in files]
        family = families.setdefault(_root(session_id, paths[-1]), Family())
        _add(family, session_id, [*paths, *_beside(data, session_id)])
    known = {one for family in families.values() for one in family.session_ids}
    for session_id in {*_named_in(data.root / "scratchpad"), *_named_in(data.pages)}:
        if session_id not in known:  # left by an ephemeral session, or by one whose trace is gone
            _add(families.setdefault(session_id, Family()), session_id, _beside(data, session_id))
    for root, family in families.items():
        family.session_ids.sort(key=lambda one: one != root)
    return list(families.values())


def _add(family: Family, session_id: str, paths: Iterable[Path]) -> None:
    family.session_ids.append(session_id)
    for path in paths:
        with contextlib.suppress(OSError):
            found = path.stat()
            family.used_s = max(family.used_s, found.st_mtime)
            family.size_bytes += found.st_size if path.is_file() else 0


def _root(session_id: str, newest: Path) -> str:
    """The session that it belongs to: itself, unless it is a subagent's."""
    with contextlib.suppress(OSError):
        meta = read_meta(newest)
        if meta and meta.payload.source == "subagent" and meta.payload.parent_id:
            return meta.payload.parent_id
    return session_id


def _named_in(folder: Path) -> list[str]:
    """The sessions that have something of their name there."""
    try:
        return [one.stem for one in folder.iterdir() if is_session_id(one.stem)]
    except OSError:
        return []


def _beside(data: DataDir, session_id: str) -> list[Path]:
    """What a session has beside its traces, and its page, there or not."""
    return [*_files_in(data.scratchpad(session_id)), data.page(session_id), data.judged(session_id)]


def _files_in(folder: Path) -> list[Path]:
    """The folder and everything in it, links not followed."""
    return [folder, *(path for path in folder.rglob("*") if not path.is_symlink())] if folder.is_dir() else []
