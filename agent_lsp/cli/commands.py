"""The commands: their arguments, and who carries them out."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import indent

from agent_lsp import __version__
from agent_lsp.acp.options import USAGE as USAGE_OF_ACP
from agent_lsp.cli.client import ServerError
from agent_lsp.cli.completion import add_completion
from agent_lsp.cli.conversation import ALLOW_ALL, NOBODY_TO_ASK, Answerer, Job, run
from agent_lsp.cli.demo import demo
from agent_lsp.cli.inspection import doctor, schema, trust
from agent_lsp.cli.login import add_login
from agent_lsp.cli.models import add_models
from agent_lsp.cli.palette import palette_for
from agent_lsp.cli.render import Renderer
from agent_lsp.cli.sessions import add_sessions
from agent_lsp.cli.status import EXIT_STATUS, EXPLAINED, USAGE, of_error
from agent_lsp.cli.terminal import Screen
from agent_lsp.cli.traces import add_trace
from agent_lsp.cli.usage import add_usage
from agent_lsp.config.shape import APPROVAL_MODES
from agent_lsp.errors import AgentError
from agent_lsp.policy.visible import visible
from agent_lsp.server.flags import USAGE as USAGE_OF_SERVER

Add = Callable[..., argparse.ArgumentParser]


class Given(argparse.Namespace):
    """What was given; each command reads what it has arguments for."""

    carry_out: Callable[[Given], int]
    of: str
    camel: bool
    prompt: str
    model: str | None
    workspace: Path
    approval_mode: str | None
    config: Path | None
    data_dir: Path | None
    yes: bool
    remove: bool
    test: bool
    json: bool


def execute(argv: Sequence[str]) -> int:
    """Parses and carries out; usage errors end with status 2 and never with a traceback."""
    arguments = parser().parse_args(argv, namespace=Given())
    try:
        return arguments.carry_out(arguments)
    except AgentError as error:
        return complain(error)
    except KeyboardInterrupt:
        return EXIT_STATUS["aborted"]
    except BrokenPipeError:  # whoever reads has seen enough; what is still buffered must not fail at the exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parser() -> argparse.ArgumentParser:
    """All the commands."""
    top = argparse.ArgumentParser(
        prog="agent-lsp",
        description="A coding agent that an editor starts like any language server.",
        epilog=f"without a command it is the server:\n{indent(USAGE_OF_SERVER, '  ')}\n"
        f"and for clients of the Agent Client Protocol:\n{indent(USAGE_OF_ACP, '  ')}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=f"agent-lsp {__version__}")
    commands = top.add_subparsers(title="commands", metavar="COMMAND", required=True)
    looking_back = (add_sessions, add_trace, add_usage)
    for add in (_add_run, _add_demo, add_models, add_login, *looking_back, _add_doctor, _add_schema, _add_trust):
        add(commands.add_parser)
    add_completion(commands.add_parser, parser)
    return top


def complain(error: AgentError) -> int:
    """Says what went wrong, and what could be done about it."""
    print(f"agent-lsp: {visible(error.message)}", file=sys.stderr)
    if isinstance(error, ServerError):
        for wrong in error.data.get("errors", ()):
            if str(wrong["message"]) not in error.message:
                print(f"  {visible(str(wrong['path']))}: {visible(str(wrong['message']))}", file=sys.stderr)
        if error.hint:
            print(f"  {visible(error.hint)}", file=sys.stderr)
    return of_error(error)


def _add_run(add: Add) -> None:
    command = add(
        "run",
        help="give it one task and watch",
        description="Starts the server, gives it one task and shows what it does. Ctrl-C aborts, a second one leaves.",
        epilog=EXPLAINED,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("prompt", help="what to do; - reads it from stdin")
    command.add_argument("--model", metavar="PROVIDER/MODEL", help="default: what the configuration says")
    command.add_argument("--workspace", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    command.add_argument("--approval-mode", choices=APPROVAL_MODES, help="what may be done without asking")
    command.add_argument("--config", type=Path, metavar="FILE", help="a user configuration to read instead of yours")
    command.add_argument("--data-dir", type=Path, metavar="DIR", help="where traces and scratch files are kept")
    command.add_argument("--yes", action="store_true", help="answer every approval with yes")
    command.add_argument("--json", action="store_true", help="print messages and the result as JSON, a line each")
    command.set_defaults(carry_out=_run)


def _add_demo(add: Add) -> None:
    command = add(
        "demo",
        help="watch it work on a sample project, offline",
        description="Runs one task from end to end on a sample project with the built-in rehearsal model. On a terminal"
        " you answer its question, else it answers by itself. Nothing is left behind.",
    )
    command.set_defaults(carry_out=_demo)


def _add_doctor(add: Add) -> None:
    command = add(
        "doctor",
        help="what is configured, where it comes from, what is missing",
        description="Prints what can go into a bug report as it is: no key is in it, and ~ stands for your home.",
    )
    command.add_argument("--test", action="store_true", help="try the default model with the smallest request there is")
    command.add_argument("--workspace", type=Path, default=Path(), metavar="DIR", help="default: the current folder")
    command.add_argument("--config", type=Path, metavar="FILE", help="a user configuration to read instead of yours")
    command.add_argument("--data-dir", type=Path, metavar="DIR", help="where traces and scratch files are kept")
    command.set_defaults(carry_out=_doctor)


def _add_schema(add: Add) -> None:
    command = add(
        "schema",
        help="the configuration or the protocol, as JSON Schema or TypeScript",
        description="config: the JSON Schema of the TOML file. protocol: that of the agent/* methods and the messages."
        " typescript: the same as types, for a client in that language.",
    )
    command.add_argument("of", choices=["config", "protocol", "typescript"], help="what to print")
    command.add_argument("--camel", action="store_true", help="config with the names that JSON clients use")
    command.set_defaults(carry_out=_schema)


def _add_trust(add: Add) -> None:
    command = add(
        "trust",
        help="read the settings that a project brings",
        description="Has the settings in a project's .agent-lsp folder count, as far as they widen nothing."
        " An editor that says itself whether it trusts a folder needs none of this.",
    )
    command.add_argument("workspace", type=Path, metavar="PATH", help="the project's folder; not those below it")
    command.add_argument("--remove", action="store_true", help="take the trust back")
    command.set_defaults(carry_out=_trust)


def _trust(arguments: Given) -> int:
    return trust(arguments.workspace, remove=arguments.remove)


def _demo(_: Given) -> int:
    return demo()


def _doctor(arguments: Given) -> int:
    return doctor(arguments.workspace, arguments.config, arguments.data_dir, is_tried=arguments.test)


def _schema(arguments: Given) -> int:
    return schema(arguments.of, camel=arguments.camel)


def _run(arguments: Given) -> int:
    prompt = sys.stdin.read() if arguments.prompt == "-" else arguments.prompt
    if not prompt.strip():
        print("agent-lsp: the prompt is empty", file=sys.stderr)
        return USAGE
    workspace = arguments.workspace.absolute()
    if not workspace.is_dir():
        print(f"agent-lsp: no folder {visible(str(workspace))}", file=sys.stderr)
        return USAGE
    return perform(
        Job(
            prompt,
            workspace,
            arguments.model,
            _options(arguments),
            _answerer(arguments),
            asks=sys.stdin.isatty() and not arguments.json,
            as_json=arguments.json,
        )
    )


def _options(arguments: Given) -> dict[str, str]:
    """The settings of the connection that arguments stand for."""
    said = {
        "approvalMode": arguments.approval_mode,
        "config": arguments.config and arguments.config.absolute(),
        "dataDir": arguments.data_dir and arguments.data_dir.absolute(),
    }
    return {name: str(value) for name, value in said.items() if value}


def _answerer(arguments: Given) -> Answerer | None:
    if arguments.yes:
        return ALLOW_ALL
    return NOBODY_TO_ASK if arguments.json or not sys.stdin.isatty() else None


def perform(job: Job) -> int:
    """Runs the job on this terminal and returns its exit status."""
    screen = Screen(sys.stdout)
    result = asyncio.run(run(job, screen, Renderer(palette_for(sys.stdout, os.environ))))
    return EXIT_STATUS["failed"] if screen.is_lost else EXIT_STATUS[result.status]
