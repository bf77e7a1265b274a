"""The way of a delta through the server, without a network: HTTP chunks in, framed notifications out.

    python tests/bench/per_delta.py DELTAS [DELTAS_PER_READ]

All that is between the socket to the model and the pipe to the client is the real thing. It always does the same, so
its instructions can be counted (docs/performance.md says how).
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncGenerator
from importlib import import_module
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from agent_lsp.engine.ports import Part, Request
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.http1 import Chunked
from agent_lsp.providers.openai_chat.stream import ChatReader
from tests.server.front_end import front_end

PER_READ = 500
LATE = (
    "agent_lsp.providers.http",
    "agent_lsp.tools.builtin",
    "agent_lsp.policy.commands",
    "agent_lsp.server.run_handlers",
)
SETTINGS = {
    "titles": False,
    "providers": {"here": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "models": {"m": {}}}},
    "defaultModel": "here/m",
}


_EVENT = b'data: {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [%b]}\n\n'


def chunk(choice: bytes) -> bytes:
    """One event, as a server sends it: in a chunk of its own."""
    data = _EVENT % choice
    return b"%x\r\n%b\r\n" % (len(data), data)


def reads(deltas: int, per_read: int) -> list[bytes]:
    """What the socket gives, read by read."""
    chunks = [chunk(b'{"index": 0, "delta": {"content": "%05d "}}' % at) for at in range(deltas)]
    cut = [b"".join(chunks[at : at + per_read]) for at in range(0, deltas, per_read)]
    return [*cut, chunk(b'{"index": 0, "delta": {}, "finish_reason": "stop"}') + b"e\r\ndata: [DONE]\n\n\r\n0\r\n\r\n"]


async def measure(folder: Path, deltas: int, per_read: int) -> None:
    """Has a run stream them, and prints what CPU time a delta took."""
    coming = reads(deltas, per_read)
    written = 0

    async def stream(_: Request) -> AsyncGenerator[Part, None]:
        framing, decoder = Chunked(b""), BodyDecoder(ChatReader("here"), ())
        for data in coming:
            for part in decoder.feed(framing.feed(data)):
                yield part
            await asyncio.sleep(0)  # as between two reads

    def write(data: bytes) -> None:
        nonlocal written
        written += len(data)
        if b'"method":"agent/message"' not in data or b'"id":' in data:
            hear(data)

    for late in LATE:  # or a thread would do so, sooner or later
        import_module(late)
    with pytest.MonkeyPatch.context() as patch:
        async with front_end(folder, patch, **SETTINGS) as (client, model):
            session = (await client.ask("agent/session/new"))["sessionId"]
            hear, client.wire.write = client.wire.write, write
            model.stream = stream
            began_s = time.process_time()
            result = await client.send("agent/run", sessionId=session, input="go")
            took_s = time.process_time() - began_s
            client.wire.write = hear
    assert result["text"] == "".join(f"{at:05d} " for at in range(deltas)), "the text is not exact"
    print(f"{took_s / deltas * 1e6:.2f} µs and {written / deltas:.0f} bytes a delta")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as made:
        asyncio.run(measure(Path(made), numbers[0], numbers[1] if numbers[1:] else PER_READ))
