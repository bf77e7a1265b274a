"""Asks the client what is wrong in its files, and believes nothing of the answer's shape."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.server.documents.store import Documents, file_of
from agent_lsp.server.uris import uri_of
from agent_lsp.tools.findings import Finding, Severity
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection

_PATIENCE_S = 2.0
_SEVERITIES: dict[Any, Severity] = {1: "error", 2: "warning", 3: "information", 4: "hint"}


class ClientFindings:
    """The diagnostics of a client that declared `agent/diagnostics` (`tools.diagnostics.Findings`)."""

    def __init__(self, connection: Connection, documents: Documents) -> None:
        self._connection, self._documents = connection, documents

    async def __call__(self, path: Path | None) -> Sequence[Finding] | None:
        """What the client reports within two seconds; what it says of an older version of a document is left out."""
        params = {} if path is None else {"uri": self._uri(path)}
        try:
            async with asyncio.timeout(_PATIENCE_S):
                answer = await self._connection.request("agent/diagnostics", params)
        except (PeerError, ConnectionLost, TimeoutError):
            return None
        items = _table(answer).get("items")
        if not isinstance(items, list):
            return None
        found = [one for item in cast("list[Any]", items) for one in self._of_item(_table(item), path)]
        return list(dict.fromkeys(found))

    def _uri(self, path: Path) -> str:
        document = self._documents.find(path)
        return document.uri if document else uri_of(path.absolute())

    def _of_item(self, item: dict[str, Any], wanted: Path | None) -> Iterator[Finding]:
        uri, version, diagnostics = item.get("uri"), item.get("version"), item.get("diagnostics")
        file = file_of(uri) if isinstance(uri, str) else None
        if file is None or not isinstance(diagnostics, list) or (wanted and file != wanted.resolve()):
            return
        document = self._documents.find(file)
        if document and isinstance(version, int) and document.version is not None and version < document.version:
            return
        for one in cast("list[Any]", diagnostics):
            if finding := _finding(wanted or file, _table(one)):
                yield finding


def _finding(path: Path, given: dict[str, Any]) -> Finding | None:
    start = _table(_table(given.get("range")).get("start"))
    line, character = start.get("line"), start.get("character")
    message, source = given.get("message"), given.get("source")
    if not isinstance(line, int) or not isinstance(message, str):
        return None
    column = character + 1 if isinstance(character, int) else 1
    severity = _SEVERITIES.get(given.get("severity"), "error")
    return Finding(path, line + 1, column, severity, message, source if isinstance(source, str) else "")


def _table(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
