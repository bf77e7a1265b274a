"""`agent-lsp trace`: a session's trace to read, to look at, to check and to play again."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from agent_lsp.cli.kept import DATA_DIR_HELP, data_dir, prices, show_page
from agent_lsp.errors import AgentError, SessionNotFound
from agent_lsp.policy.visible import visible_line
from agent_lsp.trace.session_ids import is_session_id
from agent_lsp.trace.view.figures import plural
from agent_lsp.trace.view.html import render
from agent_lsp.trace.view.show import show
from agent_lsp.trace.view.timeline import read_timeline
from agent_lsp.trace.view.verify import summary, verify

Add = Callable[..., argparse.ArgumentParser]
_LINE = 400
"""Characters that are shown of a record."""


def add_trace(add: Add) -> None:
    """Adds the command to those that `add` makes."""
    command = add("trace", help="read a session's trace, look at it as a page, check it, play it again")
    actions = command.add_subparsers(title="actions", metavar="ACTION", required=True)
    showing = _add_action(actions.add_parser, "show", "as text", _show)
    showing.add_argument("--full", action="store_true", help="whole outputs and thoughts")
    page = _add_action(actions.add_parser, "html", "as one HTML file that needs nothing else", _html)
    page.add_argument("-o", "--output", metavar="OUT", help="where to; - is stdout; default: SESSION.html")
    page.add_argument("--open", action="store_true", help="show it in the browser")
    page.add_argument(
        "--prices", metavar="FILE", help="JSON of prices by provider and model, in place of configured ones; - is stdin"
    )
    _add_action(actions.add_parser, "verify", "check its structure; ends with 1 if it is not sound", _verify)
    again = "run it again, offline, on the recorded replies and outputs; ends with 1 if it comes out otherwise"
    _add_action(actions.add_parser, "replay", again, _replay)


def _add_action(
    add: Add, name: str, help_text: str, carry_out: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    action = add(name, help=help_text)
    action.add_argument("file", metavar="FILE", nargs="+", help="trace files of one session, or its id")
    action.add_argument("--data-dir", type=Path, metavar="DIR", help=DATA_DIR_HELP)
    action.set_defaults(carry_out=carry_out)
    return action


def _show(given: argparse.Namespace) -> int:
    with _reading():
        timeline = read_timeline(_files(given))
    for line in show(timeline, prices().cost_usd, full=given.full):
        print(line)
    return 0


def _html(given: argparse.Namespace) -> int:
    files = _files(given)
    with _reading():
        page = render(read_timeline(files), prices(given.prices).cost_usd)
    target = given.output or f"{files[-1].stem.rpartition('_')[0] or files[-1].stem}.html"
    return show_page(page, target, is_opened=given.open)


def _verify(given: argparse.Namespace) -> int:
    with _reading():
        verdicts = [verify(path) for path in _files(given)]
    return 0 if summary(verdicts, lambda line: print(visible_line(line))) else 1


def _replay(given: argparse.Namespace) -> int:
    import asyncio

    from agent_lsp.trace.view.replay import replay

    came_out = True
    files = _files(given)
    for place, path in enumerate(files):
        with _reading():
            done = asyncio.run(replay(path, files[:place]))
        came_out = came_out and not done.differences
        said = plural(len(done.differences), "difference") if done.differences else "as recorded"
        skipped = f", {plural(done.skipped, 'task')} of a goal or a loop left out" if done.skipped else ""
        counts = f"{plural(done.tasks, 'task')}, {plural(done.records, 'record')}"
        print(visible_line(f"{path.name}: {counts}: {said}{skipped}"))
        for one in done.differences:
            print(f"  line {one.line}")
            print(visible_line(f"    recorded: {one.recorded or 'nothing more'}", _LINE))
            print(visible_line(f"    replayed: {one.replayed or 'nothing'}", _LINE))
    return 0 if came_out else 1


def _files(given: argparse.Namespace) -> list[Path]:
    """The files that were named, or all those of the session. Raises SessionNotFound."""
    named: list[str] = given.file
    if len(named) == 1 and is_session_id(named[0]) and not Path(named[0]).exists():
        found = [file.path for file in data_dir(given.data_dir).trace_files(named[0])]
        if not found:
            raise SessionNotFound(named[0], "it has no trace")
        return found
    return [Path(one) for one in named]


@contextmanager
def _reading() -> Generator[None]:
    """Within it, a file that cannot be read is an AgentError."""
    try:
        yield
    except OSError as error:
        raise AgentError(f"{error.filename}: {error.strerror}") from error
