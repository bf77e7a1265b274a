import json

import pytest

from agent_lsp.cli import main
from agent_lsp.cli.usage import _bar
from agent_lsp.messages.events import TokenCounts
from agent_lsp.slotted import replace
from agent_lsp.usage.row import Subject, UsageRow
from agent_lsp.usage.store import UsageStore

COUNTS = TokenCounts(cache_read=6000, cache_write=3000, output=1000, total=10_000)
ROW = UsageRow("2026-11-27T12:00:00.000Z", Subject("s1", "/w", "anthropic", "m"), "turn", "completed", 1, COUNTS)


@pytest.fixture
def usage(tmp_path, capsys):
    store = UsageStore(tmp_path, lambda provider, *_: None if provider == "local" else 0.25)
    store.record(ROW)
    store.record(replace(ROW, ts="2026-11-29T12:00:00.000Z", subject=replace(ROW.subject, session_id="s2")))
    store.record(replace(ROW, ts="2026-11-29T13:00:00.000Z", subject=Subject("s2", "/w", "local", "qwen\x1b")))
    failed = replace(ROW, ts="2026-11-29T14:00:00.000Z", status="timeout", tokens=TokenCounts(), error="no byte\x1b")
    store.record(failed)
    store.close()

    def run(*words):
        status = main(["usage", "--from", "2026-11-01", "--to", "2026-11-30", *words, "--data-dir", str(tmp_path)])
        return status, capsys.readouterr().out

    return run


def test_days_are_bars_with_the_idle_ones_between(usage):
    status, said = usage()

    assert status == 0
    days = [line for line in said.splitlines() if line.startswith("2026-11-2")]
    assert [line.split()[0] for line in days] == ["2026-11-27", "2026-11-28", "2026-11-29"]
    assert [line.count("█") for line in days] == [20, 0, 40]
    assert days[0].split()[2:] == ["10k", "$0.2500"]
    assert days[1].split()[1:] == ["·"]
    assert days[2].split()[2:] == ["20k", "≥$0.2500"]


def test_models_are_a_table_with_a_sum(usage):
    lines = usage()[1].splitlines()
    table = lines[lines.index("") + 1 :]

    assert table[0].split() == ["model", "requests", "cached", "input", "output", "total", "cost"]
    assert table[1].split() == ["anthropic/m", "3", "12k", "6k", "2k", "20k", "$0.5000"]
    assert table[2].split() == ["local/qwen\\x1b", "1", "6k", "3k", "1k", "10k", "–"]
    assert table[3].split() == ["total", "4", "18k", "9k", "3k", "30k", "≥$0.5000"]


def test_errors_and_unknown_prices_are_told_of(usage):
    said = usage()[1]

    assert "the price of 1 request is unknown" in said
    assert "2026-11-29 14:00:00  timeout  no byte\\x1b" in said
    assert "\x1b" not in said


@pytest.mark.parametrize(("by", "first"), [("session", "s2"), ("model", "anthropic/m")])
def test_one_table_is_shown_if_one_is_asked_for(usage, by, first):
    lines = usage("--by", by)[1].splitlines()

    assert lines[0].split()[0] == by
    assert lines[1].split()[0] == first
    assert "█" not in "".join(lines)


def test_one_session_is_counted_alone(usage):
    assert "2 requests, 10k tokens, $0.2500" in usage("--session", "s1")[1].splitlines()


def test_as_json_it_is_what_clients_get(usage):
    report = json.loads(usage("--json", "--by", "session")[1])

    assert [row["key"] for row in report["rows"]] == ["s2", "s1"]
    assert report["totals"]["total"] == 30_000
    assert [one["kind"] for one in report["errors"]] == ["timeout"]


def test_nothing_used_and_no_database_are_said_and_no_error(tmp_path, capsys):
    assert main(["usage", "--data-dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("nothing was used since ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("broken", ["--from", "--to"])
def test_a_date_that_is_none_ends_with_a_line(tmp_path, broken, capsys):
    assert main(["usage", broken, "soon", "--data-dir", str(tmp_path)]) != 0
    assert "agent-lsp: " in capsys.readouterr().err


def test_a_broken_database_ends_with_a_line(tmp_path, capsys):
    (tmp_path / "usage.db").write_bytes(b"nonsense" * 200)

    assert main(["usage", "--data-dir", str(tmp_path)]) == 1
    assert "not a database" in capsys.readouterr().err


def test_the_smallest_use_can_be_seen_and_none_cannot():
    assert [_bar(value, 10_000) for value in (0, 1, 5000)] == ["", "▏", "█" * 20]
    assert _bar(0, 0) == ""


def page_of(usage, tmp_path):
    file = tmp_path / "page.html"
    status, said = usage("--html", str(file))
    assert (status, said.strip()) == (0, str(file))
    return file


def test_the_page_has_a_column_a_day_and_a_bar_for_each_model_and_session(usage, tmp_path):
    page = page_of(usage, tmp_path).read_text()

    assert page.count('<div title="2026-11-2') == 3
    assert "2026-11-28: 0 tokens, 0 requests, –" in page
    assert '<i class="fresh" style="height:30.00%"></i>' in page
    for row in ("anthropic/m", "local/qwen\\x1b", "<td>s1</td>", "<td>s2</td>", "≥$0.5000", "no byte\\x1b"):
        assert row in page
    assert "\x1b" not in page


def test_the_page_loads_nothing_and_runs_nothing(usage, tmp_path):
    page = page_of(usage, tmp_path).read_text()

    assert "default-src 'none'" in page
    assert not [word for word in ("http://", "https:", "<script", "@import", "url(", "<link", "<img") if word in page]


def test_the_page_is_for_nobody_else_to_read(usage, tmp_path):
    assert page_of(usage, tmp_path).stat().st_mode & 0o777 == 0o600


def test_the_page_goes_to_stdout_and_into_the_browser(usage, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.chdir(tmp_path)

    assert usage("--html", "-")[1].startswith("<!doctype html>")
    assert usage("--open") == (0, "usage.html\n")
    assert opened == [(tmp_path / "usage.html").as_uri()]


def test_the_page_of_a_time_without_any_says_so_and_names_the_time(tmp_path, capsys):
    page = tmp_path / "page.html"
    assert main(["usage", "--from", "2026-01-01", "--html", str(page), "--data-dir", str(tmp_path)]) == 0
    assert "All sessions, since 2026-01-01" in page.read_text()
    assert "Nothing was used." in page.read_text()


def test_a_page_that_cannot_be_written_is_said(usage, tmp_path, capsys):
    assert usage("--html", str(tmp_path / "no" / "page.html"))[0] == 2
