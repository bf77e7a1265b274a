"""The goal file in a session's scratchpad: `GOAL.yaml`, which the model edits with its ordinary tools.

Read leniently, without a YAML parser: only one line of it matters, and models quote, comment and capitalise as they
like. Written so that any YAML parser reads it.
"""

from __future__ import annotations

import json
import logging
import os
import re
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from agent_lsp.policy.private_file import write_private
from agent_lsp.trace.paths import make_private

_log = logging.getLogger(__name__)
_MOST_BYTES = 1 << 20
_STATUS_LINE = re.compile(r"""^(["']?)status\1[ \t]*:[ \t]*(["']?)(\w+)\2[ \t]*(?:#.*)?$""", re.MULTILINE)

Status = Literal["active", "complete", "blocked"]
_STATUSES: dict[str, Status] = {
    "active": "active",
    "complete": "complete",
    "completed": "complete",
    "blocked": "blocked",
}


class ScratchpadGoalFile:
    """The goal file of one session (`engine.ports.GoalFile`)."""

    def __init__(self, scratchpad: Path) -> None:
        self._path = scratchpad / "GOAL.yaml"

    def create(self, objective: str) -> str:
        """Writes the file anew; one that cannot be written is missing, and said in the log."""
        try:
            make_private(self._path.parent)
            text = f"objective: |2-\n{_indented(objective)}\nstatus: active\n"
            write_private(self._path, text.encode("utf-8", "replace"))
        except OSError as error:
            _log.warning("the goal file could not be written: %s", error)
        return str(self._path)

    def status(self) -> Status | None:
        """The status in the file; None when there is no file, or no status in it that is one."""
        try:
            text = _read(self._path)
        except OSError:
            return None
        lines = _STATUS_LINE.findall(text)
        word = lines[-1][2] if lines else _status_of_flow(text)
        return _STATUSES.get(word.casefold())


def _indented(objective: str) -> str:
    """The lines of the objective as the body of a block, in which no line can be taken for a key."""
    return "\n".join(f"  {line}" if line.strip() else "" for line in objective.splitlines()) or "  "


def _read(path: Path) -> str:
    """The text of the file, which the model may have made anything of: a pipe, a folder, a flood. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a file")
        return file.read(_MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n").removeprefix("\ufeff")


def _status_of_flow(text: str) -> str:
    """The status of a file that is one JSON object, which is YAML too."""
    try:
        found: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(found.get("status", "")) if isinstance(found, dict) else ""  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] - any JSON


if TYPE_CHECKING:
    from agent_lsp.engine.ports import GoalFile

    _: type[GoalFile] = ScratchpadGoalFile
