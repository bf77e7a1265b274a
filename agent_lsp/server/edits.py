"""The handlers of what the agent has edited: `agent/edits`, `agent/edits/keep`, `agent/edits/undo`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import Field

from agent_lsp.server.documents.positions import Places
from agent_lsp.server.hub import Hub, refuse
from agent_lsp.server.methods import Result, SessionParams
from agent_lsp.server.shapes import Range
from agent_lsp.sessions.edit_records import Edit, State
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.sessions.open_session import OpenSession

_COMMANDS_NOTE = "What commands have changed is not listed here and cannot be undone."


class EditsParams(SessionParams):
    """`agent/edits`; without a run, those of the session. `oldTexts`: with what stood at each place before."""

    run_id: str | None = None
    old_texts: bool = False


class ChosenParams(EditsParams):
    """`agent/edits/keep` and `agent/edits/undo`; without ids, all of the run, or of the session."""

    edit_ids: list[str] | None = None


class EditInfo(Result):
    """One edit. `range` is where it is now, or was; `reason` says why it could not be undone.

    `oldText` is what stood there before, where that was asked for.
    """

    edit_id: str
    run_id: str
    tool_call_id: str = Field(alias="tool_call_id")
    uri: str
    range: Range
    state: State
    reason: str | None = None
    old_text: str | None = None


class EditList(Result):
    """Edits in the order in which they were made. `note` says what is not among them."""

    edits: list[EditInfo]
    note: str | None = None


class EditHandlers:
    """What the person does with edits, whether or not the session is at work."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        return {
            "agent/edits": Method(EditsParams, self.edits),
            "agent/edits/keep": Method(ChosenParams, self.keep),
            "agent/edits/undo": Method(ChosenParams, self.undo),
        }

    def edits(self, params: EditsParams, _: Call) -> EditList:
        """`agent/edits`."""
        opened = self._hub.get(params.session_id).session
        return self._answer(opened, opened.files.edits.list(params.run_id), params)

    def keep(self, params: ChosenParams, _: Call) -> Awaitable[EditList]:
        """`agent/edits/keep`: answered when it is written down."""
        opened = self._chosen(params)
        return self._written(opened, opened.files.edits.keep(params.edit_ids, params.run_id), params)

    def undo(self, params: ChosenParams, _: Call) -> Awaitable[EditList]:
        """`agent/edits/undo`: those that cannot be undone are answered with the reason."""
        return self._undone(self._chosen(params), params)

    async def _undone(self, opened: OpenSession, params: ChosenParams) -> EditList:
        return await self._written(opened, await opened.files.edits.undo(params.edit_ids, params.run_id), params)

    async def _written(self, opened: OpenSession, edits: Sequence[Edit], params: ChosenParams) -> EditList:
        answer = self._answer(opened, edits, params)
        await opened.files.judged.written()
        return answer

    def _chosen(self, params: ChosenParams) -> OpenSession:
        opened = self._hub.get(params.session_id).session
        if unknown := opened.files.edits.unknown(params.edit_ids or ()):
            raise refuse("editIds", f"no such edits: {', '.join(unknown)[:200]}")
        return opened

    def _answer(self, opened: OpenSession, edits: Sequence[Edit], params: EditsParams) -> EditList:
        editor = self._hub.editor
        return EditList(
            edits=described(edits, editor.uri, editor.documents.encoding, old_texts=params.old_texts),
            note=_COMMANDS_NOTE if opened.files.ran_commands(params.run_id) else None,
        )


def described(
    edits: Sequence[Edit], uri: Callable[[Path], str], encoding: str, *, old_texts: bool = False
) -> list[EditInfo]:
    """The edits as a client knows them."""
    places: dict[Path, Places] = {}
    for edit in edits:
        if edit.path not in places:
            places[edit.path] = Places(edit.text or "", encoding)
    return [
        EditInfo(
            edit_id=edit.edit_id,
            run_id=edit.run_id,
            tool_call_id=edit.tool_call_id,
            uri=uri(edit.path),
            range=places[edit.path].range(edit.start, edit.end),
            state=edit.state,
            reason=edit.reason,
            old_text=edit.old if old_texts else None,
        )
        for edit in edits
    ]
