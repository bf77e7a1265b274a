"""What a loop session is held to. Defaults and minima belong to whoever reads them from a person."""

from __future__ import annotations

from agent_lsp.slotted import field, frozen

FINAL_ANSWER = "final_answer"
CANNOT_COMPLETE = "cannot_complete"
RESERVED = (FINAL_ANSWER, CANNOT_COMPLETE)
"""Tools that every planned model has, and that no other tool may be named after."""


@frozen
class Limits:
    """A limit of N is reached by the Nth. Sizes in tokens, estimated where nobody counts them."""

    max_steps_per_turn: int = 8
    max_errors: int = 5
    max_retries_per_turn: int = 3
    history_compression_enabled: bool = True
    history_compression_threshold_tokens: int = 6000
    history_compression_keep_recent_entries: int = 8
    history_compression_max_summary_tokens: int = 1200
    history_compression_model: str | None = None


@frozen
class Preparation:
    """A child session that runs on `text` before each prompt and names values for it.

    `tools`: those it has (None: all); `context`: it knows the conversation so far; `retries`: after its first failure.
    """

    text: str
    tools: tuple[str, ...] | None = None
    context: bool = False
    retries: int = 1


@frozen
class LoopOptions:
    """All of it. `max_output_chars`: what a model is shown of one tool's output."""

    limits: Limits = field(default_factory=Limits)
    preparation: Preparation | None = None
    max_output_chars: int = 16_000
