"""Everything up to the answer to `initialize`, without I/O and before anything heavy is imported.

Standard library only. The client's protocol version is never a reason to refuse it: it is told ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from agent_lsp import __version__
from agent_lsp.acp.framing import Lines
from agent_lsp.errors import FramingError, InvalidParams
from agent_lsp.wire import jsonrpc

PROTOCOL_VERSION = 1
LOGIN = "login"
_LOGIN_HELP = "Run `agent-lsp login` in a terminal to store an API key"


class ClientInfo:
    """What the client can. Nothing that it said is believed to have the right type."""

    __slots__ = ("reads_files", "runs_logins", "shows_forms", "writes_files")

    def __init__(self, params: Mapping[str, Any]) -> None:
        said = _table(params.get("clientCapabilities"))
        files = _table(said.get("fs"))
        self.reads_files = files.get("readTextFile") is True
        self.writes_files = files.get("writeTextFile") is True
        self.shows_forms = isinstance(_table(said.get("elicitation")).get("form"), dict)
        self.runs_logins = _table(said.get("auth")).get("terminal") is True


class Configuration:
    """What was configured. `origin` is its source, `needs_login` whether no model has a credential."""

    __slots__ = ("max_message_bytes", "max_queued_bytes", "needs_login", "origin", "warnings")

    def __init__(self, origin: Any, limits: Mapping[str, int], warnings: list[str], *, needs_login: bool) -> None:
        self.origin, self.warnings, self.needs_login = origin, warnings, needs_login
        self.max_message_bytes = limits.get("max_message_bytes")
        self.max_queued_bytes = limits.get("max_queued_bytes")


Configure = Callable[[], Configuration]
"""Reads the configuration. Raises InvalidParams, which names each wrong setting."""


class Greeted:
    """A handshake that went well: who the client is, what is configured, and the decoder with what came after."""

    __slots__ = ("client", "configuration", "decoder")

    def __init__(self, client: ClientInfo, configuration: Configuration, decoder: Lines) -> None:
        self.client, self.configuration, self.decoder = client, configuration, decoder


class Handshake:
    """Feed it what was read; it gives the bodies to send, and becomes `greeted`."""

    def __init__(self, configure: Configure) -> None:
        self.greeted: Greeted | None = None
        self._configure, self._decoder = configure, Lines()

    def feed(self, data: bytes) -> list[bytes]:
        """Takes what was read; returns the bodies to send for it. What follows `initialize` stays in the decoder."""
        self._decoder.feed(data)
        answers: list[bytes] = []
        while self.greeted is None and (item := self._decoder.take()) is not None:
            answers += self._answers(item)
        return answers

    def _answers(self, item: bytes | FramingError) -> list[bytes]:
        if isinstance(item, FramingError):
            return [jsonrpc.framing_failure(item)]
        match jsonrpc.parse(item):
            case jsonrpc.Request(method="initialize") as request:
                return [self._initialize(request)]
            case jsonrpc.Request(request_id):
                return [jsonrpc.failure(request_id, "invalid_request", "initialize comes first")]
            case jsonrpc.Invalid() as invalid:
                return [invalid.answer()]
            case _:
                return []

    def _initialize(self, request: jsonrpc.Request) -> bytes:
        try:
            configuration = self._configure()
        except InvalidParams as error:
            errors = [{"path": path, "message": message} for path, message in error.errors]
            return jsonrpc.failure(request.id, error.kind, error.message, {"errors": errors})
        if configuration.max_message_bytes is not None:
            self._decoder.max_message_bytes = configuration.max_message_bytes
        client = ClientInfo(request.params)
        self.greeted = Greeted(client, configuration, self._decoder)
        return jsonrpc.success(request.id, jsonrpc.dumps(initialize_result(client, configuration)))


def initialize_result(client: ClientInfo, configuration: Configuration) -> dict[str, Any]:
    """What the agent can, for this client."""
    return {
        "protocolVersion": PROTOCOL_VERSION,
        "agentInfo": {"name": "agent-lsp", "title": "agent-lsp", "version": __version__},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": False},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}, "delete": {}, "fork": {}},
        },
        "authMethods": [_login(client)] if configuration.needs_login else [],
        "_meta": {"steering": {"supported": True}},
    }


def _login(client: ClientInfo) -> dict[str, Any]:
    """How to log in; a client that cannot run it in a terminal of its own shows what to do."""
    method: dict[str, Any] = {"id": LOGIN, "name": "Log in", "description": _LOGIN_HELP}
    # The client puts the arguments behind the command that starts the agent, so that only the last word counts.
    return {**method, "type": "terminal", "args": [LOGIN], "env": {}} if client.runs_logins else method


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
