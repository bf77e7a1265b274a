import os

import pytest

from agent_lsp.trace.file import lock_newest
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.view.prune import Rules, plan, prune
from tests.trace.trace_view_samples import simple

NOW_S = 1_796_000_000.0
DAY_S = 86_400


class Kept:
    """A data directory, sessions of any age and size in it."""

    def __init__(self, folder):
        self.data = DataDir(folder)
        self.count = 0

    def session(self, days=0.0, scratch=0, parent=None):
        self.count += 1
        session_id = f"session-20261129-212041-{self.count:08x}"
        folder = self.data.trace_path(session_id, 1).parent
        folder.mkdir(parents=True, exist_ok=True)
        child = {"source": "subagent", "parent_id": parent} if parent else {}
        path = simple(session_id=session_id, **child).save(folder)
        self.touch(path, days)
        if scratch:
            pad = self.data.make_scratchpad(session_id)
            (pad / "image.png").write_bytes(b"x" * scratch)
            for one in (pad / "image.png", pad):
                self.touch(one, days)
        return session_id

    @staticmethod
    def touch(path, days):
        os.utime(path, (NOW_S - days * DAY_S,) * 2)

    def planned(self, **rules):
        return [one for family in plan(self.data, Rules(**rules), NOW_S) for one in family.session_ids]

    def prune(self, **rules):
        return prune(SessionStore(self.data), plan(self.data, Rules(**rules), NOW_S))

    def left(self):
        return sorted(self.data.all_trace_files())


@pytest.fixture
def kept(tmp_path):
    return Kept(tmp_path / "data")


def test_without_a_rule_everything_stays(kept):
    kept.session(days=1000)

    assert kept.planned() == []


def test_what_was_not_used_for_so_long_goes_the_oldest_first(kept):
    old, _, older = kept.session(days=31), kept.session(days=29), kept.session(days=90)

    assert kept.planned(older_than_days=30) == [older, old]


def test_all_but_the_last_used_go(kept):
    sessions = [kept.session(days=days) for days in (3, 1, 2)]

    assert kept.planned(keep=1) == [sessions[0], sessions[2]]
    assert len(kept.planned(keep=0)) == 3


def test_the_oldest_go_until_the_rest_is_small_enough(kept):
    old, middle, new = (kept.session(days=days, scratch=100_000) for days in (3, 2, 1))

    assert kept.planned(max_bytes=250_000) == [old]
    assert kept.planned(max_bytes=150_000) == [old, middle]
    assert kept.planned(max_bytes=10) == [old, middle, new]


def test_subagents_stay_and_go_with_their_parent(kept):
    parent = kept.session(days=40)
    child = kept.session(days=1, parent=parent)
    alone = kept.session(days=50)

    assert kept.planned(older_than_days=30) == [alone]
    assert kept.planned(keep=0) == [alone, parent, child]
    assert kept.planned(keep=1) == [alone]


def test_traces_and_scratch_files_are_gone_and_the_bytes_counted(kept):
    session = kept.session(days=10, scratch=5000)

    done = kept.prune(older_than_days=1)

    assert done.removed == (session,)
    assert done.freed_bytes > 5000
    assert kept.left() == []
    assert not kept.data.scratchpad(session).exists()


def test_pages_go_too_and_count(kept):
    session, orphan = kept.session(days=10), kept.session(days=7)
    kept.data.pages.mkdir()
    for one, days in ((session, 10), (orphan, 7)):
        kept.data.page(one).write_bytes(b"x" * 5000)
        kept.touch(kept.data.page(one), days)
    kept.data.usage_page.write_text("of no session")
    kept.data.trace_files(orphan)[0].path.unlink()

    done = kept.prune(older_than_days=1)

    assert done.removed == (session, orphan)
    assert done.freed_bytes > 10_000
    assert [one.name for one in kept.data.pages.iterdir()] == [kept.data.usage_page.name]


def test_an_open_session_stays_with_its_subagents(kept):
    parent = kept.session(days=10)
    child = kept.session(days=10, parent=parent)
    lock = lock_newest(kept.data, parent)

    done = kept.prune(keep=0)
    lock.close()

    assert (done.removed, done.kept) == ((), (parent,))
    assert kept.left() == sorted([parent, child])


def test_scratch_files_without_a_trace_go_when_they_are_old(kept):
    session = kept.session(days=10, scratch=10)
    kept.data.trace_files(session)[0].path.unlink()

    assert kept.planned(older_than_days=20) == []
    assert kept.prune(older_than_days=5).removed == (session,)


def test_a_data_directory_that_is_not_there_is_nothing_to_do(kept):
    assert kept.planned(keep=0) == []
