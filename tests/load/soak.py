"""Many sessions at once for a long time: tools, failures, interrupts, steering, compactions, closing and resuming.

    make soak                       SOAK_SESSIONS=64 SOAK_MINUTES=10
    python tests/load/soak.py --sessions 16 --minutes 0.1

The whole application runs, with its tools, traces and database on the disk; the model and the client are plain code in
the same process, so that tasks can be counted and the lag of the event loop is that of everything together. What the
two keep is bounded: memory that grows is the server's. The exit status is 1 if anything was left or did not hold.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import Event, Process, Queue
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))

import pytest  # noqa: E402

from agent_lsp.app import models  # noqa: E402
from agent_lsp.messages.content import Text  # noqa: E402
from agent_lsp.providers.scripted import call, fail, play, text, thinking, usage  # noqa: E402
from agent_lsp.server.framing import frame  # noqa: E402
from tests.server.front_end import front_end  # noqa: E402

PROMPT = "Sum up for the soak."
WITHIN_S = 120
PROBE_S = 0.02
LOOK_S = 1.0
MOST_GROWTH = 0.15
"""Of the memory, from the second quarter to the last: caches fill in the beginning."""
SLACK_MB = 16


class Model:
    """Says what its dice say, piece by piece; keeps nothing of what it was asked."""

    def __init__(self, seed: int) -> None:
        self._dice, self.requests = random.Random(seed), 0

    async def stream(self, request: Any) -> AsyncGenerator[Any, None]:
        self.requests += 1
        last = request.input[-1]
        if isinstance(last, Text) and last.text == PROMPT:
            pieces = [text("[summary]what there was[/summary]")]
        else:
            pieces = self._turn(len(request.history))
        for part in play(pieces, self.requests):
            await asyncio.sleep(self._dice.choice((0, 0, 0.001, 0.005)))
            yield part

    def _turn(self, turns: int) -> list[Any]:
        dice = self._dice
        said = [thinking("hm ", "so"), text(*(f"word {number} " for number in range(dice.randint(1, 20))))]
        match dice.randrange(12):
            case 0:
                return [*said, fail("timeout", "overloaded")]
            case 1:
                return [*said, fail("malformed", "no JSON")]
            case 2 | 3 | 4:
                return [*said, usage(1_000 * (turns + 1), 50)]
            case _:
                calls = [call(*dice.choice(CALLS)) for _ in range(dice.randint(1, 3))]
                return [*said, *calls, usage(1_000 * (turns + 1), 50)]


CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"file_path": "a.txt"}),
    ("read_file", {"file_path": "missing.txt"}),
    ("write_file", {"file_path": "b.txt", "content": "x\n" * 50}),
    ("edit_file", {"file_path": "a.txt", "old_string": "two", "new_string": "two"}),
    ("list_files", {}),
    ("search_text", {"pattern": "t.o"}),
    ("exec_command", {"cmd": "echo one; echo two >&2"}),
    ("exec_command", {"cmd": "sleep 30", "run_in_background": True}),
    ("exec_command", {"cmd": "head -c 40000 /dev/zero | tr '\\0' x"}),
    ("nonsense", {"a": 1}),
)


class Client:
    """Asks, allows what it is asked, and keeps only what it waits for."""

    def __init__(self, front: Any) -> None:
        self._connection = front.connection
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._count = 0
        self.notified: Counter[str] = Counter()
        front.wire._hear = self._hear

    async def ask(self, method: str, **params: Any) -> dict[str, Any]:
        """The answer: `result` or `error`."""
        return await asyncio.wait_for(self.send(method, **params), WITHIN_S)

    def send(self, method: str, **params: Any) -> asyncio.Future[dict[str, Any]]:
        self._count += 1
        answer = self._answers[self._count] = asyncio.get_running_loop().create_future()
        self._say({"id": self._count, "method": method, "params": params})
        return answer

    def _say(self, message: dict[str, Any]) -> None:
        self._connection.received(frame(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    def _hear(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            answer = self._answers.pop(message["id"])
            if not answer.done():
                answer.set_result(message)
        elif "id" in message:
            allow = {"id": message["id"], "result": {"decision": "allow"}}
            asyncio.get_running_loop().call_later(0.01, self._say, allow)
        else:
            self.notified[message["method"]] += 1

    @property
    def waiting(self) -> int:
        return len(self._answers)


@dataclass
class Seen:
    """What was measured. Memory in MB, lag in seconds; samples in order of time."""

    lag_s: list[float] = field(default_factory=list)
    idle_lag_s: list[float] = field(default_factory=list)
    memory_mb: list[float] = field(default_factory=list)
    tasks: list[int] = field(default_factory=list)
    descriptors: list[int] = field(default_factory=list)
    did: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)


async def live(client: Client, number: int, until: float, seen: Seen) -> None:
    """One session after another, each for some runs."""
    dice = random.Random(number)
    while time.monotonic() < until:
        mode = dice.choice(("ask", "auto-edit", "allow-all"))
        session = (await client.ask("agent/session/new", approvalMode=mode))["result"]["sessionId"]
        for _ in range(dice.randint(3, 12)):
            if time.monotonic() >= until:
                break
            await one_run(client, session, dice, seen)
        match dice.randrange(4):
            case 0:
                running = client.send("agent/run", sessionId=session, input="cut off")
                await client.ask("agent/session/close", sessionId=session)
                expect(await running, ("aborted", "completed", "failed", "malformed", "timeout", "max_turns"), seen)
                expect(await client.ask("agent/session/resume", sessionId=session), None, seen)
                seen.did["resumed"] += 1
            case 1:
                expect(await client.ask("agent/compact", sessionId=session), ("completed", "aborted"), seen)
            case _:
                pass
        await client.ask("agent/session/delete", sessionId=session)
        seen.did["sessions"] += 1


async def one_run(client: Client, session: str, dice: random.Random, seen: Seen) -> None:
    run = client.send("agent/run", sessionId=session, input=f"go on {dice.random()}")
    match dice.randrange(5):
        case 0:
            await asyncio.sleep(dice.random() / 5)
            await client.ask("agent/abort", sessionId=session)
        case 1:
            await asyncio.sleep(dice.random() / 20)
            await client.ask("agent/steer", sessionId=session, input="the other way")
        case _:
            pass
    answer = await asyncio.wait_for(run, WITHIN_S)
    expect(answer, ("completed", "aborted", "failed", "malformed", "timeout", "max_turns"), seen)


def expect(answer: dict[str, Any], statuses: tuple[str, ...] | None, seen: Seen) -> None:
    """A result with one of the statuses; anything else is noted."""
    status = answer.get("result", {}).get("status")
    if "error" in answer or (statuses and status not in statuses):
        seen.errors.append(json.dumps(answer)[:300])
    seen.did[status or "asked"] += 1


async def probe(lag_s: list[float]) -> None:
    """How much later than asked for the loop wakes somebody up."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(PROBE_S)
        lag_s.append(time.perf_counter() - before - PROBE_S)


def idle(stop: Any, told: Any) -> None:
    """The same in a process that does nothing else: what of the lag is the machine's."""
    lag_s: list[float] = []

    async def until_told() -> None:
        probing = asyncio.create_task(probe(lag_s))
        await asyncio.to_thread(stop.wait)
        probing.cancel()

    asyncio.run(until_told())
    told.put(sorted(lag_s))


async def watch(seen: Seen) -> None:
    while True:
        seen.memory_mb.append(memory_mb())
        seen.tasks.append(len(asyncio.all_tasks()))
        seen.descriptors.append(descriptors())
        await asyncio.sleep(LOOK_S)


def memory_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def children() -> list[str]:
    """The command lines of what this process has started and is still there."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            if entry.name.isdecimal() and (entry / "stat").read_text().rpartition(")")[2].split()[1] == str(
                os.getpid()
            ):
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
    return found


async def soak(sessions: int, seconds: float, folder: Path, say: Callable[[str], None]) -> bool:
    """Runs it and says what was measured; whether everything held."""
    seen, model = Seen(), Model(sessions)
    stop, told = Event(), Queue()
    beside = Process(target=idle, args=(stop, told))
    beside.start()
    before_tasks, before_descriptors = len(asyncio.all_tasks()), descriptors()
    with pytest.MonkeyPatch.context() as monkeypatch:
        settings: dict[str, Any] = {
            "reconnect": {"maxRetries": 2, "baseMs": 5, "capMs": 20},
            "compaction": {"maxContextLength": 12_000, "prompt": PROMPT},
            "limits": {"maxSessions": 2 * sessions},
            "maxTurns": 12,
        }
        async with front_end(folder, monkeypatch, **settings) as (front, _):
            monkeypatch.setattr(models, "LazyLLM", lambda find: model)
            (folder / "work" / "a.txt").write_text("one\ntwo\nthree\n")
            client = Client(front)
            looking = [asyncio.create_task(probe(seen.lag_s)), asyncio.create_task(watch(seen))]
            until = time.monotonic() + seconds
            async with asyncio.TaskGroup() as group:
                for number in range(sessions):
                    group.create_task(live(client, number, until, seen))
            for one in looking:
                one.cancel()
            await asyncio.wait(looking)
            gc.collect()
            seen.memory_mb.append(memory_mb())
            waiting = client.waiting
    for _ in range(200):  # threads of the executor and watchers of processes let go a little later
        if len(asyncio.all_tasks()) <= before_tasks:
            break
        await asyncio.sleep(0.01)
    stop.set()
    seen.idle_lag_s = await asyncio.to_thread(told.get)
    beside.join()
    left = {
        "tasks": len(asyncio.all_tasks()) - before_tasks,
        "descriptors": descriptors() - before_descriptors,
        "processes": len(children()),
        "unanswered": waiting,
    }
    return report(seen, model, left, say)


def report(seen: Seen, model: Model, left: dict[str, int], say: Callable[[str], None]) -> bool:
    lag = sorted(seen.lag_s)
    quarter = max(1, len(seen.memory_mb) // 4)
    early, late = (
        sum(part) / len(part)
        for part in (seen.memory_mb[quarter : 2 * quarter] or seen.memory_mb, seen.memory_mb[-quarter:])
    )
    say(f"did: {dict(sorted(seen.did.items()))}; {model.requests} requests of the model")
    for name, ordered in (("the loop", lag), ("a loop with nothing to do, beside it", seen.idle_lag_s)):
        say(f"lag of {name}: p50 {at(ordered, 0.5):.1f} ms, p99 {at(ordered, 0.99):.1f}, most {at(ordered, 1):.1f}")
    say(
        f"memory: {seen.memory_mb[0]:.0f} MB at first, {early:.0f} in the second quarter, {late:.0f} in the last,"
        f" {max(seen.memory_mb):.0f} at the most, {seen.memory_mb[-1]:.0f} at the end"
    )
    say(f"tasks at once: {max(seen.tasks)}; descriptors at once: {max(seen.descriptors)}")
    say(f"left behind: {left}")
    for error in seen.errors[:5]:
        say(f"unexpected: {error}")
    flat = late - early <= max(SLACK_MB, MOST_GROWTH * early)
    if not flat:
        say("memory is not flat")
    return (
        flat
        and not seen.errors
        and left["tasks"] <= 0
        and left["descriptors"] <= 2
        and not left["processes"]
        and not left["unanswered"]
    )


def at(ordered: list[float], share: float) -> float:
    """A percentile in milliseconds."""
    return 1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--sessions", type=int, default=64)
    words.add_argument("--minutes", type=float, default=10)
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"{given.sessions} sessions at once, {given.minutes:g} minutes")
        held = asyncio.run(soak(given.sessions, 60 * given.minutes, Path(folder), lambda line: print(line, flush=True)))
    print("held" if held else "DID NOT HOLD")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
