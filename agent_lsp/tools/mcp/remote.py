"""What goes between a server and its tools here: plain values, and the two seams around the SDK."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agent_lsp.slotted import frozen

Progress = Callable[[str], None]


@frozen
class RemoteTool:
    """A tool as its server describes it. `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]
    only_reads: bool


@frozen
class Resource:
    """Something that a server lets be read."""

    uri: str
    name: str
    description: str


@frozen
class Answer:
    """What a call or a resource came to; `images` are data URLs."""

    text: str
    images: tuple[str, ...] = ()
    is_error: bool = False
    needs_input: bool = False


@frozen
class Failure:
    """Why something came to nothing, in one line. `is_lost`: the connection is of no use any more."""

    reason: str
    is_lost: bool = False
    timed_out: bool = False


class Peer(Protocol):
    """A server that has answered, over one connection. Nothing here raises but `CancelledError`."""

    has_resources: bool
    is_stale: bool
    """Whether the server has said that its tools are others now; `list_tools` puts that right."""

    async def list_tools(self) -> tuple[RemoteTool, ...] | Failure:
        """The tools it has now."""
        ...

    async def call(self, name: str, arguments: dict[str, Any], tell: Progress) -> Answer | Failure:
        """Calls a tool; cancelling it tells the server. `tell` gets lines of text meanwhile."""
        ...

    async def list_resources(self) -> tuple[Resource, ...] | Failure:
        """What can be read."""
        ...

    async def read(self, uri: str) -> Answer | Failure:
        """Reads a resource."""
        ...
