"""One reply in each dialect: what the adapters are held to together is told once, and each says it in its own words.

    dialect.reply(("thinking", "hm"), ("text", "Hel", "lo"), ("call", "c1", "f", '{"a":', "1}"), finish="tool_calls")

A step's further words are the pieces in which it streams. Every reply has read 4 tokens from a cache and 6 anew, and
written 5.
"""

import json
from typing import ClassVar

from tests.providers.wire_server import event

USAGE = (4, 6, 5)


class Chat:
    """Chat Completions."""

    api, model, base, turns = "openai-chat", "m", "/v1", "messages"
    no_schema = "This response_format type is unavailable now"
    finishes: ClassVar = {"stop": "stop", "tool_calls": "tool_calls", "length": "length", "refusal": "content_filter"}

    def reply(self, *steps, finish="stop"):
        calls = 0
        for kind, *pieces in steps:
            if kind == "call":
                call_id, name, *pieces = pieces
                yield self._delta(tool_calls=[{"index": calls, "id": call_id, "function": {"name": name}}])
                for piece in pieces:
                    yield self._delta(tool_calls=[{"index": calls, "function": {"arguments": piece}}])
                calls += 1
            else:
                for piece in pieces:
                    yield self._delta(**{"content" if kind == "text" else "reasoning_content": piece})
        if finish:
            yield {"choices": [{"index": 0, "delta": {}, "finish_reason": self.finishes[finish]}]}
            read, fresh, written = USAGE
            usage = {"prompt_tokens": read + fresh, "prompt_tokens_details": {"cached_tokens": read}}
            yield {"choices": [], "usage": {**usage, "completion_tokens": written}}
            yield b"[DONE]"

    def _delta(self, **fields):
        return {"choices": [{"index": 0, "delta": fields}]}


class Claude:
    """Messages."""

    api, model, base, turns = "anthropic", "claude-sonnet-5", "", "messages"
    no_schema = "tool_choice: forced tools are not supported"
    finishes: ClassVar = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}
    _deltas: ClassVar = {"text": ("text_delta", "text"), "thinking": ("thinking_delta", "thinking")}

    def reply(self, *steps, finish="stop"):
        read, fresh, written = USAGE
        usage = {"input_tokens": fresh, "cache_read_input_tokens": read, "output_tokens": 1}
        yield {"type": "message_start", "message": {"id": "m", "usage": usage}}
        for index, (kind, *pieces) in enumerate(steps):
            block = {"type": kind, kind: ""}
            delta, field = self._deltas.get(kind, ("input_json_delta", "partial_json"))
            if kind == "call":
                call_id, name, *pieces = pieces
                block = {"type": "tool_use", "id": call_id, "name": name, "input": {}}
            yield {"type": "content_block_start", "index": index, "content_block": block}
            for piece in pieces:
                yield {"type": "content_block_delta", "index": index, "delta": {"type": delta, field: piece}}
            if finish or index < len(steps) - 1:
                yield {"type": "content_block_stop", "index": index}
        if finish:
            reason = {"stop_reason": self.finishes[finish]}
            yield {"type": "message_delta", "delta": reason, "usage": {"output_tokens": written}}
            yield {"type": "message_stop"}


class Responses:
    """Responses."""

    api, model, base, turns = "openai-responses", "gpt-5", "/v1", "input"
    no_schema = "Unsupported parameter: 'text.format'"
    finishes: ClassVar = {
        "stop": ("completed", {}),
        "tool_calls": ("completed", {}),
        "length": ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}),
        "refusal": ("incomplete", {"incomplete_details": {"reason": "content_filter"}}),
    }
    _deltas: ClassVar = {
        "text": "output_text.delta",
        "thinking": "reasoning_summary_text.delta",
        "call": "function_call_arguments.delta",
    }

    def reply(self, *steps, finish="stop"):
        for index, (kind, *pieces) in enumerate(steps):
            head = ()
            if kind == "call":
                head, pieces = pieces[:2], pieces[2:]
            yield self._event("output_item.added", index, item=self._item(kind, head, ""))
            for piece in pieces:
                yield self._event(self._deltas[kind], index, delta=piece)
            is_last = index == len(steps) - 1
            if finish or not is_last:
                state = "incomplete" if is_last and finish in ("length", "refusal") else "completed"
                item = self._item(kind, head, "".join(pieces)) | {"status": state}
                yield self._event("output_item.done", index, item=item)
        if finish:
            status, more = self.finishes[finish]
            read, fresh, written = USAGE
            usage = {"input_tokens": read + fresh, "input_tokens_details": {"cached_tokens": read}}
            response = {"status": status, "usage": {**usage, "output_tokens": written}, **more}
            yield {"type": f"response.{status}", "response": response}

    def _event(self, kind, index, **more):
        return {"type": f"response.{kind}", "output_index": index, **more}

    def _item(self, kind, head, words):
        if kind == "call":
            call_id, name = head
            return {
                "type": "function_call",
                "id": f"fc_{call_id}",
                "call_id": call_id,
                "name": name,
                "arguments": words,
            }
        if kind == "thinking":
            summary = [{"type": "summary_text", "text": words}]
            return {"type": "reasoning", "id": "rs_1", "summary": summary, "encrypted_content": "E"}
        return {"type": "message", "id": "msg_1", "content": [{"type": "output_text", "text": words}]}


class Gemini:
    """generateContent; its calls come whole."""

    api, model, base, turns = "gemini", "gemini-3-pro", "", "contents"
    no_schema = "JSON mode is not enabled for this model"
    finishes: ClassVar = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}

    def reply(self, *steps, finish="stop"):
        for kind, *pieces in steps:
            if kind == "call":
                call_id, name, *pieces = pieces
                call = {"name": name, "args": json.loads("".join(pieces)), "id": call_id}
                yield self._parts({"functionCall": call})
                continue
            for piece in pieces:
                yield self._parts({"text": piece, **({"thought": True} if kind == "thinking" else {})})
        if finish:
            read, fresh, written = USAGE
            usage = {"promptTokenCount": read + fresh, "cachedContentTokenCount": read, "candidatesTokenCount": written}
            yield {"candidates": [{"finishReason": self.finishes[finish]}], "usageMetadata": usage}

    def _parts(self, *parts):
        return {"candidates": [{"content": {"role": "model", "parts": list(parts)}}]}


DIALECTS = (Chat(), Claude(), Responses(), Gemini())


def bodies(dialect, *steps, **more):
    """The reply as events of a stream."""
    return [event(value) for value in dialect.reply(*steps, **more)]
