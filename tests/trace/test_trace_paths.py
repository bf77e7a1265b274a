import re
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agent_lsp.errors import SessionNotFound
from agent_lsp.trace.paths import DataDir, data_dir
from agent_lsp.trace.session_ids import is_session_id, new_session_id

ID = "session-20261129-212041-0123abcd"
NO_IDS = [
    "",
    "nonsense",
    "../../../etc/passwd",
    "session-20261129-212041-0123abcd/../x",
    "session-20261129-212041-0123ABCD",
    "session-20261129-212041-0123abcd\n",
    "session-２０261129-212041-0123abcd",
    "session-20261129-212041-0123abcde",
]


def test_an_id_tells_the_moment_and_is_never_given_twice():
    now = datetime(2026, 11, 29, 21, 20, 41, tzinfo=UTC)
    ids = {new_session_id(now.timestamp()) for _ in range(50)}
    assert len(ids) == 50
    assert all(re.fullmatch(r"session-20261129-212041-[0-9a-f]{8}", id) and is_session_id(id) for id in ids)


@pytest.mark.parametrize("text", NO_IDS)
def test_what_is_no_id_never_becomes_a_path(data, text):
    assert not is_session_id(text)
    assert data.trace_files(text) == []
    for ask in (data.scratchpad, data.make_scratchpad, lambda id: data.trace_path(id, 1)):
        with pytest.raises(SessionNotFound):
            ask(text)


def test_files_are_found_by_their_number_not_by_their_name(data):
    folder = data.sessions / "2026-11-29"
    folder.mkdir(parents=True)
    for name in ("_1000.jsonl", "_002.jsonl", "_999.jsonl", "_003.draft", "_x.jsonl", "_04.jsonl"):
        (folder / f"{ID}{name}").touch()
    (folder / f"{ID}_005.jsonl").mkdir()
    (folder / "session-20261129-212041-0123abce_001.jsonl").touch()
    assert [file.index for file in data.trace_files(ID)] == [2, 999, 1000]
    assert data.all_trace_files()[ID] == data.trace_files(ID)


def test_all_files_are_those_of_all_days(data):
    for day in ("2026-11-29", "2026-11-30", "notes"):
        folder = data.sessions / day
        folder.mkdir(parents=True)
        (folder / f"session-{day.replace('-', '')}-000000-0123abcd_001.jsonl").touch()
    assert sorted(data.all_trace_files()) == [
        "session-20261129-000000-0123abcd",
        "session-20261130-000000-0123abcd",
    ]


def test_asking_makes_nothing(data):
    data.trace_path(ID, 1), data.scratchpad(ID), data.trace_files(ID), data.all_trace_files()
    assert not data.root.exists()


def test_a_scratchpad_is_private_all_the_way_down(data):
    made = data.make_scratchpad(ID)
    assert data.make_scratchpad(ID) == made == data.root / "scratchpad" / ID
    assert {stat.S_IMODE(path.stat().st_mode) for path in (made, made.parent, data.root)} == {0o700}


def test_the_option_goes_before_the_environment_before_the_platform(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    named = {"AGENT_LSP_DATA_DIR": "/env"}
    assert data_dir("/option", named) == DataDir(Path("/option"))
    assert data_dir(None, named) == DataDir(Path("/env"))
    assert data_dir(None, {}).root.name == "agent-lsp"
