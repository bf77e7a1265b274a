from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_lsp.server import parent
from agent_lsp.wire.transport import FdTransport


class Receiver:
    def __init__(self) -> None:
        self.data = b""
        self.ended, self.gone, self.ready = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.came = asyncio.Event()

    def received(self, data: bytes) -> None:
        self.data += data
        (self.came if data else self.ended).set()

    def writable(self) -> None:
        self.ready.set()

    def lost(self) -> None:
        self.gone.set()


@pytest.fixture
def ends() -> Iterator[tuple[int, socket.socket]]:
    """A descriptor for a transport, and the other end of its socket."""
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setblocking(False)
        yield ours.detach(), theirs


async def within(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), 5)


@pytest.mark.asyncio
async def test_a_slow_peer_pauses_it_and_gets_everything_in_order(ends):
    fd, theirs = ends
    receiver = Receiver()
    transport = FdTransport(fd, fd, receiver)
    sent = b"".join(b"%07d" % number for number in range(300_000))
    for start in range(0, len(sent), 100_000):
        transport.write(sent[start : start + 100_000])
    assert transport.paused and not receiver.ready.is_set()
    closing = asyncio.ensure_future(transport.close(5))
    loop, got = asyncio.get_running_loop(), b""
    while data := await loop.sock_recv(theirs, 65536):
        got += data
    await closing
    assert got == sent and receiver.ready.is_set()


@pytest.mark.asyncio
async def test_what_waited_above_is_sent_before_it_closes(ends):
    fd, theirs = ends
    above = [bytes([65 + number]) * 150_000 for number in range(20)]
    expected = b"".join(above)

    class Queue(Receiver):
        def writable(self) -> None:
            while above and not transport.paused:
                transport.write(above.pop(0))

    queue = Queue()
    transport = FdTransport(fd, fd, queue)
    queue.writable()
    closing = asyncio.ensure_future(transport.close(5))
    loop, got = asyncio.get_running_loop(), b""
    while data := await loop.sock_recv(theirs, 1_000_000):
        got += data
    await closing
    assert got == expected


@pytest.mark.asyncio
async def test_closing_does_not_wait_for_a_peer_that_never_reads(ends):
    fd, theirs = ends
    transport = FdTransport(fd, fd, Receiver())
    transport.write(b"x" * 5_000_000)
    await asyncio.wait_for(transport.close(0.01), 5)
    assert theirs.fileno() >= 0


@pytest.mark.asyncio
async def test_bytes_and_their_end_are_received(ends):
    fd, theirs = ends
    receiver = Receiver()
    transport = FdTransport(fd, fd, receiver)
    theirs.sendall(b"hello")
    theirs.shutdown(socket.SHUT_WR)
    await within(receiver.ended)
    assert receiver.data == b"hello"
    transport.hold(True)
    transport.hold(False)
    await transport.close(1)


@pytest.mark.asyncio
async def test_what_is_held_is_read_later(ends):
    fd, theirs = ends
    receiver = Receiver()
    transport = FdTransport(fd, fd, receiver)
    transport.hold(True)
    transport.hold(True)
    theirs.sendall(b"hello")
    for _ in range(5):
        await asyncio.sleep(0)
    assert receiver.data == b""
    transport.hold(False)
    await within(receiver.came)
    assert receiver.data == b"hello"
    await transport.close(1)


@pytest.mark.asyncio
async def test_a_peer_that_is_gone_is_reported_and_writing_goes_nowhere(ends):
    fd, theirs = ends
    receiver = Receiver()
    transport = FdTransport(fd, fd, receiver)
    theirs.close()
    transport.write(b"x")
    transport.write(b"y")
    await within(receiver.gone)
    assert not transport.paused
    await transport.close(1)


@pytest.mark.asyncio
async def test_plain_files_are_read_to_their_end_and_written(tmp_path: Path):
    source, target = tmp_path / "in", tmp_path / "out"
    source.write_bytes(b"z" * 1_000_000)
    receiver = Receiver()
    write_fd = os.open(target, os.O_WRONLY | os.O_CREAT)
    transport = FdTransport(os.open(source, os.O_RDONLY), write_fd, receiver)
    transport.hold(True)
    transport.hold(False)
    transport.write(b"answer")
    await within(receiver.ended)
    await transport.close(1)
    assert receiver.data == b"z" * 1_000_000
    assert target.read_bytes() == b"answer"


@pytest.mark.asyncio
@pytest.mark.parametrize("kernel_tells", [True, False])
async def test_the_death_of_a_process_is_noticed_once(monkeypatch, kernel_tells):
    if not kernel_tells:
        monkeypatch.delattr(os, "pidfd_open")
        monkeypatch.setattr(parent, "_POLL_S", 0.01)
    died: list[bool] = []
    noticed = asyncio.Event()
    child = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)

    def notice() -> None:
        died.append(True)
        noticed.set()

    with parent.watched(asyncio.get_running_loop(), child.pid, notice):
        for _ in range(5):
            await asyncio.sleep(0)
        assert not died
        child.kill()
        await child.wait()
        await within(noticed)
    assert died == [True]
