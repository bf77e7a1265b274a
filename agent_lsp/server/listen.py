"""Waits for the one client of a server that listens: TCP, a Unix socket, or WebSocket.

TCP and WebSocket are open to every program and web page on the machine: they want a token, and whoever has none is sent
away without a word, and without being the one client. A Unix socket is guarded by its permissions.
"""

from __future__ import annotations

import contextlib
import hmac
import ipaddress
import os
import secrets
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from agent_lsp.config import layers
from agent_lsp.errors import AgentError
from agent_lsp.server.greeting import shake_hands
from agent_lsp.server.handshake import Configure, Greeted, Handshake

if TYPE_CHECKING:
    from agent_lsp.server.flags import Flags

_GREETING_S = 10.0

Admits = Callable[[str | None], bool]


class ListenError(AgentError):
    """The server cannot listen as it was told to."""


def await_client(given: Flags, configure: Configure) -> tuple[int, Greeted] | None:
    """Listens until a client has said `initialize`; returns its socket, which the caller owns, and its greeting.

    None when the client at a Unix socket left before. Raises ListenError or ConfigError.
    """
    if given.pipe is not None:
        with _unix_socket(given.pipe) as client:
            greeted = shake_hands(client.fileno(), client.fileno(), Handshake(configure))
            return (client.detach(), greeted) if greeted else None
    configured = layers.load(arguments=given.settings).values
    address = given.tcp or given.ws or ""
    admits, told = _token(given.token)
    with _tcp_listener(address, remote=configured.get("allow_remote") is True) as listener:
        clients = _accepted(listener) if given.tcp else _upgraded(listener, configured.get("allowed_origins", []))
        host, port = listener.getsockname()[:2]
        _tell(f"listening on {host} port {port}; {told}")
        for client in clients:
            with client:
                handshake = Handshake(configure, admits=admits)
                greeted = shake_hands(client.fileno(), client.fileno(), handshake, within_s=_GREETING_S)
                if greeted is not None:
                    return client.detach(), greeted
    raise ListenError("the listening socket was closed")


def _token(file: str | None) -> tuple[Admits, str]:
    """Who is let in, and what to tell about it: the content of the file, or a token made for this process."""
    if file is None:
        token = secrets.token_urlsafe(32)
        told = f"token: {token}"
    else:
        token, told = _read_token(file), f"the token is in {file}"
    expected = token.encode()
    return lambda shown: shown is not None and hmac.compare_digest(shown.encode("utf-8", "replace"), expected), told


def _read_token(file: str) -> str:
    try:
        with open(file, encoding="utf-8") as opened:  # noqa: PTH123 - pathlib is not loaded yet
            token = opened.read().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ListenError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    if not token:
        raise ListenError(f"{file}: there is no token in it")
    return token


def _tcp_listener(address: str, *, remote: bool) -> socket.socket:
    host, _, port = address.rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not host or not port.isdecimal() or int(port) > 0xFFFF:
        raise ListenError(f"{address!r} is not HOST:PORT")
    try:
        family, kind, protocol, _, bound = socket.getaddrinfo(
            host, int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        if not remote and not ipaddress.ip_address(str(bound[0]).partition("%")[0]).is_loopback:
            raise ListenError(f"{host} can be reached from other machines; say --allow-remote if that is meant")
        listener = socket.socket(family, kind, protocol)
        with contextlib.ExitStack() as undo:
            undo.callback(listener.close)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(bound)
            listener.listen(8)
            undo.pop_all()
    except OSError as error:
        raise ListenError(f"{address}: {error.strerror or error}") from error
    return listener


def _accepted(listener: socket.socket) -> Iterator[socket.socket]:
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield client


def _upgraded(listener: socket.socket, origins: list[str]) -> Iterator[socket.socket]:
    try:
        from agent_lsp.server import websocket
    except ImportError:
        raise ListenError("--ws needs the package websockets: pip install 'agent-lsp[ws]'") from None
    return websocket.clients(listener, origins)


def _tell(what: str) -> None:
    sys.stderr.write(f"agent-lsp: {what}\n")
    sys.stderr.flush()


def _unix_socket(path: str) -> socket.socket:
    """Connects to an editor that listens there, as vscode-languageclient does; else listens there itself."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(path)
        return connection
    except (FileNotFoundError, ConnectionRefusedError):
        connection.close()
    except OSError as error:
        connection.close()
        raise ListenError(f"{path}: {error.strerror or error}") from error
    try:
        with contextlib.suppress(FileNotFoundError):
            if stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116 - whoever listened there is gone
                os.unlink(path)  # noqa: PTH108
        with socket.socket(socket.AF_UNIX) as listener:
            before = os.umask(0o177)
            try:
                listener.bind(path)
            finally:
                os.umask(before)
            listener.listen(1)
            _tell(f"listening at {path}")
            client, _ = listener.accept()
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
        return client
    except OSError as error:
        raise ListenError(f"{path}: {error.strerror or error}") from error
