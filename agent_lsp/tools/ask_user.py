"""ask_user: a question to the person."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments
from agent_lsp.tools.tool import End, Spec, failed


class Ask(Protocol):
    """Puts a question to the person, however long it takes."""

    async def __call__(self, question: str, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
        """The answer, one of the options or free text; several if `multiple`; None if the person would not answer."""
        ...


class AskUserArgs(Arguments):
    """Arguments of ask_user."""

    question: str = Field(min_length=1, description="One question that can be answered in a few words.")
    options: list[str] = Field(default_factory=list, description="Answers to choose from, if there are obvious ones.")
    multiple: bool = Field(default=False, description="Whether more than one of the options may be chosen.")


class AskUser:
    """Waits for the answer; only an abort ends the wait."""

    spec = Spec(
        "ask_user",
        "Asks the person a question and waits for the answer. For decisions that are theirs and cannot be found out"
        " otherwise.",
        AskUserArgs,
        "r",
        timed=False,
    )

    def __init__(self, ask: Ask | None) -> None:
        self._ask = ask

    def title(self, args: AskUserArgs) -> str:
        """The question."""
        return f"Ask: {args.question}"

    def access(self, args: AskUserArgs) -> Access:
        """Touches nothing."""
        return Access("own")

    async def preview(self, args: AskUserArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: AskUserArgs) -> AsyncGenerator[str | End, None]:
        """Gives the answer, or says that there is none."""
        if self._ask is None:
            yield failed("Nobody can be asked here: decide yourself, and say what you have assumed.")
            return
        answer = await self._ask(args.question, args.options, multiple=args.multiple)
        if answer is None:
            yield failed("The person did not answer.")
        else:
            yield End(answer if isinstance(answer, str) else "\n".join(answer) or "None of the options.")
