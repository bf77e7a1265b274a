"""Events of generateContent into a reply: each is a whole response that holds the parts which are new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic_core import to_json

from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.providers.gemini.partial_args import PartialArgs
from agent_lsp.providers.reply import Call, Reply
from agent_lsp.providers.shape import as_count, as_dict, as_id, as_list, as_text

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity

ADAPTER = "gemini"
"""Whose fidelity it is."""

_BLOCKED = frozenset(
    {"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY"}
    | {"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_OTHER", "MODEL_ARMOR"}
)
_BROKEN = frozenset(
    {"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MALFORMED_RESPONSE"}
    | {"MISSING_THOUGHT_SIGNATURE", "NO_IMAGE", "OTHER"}
)


class GeminiReader:
    """Reads one reply. `provider` marks the fidelity: a signature of one provider means nothing to another."""

    def __init__(self, provider: str) -> None:
        self.reply = Reply()
        self._provider = provider
        self._reason = ""
        self._explanation = ""
        self._is_settled = False
        self._parts: list[list[Any]] = []  # [length, signature] of each part of the open text or thinking
        self._growing: tuple[Call, PartialArgs] | None = None
        self._usage: dict[str, int] = {}

    @property
    def is_settled(self) -> bool:
        """Whether the last event had a reason to finish. Some servers put one on empty events that come first."""
        return self._is_settled

    def event(self, name: str, value: dict[str, Any]) -> None:
        """One event."""
        self._count(as_dict(value.get("usageMetadata")))
        blocked = as_dict(value.get("promptFeedback"))
        if reason := as_text(blocked.get("blockReason")):
            self._finish("SAFETY", as_text(blocked.get("blockReasonMessage")) or reason)
        candidates = as_list(value.get("candidates"))
        if candidates:
            self._candidate(as_dict(candidates[0]))

    def document(self, value: dict[str, Any]) -> None:
        """A whole response."""
        if not ({"candidates", "promptFeedback"} & value.keys()):
            self.reply.malformed("the answer is JSON, but no response")
            return
        self.event("", value)
        self.close()

    def done(self) -> None:
        """Not of this dialect; some servers send it all the same."""
        self.close()

    def close(self) -> None:
        """The end of the body is the end of the reply, if a reason to finish came."""
        if not self._reason:
            self.reply.malformed("the stream ended before the reply did")
        elif self._reason in _BROKEN:
            self.reply.malformed(f"the model broke off its reply ({self._reason}) {self._explanation}".rstrip())
        else:
            self._end_growing()
            finish: Finish = "length" if self._reason == "MAX_TOKENS" else "stop"
            self.reply.complete("content_filter" if self._reason in _BLOCKED else finish, _token_counts(self._usage))

    def _candidate(self, candidate: dict[str, Any]) -> None:
        """The reason comes first: a call in the event that says it was blocked must not run."""
        parts = as_list(as_dict(candidate.get("content")).get("parts"))
        self._is_settled = False
        if reason := as_text(candidate.get("finishReason")):
            self._finish(reason, as_text(candidate.get("finishMessage")))
            self._is_settled = self.reply.has_words or bool(self.reply.calls or parts)
        for part in parts:
            self._part(as_dict(part))

    def _finish(self, reason: str, explanation: str) -> None:
        self._reason, self._explanation = reason, explanation
        if reason in _BLOCKED or reason in _BROKEN:
            self.reply.hold_calls()

    def _part(self, part: dict[str, Any]) -> None:
        signature = as_text(part.get("thoughtSignature"))
        text = part.get("text")
        if "functionCall" in part:
            self._call(as_dict(part.get("functionCall")), signature)
        elif isinstance(text, str):
            self._words("thinking" if part.get("thought") is True else "text", text, signature)
        else:  # the provider's own doings: nothing to show, but wanted back
            self._keep(part)

    def _count(self, usage: dict[str, Any]) -> None:
        """Counts that come with their total are all there are; without one, the last number of each field counts."""
        counts = {name: count for name, given in usage.items() if (count := as_count(given)) is not None}
        self._usage = counts if "totalTokenCount" in counts else self._usage | counts

    # --- words --------------------------------------------------------------------------------------------------------

    def _words(self, kind: Literal["text", "thinking"], piece: str, signature: str) -> None:
        """Words go on in one segment; where they were signed is kept beside it."""
        if not piece and not self.reply.is_open(kind):
            if signature:
                self._keep({"text": "", "thoughtSignature": signature})
            return
        if not self.reply.is_open(kind):
            self._parts = []
        (self.reply.text if kind == "text" else self.reply.thinking)(piece)
        if signature or not self._parts or self._parts[-1][1]:
            self._parts.append([len(piece), signature])
        else:
            self._parts[-1][0] += len(piece)
        if signature:
            self.reply.fidelity = self._mark({"parts": self._parts})

    def _keep(self, part: dict[str, Any]) -> None:
        self.reply.end_segment()
        self.reply.thinking("")
        self.reply.fidelity = self._mark({"part": part})
        self.reply.end_segment()

    def _mark(self, kept: dict[str, Any]) -> Fidelity:
        return {ADAPTER: {"provider": self._provider, **kept}}

    # --- calls --------------------------------------------------------------------------------------------------------

    def _call(self, given: dict[str, Any], signature: str) -> None:
        """A call comes whole, or as its name and then pieces of its arguments while each says that more follow."""
        name = as_text(given.get("name"))
        if name or self._growing is None:
            self._end_growing()
            call = self.reply.begin(name, as_id(given.get("id")))
            marks = {"id": call.call_id, "signature": signature}
            call.fidelity = self._mark({mark: value for mark, value in marks.items() if value})
            self._growing = call, PartialArgs()
        call, arguments = self._growing
        arguments.value |= as_dict(given.get("args"))
        arguments.apply(given.get("partialArgs"))
        if not given.get("willContinue"):
            self._end_growing()

    def _end_growing(self) -> None:
        if self._growing:
            call, arguments = self._growing
            self._growing = None
            self.reply.arguments(call, to_json(arguments.value).decode())
            self.reply.end_whole_calls()


def _token_counts(usage: Mapping[str, int]) -> TokenCounts:
    prompt = usage.get("promptTokenCount", 0) + usage.get("toolUsePromptTokenCount", 0)
    output = usage.get("candidatesTokenCount", 0) + usage.get("thoughtsTokenCount", 0)
    cached = usage.get("cachedContentTokenCount", 0)
    fresh = prompt if cached > prompt else prompt - cached
    return TokenCounts(cache_read=cached, cache_write=fresh, output=output, total=cached + fresh + output)
