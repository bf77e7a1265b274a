"""What the person has said of a session's edits, kept beside its traces: it is said to nobody, so no trace has it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from agent_lsp.policy.private_file import read_object, write_object

if TYPE_CHECKING:
    from agent_lsp.tools.shared import Shared

_log = logging.getLogger(__name__)
Verdict = Literal["kept", "undone", ""]
Verdicts = dict[str, dict[str, list[Verdict]]]
"""By call, by path: of each of the places that the call has changed there, in their order."""


class Judged:
    """The verdicts of one session. `path` is where they are kept; None: nowhere.

    They are written one after the other, the latest at last; a write that fails is logged and costs the verdicts alone.
    """

    def __init__(self) -> None:
        self.path: Path | None = None
        self._next: Verdicts | None = None
        self._writing: asyncio.Task[None] | None = None

    def read(self) -> Verdicts:
        """Those of earlier processes; blocks for a moment. What is none is left out."""
        found = read_object(self.path) if self.path else {}
        return {call: read for call, files in found.items() if (read := _files(files))}

    def write_soon(self, verdicts: Verdicts) -> None:
        """Has these be the verdicts."""
        self._next = verdicts
        if self.path and (self._writing is None or self._writing.done()):
            self._writing = asyncio.get_running_loop().create_task(self._write(self.path))

    def take_reports(self) -> Sequence[str]:
        """Nothing: what the person thinks of an edit is told by the person."""
        return ()

    async def written(self) -> None:
        """Returns when all is written, or could not be."""
        if self._writing:
            await asyncio.wait((self._writing,))

    async def close(self) -> None:
        """Returns when all is written."""
        await self.written()

    async def _write(self, path: Path) -> None:
        while self._next is not None:
            verdicts, self._next = self._next, None
            try:
                await asyncio.to_thread(write_object, path, verdicts)
            except OSError as error:
                _log.warning("%s could not be written: %s", path, error.strerror)


def _files(found: Any) -> dict[str, list[Verdict]]:
    files = cast("dict[str, Any]", found) if isinstance(found, dict) else {}
    return {path: cast("list[Verdict]", places) for path, places in files.items() if _are_verdicts(places)}


def _are_verdicts(places: Any) -> bool:
    known = get_args(Verdict)
    return isinstance(places, list) and all(one in known for one in cast("list[Any]", places))


if TYPE_CHECKING:
    _: type[Shared] = Judged
