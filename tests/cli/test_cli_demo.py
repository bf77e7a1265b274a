import sys
import tempfile
from io import StringIO

import pytest

from agent_lsp.cli import main
from agent_lsp.cli.demo import _program
from agent_lsp.cli.sample import FILES, changes, lay_out


def test_the_demo_shows_an_answer_an_approval_and_an_edit_and_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", StringIO())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    assert main(["demo"]) == 0

    shown = capsys.readouterr().out
    assert "not a language model" in shown
    assert "┌ Edit greeter.py" in shown
    assert "the demo answers for you" in shown
    assert "│ Hello, Ada!" in shown
    assert '+    return f"Hello, {name}!"' in shown.split("What changed on disk")[1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("started", "told"),
    [(".venv/bin/agent-lsp", ".venv/bin/agent-lsp"), ("/a/__main__.py", f"{sys.executable} -m agent_lsp")],
)
def test_what_to_type_next_works_where_it_was_typed(tmp_path, monkeypatch, started, told):
    monkeypatch.setattr(sys, "argv", [started, "demo"])
    monkeypatch.setenv("PATH", str(tmp_path))
    assert _program() == told
    (tmp_path / "agent-lsp").touch(0o755)
    assert _program() == "agent-lsp"


def test_changes_are_told_for_changed_new_and_missing_files_only(tmp_path):
    folder = tmp_path / "sample"
    lay_out(folder)
    assert list(changes(folder)) == []

    (folder / "README.md").unlink()
    (folder / "new.txt").write_text("new\n")
    (folder / "greeter.py").write_text(FILES["greeter.py"] + "# more\n")

    assert [name for name, _ in changes(folder)] == ["README.md", "greeter.py", "new.txt"]
