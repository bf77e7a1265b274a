"""Asks the person behind an editor without a plugin whether a call may run: a message with three buttons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agent_lsp.policy.access import CommandPreview, EditPreview, TextPreview
from agent_lsp.policy.approver import Answer, Person, Question, Remember
from agent_lsp.policy.visible import visible, visible_line
from agent_lsp.server.approve import approve_params
from agent_lsp.wire.peer_errors import PeerError

if TYPE_CHECKING:
    from agent_lsp.policy.rules import Offer
    from agent_lsp.server.connection import Connection

ALLOW, ALLOW_FOR_SESSION, DENY = "Allow", "Allow for session", "Deny"
MOST_CHARS = 1000
"""Of a message: VS Code cuts what is longer, and nobody would see where."""
_TITLE_CHARS, _REASON_CHARS, _LABEL_CHARS = 160, 160, 160
_WARNING = 2  # MessageType


class PlainPerson:
    """The person of one session, behind a client that knows nothing of `agent/approve`."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self._connection, self._session_id = connection, session_id
        self.open: dict[str, dict[str, Any]] = {}
        """The questions that wait for an answer, as `agent/approve` would put them, by tool call id."""

    async def ask(self, question: Question) -> Answer | None:
        """Puts the question; a dialog that is closed, or that the client cannot show, is a deny."""
        id = question.call.tool_call_id
        self.open[id] = approve_params(self._session_id, question)
        offer = session_offer(question)
        actions = [{"title": title} for title in (ALLOW, *([ALLOW_FOR_SESSION] if offer else ()), DENY)]
        params = {"type": _WARNING, "message": message(question, offer), "actions": actions}
        try:
            chosen = await self._connection.request("window/showMessageRequest", params)
        except PeerError:
            return Answer("deny")
        finally:
            del self.open[id]
        title = cast("dict[str, Any]", chosen).get("title") if isinstance(chosen, dict) else None
        if title == ALLOW_FOR_SESSION and offer:
            return Answer("allow", Remember(offer.scope, offer.rule))
        return Answer("allow" if title == ALLOW else "deny")


def session_offer(question: Question) -> Offer | None:
    """What *Allow for session* stands for.

    Of edits inside the workspace all by this tool, of a command those that begin alike, of anything else only the very
    call: one button has to do for all, and its message says what it covers.
    """
    offers = {offer.kind: offer for offer in question.offers if offer.scope == "session"}
    match question.preview:
        case EditPreview():
            wanted = ("tool", "call")
        case CommandPreview():
            wanted = ("command", "call")
        case _:
            wanted = ("call",)
    return next((offers[kind] for kind in wanted if kind in offers), None)


def message(question: Question, offer: Offer | None) -> str:
    """What is shown: what would be done, why that is asked, what the second button covers. Never cut by the editor."""
    lines = [
        f"{visible_line(question.title, _TITLE_CHARS)}?",
        f"Asked because: {visible_line(question.reason, _REASON_CHARS)}",
    ]
    if offer:
        lines.append(f"{ALLOW_FOR_SESSION}: {visible_line(offer.label, _LABEL_CHARS)}")
    head, *rest = lines
    room = MOST_CHARS - sum(len(line) + 1 for line in lines)
    return "\n".join([head, elided(visible(_shown(question)).strip("\n"), room), *rest])


def elided(text: str, limit: int) -> str:
    """The text with its middle left out where it is too long: what is hidden is named, and both ends are seen."""
    if len(text) <= limit:
        return text
    mark = f"\n[… {len(text)} characters in all, the middle is not shown …]\n"
    kept = limit - len(mark)
    head = kept * 2 // 3
    return f"{text[:head]}{mark}{text[len(text) - (kept - head) :]}"


def _shown(question: Question) -> str:
    match question.preview:
        case EditPreview(diff=diff, created=created):
            return f"new file\n{diff}" if created else diff
        case CommandPreview(command=command, cwd=cwd):
            return f"$ {command}\nin {cwd}"
        case TextPreview(text=text):
            return text
        case None:
            return question.call.arguments


if TYPE_CHECKING:
    _: type[Person] = PlainPerson
