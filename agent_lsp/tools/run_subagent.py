"""run_subagent, input_subagent, kill_subagent: tasks that agents of their own work on."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Literal, cast

from pydantic import Field, create_model

from agent_lsp.engine.ports import ThinkingLevel
from agent_lsp.policy.access import Access, Preview, TextPreview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.errands import Answer, Errand, Subagent, Subagents, note
from agent_lsp.tools.tool import End, Spec, failed

_WAIT_MS = 60_000


class RunSubagentArgs(Arguments):
    """Arguments of run_subagent."""

    prompt: str = Field(min_length=1, description="The whole task: goal, what is known, what to answer with.")
    model: str | None = Field(default=None, description="`provider/model`; without it, yours.")
    thinking_level: ThinkingLevel | None = Field(default=None, description="Without it, yours.")
    run_in_background: bool = Field(
        default=False, description="Go on at once; you are told when it has ended, with its answer."
    )
    context: bool = Field(default=False, description="Let it know this conversation so far; costs its tokens again.")


class InputSubagentArgs(Arguments):
    """Arguments of input_subagent."""

    subagent_id: str = Field(min_length=1, description="As it was told when the subagent began.")
    prompt: str = Field(default="", description="More to say to it, or its next task; empty: only wait for it.")
    wait_ms: int = Field(default=_WAIT_MS, ge=0, description="How long to wait for its answer.")


class KillSubagentArgs(Arguments):
    """Arguments of kill_subagent."""

    subagent_id: str = Field(min_length=1, description="As it was told when the subagent began.")


class RunSubagent:
    """Starts a child session and waits for its answer, however long it takes."""

    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents
        self.spec = Spec(
            "run_subagent",
            "Has another agent work on a task with the same tools in the same workspace, in a conversation of its own;"
            " gives you its final answer. Several can work at once: call it several times in one reply.",
            _args_with(subagents.profiles()),
            "rw",
            timed=False,
        )

    def title(self, args: RunSubagentArgs) -> str:
        """The task's first words."""
        return f"Subagent: {args.prompt}"

    def access(self, args: RunSubagentArgs) -> Access:
        """It may do whatever it is allowed when it asks; to start it is a thing of its own."""
        return Access("other")

    async def preview(self, args: RunSubagentArgs) -> Preview | None:
        """The whole task."""
        return TextPreview(args.prompt)

    async def run(self, args: RunSubagentArgs) -> AsyncGenerator[str | End, None]:
        """Gives the answer, or the id of a subagent in the background."""
        profile = cast("str | None", getattr(args, "agent", None))
        started = self._subagents.start(
            Errand(args.prompt, profile, args.model, args.thinking_level, with_context=args.context)
        )
        if isinstance(started, str):
            yield failed(started)
        elif args.run_in_background:
            started.leave_behind()
            yield End(note=f"[subagent running with subagent_id {started.id}]")
        else:
            try:
                answer = await started.answer()
            finally:
                if started.is_running:  # nobody waits for it any more
                    started.stop()
            yield _told(started, answer)


class InputSubagent:
    """Talks to a subagent, or waits for one."""

    spec = Spec(
        "input_subagent",
        "Says more to a subagent (at work or done), or with an empty prompt waits for one in the background; gives you"
        " its answer.",
        InputSubagentArgs,
        "rw",
        timed=False,
    )

    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents

    def title(self, args: InputSubagentArgs) -> str:
        """What is said to whom."""
        return f"To subagent {args.subagent_id}: {args.prompt}" if args.prompt else f"Wait for {args.subagent_id}"

    def access(self, args: InputSubagentArgs) -> Access:
        """A new task is a thing of its own; waiting is not."""
        return Access("other" if args.prompt else "own")

    async def preview(self, args: InputSubagentArgs) -> Preview | None:
        """All that is said."""
        return TextPreview(args.prompt) if args.prompt else None

    async def run(self, args: InputSubagentArgs) -> AsyncGenerator[str | End, None]:
        """Gives the answer if it comes in time."""
        subagent = self._subagents.find(args.subagent_id)
        if subagent is None:
            yield _unknown(args.subagent_id)
            return
        if args.prompt:
            subagent.send(args.prompt)
        answer = await subagent.answer(args.wait_ms / 1000)
        if answer is None:
            subagent.leave_behind()
        yield _told(subagent, answer)


class KillSubagent:
    """Ends a subagent."""

    spec = Spec(
        "kill_subagent",
        "Ends a subagent and whatever it has running, and gives you what it had said.",
        KillSubagentArgs,
        "rw",
    )

    def __init__(self, subagents: Subagents) -> None:
        self._subagents = subagents

    def title(self, args: KillSubagentArgs) -> str:
        """Whom it ends."""
        return f"End subagent {args.subagent_id}"

    def access(self, args: KillSubagentArgs) -> Access:
        """Only what the session itself has started."""
        return Access("own")

    async def preview(self, args: KillSubagentArgs) -> Preview | None:
        """Nothing to show."""
        return None

    async def run(self, args: KillSubagentArgs) -> AsyncGenerator[str | End, None]:
        """Ends it."""
        subagent = self._subagents.find(args.subagent_id)
        if subagent is None:
            yield _unknown(args.subagent_id)
            return
        subagent.stop()
        answer = await subagent.answer()
        await self._subagents.kill(subagent)
        yield End(answer.text if answer else "", f"[subagent {args.subagent_id} has ended and is gone]")


def _told(subagent: Subagent, answer: Answer | None) -> End:
    if answer is None:
        return End(note=f"[subagent {subagent.id} is still at work; you are told when it has ended]")
    reason = None if answer.status == "completed" else "aborted" if answer.status == "aborted" else "failed"
    return End(answer.text, note(subagent.id, answer), reason)


def _unknown(id: str) -> End:
    return failed(f"There is no subagent {id}: it was killed or let go, or an earlier process had it. Start another.")


def _args_with(profiles: Mapping[str, str]) -> type[RunSubagentArgs]:
    """The arguments, with `agent` if there are profiles to choose from."""
    if not profiles:
        return RunSubagentArgs
    names = cast("Any", Literal)[tuple(profiles)]
    about = "; ".join(f"{name}: {purpose}" if purpose else name for name, purpose in profiles.items())
    agent: Any = (names | None, Field(default=None, description=f"A profile to work by. {about}"))
    return create_model("RunSubagentArgs", __base__=RunSubagentArgs, agent=agent)
