"""The methods of the protocol: what each takes and gives, in camelCase on the wire. Unknown fields are ignored."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from agent_lsp.engine.account import Availability
from agent_lsp.engine.ports import SessionState, ThinkingLevel
from agent_lsp.messages.content import StopReason
from agent_lsp.messages.events import CompactionMode, TokenCounts
from agent_lsp.policy.modes import ApprovalMode


class Params(BaseModel):
    """Base of everything that is sent."""

    model_config = ConfigDict(defer_build=True, alias_generator=to_camel, frozen=True, extra="ignore", strict=True)


class Result(BaseModel):
    """Base of everything that is answered; what is None is left out."""

    model_config = ConfigDict(defer_build=True, alias_generator=to_camel, validate_by_name=True, frozen=True)


# --- shared shapes ----------------------------------------------------------------------------------------------------


class ModelRef(Params):
    """A model of a provider."""

    provider: str
    model: str

    @property
    def name(self) -> str:
        """The string form."""
        return f"{self.provider}/{self.model}"


class Position(Params):
    """A place in a text; `character` counts in the negotiated encoding."""

    line: Annotated[int, Field(ge=0)]
    character: Annotated[int, Field(ge=0)]


class Range(Params):
    """From `start` up to, not including, `end`."""

    start: Position
    end: Position


class TextPart(Params):
    """Words of the user."""

    type: Literal["text"]
    text: str


class ImagePart(Params):
    """An image: `data` is a data URL, `url` a web address."""

    type: Literal["image"]
    data: str | None = None
    url: str | None = None


class ResourcePart(Params):
    """A file, or a selection of it, whose text is attached."""

    type: Literal["resource"]
    uri: str
    range: Range | None = None


InputPart = Annotated[TextPart | ImagePart | ResourcePart, Field(discriminator="type")]
Input = str | list[InputPart]


# --- sessions ---------------------------------------------------------------------------------------------------------


class SessionParams(Params):
    """One session; left out: the connection's current one."""

    session_id: str | None = None


class NamedSessionParams(Params):
    """One session, by its id."""

    session_id: str


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


class ListParams(Params):
    """`agent/session/list`."""

    workspace: str | None = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    cursor: str | None = None


class HistoryParams(Params):
    """`agent/session/history`: the messages after the cursor, or with `from_end` the last ones before it."""

    session_id: str
    limit: Annotated[int, Field(ge=1, le=10_000)] = 200
    cursor: str | None = None
    from_end: bool = False


class UpdateParams(Params):
    """`agent/session/update`."""

    session_id: str
    approval_mode: ApprovalMode | None = None
    thinking_level: ThinkingLevel | None = None
    title: Annotated[str, Field(min_length=1)] | None = None
    model: ModelRef | str | None = None
    mode: Literal["native", "loop"] | None = None
    tools: list[str] | None = None


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


class SessionList(Result):
    """Newest first."""

    sessions: list[SessionInfo]
    next_cursor: str | None = None


# --- compaction, forks, rules -----------------------------------------------------------------------------------------


class CompactParams(Params):
    """`agent/compact`; `mode`: another one than the settings', for this once."""

    session_id: str | None = None
    mode: CompactionMode | None = None


class CompactAnswer(Result):
    """What the compaction came to; nothing was done unless `availability` is `ok`."""

    status: StopReason
    availability: Availability
    error_message: str | None = None


class ForkParams(Params):
    """`agent/session/fork`; `atTurn`: the last turn that is taken along, the first one is 1."""

    session_id: str
    at_turn: int | None = None


class RevokeParams(Params):
    """`agent/rules/revoke`."""

    rule_ids: list[str]


class RuleInfo(Result):
    """A remembered rule."""

    rule_id: str
    kind: str
    scope: str
    label: str
    created_at: str


class Rules(Result):
    """What is remembered, that of the session first."""

    rules: list[RuleInfo]


class ModelTestParams(Params):
    """`agent/models/test`."""

    model: ModelRef | str


class NoParams(Params):
    """Nothing."""


def model_name(given: ModelRef | str | None) -> str | None:
    """A model reference in either form, as `provider/model`."""
    return given.name if isinstance(given, ModelRef) else given
