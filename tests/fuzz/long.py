"""The long form: a million inputs, or as many as fit into the time.

    make fuzz                          FUZZ_INPUTS=1000000 FUZZ_MINUTES=60 FUZZ_SEED=…
    python tests/fuzz/long.py --only "stream of gemini" --inputs 50000
    python tests/fuzz/long.py --atheris framing          guided by coverage, where atheris is installed

Each input is made from the seed and its number, so that what is found is found again. An input that breaks a promise is
written below `build/fuzz/` with what it broke; the exit status is 1 then. It becomes a test of its own.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import nullcontext
from multiprocessing import Process, Queue
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT))


def _instrumenting() -> Any:
    """Has what is imported tell atheris which ways it takes, if that is to choose the inputs."""
    if "--atheris" not in sys.argv:
        return nullcontext()
    try:
        import atheris
    except ImportError:
        sys.exit("atheris is not installed: pip install atheris")
    return atheris.instrument_imports(include=["agent_lsp"])


with _instrumenting():
    from tests.fuzz import pure_targets, served_targets, trace_target
    from tests.fuzz.mutation import KINDS, LARGEST, Edit, mutated, random_edits
    from tests.fuzz.target import Target

FOUND = ROOT / "build" / "fuzz"
CHUNK = 500
GROWTH_MB = 300
"""So much more memory than after the first chunk an honest decoder never needs."""


def targets() -> tuple[Target, ...]:
    return (*pure_targets.TARGETS, *served_targets.TARGETS, *trace_target.targets())


def chunk(target: Target, seed: int, number: int) -> list[bytes]:
    """The inputs of one chunk; always the same for the same numbers."""
    rng = random.Random(f"{seed}/{target.name}/{number}")
    return [mutated(rng.choice(target.samples), random_edits(rng)) for _ in range(CHUNK)]


def failing(target: Target, inputs: Sequence[bytes]) -> tuple[Sequence[bytes], str] | None:
    """The smallest part of the inputs that was tried and broke a promise, and which."""
    step = target.batch if target.batch > 1 else len(inputs)
    for start in range(0, len(inputs), step):
        batch = inputs[start : start + step]
        if said := broken(target, batch):
            single = next(([one] for one in batch if broken(target, [one])), batch)
            return single, broken(target, single) or said
    return None


def broken(target: Target, inputs: Sequence[bytes]) -> str | None:
    try:
        target.try_all(inputs)
    except Exception:
        return traceback.format_exc()
    return None


def work(jobs: Any, results: Any, seed: int) -> None:
    """One process: takes jobs until there are none."""
    known = {target.name: target for target in targets()}
    while (job := jobs.get()) is not None:
        name, number = job
        found = failing(known[name], chunk(known[name], seed, number))
        peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        results.put((name, number, found, peak_mb, os.getpid()))
    results.put(None)


def plan(chosen: Sequence[Target], inputs: int) -> list[tuple[str, int]]:
    """The chunks to try, each target as often as the short form does in proportion, all of them mixed."""
    whole = sum(target.short for target in chosen)
    jobs = [
        (target.name, number)
        for target in chosen
        for number in range(max(1, -(-inputs * target.short // whole // CHUNK)))
    ]
    random.Random(0).shuffle(jobs)
    return jobs


def keep(name: str, number: int, inputs: Sequence[bytes], said: str) -> None:
    folder = FOUND / f"{name.replace(' ', '-')}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    for place, one in enumerate(inputs):
        (folder / f"input-{place}").write_bytes(one)
    (folder / "broken.txt").write_text(said)
    print(f"\nBROKEN: {name}, chunk {number}: {folder.relative_to(ROOT)}\n{said}")


def fuzz(chosen: Sequence[Target], given: argparse.Namespace) -> int:
    jobs, results, began = Queue(), Queue(), time.monotonic()
    todo = plan(chosen, given.inputs)
    workers = [Process(target=work, args=(jobs, results, given.seed)) for _ in range(given.processes)]
    for worker in workers:
        worker.start()
    tried, broken_chunks, first_mb, peak_mb, waiting = 0, 0, {}, 0, 0
    per_target: dict[str, int] = {}
    while todo or waiting:
        while todo and waiting < 2 * given.processes and time.monotonic() - began < 60 * given.minutes:
            jobs.put(todo.pop())
            waiting += 1
        if not waiting:
            break
        name, number, found, mb, pid = results.get()
        waiting -= 1
        tried += CHUNK
        per_target[name] = per_target.get(name, 0) + CHUNK
        first_mb.setdefault(pid, mb)
        peak_mb = max(peak_mb, mb - first_mb[pid])
        if found:
            broken_chunks += 1
            keep(name, number, *found)
        if tried % (40 * CHUNK) == 0:
            print(f"{tried:>9} inputs, {time.monotonic() - began:.0f} s, {broken_chunks} broken", flush=True)
    for _ in workers:
        jobs.put(None)
    for worker in workers:
        worker.join()
    took = time.monotonic() - began
    for name, count in sorted(per_target.items()):
        print(f"  {count:>9}  {name}")
    print(f"{tried} inputs in {took:.0f} s ({tried / took:.0f} a second), seed {given.seed}: {broken_chunks} broken;")
    print(f"memory grew by {peak_mb} MB at the most")
    return 1 if broken_chunks or peak_mb > GROWTH_MB else 0


def guided(target: Target) -> int:
    """Lets atheris choose the edits, by what they reach."""
    import atheris

    kinds = list(KINDS)

    def one(data: bytes) -> None:
        chosen = atheris.FuzzedDataProvider(data)
        sample = target.samples[chosen.ConsumeIntInRange(0, len(target.samples) - 1)]
        edits = []
        while chosen.remaining_bytes() and len(edits) < 12:
            kind = kinds[chosen.ConsumeIntInRange(0, len(kinds) - 1)]
            edits.append(Edit(kind, chosen.ConsumeIntInRange(0, LARGEST), chosen.ConsumeIntInRange(0, LARGEST)))
        target.try_all([mutated(sample, edits)])

    atheris.Setup([sys.argv[0], *(f"-runs={runs}" for runs in [os.environ.get("FUZZ_INPUTS", "100000")])], one)
    atheris.Fuzz()
    return 0


def main() -> int:
    names = [target.name for target in targets()]
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--inputs", type=int, default=1_000_000)
    words.add_argument("--minutes", type=float, default=60)
    words.add_argument("--seed", type=int, default=int(time.time()))
    words.add_argument("--processes", type=int, default=2)
    words.add_argument("--only", choices=names, action="append")
    words.add_argument("--atheris", choices=names)
    given = words.parse_args()
    if given.atheris:
        return guided(next(target for target in targets() if target.name == given.atheris))
    return fuzz([target for target in targets() if not given.only or target.name in given.only], given)


if __name__ == "__main__":
    sys.exit(main())
