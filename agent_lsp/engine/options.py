"""The engine's settings, as a session is given them."""

from __future__ import annotations

from typing import Literal

from agent_lsp.slotted import frozen

_LEAST_RESERVE_TOKENS = 2048


@frozen
class EngineOptions:
    """Settings of the engine; times in milliseconds, sizes in tokens.

    `max_turns`, `max_context_length` and `max_session_turns` ≤ 0: no limit. `compaction_prompt` asks for the summary.
    """

    max_turns: int = 100
    max_retries: int = 5
    retry_base_ms: int = 250
    retry_cap_ms: int = 30_000
    context_window: int | None = None
    max_output_tokens: int | None = None
    vision: bool = True
    compaction_mode: Literal["summarize", "discard", "off"] = "summarize"
    compaction_prompt: str = "Summarise the conversation so far between [summary] and [/summary]."
    max_context_length: int = 128_000
    max_session_turns: int = -1

    @property
    def compaction_at(self) -> int | None:
        """Tokens at which a compaction is due; a model's window keeps room for a reply and for the summary itself."""
        if self.max_context_length <= 0 or self.compaction_mode == "off":
            return None
        if not self.context_window:
            return self.max_context_length
        quarter = self.context_window // 4
        reserve = max(_LEAST_RESERVE_TOKENS, min(self.max_output_tokens or quarter, quarter))
        return min(self.max_context_length, max(1, self.context_window - reserve))
