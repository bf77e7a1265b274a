"""A model that says what it is told to: a small HTTP server on loopback that speaks two dialects.

    model.script([think("hm"), say("Hel", "lo"), use("read_file", {"file_path": "a.txt"})], [say("Done.")], refuse(503))

Each request takes the next turn of the script. A turn is sent piece by piece; a `Gate` in it waits until a test opens
it, `CUT` breaks the connection there. Every request is kept in `asked`, but those for the list of `models`.
"""

import asyncio
import itertools
import json
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

CUT = object()
STALLED_S = 0.5
_USAGE = (100, 10)
_call_numbers = itertools.count(1)


@dataclass(frozen=True)
class Say:
    pieces: tuple[str, ...]
    kind: str = "text"


@dataclass(frozen=True)
class Use:
    name: str
    arguments: str
    id: str


@dataclass(frozen=True)
class Flood:
    """`count` times the same piece of text; `stalled` is set when nobody has taken any of it for a while."""

    piece: str
    count: int
    stalled: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def text(self):
        return self.piece * self.count


@dataclass(frozen=True)
class Refuse:
    status: int
    message: str = "refused"
    headers: dict[str, str] = field(default_factory=dict)


class Gate:
    """Where a turn stops until it is opened; `reached` is set when the model has come to it."""

    def __init__(self):
        self.reached, self._opened = asyncio.Event(), asyncio.Event()

    def open(self):
        self._opened.set()

    async def passed(self):
        self.reached.set()
        await self._opened.wait()


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def messages(self):
        return self.body["messages"]

    @property
    def words(self):
        """Everything that was sent, as one text to search in."""
        return json.dumps(self.body, ensure_ascii=False)


def say(*pieces):
    return Say(pieces)


def think(*pieces):
    return Say(pieces, "thinking")


def use(name, arguments, id=None):
    return Use(name, json.dumps(arguments), id or f"call-{next(_call_numbers)}")


def refuse(status, message="refused", **headers):
    return Refuse(status, message, {name.replace("_", "-"): value for name, value in headers.items()})


class ModelServer:
    """Serves a script; `async with` starts and ends it. `tls`: the context of a server that is asked by HTTPS."""

    def __init__(self, tls=None):
        self._tls = tls
        self.asked: list[Asked] = []
        self.accepted = 0
        self.models: tuple[str, ...] = ()
        self._turns: list[Any] = []
        self._connections: set[asyncio.Task] = set()

    def script(self, *turns):
        self._turns += turns

    def forget(self):
        """Nothing that was scripted is said any more."""
        self._turns.clear()

    @property
    def is_spent(self):
        return not self._turns

    @property
    def url(self):
        host, port = self._server.sockets[0].getsockname()
        return f"{'https' if self._tls else 'http'}://{host}:{port}"

    async def __aenter__(self):
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, ssl=self._tls)
        return self

    async def __aexit__(self, *_):
        self._server.close()
        for task in tuple(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _accept(self, reader, writer):
        self._connections.add(task := asyncio.current_task())
        task.add_done_callback(self._connections.discard)
        self.accepted += 1
        goes_on = True
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while goes_on:
                asked = await _read(reader)
                if asked.path.endswith("/models"):
                    goes_on = await _answer(writer, "200 OK", {"data": [{"id": name} for name in self.models]})
                    continue
                self.asked.append(asked)
                turn = self._turns.pop(0) if self._turns else Refuse(400, "the script has no turn for this request")
                if isinstance(turn, Refuse):
                    goes_on = await _refuse(writer, turn)
                else:
                    goes_on = await _stream(writer, turn, _Claude() if asked.path.endswith("/messages") else _Chat())
        writer.transport.abort() if task.cancelling() else writer.close()


async def _read(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Asked(head[0].split()[1], headers, json.loads(body or b"{}"))


async def _refuse(writer, turn):
    error = {"error": {"type": "refused", "message": turn.message}}
    return await _answer(writer, f"{turn.status} Refused", error, turn.headers)


async def _answer(writer, status, value, headers=None):
    body = json.dumps(value).encode()
    further = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{further}"
    writer.write(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()
    return False


async def _stream(writer, turn, dialect):
    """The turn as server-sent events, one chunk a piece; whether the connection can be used again."""
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    for event in dialect.begin():
        _chunk(writer, event)
    for step in turn:
        await writer.drain()
        if step is CUT:
            return False
        if isinstance(step, Gate):
            await step.passed()
            continue
        for event in dialect.step(step):
            _chunk(writer, event)
            await _drained(writer, step)
    for event in dialect.end():
        _chunk(writer, event)
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


async def _drained(writer, step):
    draining = asyncio.ensure_future(writer.drain())
    if isinstance(step, Flood) and not (await asyncio.wait([draining], timeout=STALLED_S))[0]:
        step.stalled.set()
    await draining


def _chunk(writer, event):
    data = event if isinstance(event, str) else json.dumps(event, ensure_ascii=False)
    name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
    body = f"{name}data: {data}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(body), body))


class _Chat:
    """Chat completions."""

    def __init__(self):
        self._calls = 0

    def begin(self):
        yield self._delta({"role": "assistant", "content": ""})

    def step(self, step):
        if isinstance(step, Flood):
            yield from itertools.repeat(self._delta({"content": step.piece}), step.count)
            return
        if isinstance(step, Say):
            name = "content" if step.kind == "text" else "reasoning_content"
            yield from (self._delta({name: piece}) for piece in step.pieces)
            return
        index, self._calls = self._calls, self._calls + 1
        yield self._delta(
            {"tool_calls": [{"index": index, "id": step.id, "type": "function", "function": {"name": step.name}}]}
        )
        for piece in _halves(step.arguments):
            yield self._delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def end(self):
        yield self._delta({}, "tool_calls" if self._calls else "stop")
        sent, generated = _USAGE
        usage = {"prompt_tokens": sent, "completion_tokens": generated, "total_tokens": sent + generated}
        yield {"id": "c", "object": "chat.completion.chunk", "choices": [], "usage": usage}
        yield "[DONE]"

    @staticmethod
    def _delta(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {"id": "c", "object": "chat.completion.chunk", "choices": [choice]}


class _Claude:
    """Messages, with content blocks."""

    def __init__(self):
        self._blocks, self._called = 0, False

    def begin(self):
        usage = {"input_tokens": _USAGE[0], "output_tokens": 1}
        yield {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": [], "usage": usage}}

    def step(self, step):
        index, self._blocks = self._blocks, self._blocks + 1
        if isinstance(step, Use):
            self._called = True
            block = {"type": "tool_use", "id": step.id, "name": step.name, "input": {}}
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in _halves(step.arguments)]
        elif step.kind == "text":
            block = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": piece} for piece in step.pieces]
        else:
            block = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in step.pieces]
            deltas.append({"type": "signature_delta", "signature": "signed"})
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield from ({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        yield {"type": "content_block_stop", "index": index}

    def end(self):
        reason = "tool_use" if self._called else "end_turn"
        yield {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": _USAGE[1]}}
        yield {"type": "message_stop"}


def _halves(text):
    middle = len(text) // 2
    return text[:middle], text[middle:]
