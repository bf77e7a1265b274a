"""Before a prompt: a child session that names values for it, and the question whether a prompt answers a tool's."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import LLM, Outcome, Request, TextDelta
from agent_lsp.engine.session import Session
from agent_lsp.loop.options import Preparation
from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, Text

if TYPE_CHECKING:
    from agent_lsp.engine.account import RunResult

Child = Callable[[Preparation], Session]
"""Makes a loop session that leaves no trace."""

_LINE = re.compile(r"[ \t]*@([A-Za-z_][\w-]*)[ \t]*(?::=|:|=)[ \t]*(.*?)[ \t]*")
_JUDGE = (
    "A tool has asked the person a question. You are given the question and what the person said next. Answer with one"
    " word: ANSWER if they answer the question, PROMPT if they ask for something else."
)
_CLOSING, _ESCAPED = "[/preparation]", r"[\/preparation]"


class PreparationFailed(Exception):
    """Neither the child nor any that was tried in its place has come to an end."""


async def prepare(preparation: Preparation, child: Child, known: Sequence[Content]) -> Text | None:
    """What the child has named, as a text for the prompt; None if nothing. Raises PreparationFailed."""
    tries = preparation.retries + 1
    while True:
        result = await _run(preparation, child, known)
        if result.outcome == "final_answer":
            return _named(result.text)
        tries -= 1
        if not tries or result.status == "aborted":
            raise PreparationFailed(result.error_message or result.text or result.status)


async def _run(preparation: Preparation, child: Child, known: Sequence[Content]) -> RunResult:
    session = child(preparation)
    try:
        if preparation.context and known:
            session.seed(known)
        return await session.run([Text(role="user", text=preparation.text)])
    finally:
        await session.close()


def named_values(text: str) -> dict[str, str]:
    """The lines `@name := "value"` of a text; anything else in it means nothing, and the last of a name counts."""
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return {one[1]: _unquoted(one[2]) for one in found if one}


async def is_answer(llm: LLM, question: str, said: str) -> bool:
    """Whether a prompt answers a tool's question: one request, and a prompt of its own if that comes to nothing."""
    ask = Text(role="user", text=f"[question]\n{question}\n[/question]\n\n[said]\n{said}\n[/said]")
    words: list[str] = []
    async with aclosing(llm.stream(Request(_JUDGE, (), (), (ask,)))) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                words.append(part.text)
            elif isinstance(part, Outcome) and part.status != "completed":
                return False
    return re.match(r"\W*answer\b", "".join(words), re.IGNORECASE) is not None


def _named(text: str) -> Text | None:
    values = named_values(text)
    if not values:
        return None
    lines = "\n".join(f'@{name} := "{value}"' for name, value in values.items())
    return Text(role="user", text=markers.block("preparation", lines.replace(_CLOSING, _ESCAPED)), sender="harness")


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'`" else value
