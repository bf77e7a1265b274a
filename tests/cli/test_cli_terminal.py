import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

FAKE = Path(__file__).with_name("fake_server.py")
PROGRAM = """
import sys
from agent_lsp.cli import conversation, main
conversation.SERVER = (sys.executable, {fake!r}, {scene!r})
sys.exit(main(["run", "hello", "--workspace", {workspace!r}]))
"""


class Person:
    """Somebody in front of a terminal in which the program runs."""

    def __init__(self, scene: str, workspace: Path) -> None:
        self._master, slave = pty.openpty()
        program = PROGRAM.format(fake=str(FAKE), scene=scene, workspace=str(workspace))
        environment = {**os.environ, "TERM": "xterm"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=slave, stdout=slave, stderr=slave, env=environment
        )
        os.close(slave)
        self.seen = ""

    def sees(self, text: str) -> None:
        while text not in self.seen:
            self._read()

    def types(self, text: str) -> None:
        os.write(self._master, text.encode())

    def leaves(self) -> int:
        try:
            while True:
                self._read()
        except OSError:  # the last one to write has gone
            return self.process.wait()

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def _read(self) -> None:
        self.seen += os.read(self._master, 4096).decode()


@pytest.fixture
def person(tmp_path):
    people = []

    def sits_down(scene: str) -> Person:
        people.append(Person(scene, tmp_path))
        return people[-1]

    yield sits_down
    for one in people:
        one.close()


def test_on_a_terminal_the_person_is_asked_in_colour_and_the_answer_counts(person):
    someone = person("ask_and_report")
    someone.sees("Allow?")
    someone.types("n not_today\n")

    assert someone.leaves() == 0
    assert '"decision":"deny","feedback":"not_today"' in someone.seen
    assert "\x1b[1;33m┌ Run ls\x1b[0m" in someone.seen


def test_what_was_typed_before_the_question_does_not_answer_it(person):
    someone = person("stream_then_ask")
    someone.sees("working")
    someone.types("y\n")
    someone.process.send_signal(signal.SIGINT)
    someone.sees("Allow?")
    someone.types("n\n")

    assert someone.leaves() == 0
    assert '"decision":"deny"' in someone.seen


def test_questions_are_answered_by_number_or_in_words(person):
    someone = person("ask_freely")
    someone.sees("Which?")
    someone.sees("2  green")
    someone.sees("Answer?")
    someone.types("2\n")
    someone.sees('answer:{"answer":"green"}')
    someone.sees("numbers, or words")
    someone.types("2, 1\n")
    someone.sees('answer:{"answer":["b","a"]}')
    someone.sees("[in your words")
    someone.types("\n")

    assert someone.leaves() == 0
    assert 'answer:{"answer":null}' in someone.seen


def test_a_question_waits_for_the_answer_to_an_approval(person):
    someone = person("ask_twice_at_once")
    someone.sees("Allow?")
    assert "Which?" not in someone.seen
    someone.types("y\n")
    someone.sees("Answer?")
    someone.types("the first\n")

    assert someone.leaves() == 0
    assert '[{"decision":"allow"},{"answer":"the first"}]'.replace(" ", "") in someone.seen.replace(" ", "")


def test_a_termination_leaves_with_the_status_of_an_abort(person):
    someone = person("never_answer")
    someone.sees("working")
    someone.process.send_signal(signal.SIGTERM)

    assert someone.leaves() == 130


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_an_output_that_takes_nothing_is_said_and_ends_with_1(tmp_path):
    program = PROGRAM.format(fake=str(FAKE), scene="answer_run", workspace=str(tmp_path))
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-c", program], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, check=False
        )

    assert ended.returncode == 1
    assert ended.stderr == b"agent-lsp: the output cannot be written: No space left on device\n"
