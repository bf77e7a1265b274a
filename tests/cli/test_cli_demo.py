import sys
import tempfile
from io import StringIO

from agent_lsp.cli import main
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


def test_changes_are_told_for_changed_new_and_missing_files_only(tmp_path):
    folder = tmp_path / "sample"
    lay_out(folder)
    assert list(changes(folder)) == []

    (folder / "README.md").unlink()
    (folder / "new.txt").write_text("new\n")
    (folder / "greeter.py").write_text(FILES["greeter.py"] + "# more\n")

    assert [name for name, _ in changes(folder)] == ["README.md", "greeter.py", "new.txt"]
