from pathlib import Path

import pytest

from agent_lsp.sessions import user_edits
from agent_lsp.sessions.user_edits import UserEdits
from agent_lsp.tools.editor import Snapshot


class Files:
    """An editor with these texts."""

    def __init__(self):
        self.texts = {}

    def stamp(self, path):
        return self.texts.get(path)

    def peek(self, path):
        text = self.texts.get(path)
        return None if text is None else Snapshot(path, text, None, None)


class NoEdits:
    def settled(self, path, text):
        return ()

    def newly_undone(self, path, text):
        return False


@pytest.fixture
def known(monkeypatch):
    """Shows files to the model and says which of them it is told of when all have changed."""
    monkeypatch.setattr(user_edits, "_MOST_FILES", 3)
    monkeypatch.setattr(user_edits, "_MOST_CHARACTERS", 10)
    files = Files()
    edits = UserEdits(files, NoEdits(), str)

    def shown(*given):
        for name, text in given:
            path = Path("/w") / name
            files.texts[path] = text
            edits.shown(path, text)

    def told():
        files.texts = {path: text[:-1] + ("?" if text.endswith("!") else "!") for path, text in files.texts.items()}
        return {name for report in edits.take_reports() for name in "abcdef" if f"/w/{name}\n" in report}

    return shown, told


def test_the_files_that_were_not_seen_for_longest_are_forgotten_first(known):
    shown, told = known
    shown(("a", "1"), ("b", "2"), ("c", "3"), ("a", "1"), ("d", "4"))
    assert told() == {"a", "c", "d"}


def test_no_more_text_is_kept_than_there_is_room_for(known):
    shown, told = known
    shown(("a", "11111"), ("b", "22222"), ("c", "3"))
    assert told() == {"b", "c"}
    shown(("a", "4444"), ("a", "444"), ("a", "44"))
    assert told() == {"a", "b", "c"}


def test_the_file_seen_last_is_kept_however_long_it_is(known):
    shown, told = known
    shown(("a", "1"), ("b", "2" * 50))
    assert told() == {"b"}
