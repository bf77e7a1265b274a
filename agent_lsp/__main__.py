"""The entry point: the server when there is no command, else the command line.

The server does things in an order that an editor notices: the standard streams are taken before anything could print
on them, `initialize` is answered from the standard library, the first session is as soon as it is asked for, and
meanwhile the application is imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_lsp import __version__

if TYPE_CHECKING:
    from agent_lsp.acp.handshake import Greeted as GreetedByAcp
    from agent_lsp.server.connection import Build
    from agent_lsp.server.flags import Flags
    from agent_lsp.server.handshake import Greeted


def main(arguments: list[str] | None = None, load: Callable[[], Build] | None = None) -> int:
    """Runs until the work is done and returns the exit status. `load` imports the application."""
    words = sys.argv[1:] if arguments is None else arguments
    if words == ["--version"]:  # asked by scripts and plugins, before each start
        sys.stdout.write(f"agent-lsp {__version__}\n")
        return 0
    if words[:1] == ["acp"]:
        try:
            return _acp(words[1:])
        except KeyboardInterrupt:
            return 130
    if words and (not words[0].startswith("--") or words[0] in ("--help", "--version")):
        from agent_lsp.cli import main as command

        return command(words)
    try:
        return _server(words, load or _application)
    except KeyboardInterrupt:
        return 130


def _server(words: list[str], load: Callable[[], Build]) -> int:
    from agent_lsp.wire import stdio

    try:
        streams = stdio.claim()
    except OSError as error:
        return _complain(f"standard input or output is closed ({error.strerror})")

    from agent_lsp.server import flags

    try:
        given = flags.parse(words)
    except flags.UsageError as error:
        return _complain(f"{error.message}\nusage: {flags.USAGE}")
    if given.tcp or given.pipe or given.ws:
        return _over_a_socket(given, load)

    from agent_lsp.server.greeting import shake_hands
    from agent_lsp.server.handshake import Handshake
    from agent_lsp.server.options import configure

    greeted = shake_hands(*streams, Handshake(configure(given.settings)))
    return 1 if greeted is None else _serve(*streams, greeted, given, load, looks_early=True)


def _acp(words: list[str]) -> int:
    """The other front end; it does things in the same order."""
    from agent_lsp.wire import stdio

    if {"--help", "-h"} & set(words):
        from agent_lsp.acp.options import USAGE

        sys.stdout.write(f"usage: {USAGE}\nServes a client of the Agent Client Protocol, on stdin and stdout.\n")
        return 0
    try:
        streams = stdio.claim()
    except OSError as error:
        return _complain(f"standard input or output is closed ({error.strerror})")

    from agent_lsp.acp.greeting import shake_hands
    from agent_lsp.acp.handshake import Handshake
    from agent_lsp.acp.options import USAGE, configure
    from agent_lsp.server import flags

    try:
        given = flags.parse(words)
    except flags.UsageError as error:
        return _complain(f"{error.message}\nusage: {USAGE}")
    if given.tcp or given.pipe or given.ws:
        return _complain(f"this protocol is spoken on standard input and output only\nusage: {USAGE}")

    greeted = shake_hands(*streams, Handshake(configure(given.settings)))
    return 1 if greeted is None else _serve_acp(*streams, greeted, given)


def _serve_acp(read_fd: int, write_fd: int, greeted: GreetedByAcp, given: Flags) -> int:
    def run() -> int:
        from agent_lsp import lean_imports

        lean_imports.spare()
        import asyncio

        from agent_lsp.acp.serving import serve
        from agent_lsp.app.acp_front import build

        return asyncio.run(serve(read_fd, write_fd, greeted, build))

    return _until_the_end(given, greeted.configuration.origin.data_dir, run)


def _over_a_socket(given: Flags, load: Callable[[], Build]) -> int:
    from agent_lsp.errors import AgentError
    from agent_lsp.server import listen
    from agent_lsp.server.options import configure

    try:
        client = listen.await_client(given, configure(given.settings))
    except AgentError as error:
        return _complain(error.message)
    if client is None:
        return 1
    fd, greeted = client
    return _serve(fd, fd, greeted, given, load)


def _serve(
    read_fd: int,
    write_fd: int,
    greeted: Greeted,
    given: Flags,
    load: Callable[[], Build],
    *,
    looks_early: bool = False,
) -> int:
    """Imports the application and runs it. `looks_early`: the descriptors carry what the decoder takes, as they are."""

    def run() -> int:
        from agent_lsp import lean_imports
        from agent_lsp.server.early_session import EarlySession

        early = EarlySession(greeted, read_fd, write_fd, is_open=looks_early)
        early.look()
        lean_imports.spare()
        early.look()
        import asyncio

        from agent_lsp.server.serving import serve

        early.look()
        build = load()
        early.look()
        return asyncio.run(serve(read_fd, write_fd, greeted, build))

    return _until_the_end(given, greeted.configuration.origin.data_dir, run)


def _until_the_end(given: Flags, data_dir: str, run: Callable[[], int]) -> int:
    """Runs a server, whose imports are still to come."""
    import gc
    import logging

    from agent_lsp.wire import logs

    gc.disable()  # until all is imported, which makes no garbage: looking for some costs a tenth of the start
    logs.begin(given.log_level, given.log_file, data_dir)
    try:
        return run()
    except Exception:
        logging.getLogger(__name__).critical("the server has failed", exc_info=True)
        return 1


def _application() -> Build:
    from agent_lsp.app import build

    return build


def _complain(message: str) -> int:
    sys.stderr.write(f"agent-lsp: {message}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
