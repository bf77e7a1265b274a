"""The RPC connection to an embedded Neovim: requests with a deadline, notifications as they come.

Neovim may wait for a key at any moment and then answers nothing, so every request has a deadline of its own; and the
screen has to be drawn while a test waits for an answer, so a thread reads.
"""

import itertools
import subprocess
import threading
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late

import msgpack

REQUEST, RESPONSE, NOTIFICATION = 0, 1, 2
WITHIN_S = 15.0


class Failed(Exception):
    """Neovim has answered with an error."""


class Gone(Exception):
    """Neovim has ended."""


class Channel:
    """Speaks to one process over its standard streams. `notified(name, arguments)` is called on the reading thread."""

    def __init__(self, process: subprocess.Popen, notified):
        self._process, self._notified = process, notified
        self._ids = itertools.count(1)
        self._waiting: dict[int, Future] = {}
        self._lock = threading.Lock()
        self._reader = threading.Thread(target=self._read, name="neovim", daemon=True)
        self._reader.start()

    def request(self, method, *arguments, within_s=WITHIN_S):
        """The result. Raises Failed, Gone, or TimeoutError when Neovim does not get round to answering."""
        answer = Future()
        with self._lock:
            id = next(self._ids)
            self._waiting[id] = answer
            self._write([REQUEST, id, method, arguments])
        try:
            return answer.result(within_s)
        except Late:
            raise TimeoutError(f"Neovim has not answered {method} within {within_s} s") from None

    def notify(self, method, *arguments):
        """Says something to which there is no answer."""
        with self._lock:
            self._write([NOTIFICATION, method, arguments])

    def join(self, within_s):
        """Waits until everything that Neovim said has been taken in."""
        self._reader.join(within_s)

    def _write(self, message):
        try:
            self._process.stdin.write(msgpack.packb(message, unicode_errors="surrogateescape"))
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Gone("Neovim has ended") from error

    def _read(self):
        unpacker = msgpack.Unpacker(raw=False, strict_map_key=False, ext_hook=_handle, unicode_errors="surrogateescape")
        while data := self._process.stdout.read1(65536):
            unpacker.feed(data)
            for message in unpacker:
                self._take(message)
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for answer in waiting.values():
            answer.set_exception(Gone("Neovim has ended"))

    def _take(self, message):
        if message[0] == NOTIFICATION:
            self._notified(message[1], message[2])
            return
        _, id, error, result = message
        with self._lock:
            answer = self._waiting.pop(id)
        if error is None:
            answer.set_result(result)
        else:
            answer.set_exception(Failed(error[1] if isinstance(error, list) else error))


def _handle(_, data):
    """Buffers, windows and tabpages are their numbers."""
    return msgpack.unpackb(data)
