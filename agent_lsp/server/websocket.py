"""WebSocket clients, each as a socket that speaks what the rest of the server speaks.

One WebSocket message is one JSON-RPC body. Two threads a client carry it over, so that a client which only writes or
only reads holds up nothing but itself. Needs the package `websockets`.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import socket
import threading
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, cast

from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from agent_lsp.server.framing import MAX_MESSAGE_BYTES, Decoder, frame

if TYPE_CHECKING:
    from websockets.typing import Origin

_READ_BYTES = 64 * 2**10


def clients(listener: socket.socket, origins: Sequence[str]) -> Iterator[socket.socket]:
    """Our end of each connection that was upgraded. Web pages are refused, except from `origins`."""
    upgraded: queue.SimpleQueue[socket.socket] = queue.SimpleQueue()

    def handle(connection: ServerConnection) -> None:
        ours, theirs = socket.socketpair()
        upgraded.put(ours)
        with theirs:
            _carry(connection, theirs)

    server = serve(
        handle,
        sock=listener,
        origins=[None, *cast("Sequence[Origin]", origins)],
        max_size=MAX_MESSAGE_BYTES,
        compression=None,
        logger=_quiet(),
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        yield upgraded.get()


def _carry(connection: ServerConnection, inner: socket.socket) -> None:
    """Both ways until either side ends."""
    outward = threading.Thread(target=_outward, args=(connection, inner), daemon=True)
    outward.start()
    with contextlib.suppress(ConnectionClosed, OSError):
        for message in connection:
            inner.sendall(frame(message.encode() if isinstance(message, str) else message))
    with contextlib.suppress(OSError):
        inner.shutdown(socket.SHUT_WR)
    outward.join()


def _outward(connection: ServerConnection, inner: socket.socket) -> None:
    decoder = Decoder()
    with contextlib.suppress(ConnectionClosed, OSError):
        while data := inner.recv(_READ_BYTES):
            decoder.feed(data)
            while (body := decoder.take()) is not None:
                connection.send(cast("bytes", body), text=True)
    connection.close()


def _quiet() -> logging.Logger:
    """Strangers at the door are no news."""
    logger = logging.getLogger(__name__)
    logger.setLevel(logging.CRITICAL)
    return logger
