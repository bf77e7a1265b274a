"""The one model of the configuration, and the verdict on what was said."""

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from pydantic import Field, ValidationError, create_model
from pydantic_core import ErrorDetails

from agent_lsp.config import builtin, sections
from agent_lsp.config.layers import Merged
from agent_lsp.config.problems import InvalidSettings, Problem, shown
from agent_lsp.config.sections import ModelName, Names, NonEmpty, Section
from agent_lsp.config.shape import APIS
from agent_lsp.config.spelling import dotted
from agent_lsp.engine.ports import ThinkingLevel

S = TypeVar("S", bound=Section)


def _usual(section: type[S]) -> S:
    """The section with its defaults, which need no validation: to make eight validators takes 3 ms of a start."""
    return section.model_construct()


class Settings(Section):
    """Everything that can be set. Without an argument: the built-in values."""

    config: NonEmpty | None = None
    """User file to read instead of the usual one; one that does not exist means none. Not in a file."""
    data_dir: NonEmpty | None = None
    """Folder for traces, scratchpads and usage; left out: `$AGENT_LSP_DATA_DIR`, else the platform's."""
    token: NonEmpty | None = Field(default=None, repr=False)
    """What a client must show to connect over TCP or WebSocket. Only in initializationOptions."""
    default_model: ModelName | None = None
    """`provider/model` of new sessions; left out: the first built-in provider that has a key."""
    approval_mode: sections.ApprovalMode = "ask"
    """What runs without asking: nothing but reading (`ask`), edits too (`auto-edit`), all (`allow-all`); or is refused
    (`read-only`, `plan`)."""
    mode: sections.Mode = "native"
    """`native` lets the model call tools, `loop` asks it for one decision at a time, `auto` takes `loop` for models
    that cannot call tools."""
    max_turns: sections.Integer = 100
    """Turns of one run; 0 or less: no limit."""
    thinking_level: ThinkingLevel | None = "medium"
    """How much a model that can think is asked to."""
    titles: bool = True
    """Whether a session is given a title by one more request."""
    offline: bool = False
    """Whether nothing but this machine is ever contacted."""
    egress_log: bool = False
    """Whether `egress.log` in the data directory gets a line for each request to a model: when, where to, how much."""
    allow_remote: bool = False
    """Whether `--tcp` and `--ws` may listen on other addresses than loopback."""
    allowed_origins: Names = ()
    """Origins of web pages that may connect over WebSocket."""
    prompts: dict[NonEmpty, NonEmpty] = Field(default_factory=dict[str, str])
    """Prompts of your own by their title, offered for a selection."""
    providers: dict[NonEmpty, sections.Provider] = Field(default_factory=dict[str, sections.Provider])
    """Providers by name: your own, and changes to the built-in ones."""
    reconnect: sections.Reconnect = _usual(sections.Reconnect)
    """How a failed request is tried again."""
    compaction: sections.Compaction = _usual(sections.Compaction)
    """When a context is summarised, and how."""
    limits: sections.Limits = _usual(sections.Limits)
    """What one server takes on."""
    tools: sections.Tools = _usual(sections.Tools)
    """The tools of the agent and what they may touch."""
    loop: sections.Loop = _usual(sections.Loop)
    """Limits of the loop session."""
    budget: sections.Budget = _usual(sections.Budget)
    """What may be spent."""
    agents: dict[NonEmpty, sections.AgentProfile] = Field(default_factory=dict[str, sections.AgentProfile])
    """Profiles that a session or a subagent can be started with, by name."""
    mcp_servers: dict[NonEmpty, sections.McpServer] = Field(default_factory=dict[str, sections.McpServer])
    """Servers of further tools, by name."""
    sessions: sections.Sessions = _usual(sections.Sessions)
    """What is kept of sessions."""
    telemetry: sections.Telemetry = _usual(sections.Telemetry)
    """Spans and metrics for a tracing system."""


def validate(merged: Merged) -> Settings:
    """The settings in force. Raises `InvalidSettings` with every key that does not fit.

    Unknown keys stop nothing; `merged.warnings` names them.
    """
    problems = _providers_without_api(merged)
    try:
        settings = _read(merged.values)
    except ValidationError as error:
        problems += [_problem(merged, detail) for detail in error.errors(include_url=False)]
        # The original holds the values, credentials among them, and a traceback would show them.
        raise InvalidSettings(problems) from None
    if problems:
        raise InvalidSettings(problems)
    return settings


def _read(values: Mapping[str, Any]) -> Settings:
    """`Settings.model_validate(values)`, with a validator of what was said alone: one of everything takes 4 ms."""
    said = {name: field for name, field in Settings.model_fields.items() if name in values}
    if not said:
        return Settings.model_construct()
    fields: dict[str, Any] = {name: (field.annotation, field) for name, field in said.items()}
    read = create_model("Said", __base__=Section, **fields).model_validate(values)
    return Settings.model_construct(set(said), **{name: getattr(read, name) for name in said})


def _providers_without_api(merged: Merged) -> list[Problem]:
    providers: Any = merged.values.get("providers")
    if not isinstance(providers, dict):
        return []
    entries = cast("dict[str, object]", providers)
    return [
        Problem(f"{merged.as_written(key)}.api", f"missing: one of {', '.join(APIS)}", merged.source(key))
        for name, entry in entries.items()
        if name not in builtin.NAMES and isinstance(entry, dict) and "api" not in entry
        for key in [f"providers.{name}"]
    ]


def _problem(merged: Merged, detail: ErrorDetails) -> Problem:
    path = tuple(str(part) for part in detail["loc"] if part != "[key]")
    key = dotted(path)
    kind, given = detail["type"], detail["input"]
    if kind == "value_error":
        message = detail["msg"].removeprefix("Value error, ")
    elif kind in ("model_type", "dict_type"):
        # A text where a table belongs may be a credential in the wrong place: only its type is told.
        message = f"must be a table, not {type(given).__name__}"
    else:
        message = f"{detail['msg'].replace('Input should', 'must', 1)}, not {shown(path, given)}"
    return Problem(merged.as_written(key), message, merged.source(key))
