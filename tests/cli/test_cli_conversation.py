import asyncio
import io
import os
import signal
import sys
from pathlib import Path

import pytest

from agent_lsp.cli.client import ServerError, ServerGone
from agent_lsp.cli.conversation import ALLOW_ALL, NOBODY_TO_ASK, Job, run
from agent_lsp.cli.palette import Palette
from agent_lsp.cli.render import Renderer
from agent_lsp.cli.terminal import Screen

FAKE = Path(__file__).with_name("fake_server.py")


class Watched(io.StringIO):
    """An output that does something when a text has been written to it."""

    def __init__(self, text: str = "", then=lambda: None) -> None:
        super().__init__()
        self._text, self._then = text, then

    def write(self, text: str) -> int:
        written = super().write(text)
        if self._text and self._text in self.getvalue():
            self._text = ""
            self._then()
        return written


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


async def play(scene: str, tmp_path: Path, out: io.StringIO | None = None, **changes):
    out = out if out is not None else io.StringIO()
    job = Job("hello there", tmp_path, command=(sys.executable, str(FAKE), scene), **changes)
    return await run(job, Screen(out), Renderer(Palette())), out.getvalue()


@pytest.mark.asyncio
async def test_the_prompt_reaches_the_server_and_the_streamed_answer_the_screen(tmp_path):
    result, shown = await play("answer_run", tmp_path)

    assert result.status == "completed"
    assert "you_said:hello_there\n" in shown
    assert shown.count("hello_there") == 1
    assert "1,234 tokens" in shown


@pytest.mark.asyncio
async def test_an_approval_is_shown_in_full_and_denied_when_nobody_can_be_asked(tmp_path):
    _, shown = await play("ask_and_report", tmp_path, answerer=NOBODY_TO_ASK)

    assert "┌ Run ls\n│ $ ls\n│ in /w\n" in shown
    assert "no terminal to ask on" in shown
    assert 'answer:{"decision":"deny"}' in shown


@pytest.mark.asyncio
async def test_an_approval_is_allowed_with_yes(tmp_path):
    _, shown = await play("ask_and_report", tmp_path, answerer=ALLOW_ALL)

    assert 'answer:{"decision":"allow"}' in shown


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", '{"decision":"allow"}'),
        ("a\n", '{"decision":"allow","remember":{"scope":"session","rule":{"opaque":7}}}'),
        ("n too_risky\n", '{"decision":"deny","feedback":"too_risky"}'),
        ("perhaps\ny\n", '{"decision":"allow"}'),
        ("", '{"decision":"deny"}'),
    ],
)
async def test_what_is_typed_answers_the_approval(tmp_path, monkeypatch, typed, answer):
    read, write = os.pipe()
    with os.fdopen(read) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        os.write(write, typed.encode())
        os.close(write)
        _, shown = await play("ask_and_report", tmp_path)

    assert f"answer:{answer}" in shown


@pytest.mark.asyncio
async def test_a_question_that_is_withdrawn_is_no_longer_asked(tmp_path, monkeypatch):
    read, write = os.pipe()
    with os.fdopen(read) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        result, shown = await play("ask_and_withdraw", tmp_path, Watched("Allow?", interrupt))
        os.close(write)

    assert result.status == "aborted"
    assert "you like › \n" in shown


@pytest.mark.asyncio
async def test_a_request_that_the_client_does_not_know_is_answered_with_method_not_found(tmp_path):
    _, shown = await play("ask_unknown", tmp_path)

    assert "answer:-32601" in shown


@pytest.mark.asyncio
async def test_the_first_interrupt_aborts_and_the_run_still_gives_its_result(tmp_path):
    result, shown = await play("wait_for_abort", tmp_path, Watched("working", interrupt))

    assert result.status == "aborted"
    assert result.error_message is None
    assert "aborted" in shown


@pytest.mark.asyncio
async def test_the_second_interrupt_leaves_a_server_that_does_not_answer(tmp_path):
    result, shown = await play(
        "never_answer",
        tmp_path,
        Watched("working", lambda: (interrupt(), asyncio.get_running_loop().call_soon(interrupt))),
    )

    assert result.status == "aborted"
    assert "left before it had ended" in shown


@pytest.mark.asyncio
async def test_a_server_that_dies_is_an_error_and_not_a_wait(tmp_path):
    with pytest.raises(ServerGone):
        await play("die", tmp_path)


@pytest.mark.asyncio
async def test_a_command_that_cannot_be_started_is_an_error(tmp_path):
    with pytest.raises(ServerGone, match="cannot be started"):
        await run(Job("x", tmp_path, command=("/no/such/program",)), Screen(io.StringIO()), Renderer(Palette()))


@pytest.mark.asyncio
async def test_a_refused_run_is_an_error_with_the_hint_of_the_server(tmp_path):
    with pytest.raises(ServerError) as refused:
        await play("refuse", tmp_path)

    assert (refused.value.code, refused.value.hint) == (-32010, "set X_KEY")


@pytest.mark.asyncio
async def test_json_is_a_line_for_each_message_and_one_for_the_result(tmp_path):
    import json

    _, shown = await play("answer_run", tmp_path, as_json=True)
    lines = [json.loads(line) for line in shown.splitlines()]

    assert {line["type"] for line in lines[:-1]} == {"model_msg"}
    assert (lines[-1]["type"], lines[-1]["status"]) == ("run_result", "completed")


@pytest.mark.asyncio
async def test_what_the_server_warns_of_is_shown_once_each_and_nothing_less_is(tmp_path):
    _, shown = await play("warn", tmp_path)

    assert shown.count("! a setting is unknown\\x1b\n") == shown.count("! the disk is full\n") == 1
    assert "nothing to worry about" not in shown


@pytest.mark.asyncio
async def test_warnings_stay_out_of_output_that_a_program_reads(tmp_path, capsys):
    _, shown = await play("warn", tmp_path, as_json=True)

    assert "disk" not in shown and "agent-lsp: the disk is full\n" in capsys.readouterr().err
