"""The whole front end in memory: the real application, a model that follows a script, a client that is plain code."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from typing import Any

from agent_lsp import app
from agent_lsp.app import models
from agent_lsp.providers.scripted import Scripted
from agent_lsp.server.connection import Connection
from agent_lsp.server.framing import Decoder, frame
from agent_lsp.server.handshake import Greeted, Handshake
from agent_lsp.server.options import configure
from agent_lsp.server.outbox import Outbox


class Refused(Exception):
    """An error response."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(json.dumps(error))
        self.code, self.message, self.data = error["code"], error["message"], error.get("data", {})

    @property
    def fields(self) -> list[str]:
        return [one["path"] for one in self.data.get("errors", [])]


class Wire:
    """A transport in memory; `paused` is a client that does not read."""

    def __init__(self, hear: Callable[[dict[str, Any]], None]) -> None:
        self.paused = False
        self._hear, self._decoder = hear, Decoder()

    def write(self, data: bytes) -> None:
        self._decoder.feed(data)
        while (body := self._decoder.take()) is not None:
            assert isinstance(body, bytes)
            self._hear(json.loads(body))

    def hold(self, held: bool) -> None:
        pass

    async def close(self, within_s: float) -> None:
        pass


class Client:
    """The client's side. `handlers` answer the server's requests: a result, an awaitable of it, or `Refused`."""

    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []
        self.handlers: dict[str, Callable[[dict[str, Any]], Any]] = {}
        self.wire = Wire(self._hear)
        self.connection: Connection
        self._answers: dict[Any, asyncio.Future[Any]] = {}
        self._handling: set[asyncio.Task[None]] = set()
        self._changed = asyncio.Event()

    def say(self, *messages: dict[str, Any]) -> None:
        """All of them in one read."""
        bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
        self.connection.received(b"".join(map(frame, bodies)))

    def prepare(self, method: str, **params: Any) -> tuple[dict[str, Any], asyncio.Future[Any]]:
        id = len(self._answers) + 1
        self._answers[id] = asyncio.get_running_loop().create_future()
        return {"id": id, "method": method, "params": params}, self._answers[id]

    def send(self, method: str, **params: Any) -> asyncio.Future[Any]:
        message, answer = self.prepare(method, **params)
        self.say(message)
        return answer

    async def ask(self, method: str, **params: Any) -> Any:
        return await asyncio.wait_for(self.send(method, **params), 5)

    async def refusal(self, method: str, **params: Any) -> Refused:
        try:
            result = await self.ask(method, **params)
        except Refused as refused:
            return refused
        raise AssertionError(f"{method} was answered with {result}")

    def told(self, method: str) -> list[dict[str, Any]]:
        return [one["params"] for one in self.log if one.get("method") == method]

    def streamed(self, type: str) -> list[dict[str, Any]]:
        return [
            one["payload"]
            for params in self.told("agent/message")
            for one in params["messages"]
            if one["payload"]["type"] == type
        ]

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Waits until a condition holds, which is looked at with every message."""
        async with asyncio.timeout(5):
            while not (found := condition()):
                self._changed.clear()
                await self._changed.wait()
        return found

    def _hear(self, message: dict[str, Any]) -> None:
        self.log.append(message)
        self._changed.set()
        if "method" not in message:
            answer = self._answers[message["id"]]
            assert not answer.done(), message
            if "error" in message:
                answer.set_exception(Refused(message["error"]))
            else:
                answer.set_result(message["result"])
        elif "id" in message and message["method"] in self.handlers:
            task = asyncio.create_task(self._handle(message))
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)

    async def _handle(self, message: dict[str, Any]) -> None:
        try:
            result = self.handlers[message["method"]](message["params"])
            self.say({"id": message["id"], "result": await result if inspect.isawaitable(result) else result})
        except Refused as refused:
            self.say({"id": message["id"], "error": {"code": refused.code, "message": refused.message}})


@asynccontextmanager
async def front_end(
    folder,
    monkeypatch,
    *,
    agent: dict[str, Any] | None = None,
    window: dict[str, Any] | None = None,
    plain: bool = False,
    capabilities: dict[str, Any] | None = None,
    meanwhile: Callable[[Greeted], None] = lambda greeted: None,
    **options: Any,
):
    """A client of a whole server, and the model behind it.

    `agent` is what the client declares of `agent/*`; a `plain` one declares nothing of it. `meanwhile`: what happens
    between the handshake and the start of the application. An option that is None is not given.
    """
    model = Scripted()
    monkeypatch.setattr(models, "LazyLLM", lambda find: model)
    workspace = folder / "work"
    workspace.mkdir(exist_ok=True)
    settings = {"dataDir": str(folder / "data"), "config": str(folder / "none.toml"), "titles": False}
    given = {**settings, "defaultModel": "rehearsal/rehearsal", **options}
    declared = {"agent": {"protocolVersion": 1, "approve": True} if agent is None else agent}
    experimental = {} if plain else {"experimental": declared}
    shaken = Handshake(configure({}, {"HOME": str(folder)}))
    initialize = {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "rootUri": workspace.as_uri(),
            "capabilities": {**experimental, "window": window or {}, **(capabilities or {})},
            "initializationOptions": {"agent": {name: one for name, one in given.items() if one is not None}},
        },
    }
    shaken.feed(frame(json.dumps(initialize).encode()))
    assert shaken.greeted is not None
    meanwhile(shaken.greeted)
    client = Client()
    async with asyncio.TaskGroup() as tasks:
        client.connection = connection = Connection(shaken.greeted, tasks)
        connection.attach(client.wire, Outbox(client.wire, high_water_bytes=1 << 20))  # type: ignore[arg-type]
        connection.serve(app.build(connection))
        try:
            yield client, model
        finally:
            connection.end("the test is over")
            await connection.finish()
