"""What a run may spend, and the day: the policy that ends a run which has reached a limit, before its next request."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_lsp.engine.hooks import Hooks, Stop
from agent_lsp.errors import AgentError
from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.events import Event, SessionUpdate, TokenCounts, TokenUsage
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.config import sections
    from agent_lsp.engine.account import RunResult
    from agent_lsp.messages.content import Content
    from agent_lsp.messages.envelope import SessionMeta

_log = logging.getLogger(__name__)
_LOOK_S = 2.0

Cost = Callable[[str, str, TokenCounts, str], float | None]
"""(provider, model, tokens, ISO timestamp) → US dollars, or None when the price is unknown."""


@frozen
class Allowance:
    """What one run may use; 0: no such limit."""

    usd: float = 0.0
    tokens: int = 0


class DaySpending:
    """US dollars of the present day (UTC): of all processes as far as they have been read, of this one in full.

    `read` says what is recorded of a day (`2026-11-29`); it may block, and raises AgentError.
    """

    def __init__(self, read: Callable[[str], float], now: Callable[[], str] = timestamp) -> None:
        self._read, self._now = read, now
        self._day, self._own_usd = "", 0.0
        self._read_usd, self._own_when_read_usd = 0.0, 0.0

    @property
    def usd(self) -> float:
        """What is known to be spent."""
        self._turn_the_page()
        return max(self._own_usd, self._read_usd + self._own_usd - self._own_when_read_usd)

    def add(self, usd: float) -> None:
        """A request of this process has cost something."""
        self._turn_the_page()
        self._own_usd += usd

    async def look(self) -> None:
        """Reads what others have spent meanwhile."""
        self._turn_the_page()
        day, own_usd = self._day, self._own_usd
        try:
            read_usd = await asyncio.to_thread(self._read, day)
        except AgentError as error:
            _log.warning("what the day has cost so far cannot be read: %s", error.message)
            return
        if day == self._day:
            self._read_usd, self._own_when_read_usd = read_usd, own_usd

    def _turn_the_page(self) -> None:
        today = self._now()[:10]
        if today != self._day:
            self._day = today
            self._own_usd = self._read_usd = self._own_when_read_usd = 0.0


class Budget(Hooks):
    """The budget of one session: `limits` hold for each of its runs, `day` for all that is spent.

    `model` is `provider/model`. Tokens read from a cache do not count. What has no known price costs nothing. What is
    spent here is spent by the run of the `parent` too, and ends with it.
    """

    def __init__(
        self, limits: sections.Budget, model: str, cost: Cost, day: DaySpending, parent: Budget | None = None
    ) -> None:
        self._limits, self._model, self._cost, self._day = limits, model, cost, day
        self._parent = parent
        self._asked: dict[str, Allowance] = {}
        self._run_id: str | None = None
        self._usd, self._tokens = 0.0, 0
        self._looking: asyncio.Task[None] | None = None
        self._unpriced: set[str] = set()

    def allow(self, run_id: str, allowance: Allowance) -> None:
        """Limits a run that was just taken on further than the settings do."""
        self._asked[run_id] = allowance

    def child(self, model: str) -> Budget:
        """The budget of a session on `model` that works for a run of this one."""
        return Budget(self._limits, model, self._cost, self._day, self)

    # --- Hooks ---

    def before_run(self, run_id: str) -> asyncio.Future[None] | None:
        """The tasks of one goal are one run."""
        if run_id != self._run_id:
            self._run_id, self._usd, self._tokens = run_id, 0.0, 0
        return self._look() if self._limits.usd_per_day else None

    def observe(self, payload: Content | Event | SessionMeta) -> None:
        """Every completed request says what it used."""
        match payload:
            case TokenUsage(request=tokens):
                usd = self._usd_of(tokens) if self._counts_money() else 0.0
                self._day.add(usd)
                self._spend(tokens.total - tokens.cache_read, usd)
            case SessionUpdate(model=str(model)):
                self._model = model
            case _:
                pass

    def before_request(self) -> Stop | None:
        """Ends the run at the first limit that is reached."""
        asked, limits = self._asked.get(self._run_id or "", Allowance()), self._limits
        tokens, usd = _lower(limits.tokens_per_run, asked.tokens), _lower(limits.usd_per_run, asked.usd)
        if 0 < tokens <= self._tokens:
            return _stop(f"this run has used {self._tokens:,} tokens of {tokens:,}")
        if 0 < usd <= self._usd:
            return _stop(f"this run has cost ${self._usd:.4f} of ${usd:g}")
        if 0 < limits.usd_per_day <= self._day.usd:
            return _stop(f"this day has cost ${self._day.usd:.4f} of ${limits.usd_per_day:g}")
        return self._parent.before_request() if self._parent else None

    def ended(self, result: RunResult) -> RunResult:
        """The run's own limits go with it."""
        self._asked.pop(result.run_id, None)
        return result

    def _spend(self, tokens: int, usd: float) -> None:
        self._tokens += tokens
        self._usd += usd
        if self._parent:
            self._parent._spend(tokens, usd)

    def _usd_of(self, tokens: TokenCounts) -> float:
        provider, _, name = self._model.partition("/")
        usd = self._cost(provider, name, tokens, timestamp())
        if usd is None and self._model not in self._unpriced:
            self._unpriced.add(self._model)
            _log.warning("the price of %s is unknown: limits in US dollars do not hold for it", self._model)
        return usd or 0.0

    def _counts_money(self) -> bool:
        """Prices take a moment to load, so nobody asks for them in vain."""
        limits, asked = self._limits, self._asked.get(self._run_id or "")
        is_limited = bool(limits.usd_per_run or limits.usd_per_day or (asked and asked.usd))
        return is_limited or bool(self._parent and self._parent._counts_money())

    def _look(self) -> asyncio.Future[None]:
        """Resolves when the day's sum is known, or when that takes too long."""
        loop = asyncio.get_running_loop()
        known: asyncio.Future[None] = loop.create_future()
        self._looking = loop.create_task(self._day.look())
        self._looking.add_done_callback(lambda _: _resolve(known))
        timer = loop.call_later(_LOOK_S, _resolve, known)
        known.add_done_callback(lambda _: timer.cancel())
        return known


def _lower(first: float, second: float) -> float:
    """The lower of two limits, where 0 is none."""
    return min((one for one in (first, second) if one > 0), default=0)


def _stop(why: str) -> Stop:
    reason = f"budget reached: {why}"
    return Stop("failed", f"[{reason}; stopping]", reason)


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
