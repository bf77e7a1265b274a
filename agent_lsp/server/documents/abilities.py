"""What the client's editor can do with documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.server.handshake import ClientInfo


@frozen
class Abilities:
    """`applies`: takes `workspace/applyEdit`, with versions (`versioned`) and with labels (`annotates`) or without."""

    applies: bool
    versioned: bool
    annotates: bool
    saves: bool
    diagnoses: bool

    @classmethod
    def of(cls, client: ClientInfo) -> Abilities:
        """What the client declared."""
        workspace = _table(client.capabilities.get("workspace"))
        edit = _table(workspace.get("workspaceEdit"))
        versioned = edit.get("documentChanges") is True
        return cls(
            applies=workspace.get("applyEdit") is True,
            versioned=versioned,
            annotates=versioned and isinstance(edit.get("changeAnnotationSupport"), dict),
            saves=client.can("saveDocument"),
            diagnoses=client.can("diagnostics"),
        )


def _table(value: Any) -> Mapping[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
