"""A server in the test's own event loop that says exactly what it is told to."""

import asyncio
import json
from contextlib import asynccontextmanager

from agent_lsp.providers import http

HANG = object()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(value):
    return b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"


def stream(*events, end=b"0\r\n\r\n"):
    return [HEAD, *map(chunk, events), end]


def plain(status, body=b"", headers=""):
    return [f"HTTP/1.1 {status} X\r\n{headers}content-length: {len(body)}\r\n\r\n".encode() + body]


class Server:
    """Answers each request with the next list of bytes; HANG in it waits until the client has gone, an event for it."""

    def __init__(self):
        self.answers, self.bodies, self.heads, self.connections = [], [], [], 0
        self.asked, self.gone, self.closed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                _, _, length = head.lower().partition(b"content-length:")
                size = int(length.split(b"\r\n")[0] or 0)
                self.bodies.append(json.loads(await reader.readexactly(size) or b"null"))
                self.heads.append(head.decode())
                self.asked.set()
                for piece in self.answers.pop(0):
                    if piece is HANG:
                        await reader.read()
                        self.gone.set()
                        return
                    if piece is None:
                        return
                    if isinstance(piece, asyncio.Event):
                        await piece.wait()
                        continue
                    writer.write(piece)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()
            self.closed.set()


@asynccontextmanager
async def serving(*servers):
    """Starts the servers, which learn their `port` and `url`."""
    servers = servers or (Server(),)
    listening = [await asyncio.start_server(server.serve, "127.0.0.1", 0) for server in servers]
    for server, socket in zip(servers, listening, strict=True):
        server.port = socket.sockets[0].getsockname()[1]
        server.url = f"http://127.0.0.1:{server.port}"
    try:
        yield servers[0]
    finally:
        await http.close()
        for one in listening:
            one.close()
            await one.wait_closed()
