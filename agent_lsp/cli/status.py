"""Exit statuses: one for each way in which a run, or the attempt at one, can end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_lsp.cli.client import ServerError
from agent_lsp.errors import AgentError, ConfigError

if TYPE_CHECKING:
    from agent_lsp.cli.shapes import Status

USAGE = 2
EXIT_STATUS: dict[Status, int] = {
    "completed": 0,
    "failed": 1,
    "auth": 3,
    "timeout": 4,
    "malformed": 5,
    "max_turns": 6,
    "aborted": 130,
}
EXPLAINED = """\
exit status:
  0    completed
  1    failed
  2    wrong usage: the arguments, a setting, the workspace
  3    no usable model: none of that name, or its credential is missing or refused
  4    timeout: the model did not answer in time, retries included
  5    malformed: the model's answers could not be read, retries included
  6    stopped at the limit of turns
  130  aborted (Ctrl-C)
"""

_INVALID_PARAMS, _MODEL_UNAVAILABLE, _WORKSPACE_INVALID = -32602, -32010, -32011
_REFUSALS = {_INVALID_PARAMS: USAGE, _WORKSPACE_INVALID: USAGE, _MODEL_UNAVAILABLE: EXIT_STATUS["auth"]}


def of_error(error: AgentError) -> int:
    """The status for a request that was refused or never answered."""
    if isinstance(error, ConfigError):
        return USAGE
    return _REFUSALS.get(error.code, 1) if isinstance(error, ServerError) else 1
