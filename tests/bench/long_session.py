"""A session of 2,000 turns: what a turn costs early and late, what stays in memory, how long a resume takes.

    python tests/bench/long_session.py [RUNS]

The whole server in one process, with a scripted model that costs nothing, files and a trace on the disk. Each run is
two turns: a file of 24 KB is read and given back. Figures of the beginning and of the end come from the same process,
so that their ratios can be compared from machine to machine.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))
from agent_lsp.providers.scripted import call, text
from tests.server.front_end import front_end

RUNS = 1000
SIZE = 24_000
SAMPLE = 20
SETTINGS = {
    "approvalMode": "allow-all",
    "tools": {"maxOutputLength": 2 * SIZE},
    "providers": {
        "big": {"api": "openai-chat", "baseUrl": "http://127.0.0.1:9/v1", "models": {"m": {"contextWindow": 10**9}}}
    },
    "defaultModel": "big/m",
}


async def measure(folder: Path, runs: int) -> None:
    """Prints the figures."""
    with pytest.MonkeyPatch.context() as patch:
        async with front_end(folder, patch, **SETTINGS) as (client, model):
            (folder / "work" / "file.txt").write_text(f"{'x' * 79}\n" * (SIZE // 80))
            session = (await client.ask("agent/session/new"))["sessionId"]
            took, held = [], []
            for _ in range(runs):
                model.script([call("read_file", {"file_path": "file.txt"})], [text("y" * SIZE)])
                began = time.perf_counter()
                await client.ask("agent/run", sessionId=session, input="go")
                took.append((time.perf_counter() - began) * 1000)
                client.log.clear()
                model.requests.clear()
                if len(took) in (runs // 10, runs):
                    held.append(_megabytes())
            await client.ask("agent/session/close", sessionId=session)
        sizes = [path.stat().st_size for path in (folder / "data").rglob(f"{session}*.jsonl")]
        early = statistics.median(took[runs // 20 : runs // 20 + SAMPLE]) / 2
        late = statistics.median(took[-SAMPLE:]) / 2
        print(f"a turn at {runs // 10} turns: {early:.2f} ms; at {2 * runs}: {late:.2f} ms; ratio {late / early:.2f}")
        trace_mb = sum(sizes) / 1e6
        grown = held[1] - held[0]
        per_mb = grown / (trace_mb * 0.9)  # so much was said between the two looks
        print(f"memory: {held[0]:.0f} MB at {runs // 5} turns, {held[1]:.0f} MB at {2 * runs}; {per_mb:.2f} × the text")
        async with front_end(folder, patch, **SETTINGS) as (client, model):
            began = time.perf_counter()
            await client.ask("agent/session/resume", sessionId=session)
            print(f"resume of a trace of {trace_mb:.0f} MB: {time.perf_counter() - began:.2f} s")
            model.script([text("still here")])
            assert (await client.ask("agent/run", sessionId=session, input="go"))["text"] == "still here"


def _megabytes() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1e6


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(measure(Path(folder), int(sys.argv[1]) if sys.argv[1:] else RUNS))
