"""The server as a process, with an application of three methods."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from agent_lsp.server import flags
from agent_lsp.server.flags import Flags, UsageError

APPLICATION = """
import asyncio, os, sys
from agent_lsp.__main__ import main

def load():
    print("noise from an import")
    from pydantic import BaseModel
    from agent_lsp.wire.service import Method, Service

    class Params(BaseModel):
        text: str = ""

    def build(connection):
        async def close():
            sys.stderr.write("closed\\n")

        async def stuck():
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    pass

        def fds(params, call):
            print("noise from a handler")
            os.system("echo noise from a child; cat")
            is_open = [fd for fd in range(3, 50) if os.path.exists(f"/proc/self/fd/{fd}")]
            return {"inherited": [fd for fd in is_open if os.get_inheritable(fd)]}

        def bug(params, call):
            connection.spawn(fail())

        async def fail():
            raise RuntimeError("a bug")

        return Service(
            {
                "echo": Method(Params, lambda params, call: {"text": params.text}),
                "fds": Method(Params, fds),
                "stuck": Method(Params, lambda params, call: stuck()),
                "bug": Method(Params, bug),
            },
            close=close,
        )

    return build

sys.exit(main(load=load))
"""


class Line:
    """A client on two byte streams."""

    def __init__(self, reader: BinaryIO, writer: BinaryIO) -> None:
        self.reader, self.writer = reader, writer

    def send(self, *messages: dict[str, Any]) -> None:
        bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
        self.writer.write(b"".join(b"Content-Length: %d\r\n\r\n%b" % (len(body), body) for body in bodies))
        self.writer.flush()

    def read(self) -> dict[str, Any] | None:
        header = self.reader.readline()
        if not header:
            return None
        assert re.fullmatch(rb"Content-Length: \d+\r\n", header), header
        assert self.reader.readline() == b"\r\n"
        return json.loads(self.reader.read(int(header.split(b":")[1])))

    def ask(self, method: str, params: dict | None = None, id: object = 1) -> Any:
        self.send({"id": id, "method": method, "params": params or {}})
        answer = self.read()
        assert answer is not None and answer["id"] == id, answer
        return answer.get("result", answer.get("error"))

    def initialize(self, token: str | None = None, **params: Any) -> Any:
        options = {"initializationOptions": {"agent": {"token": token}}} if token else {}
        return self.ask("initialize", {"processId": None, "capabilities": {}, **options, **params})


STALLED_S = 0.5  # nothing was taken for so long

Start = Callable[..., tuple[subprocess.Popen[bytes], Line]]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """start(*flags) → the process and the line to its standard streams."""
    script = tmp_path / "application.py"
    script.write_text(APPLICATION)
    processes: list[subprocess.Popen[bytes]] = []

    def _start(*words: str, **more: Any) -> tuple[subprocess.Popen[bytes], Line]:
        root = str(Path(__file__).parents[2])
        process = subprocess.Popen(
            [sys.executable, str(script), *words],
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PYTHONPATH": root},
            **{"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more},
        )
        processes.append(process)
        return process, Line(process.stdout, process.stdin)  # pyright: ignore[reportArgumentType]

    yield _start
    for process in processes:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                if stream is not None:
                    stream.close()


def test_only_the_protocol_is_on_stdout_whoever_prints(start):
    process, line = start()
    line.initialize()
    assert line.ask("fds") == {"inherited": []}
    assert line.ask("shutdown") is None
    line.send({"method": "exit"})
    assert process.wait(10) == 0
    assert process.stdout.read() == b""
    errors = process.stderr.read().decode()
    assert all(f"noise from {what}" in errors for what in ("an import", "a handler", "a child"))
    assert "closed\n" in errors


def test_a_client_that_floods_it_reads_nothing_and_leaves_ends_it(start):
    process, line = start()
    line.initialize(initializationOptions={"agent": {"limits": {"maxQueuedBytes": 65536}}})
    body = b'{"jsonrpc":"2.0","id":1,"method":"nothing"}'
    flood = b"Content-Length: %d\r\n\r\n%b" % (len(body), body) * 50
    os.set_blocking(process.stdin.fileno(), False)
    while select.select([], [process.stdin], [], STALLED_S)[1]:  # until it takes no more
        os.write(process.stdin.fileno(), flood)
    process.stdin.close()
    assert process.wait(10) == 1


@pytest.mark.parametrize("greet", [True, False])
def test_exit_and_the_end_of_input_end_with_1_without_shutdown(start, greet):
    for leave in (lambda line: line.send({"method": "exit"}), lambda line: line.writer.close()):
        process, line = start()
        if greet:
            line.initialize()
        leave(line)
        assert process.wait(10) == 1


def test_what_was_asked_before_the_input_ended_is_still_answered(start):
    process, line = start()
    line.send(
        {"id": 1, "method": "initialize", "params": {}},
        {"method": "initialized"},
        {"id": 2, "method": "echo", "params": {"text": "ü" * 200_000}},
    )
    line.writer.close()
    answers = [line.read(), line.read(), line.read()]
    assert answers[1]["result"]["text"] == "ü" * 200_000
    assert answers[2] is None
    assert process.wait(10) == 1


def test_plain_files_serve_as_standard_streams(start, tmp_path):
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    with asked.open("wb") as file:
        Line(file, file).send(
            {"id": 1, "method": "initialize", "params": {}}, {"id": 2, "method": "shutdown"}, {"method": "exit"}
        )
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        process, _ = start(stdin=stdin, stdout=stdout)
        assert process.wait(10) == 0
    with answered.open("rb") as file:
        line = Line(file, file)
        assert [line.read()["id"], line.read()["id"], line.read()] == [1, 2, None]


def test_one_socket_serves_as_both_standard_streams(start):
    ours, theirs = socket.socketpair()
    with theirs:
        process, _ = start(stdin=theirs, stdout=theirs)
    with line_over(ours) as line:
        line.initialize()
        assert line.ask("echo", {"text": "x" * 500_000})["text"] == "x" * 500_000
        ours.shutdown(socket.SHUT_WR)
        assert line.read() is None
        assert process.wait(10) == 1


def test_a_client_that_no_longer_reads_is_the_end(start):
    process, line = start()
    line.initialize()
    line.reader.close()
    line.send({"id": 2, "method": "echo"})
    assert process.wait(10) == 1


def test_a_client_that_reads_nothing_holds_up_no_end(start):
    process, line = start()
    line.initialize()
    line.send(*({"id": id, "method": "echo", "params": {"text": "x" * 1_000_000}} for id in range(3)))
    line.send({"id": "bye", "method": "shutdown"}, {"method": "exit"})
    assert process.wait(6) == 0


def test_a_dead_parent_is_an_exit(start):
    process, line = start()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as parent:
        line.initialize(processId=parent.pid)
        parent.kill()
    assert process.wait(10) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_what_runs(start, number):
    process, line = start()
    line.initialize()
    line.ask("echo")
    process.send_signal(number)
    assert process.wait(10) == 1
    assert b"closed\n" in process.stderr.read()


def test_a_task_that_will_not_end_holds_the_process_for_5_s_at_most(start):
    process, line = start()
    line.initialize()
    line.send({"id": 2, "method": "stuck"})
    line.ask("echo", id=3)
    line.writer.close()
    assert process.wait(6) == 1


def test_a_bug_of_the_application_ends_the_server_with_a_log_entry(start):
    process, line = start()
    line.initialize()
    line.ask("bug", id=2)
    assert process.wait(10) == 1
    errors = process.stderr.read()
    assert b"CRITICAL" in errors and b"RuntimeError: a bug" in errors


@pytest.mark.parametrize("words", ["--bogus", "--tcp", "--tcp=nonsense", "--log-level loud", "--tcp 8.8.8.8:0"])
def test_arguments_that_make_no_sense_are_explained(start, words):
    process, _ = start(*words.split())
    assert process.wait(10) == 2
    assert process.stderr.read().startswith(b"agent-lsp: ")
    assert process.stdout.read() == b""


def test_a_closed_stdin_is_explained(tmp_path):
    code = "import os, sys; os.close(0); from agent_lsp.__main__ import main; sys.exit(main([]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=20)
    assert done.returncode == 2 and b"closed" in done.stderr


def test_flags_are_read_in_both_spellings():
    assert flags.parse(["--data-dir", "/d", "--config=/c", "--stdio", "--clientProcessId=7"]) == Flags("/d", "/c")
    assert flags.parse(["--ws", "localhost:0", "--token=/t", "--allow-remote"]).settings == {"allow_remote": True}
    for words in (["--stdio", "--tcp", "a:1"], ["--stdio=1"], ["data-dir"], ["--data-dir="]):
        with pytest.raises(UsageError):
            flags.parse(words)


# --- over sockets -----------------------------------------------------------------------------------------------------


def listening(process: subprocess.Popen[bytes]) -> tuple[tuple[str, int], str]:
    """The address and the token that the process tells."""
    told = process.stderr.readline().decode()
    found = re.fullmatch(r"agent-lsp: listening on (\S+) port (\d+); (?:token: (\S+)|.*)\n", told)
    assert found, told
    return (found[1], int(found[2])), found[3] or ""


@contextlib.contextmanager
def line_over(client: socket.socket) -> Iterator[Line]:
    client.settimeout(20)
    with client, client.makefile("rwb") as both:
        yield Line(both, both)


def dial(address: tuple[str, int] | str) -> contextlib.AbstractContextManager[Line]:
    client = socket.socket(socket.AF_UNIX) if isinstance(address, str) else socket.socket()
    try:
        client.connect(address)
    except OSError:
        client.close()
        raise
    return line_over(client)


def test_tcp_wants_the_token_and_serves_one_client(start):
    process, _ = start("--tcp", "127.0.0.1:0")
    address, token = listening(process)
    for wrong in (None, "wrong"):
        with dial(address) as line:
            options = {"agent": {"token": wrong}} if wrong else {}
            line.send({"id": 1, "method": "initialize", "params": {"initializationOptions": options}})
            assert line.read() is None
    with dial(address) as line:
        line.writer.write(b"GET / HTTP/1.1\r\n")
        line.writer.flush()
        assert line.read() is None
    with dial(address) as line:
        assert line.initialize(token)["serverInfo"]["name"] == "agent-lsp"
        assert line.ask("echo", {"text": "hi"}) == {"text": "hi"}
        with pytest.raises(ConnectionRefusedError):
            dial(address)
        assert line.ask("shutdown") is None
        line.send({"method": "exit"})
        assert line.read() is None
    assert process.wait(10) == 0


def test_a_token_file_is_never_printed(start, tmp_path):
    (tmp_path / "token").write_text("from a file\n")
    process, _ = start("--tcp", "localhost:0", "--token", str(tmp_path / "token"))
    address, token = listening(process)
    assert token == ""
    with dial(address) as line:
        line.initialize("from a file")
    assert process.wait(10) == 1
    assert b"from a file" not in process.stderr.read()


def test_an_empty_or_missing_token_file_is_refused(start, tmp_path):
    (tmp_path / "empty").touch()
    for name in ("empty", "missing"):
        process, _ = start("--tcp", "127.0.0.1:0", "--token", str(tmp_path / name))
        assert process.wait(10) == 2


def test_a_pipe_is_connected_to_where_an_editor_listens(start, tmp_path):
    path = str(tmp_path / "editor.sock")
    with socket.socket(socket.AF_UNIX) as editor:
        editor.bind(path)
        editor.listen()
        editor.settimeout(20)
        process, _ = start(f"--pipe={path}")
        with line_over(editor.accept()[0]) as line:
            line.initialize()
            assert line.ask("echo", {"text": "hi"}) == {"text": "hi"}
            line.ask("shutdown")
            line.send({"method": "exit"})
            assert line.read() is None
    assert process.wait(10) == 0


def test_a_pipe_that_nobody_listens_at_is_listened_at_and_removed(start, tmp_path):
    path = tmp_path / "server.sock"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    process, _ = start("--pipe", str(path), "--log-level", "info")
    assert b"listening" in process.stderr.readline()
    assert path.stat().st_mode & 0o077 == 0
    with dial(str(path)) as line:
        line.initialize()
        assert not path.exists()
        line.ask("shutdown")
    assert process.wait(10) == 0


def test_websocket_carries_one_body_a_message_and_refuses_web_pages(start):
    client_module = pytest.importorskip("websockets.sync.client")
    exceptions = pytest.importorskip("websockets.exceptions")
    process, _ = start("--ws", "127.0.0.1:0")
    (host, port), token = listening(process)
    address = f"ws://{host}:{port}"

    def ask(client: Any, id: int, method: str, params: dict | None = None) -> Any:
        client.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}))
        return json.loads(client.recv(timeout=20)).get("result")

    with pytest.raises(exceptions.InvalidStatus):
        client_module.connect(address, origin="https://evil.example")
    with client_module.connect(address) as stranger, pytest.raises(exceptions.ConnectionClosed):
        ask(stranger, 1, "initialize")
    with client_module.connect(address, max_size=None) as client:
        assert ask(client, 1, "initialize", {"initializationOptions": {"agent": {"token": token}}})
        assert ask(client, 2, "echo", {"text": "ü" * 500_000}) == {"text": "ü" * 500_000}
        assert ask(client, 3, "shutdown") is None
        client.send(json.dumps({"jsonrpc": "2.0", "method": "exit"}))
        with pytest.raises(exceptions.ConnectionClosed):
            client.recv(timeout=20)
    assert process.wait(10) == 0
