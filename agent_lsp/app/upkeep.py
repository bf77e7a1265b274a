"""What is tidied up when a server starts, beside everything else."""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from agent_lsp.errors import AgentError

if TYPE_CHECKING:
    from agent_lsp.trace.paths import DataDir
    from agent_lsp.trace.store import SessionStore

_log = logging.getLogger(__name__)


def forget_old(data: DataDir, store: SessionStore, keep_days: int) -> None:
    """Throws away sessions that nobody has used for so many days. Blocks on the disk; never raises."""
    from agent_lsp.trace.view.prune import Rules, plan, prune  # most servers keep everything

    try:
        pruned = prune(store, plan(data, Rules(older_than_days=keep_days), time.time()))
    except (AgentError, OSError) as error:
        _log.warning("old sessions could not be thrown away: %s", error)
        return
    if pruned.removed:
        _log.info("threw %d old sessions away (%d bytes)", len(pruned.removed), pruned.freed_bytes)
