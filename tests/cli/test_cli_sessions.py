import json
import os
import time

import pytest

from agent_lsp.cli import main
from agent_lsp.cli.sessions import _size
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.trace.file import lock_newest
from agent_lsp.trace.paths import DataDir
from tests.trace.trace_view_samples import simple

IDS = [f"session-2026112{day}-212041-0000000{day}" for day in (7, 8, 9)]


@pytest.fixture
def data(tmp_path):
    made = DataDir(tmp_path / "data")
    for day, session_id in enumerate(IDS):
        folder = made.trace_path(session_id, 1).parent
        folder.mkdir(parents=True)
        told = simple(session_id=session_id, workspace=f"/w/{day}")
        told.now_s += day
        path = told.say(SessionUpdate(title=f"Title {day} \x1b[31m")).save(folder)
        os.utime(path, (time.time() - (10 - day) * 86_400,) * 2)
    return made


@pytest.fixture
def sessions(data, capsys):
    def run(*words):
        status = main(["sessions", *words, "--data-dir", str(data.root)])
        return status, capsys.readouterr()

    return run


def test_sessions_are_a_table_the_last_used_first(sessions):
    status, said = sessions()

    lines = said.out.splitlines()
    assert status == 0
    assert lines[0].split() == ["session", "title", "workspace", "model", "turns", "tokens", "last", "used", "(UTC)"]
    assert [line.split()[0] for line in lines[1:]] == IDS[::-1]
    assert "anthropic/claude-sonnet-4-5" in lines[1] and "/w/2" in lines[1]
    assert lines[1].split()[-4:-2] == ["2", "51"]


def test_a_session_without_a_title_is_listed_by_its_first_words(data, sessions):
    simple(session_id=IDS[0], workspace="/w/0").save(data.trace_path(IDS[0], 1).parent)

    assert next(line for line in sessions()[1].out.splitlines() if line.startswith(IDS[0])).split()[1] == "look"
    assert {one["title"] for one in json.loads(sessions("--json")[1].out)} >= {"look"}


def test_a_title_reaches_no_terminal_as_a_control(sessions):
    said = sessions()[1].out

    assert "\x1b" not in said and "\\x1b[31m" in said


@pytest.mark.parametrize("words", [["--json"], ["list", "--json"], ["--json", "list"]])
def test_as_json_they_are_whole(sessions, words):
    first = json.loads(sessions(*words)[1].out)[0]

    assert (first["sessionId"], first["workspace"], first["turns"]) == (IDS[2], "/w/2", 2)
    assert first["usage"]["total"] == 51


def test_only_those_of_a_folder_and_so_many_are_listed(sessions):
    assert [one["workspace"] for one in json.loads(sessions("--json", "--workspace", "/w/1")[1].out)] == ["/w/1"]
    assert "--limit 2 shows more" in sessions("--limit", "1")[1].out


def test_without_any_it_says_so(tmp_path, capsys):
    assert main(["sessions", "--data-dir", str(tmp_path / "none")]) == 0
    assert capsys.readouterr().out == "no sessions\n"


def test_a_dry_run_names_what_would_go_and_touches_nothing(sessions, data):
    status, said = sessions("prune", "--older-than", "8.5", "--dry-run")

    assert status == 0
    assert said.out.splitlines()[:2] == IDS[:2]
    assert said.out.splitlines()[2].startswith("2 sessions, ")
    assert sorted(data.all_trace_files()) == IDS


def test_pruning_deletes_and_leaves_alone_what_is_open(sessions, data):
    lock = lock_newest(data, IDS[0])
    status, said = sessions("prune", "--keep", "1")
    lock.close()

    assert status == 0
    assert said.out.startswith("1 session deleted")
    assert IDS[0] in said.err
    assert sorted(data.all_trace_files()) == [IDS[0], IDS[2]]


def test_pruning_without_a_rule_is_wrong_usage(sessions, data):
    assert sessions("prune")[0] == 2
    assert len(data.all_trace_files()) == 3


@pytest.mark.parametrize("words", [["--keep", "-1"], ["--older-than", "nan"], ["--max-bytes", "much"], ["--keep", "x"]])
def test_a_rule_that_is_none_is_wrong_usage(sessions, words, data):
    with pytest.raises(SystemExit) as left:
        sessions("prune", *words)
    assert left.value.code == 2
    assert len(data.all_trace_files()) == 3


@pytest.mark.parametrize(
    ("text", "size"), [("0", 0), ("800000", 800_000), ("500M", 500 << 20), ("1.5 GiB", 3 << 29), ("2kb", 2048)]
)
def test_sizes_have_units(text, size):
    assert _size(text) == size
