"""Where a session's files are: the layout of the data directory, and which session ids are ones.

    sessions/2026-11-29/<session_id>_001.jsonl    a trace file for each context of the session
    scratchpad/<session_id>/                      what the session keeps beside its trace
    edits/<session_id>.json                       which edits the person has kept or undone
    pages/<session_id>.html, pages/usage.html     what was last made of them to look at in a browser

Directories are made with mode 0700, files with 0600. The folder of a session follows from its id.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from agent_lsp.errors import SessionNotFound
from agent_lsp.slotted import frozen
from agent_lsp.trace.session_ids import ID, is_session_id

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

_FILE = re.compile(rf"({ID.pattern})_([0-9]{{3,}})\.jsonl")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@frozen(order=True)
class TracePath:
    """A trace file; `index` is 1 for the first of its session and grows with each context."""

    index: int
    path: Path


def make_private(directory: Path) -> None:
    """Makes a directory and whatever is missing above it, closed to other users. OSError when it cannot."""
    if directory.is_dir():
        return
    if directory.parent != directory:
        make_private(directory.parent)
    directory.mkdir(mode=DIRECTORY_MODE, exist_ok=True)


@frozen
class DataDir:
    """The data directory. Nothing is made on disk by asking for a path."""

    root: Path

    @property
    def sessions(self) -> Path:
        """The folder of all traces, one folder a day in it."""
        return self.root / "sessions"

    def scratchpad(self, session_id: str) -> Path:
        """The session's scratchpad, there or not. SessionNotFound when the id is none."""
        _checked(session_id)
        return self.root / "scratchpad" / session_id

    def make_scratchpad(self, session_id: str) -> Path:
        """The session's scratchpad, made if it was missing. OSError when it cannot be."""
        directory = self.scratchpad(session_id)
        make_private(directory)
        return directory

    @property
    def pages(self) -> Path:
        """The folder of all pages."""
        return self.root / "pages"

    @property
    def usage_page(self) -> Path:
        """The page of what was used."""
        return self.pages / "usage.html"

    def page(self, session_id: str) -> Path:
        """The page of the session's trace, there or not. SessionNotFound when the id is none."""
        _checked(session_id)
        return self.pages / f"{session_id}.html"

    def judged(self, session_id: str) -> Path:
        """What the person has said of the session's edits, there or not. SessionNotFound when the id is none."""
        _checked(session_id)
        return self.root / "edits" / f"{session_id}.json"

    def trace_path(self, session_id: str, index: int) -> Path:
        """The path of a session's trace file. SessionNotFound when the id is none."""
        year, month, day = _checked(session_id).groups()
        return self.sessions / f"{year}-{month}-{day}" / f"{session_id}_{index:03d}.jsonl"

    def trace_files(self, session_id: str) -> list[TracePath]:
        """The session's trace files, oldest first; empty when there are none or the id is none."""
        if not is_session_id(session_id):
            return []
        folder = self.trace_path(session_id, 1).parent
        return sorted(found for owner, found in _traces_in(folder) if owner == session_id)

    def all_trace_files(self) -> dict[str, list[TracePath]]:
        """The trace files of each session that has any, oldest first."""
        files: dict[str, list[TracePath]] = {}
        for folder in _entries(self.sessions):
            if _DATE.fullmatch(folder.name):
                for owner, found in _traces_in(Path(folder.path)):
                    files.setdefault(owner, []).append(found)
        for found in files.values():
            found.sort()
        return files


def data_dir(option: str | None, environ: Mapping[str, str]) -> DataDir:
    """The data directory in force: the option, else `$AGENT_LSP_DATA_DIR`, else the platform's place for user data."""
    if chosen := option or environ.get("AGENT_LSP_DATA_DIR"):
        return DataDir(Path(chosen).expanduser().absolute())
    import platformdirs

    return DataDir(Path(platformdirs.user_data_dir("agent-lsp", appauthor=False)))


def _checked(session_id: str) -> re.Match[str]:
    if matched := ID.fullmatch(session_id):
        return matched
    raise SessionNotFound(session_id, "that is not the form of a session id")


def _traces_in(folder: Path) -> Iterator[tuple[str, TracePath]]:
    for entry in _entries(folder):
        if (matched := _FILE.fullmatch(entry.name)) and entry.is_file(follow_symlinks=False):
            yield matched[1], TracePath(int(matched[5]), Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []
