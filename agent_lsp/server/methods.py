"""The methods of the protocol: what each takes and gives, in camelCase on the wire. Unknown fields are ignored.

Here is what all of them are made of, and what it takes to make a session; each class costs a start 0.1 ms.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from agent_lsp.engine.ports import SessionState, ThinkingLevel
from agent_lsp.messages.events import TokenCounts
from agent_lsp.policy.modes import ApprovalMode


class Params(BaseModel):
    """Base of everything that is sent."""

    model_config = ConfigDict(defer_build=True, alias_generator=to_camel, frozen=True, extra="ignore", strict=True)


class Result(BaseModel):
    """Base of everything that is answered; what is None is left out."""

    model_config = ConfigDict(defer_build=True, alias_generator=to_camel, validate_by_name=True, frozen=True)


class ModelRef(Params):
    """A model of a provider."""

    provider: str
    model: str

    @property
    def name(self) -> str:
        """The string form."""
        return f"{self.provider}/{self.model}"


class SessionParams(Params):
    """One session; left out: the connection's current one."""

    session_id: str | None = None


class NamedSessionParams(Params):
    """One session, by its id."""

    session_id: str


class NoParams(Params):
    """Nothing."""


class NewParams(Params):
    """`agent/session/new`."""

    workspace: str | None = None
    model: ModelRef | str | None = None
    mode: Literal["native", "loop"] | None = None
    approval_mode: ApprovalMode | None = None
    thinking_level: ThinkingLevel | None = None
    system_prompt: str | None = None
    max_turns: int | None = None
    agent: str | None = None
    tags: list[str] | None = None
    title: str | None = None
    ephemeral: bool = False
    initial_history: list[dict[str, Any]] | None = None
    limits: dict[str, Any] | None = None
    preparation: dict[str, Any] | None = None


class SessionInfo(Result):
    """What is told of a session."""

    session_id: str
    title: str | None = None
    workspace: str
    model: dict[str, str]
    mode: str
    approval_mode: str
    thinking_level: str | None = None
    state: SessionState
    created_at: str
    updated_at: str
    turns: int
    usage: TokenCounts
    context_tokens: int
    context_window: int | None = None
    compaction_at: int | None = None
    trace_path: str | None = None
    parent_id: str | None = None


def model_name(given: ModelRef | str | None) -> str | None:
    """A model reference in either form, as `provider/model`."""
    return given.name if isinstance(given, ModelRef) else given
