import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from agent_lsp import __version__
from agent_lsp.cli import conversation, main
from agent_lsp.cli.client import ServerError, ServerGone
from agent_lsp.cli.status import EXIT_STATUS, EXPLAINED, of_error
from agent_lsp.cli.terminal import Reply, Screen, parse_answer, parse_reply

FAKE = Path(__file__).with_name("fake_server.py")


@pytest.fixture
def scene(monkeypatch):
    def choose(name: str) -> None:
        monkeypatch.setattr(conversation, "SERVER", (sys.executable, str(FAKE), name))

    return choose


def status_of(argv: list[str]) -> int:
    with pytest.raises(SystemExit) as left:
        main(argv)
    return left.value.code


def test_version_and_help_are_answered_without_a_server(capsys):
    assert status_of(["--version"]) == 0
    assert status_of(["--help"]) == 0
    assert "run" in capsys.readouterr().out


def test_help_explains_every_exit_status(capsys):
    assert status_of(["run", "--help"]) == 0
    assert EXPLAINED in capsys.readouterr().out
    assert all(f"  {status} " in EXPLAINED for status in EXIT_STATUS.values())


@pytest.mark.parametrize("argv", [[], ["fly"], ["run"], ["run", "x", "--approval-mode", "yolo"]])
def test_wrong_arguments_end_with_2(argv, capsys):
    assert status_of(argv) == 2
    assert "usage:" in capsys.readouterr().err


def test_an_empty_prompt_ends_with_2(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO(" \n"))

    assert main(["run", "-"]) == 2
    assert "empty" in capsys.readouterr().err


def test_a_missing_workspace_ends_with_2(tmp_path, capsys):
    assert main(["run", "x", "--workspace", str(tmp_path / "none")]) == 2
    assert "no folder" in capsys.readouterr().err


@pytest.mark.parametrize("status", EXIT_STATUS)
def test_the_exit_status_is_that_of_the_result(status, scene, tmp_path, capsys):
    scene(f"ends_{status}")

    assert main(["run", "x", "--workspace", str(tmp_path)]) == EXIT_STATUS[status]


def test_a_dash_reads_the_prompt_from_stdin(scene, monkeypatch, tmp_path, capsys):
    scene("answer_run")
    monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe"))

    assert main(["run", "-", "--workspace", str(tmp_path)]) == 0
    assert "you_said:from_a_pipe" in capsys.readouterr().out


def test_a_refusal_is_one_line_and_its_hint(scene, tmp_path, capsys):
    scene("refuse")

    assert main(["run", "x", "--workspace", str(tmp_path)]) == 3
    assert capsys.readouterr().err == "agent-lsp: no credential for x/y\n  set X_KEY\n"


def test_a_server_that_dies_ends_with_1(scene, tmp_path, capsys):
    scene("die")

    assert main(["run", "x", "--workspace", str(tmp_path)]) == 1
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ServerGone("x"), 1),
        (ServerError("x", -32603, {}), 1),
        (ServerError("x", -32602, {}), 2),
        (ServerError("x", -32011, {}), 2),
        (ServerError("x", -32010, {}), 3),
    ],
)
def test_a_refused_request_has_the_status_of_its_kind(error, status):
    assert of_error(error) == status


@pytest.mark.parametrize(
    ("line", "reply"),
    [
        ("y", Reply("allow")),
        (" YES \n", Reply("allow")),
        ("a", Reply("session")),
        ("n", Reply("deny")),
        ("no: use pytest instead", Reply("deny", "use pytest instead")),
        ("", None),
        ("maybe", None),
    ],
)
def test_replies_are_read_with_their_reason(line, reply):
    assert parse_reply(line, session_offered=True) == reply


def test_for_this_session_is_no_answer_where_it_was_not_offered():
    assert parse_reply("a", session_offered=False) is None


def test_nothing_is_written_into_a_question():
    out = io.StringIO()
    screen = Screen(out)
    with screen.question() as question:
        screen.write("later")
        question("now? ")

    assert out.getvalue() == "now? later"


@pytest.mark.parametrize(
    ("typed", "multiple", "answer"),
    [
        ("2\n", False, "green"),
        (" 2, 1 ,2\n", True, ["green", "red"]),
        ("1 2\n", False, "1 2"),
        ("3\n", False, "3"),
        ("0\n", True, ["0"]),
        ("²\n", False, "²"),
        ("blue, or 2\n", True, ["blue, or 2"]),
        ("\n", False, None),
        (" , \n", False, ","),
    ],
)
def test_an_answer_is_the_number_of_an_option_or_words(typed, multiple, answer):
    assert parse_answer(typed, ("red", "green"), multiple=multiple) == answer


def test_without_a_terminal_nobody_is_declared_to_answer_questions(scene, tmp_path, capsys):
    scene("ask_whether_it_may")

    assert main(["run", "x", "--workspace", str(tmp_path), "--yes"]) == 0
    said = capsys.readouterr().out
    assert "declared:False" in said
    assert "answer:-32601" in said


def test_doctor_and_schema_look_and_run_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(tmp_path))

    assert main(["doctor", "--workspace", str(tmp_path)]) == 0
    assert "approval_mode" in capsys.readouterr().out
    assert main(["schema", "config"]) == 0
    assert json.loads(capsys.readouterr().out)["title"]


def test_a_configuration_that_cannot_be_read_ends_with_2(tmp_path, monkeypatch, capsys):
    file = tmp_path / "agent-lsp" / "config.toml"
    file.parent.mkdir()
    file.write_text("not toml")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    assert main(["doctor"]) == 2
    assert "config.toml" in capsys.readouterr().err


def test_trust_is_given_shown_by_doctor_and_taken_back(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AGENT_LSP_DATA_DIR", str(tmp_path / "data"))
    workspace = tmp_path / "project"
    workspace.mkdir()

    def said(*argv: str) -> str:
        assert main([*argv]) == 0
        return capsys.readouterr().out

    assert "is trusted" in said("trust", str(workspace))
    assert f"{workspace}" in said("doctor", "--workspace", str(workspace))
    assert "not trusted" not in said("doctor", "--workspace", str(workspace))
    assert "no longer" in said("trust", str(workspace), "--remove")
    assert "was not" in said("trust", str(workspace), "--remove")
    assert "not trusted" in said("doctor", "--workspace", str(workspace))


def test_a_folder_that_does_not_exist_cannot_be_trusted(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("AGENT_LSP_DATA_DIR", str(tmp_path / "data"))

    assert main(["trust", str(tmp_path / "none")]) == 2
    assert "none: No such file" in capsys.readouterr().err


def test_the_version_is_told_before_anything_is_imported():
    script = (
        "import sys; from agent_lsp.__main__ import main; main(['--version'])\n"
        "print(sorted(name for name in sys.modules if name.startswith('agent_lsp')))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == f"agent-lsp {__version__}\n['agent_lsp', 'agent_lsp.__main__']\n"
