"""The server behind eglot, Emacs' own client: no plugin, the usual questions, edits and undo."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SERVER = Path(sys.executable).with_name("agent-lsp")
PATIENCE_S = 110
MARK = "AGENT_LSP_EMACS"
GREETER = '''"""Says hello to people."""


def greeting(name: str) -> str:
    """What to say to somebody."""
    # TODO: greet people without a name as well
    return f"Helo, {name}!"
'''

pytestmark = pytest.mark.timeout(PATIENCE_S + 20)


def left_over(mark):
    """Processes that carry the mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return found


@pytest.fixture(scope="module")
def emacs(tmp_path_factory):
    """What was seen in one Emacs, and the folder in which it was."""
    program = shutil.which(os.environ.get("EMACS", "emacs"))
    assert program, "no emacs: apt-get install emacs-nox elpa-eglot"
    home = tmp_path_factory.mktemp("emacs")
    workspace = home / "a project"
    workspace.mkdir()
    (workspace / ".git").mkdir()
    (workspace / "greeter.py").write_text(GREETER)
    config = home / ".config/agent-lsp/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('default_model = "rehearsal/rehearsal"\ntitles = false\n')
    report = home / "report.json"
    variables = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "AGENT_LSP_CMD": str(SERVER),
        "REPORT": str(report),
        MARK: str(home),
    }
    ran = subprocess.run(
        [program, "--batch", "-l", str(HERE / "plain.el")],
        cwd=workspace,
        env=variables,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert ran.returncode == 0 and report.exists(), ran.stdout + ran.stderr
    return json.loads(report.read_text()) | {"workspace": workspace, "left": left_over(str(home))}


def test_the_handshake_gives_a_server_with_actions_on_a_selection(emacs):
    assert emacs["server"] == "agent-lsp"
    assert "Explain with agent" in emacs["actions"]


def test_an_edit_is_asked_for_with_its_diff_and_three_answers(emacs):
    [question] = emacs["asked"]
    assert "Edit greeter.py?" in question["prompt"]
    assert '+    return f"Hello, {name}!"' in question["prompt"]
    assert question["choices"] == ["Allow", "Allow for session", "Deny"]


def test_what_was_allowed_is_in_the_buffer_and_left_unsaved(emacs):
    assert emacs["status"] == "completed"
    assert emacs["edited"] == GREETER.replace("Helo", "Hello")
    assert emacs["modified"] is True
    assert (emacs["workspace"] / "greeter.py").read_text() == GREETER


def test_one_undo_takes_the_edit_back(emacs):
    assert emacs["undone"] == GREETER


def test_what_was_denied_was_not_done(emacs):
    assert "denied" in emacs["denied"]
    assert not (emacs["workspace"] / "notes.txt").exists()


def test_pages_of_the_session_and_of_what_was_used_go_to_the_browser(emacs):
    assert "fix greeter.py" in emacs["trace"]
    assert "rehearsal/rehearsal" in emacs["usage"]


def test_a_command_that_runs_is_aborted(emacs):
    assert emacs["sleeping"] is True
    assert emacs["aborted"] is True


def test_a_shutdown_in_the_midst_of_a_command_leaves_no_process(emacs):
    assert emacs["sleeping-again"] is True
    assert emacs["gone"] is True
    assert emacs["left"] == []
