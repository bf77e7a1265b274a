"""The messages of a session as texts alone: how a model that cannot call tools is told of calls and their outputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic_core import from_json, to_json

from agent_lsp.loop.marks import Mark, reason_of
from agent_lsp.loop.options import FINAL_ANSWER
from agent_lsp.messages import markers
from agent_lsp.messages.content import Content, ImageUrl, Text, Thinking, ToolCall, ToolCallOutput

UNREADABLE = "unreadable_decision"
_CLOSING, _ESCAPED = "[/tool_result]", r"[\/tool_result]"
_OWN_CLOSING = re.compile(r"\[/(reply|unreadable_decision)\]")
_NOTE = re.compile(r"\[unreadable_decision\]\n\[reply\](.*)\[/reply\]\n(.*)\n\[/unreadable_decision\]", re.DOTALL)
_MOST_OF_A_REPLY_CHARS = 2000
_NOTHING = "(nothing)"

Names = dict[str, str]
"""The tools of calls by call id."""


def unreadable_note(reply: str, why: str) -> str:
    """What a model is told of a reply that could not be read; the reply itself comes first in it."""
    shown = _OWN_CLOSING.sub(r"[\\/\1]", reply[:_MOST_OF_A_REPLY_CHARS])
    asked = f'This was no decision: {why}. Answer with one JSON object that has a "tool" and an "input".'
    return markers.block(UNREADABLE, f"[reply]{shown}[/reply]\n{asked}")


class Renderer:
    """Renders whole commits and inputs. The same messages always give the same texts."""

    def __init__(self, max_output_chars: int) -> None:
        self._most = max_output_chars

    def render(self, messages: Sequence[Content], names: Names) -> tuple[Content, ...]:
        """The messages as texts. `names` holds the calls that came before, and takes in those of these messages."""
        rendered: list[Content] = []
        for reply, is_reply in _replies(messages):
            rendered += self._reply(reply, names) if is_reply else self._user(reply, names)
        return tuple(rendered)

    def _reply(self, messages: list[Content], names: Names) -> Iterator[Content]:
        """A reply: what it decided, with the prose before it. A text alone was a final answer."""
        calls = [one for one in messages if isinstance(one, ToolCall)]
        names.update({call.tool_call_id: call.name for call in calls})
        follows_text = False
        for one in messages:
            if isinstance(one, Text) and not calls:
                yield _said(_json({"tool": FINAL_ANSWER, "input": {"answer": one.text}}))
            elif isinstance(one, Text):
                yield _said(one.text)
            elif isinstance(one, ToolCall):
                yield _said(("\n" if follows_text else "") + _decision(one))
            else:
                yield one
            follows_text = follows_text or not isinstance(one, Thinking)

    def _user(self, messages: list[Content], names: Names) -> Iterator[Content]:
        for one in messages:
            if isinstance(one, ToolCallOutput):
                yield Text(role="user", text=self._result(one, names))
                yield from (ImageUrl(image_url=url) for url in one.images or ())
            elif isinstance(one, Text) and one.sender == "harness" and (note := _NOTE.fullmatch(one.text)):
                yield _said(note[1] if note[1].strip() else _NOTHING)
                yield Text(role="user", text=note[2])
            else:
                yield one

    def _result(self, output: ToolCallOutput, names: Names) -> str:
        mark = Mark.of(output)
        told = {"name": names.get(output.tool_call_id, "tool"), "ref": mark.ref, "status": status_of(output)}
        head = "".join(f' {key}="{value}"' for key, value in told.items() if value)
        body = output.output
        if len(body) > self._most:
            whole = f"; the whole is in $${mark.ref}" if mark.ref else ""
            body = f"{body[: self._most]}\n[cut: {self._most} of {len(body)} characters{whole}]"
        return f"[tool_result{head}]\n{body.replace(_CLOSING, _ESCAPED)}\n[/tool_result]"


def status_of(output: ToolCallOutput) -> str:
    """How a call ended, in the words of a result."""
    if output.stop_reason in (None, "completed"):
        return "ok"
    return "denied" if output.stop_reason == "aborted" and output.output.startswith(markers.DENIED) else "error"


def _replies(messages: Sequence[Content]) -> Iterator[tuple[list[Content], bool]]:
    """Messages of one side put together, and whether they are the model's."""
    run: list[Content] = []
    for one in messages:
        if run and run[0].role != one.role:
            yield run, run[0].role == "assistant"
            run = []
        run.append(one)
    if run:
        yield run, run[0].role == "assistant"


def _decision(call: ToolCall) -> str:
    try:
        input: Any = from_json(call.arguments) if call.arguments.strip() else {}
    except ValueError:
        input = call.arguments
    reason = reason_of(call)
    return _json({"tool": call.name, "input": input, **({"reason": reason} if reason else {})})


def _said(text: str) -> Text:
    return Text(role="assistant", text=text)


def _json(value: dict[str, Any]) -> str:
    return to_json(value).decode()
