"""A JSON-RPC client that frames by hand, believes nothing and keeps everything."""

import asyncio
import inspect
import itertools
import json
from contextlib import suppress

from agent_lsp.messages.content import CONTENT_TYPES, PARTIAL_TYPES
from agent_lsp.messages.envelope import MESSAGE
from agent_lsp.messages.partial import Aggregator

WITHIN_S = 10
EVERYTHING = {"protocolVersion": 1, "approve": True}


class Failed(Exception):
    """An error response."""

    def __init__(self, error):
        super().__init__(json.dumps(error))
        self.code, self.message, self.data = error["code"], error["message"], error.get("data", {})


class Stream:
    """What was told of sessions. Checks on the way that no number is skipped and no segment is left open."""

    def __init__(self):
        self.messages, self.next_seq, self._joining = {}, {}, {}

    def take(self, params):
        session_id = params["sessionId"]
        expected = self.next_seq.get(session_id, 0)
        assert params["seq"] == expected, f"message {expected} was to come, {params['seq']} came"
        assert params["messages"], "a notification without messages"
        self.next_seq[session_id] = expected + len(params["messages"])
        joining = self._joining.setdefault(session_id, Aggregator())
        for raw in params["messages"]:
            payload = MESSAGE.validate_python(raw).payload
            if isinstance(payload, CONTENT_TYPES + PARTIAL_TYPES):
                joining.apply(payload)
            self.messages.setdefault(session_id, []).append(raw["payload"] | {"run_id": params.get("runId")})

    def of(self, session_id, type=None):
        return [one for one in self.messages.get(session_id, []) if type in (None, one["type"])]

    def check_all_closed(self):
        assert not any(joining.open for joining in self._joining.values())


class Peer:
    """One connection. `handlers` answer the server's requests; a handler may be async, and raise `Failed`."""

    def __init__(self, server):
        self.server, self.handlers, self.log, self.stream = server, {}, [], Stream()
        self.withdrawn, self.broken = [], None
        self._ids = itertools.count(1)
        self._answers, self._answering = {}, set()
        self._changed = asyncio.Event()
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._reading = asyncio.create_task(self._read())

    # --- saying ---

    def write(self, *bodies):
        """Any bodies, framed, in one write."""
        encoded = [body if isinstance(body, bytes) else json.dumps(body).encode() for body in bodies]
        self.server.writer.write(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in encoded))

    def prepare(self, method, params=None, id=None):
        """A request that is not sent yet, and the future of its result."""
        id = next(self._ids) if id is None else id
        self._answers[id] = asyncio.get_running_loop().create_future()
        body = {"jsonrpc": "2.0", "id": id, "method": method}
        return (body if params is None else body | {"params": params}), self._answers[id]

    def send(self, method, params=None, id=None):
        body, answer = self.prepare(method, params, id)
        self.write(body)
        return answer

    async def ask(self, method, params=None, within_s=WITHIN_S):
        return await asyncio.wait_for(self.send(method, params), within_s)

    def notify(self, method, params=None):
        self.write({"jsonrpc": "2.0", "method": method, "params": params or {}})

    async def initialize(self, options, agent=EVERYTHING, capabilities=None, **params):
        capabilities = dict(capabilities or {})
        if agent is not None:
            capabilities["experimental"] = {"agent": agent}
        if self.server.token:
            options = options | {"token": self.server.token}
        fields = {"processId": None, "rootUri": None, "capabilities": capabilities} | params
        result = await self.ask("initialize", fields | {"initializationOptions": {"agent": options}})
        self.notify("initialized")
        return result

    async def leave(self):
        """Shuts the server down; returns its exit status."""
        assert await self.ask("shutdown") is None
        self.notify("exit")
        return await self.server.status()

    # --- hearing ---

    def hold(self):
        """Stops reading."""
        self._may_read.clear()

    def go_on(self):
        self._may_read.set()

    def told(self, method):
        return [one["params"] for one in self.log if one.get("method") == method]

    def states(self):
        return [one["state"] for one in self.told("agent/state")]

    async def until(self, condition, what, within_s=WITHIN_S):
        """Waits until a condition holds, which is looked at with every message."""
        try:
            async with asyncio.timeout(within_s):
                while not (found := condition()):
                    if self.broken:
                        raise self.broken
                    self._changed.clear()
                    await self._changed.wait()
                return found
        except TimeoutError:
            raise AssertionError(f"{what} did not come; the last were {self.log[-5:]}") from None

    async def until_told(self, method, matches=lambda params: True, within_s=WITHIN_S):
        return await self.until(lambda: [one for one in self.told(method) if matches(one)], method, within_s)

    async def until_streamed(self, text, within_s=WITHIN_S):
        def seen():
            return any(text in json.dumps(one, ensure_ascii=False) for one in self.told("agent/message"))

        await self.until(seen, repr(text), within_s)

    async def until_gone(self):
        """Waits for the end of what the server says."""
        await asyncio.wait_for(self._reading, WITHIN_S)

    async def hang_up(self):
        """Hears nothing any more; what comes is thrown away, to the end."""
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading
        with suppress(ConnectionError):
            while await self.server.reader.read(2**20):
                pass

    async def end(self):
        for task in self._answering:
            task.cancel()
        await self.server.end()
        await self.hang_up()

    async def _read(self):
        try:
            while True:
                await self._may_read.wait()
                head = await self.server.reader.readuntil(b"\r\n\r\n")
                assert head.startswith(b"Content-Length: "), head
                length = int(head.split(b"\r\n")[0].split(b":")[1])
                self._hear(json.loads(await self.server.reader.readexactly(length)))
                self._changed.set()
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            assert not getattr(error, "partial", b""), error
        except (AssertionError, ValueError) as error:
            self.broken = error
            self._changed.set()
            raise
        finally:
            for answer in self._answers.values():
                if not answer.done():
                    answer.set_exception(self.broken or ConnectionResetError("the server has gone"))
                    answer.exception()

    def _hear(self, message):
        self.log.append(message)
        if "method" not in message:
            self._answered(message)
        elif "id" in message:
            self._answering.add(task := asyncio.create_task(self._handle(message)))
            task.add_done_callback(self._answering.discard)
        elif message["method"] == "agent/message":
            self.stream.take(message["params"])
        elif message["method"] == "$/cancelRequest":
            self.withdrawn.append(message["params"]["id"])

    def _answered(self, message):
        answer = self._answers.get(message["id"])
        if message["id"] is None:
            return
        assert answer is not None, f"an answer to nothing: {message}"
        assert not answer.done(), f"a second answer: {message}"
        if "error" in message:
            answer.set_exception(Failed(message["error"]))
        else:
            answer.set_result(message["result"])

    async def _handle(self, message):
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        handler = self.handlers.get(message["method"])
        try:
            if handler is None:
                raise Failed({"code": -32601, "message": "no such method"})
            result = handler(message["params"])
            self.write(answer | {"result": await result if inspect.isawaitable(result) else result})
        except Failed as refused:
            self.write(answer | {"error": {"code": refused.code, "message": refused.message}})
