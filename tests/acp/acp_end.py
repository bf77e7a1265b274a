"""The whole front end in memory: the real application, a model that follows a script, a client that is plain code."""

import asyncio
import inspect
import json
from contextlib import asynccontextmanager

from agent_lsp.acp.connection import Connection
from agent_lsp.acp.framing import Lines
from agent_lsp.acp.handshake import Handshake
from agent_lsp.acp.options import configure
from agent_lsp.acp.outbox import Outbox
from agent_lsp.app import models
from agent_lsp.app.acp_front import build
from agent_lsp.providers.scripted import Scripted
from tests.acp.conformance import Conformance

FILES = {"fs": {"readTextFile": True, "writeTextFile": True}}


class Refused(Exception):
    """An error response."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code, self.message, self.data = error["code"], error["message"], error.get("data", {})


class Wire:
    def __init__(self, hear):
        self.paused = False
        self._hear, self._lines = hear, Lines()

    def write(self, data):
        self._lines.feed(data)
        while (body := self._lines.take()) is not None:
            self._hear(json.loads(body))

    def hold(self, held):
        pass

    async def close(self, within_s):
        pass


class Client:
    """`handlers` answer the agent's requests: a result, an awaitable of it, or `Refused`."""

    def __init__(self):
        self.log, self.handlers = [], {}
        self.wire, self.conformance = Wire(self._hear), Conformance()
        self.connection = None
        self.permission = "allow_once"
        self._answers, self._handling = {}, set()
        self._changed = asyncio.Event()
        self.handlers["session/request_permission"] = lambda _: self.chosen(self.permission)

    @staticmethod
    def chosen(option):
        return {"outcome": {"outcome": "selected", "optionId": option}}

    def say(self, *messages):
        """All of them in one read."""
        whole = [{"jsonrpc": "2.0", **message} for message in messages]
        for message in whole:
            self.conformance.sent(message)
        self.connection.received(b"".join(json.dumps(message).encode() + b"\n" for message in whole))

    def prepare(self, method, **params):
        id = f"request-{len(self._answers) + 1}"
        self._answers[id] = asyncio.get_running_loop().create_future()
        return {"id": id, "method": method, "params": params}, self._answers[id]

    def send(self, method, **params):
        message, answer = self.prepare(method, **params)
        self.say(message)
        return answer

    def notify(self, method, **params):
        self.say({"method": method, "params": params})

    async def ask(self, method, **params):
        return await asyncio.wait_for(self.send(method, **params), 5)

    async def refusal(self, method, **params):
        try:
            result = await self.ask(method, **params)
        except Refused as refused:
            return refused
        raise AssertionError(f"{method} was answered with {result}")

    async def new(self, folder):
        return (await self.ask("session/new", cwd=str(folder), mcpServers=[]))["sessionId"]

    def prompt(self, session_id, text):
        return self.send("session/prompt", sessionId=session_id, prompt=[{"type": "text", "text": text}])

    async def prompted(self, session_id, text):
        return (await asyncio.wait_for(self.prompt(session_id, text), 5))["stopReason"]

    def updates(self, kind=None, session_id=None):
        told = [one["params"] for one in self.log if one.get("method") == "session/update"]
        return [
            one["update"]
            for one in told
            if session_id in (None, one["sessionId"]) and kind in (None, one["update"]["sessionUpdate"])
        ]

    def asked(self, method):
        return [one["params"] for one in self.log if one.get("method") == method]

    def words(self, kind="agent_message_chunk", session_id=None):
        return "".join(one["content"]["text"] for one in self.updates(kind, session_id))

    async def until(self, condition):
        """Waits until a condition holds, which is looked at with every message."""
        async with asyncio.timeout(5):
            while not (found := condition()):
                self._changed.clear()
                await self._changed.wait()
        return found

    def _hear(self, message):
        self.conformance.heard(message)
        self.log.append(message)
        self._changed.set()
        if "method" not in message:
            answer = self._answers.get(message["id"])
            if answer is not None and "error" in message:
                answer.set_exception(Refused(message["error"]))
            elif answer is not None:
                answer.set_result(message["result"])
        elif "id" in message and message["method"] in self.handlers:
            task = asyncio.create_task(self._handle(message))
            self._handling.add(task)
            task.add_done_callback(self._handling.discard)

    async def _handle(self, message):
        try:
            result = self.handlers[message["method"]](message["params"])
            self.say({"id": message["id"], "result": await result if inspect.isawaitable(result) else result})
        except Refused as refused:
            self.say({"id": message["id"], "error": {"code": refused.code, "message": refused.message}})


@asynccontextmanager
async def acp_end(folder, monkeypatch, *, capabilities=None, **settings):
    """A client of a whole agent, and the model behind it; its folder is `folder/work`."""
    model = Scripted()
    monkeypatch.setattr(models, "LazyLLM", lambda find: model)
    (folder / "work").mkdir(exist_ok=True)
    given = {
        "data_dir": str(folder / "data"),
        "config": str(folder / "none.toml"),
        "titles": False,
        "default_model": "rehearsal/rehearsal",
        **settings,
    }
    shaken = Handshake(configure(given, {"HOME": str(folder)}))
    client = Client()
    params = {"protocolVersion": 1, "clientCapabilities": capabilities or {}}
    initialize = {"jsonrpc": "2.0", "id": "first", "method": "initialize", "params": params}
    client.conformance.sent(initialize)
    for body in shaken.feed(json.dumps(initialize).encode() + b"\n"):
        client.conformance.heard(json.loads(body))
    async with asyncio.TaskGroup() as tasks:
        client.connection = connection = Connection(shaken.greeted, tasks)
        connection.attach(client.wire, Outbox(client.wire, 1 << 20))
        connection.serve(build(connection))
        try:
            yield client, model
        finally:
            connection.end("the test is over")
            await connection.finish()
