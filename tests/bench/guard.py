"""A guard against becoming slow: agent-lsp against the floor of this folder, on this machine, in this minute.

    python tests/bench/guard.py

The best of several runs of each, taken in turn, with generous limits: it fails for what is slow, not for what is busy.
Exits with 1 when something is over its limit. `make bench` measures in earnest.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
DELTAS, ROUNDS, PROMPTS = 5_000, 5, 8
LIMITS = {"start → session, ms": 3.0, "prompt → first delta, ms": 3.0, f"{DELTAS:,} deltas, ms": 2.0}
"""How many times the floor's time each may take."""


class Model:
    """A model server: answers a prompt that is a number with so many deltas, all at once."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}/v1"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            threading.Thread(target=self._serve, args=(self._listening.accept()[0],), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        data = b""
        while more := client.recv(1 << 20):
            data += more
            head, found, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            if not found or not length or len(body) < int(length[1]):
                continue
            data = b""
            prompts = [one["content"] for one in json.loads(body)["messages"] if one["role"] == "user"]
            client.sendall(_reply(int(re.findall(r"\d+", json.dumps(prompts[-1]))[-1])))


def _reply(deltas: int) -> bytes:
    events = [{"choices": [{"index": 0, "delta": {"content": _text(at)}}]} for at in range(deltas)]
    events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    lines = [b"data: %b\n\n" % json.dumps(event).encode() for event in events] + [b"data: [DONE]\n\n"]
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(line), line) for line in lines)
    return (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n%b0\r\n\r\n" % chunks
    )


def _text(at: int) -> str:
    return f"{at:05d} "


class Floor:
    """The floor as a process."""

    def __init__(self, model: Model, _: Path) -> None:
        self._url = model.url
        self.process = _started([sys.executable, str(HERE / "floor.py")])
        self._out = self.process.stdout
        assert json.loads(self._out.readline())["ready"]

    def prompt(self, words: str) -> Iterator[str]:
        """The deltas of the reply."""
        _send(self.process, json.dumps({"url": self._url, "prompt": words}).encode() + b"\n")
        while "done" not in (said := json.loads(self._out.readline())):
            yield said["delta"]


class Agent:
    """agent-lsp as a process, with a session."""

    def __init__(self, model: Model, folder: Path) -> None:
        self.process = _started([str(Path(sys.executable).with_name("agent-lsp"))])
        provider = {"api": "openai-chat", "baseUrl": model.url, "apiKey": "x", "models": {"m": {}}}
        options = {"dataDir": str(folder), "config": str(folder / "none.toml"), "titles": False, "defaultModel": "p/m"}
        self._next_id = 0
        self._ask(
            "initialize",
            rootUri=folder.as_uri(),
            capabilities={"experimental": {"agent": {"protocolVersion": 1}}},
            initializationOptions={"agent": options | {"providers": {"p": provider}}},
        )
        list(self._answer())
        self._ask("agent/session/new")
        list(self._answer())

    def prompt(self, words: str) -> Iterator[str]:
        """The deltas of the reply."""
        self._ask("agent/run", input=words)
        for message in self._answer():
            for one in message["params"].get("messages", ()) if message.get("method") == "agent/message" else ():
                if one["payload"]["type"] == "partial_text" and one["payload"]["event_type"] == "delta":
                    yield one["payload"]["text"]

    def _ask(self, method: str, **params: Any) -> None:
        self._next_id += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}).encode()
        _send(self.process, b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def _answer(self) -> Iterator[dict[str, Any]]:
        """What is said until the answer to the last request."""
        while (message := self._read()).get("id") != self._next_id or "method" in message:
            yield message
        assert "result" in message, message

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self.process.stdout.readline().strip():
            length = int(line.partition(b":")[2])
        return json.loads(self.process.stdout.read(length))


def _started(argv: list[str]) -> subprocess.Popen[bytes]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)


def _send(process: subprocess.Popen[bytes], data: bytes) -> None:
    process.stdin.write(data)
    process.stdin.flush()


@contextmanager
def running(kind: type[Floor] | type[Agent], model: Model) -> Iterator[tuple[Floor | Agent, float]]:
    """One of the two, and the milliseconds until it was ready."""
    with tempfile.TemporaryDirectory() as folder:
        began_s = time.perf_counter()
        one = kind(model, Path(folder))
        took_ms = (time.perf_counter() - began_s) * 1000
        try:
            yield one, took_ms
        finally:
            one.process.stdin.close()
            one.process.wait(10)
            one.process.stdout.close()


def measured(kind: type[Floor] | type[Agent], model: Model) -> list[float]:
    """Milliseconds: start, first delta (the best of some), all deltas."""
    with running(kind, model) as (one, start_ms):
        firsts: list[float] = []
        for _ in range(PROMPTS):
            began_s = time.perf_counter()
            deltas = one.prompt("1")
            next(deltas)
            firsts.append((time.perf_counter() - began_s) * 1000)
            list(deltas)
        began_s = time.perf_counter()
        text = "".join(one.prompt(str(DELTAS)))
        took_ms = (time.perf_counter() - began_s) * 1000
    assert text == "".join(map(_text, range(DELTAS))), "the text is not exact"
    return [start_ms, min(firsts), took_ms]


def main() -> int:
    """Prints each figure with its limit; whether one is over it."""
    model = Model()
    rounds = [(measured(Floor, model), measured(Agent, model)) for _ in range(ROUNDS)]
    is_over = False
    for at, (label, limit) in enumerate(LIMITS.items()):
        floor, ours = (min(one[which][at] for one in rounds) for which in (0, 1))
        verdict = "ok" if ours <= limit * floor else "TOO SLOW"
        is_over |= verdict != "ok"
        print(f"{verdict:8} {label}: {ours:.1f} = {ours / floor:.2f} × the floor ({floor:.1f}), limit {limit:g} ×")
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
