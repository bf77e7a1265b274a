"""One `workspace/applyEdit`: what it says, and whether it has happened.

request ──▶ applied: true ──▶ the didChange with the expected text, within 2 s ──▶ applied
               │                                           ╰── none ──▶ unknown
               ├ applied: false, an error ──▶ the text has moved on ──▶ stale
               │                                        ╰── it has not ──▶ refused
               ╰ no proper answer ──▶ as `true`: only what is seen counts
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.policy.visible import visible_line
from agent_lsp.server.documents.positions import Places
from agent_lsp.slotted import frozen
from agent_lsp.tools.difference import applied
from agent_lsp.tools.editor import Applied, Outcome, Refused, Stale, TextEdit, Unknown
from agent_lsp.tools.tool import CURRENT_CALL
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.documents.abilities import Abilities
    from agent_lsp.server.documents.document import Document

_PATIENCE_S = 2.0
_LABEL_CHARS = 200


@frozen
class Step:
    """The edits of one document, whose text is `before` now. `path` is the file as the tool named it."""

    document: Document
    path: Path
    before: str
    edits: tuple[TextEdit, ...]

    @property
    def after(self) -> str:
        """The text when they are made."""
        return applied(self.before, self.edits)


async def apply(connection: Connection, abilities: Abilities, steps: Sequence[Step], label: str) -> Outcome:
    """Has the client make all edits as one step, and looks whether it did. The steps hold the present texts."""
    label = visible_line(label, _LABEL_CHARS)
    edit = workspace_edit(abilities, steps, label, connection.greeted.client.position_encoding)
    seen = [step.document.expect(step.after) for step in steps]
    try:
        refused = await _refusal(connection, {"label": label, "edit": edit})
        if refused is None:
            await asyncio.wait(seen, timeout=_PATIENCE_S)
            missing = [step for step, one in zip(steps, seen, strict=True) if not (one.done() and one.result())]
        else:
            missing = [step for step in steps if step.document.text != step.after]
    finally:
        for one in seen:
            one.cancel()
    if not missing:
        return Applied()
    if refused is None or len(missing) < len(steps):
        return Unknown(missing[0].path, missing[0].document.text)
    moved = next((step for step in steps if step.document.text != step.before), None)
    if moved:
        return Stale(moved.path, moved.document.text)
    return Refused(steps[0].path, f"the editor refused the edit ({refused}).", steps[0].document.text)


def workspace_edit(abilities: Abilities, steps: Sequence[Step], label: str, encoding: str) -> dict[str, Any]:
    """The `WorkspaceEdit`, in the richest form that the client takes."""
    if not abilities.versioned:
        return {"changes": {step.document.uri: _text_edits(step, encoding) for step in steps}}
    call = CURRENT_CALL.get()
    annotation = "agent" if abilities.annotates else None
    edit: dict[str, Any] = {
        "documentChanges": [
            {
                "textDocument": {"uri": step.document.uri, "version": step.document.version},
                "edits": _text_edits(step, encoding, annotation),
            }
            for step in steps
        ]
    }
    if annotation:
        described = {"description": f"{call.name} ({call.tool_call_id})"} if call else {}
        edit["changeAnnotations"] = {annotation: {"label": label, "needsConfirmation": False, **described}}
    return edit


def _text_edits(step: Step, encoding: str, annotation: str | None = None) -> list[dict[str, Any]]:
    places = Places(step.before, encoding)
    named = {"annotationId": annotation} if annotation else {}
    return [
        {"range": places.range(edit.start, edit.end).model_dump(), "newText": edit.text, **named} for edit in step.edits
    ]


async def _refusal(connection: Connection, params: dict[str, Any]) -> str | None:
    """Why the client made no edit; None when it says that it did, or nothing that can be understood."""
    try:
        answer = await connection.request("workspace/applyEdit", params)
    except PeerError as error:
        return error.message
    except ConnectionLost:
        return "it is gone"
    fields = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    if fields.get("applied") is not False:
        return None
    reason = fields.get("failureReason")
    return reason if isinstance(reason, str) and reason else "it gave no reason"
