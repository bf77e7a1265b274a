"""The person at the terminal: what is written to it, what is asked, and what Ctrl-C means."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import termios
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Literal, TextIO

from agent_lsp.slotted import frozen

Answer = Literal["allow", "session", "deny"]
_ANSWERS: dict[str, Answer] = {
    "y": "allow",
    "yes": "allow",
    "a": "session",
    "always": "session",
    "n": "deny",
    "no": "deny",
}


@frozen
class Reply:
    """What the person said to an approval; `feedback` goes to the model with a deny."""

    answer: Answer
    feedback: str = ""


def parse_reply(line: str, *, session_offered: bool) -> Reply | None:
    """What was typed, `y`, `a` or `n` with a reason behind it; None when it is none of these."""
    word, _, reason = line.strip().partition(" ")
    answer = _ANSWERS.get(word.lower().rstrip(":,"))
    if answer is None or (answer == "session" and not session_offered):
        return None
    return Reply(answer, reason.strip() if answer == "deny" else "")


def parse_answer(line: str, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
    """What was typed: numbers of options, else words of one's own; None when it is nothing."""
    words = line.strip()
    numbers = [int(one) for one in words.replace(",", " ").split() if one.isdecimal() and len(one) < 4]
    are_numbers = len(numbers) == len(words.replace(",", " ").split())
    if numbers and are_numbers and all(1 <= one <= len(options) for one in numbers):
        chosen = [options[one - 1] for one in dict.fromkeys(numbers)]
        if multiple:
            return chosen
        if len(numbers) == 1:
            return chosen[0]
    if not words:
        return None
    return [words] if multiple else words


class Screen:
    """Where the output goes. While a question stands, everything else waits its turn."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._held: list[str] | None = None
        self.is_lost = False  # whether something could not be written

    def write(self, text: str) -> None:
        """Writes now, or when the question has been answered."""
        if self._held is not None:
            self._held.append(text)
        elif text:
            self._put(text)

    @contextmanager
    def question(self) -> Generator[Callable[[str], None]]:
        """Holds everything back but what is written with the function given."""
        held = self._held = []
        try:
            yield self._put
        finally:
            self._held = None
            self.write("".join(held))

    def _put(self, text: str) -> None:
        try:
            self._out.write(text)
            self._out.flush()
        except OSError as error:
            # Without an output there is nothing left to do, which is as good as a termination.
            if not isinstance(error, BrokenPipeError):
                sys.stderr.write(f"agent-lsp: the output cannot be written: {error.strerror}\n")
            self.is_lost = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            signal.raise_signal(signal.SIGTERM)


async def read_line(descriptor: int) -> str | None:
    """The next line that is typed, and nothing beyond it; None at the end of input. May be cancelled."""
    loop, ready, typed = asyncio.get_running_loop(), asyncio.Event(), b""
    loop.add_reader(descriptor, ready.set)
    try:
        while not typed.endswith(b"\n"):
            await ready.wait()
            ready.clear()
            piece = os.read(descriptor, 1)
            if not piece:
                return typed.decode(errors="replace") or None
            typed += piece
        return typed.decode(errors="replace")
    finally:
        loop.remove_reader(descriptor)


async def ask(question: Callable[[str], None], *, session_offered: bool) -> Reply:
    """Asks until the answer is one; the end of input is a deny."""
    _forget_what_was_typed()
    for_session = "  [a]llow for this session" if session_offered else ""
    while True:
        question(f"└ Allow?  [y]es{for_session}  [n]o, with a reason if you like › ")
        line = await read_line(sys.stdin.fileno())
        if line is None:
            question("\n")
            return Reply("deny")
        if reply := parse_reply(line, session_offered=session_offered):
            return reply


async def ask_freely(
    question: Callable[[str], None], options: Sequence[str], *, multiple: bool
) -> str | list[str] | None:
    """The person's answer to a question of the model's; None when there is none, as at the end of input."""
    _forget_what_was_typed()
    how = "its number, or words of your own" if options else "in your words"
    several = "numbers, or words of your own" if options else how
    question(f"└ Answer?  [{several if multiple else how}; nothing: no answer] › ")
    line = await read_line(sys.stdin.fileno())
    if line is None:
        question("\n")
        return None
    return parse_answer(line, options, multiple=multiple)


def _forget_what_was_typed() -> None:
    """What was typed before a question answers nothing."""
    if os.isatty(stdin := sys.stdin.fileno()):
        termios.tcflush(stdin, termios.TCIFLUSH)


@contextmanager
def interrupts(first: Callable[[], None], then: Callable[[], None]) -> Generator[None]:
    """Within it, the first Ctrl-C calls `first`, every later one `then`; so does a termination, at once."""
    loop, calls = asyncio.get_running_loop(), [first]
    loop.add_signal_handler(signal.SIGINT, lambda: (calls.pop() if calls else then)())
    loop.add_signal_handler(signal.SIGTERM, then)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
