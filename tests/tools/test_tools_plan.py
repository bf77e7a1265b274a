from __future__ import annotations

import pytest

from .conftest import call

PLAN = {"plan": "## First\nthen"}


class Mode:
    def __init__(self, is_on):
        self.is_on, self.left = is_on, 0

    def leave(self):
        self.left += 1
        return "ask"


@pytest.mark.asyncio
async def test_in_plan_mode_the_person_is_asked_and_it_ends_the_mode(make_session):
    mode = Mode(True)
    session = make_session(plan_mode=mode)
    this = call("exit_plan", PLAN)
    assert session.toolset.access(this).kind == "ask" and session.toolset.title(this) == "Plan: First"
    assert (await session.toolset.preview(this)).text == PLAN["plan"]
    done = await session.use("exit_plan", **PLAN)
    assert mode.left == 1 and not done.failed and "ask" in done.output


@pytest.mark.asyncio
async def test_outside_it_nobody_is_asked_and_nothing_is_left(make_session):
    mode = Mode(False)
    session = make_session(plan_mode=mode)
    assert session.toolset.access(call("exit_plan", PLAN)).kind == "own"
    assert (await session.use("exit_plan", **PLAN)).failed and not mode.left
