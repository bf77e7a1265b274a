"""When a history is summarised before a prompt, and what of it stays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_lsp.engine.hooks import HistoryPlan
from agent_lsp.loop.options import FINAL_ANSWER, Limits
from agent_lsp.messages.content import Content, Text, Thinking, ToolCall, ToolCallOutput

if TYPE_CHECKING:
    from agent_lsp.engine.ports import LLM

_CHARS_PER_TOKEN = 4


def plan(messages: Sequence[Content], limits: Limits, llm: LLM | None) -> HistoryPlan | None:
    """The summary that is due; None when the history is short enough or nothing of it would go."""
    if not limits.history_compression_enabled:
        return None
    chars = sum(map(_chars, messages))
    if chars <= limits.history_compression_threshold_tokens * _CHARS_PER_TOKEN:
        return None
    kept = _kept(messages, limits.history_compression_keep_recent_entries)
    if kept >= len(messages):
        return None
    return HistoryPlan(kept, _prompt(limits.history_compression_max_summary_tokens), llm)


def _kept(messages: Sequence[Content], entries: int) -> int:
    """How many of the last messages hold so many entries, and whole replies with the outputs of their calls."""
    at = len(messages)
    while at > 0 and entries > 0:
        at -= 1
        entries -= not isinstance(messages[at], Thinking)
    if at == len(messages):
        return 0
    while at > 0 and (isinstance(messages[at], ToolCallOutput) or _is_inside_a_reply(messages, at)):
        at -= 1
    return len(messages) - at


def _is_inside_a_reply(messages: Sequence[Content], at: int) -> bool:
    return messages[at].role == "assistant" and messages[at - 1].role == "assistant"


def _chars(message: Content) -> int:
    match message:
        case Text():
            return len(message.text)
        case ToolCall():
            return len(message.name) + len(message.arguments)
        case ToolCallOutput():
            return len(message.output)
        case _:
            return 0


def _prompt(most_tokens: int) -> str:
    return (
        "The conversation so far is about to be replaced by a summary that you write now. Keep what the person wants,"
        " what was found out and decided, what was changed, and what is open, with the names and numbers that matter."
        f" Use at most {most_tokens} tokens. Call no tool: give the summary as your {FINAL_ANSWER}, between [summary]"
        " and [/summary]."
    )
