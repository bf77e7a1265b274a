"""Asks the person behind a client whether a call may run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal, cast

from agent_lsp.policy.access import CommandPreview, EditPreview, Preview
from agent_lsp.policy.approver import Answer, Question, Remember
from agent_lsp.server.uris import uri_of
from agent_lsp.wire.peer_errors import PeerError

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection

Outcome = Literal["allow", "deny", "withdrawn"]


class ClientPerson:
    """The person of one session, behind a client that takes `agent/approve` or cannot be asked."""

    def __init__(self, connection: Connection, session_id: str, can_be_asked: bool) -> None:
        self._connection, self._session_id, self._can_be_asked = connection, session_id, can_be_asked
        self.open: dict[str, dict[str, Any]] = {}
        """The params of the questions that wait for an answer, by tool call id."""

    async def ask(self, question: Question) -> Answer | None:
        """Puts the question; anything but a proper `allow` is a deny, nobody to ask is None."""
        if not self._can_be_asked:
            return None
        id = question.call.tool_call_id
        params = self.open[id] = approve_params(self._session_id, question)
        outcome: Outcome = "deny"
        try:
            answer = read_answer(await self._connection.request("agent/approve", params))
            outcome = answer.decision
            return answer
        except asyncio.CancelledError:
            outcome = "withdrawn"
            raise
        except PeerError:
            return Answer("deny", failed=True)
        finally:
            del self.open[id]
            self._connection.notify(
                "agent/approvalResolved", {"sessionId": self._session_id, "tool_call_id": id, "outcome": outcome}
            )


def approve_params(session_id: str, question: Question) -> dict[str, Any]:
    """The question as `agent/approve` puts it."""
    call = question.call
    params: dict[str, Any] = {
        "sessionId": session_id,
        "toolCall": {"tool_call_id": call.tool_call_id, "name": call.name, "arguments": call.arguments},
        "permission": question.permission,
        "title": question.title,
        "remember": [
            {"kind": offer.kind, "scope": offer.scope, "rule": offer.rule, "label": offer.label}
            for offer in question.offers
        ],
    }
    if question.origin:
        params["origin"] = question.origin
    if question.preview:
        params["preview"] = _preview(question.preview)
    return params


def read_answer(result: Any) -> Answer:
    """What a client said. Whatever is not exactly an allow is a deny; a remembered rule must be whole to count."""
    fields = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    if fields.get("decision") != "allow":
        feedback = fields.get("feedback")
        return Answer("deny", feedback=feedback if isinstance(feedback, str) and feedback.strip() else None)
    wanted = fields.get("remember")
    remember: Remember | None = None
    if isinstance(wanted, dict):
        chosen = cast("dict[str, Any]", wanted)
        scope, rule = chosen.get("scope"), chosen.get("rule")
        if scope in ("session", "workspace") and isinstance(rule, str):
            remember = Remember(scope, rule)
    return Answer("allow", remember)


def _preview(preview: Preview) -> dict[str, Any]:
    match preview:
        case EditPreview():
            return {"kind": "edit", "uri": uri_of(preview.path), "diff": preview.diff, "created": preview.created}
        case CommandPreview():
            return {"kind": "command", "command": preview.command, "cwd": str(preview.cwd)}
        case _:
            return {"kind": "text", "text": preview.text}
