"""The sections of the configuration: one model each, with every default and every description."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agent_lsp.config.shape import LARGEST
from agent_lsp.config.spelling import to_camel

ApprovalMode = Literal["read-only", "plan", "ask", "auto-edit", "allow-all"]
Mode = Literal["native", "loop", "auto"]
Api = Literal["openai-chat", "openai-responses", "anthropic", "gemini", "rehearsal"]
CompactionMode = Literal["summarize", "discard", "off"]
Sandbox = Literal["off", "bwrap"]

NonEmpty = Annotated[str, Field(min_length=1)]
Names = Annotated[tuple[NonEmpty, ...], Field(strict=False)]
ModelName = Annotated[str, Field(pattern=r"^[^/\n]+/[^\n]+$")]
WebAddress = Annotated[str, Field(pattern=r"^https?://[\x20-\x7e]*$")]
Integer = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, Field(ge=0, le=LARGEST)]
Positive = Annotated[int, Field(ge=1, le=LARGEST)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Section(BaseModel):
    """A table of settings: read in snake_case and camelCase, exact types, unchangeable."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        loc_by_alias=False,
        strict=True,
        frozen=True,
        extra="ignore",
        defer_build=True,
        hide_input_in_errors=True,
    )


class Prices(Section):
    """What a model costs, in US dollars per million tokens."""

    input: Amount = 0.0
    """Input that was not read from a cache."""
    cache_read: Amount = 0.0
    """Input read from a cache."""
    cache_write: Amount = 0.0
    """Input written to a cache."""
    output: Amount = 0.0
    """Output, reasoning included."""


class Model(Section):
    """What is to be known of a model; what is left out comes from the built-in catalogue."""

    context_window: Positive | None = None
    """Tokens that fit into the model's context."""
    max_output_tokens: Positive | None = None
    """Tokens that one reply may have."""
    vision: bool | None = None
    """Whether the model can see images."""
    tool_calling: bool | None = None
    """Whether the model can call tools; if it cannot, `mode = "auto"` takes the loop session."""
    think_tags: bool | None = None
    """Whether the model writes its reasoning between `<think>` and `</think>` at the start of its text."""
    prices: Prices | None = None
    """What the model costs; left out: the bundled price list, or unknown."""


class Provider(Section):
    """A provider of models."""

    api: Api | None = None
    """The dialect that its server speaks; only the built-in providers may leave it out."""
    base_url: WebAddress | None = None
    """Address of the API, up to what the dialect adds (`…/v1`)."""
    api_key: NonEmpty | None = Field(default=None, repr=False)
    """The credential itself; keep such a file to yourself (mode 0600), or use `api_key_env`."""
    api_key_env: NonEmpty | None = None
    """Environment variable that holds the credential; commands of the agent do not see it."""
    headers: dict[NonEmpty, NonEmpty] = Field(default_factory=dict[str, str], repr=False)
    """Further HTTP headers of each request; their values are kept as secret as credentials."""
    request_timeout: Seconds | None = None
    """Seconds without a byte after which a request counts as dead; left out: 120, on this machine 600."""
    content_timeout: Seconds = 600.0
    """Seconds without any content (keep-alives aside) after which a request counts as dead."""
    models: dict[NonEmpty, Model] = Field(default_factory=dict[str, Model])
    """Its models by name; the built-in providers know theirs."""


class Reconnect(Section):
    """How a failed request is tried again."""

    max_retries: Count = 5
    """Retries of one request before the run ends."""
    base_ms: Count = 250
    """Milliseconds before the first retry; the wait doubles each time."""
    cap_ms: Count = 30_000
    """The longest wait in milliseconds; a provider that asks for a longer one gets it."""


class Compaction(Section):
    """When a context is summarised, and how."""

    max_context_length: Integer = 128_000
    """Tokens at which a compaction is due; 0 or less: never for this reason. Small models have a lower limit."""
    max_session_turns: Integer = -1
    """Turns since the last compaction at which the next is due; 0 or less: never for this reason."""
    mode: CompactionMode = "summarize"
    """`summarize` goes on from a summary, `discard` from nothing, `off` never compacts."""
    prompt: NonEmpty | None = None
    """The instruction that asks for the summary; left out: the built-in one."""


class Limits(Section):
    """What one server takes on."""

    max_message_bytes: Annotated[int, Field(ge=1024, le=LARGEST)] = 67_108_864
    """Largest message that a client may send."""
    max_queued_bytes: Annotated[int, Field(ge=1024, le=LARGEST)] = 16_777_216
    """Bytes that wait for a slow client before tools and models are held back."""
    max_sessions: Positive = 64
    """Sessions that may be open at once."""


class Tools(Section):
    """The tools of the agent and what they may touch."""

    disabled: Names = ()
    """Names of tools that the model is not told of."""
    deny_paths: Names = ()
    """Globs or absolute paths that no file tool may touch, in any mode."""
    deny_commands: Names = ()
    """Commands that never run: the first words of each (`git push`), compared after wrappers are taken off."""
    max_output_length: Positive = 16_000
    """Characters of a tool's output that the model gets; the whole is kept beside the session."""
    timeout: Annotated[float, Field(allow_inf_nan=False)] = 120.0
    """Seconds that a tool may take; 0 or less: as long as it likes."""
    read_only_commands: bool = False
    """Whether simple commands that are known only to read (`ls`, `git status`, …) count as reading; those of git only
    in a repository without programs of its own (a monitor of files, filters, hooks, …) and without submodules."""
    sandbox: Sandbox = "off"
    """`bwrap` runs every command under bubblewrap: only the workspace and the scratchpad can be written, and forbidden
    places, other processes and `/tmp` are not there. What git or an editor would run later (`.git/config`, hooks,
    `.vscode`, …) cannot be changed. Denied globs do not bind it, denied paths do."""
    sandbox_network: bool = False
    """Whether commands in the sandbox reach the network."""
    vision_model: ModelName | None = None
    """Model that describes images to models which cannot see, as `provider/model`; left out: nobody does."""
    web_fetch: bool = False
    """Whether the model has the tool `web_fetch`."""
    web_fetch_private: bool = False
    """Whether `web_fetch` may ask private, loopback and link-local addresses."""


class Loop(Section):
    """Limits of the loop session."""

    max_steps_per_turn: Count = 8
    """Decisions of one prompt; 0 stops it without asking the model."""
    max_errors: Positive = 5
    """Errors since the prompt began that end it."""
    max_retries_per_turn: Count = 3
    """Rejected answers that end a prompt which expects a certain one."""
    history_compression_enabled: bool = True
    """Whether a long history is summarised when a prompt starts."""
    history_compression_threshold_tokens: Positive = 6000
    """Estimated tokens (characters / 4) of the history above which it is summarised."""
    history_compression_keep_recent_entries: Count = 8
    """Entries at the end that stay as they are."""
    history_compression_max_summary_tokens: Annotated[int, Field(ge=200, le=LARGEST)] = 1200
    """Tokens that the summary may have."""
    history_compression_model: ModelName | None = None
    """Model that writes the summary; left out: the session's."""


class Budget(Section):
    """What may be spent; a run that reaches one of these ends as failed and says so. 0: no such limit."""

    usd_per_run: Amount = 0.0
    """US dollars for one run."""
    usd_per_day: Amount = 0.0
    """US dollars for all runs of a day."""
    tokens_per_run: Count = 0
    """Tokens for one run, those read from a cache aside."""


class AgentProfile(Section):
    """A profile that a session or a subagent can be started with."""

    prompt: NonEmpty | None = None
    """What it is told of its task, in the system prompt."""
    model: ModelName | None = None
    """Its model; left out: the default one."""
    tools: Names | None = None
    """The tools it has; left out: all."""


class McpServer(Section):
    """A server of further tools: one that is started (`command`) or one that is asked (`url`)."""

    command: NonEmpty | None = None
    """Program to start."""
    args: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Its arguments."""
    env: dict[NonEmpty, str] = Field(default_factory=dict[str, str], repr=False)
    """Variables added to its environment."""
    url: WebAddress | None = None
    """Address of a server that runs already."""
    headers: dict[NonEmpty, NonEmpty] = Field(default_factory=dict[str, str], repr=False)
    """HTTP headers for it."""

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("must have either command or url")
        return self


class Sessions(Section):
    """What is kept of sessions."""

    keep_days: Count = 0
    """Days after its last use that a session is deleted; 0: never."""


class Telemetry(Section):
    """Spans and metrics for a tracing system (`agent-lsp[otel]`), by OpenTelemetry's conventions for generative AI."""

    enabled: bool = False
    """Whether runs, requests and tool calls are told to a collector: times, models, tokens, how they ended."""
    endpoint: WebAddress | None = None
    """Its address (`http://127.0.0.1:4318`); left out: what `OTEL_EXPORTER_OTLP_ENDPOINT` says, else this machine."""
    content: bool = False
    """Whether it is told prompts, replies, arguments and outputs too."""
