"""The person behind a client: asked whether a call may run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from agent_lsp.acp.calls import call_id, described, previewed
from agent_lsp.policy.approver import Answer, Question, Remember
from agent_lsp.wire.peer_errors import PeerError

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.policy.access import Proposals

_ONCE: Final = {"optionId": "allow_once", "name": "Allow", "kind": "allow_once"}
_NO: Final = {"optionId": "reject_once", "name": "Reject", "kind": "reject_once"}
_ALWAYS: Final = "allow_always"


class ClientPerson:
    """The person of one session. `proposals` is set once the session is there."""

    def __init__(self, connection: Connection, session_id: str, root: Path) -> None:
        self._connection, self._session_id, self._root = connection, session_id, root
        self.proposals: Proposals

    async def ask(self, question: Question) -> Answer | None:
        """Puts the question. Whatever is not exactly an allow that was offered is a deny."""
        id = call_id(question.call.tool_call_id, question.origin)
        tool_call = {**described(question.call, id, self.proposals), "title": question.title, "status": "pending"}
        if question.preview:
            tool_call["content"] = previewed(question.preview, self._root)
        params = {"sessionId": self._session_id, "toolCall": tool_call, "options": _options(question)}
        try:
            chosen = chosen_option(await self._connection.request("session/request_permission", params))
        except PeerError:
            return Answer("deny", failed=True)
        if chosen == _ALWAYS and question.offers:
            narrowest = question.offers[0]
            return Answer("allow", Remember(narrowest.scope, narrowest.rule))
        return Answer("allow" if chosen == _ONCE["optionId"] else "deny")


def chosen_option(result: Any) -> str | None:
    """The option that the person has chosen, None for everything else that a client may say."""
    outcome = _table(_table(result).get("outcome"))
    option = outcome.get("optionId")
    return option if outcome.get("outcome") == "selected" and isinstance(option, str) else None


def _options(question: Question) -> list[dict[str, str]]:
    always = [{"optionId": _ALWAYS, "name": question.offers[0].label, "kind": _ALWAYS}] if question.offers else []
    return [_ONCE, *always, _NO]


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
