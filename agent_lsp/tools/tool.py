"""What the author of a tool writes: a spec, what a call touches and looks like, and one generator of text.

Framing, time-outs, limits, masking, archives and error handling are the toolset's and the same for all.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from pydantic import BaseModel

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Permission
    from agent_lsp.messages.content import StopReason, ToolCall
    from agent_lsp.policy.access import Access, Preview

A = TypeVar("A", bound=BaseModel)

CURRENT_CALL: ContextVar[ToolCall | None] = ContextVar("current_call", default=None)
"""The call that the running tool answers, for whatever it uses and must say who asked."""


@frozen
class Spec(Generic[A]):
    """A tool as the model is told of it, and what sets it apart from the others.

    `max_output_length` (characters) takes the place of the session's; a tool that is not `timed` may take as long as it
    likes. A tool whose arguments follow a JSON Schema of somebody else brings that as `parameters`, and in `parse` what
    makes `args` of the call's text, or a text that names what does not fit. `source` says where the tool comes from.
    """

    name: str
    description: str
    args: type[A]
    permission: Permission
    max_output_length: int | None = None
    timed: bool = True
    parameters: dict[str, Any] | None = None
    parse: Callable[[str], A | str] | None = None
    source: str = "builtin"


@frozen
class End:
    """The last thing a tool yields, if it has more to say than text.

    `text` is output like any other and may be cut; `note` stands on lines of its own at the very end and never is. A
    tool that only ever gives one text puts it here: it is then shown as one message, not as a stream of one piece.
    """

    text: str = ""
    note: str = ""
    stop_reason: StopReason | None = None
    images: tuple[str, ...] | None = None
    needs_input: bool = False


def failed(text: str) -> End:
    """A call that came to nothing; `text` tells the model why and what to do about it."""
    return End(text=text, stop_reason="failed")


class Tool(Protocol[A]):
    """One tool of one session. `args` passed the spec's model; nothing but `run` may change anything."""

    @property
    def spec(self) -> Spec[A]:
        """Name, description, arguments, permission; never changes."""
        ...

    def title(self, args: A) -> str:
        """What the call does, for a person, in a few words. Control characters need no care."""
        ...

    def access(self, args: A) -> Access:
        """What the call would touch. Fast, touches no file."""
        ...

    async def preview(self, args: A) -> Preview | None:
        """What the call would change, when somebody is going to look at it."""
        ...

    def run(self, args: A) -> AsyncGenerator[str | End, None]:
        """Does it: text as it comes, then perhaps an `End`. An exception becomes a failed output of one line.

        Cancelled (`CancelledError`) or closed (`GeneratorExit`), it ends what it started.
        """
        ...
