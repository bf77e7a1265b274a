"""A JSON-RPC client that starts the server as an editor would: a child process, spoken to over its stdin and stdout."""

from __future__ import annotations

import asyncio
import itertools
import json
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

from agent_lsp.errors import AgentError

T = TypeVar("T")
Json = dict[str, Any]

METHOD_NOT_FOUND = -32601
CLOSE_TIMEOUT_S = 6.0  # a little more than a server may take to end what it started


class ServerError(AgentError):
    """The server refused a request. `code` and `data` are those of its answer."""

    def __init__(self, message: str, code: int, data: Json) -> None:
        super().__init__(message)
        self.code, self.data = code, data

    @property
    def hint(self) -> str | None:
        """What the server says could be done about it."""
        return self.data.get("hint")


class ServerGone(AgentError):
    """The server ended, or never started, before it had answered."""


class UnknownMethod(AgentError):
    """The server asked for something that this client does not do."""


class Handlers(Protocol):
    """What the client's owner does with what the server says unasked."""

    def notified(self, method: str, params: Json) -> None:
        """A notification; called in the order of the wire, must not block."""
        ...

    async def asked(self, method: str, params: Json) -> Any:
        """A request; its result is the answer. May raise UnknownMethod. Cancelled when the server withdraws it."""
        ...


class Client:
    """One connection to one server. Made by `converse`."""

    def __init__(self, process: Process, handlers: Handlers) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process, self._handlers = process, handlers
        self._out, self._in = process.stdin, process.stdout
        self._ids = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._answering: dict[str | int, asyncio.Task[None]] = {}
        self._gone: str | None = None  # why, once it is

    async def request(self, method: str, params: Json) -> Any:
        """The result. Raises ServerError for an error answer, ServerGone when there will be none."""
        if self._gone:
            raise ServerGone(self._gone)
        number = next(self._ids)
        answer = self._pending[number] = asyncio.get_running_loop().create_future()
        try:
            self._send({"id": number, "method": method, "params": params})
            return await answer
        finally:
            self._pending.pop(number, None)

    def post(self, method: str, params: Json) -> None:
        """Sends a request whose answer nobody waits for."""
        self._send({"id": next(self._ids), "method": method, "params": params})

    def notify(self, method: str, params: Json) -> None:
        """Sends a notification."""
        self._send({"method": method, "params": params})

    async def listen(self, group: asyncio.TaskGroup) -> None:
        """Reads until the server ends; what it asks is answered by tasks of `group`."""
        try:
            while (body := await _read(self._in)) is not None:
                self._dispatch(json.loads(body), group)
            self._gone = "the server ended without an answer"
        except ValueError as error:
            self._gone = f"what the server sent is no message: {error}"
        for task in self._answering.values():
            task.cancel()
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(ServerGone(self._gone))

    async def close(self) -> None:
        """Ends the server as LSP has it, and by force if it does not."""
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                with suppress(ServerError, ServerGone):
                    await self.request("shutdown", {})
                    self.notify("exit", {})
                self.hang_up()
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()

    def hang_up(self) -> None:
        """Leaves the server without a word more: it ends by itself, and what waits for an answer gets ServerGone."""
        self._out.close()

    def _send(self, message: Json) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
        self._out.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _dispatch(self, message: Json, group: asyncio.TaskGroup) -> None:
        method, number, params = message.get("method"), message.get("id"), cast(Json, message.get("params") or {})
        if method is None:
            self._settle(number, message)
        elif number is not None:
            task = self._answering[number] = group.create_task(self._answer(number, method, params))
            task.add_done_callback(lambda _: self._answering.pop(number, None))
        elif method == "$/cancelRequest":
            if withdrawn := self._answering.get(params["id"]):
                withdrawn.cancel()
        else:
            self._handlers.notified(method, params)

    def _settle(self, number: Any, message: Json) -> None:
        answer = self._pending.get(number)
        if answer is None or answer.done():
            return
        if error := message.get("error"):
            answer.set_exception(ServerError(error["message"], error["code"], cast(Json, error.get("data") or {})))
        else:
            answer.set_result(message.get("result"))

    async def _answer(self, number: str | int, method: str, params: Json) -> None:
        try:
            self._send({"id": number, "result": await self._handlers.asked(method, params)})
        except UnknownMethod as error:
            self._send({"id": number, "error": {"code": METHOD_NOT_FOUND, "message": error.message}})


async def _read(stream: asyncio.StreamReader) -> bytes | None:
    """The body of the next message; None at the end of the stream."""
    try:
        head = await stream.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    except asyncio.LimitOverrunError as error:
        raise ValueError("a header without an end") from error
    lengths = [line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
    if len(lengths) != 1:
        raise ValueError("a header without a length")
    try:
        return await stream.readexactly(int(lengths[0]))
    except asyncio.IncompleteReadError:
        return None


async def converse(
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    handlers: Handlers,
    talk: Callable[[Client], Awaitable[T]],
) -> T:
    """What `talk` returns, given a client of a server started with `command`; the server has ended afterwards.

    The server gets a process session of its own, so that the Ctrl-C of a terminal reaches only the client. Raises the
    AgentError that `talk` raises, and ServerGone when the command cannot be started.
    """
    try:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=cwd, env=env, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
    except OSError as error:
        raise ServerGone(f"the server cannot be started: {error}") from error
    client = Client(process, handlers)
    async with asyncio.TaskGroup() as group:
        group.create_task(client.listen(group))
        try:
            outcome = await talk(client)
        except AgentError as error:
            outcome = error  # carried out of the group by hand: it would wrap what is raised in it
        finally:
            await client.close()
    if isinstance(outcome, AgentError):
        raise outcome
    return outcome
