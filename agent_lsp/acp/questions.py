"""The questions of a model to the person behind a client: as a form where the client shows those, else as a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast

from agent_lsp.acp.person import chosen_option
from agent_lsp.tools.tool import CURRENT_CALL
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection

_SKIP: Final = {"optionId": "skip", "name": "No answer", "kind": "reject_once"}
_CHOSEN: Final = "answer"
_WORDS: Final = "words"


class ClientQuestions:
    """Puts the questions of one session's model (`tools.ask_user.Ask`)."""

    def __init__(self, connection: Connection, session_id: str) -> None:
        self._connection, self._session_id = connection, session_id

    async def __call__(self, question: str, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
        """The answer; None when the person gives none, or the client has no way to put such a question."""
        call = CURRENT_CALL.get()
        if call is None:
            return None
        try:
            if self._connection.greeted.client.shows_forms:
                return await self._by_form(call.tool_call_id, question, options, multiple=multiple)
            if options and not multiple:
                return await self._by_choice(call.tool_call_id, question, options)
        except (PeerError, ConnectionLost):
            return None
        return None

    async def _by_form(
        self, call_id: str, question: str, options: Sequence[str], *, multiple: bool
    ) -> str | list[str] | None:
        form = {"type": "object", **_fields(options, multiple=multiple)}
        params = {"mode": "form", "sessionId": self._session_id, "toolCallId": call_id}
        result = await self._connection.request(
            "elicitation/create", {**params, "message": question, "requestedSchema": form}
        )
        return answered(result, options, multiple=multiple)

    async def _by_choice(self, call_id: str, question: str, options: Sequence[str]) -> str | None:
        """As if a permission was asked for: that has choices, and no words of one's own."""
        offered = [
            {"optionId": f"answer-{at}", "name": option, "kind": "allow_once"} for at, option in enumerate(options)
        ]
        tool_call = {"toolCallId": call_id, "title": question, "kind": "other", "status": "in_progress"}
        params = {"sessionId": self._session_id, "toolCall": tool_call, "options": [*offered, _SKIP]}
        chosen = chosen_option(await self._connection.request("session/request_permission", params))
        answers = {one["optionId"]: one["name"] for one in offered}
        return answers.get(chosen) if chosen else None


def answered(result: object, options: Sequence[str], *, multiple: bool) -> str | list[str] | None:
    """What a form was filled in with; None for whatever is no answer to it.

    Words of one's own go before a choice, and join several.
    """
    filled = cast("dict[str, Any]", result) if isinstance(result, dict) else {}
    content = filled.get("content")
    if filled.get("action") != "accept" or not isinstance(content, dict):
        return None
    fields = cast("dict[str, Any]", content)
    said = fields.get(_WORDS)
    words = said.strip() if isinstance(said, str) else ""
    chosen = _chosen(fields.get(_CHOSEN), options)
    if multiple and options:
        return [*chosen, words] if words else chosen
    return words or next(iter(chosen), None)


def _chosen(value: object, options: Sequence[str]) -> list[str]:
    several = cast("list[object]", value) if isinstance(value, list) else [value]
    return [one for one in several if isinstance(one, str) and one in options]


def _fields(options: Sequence[str], *, multiple: bool) -> dict[str, Any]:
    words = {"type": "string", "title": "In your own words" if options else "Answer"}
    if not options:
        return {"properties": {_WORDS: words}, "required": [_WORDS]}
    choice = {"type": "string", "enum": list(dict.fromkeys(options))}
    several = {"type": "array", "items": choice} if multiple else choice
    return {"properties": {_CHOSEN: {**several, "title": "Answer"}, _WORDS: words}}
