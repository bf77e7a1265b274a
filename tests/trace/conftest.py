"""A data directory, sessions to write into it, and a disk that fails when it is told to."""

import errno
import os

import pytest

from agent_lsp.messages.content import Text
from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.messages.events import RequestEnd, RunBegin, TokenCounts, TokenUsage
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.session_ids import new_session_id
from agent_lsp.trace.writer import TraceWriter


class Disk:
    """Writes like `os.write` until `room` bytes are taken; fails from then on with `error`."""

    def __init__(self):
        self.room, self.error, self.writes, self.at_most = None, errno.ENOSPC, [], None

    def __call__(self, descriptor, data):
        if self.room == 0:
            raise OSError(self.error, os.strerror(self.error))
        part = data if self.room is None else data[: self.room]
        part = part[: self.at_most] if self.at_most else part
        taken = os.write(descriptor, part)
        self.writes.append(bytes(part))
        if self.room is not None:
            self.room -= taken
        return taken


class Clock:
    """Timestamps that grow by a second each."""

    def __init__(self):
        self.seconds = 0

    def __call__(self):
        self.seconds += 1
        return f"2026-11-29T{self.seconds // 3600:02d}:{self.seconds // 60 % 60:02d}:{self.seconds % 60:02d}.000Z"


class Sessions:
    """Makes writers of sessions, and the lines to append to them."""

    def __init__(self, data, warnings, disk):
        self.data, self.warnings, self.disk, self.stamp = data, warnings, disk, Clock()

    def meta(self, session_id=None, **fields):
        known = {"provider": "p", "model_id": "m", "system_prompt": "be good", "workspace": "/w"}
        known |= {"session_id": session_id or new_session_id(), "created_at": "2026-11-29T00:00:00.000Z"}
        return SessionMeta(**{**known, **fields})

    def new(self, session_id=None, *, held_bytes=1 << 20, **fields):
        meta = self.meta(session_id, **fields)
        return TraceWriter.new(self.data, meta, self.warnings.append, write=self.disk, held_bytes=held_bytes)

    def resume(self, session_id, **options):
        return TraceWriter.resume(self.data, session_id, self.warnings.append, write=self.disk, **options)

    def line(self, payload):
        return encode(envelope(payload, at=self.stamp()))

    def text(self, words):
        return self.line(Text(role="user", text=words))

    def run(self, run_id="r1"):
        return self.line(RunBegin(run_id=run_id))

    def turn(self, total, request=None):
        """The lines at the end of a completed request."""
        used = TokenUsage(session=TokenCounts(total=total), request=TokenCounts(total=request or total))
        return [self.line(used), self.line(RequestEnd(status="completed"))]

    def paths(self, session_id):
        return [file.path for file in self.data.trace_files(session_id)]


@pytest.fixture
def data(tmp_path):
    return DataDir(tmp_path / "data")


@pytest.fixture
def warnings():
    return []


@pytest.fixture
def disk():
    return Disk()


@pytest.fixture
def sessions(data, warnings, disk):
    return Sessions(data, warnings, disk)


@pytest.fixture(scope="session")
def fresh_sessions(tmp_path_factory):
    """Makes sessions in a data directory of their own: for properties, which run many times in one test."""
    return lambda: Sessions(DataDir(tmp_path_factory.mktemp("data")), [], Disk())


@pytest.fixture
def session_id():
    return new_session_id()


@pytest.fixture
def lines():
    return lambda path: path.read_bytes().split(b"\n")[:-1]
