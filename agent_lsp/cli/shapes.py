"""What the command line reads of the protocol's objects; fields that it has no use for are left alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agent_lsp.messages.envelope import Message
from agent_lsp.messages.events import TokenCounts

Status = Literal["completed", "failed", "aborted", "timeout", "malformed", "auth", "max_turns"]


class Shape(BaseModel):
    """An object with camelCase names."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, populate_by_name=True)


class ModelRef(Shape):
    """A model and who provides it."""

    provider: str
    model: str


class Session(Shape):
    """The session that was made."""

    session_id: str
    model: ModelRef
    approval_mode: str


class Stream(Shape):
    """The params of `agent/message`."""

    messages: tuple[Annotated[Message, Field(discriminator="type")], ...]


class Result(Shape):
    """How a run ended."""

    status: Status
    turns: int = 0
    text: str = ""
    usage: TokenCounts = TokenCounts()
    error_message: str | None = None


class EditShown(Shape):
    """An edit that waits for approval."""

    kind: Literal["edit"]
    uri: str
    diff: str
    created: bool = False


class CommandShown(Shape):
    """A command that waits for approval."""

    kind: Literal["command"]
    command: str
    cwd: str


class TextShown(Shape):
    """Anything else that waits for approval."""

    kind: Literal["text"]
    text: str


class Remember(Shape):
    """A rule that an answer may make. `rule` is the server's to read."""

    scope: Literal["session", "workspace"]
    rule: Any
    label: str = ""


class CalledTool(BaseModel):
    """The call that waits, as in the message model."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    tool_call_id: str
    name: str
    arguments: str = ""


class Question(Shape):
    """The params of `agent/ask`."""

    question: str
    options: tuple[str, ...] = ()
    multiple: bool = False


class Approval(Shape):
    """The params of `agent/approve`."""

    tool_call: CalledTool
    title: str
    preview: Annotated[EditShown | CommandShown | TextShown, Field(discriminator="kind")] | None = None
    remember: tuple[Remember, ...] = ()

    def for_session(self) -> Remember | None:
        """The narrowest rule that ends with the session, if one is offered."""
        return next((rule for rule in self.remember if rule.scope == "session"), None)
