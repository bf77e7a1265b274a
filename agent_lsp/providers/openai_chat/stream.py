"""Chunks of Chat Completions into a reply. Lenient: servers disagree on nearly everything but the outline."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from agent_lsp.engine.ports import Outcome
from agent_lsp.messages.events import Finish, TokenCounts
from agent_lsp.providers.reply import Call, Reply, arguments_are_whole
from agent_lsp.providers.shape import as_count, as_dict, as_id, as_list, as_text
from agent_lsp.providers.think_tags import ThinkTags

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity

ADAPTER = "openai_chat"
"""Whose fidelity it is."""

_FINISH: Mapping[str, Finish] = {
    "length": "length",
    "model_length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "sensitive": "content_filter",
    "refusal": "refusal",
}
_BROKEN = ("error", "network_error")
_IN, _OUT = "prompt_tokens_details", "completion_tokens_details"
_DETAIL_BODIES = ("text", "summary", "data")


class ChatReader:
    """Reads one reply. `provider` marks the fidelity: another server may not know the same fields.

    `think_tags`: the model's text begins with its reasoning, in tags.
    """

    def __init__(self, provider: str, *, think_tags: bool = False) -> None:
        self.reply = Reply()
        self._tags = ThinkTags(self.reply) if think_tags else None
        self._say = self._tags.text if self._tags else self.reply.text
        self._provider = provider
        self._finish: str | None = None
        self._is_refusal = False
        self._by_index: dict[int, Call] = {}
        self._last: Call | None = None
        self._details: list[dict[str, Any]] = []
        self._usage: dict[str, int] = {}

    @property
    def is_settled(self) -> bool:
        """Whether a finish reason came."""
        return self._finish is not None

    def event(self, name: str, value: dict[str, Any]) -> None:
        """One chunk."""
        if "usage" in value or "x_groq" in value:
            self._count(value)
        choice = _first(value.get("choices"))
        if choice is not None:
            self._choice(choice)

    def document(self, value: dict[str, Any]) -> None:
        """A whole completion."""
        choice = _first(value.get("choices"))
        if choice is None:
            self.reply.malformed("the answer is JSON, but no completion")
            return
        self._count(value)
        self._choice({**choice, "delta": as_dict(choice.get("message")) or choice.get("delta")})
        self.close()

    def done(self) -> None:
        """`[DONE]`: enough of an end, even where no finish reason came."""
        self._finish = self._finish or "stop"
        self.close()

    def close(self) -> None:
        """The end of the body."""
        if self._tags:
            self._tags.flush()
        if self._finish is None:
            self.reply.malformed("the stream ended before the reply did")
        elif self._finish in _BROKEN:
            self.reply.end(Outcome("timeout", f"the provider broke off the reply ({self._finish})"))
        else:
            finish = "refusal" if self._is_refusal else _FINISH.get(self._finish, "stop")
            self.reply.complete(finish, _token_counts(self._usage))

    def _choice(self, choice: dict[str, Any]) -> None:
        reason = choice.get("finish_reason")
        if reason and _FINISH.get(str(reason)) in ("refusal", "content_filter"):
            self.reply.hold_calls()
        if delta := as_dict(choice.get("delta")):
            self._delta(delta)
        if reason and (self._finish is None or reason in _BROKEN):
            self._finish = str(reason)

    def _delta(self, delta: dict[str, Any]) -> None:
        content = delta.get("content")
        if delta.get("refusal"):
            self.reply.hold_calls()
        if delta.get("reasoning_content") or delta.get("reasoning") or delta.get("reasoning_details"):
            self._reasoning(delta)
        if isinstance(content, str):
            self._say(content)
        elif isinstance(content, dict):
            self._say(to_json(content).decode())
        elif content:
            self._content_list(as_list(content))
        if refusal := delta.get("refusal"):
            self._is_refusal = True
            self.reply.text(as_text(refusal))
        calls = as_list(delta.get("tool_calls"))
        if calls and self._tags:
            self._tags.flush()
        for given in calls:
            self._call(as_dict(given))
        legacy = as_dict(delta.get("function_call"))
        if any(legacy.values()):
            self._call({"index": 0, "function": legacy})

    def _content_list(self, content: list[Any]) -> None:
        for item in content:
            piece = as_dict(item)
            if piece.get("type") == "thinking":
                nested = [as_text(as_dict(one).get("text")) for one in as_list(piece.get("thinking"))]
                self.reply.thinking(as_text(piece.get("thinking")) or "".join(nested))
            else:
                self._say(as_text(piece.get("text")))

    def _reasoning(self, delta: dict[str, Any]) -> None:
        """One of the plain fields is read, for the others say the same again. Details are kept for the echo."""
        field = "reasoning_content" if delta.get("reasoning_content") else "reasoning"
        words = as_text(delta.get(field))
        details = [as_dict(one) for one in as_list(delta.get("reasoning_details"))]
        self.reply.thinking(words)
        if self.reply.fidelity is None:
            self._details = []
        _merge_details(self._details, details)
        mark: Fidelity = {"provider": self._provider, "field": field}
        if self._details:
            mark["details"] = self._details
        self.reply.fidelity = {ADAPTER: mark}

    def _call(self, given: dict[str, Any]) -> None:
        function = as_dict(given.get("function"))
        call_id = as_id(given.get("id"))
        name = as_text(function.get("name"))
        call = self._called(given.get("index"), call_id, name)
        self.reply.name(call, name)
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            self.reply.arguments(call, arguments)
        elif isinstance(arguments, dict) and not call.pieces:
            self.reply.arguments(call, to_json(arguments).decode())
        if extra := given.get("extra_content"):
            call.fidelity = {ADAPTER: {"provider": self._provider, "extra_content": extra}}

    def _called(self, index: Any, call_id: str, name: str) -> Call:
        """The call that a delta belongs to: the one of its index unless its id says otherwise, else the last one."""
        has_index = isinstance(index, int)
        call = self._by_index.get(index) if has_index else self._last
        if call is None or self._is_another(call, call_id, name, has_index=has_index):
            call = self.reply.begin(name, call_id)
            if has_index:
                self._by_index[index] = call
        elif call_id and not call.name:
            call.call_id = call_id
        self._last = call
        return call

    def _is_another(self, call: Call, call_id: str, name: str, *, has_index: bool) -> bool:
        if call_id and call.call_id:
            return call_id != call.call_id
        if has_index and not (call_id and call.name):
            return False
        return bool(name and call.name) and arguments_are_whole(call.arguments)

    def _count(self, value: dict[str, Any]) -> None:
        """The last number of each field counts: some servers tell the sum in every chunk."""
        for usage in (as_dict(as_dict(value.get("x_groq")).get("usage")), as_dict(value.get("usage"))):
            for name, value in (*usage.items(), *as_dict(usage.get(_IN)).items(), *as_dict(usage.get(_OUT)).items()):
                if (count := as_count(value)) is not None:
                    self._usage[name] = count


def _first(choices: Any) -> dict[str, Any] | None:
    given = as_list(choices)
    return as_dict(given[0]) if given else None


def _merge_details(kept: list[dict[str, Any]], news: list[dict[str, Any]]) -> None:
    """Joins the pieces of each detail: bodies are appended, everything else is set once it comes."""
    for one in news:
        same = next((k for k in kept if (k.get("index"), k.get("type")) == (one.get("index"), one.get("type"))), None)
        if same is None:
            kept.append(dict(one))
            continue
        for name, value in one.items():
            if name in _DETAIL_BODIES and isinstance(value, str) and isinstance(same.get(name), str):
                same[name] += value
            elif value is not None:
                same[name] = value


def _token_counts(usage: Mapping[str, int]) -> TokenCounts:
    prompt, output = usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0)
    reasoning = usage.get("reasoning_tokens", 0)
    if reasoning and usage.get("total_tokens") == prompt + output + reasoning:
        output += reasoning  # a few servers leave the reasoning out of the completion, but not out of the total
    cached = usage.get("cached_tokens", usage.get("prompt_cache_hit_tokens", 0))
    fresh = prompt if cached > prompt else prompt - cached  # more cached than prompted: they are counted apart
    return TokenCounts(cache_read=cached, cache_write=fresh, output=output, total=cached + fresh + output)
