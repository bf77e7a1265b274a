"""What requests cost and what may be spent: the usage of this machine, prices, and the budgets of sessions."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.sessions.budget import Budget, DaySpending
from agent_lsp.slotted import replace
from agent_lsp.usage.metered import Meter, MeteredLLM, MeteredSink, MeteredTrace
from agent_lsp.usage.prices import PriceList
from agent_lsp.usage.row import Subject
from agent_lsp.usage.store import UsageStore

if TYPE_CHECKING:
    from agent_lsp.config.settings import Settings
    from agent_lsp.engine.ports import LLM, Ports
    from agent_lsp.messages.envelope import SessionMeta
    from agent_lsp.messages.events import TokenCounts
    from agent_lsp.sessions.open_session import Model


class Accounts:
    """One for a process."""

    def __init__(self, data_dir: Path, settings: Settings) -> None:
        self.store = UsageStore(data_dir, self.cost_usd)
        self._day = DaySpending(self._recorded_on)
        self.configure(settings)

    def configure(self, settings: Settings) -> None:
        """Puts other prices and limits in force; open sessions keep their limits."""
        self._prices, self._limits = PriceList(settings.providers), settings.budget
        self.store.reprice(self.cost_usd)

    def cost_usd(self, provider: str, model: str, tokens: TokenCounts, ts: str) -> float | None:
        """US dollars for a request that ended at `ts`; None when the price is unknown."""
        return self._prices.cost_usd(provider, model, tokens, ts)

    def prices(self) -> str:
        """The configured prices in force, for another process (`usage.prices.PriceList.read`)."""
        return self._prices.written()

    def budget(self, model: str) -> Budget:
        """The budget of a new session on `model`."""
        return Budget(self._limits, model, self.cost_usd, self._day)

    def metered(self, ports: Ports, meta: SessionMeta, model: Model) -> Ports:
        """The ports of a session, with a row kept for each of its requests."""
        endpoint = model.endpoint
        subject = Subject(
            meta.session_id, meta.workspace, endpoint.provider, endpoint.model, meta.tags or (), meta.parent_id
        )
        meter = Meter(self.store, subject)

        def title(llm: LLM) -> LLM:
            return MeteredLLM(llm, meter, "title")

        return replace(
            ports,
            trace=MeteredTrace(ports.trace, meter),
            sink=MeteredSink(ports.sink, meter),
            aside=title,
        )

    async def close(self) -> None:
        """Has what was recorded written."""
        await asyncio.to_thread(self.store.close)

    def _recorded_on(self, day: str) -> float:
        return self.store.query(from_=day, to=day).totals.cost_usd or 0.0
