from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager

import pytest

from agent_lsp.engine.ports import Decision
from agent_lsp.errors import AgentError
from agent_lsp.policy.access import Access
from agent_lsp.policy.approver import Answer, Remember, SessionApprover
from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.guard import Guard

DENIED, ALLOWED = Decision("deny", "user"), Decision("allow", "user")


class Desk:
    """A person whose answers are given by the test; `asked` has a question once it is put up."""

    def __init__(self):
        self.asked: asyncio.Queue = asyncio.Queue()
        self.answers: asyncio.Queue = asyncio.Queue()
        self.withdrawn = 0

    async def ask(self, question):
        self.asked.put_nowait(question)
        try:
            answer = await self.answers.get()
        except asyncio.CancelledError:
            self.withdrawn += 1
            raise
        if isinstance(answer, Exception):
            raise answer
        return answer


class Scene:
    def __init__(self, paths, home, access, fakes):
        self.grants = Grants()
        self.desk, self.waits = Desk(), fakes.Waits()
        self.proposals = fakes.Proposals(access)
        guard = Guard(self.grants, paths, CommandPolicy(homes=(home,)))
        self.approver = SessionApprover(guard, self.proposals, self.desk)

    @asynccontextmanager
    async def asking(self, call):
        task = asyncio.create_task(self.approver.approve(call, self.waits))
        try:
            yield task, await asyncio.wait_for(self.desk.asked.get(), 10)
        finally:
            task.cancel()

    async def decided(self, call, answer):
        self.desk.answers.put_nowait(answer)
        return await asyncio.wait_for(self.approver.approve(call, self.waits), 10)


@pytest.fixture
def scene(paths, home, workspace, fakes):
    return Scene(paths, home, Access("edit", (workspace / "a.txt",)), fakes)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (Answer("allow"), ALLOWED),
        (Answer("deny"), DENIED),
        (Answer("deny", feedback="no"), Decision("deny", "user", feedback="no")),
        (Answer("allow", feedback="ignored"), ALLOWED),
        (None, Decision("deny", "default")),
        (AgentError("the client answered with an error"), Decision("deny", "user", failed=True)),
        (Answer("maybe"), DENIED),
    ],
)
async def test_an_answer_becomes_a_decision(scene, call, answer, decision):
    assert await scene.decided(call(), answer) == decision
    assert (scene.waits.now, scene.waits.times) == (0, 1)


@pytest.mark.asyncio
async def test_any_other_failure_of_the_front_end_is_the_engines_to_judge(scene, call):
    with pytest.raises(ZeroDivisionError):
        await scene.decided(call(), ZeroDivisionError())
    assert scene.waits.now == 0


@pytest.mark.asyncio
async def test_a_time_out_of_the_front_end_is_not_taken_for_a_withdrawal(scene, call):
    with pytest.raises(TimeoutError):
        await scene.decided(call(), TimeoutError())


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("mode", "decision"),
    [
        ("allow-all", Decision("allow", "mode")),
        ("auto-edit", Decision("allow", "mode")),
        ("read-only", Decision("deny", "mode")),
        ("plan", Decision("deny", "mode")),
    ],
)
async def test_a_mode_that_answers_asks_nobody(scene, call, mode, decision):
    scene.grants.set_mode(mode)
    assert await scene.approver.approve(call(), scene.waits) == decision
    assert scene.waits.times == 0
    assert scene.proposals.previews == []


@pytest.mark.asyncio
async def test_what_the_policy_forbids_asks_nobody(paths, home, fakes, call):
    scene = Scene(paths, home, Access("read", (home / ".ssh" / "id",)), fakes)
    assert await scene.approver.approve(call(), scene.waits) == Decision("forbidden", "policy")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("mode", "decision"), [("auto-edit", Decision("allow", "mode")), ("plan", Decision("deny", "mode"))]
)
async def test_a_change_of_mode_answers_an_open_question(scene, call, mode, decision):
    async with scene.asking(call()) as (task, _):
        scene.grants.set_mode(mode)
        scene.grants.set_mode(mode)
        assert await asyncio.wait_for(task, 10) == decision
    assert (scene.desk.withdrawn, scene.waits.now) == (1, 0)


@pytest.mark.asyncio
async def test_a_change_that_answers_nothing_leaves_the_question_open(scene, call):
    async with scene.asking(call()) as (task, question):
        scene.grants.set_mode("ask")
        scene.desk.answers.put_nowait(Answer("allow"))
        assert await asyncio.wait_for(task, 10) == ALLOWED
    assert scene.desk.withdrawn == 0
    assert question.reason == "approval mode ask"


@pytest.mark.asyncio
async def test_a_rule_taken_elsewhere_answers_an_open_question(scene, call):
    async with scene.asking(call()) as (task, question):
        rule = scene.grants.remember(question.offers[-1])
        assert await asyncio.wait_for(task, 10) == Decision("allow", "rule", rule=rule.label)
    assert scene.desk.withdrawn == 1


@pytest.mark.asyncio
async def test_a_mode_changed_while_the_preview_is_made_asks_nobody(scene, call):
    async def preview(_):
        scene.grants.set_mode("auto-edit")

    scene.proposals.preview = preview
    assert await scene.approver.approve(call(), scene.waits) == Decision("allow", "mode")
    assert scene.desk.asked.empty()


@pytest.mark.asyncio
async def test_a_cancelled_question_is_withdrawn(scene, call):
    async with scene.asking(call()) as (task, _):
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert (scene.desk.withdrawn, scene.waits.now) == (1, 0)


@pytest.mark.asyncio
async def test_an_offered_rule_is_remembered_and_answers_next_time(scene, call):
    async with scene.asking(call()) as (task, question):
        offer = question.offers[0]
        scene.desk.answers.put_nowait(Answer("allow", Remember(offer.scope, offer.rule)))
        assert await task == Decision("allow", "user", rule=offer.label)
    again = await scene.approver.approve(call(id="c2"), scene.waits)
    assert again == Decision("allow", "rule", rule=offer.label)


@pytest.mark.asyncio
@pytest.mark.parametrize("remember", [Remember("session", "*"), Remember("workspace", "tool:x"), Remember("", "")])
async def test_a_rule_that_was_not_offered_is_not_remembered(scene, call, remember, caplog):
    with caplog.at_level(logging.WARNING):
        assert await scene.decided(call(), Answer("allow", remember)) == ALLOWED
    assert scene.grants.rules() == ()
    assert "not offered" in caplog.text


@pytest.mark.asyncio
async def test_a_denial_remembers_nothing(scene, call):
    async with scene.asking(call()) as (task, question):
        offer = question.offers[0]
        scene.desk.answers.put_nowait(Answer("deny", Remember(offer.scope, offer.rule)))
        assert await task == DENIED
    assert scene.grants.rules() == ()


@pytest.mark.asyncio
async def test_a_link_that_moves_while_the_person_thinks_is_asked_about_again(scene, call, workspace, tmp_path, home):
    async with scene.asking(call()) as (task, question):
        (workspace / "a.txt").symlink_to(tmp_path / "elsewhere")
        scene.desk.answers.put_nowait(Answer("allow"))
        second = await asyncio.wait_for(scene.desk.asked.get(), 10)
        assert "outside" in second.reason
        assert "outside" not in question.reason
        (workspace / "a.txt").unlink()
        (workspace / "a.txt").symlink_to(home / ".ssh" / "id")
        scene.desk.answers.put_nowait(Answer("allow"))
        assert await asyncio.wait_for(task, 10) == Decision("forbidden", "policy")


@pytest.mark.asyncio
async def test_a_child_follows_the_mode_of_its_parent(scene, paths, home, call, workspace, fakes):
    guard = Guard(scene.grants, paths, CommandPolicy(homes=(home,)))
    child = SessionApprover(guard, fakes.Proposals(Access("edit", (workspace / "b",))), scene.desk)
    scene.grants.set_mode("auto-edit")
    assert await child.approve(call(), fakes.Waits()) == Decision("allow", "mode")
