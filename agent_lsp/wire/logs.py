"""Where the log goes, and the report that is kept of a bug.

The log is on standard error, which editors show, and in a file if one is named. It is for the person at this machine
and may say what they said. A crash report is for somebody else: it tells where in the code something went wrong, with
which versions, and nothing that a person, a model or a tool has written, so no message of an exception either.
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from agent_lsp import __version__
from agent_lsp.policy.growing_file import add_line

MOST_REPORTS = 20
"""So many are kept, whichever process made them; the oldest go."""

_MOST_OF_A_PROCESS = 5
_MOST_FRAMES = 60
_FORM = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_OURS = Path(__file__).parent.parent
_CHATTY = ("httpx", "httpcore", "asyncio")  # a line for each request, with its address


def begin(level: str, file: str | None, data_dir: str) -> None:
    """Has the log of this process go where it should. `level` is a name of `logging`; once a process."""
    logging.basicConfig(stream=sys.stderr, level=level.upper(), format=_FORM)
    root = logging.getLogger()
    if file is not None:
        kept = LogFile(Path(file))
        kept.setFormatter(logging.Formatter(_FORM))
        root.addHandler(kept)
    root.addHandler(CrashReports(Path(data_dir) / "crashes"))
    for chatty in _CHATTY:
        logging.getLogger(chatty).setLevel(logging.WARNING)


class LogFile(logging.Handler):
    """A log that is put aside when it is full. A disk that takes nothing is said once, on standard error."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path, self._has_failed = path, False

    def emit(self, record: logging.LogRecord) -> None:
        """Adds the record, line breaks and all."""
        try:
            add_line(self._path, self.format(record).encode("utf-8", "backslashreplace"))
            self._has_failed = False
        except OSError as error:
            if not self._has_failed:
                self._has_failed = True
                with suppress(OSError):
                    sys.stderr.write(f"agent-lsp: nothing can be added to {self._path}: {error.strerror or error}\n")


class CrashReports(logging.Handler):
    """Writes a report of each error that is logged with its traceback: that is what bugs come to, wherever caught.

    The same place in the code is reported once a process. What cannot be written is not: the log has it.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(logging.ERROR)
        self._folder = folder
        self._seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a report if the record has an exception."""
        error = record.exc_info[1] if record.exc_info else None
        if error is None or len(self._seen) >= _MOST_OF_A_PROCESS:
            return
        where = "\n".join(_chain(error))
        if where in self._seen:
            return
        self._seen.add(where)
        with suppress(OSError):
            self._write(f"{_about(record)}\n\n{where}\n")

    def _write(self, report: str) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"crash-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{os.getpid()}-{len(self._seen)}.txt"
        descriptor = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(report)
        kept = sorted(self._folder.glob("crash-*.txt"))
        for oldest in kept[: len(kept) - MOST_REPORTS]:
            oldest.unlink(missing_ok=True)


def _about(record: logging.LogRecord) -> str:
    import platform  # wanted by nobody else

    python = f"{platform.python_implementation()} {platform.python_version()}"
    return (
        f"agent-lsp {__version__}, {python}, {platform.system()} {platform.release()} {platform.machine()}\n"
        f"logged by {record.name}, line {record.lineno}"
    )


def _chain(error: BaseException) -> Iterator[str]:
    """The exception and those that it came from or holds, each with where it was raised, the innermost frame last."""
    seen: set[int] = set()
    waiting: list[tuple[str, BaseException]] = [("", error)]
    while waiting:
        role, one = waiting.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield f"{role}{type(one).__module__}.{type(one).__qualname__}"
        yield from _frames(one.__traceback__)
        if isinstance(one, BaseExceptionGroup):
            waiting += [("inside of it: ", inner) for inner in one.exceptions]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if cause := one.__cause__ or one.__context__:
            waiting.append(("after: ", cause))


def _frames(traceback: TracebackType | None) -> list[str]:
    found: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        found.append(f"  {place(code.co_filename)}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return found[-_MOST_FRAMES:]


def place(file: str) -> str:
    """A file of ours from the package on, any other by its last two names: a whole path tells whose machine it is."""
    path = Path(file)
    if path.is_relative_to(_OURS):
        return path.relative_to(_OURS.parent).as_posix()
    return "/".join(path.parts[-2:])
