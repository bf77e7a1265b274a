"""What a server tidies up when it starts."""

import os
import time

from agent_lsp.app.upkeep import forget_old
from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.store import SessionStore


def kept(data, number, days_old):
    session_id = f"session-20260101-00000{number}-0123abcd"
    meta = SessionMeta(
        session_id=session_id,
        provider="p",
        model_id="m",
        system_prompt="",
        workspace="/w",
        created_at="2026-01-01T00:00:00.000Z",
    )
    path = data.trace_path(session_id, 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode(envelope(meta)) + b"\n")
    os.utime(path, (time.time() - days_old * 86400,) * 2)
    return path


def test_what_was_not_used_for_so_many_days_goes_and_the_rest_stays(tmp_path):
    data = DataDir(tmp_path)
    old, young = kept(data, 1, 31), kept(data, 2, 29)
    forget_old(data, SessionStore(data), 30)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_data_directory_that_is_not_there_is_nothing_to_tidy(tmp_path, caplog):
    data = DataDir(tmp_path / "none")
    forget_old(data, SessionStore(data), 1)
    assert not caplog.records and not data.root.exists()
