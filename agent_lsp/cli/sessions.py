"""`agent-lsp sessions`: what is kept of sessions, and throwing old ones away."""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agent_lsp.cli.kept import DATA_DIR_HELP, data_dir, width
from agent_lsp.cli.status import USAGE
from agent_lsp.cli.tables import Column, table
from agent_lsp.policy.visible import visible_line
from agent_lsp.trace.store import SessionStore, StoredSession
from agent_lsp.trace.view.figures import plural, short_count
from agent_lsp.trace.view.prune import Rules, plan, prune

_COLUMNS = (
    Column("session"),
    Column("title", shrinks=True),
    Column("workspace", shrinks=True),
    Column("model", shrinks=True),
    Column("turns", is_number=True),
    Column("tokens", is_number=True),
    Column("last used (UTC)"),
)
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def add_sessions(add: Callable[..., argparse.ArgumentParser]) -> None:
    """Adds the command to those that `add` makes."""
    command = add("sessions", help="what is kept of sessions: list it, or throw old ones away")
    _add_list_options(command)
    actions = command.add_subparsers(metavar="ACTION", title="actions")
    _add_list_options(actions.add_parser("list", help="list them, the last used first (the default)"), again=True)
    pruning = actions.add_parser(
        "prune",
        help="delete old ones",
        description="Deletes sessions with their traces and scratch files. One that any rule names goes, its subagents"
        " with it; one that is open in a server stays.",
    )
    pruning.add_argument("--older-than", type=_days, metavar="DAYS", help="those not used for so many days")
    pruning.add_argument("--keep", type=_count, metavar="N", help="all but the N last used")
    pruning.add_argument(
        "--max-bytes", type=_size, metavar="SIZE", help="the oldest, until the rest is within 500M, 2G"
    )
    pruning.add_argument("--dry-run", action="store_true", help="only say what would go")
    pruning.add_argument("--data-dir", type=Path, metavar="DIR", default=argparse.SUPPRESS, help=DATA_DIR_HELP)
    pruning.set_defaults(carry_out=_prune)


def _add_list_options(command: argparse.ArgumentParser, *, again: bool = False) -> None:
    """`again`: for the action, which must not take back with its defaults what was said before it."""

    def default(value: object) -> object:
        return argparse.SUPPRESS if again else value

    command.add_argument("--workspace", type=Path, metavar="DIR", default=default(None), help="only those of a folder")
    command.add_argument("--limit", type=_count, metavar="N", default=default(50), help="so many at most; 50")
    command.add_argument("--subagents", action="store_true", default=default(False), help="those of subagents too")
    command.add_argument("--json", action="store_true", default=default(False), help="as a JSON array")
    command.add_argument("--data-dir", type=Path, metavar="DIR", default=default(None), help=DATA_DIR_HELP)
    command.set_defaults(carry_out=_list)


def _list(given: argparse.Namespace) -> int:
    workspace = str(given.workspace.absolute()) if given.workspace else None
    store = SessionStore(data_dir(given.data_dir))
    found = store.list(workspace, given.limit, subagents=given.subagents)
    if given.json:
        print(json.dumps([_as_json(one) for one in found.sessions], indent=2, ensure_ascii=False))
        return 0
    if not found.sessions:
        print("no sessions")
        return 0
    for line in table(_COLUMNS, [_row(one) for one in found.sessions], width()):
        print(line)
    if found.next_cursor:
        print(f"… and older ones; --limit {given.limit * 2} shows more")
    return 0


def _row(session: StoredSession) -> tuple[str, ...]:
    totals = session.totals
    return (
        session.session_id,
        session.name or "",
        session.meta.workspace,
        session.model,
        str(totals.turns),
        short_count(totals.usage.total),
        session.updated_at[:16].replace("T", " "),
    )


def _as_json(session: StoredSession) -> dict[str, Any]:
    return {
        "sessionId": session.session_id,
        "title": session.name,
        "workspace": session.meta.workspace,
        "model": session.model,
        "mode": session.mode,
        "createdAt": session.meta.created_at,
        "updatedAt": session.updated_at,
        "turns": session.totals.turns,
        "usage": session.totals.usage.model_dump(),
        "parentId": session.meta.parent_id,
        "tracePath": str(session.trace_path),
    }


def _prune(given: argparse.Namespace) -> int:
    rules = Rules(given.older_than, given.keep, given.max_bytes)
    if rules == Rules():
        print("agent-lsp: say which: --older-than, --keep or --max-bytes", file=sys.stderr)
        return USAGE
    data = data_dir(getattr(given, "data_dir", None))
    families = plan(data, rules, time.time())
    size = short_count(sum(one.size_bytes for one in families))
    if given.dry_run:
        for session_id in (one for family in families for one in family.session_ids):
            print(session_id)
        print(f"{plural(sum(len(one.session_ids) for one in families), 'session')}, {size} bytes would go")
        return 0
    done = prune(SessionStore(data), families)
    print(f"{plural(len(done.removed), 'session')} deleted, {short_count(done.freed_bytes)} bytes freed")
    for session_id in done.kept:
        print(visible_line(f"{session_id} is open, or cannot be deleted: it stays"), file=sys.stderr)
    return 0


def _days(text: str) -> float:
    return _at_least_nothing(float(text))


def _count(text: str) -> int:
    return int(_at_least_nothing(int(text)))


def _at_least_nothing(number: float) -> float:
    if not 0 <= number < float("inf"):
        raise argparse.ArgumentTypeError("must not be below 0")
    return number


def _size(text: str) -> int:
    matched = _SIZE.fullmatch(text.strip())
    if matched is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no size: 800000, 500M, 2G")
    return int(float(matched[1]) * _UNITS[matched[2].lower()])
