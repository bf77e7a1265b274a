"""A prompt can be cancelled at any moment of its life, and nothing of it starts afterwards."""

import asyncio

import pytest

from agent_lsp.loop.options import Preparation
from agent_lsp.messages.content import ToolCallOutput
from agent_lsp.messages.events import Abort, LoopStep
from agent_lsp.providers.scripted import text
from tests.engine.harness import Person, passing, said, virtual
from tests.loop.loop_rig import KINDS, LoopRig, replayed

MOMENTS = 160
"""Turns of the event loop that the whole prompt below takes, and some more."""


def rich(kind):
    """A session whose next prompt is preceded by everything that can precede one, and has every kind of step."""
    rig = LoopRig(
        kind,
        limits={"history_compression_threshold_tokens": 10, "history_compression_keep_recent_entries": 1},
        preparation=Preparation("name them"),
        person=Person(delays={}),
    )
    rig.child_llm.script([text('@name := "value"')], [text('@name := "value"')])
    return rig


async def begun(kind):
    rig = rich(kind)
    rig.decide(("ask", {}))
    await rig.prompt("first wish " + "x" * 200)
    rig.small.script([text("ANSWER")])
    rig.llm.script([text("[summary]the past[/summary]")])
    rig.decide(("work", {"say": ["a", "b"], "then": 1}), ("nope", {}), "done")
    return rig


def cancel_after(turns, action):
    """Does it after so many turns of the loop."""
    loop = asyncio.get_running_loop()

    def tick(left):
        action() if left == 0 else loop.call_soon(tick, left - 1)

    tick(turns)


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_the_whole_prompt_goes_well_when_it_is_left_alone(kind):
    async with await begun(kind) as rig:
        result = await rig.prompt("this one")
        assert (result.status, result.text) == ("completed", "done")
        snap = rig.snap()
        assert rig.tools.ran and len(rig.children) == 2 and snap["history"][0]["type"] == "history_summary"
        assert [step["decision"]["tool"] for step in snap["turns"][-1]["steps"]] == [
            *["ask", "work", "nope", "final_answer"]
        ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", range(0, MOMENTS, 3))
@virtual
async def test_cancelled_at_any_moment_it_resolves_and_lets_go(kind, moment):
    async with await begun(kind) as rig:
        runtime = rig.session._runtime
        await passing(1)
        listeners, tasks = len(runtime._listeners), len(runtime.scope._tasks)
        ticket = rig.session.submit(said("this one"))
        seen = {}

        def cancel():
            seen.update(requests=len(rig.llm.requests), ran=len(rig.tools.ran), children=len(rig.children))
            rig.session.cancel(ticket)

        cancel_after(moment, cancel)
        result = await ticket.result
        snap = rig.snap()
        if result.status == "aborted":
            assert (result.text, result.outcome) == ("Interrupted by user", "interrupted")
            assert rig.ending()[:3] == ("interrupted", "interrupted", 0)
            assert [e["event"] for e in snap["history"] if e["type"] == "system"] == ["interrupted"]
            now = {"requests": len(rig.llm.requests), "ran": len(rig.tools.ran), "children": len(rig.children)}
            assert now == seen and isinstance(rig.screen.messages[-1].payload, Abort)
            await passing(100)
            assert len(rig.llm.requests) == seen["requests"] and len(rig.tools.ran) == seen["ran"]
        else:
            assert (result.status, result.text) == ("completed", "done")
        assert len(runtime._listeners) == listeners
        await passing(1)
        assert len(runtime.scope._tasks) == tasks and rig.llm.streaming == 0
        assert "running" not in [snap["status"], *(turn["status"] for turn in snap["turns"])]
        assert "running" not in [call["status"] for call in snap["toolCalls"]]
        assert replayed(rig) == rig.snap()


def summary_or_answer(request):
    return [text("[summary]s[/summary]" if "summary" in request.input[-1].text else "fine")]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moment", range(0, MOMENTS, 7))
@virtual
async def test_the_next_prompt_is_taken_whatever_was_cancelled(kind, moment):
    async with await begun(kind) as rig:
        ticket = rig.session.submit(said("this one"))
        cancel_after(moment, lambda: rig.session.cancel(ticket))
        await ticket.result
        for script in (rig.llm, rig.small, rig.child_llm):
            script.turns.clear()
        rig.llm.script(
            lambda request: [text("[summary]s[/summary]" if "summary" in request.input[-1].text else "fine")]
        )
        rig.llm.script([text("fine")])
        result = await rig.prompt("another")
        assert (result.status, result.text) == ("completed", "fine")


@virtual
async def test_already_cancelled_nothing_starts():
    async with await begun("planned") as rig:
        requests = len(rig.llm.requests)
        ticket = rig.session.submit(said("this one"))
        rig.session.cancel(ticket)
        result = await ticket.result
        assert (result.status, len(rig.llm.requests), len(rig.small.requests)) == ("aborted", requests, 0)
        assert rig.snap()["turns"][-1] == {
            "prompt": "this one",
            "steps": [],
            "status": "interrupted",
            "usedTools": [],
            "retryCount": 0,
            "maxRetries": 3,
        }


@virtual
async def test_a_reason_is_part_of_the_answer():
    async with LoopRig() as rig:
        rig.decide(("work", {"then": "inf"}))
        ticket = rig.session.submit(said("go"))
        rig.at(5, rig.abort, "lunch")
        assert (await ticket.result).text == "Interrupted: lunch"
        assert rig.snap()["toolCalls"][0]["status"] == "interrupted"


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_the_prompt_ends_when_its_stubborn_tool_has_and_what_that_brings_is_late(kind):
    async with LoopRig(kind) as rig:
        rig.decide(("work", {"then": 30, "stubborn": True, "out": "too late"}), "never")
        ticket = rig.session.submit(said("go"))
        rig.at(5, rig.abort)
        result = await ticket.result
        assert asyncio.get_running_loop().time() >= 30
        assert (result.status, result.text) == ("aborted", "Interrupted by user")
        (call,) = rig.snap()["toolCalls"]
        assert (call["status"], call["late"]) == ("interrupted", "too late")
        assert rig.snap()["toolVars"] == {} and len(rig.of(ToolCallOutput)) == 1
        assert rig.of(LoopStep) == []


@virtual
async def test_closing_the_session_waits_for_no_stubborn_tool():
    rig = LoopRig()
    rig.decide(("work", {"then": 30, "stubborn": True}))
    ticket = rig.session.submit(said("go"))
    await rig.until("tool_call:work")
    await passing(1)
    await rig.session.close()
    assert ticket.result.done() and asyncio.get_running_loop().time() < 10
    await passing(60)


@virtual
async def test_a_tool_that_says_it_was_cancelled_is_a_failed_tool():
    async with LoopRig() as rig:
        rig.decide(("work", {"out": "the order was cancelled", "stop": "failed"}), "sorry")
        result = await rig.prompt("go")
        assert (result.status, result.text, rig.snap()["errorCount"]) == ("completed", "sorry", 1)


@virtual
async def test_a_late_allow_runs_nothing():
    async with LoopRig(person=Slow()) as rig:
        rig.decide(("work", {"out": "x"}))
        ticket = rig.session.submit(said("go"))
        rig.at(5, rig.abort)
        await ticket.result
        await passing(100)
        assert rig.tools.ran == [] and rig.snap()["errorCount"] == 0


class Slow(Person):
    async def approve(self, call, asking):
        with asking.waiting():
            await passing(50)
        return await super().approve(call, asking)


@virtual
async def test_a_prompt_cancelled_while_it_waits_never_runs():
    async with LoopRig() as rig:
        rig.decide(("work", {"then": 10}), "one", "three")
        first, second, third = (rig.start(words) for words in ("wish one", "wish two", "wish three"))
        rig.at(1, rig.session.cancel, second)
        assert [(await one.result).text for one in (first, third)] == ["one", "three"]
        assert (await second.result).outcome == "interrupted"
        assert [turn["prompt"] for turn in rig.snap()["turns"]] == ["wish one", "wish three"]


@virtual
async def test_an_old_ticket_touches_no_later_prompt():
    async with LoopRig() as rig:
        rig.decide("one", ("work", {"then": 10}), "two")
        old = rig.start("first")
        await old.result
        new = rig.start("second")
        rig.at(5, rig.session.cancel, old)
        assert (await new.result).text == "two"
