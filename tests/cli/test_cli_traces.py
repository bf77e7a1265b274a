import io
import stat
import webbrowser

import pytest

from agent_lsp.cli import main
from agent_lsp.messages.content import Text
from agent_lsp.trace.paths import DataDir
from tests.trace.trace_view_samples import SESSION_ID, rich, simple


@pytest.fixture
def trace(tmp_path):
    return simple().save(tmp_path)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words):
        status = main(["trace", *map(str, words), "--data-dir", str(tmp_path / "data")])
        return status, capsys.readouterr()

    return run


def test_a_trace_is_shown_as_text(command, trace):
    status, said = command("show", trace)

    assert status == 0
    assert "› look\n" in said.out and "● read_file a.py" in said.out


def test_a_session_id_stands_for_all_its_files(command, tmp_path):
    folder = DataDir(tmp_path / "data").trace_path(SESSION_ID, 1).parent
    folder.mkdir(parents=True)
    simple().save(folder, 1)
    simple().run(2, "and now").save(folder, 2)

    said = command("show", SESSION_ID)[1].out
    assert said.count("› look") == 2 and "› and now" in said
    assert command("verify", SESSION_ID)[1].out.count("sound") == 2


def test_the_page_goes_into_a_file_that_others_cannot_read(command, trace, tmp_path):
    status, said = command("html", trace)

    page = tmp_path / f"{SESSION_ID}.html"
    assert (status, said.out) == (0, f"{page.name}\n")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert stat.S_IMODE(page.stat().st_mode) == 0o600


def test_the_page_goes_where_it_is_told_to(command, trace, tmp_path):
    assert command("html", trace, "-o", "-")[1].out.endswith("</html>\n")
    assert command("html", trace, "-o", tmp_path / "x.html")[0] == 0
    assert (tmp_path / "x.html").exists()
    assert command("html", trace, "-o", tmp_path / "no" / "x.html")[0] == 2


def test_the_page_counts_with_the_prices_that_it_is_given(command, trace, tmp_path, monkeypatch):
    prices = tmp_path / "prices.json"
    prices.write_text('{"anthropic": {"claude-sonnet-4-5": {"input": 0}}}')
    assert "<strong>$0.00</strong>" in command("html", trace, "-o", "-", "--prices", prices)[1].out
    monkeypatch.setattr("sys.stdin", io.StringIO(prices.read_text()))
    assert "<strong>$0.00</strong>" in command("html", trace, "-o", "-", "--prices", "-")[1].out

    prices.write_text("[1]")
    for file in (prices, tmp_path / "none.json"):
        status, said = command("html", trace, "--prices", file)
        assert (status, said.out) == (2, "")
        assert said.err.startswith(f"agent-lsp: {file}: ") and said.err.count("\n") == 1


def test_the_page_is_opened_when_that_is_wished(command, trace, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    command("html", trace, "--open")

    assert opened == [(tmp_path / f"{SESSION_ID}.html").as_uri()]


def test_a_sound_trace_ends_with_0_and_another_with_1(command, trace, tmp_path):
    assert command("verify", trace)[0] == 0
    status, said = command("verify", simple().answer(0, "c1", "again").save(tmp_path))
    assert status == 1
    assert "NOT SOUND" in said.out and "line 15: a second output of 'c1'" in said.out


def test_a_trace_that_comes_out_as_recorded_ends_with_0(command, tmp_path):
    status, said = command("replay", rich().save(tmp_path))

    assert (status, said.out) == (0, f"{SESSION_ID}_001.jsonl: 4 tasks, 79 records: as recorded\n")


def test_a_trace_that_comes_out_otherwise_ends_with_1_and_shows_both(command, tmp_path):
    told = simple().say(Text(role="user", text="Go on.\x1b", sender="harness")).run(2, "go").ask().write(0, "x").done(0)
    status, said = command("replay", told.save(tmp_path))

    assert status == 1
    assert ": 2 tasks, 19 records: 1 difference\n  line 15\n" in said.out
    assert "Go on." in said.out and "\x1b" not in said.out


@pytest.mark.parametrize("action", ["show", "html", "verify", "replay"])
def test_what_cannot_be_read_is_said_in_a_line(command, action):
    for name in ("none.jsonl", SESSION_ID, "."):
        status, said = command(action, name)
        assert status == 1
        assert said.err.startswith("agent-lsp: ") and said.err.count("\n") == 1
