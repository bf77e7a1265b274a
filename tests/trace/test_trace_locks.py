"""One writer a session, proved with a second process."""

import contextlib
import subprocess
import sys

import pytest

from agent_lsp.errors import SessionBusy
from agent_lsp.trace.store import SessionStore

WRITER = """
import sys
from pathlib import Path
from agent_lsp.trace.paths import DataDir
from agent_lsp.trace.writer import TraceWriter

writer = TraceWriter.resume(DataDir(Path(sys.argv[1])), sys.argv[2], print)
print("locked", flush=True)
for line in sys.stdin.buffer:
    match line.split(b" ", 1):
        case [b"rotate", head]:
            writer.rotate([head.rstrip(b"\\n")])
        case [b"append", body]:
            writer.append(body.rstrip(b"\\n"))
    print("done", flush=True)
"""


class OtherProcess:
    """A process that has resumed a session and does what it is told, one line at a time."""

    def __init__(self, process):
        self.process = process
        self.expect("locked")

    def expect(self, word):
        assert self.process.stdout.readline().decode().strip() == word

    def tell(self, what, body):
        self.process.stdin.write(what + b" " + body + b"\n")
        self.process.stdin.flush()
        self.expect("done")

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def elsewhere(data):
    with contextlib.ExitStack() as stack:

        def start(session_id):
            command = [sys.executable, "-c", WRITER, str(data.root), session_id]
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            stack.enter_context(process)
            stack.callback(process.kill)
            return OtherProcess(process)

        yield start


@pytest.fixture
def session(sessions, session_id):
    async def make():
        writer = sessions.new(session_id)
        writer.append(sessions.run())
        await writer.close()
        return session_id

    return make


@pytest.mark.asyncio
async def test_a_second_process_is_refused_until_the_first_has_gone(sessions, session, elsewhere):
    other = elsewhere(id := await session())
    with pytest.raises(SessionBusy) as refused:
        sessions.resume(id)
    assert refused.value.session_id == id
    other.kill()
    await sessions.resume(id).close()


@pytest.mark.asyncio
async def test_a_rotation_never_lets_a_second_process_in(sessions, session, elsewhere):
    other = elsewhere(id := await session())
    other.tell(b"rotate", sessions.line(sessions.meta(id)))
    other.tell(b"append", sessions.text("a"))
    assert len(sessions.paths(id)) == 2
    with pytest.raises(SessionBusy):
        sessions.resume(id)
    other.kill()
    again = sessions.resume(id)
    assert again.end().written.index == 2
    await again.close()


@pytest.mark.asyncio
async def test_what_another_process_has_open_can_be_read_and_not_deleted(data, sessions, session, elsewhere):
    store = SessionStore(data)
    other = elsewhere(id := await session())
    data.make_scratchpad(id)
    with pytest.raises(SessionBusy):
        store.delete(id)
    other.tell(b"append", sessions.text("a"))
    assert len(store.history(id).messages) == 3 and store.list().sessions[0].session_id == id
    other.kill()
    store.delete(id)
    assert not store.exists(id) and not data.scratchpad(id).exists()


@pytest.mark.asyncio
async def test_a_killed_process_loses_nothing_it_appended(sessions, session, elsewhere, lines):
    other = elsewhere(id := await session())
    sent = [sessions.text(str(number)) for number in range(20)]
    for line in sent:
        other.tell(b"append", line)
    other.kill()
    assert lines(sessions.paths(id)[0])[2:] == sent
