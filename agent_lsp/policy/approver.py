"""The approver of a session: the guard's verdict, and the person where it says so."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from agent_lsp.engine.ports import Asking, Decision, Permission
from agent_lsp.errors import AgentError
from agent_lsp.policy.paths import Place
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall
    from agent_lsp.policy.access import Access, Preview, Proposals
    from agent_lsp.policy.guard import Guard, Verdict
    from agent_lsp.policy.rules import Offer, Scope

_log = logging.getLogger(__name__)


@frozen
class Question:
    """What a person is asked. `reason` says why at all; `offers` are the rules that may be taken, narrowest first.

    `origin` are the ids of the child sessions it comes from, outer to inner; None for the session's own.
    """

    call: ToolCall
    permission: Permission
    title: str
    preview: Preview | None
    offers: tuple[Offer, ...]
    reason: str
    origin: tuple[str, ...] | None = None


@frozen
class Remember:
    """The offer that a person takes, named by its scope and its opaque rule."""

    scope: Scope
    rule: str


@frozen
class Answer:
    """What a person says. A `remember` that was not offered is ignored; `feedback` counts with a deny only.

    `failed`: nobody has said it, their client broke.
    """

    decision: Literal["allow", "deny"]
    remember: Remember | None = None
    feedback: str | None = None
    failed: bool = False


class Person(Protocol):
    """Whoever can be asked, through a front end."""

    async def ask(self, question: Question) -> Answer | None:
        """Waits for the answer as long as it takes; None when there is nobody to ask.

        An answer that means nothing, and an `AgentError`, are a deny. When it is cancelled (an abort, or the question
        has answered itself because the mode or the rules have changed) it withdraws what it has put up and re-raises.
        """
        ...


Allowed = Callable[[str, tuple[Place, ...]], None]
"""Hears the id of a call that may run, and where its paths led when that was decided."""


class SessionApprover:
    """The `Approver` of one session. A child session has its own, with the same grants and its parent's person."""

    def __init__(
        self, guard: Guard, proposals: Proposals, person: Person, allowed: Allowed = lambda call_id, places: None
    ) -> None:
        """`allowed` is told of each call that may run, before it does."""
        self._guard, self._proposals, self._person, self._allowed = guard, proposals, person, allowed

    async def approve(self, call: ToolCall, asking: Asking) -> Decision:
        """Decides by what holds now, and asks again if what was asked about is no longer what would be done."""
        access = self._proposals.access(call)
        while True:
            verdict = self._guard.decide(call, access)
            if verdict.action != "ask":
                if verdict.action == "allow":
                    self._allowed(call.tool_call_id, verdict.places)
                return _decision(verdict)
            question = await self._question(call, verdict)
            if self._guard.decide(call, access) != verdict:
                continue
            answer = await self._put(question, access, asking)
            if answer == "nobody":
                return Decision("deny", "default")
            if answer == "withdrawn":
                continue
            if answer.decision != "allow":
                return Decision("deny", "user", feedback=answer.feedback, failed=answer.failed)
            now = self._guard.decide(call, access)
            if now.action == "forbidden" or now.places != verdict.places:
                continue  # a link was moved while the person thought
            self._allowed(call.tool_call_id, now.places)
            return Decision("allow", "user", rule=self._remember(verdict, answer.remember))

    async def _question(self, call: ToolCall, verdict: Verdict) -> Question:
        return Question(
            call=call,
            permission=self._proposals.permission(call),
            title=self._proposals.title(call),
            preview=await self._proposals.preview(call),
            offers=verdict.offers,
            reason=verdict.reason,
        )

    async def _put(self, question: Question, access: Access, asking: Asking) -> Answer | Literal["nobody", "withdrawn"]:
        """Puts the question to the person; `withdrawn` as soon as a change of mode or rules has made it needless."""
        loop = asyncio.get_running_loop()
        needless = False

        def reconsider() -> None:
            nonlocal needless
            if not needless and self._guard.decide(question.call, access).action != "ask":
                needless = True
                withdrawal.reschedule(loop.time())

        answer: Answer | None = None
        try:
            with asking.waiting():
                async with asyncio.timeout(None) as withdrawal:
                    with self._guard.grants.watched(reconsider):
                        answer = await self._person.ask(question)
        except TimeoutError:
            if not needless:
                raise
        except AgentError as error:
            _log.info("the question about %s was not answered: %s", question.call.name, error.message)
            answer = Answer("deny", failed=True)
        if needless:
            return "withdrawn"
        return answer or "nobody"

    def _remember(self, verdict: Verdict, wanted: Remember | None) -> str | None:
        """Takes the rule that the person wants, if it was offered with this question, and returns its label."""
        if wanted is None:
            return None
        offer = next((one for one in verdict.offers if (one.scope, one.rule) == (wanted.scope, wanted.rule)), None)
        if offer is None:
            _log.warning("a rule that was not offered is not remembered")
            return None
        try:
            return self._guard.grants.remember(offer).label
        except OSError as error:
            _log.warning("the rule could not be kept: %s", error)
            return None


def _decision(verdict: Verdict) -> Decision:
    """A verdict that needs nobody, as the engine's decision."""
    if verdict.action == "allow":
        return Decision("allow", "rule" if verdict.decided_by == "rule" else "mode", rule=verdict.rule)
    if verdict.action == "forbidden":
        return Decision("forbidden", "policy")
    return Decision("deny", "mode")
