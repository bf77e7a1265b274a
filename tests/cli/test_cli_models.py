"""Which models there are, as a table, and trying one out."""

import json
import sys
from pathlib import Path

import pytest

from agent_lsp.cli import conversation, main
from agent_lsp.cli.status import EXIT_STATUS

FAKE = Path(__file__).with_name("fake_server.py")


@pytest.fixture
def said(monkeypatch, capsys, tmp_path):
    """said(scene, *arguments) → exit status, what was printed."""

    def carried_out(scene, *argv):
        monkeypatch.setattr(conversation, "SERVER", (sys.executable, str(FAKE), scene))
        status = main(["models", "--workspace", str(tmp_path), *argv])
        return status, capsys.readouterr()

    return carried_out


def test_the_table_marks_the_default_and_shows_what_is_known(said):
    status, printed = said("lists")
    lines = printed.out.splitlines()

    assert status == 0
    assert lines[0].split() == ["model", "context", "vision", "tools", "key"]
    assert lines[1].split() == ["*", "groq/big", "131.1k", "no", "yes", "yes"]
    assert lines[2].split() == ["mine/sma\\x1b[31mll", "?", "yes", "no", "no"]
    assert lines[3] == "* the default, groq/big"
    assert len(lines) == 4


def test_without_a_language_model_it_says_how_to_get_one(said):
    assert "agent-lsp login" in said("lists_none")[1].out


def test_as_json_it_is_the_answer_of_the_server(said):
    status, printed = said("lists", "--json")
    assert (status, json.loads(printed.out)["defaultModel"]) == (0, {"provider": "groq", "model": "big"})


@pytest.mark.parametrize("status", ["completed", "failed", "auth", "timeout", "malformed"])
def test_the_exit_status_of_a_try_is_that_of_a_run(said, status):
    code, printed = said(f"tried_{status}", "--test", "groq/big")

    assert code == EXIT_STATUS[status]
    assert ("12 ms" if status == "completed" else f"it was {status}") in printed.out


def test_a_try_as_json(said):
    code, printed = said("tried_auth", "--test", "groq/big", "--json")
    assert (code, json.loads(printed.out)["status"]) == (3, "auth")


def test_a_model_that_is_not_there_is_said_with_the_hint(said):
    code, printed = said("refuse", "--test", "x/y")
    assert (code, printed.err) == (3, "agent-lsp: no credential for x/y\n  set X_KEY\n")


def test_a_folder_that_is_not_there_ends_with_2(said, tmp_path):
    assert said("lists", "--workspace", str(tmp_path / "none"))[0] == 2
