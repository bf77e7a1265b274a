"""Budgets: a run that has reached a limit makes no further request, and says why."""

from __future__ import annotations

import asyncio

import pytest

from agent_lsp.config import sections
from agent_lsp.engine.both_hooks import BothHooks
from agent_lsp.engine.hooks import Hooks, Stop
from agent_lsp.errors import RequestRefused
from agent_lsp.messages.events import SessionUpdate, TokenCounts, TokenUsage
from agent_lsp.providers.scripted import text, usage
from agent_lsp.sessions.budget import Allowance, Budget, DaySpending
from tests.engine.harness import Rig, virtual, work

TOKENS = TokenCounts(cache_read=5, cache_write=10, output=5, total=20)


class Prices:
    """A dollar a request to `p/m`, nothing known of others."""

    def __init__(self):
        self.asked = []

    def __call__(self, provider, model, tokens, ts):
        self.asked.append((provider, model))
        return 1.0 if (provider, model) == ("p", "m") else None


def day(recorded=0.0, today="2026-11-29T10:00:00.000Z"):
    return DaySpending(lambda _: recorded, lambda: today)


def budget(prices=None, spending=None, **limits):
    return Budget(sections.Budget(**limits), "p/m", prices or Prices(), spending or day())


def calling(count):
    """So many turns with a call each, then an end."""
    return [[work(f"c{number}")] for number in range(count)] + [[text("end")]]


@virtual
async def test_a_run_that_has_used_its_tokens_fails_and_says_so():
    async with Rig(hooks=budget(tokens_per_run=30)) as rig:
        rig.llm.script(*calling(5))
        result = await rig.run("go")
        assert (result.status, result.turns) == ("failed", 2)
        assert result.text == "[budget reached: this run has used 30 tokens of 30; stopping]"
        assert result.error_message == "budget reached: this run has used 30 tokens of 30"


@virtual
async def test_every_run_begins_with_the_whole_of_its_budget():
    async with Rig(hooks=budget(tokens_per_run=20)) as rig:
        rig.llm.script(*calling(1), *calling(1))
        assert [(await rig.run("go")).status for _ in range(2)] == ["completed", "completed"]


@virtual
async def test_outputs_of_calls_that_no_request_followed_open_the_next_run():
    async with Rig(hooks=budget(tokens_per_run=15)) as rig:
        rig.llm.script([work("c0")], [text("end")])
        assert (await rig.run("go")).status == "failed"
        assert (await rig.run("on")).status == "completed"
        assert ("output", "c0", "ok") in rig.sent()


@virtual
async def test_tokens_from_a_cache_do_not_count():
    async with Rig(hooks=budget(tokens_per_run=20)) as rig:
        rig.llm.script([work("c0"), usage(cache_write=1, output=1, cache_read=1000)], [text("end")])
        assert (await rig.run("go")).status == "completed"


@virtual
async def test_a_run_may_bring_a_lower_limit_for_itself_alone():
    async with Rig(hooks=(limits := budget(tokens_per_run=1000))) as rig:
        rig.llm.script([work("c0")], *calling(1))
        ticket = rig.start("go")
        limits.allow(ticket.run_id, Allowance(tokens=15))
        assert (await ticket.result).status == "failed"
        assert (await rig.run("go")).status == "completed"


@virtual
async def test_a_limit_that_a_run_brings_does_not_widen_that_of_the_settings():
    async with Rig(hooks=(limits := budget(tokens_per_run=15))) as rig:
        rig.llm.script(*calling(1))
        ticket = rig.start("go")
        limits.allow(ticket.run_id, Allowance(tokens=1000))
        assert (await ticket.result).status == "failed"


@virtual
async def test_dollars_of_a_run_end_it_too():
    async with Rig(hooks=budget(usd_per_run=2)) as rig:
        rig.llm.script(*calling(5))
        result = await rig.run("go")
        assert (result.turns, result.error_message) == (2, "budget reached: this run has cost $2.0000 of $2")


@virtual
async def test_what_has_no_known_price_costs_nothing():
    async with Rig(hooks=(limits := budget(usd_per_run=1))) as rig:
        limits.observe(SessionUpdate(model="p/unheard-of"))
        rig.llm.script(*calling(3))
        assert (await rig.run("go")).status == "completed"


@virtual
async def test_nobody_asks_for_prices_when_no_dollars_are_limited():
    async with Rig(hooks=budget(prices := Prices(), tokens_per_run=1000)) as rig:
        rig.llm.script(*calling(1))
        await rig.run("go")
        assert not prices.asked


@pytest.mark.asyncio
async def test_a_day_that_is_spent_lets_no_run_begin():
    async with Rig(hooks=budget(spending=day(recorded=5.0), usd_per_day=5)) as rig:
        result = await rig.run("go")
        assert (result.status, result.turns, len(rig.llm.requests)) == ("failed", 0, 0)
        assert result.error_message == "budget reached: this day has cost $5.0000 of $5"


@pytest.mark.asyncio
async def test_a_day_whose_sum_cannot_be_read_counts_what_this_process_spends():
    def locked(_):
        raise RequestRefused("the database is locked")

    spending = DaySpending(locked, lambda: "2026-11-29T10:00:00.000Z")
    async with Rig(hooks=budget(spending=spending, usd_per_day=2)) as rig:
        rig.llm.script(*calling(5))
        assert (await rig.run("go")).turns == 2


@pytest.mark.asyncio
async def test_what_was_read_and_what_was_spent_since_are_added_up_once():
    recorded = [3.0]
    spending = DaySpending(lambda _: recorded[0], lambda: "2026-11-29T10:00:00.000Z")
    await spending.look()
    spending.add(1.0)
    assert spending.usd == 4.0
    recorded[0] = 4.0  # the same dollar, recorded meanwhile
    await spending.look()
    assert spending.usd == 4.0


@pytest.mark.asyncio
async def test_a_new_day_begins_with_nothing():
    now = ["2026-11-29T23:59:59.000Z"]
    spending = DaySpending(lambda day: 7.0 if day == "2026-11-29" else 0.0, lambda: now[0])
    await spending.look()
    spending.add(1.0)
    now[0] = "2026-11-30T00:00:00.000Z"
    assert spending.usd == 0.0


@virtual
async def test_what_a_child_spends_is_spent_by_its_parent_and_stops_both():
    limits = budget(tokens_per_run=15)
    async with Rig(hooks=limits) as parent, Rig(hooks=limits.child("p/m")) as child:
        limits.before_run("r")
        child.llm.script(*calling(3))
        assert (await child.run("go")).turns == 1
        assert isinstance(limits.before_request(), Stop)
        assert not parent.llm.requests


class Note(Hooks):
    """Stops at its `limit`th request, and waits with `ready`."""

    def __init__(self, limit=99, ready=None):
        self.limit, self.ready, self.observed = limit, ready, 0

    def before_run(self, run_id):
        return self.ready

    def observe(self, payload):
        self.observed += isinstance(payload, TokenUsage)

    def before_request(self):
        self.limit -= 1
        return Stop("failed", "noted") if self.limit < 0 else None


@virtual
async def test_two_policies_are_both_told_and_either_may_stop():
    first, second = Note(), Note(limit=2)
    async with Rig(hooks=BothHooks(first, second)) as rig:
        rig.llm.script(*calling(5))
        assert (await rig.run("go")).text == "noted"
        assert first.observed == second.observed == 2


@virtual
async def test_a_run_waits_for_what_both_policies_wait_for():
    loop = asyncio.get_running_loop()
    futures = [loop.create_future(), loop.create_future()]
    async with Rig(hooks=BothHooks(*(Note(ready=one) for one in futures))) as rig:
        rig.llm.script([text("end")])
        rig.at(1, futures[0].set_result, None)
        rig.at(3, futures[1].set_result, None)
        await rig.run("go")
        assert loop.time() == 3
