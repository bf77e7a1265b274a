"""A client's editor as plain code: buffers that check versions, an undo list, and ways to misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from agent_lsp.server.documents.params import ChangeParams, OpenParams, SaveParams
from agent_lsp.server.documents.positions import column_to_index, lines_of
from agent_lsp.server.documents.store import Documents
from agent_lsp.server.editor import BufferEditor, ClientEditor
from agent_lsp.server.handshake import ClientInfo
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.wire.peer_errors import PeerError


@dataclass
class Buffer:
    uri: str
    path: Path
    text: str
    saved: str
    version: int = 1
    history: list[str] = field(default_factory=list)


def capabilities(*, apply=True, versions=True, annotations=True, **agent: bool) -> dict[str, Any]:
    edit: dict[str, Any] = {"documentChanges": versions}
    if annotations:
        edit["changeAnnotationSupport"] = {}
    return {
        "workspace": {"applyEdit": apply, "workspaceEdit": edit},
        "experimental": {"agent": {"saveDocument": True, **agent}},
    }


class ModelEditor:
    """`port` is what the server makes of it. `lies`: says that it applied, and did not. `refuses`: why it did not."""

    def __init__(self, folder: Path, encoding: str = "utf-16", **more: Any) -> None:
        self.folder, self.encoding = folder, encoding
        self.buffers: dict[str, Buffer] = {}
        self.asked: list[tuple[str, Any]] = []
        self.told: list[tuple[str, Any]] = []
        self.before_apply: Callable[[], Any] = lambda: None
        self.lies = False
        self.refuses: str | None = None
        self.fails = False
        self.splits = False
        self.hold: asyncio.Event | None = None
        self.diagnose: Callable[[Any], Any] = lambda params: {"items": []}
        said = capabilities(**more) | {"general": {"positionEncodings": [encoding]}}
        self.greeted = SimpleNamespace(client=ClientInfo({"capabilities": said}))
        self.documents = Documents(encoding)
        self.client = ClientEditor(self, self.documents)  # type: ignore[arg-type]
        self.disk = DiskEditor(folder.parent / "backups")
        self.port: BufferEditor = self.client.over(self.disk)

    # --- the person ---

    def open(self, path: Path, text: str | None = None) -> Buffer:
        saved = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode() if path.exists() else ""
        buffer = self.buffers[path.as_uri()] = Buffer(path.as_uri(), path, saved if text is None else text, saved)
        item = {"uri": buffer.uri, "version": 1, "text": buffer.text}
        self.documents.opened(OpenParams.model_validate({"textDocument": item}))
        return buffer

    def type(self, buffer: Buffer, text: str) -> None:
        """The whole text is another one now."""
        self._set(buffer, text)

    def undo(self, buffer: Buffer) -> None:
        self._set(buffer, buffer.history[-1])

    def save(self, buffer: Buffer) -> None:
        bom = b"\xef\xbb\xbf" if buffer.path.exists() and buffer.path.read_bytes().startswith(b"\xef\xbb\xbf") else b""
        buffer.path.write_bytes(bom + buffer.text.encode())
        buffer.saved = buffer.text
        self.documents.saved(SaveParams.model_validate({"textDocument": {"uri": buffer.uri}}))

    def close(self, buffer: Buffer) -> None:
        del self.buffers[buffer.uri]
        self.documents.closed(OpenParams.model_validate({"textDocument": {"uri": buffer.uri}}))

    # --- what the server asks ---

    @property
    def edits(self) -> list[dict[str, Any]]:
        return [params["edit"] for method, params in self.asked if method == "workspace/applyEdit"]

    @property
    def saves(self) -> list[str]:
        return [params["uri"] for method, params in self.asked if method == "agent/saveDocument"]

    def notify(self, method: str, params: Any) -> None:
        self.told.append((method, params))

    async def request(self, method: str, params: Any) -> Any:
        self.asked.append((method, params))
        match method:
            case "workspace/applyEdit":
                return await self._apply(params["edit"])
            case "agent/saveDocument":
                self.save(self.buffers[params["uri"]])
                return {"saved": True}
            case "agent/diagnostics":
                return self.diagnose(params)
            case _:
                raise PeerError(-32601, "no such method")

    async def _apply(self, edit: dict[str, Any]) -> Any:
        self.before_apply()
        if self.hold:
            await self.hold.wait()
        if self.fails:
            raise PeerError(-32603, "it fell over")
        if self.refuses is not None:
            return {"applied": False, "failureReason": self.refuses}
        if self.lies:
            return {"applied": True}
        listed = edit.get("documentChanges") or [
            {"textDocument": {"uri": uri}, "edits": edits} for uri, edits in edit.get("changes", {}).items()
        ]
        planned = []
        for change in listed:
            buffer = self.buffers.get(change["textDocument"]["uri"])
            version = change["textDocument"].get("version")
            if buffer is None or version not in (None, buffer.version):
                return {"applied": False, "failureReason": "stale"}
            planned.append((buffer, self._edited(buffer.text, change["edits"])))
        for buffer, text in planned:
            self._set(buffer, text)
        return {"applied": True}

    def _edited(self, text: str, edits: list[dict[str, Any]]) -> str:
        spans = [
            (self._offset(text, one["range"]["start"]), self._offset(text, one["range"]["end"]), one["newText"])
            for one in edits
        ]
        out, at = "", 0
        for start, end, new in spans:
            assert at <= start <= end, "edits overlap or are out of order"
            out, at = out + text[at:start] + new, end
        return out + text[at:]

    def _offset(self, text: str, position: dict[str, int]) -> int:
        lines = lines_of(text)
        line = lines[position["line"]]
        index = column_to_index(line, position["character"], self.encoding)
        return sum(map(len, lines[: position["line"]])) + index

    def _set(self, buffer: Buffer, text: str) -> None:
        buffer.history.append(buffer.text)
        buffer.text, buffer.version = text, buffer.version + 1
        body = {"textDocument": {"uri": buffer.uri, "version": buffer.version}, "contentChanges": [{"text": text}]}
        self.documents.changed(ChangeParams.model_validate(body))
