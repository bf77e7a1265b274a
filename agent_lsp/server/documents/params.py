"""What a client says of its documents."""

from pydantic import Field

from agent_lsp.server.methods import Params
from agent_lsp.server.shapes import Range


class Change(Params):
    """One change of `textDocument/didChange`; without a range it is the whole text."""

    text: str
    range: Range | None = None


class Item(Params):
    """A document, named or whole."""

    uri: str
    version: int | None = None
    text: str = ""


class OpenParams(Params):
    """`textDocument/didOpen`."""

    text_document: Item


class ChangeParams(Params):
    """`textDocument/didChange`."""

    text_document: Item
    content_changes: list[Change] = Field(default_factory=list[Change])


class SaveParams(Params):
    """`textDocument/didSave`; `text` only where the client sends it."""

    text_document: Item
    text: str | None = None
