"""The command line of the server, read by hand: argparse would take longer than the rest of the handshake."""

from __future__ import annotations

from agent_lsp.errors import AgentError
from agent_lsp.slotted import frozen

LOG_LEVELS = ("debug", "info", "warning", "error", "critical")
USAGE = """\
agent-lsp [--data-dir DIR] [--config FILE] [--log-level LEVEL] [--log-file FILE]
          [--tcp HOST:PORT | --pipe PATH | --ws HOST:PORT] [--token FILE] [--allow-remote]"""
_VALUES = ("data-dir", "config", "log-level", "log-file", "tcp", "pipe", "ws", "token", "clientProcessId")
_SWITCHES = ("stdio", "allow-remote")  # vscode-languageclient adds --stdio and --clientProcessId by itself
_WAYS = ("stdio", "tcp", "pipe", "ws")


class UsageError(AgentError):
    """Arguments that make no sense."""


@frozen
class Flags:
    """How the server was started. At most one of `tcp`, `pipe` and `ws` is set; without one it is stdio."""

    data_dir: str | None = None
    config: str | None = None
    log_level: str = "warning"
    log_file: str | None = None
    tcp: str | None = None
    pipe: str | None = None
    ws: str | None = None
    token: str | None = None
    allow_remote: bool = False

    @property
    def settings(self) -> dict[str, object]:
        """What the command line says of the configuration."""
        said = {"data_dir": self.data_dir, "config": self.config, "allow_remote": self.allow_remote or None}
        return {name: value for name, value in said.items() if value is not None}


def parse(arguments: list[str]) -> Flags:
    """The flags, `--name value` or `--name=value`. Raises UsageError."""
    given: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, has_value, value = word.removeprefix("--").partition("=")
        if not word.startswith("--") or name not in (*_VALUES, *_SWITCHES):
            raise UsageError(f"unknown argument {word!r}")
        if name in _VALUES and not (value if has_value else (value := next(words, ""))):
            raise UsageError(f"--{name} needs a value")
        if name in _SWITCHES and has_value:
            raise UsageError(f"--{name} takes no value")
        given[name] = value
    if (level := given.get("log-level", "warning")) not in LOG_LEVELS:
        raise UsageError(f"--log-level is one of {', '.join(LOG_LEVELS)}, not {level!r}")
    if len(ways := [f"--{name}" for name in _WAYS if name in given]) > 1:
        raise UsageError(f"only one of {', '.join(ways)}")
    return Flags(
        data_dir=given.get("data-dir"),
        config=given.get("config"),
        log_level=level,
        log_file=given.get("log-file"),
        tcp=given.get("tcp"),
        pipe=given.get("pipe"),
        ws=given.get("ws"),
        token=given.get("token"),
        allow_remote="allow-remote" in given,
    )
