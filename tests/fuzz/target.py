"""What is fuzzed: samples of its input, and a check that fails when a promise is broken."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.fuzz.mutation import Sample

SLOWEST_S = 5.0
"""So long an input may take at the most, on a machine that has other things to do; most take microseconds."""


@dataclass(frozen=True)
class Target:
    """`check` takes one input, or so many at once as `batch` says. `short`: so many the short form tries."""

    name: str
    samples: tuple[Sample, ...]
    check: Callable[[bytes], None] | Callable[[Sequence[bytes]], None]
    short: int
    batch: int = 1

    def try_all(self, inputs: Sequence[bytes]) -> None:
        """Checks the inputs; AssertionError, or whatever escapes, when one breaks a promise."""
        with nothing_unexpected(), in_time(len(inputs)):
            if self.batch > 1:
                self.check(inputs)  # type: ignore[arg-type]
                return
            for one in inputs:
                self.check(one)  # type: ignore[arg-type]


@contextmanager
def in_time(count: int) -> Iterator[None]:
    """No input hangs."""
    began = time.process_time()
    yield
    spent = time.process_time() - began
    assert spent < SLOWEST_S * max(1, count // 10), f"{spent:.1f} s of processor time"


class _Bugs(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(self.format(record))


@contextmanager
def nothing_unexpected() -> Iterator[None]:
    """What a handler boundary has caught and logged is a bug all the same."""
    bugs, logger = _Bugs(), logging.getLogger("agent_lsp")
    logger.addHandler(bugs)
    try:
        yield
    finally:
        logger.removeHandler(bugs)
    assert not bugs.found, bugs.found[0]
