from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, field_validator
from pydantic.alias_generators import to_camel

from agent_lsp.errors import InvalidParams, ModelUnavailable, SessionBusy, SessionNotFound
from agent_lsp.server.connection import Connection
from agent_lsp.server.framing import Decoder, frame
from agent_lsp.server.handshake import ClientInfo, Configuration, Greeted
from agent_lsp.server.outbox import Outbox
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError
from agent_lsp.wire.service import Call, Method, Observer, Service


class Params(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)


class Nothing(Params):
    pass


class Part(Params):
    type: str
    text: str


class RunParams(Params):
    session_id: str | None = None
    input: str | list[Part]
    max_turns: int | None = None

    @field_validator("max_turns")
    @classmethod
    def _positive(cls, value: int | None) -> int | None:
        if value is not None and value < 1:
            raise ValueError("must be positive")
        return value


class Info(Params):
    session_id: str
    title: str | None = Field(default=None)


class Memory:
    """A transport that keeps what was written and can be slow."""

    def __init__(self) -> None:
        self.paused = self.held = False
        self.closed = False
        self._decoder = Decoder()
        self.said: list[dict[str, Any]] = []

    def write(self, data: bytes) -> None:
        self._decoder.feed(data)
        while (body := self._decoder.take()) is not None:
            self.said.append(json.loads(body))

    def hold(self, held: bool) -> None:
        self.held = held

    async def close(self, within_s: float) -> None:
        self.closed = True


class Peer:
    """The client's side of a connection in memory."""

    def __init__(self, connection: Connection, transport: Memory) -> None:
        self.connection, self.transport = connection, transport

    @property
    def said(self) -> list[dict[str, Any]]:
        self.connection.outbox.flush()
        return self.transport.said

    def send(self, *messages: dict[str, Any]) -> None:
        self.connection.received(b"".join(frame(json.dumps({"jsonrpc": "2.0", **m}).encode()) for m in messages))

    def answers(self, id: object = 1) -> list[dict[str, Any]]:
        return [m for m in self.said if "method" not in m and m["id"] == id and type(m["id"]) is type(id)]

    async def answer(self, id: object = 1) -> dict[str, Any]:
        """The one answer, once there is one."""
        await until(lambda: self.answers(id))
        (found,) = self.answers(id)
        return found

    async def error(self, id: object = 1) -> dict[str, Any]:
        return (await self.answer(id))["error"]


async def until(condition: Callable[[], object]) -> None:
    """Lets the loop turn until the condition holds, some turns at most."""
    for _ in range(200):
        if condition():
            return
        await asyncio.sleep(0)
    raise AssertionError("it did not happen")


@asynccontextmanager
async def connected(service: Service, **limits: int) -> AsyncIterator[Peer]:
    greeted = Greeted(ClientInfo({}), Configuration({}), Decoder())
    async with asyncio.TaskGroup() as tasks:
        connection, transport = Connection(greeted, tasks), Memory()
        connection.attach(transport, Outbox(transport, **limits))
        connection.serve(service)
        yield Peer(connection, transport)
        connection.end("the test is over")
        await connection.finish()


def serving(handler: Callable[[Any, Call], Any], params: type[BaseModel] = Nothing, **more: Any) -> Service:
    return Service({"do": Method(params, handler)}, **more)


DO = {"id": 1, "method": "do"}


# --- results ----------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("result", "sent"),
    [
        (None, None),
        ({"a": None, "b": [1]}, {"a": None, "b": [1]}),
        (Info(session_id="s"), {"sessionId": "s"}),
        ({"sessions": [Info(session_id="s", title="t")]}, {"sessions": [{"sessionId": "s", "title": "t"}]}),
        (b'{"ready":true}', {"ready": True}),
        ({"text": "a\ud800b"}, {"text": "a\ufffdb"}),
    ],
)
async def test_a_result_is_written_by_alias_and_models_without_what_is_not_set(result, sent):
    async with connected(serving(lambda params, call: result)) as peer:
        peer.send(DO)
        assert (await peer.answer())["result"] == sent


@pytest.mark.asyncio
async def test_handlers_are_called_in_order_and_what_waits_does_not_hold_up_the_rest():
    order: list[str] = []
    gate = asyncio.Event()

    def handler(params: RunParams, call: Call) -> Any:
        async def wait() -> str:
            await gate.wait()
            return "late"

        order.append(str(params.input))
        return wait() if params.input == "wait" else "now"

    async with connected(serving(handler, RunParams)) as peer:
        peer.send(*({"id": word, "method": "do", "params": {"input": word}} for word in ("wait", "b", "c")))
        assert order == ["wait", "b", "c"]
        assert [m["id"] for m in peer.said] == ["b", "c"]
        gate.set()
        assert (await peer.answer("wait"))["result"] == "late"


@pytest.mark.asyncio
async def test_what_follows_an_answer_is_sent_after_it():
    async with connected(Service({})) as peer:

        def handler(params: Nothing, call: Call) -> None:
            call.after_answer(lambda: peer.connection.notify("about/it", {"x": 1}))

        peer.connection.serve(serving(handler))
        peer.send(DO)
        assert [m.get("method", "answer") for m in peer.said] == ["answer", "about/it"]


@pytest.mark.asyncio
async def test_ids_come_back_in_their_own_type_and_1_is_not_the_string_1():
    never: asyncio.Future[None] = asyncio.Future()
    async with connected(serving(lambda params, call: never if call.id == 1 else call.method)) as peer:
        peer.send(*({"id": id, "method": "do"} for id in (1, "1", 1.5, "", -7)))
        for id in ("1", 1.5, "", -7):
            assert (await peer.answer(id))["result"] == "do"
        assert not peer.answers(1)
        never.set_result(None)


@pytest.mark.asyncio
async def test_an_id_in_flight_cannot_be_used_again_and_is_free_after():
    gate = asyncio.Event()

    async def wait() -> str:
        await gate.wait()
        return "done"

    async with connected(serving(lambda params, call: wait())) as peer:
        peer.send(DO, DO, {"id": 1, "method": "no/such"})
        peer.connection.received(frame(b'{"id": 1, "method": "do"}'))
        assert [(m["id"], m["error"]["code"]) for m in peer.said] == [(None, -32600)] * 3
        gate.set()
        assert (await peer.answer())["result"] == "done"
        peer.send(DO)
        await until(lambda: len(peer.answers()) == 2)


# --- errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("error", "code", "data"),
    [
        (
            SessionBusy("s", "r"),
            -32009,
            {
                "kind": "session_busy",
                "retryable": True,
                "sessionId": "s",
                "runId": "r",
                "hint": SessionBusy("s", "r").hint,
            },
        ),
        (
            SessionNotFound(None),
            -32004,
            {"kind": "session_not_found", "retryable": False, "hint": SessionNotFound(None).hint},
        ),
        (
            ModelUnavailable("no", hint="set it"),
            -32010,
            {"kind": "model_unavailable", "retryable": False, "hint": "set it"},
        ),
        (
            InvalidParams("no", [("input", "is empty")]),
            -32602,
            {"kind": "invalid_params", "retryable": False, "errors": [{"path": "input", "message": "is empty"}]},
        ),
    ],
)
@pytest.mark.parametrize("late", [False, True])
async def test_a_refusal_is_answered_with_its_kind(error, code, data, late):
    def handler(params: Nothing, call: Call) -> Any:
        async def fail() -> None:
            raise error

        if late:
            return fail()
        raise error

    async with connected(serving(handler)) as peer:
        peer.send(DO)
        found = await peer.error()
        assert (found["code"], found["data"]) == (code, data)


@pytest.mark.asyncio
async def test_a_bug_is_one_line_to_the_client_and_a_traceback_to_the_log(caplog):
    def handler(params: Nothing, call: Call) -> None:
        raise KeyError("secret\nthing")

    async with connected(serving(handler)) as peer:
        peer.send(DO)
        found = await peer.error()
    assert (found["code"], found["data"]) == (-32603, {"kind": "internal_error"})
    assert "\n" not in found["message"] and "secret" not in found["message"]
    (record,) = caplog.records
    assert record.exc_info


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("sent", "paths"),
    [
        ({}, ["input"]),
        ({"input": 5}, ["input"]),
        ({"input": "x", "sessionId": 5}, ["sessionId"]),
        ({"input": "x", "sessionId": 5, "maxTurns": "many"}, ["sessionId", "maxTurns"]),
        ({"input": [{"type": "text"}]}, ["input[0].text"]),
        ({"input": [{"type": "text", "text": "a"}, 3]}, ["input[1]"]),
        ({"input": "x", "maxTurns": 0}, ["maxTurns"]),
    ],
)
async def test_each_wrong_field_is_named_once_by_the_path_at_which_it_was_sent(sent, paths):
    async with connected(serving(lambda params, call: None, RunParams)) as peer:
        peer.send({**DO, "params": sent})
        found = await peer.error()
    assert found["code"] == -32602
    assert [error["path"] for error in found["data"]["errors"]] == paths
    assert all(error["message"] and "\n" not in error["message"] for error in found["data"]["errors"])


@pytest.mark.asyncio
async def test_unknown_requests_are_refused_and_unknown_notifications_logged(caplog):
    caplog.set_level(logging.INFO)
    async with connected(Service({})) as peer:
        peer.send({"id": 1, "method": "no/such"}, {"method": "no/such"}, {"id": 2, "method": "initialize"})
        assert (await peer.error(1))["data"]["kind"] == "method_not_found"
        assert (await peer.error(2))["data"]["kind"] == "invalid_request"
        assert len(peer.said) == 2
    assert "no/such" in caplog.text


@pytest.mark.asyncio
async def test_bytes_that_are_no_message_are_answered_and_reading_goes_on():
    async with connected(serving(lambda params, call: 1)) as peer:
        peer.connection.received(b"X: 1\r\n\r\n" + frame(b"{nope") + frame(b"[]") + frame(b'{"id":7,"method":"do"}'))
        peer.send(DO)
        assert [(m["id"], m.get("error", {}).get("code")) for m in peer.said] == [
            (None, -32700),
            (None, -32700),
            (None, -32600),
            (7, -32600),
            (1, None),
        ]


# --- cancelling -------------------------------------------------------------------------------------------------------


def cancel(id: object = 1) -> dict[str, Any]:
    return {"method": "$/cancelRequest", "params": {"id": id}}


@pytest.mark.asyncio
@pytest.mark.parametrize("same_write", [True, False])
async def test_a_cancelled_request_is_answered_with_cancelled(same_write):
    began = asyncio.Event()

    async def wait() -> None:
        began.set()
        await asyncio.Future()

    async with connected(serving(lambda params, call: wait())) as peer:
        if same_write:
            peer.send(DO, cancel(), cancel())
        else:
            peer.send(DO)
            await began.wait()
            peer.send(cancel(), cancel())
        assert (await peer.error())["code"] == -32800
        peer.send(cancel())
        assert len(peer.answers()) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("same_write", [True, False])
async def test_a_handler_that_takes_the_cancel_itself_answers_with_its_result(same_write):
    aborted = asyncio.Event()
    cancels: list[object] = []

    def handler(params: Nothing, call: Call) -> Any:
        def abort() -> None:
            cancels.append(call.id)
            aborted.set()

        async def run() -> dict[str, str]:
            await aborted.wait()
            return {"status": "aborted"}

        call.on_cancel(abort)
        return run()

    async with connected(serving(handler)) as peer:
        peer.send(DO, *([cancel()] if same_write else []))
        peer.send(cancel(), cancel())
        assert (await peer.answer())["result"] == {"status": "aborted"}
        assert cancels == [1]


@pytest.mark.asyncio
@pytest.mark.parametrize("params", [{"id": "gone"}, {}, {"id": None}, {"id": []}, {"id": True}, {"id": {"a": 1}}])
async def test_a_cancel_that_fits_nothing_is_ignored(params):
    async with connected(Service({})) as peer:
        peer.send({"method": "$/cancelRequest", "params": params}, {"method": "$/cancelRequest"})
        assert peer.said == []


@pytest.mark.asyncio
async def test_a_cancel_that_fails_is_an_internal_error_and_what_follows_is_served(caplog):
    def handler(params: Nothing, call: Call) -> Any:
        call.on_cancel(lambda: 1 // 0)
        return asyncio.Future() if call.id == 1 else "served"

    async with connected(serving(handler)) as peer:
        peer.send(DO, cancel(), {**DO, "id": 2})
        assert (await peer.error())["code"] == -32603
        assert (await peer.answer(2))["result"] == "served"
    assert "ZeroDivisionError" in caplog.text


@pytest.mark.asyncio
async def test_a_handler_whose_inner_task_was_cancelled_is_still_answered():
    async def fail() -> None:
        inner = asyncio.get_running_loop().create_future()
        inner.cancel()
        await inner

    async with connected(serving(lambda params, call: fail())) as peer:
        peer.send(DO)
        assert (await peer.error())["code"] == -32800


# --- notifications ----------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_notifications_reach_their_observer_and_their_failures_only_the_log(caplog):
    seen: list[str] = []
    late = asyncio.Event()

    def observe(params: RunParams) -> Any:
        async def later() -> None:
            late.set()
            raise ValueError("late")

        seen.append(str(params.input))
        if params.input == "bad":
            raise ValueError("bad")
        return later() if params.input == "late" else None

    async with connected(Service({}, {"note": Observer(RunParams, observe)})) as peer:
        for words in ({"input": "a"}, {"input": "bad"}, {"input": 3}, {"input": "late"}):
            peer.send({"method": "note", "params": words})
        peer.send({"method": "note", "params": [1]}, {"method": "note"})
        await late.wait()
        assert seen == ["a", "bad", "late"]
        assert peer.said == []
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 2


# --- requests to the client -------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_client_is_asked_and_late_or_second_answers_are_ignored():
    async with connected(Service({})) as peer:
        asked = asyncio.ensure_future(peer.connection.request("agent/approve", Info(session_id="s")))
        await until(lambda: peer.said)
        (question,) = peer.said
        assert (question["method"], question["params"]) == ("agent/approve", {"sessionId": "s"})
        peer.send({"id": question["id"], "result": {"decision": "allow"}}, {"id": question["id"], "result": 2})
        peer.send({"id": "no", "result": 1}, {"id": None, "error": {}}, {"id": True, "result": 1})
        assert await asked == {"decision": "allow"}
        assert len(peer.said) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("error", [{"code": -32601, "message": "no such method", "data": 1}, {}, {"message": 3}])
async def test_an_error_of_the_client_is_an_error(error):
    async with connected(Service({})) as peer:
        asked = asyncio.ensure_future(peer.connection.request("agent/approve", {}))
        await until(lambda: peer.said)
        peer.send({"id": peer.said[0]["id"], "error": error})
        with pytest.raises(PeerError) as caught:
            await asked
        assert caught.value.code == error.get("code")


@pytest.mark.asyncio
async def test_a_question_that_is_withdrawn_is_cancelled_and_not_waited_for():
    async with connected(Service({})) as peer:
        asked = asyncio.ensure_future(peer.connection.request("agent/approve", {}))
        await until(lambda: peer.said)
        asked.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asked
        question, withdrawn = peer.said
        assert (withdrawn["method"], withdrawn["params"]) == ("$/cancelRequest", {"id": question["id"]})
        peer.send({"id": question["id"], "result": 1})


@pytest.mark.asyncio
async def test_a_lost_connection_fails_every_question():
    async with connected(Service({})) as peer:
        asked = asyncio.ensure_future(peer.connection.request("agent/approve", {}))
        await until(lambda: peer.said)
        peer.connection.lost()
        for question in (asked, peer.connection.request("agent/approve", {})):
            with pytest.raises(ConnectionLost):
                await question


# --- life -------------------------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_shutdown_is_answered_after_everything_else_and_then_only_exit_is_served():
    stop = asyncio.Event()
    calls: list[str] = []

    async def run() -> str:
        await stop.wait()
        return "aborted"

    async def shutdown() -> None:
        calls.append("shutdown")
        stop.set()

    async def close() -> None:
        calls.append("close")

    async with connected(serving(lambda params, call: run(), shutdown=shutdown, close=close)) as peer:
        peer.send(DO, {"id": 2, "method": "shutdown"})
        peer.send({"id": 3, "method": "do"}, {"id": 4, "method": "shutdown"}, {"id": 5, "method": "initialize"})
        assert (await peer.answer(2))["result"] is None
        order = [m["id"] for m in peer.said]
        assert order.index(1) < order.index(2)
        assert {m["id"] for m in peer.said if m.get("error", {}).get("code") == -32600} == {3, 4, 5}
        peer.send({"method": "exit"}, {"id": 6, "method": "do"})
        assert peer.connection.ended.done() and peer.connection.exit_status == 0
        assert not peer.answers(6)
    assert calls == ["shutdown", "close"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "how",
    [lambda c: c.received(b""), lambda c: c.lost(), lambda c: c.received(frame(b'{"jsonrpc":"2.0","method":"exit"}'))],
)
async def test_an_end_without_shutdown_closes_the_service_and_is_a_failure(how):
    closed: list[bool] = []

    async def close() -> None:
        closed.append(True)

    async with connected(Service({}, close=close)) as peer:
        how(peer.connection)
        await asyncio.wait_for(peer.connection.ended, 1)
        assert peer.connection.exit_status == 1
    assert closed == [True] and peer.transport.closed


@pytest.mark.asyncio
async def test_what_runs_when_the_input_ends_is_cancelled_and_still_answered():
    async with connected(serving(lambda params, call: asyncio.Future())) as peer:
        peer.send(DO)
        peer.connection.received(b"")
    assert [m["error"]["code"] for m in peer.transport.said] == [-32800]


@pytest.mark.asyncio
async def test_what_comes_before_the_service_is_there_waits_in_order():
    greeted = Greeted(ClientInfo({}), Configuration({}), Decoder())
    greeted.decoder.feed(frame(b'{"jsonrpc":"2.0","id":0,"method":"do"}'))
    async with asyncio.TaskGroup() as tasks:
        connection, transport = Connection(greeted, tasks), Memory()
        connection.attach(transport, Outbox(transport))
        peer = Peer(connection, transport)
        peer.send(DO, {"id": 2, "method": "do"})
        assert peer.said == []
        connection.serve(serving(lambda params, call: call.id))
        assert [m["result"] for m in peer.said] == [0, 1, 2]


@pytest.mark.asyncio
async def test_a_client_that_asks_much_and_reads_nothing_is_no_longer_listened_to():
    async with connected(serving(lambda params, call: "x" * 1000), high_water_bytes=1000) as peer:
        peer.transport.paused = True
        peer.send(*({"id": id, "method": "do"} for id in range(5)))
        assert peer.transport.held
        await asyncio.sleep(0)
        peer.transport.paused = False
        peer.connection.writable()
        await until(lambda: not peer.transport.held)
        assert len(peer.said) == 5


@pytest.mark.asyncio
async def test_a_task_of_the_application_ends_with_the_connection():
    ended = asyncio.Event()

    async def forever() -> None:
        try:
            await asyncio.Future()
        finally:
            ended.set()

    async with connected(Service({})) as peer:
        peer.connection.spawn(forever())
        await asyncio.sleep(0)
    assert ended.is_set()


# --- a hostile wire ---------------------------------------------------------------------------------------------------

FIELDS = {
    "jsonrpc": st.sampled_from(["2.0", "1.0", 2]),
    "id": st.one_of(st.none(), st.booleans(), st.integers(0, 3), st.floats(), st.text(max_size=1), st.just([])),
    "method": st.sampled_from(["do", "wait", "$/cancelRequest", "initialize", "no/such", "", 3, None]),
    "params": st.one_of(
        st.none(), st.lists(st.none()), st.fixed_dictionaries({}, optional={"id": st.integers(0, 3), "x": st.text()})
    ),
    "result": st.none(),
    "error": st.one_of(st.none(), st.dictionaries(st.text(max_size=3), st.none())),
}
MESSAGES = st.fixed_dictionaries({}, optional=FIELDS).map(lambda message: json.dumps(message).encode())
BLOCKS = st.one_of(
    MESSAGES.map(frame), MESSAGES, st.binary(max_size=40), st.binary(max_size=40).map(frame), st.just(b"\r\n\r\n")
)


@settings(deadline=None, max_examples=200)
@given(st.lists(BLOCKS, max_size=15), st.integers(1, 50))
def test_nothing_that_comes_ends_the_server_or_is_answered_twice(blocks: list[bytes], size: int) -> None:
    asyncio.run(_survives(b"".join(blocks), size))


async def _survives(data: bytes, size: int) -> None:
    async def wait() -> str:
        await asyncio.Event().wait()
        return "never"

    methods = {"do": Method(Nothing, lambda params, call: "done"), "wait": Method(Nothing, lambda params, call: wait())}
    asked: list[str] = []
    async with connected(Service(methods)) as peer:
        for start in range(0, len(data), size):
            peer.connection.received(data[start : start + size])
        peer.connection.received(b"\r\n\r\n")
        peer.send({"id": "skipped", "method": "do"}, {"id": "last", "method": "do"})
        assert (await peer.answer("last"))["result"] == "done"
        asked = [m["id"] for m in peer.said if m.get("id") in ("last", "skipped")]
    assert len(asked) == len(set(asked))
    assert all("method" not in m and (("error" in m) != ("result" in m)) for m in peer.transport.said)
