"""The handler of what was used."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from agent_lsp.server.methods import Params
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.hub import Hub


class UsageParams(Params):
    """`agent/usage`; `from` and `to` are dates or moments, ISO 8601, a date as `to` counts in full."""

    session_id: str | None = None
    from_: str | None = Field(default=None, alias="from")
    to: str | None = None
    group_by: Literal["model", "day", "session"] = "model"


class UsageHandlers:
    """What tells of tokens and money."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {"agent/usage": Method(UsageParams, self.usage)}

    async def usage(self, params: UsageParams, _: Call) -> dict[str, Any]:
        """`agent/usage`: by model, unless asked for otherwise."""
        report = await asyncio.to_thread(
            self._hub.opener.usage, params.session_id, params.from_, params.to, params.group_by
        )
        return report.as_json()
