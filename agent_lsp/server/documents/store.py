"""All open documents of a client, by their URI and by the file they are."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from agent_lsp.server.documents.document import Document
from agent_lsp.wire.service import Observer

if TYPE_CHECKING:
    from agent_lsp.server.documents.params import ChangeParams, OpenParams, SaveParams

_DRIVE = re.compile(r"/([A-Za-z]):(?=/|$)")


class Documents:
    """What is open. Odd documents are kept like any other; whatever is said of one that is not open is ignored.

    `encoding` is that of positions.
    """

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding
        self._open: dict[str, Document] = {}
        self._listeners: list[Callable[[Document], None]] = []

    def notifications(self) -> dict[str, Observer[Any]]:
        """The notifications, by name."""
        from agent_lsp.server.documents.params import ChangeParams, OpenParams, SaveParams

        return {
            "textDocument/didOpen": Observer(OpenParams, self.opened),
            "textDocument/didChange": Observer(ChangeParams, self.changed),
            "textDocument/didSave": Observer(SaveParams, self.saved),
            "textDocument/didClose": Observer(OpenParams, self.closed),
        }

    # --- what is open ---

    def __iter__(self) -> Iterator[Document]:
        return iter(tuple(self._open.values()))

    def find(self, path: Path) -> Document | None:
        """The document that a path leads to. Of several the one with unsaved changes, else the last one opened."""
        if not self._open:  # asked of each file that a model knows, before each of its requests
            return None
        key = _real(os.fspath(path))
        found = [one for one in self._open.values() if one.path == key] if key else []
        dirty = (one for one in found if one.standing() == "dirty")
        return next(dirty, found[-1] if found else None) if len(found) > 1 else next(iter(found), None)

    def by_uri(self, uri: str) -> Document | None:
        """The document of a URI, however it is spelled."""
        if found := self._open.get(uri):
            return found
        path = file_of(uri)
        return self.find(path) if path else None

    def listen(self, listener: Callable[[Document], None]) -> None:
        """Has a listener, which must not raise, called after a document was opened, changed, saved or closed."""
        self._listeners.append(listener)

    # --- what the client says ---

    def opened(self, params: OpenParams) -> None:
        """`textDocument/didOpen`; a second one takes the place of the first."""
        item = params.text_document
        self._drop(item.uri)
        document = self._open[item.uri] = Document(item.uri, file_of(item.uri), item.version, item.text)
        document.compare()
        self._tell(document)

    def changed(self, params: ChangeParams) -> None:
        """`textDocument/didChange`."""
        if document := self.by_uri(params.text_document.uri):
            document.change(params.content_changes, params.text_document.version, self.encoding)
            self._tell(document)

    def saved(self, params: SaveParams) -> None:
        """`textDocument/didSave`."""
        if document := self.by_uri(params.text_document.uri):
            document.saved(params.text)
            self._tell(document)

    def closed(self, params: OpenParams) -> None:
        """`textDocument/didClose`."""
        if document := self.by_uri(params.text_document.uri):
            self._drop(document.uri)
            self._tell(document)

    def _drop(self, uri: str) -> None:
        if document := self._open.pop(uri, None):
            document.closed()

    def _tell(self, document: Document) -> None:
        for listener in self._listeners:
            listener(document)


def file_of(uri: str) -> Path | None:
    """The file of a URI, links followed, one for all spellings; None for what is no file of this machine."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme.lower() != "file" or parts.netloc not in ("", "localhost") or not parts.path.startswith("/"):
        return None
    path = unquote(parts.path, errors="surrogateescape")
    return _real(_DRIVE.sub(lambda found: found[0].lower(), path, count=1))


def _real(path: str) -> Path | None:
    try:
        return Path(os.path.realpath(path))
    except (ValueError, OSError):  # a NUL, or a name that is too long
        return None
