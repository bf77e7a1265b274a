"""The folder of a session that is gone on with, and the first process's part of it."""

import pytest

from tests.sessions.recalling import LINES, Working


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text(LINES)
    (folder / "b.txt").write_text("one\ntwo\n")
    return folder


@pytest.fixture
def first(root):
    return Working(root)
