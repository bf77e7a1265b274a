"""GOAL.yaml: written for any YAML parser, read without one."""

import os
import stat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.sessions.goal_file import ScratchpadGoalFile


@pytest.fixture
def pad(tmp_path):
    return tmp_path / "scratchpad" / "session"


@pytest.fixture
def file(pad):
    pad.mkdir(parents=True)
    return ScratchpadGoalFile(pad)


def test_a_new_file_holds_the_objective_and_is_active(pad):
    file = ScratchpadGoalFile(pad)
    where = file.create("make it\n\n  so")
    assert where == str(pad / "GOAL.yaml")
    assert (pad / "GOAL.yaml").read_text() == "objective: |2-\n  make it\n\n    so\nstatus: active\n"
    assert file.status() == "active"


def test_only_the_user_may_read_it(pad):
    ScratchpadGoalFile(pad).create("x")
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (pad / "GOAL.yaml", pad, pad.parent)]
    assert modes == [0o600, 0o700, 0o700]


def test_a_new_goal_takes_the_place_of_the_one_before(file, pad):
    file.create("old")
    (pad / "GOAL.yaml").write_text("status: complete\n")
    file.create("new")
    assert file.status() == "active" and "new" in (pad / "GOAL.yaml").read_text()


def test_a_link_in_its_place_is_replaced_and_not_followed(file, pad, tmp_path):
    other = tmp_path / "other"
    other.write_text("mine")
    (pad / "GOAL.yaml").symlink_to(other)
    file.create("x")
    assert other.read_text() == "mine" and file.status() == "active"


@pytest.mark.parametrize(
    ("content", "status"),
    [
        ("objective: x\nstatus: complete\n", "complete"),
        ("objective: x\nstatus: blocked", "blocked"),
        ('status: "complete"  # at last\nobjective: x\n', "complete"),
        ("status: 'Complete'\r\nobjective: x\r\n", "complete"),
        ("\ufeffstatus: complete\n", "complete"),
        ("'status' : completed\n", "complete"),
        ('{"objective": "x", "status": "complete"}', "complete"),
        ("objective: |-\n  status: complete\nstatus: active\n", "active"),
        ("status: active\nnotes: done\nstatus: complete\n", "complete"),
        ("]][[", None),
        ("", None),
        ("objective: x\n", None),
        ("status: perhaps\n", None),
        ("status: complete or not\n", None),
        ("status:\n", None),
        ("[1, 2]", None),
        ("[" * 100_000, None),
    ],
)
def test_the_status_is_read_leniently_and_anything_else_is_broken(file, pad, content, status):
    (pad / "GOAL.yaml").write_text(content, newline="")
    assert file.status() == status


def test_a_missing_file_has_no_status(file):
    assert file.status() is None


def test_what_is_no_file_has_no_status_and_holds_nobody_up(file, pad):
    os.mkfifo(pad / "GOAL.yaml")
    assert file.status() is None
    (pad / "GOAL.yaml").unlink()
    (pad / "GOAL.yaml").mkdir()
    assert file.status() is None


def test_a_file_that_cannot_be_written_is_a_missing_one(tmp_path, caplog):
    (tmp_path / "taken").write_text("")
    file = ScratchpadGoalFile(tmp_path / "taken" / "pad")
    assert file.create("x").endswith("GOAL.yaml")
    assert file.status() is None and "could not be written" in caplog.text


@settings(deadline=None)
@given(st.text() | st.text(st.sampled_from("status: completeblocked\n \t|'\"#{}[]\u2028\ud800")))
def test_no_objective_can_be_taken_for_a_status(tmp_path_factory, objective):
    file = ScratchpadGoalFile(tmp_path_factory.mktemp("pad"))
    file.create(objective)
    assert file.status() == "active"
