"""The command line: what a person types, as against the server that an editor starts."""

from __future__ import annotations


def main(argv: list[str]) -> int:
    """Carries out one command and returns the exit status; `argv` is without the program's name."""
    from agent_lsp.cli.commands import execute

    return execute(argv)
