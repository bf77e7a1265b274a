"""The conversation before there is a server: everything up to the answer to `initialize`, without I/O.

This runs before anything heavy is imported, so that an editor has its answer while the rest is still loading. Standard
library only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agent_lsp import __version__
from agent_lsp.errors import FramingError, InvalidParams
from agent_lsp.server import method_names, parent
from agent_lsp.server.framing import MAX_MESSAGE_BYTES, Decoder, begins_block
from agent_lsp.server.plain_capabilities import offers_in_files, plain_capabilities
from agent_lsp.wire import jsonrpc

if TYPE_CHECKING:
    from agent_lsp.server.early_session import PromisedSession

POSITION_ENCODINGS = ("utf-8", "utf-16", "utf-32")
_LOOKED_AT_BYTES = 4096
_WARNING = 2  # MessageType of window/logMessage
_INCREMENTAL = 2  # TextDocumentSyncKind


class Configuration:
    """What was configured. `values` is the merged, checked configuration (nested, snake_case), `origin` its source.

    `models` and `default_model` are what it says of models; `warnings` are lines for the person. `is_certain`: each
    value is, as it stands in `values`, what the settings will have. `reload` reads it
    again with another settings section of the editor, another word on the trust (None: as it was found) and other
    options (None: those of `initialize`), and raises InvalidParams as `Configure` does.
    """

    __slots__ = ("default_model", "is_certain", "models", "origin", "reload", "thinking_levels", "values", "warnings")

    def __init__(
        self,
        values: Mapping[str, Any],
        *,
        origin: Any = None,
        models: list[dict[str, Any]] | None = None,
        default_model: dict[str, str] | None = None,
        thinking_levels: tuple[str, ...] = (),
        warnings: list[str] | None = None,
    ) -> None:
        self.values, self.origin, self.default_model, self.is_certain = values, origin, default_model, False
        self.models, self.warnings, self.thinking_levels = models or [], warnings or [], thinking_levels
        self.reload: Reload = lambda settings, trusted, options: self

    def limit(self, name: str, default: int) -> int:
        """The setting `limits.NAME`."""
        return cast("int", self.values.get("limits", {}).get(name, default))


Reload = Callable[[Mapping[str, Any] | None, bool | None, Mapping[str, Any] | None], Configuration]
Configure = Callable[["ClientInfo"], Configuration]
"""Reads the configuration for a client. Raises InvalidParams, which names each wrong field."""


class ClientInfo:
    """What the client said in `initialize`. Nothing of it is believed to have the right type.

    `plain`: it knows nothing of `agent/*`. `workspace` is the first folder as a URI (or a path). `parent_pid` is a
    process that was alive then.
    """

    __slots__ = ("capabilities", "options", "params", "parent_pid", "plain", "position_encoding", "said", "workspace")

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = params
        self.capabilities = _table(params.get("capabilities"))
        said = _table(self.capabilities.get("experimental")).get("agent")
        self.plain = not isinstance(said, dict)
        self.said = _table(said)
        self.options: Any = _table(params.get("initializationOptions")).get("agent")
        self.workspace = _workspace(params)
        self.position_encoding = _position_encoding(self.capabilities)
        pid = params.get("processId")
        self.parent_pid = pid if type(pid) is int and pid > 0 and parent.is_alive(pid) else None

    def can(self, name: str, default: bool = False) -> bool:
        """Whether the client declared `experimental.agent.NAME` (`approve`, `partials`, …)."""
        value = self.said.get(name)
        return value if isinstance(value, bool) else default

    @property
    def workspace_trusted(self) -> bool | None:
        """Whether the client says that the workspace is trusted; None when it says nothing."""
        value = self.said.get("workspaceTrusted")
        return value if isinstance(value, bool) else None

    @property
    def token(self) -> str | None:
        """What the client shows to be let in, over a socket."""
        value = _table(self.options).get("token")
        return value if isinstance(value, str) else None


class Greeted:
    """A handshake that went well: who the client is, what is configured, and the decoder with what came after.

    `promised` is a session that the client was told of since.
    """

    __slots__ = ("client", "configuration", "decoder", "promised")

    def __init__(self, client: ClientInfo, configuration: Configuration, decoder: Decoder) -> None:
        self.client, self.configuration, self.decoder = client, configuration, decoder
        self.promised: PromisedSession | None = None


class Handshake:
    """Feed it what was read; it gives the bodies to send, and becomes `greeted`, or `ended` when nothing will follow.

    `admits` decides who is let in over a socket: whoever is not, or says anything else first, is `ended` in silence.
    """

    def __init__(
        self,
        configure: Configure,
        *,
        decoder: Decoder | None = None,
        admits: Callable[[str | None], bool] | None = None,
    ) -> None:
        self.greeted: Greeted | None = None
        self.ended = False
        self._decoder = decoder or Decoder()
        self._configure, self._admits = configure, admits
        self._first = b""

    def feed(self, data: bytes) -> list[bytes]:
        """Takes what was read; returns the bodies to send for it. What follows `initialize` stays in the decoder."""
        if self._admits is not None and not self._looks_right(data):
            self.ended = True
        self._decoder.feed(data)
        answers: list[bytes] = []
        while self.greeted is None and not self.ended:
            item = self._decoder.take()
            if item is None:
                break
            answers += self._answers(item)
        return answers

    def _looks_right(self, data: bytes) -> bool:
        """Whether the connection begins with header lines; looked at before a whole block has come."""
        if len(self._first) < _LOOKED_AT_BYTES:
            self._first += data[:_LOOKED_AT_BYTES]
        return begins_block(self._first)

    def _answers(self, item: bytes | FramingError) -> list[bytes]:
        if isinstance(item, FramingError):
            self.ended = self._admits is not None
            return [] if self.ended else [jsonrpc.framing_failure(item)]
        match jsonrpc.parse(item):
            case jsonrpc.Request(method="initialize") as request:
                return self._initialize(request)
            case jsonrpc.Notification("exit"):
                self.ended = True
            case _ if self._admits is not None:
                self.ended = True
            case jsonrpc.Request(request_id):
                return [jsonrpc.failure(request_id, "server_not_initialized", "initialize comes first")]
            case jsonrpc.Invalid() as invalid:
                return [invalid.answer()]
            case _:
                pass
        return []

    def _initialize(self, request: jsonrpc.Request) -> list[bytes]:
        client = ClientInfo(request.params)
        if self._admits is not None and not self._admits(client.token):
            self.ended = True
            return []
        try:
            configuration = self._configure(client)
        except InvalidParams as error:
            errors = [{"path": path, "message": message} for path, message in error.errors]
            return [jsonrpc.failure(request.id, error.kind, error.message, {"errors": errors, "retryable": False})]
        self._decoder.max_message_bytes = configuration.limit("max_message_bytes", MAX_MESSAGE_BYTES)
        self.greeted = Greeted(client, configuration, self._decoder)
        return [
            jsonrpc.success(request.id, jsonrpc.dumps(initialize_result(client, configuration))),
            *(_log_message(line) for line in configuration.warnings),
        ]


def _offers(client: ClientInfo) -> dict[str, Any]:
    if client.plain:
        return plain_capabilities(client.capabilities)
    return offers_in_files(client.capabilities) if client.can("codeActions") else {}


def initialize_result(client: ClientInfo, configuration: Configuration) -> dict[str, Any]:
    """What the server can, for this client."""
    return {
        "capabilities": {
            "positionEncoding": client.position_encoding,
            "textDocumentSync": {"openClose": True, "change": _INCREMENTAL, "save": True},
            **_offers(client),
            "experimental": {
                "agent": {
                    "protocolVersion": method_names.PROTOCOL_VERSION,
                    "methods": method_names.METHODS,
                    "serverRequests": method_names.SERVER_REQUESTS,
                    "modes": method_names.MODES,
                    "thinkingLevels": configuration.thinking_levels,
                    "models": configuration.models,
                    "defaultModel": configuration.default_model,
                }
            },
        },
        "serverInfo": {"name": "agent-lsp", "version": __version__},
    }


def _position_encoding(capabilities: Mapping[str, Any]) -> str:
    """The first that both know, in the client's order; utf-16 when it has none."""
    offered = _table(capabilities.get("general")).get("positionEncodings")
    known = (
        (name for name in cast("list[Any]", offered) if name in POSITION_ENCODINGS) if isinstance(offered, list) else ()
    )
    return next(iter(known), "utf-16")


def _workspace(params: Mapping[str, Any]) -> str | None:
    folders = params.get("workspaceFolders")
    first = _table(cast("list[Any]", folders)[0]) if isinstance(folders, list) and folders else {}
    for uri in (first.get("uri"), params.get("rootUri")):
        if isinstance(uri, str) and uri:
            return uri
    path = params.get("rootPath")
    return path if isinstance(path, str) and os.path.isabs(path) else None  # noqa: PTH117 - pathlib is not loaded yet


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _log_message(line: str) -> bytes:
    return jsonrpc.notification("window/logMessage", jsonrpc.dumps({"type": _WARNING, "message": line}))
