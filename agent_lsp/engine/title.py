"""A title for a session: one request beside everything else, in no history and no trace."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING

from agent_lsp.engine.ports import Commit, Outcome, Request, TextDelta
from agent_lsp.messages import markers
from agent_lsp.messages.content import Text

if TYPE_CHECKING:
    from agent_lsp.engine.runtime import Runtime

_ASK = (
    "Give the conversation below a title of at most six words, in its language. Answer with the title alone, without"
    " quotes and without a full stop."
)
_MOST_CHARS = 80
_MOST_OF_A_MESSAGE_CHARS = 2000


async def generate(runtime: Runtime) -> str | None:
    """The title, or None when the model does not give one; never raises but `CancelledError`."""
    words = _conversation(runtime.ledger.history)
    if not words:
        return None
    ask = Text(role="user", text=f"{_ASK}\n\n{words}", sender="harness")
    request = Request("", (), (), (ask,), session_id=runtime.session_id)
    said: list[str] = []
    llm = runtime.aside(runtime.llm) if runtime.aside else runtime.llm
    async with aclosing(llm.stream(request)) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                said.append(part.text)
            elif isinstance(part, Outcome) and part.status != "completed":
                return None
    return _tidy("".join(said))


def _conversation(history: list[Commit]) -> str:
    """The first words of each side; what the engine composed is nobody's."""
    texts = [
        one
        for commit in history[:2]
        for one in commit.messages
        if isinstance(one, Text) and (one.sender != "harness" or markers.is_block(one.text, "context_summary"))
    ]
    return "\n\n".join(f"{one.role}: {one.text[:_MOST_OF_A_MESSAGE_CHARS]}" for one in texts[:3])


def _tidy(text: str) -> str | None:
    """One line, unquoted."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "").strip("\"'`*#. ")
    return line[:_MOST_CHARS] or None
