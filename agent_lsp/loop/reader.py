"""Reads what a model wrote as its decision, tolerantly: a JSON object in several spellings, or plain prose."""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from typing import TYPE_CHECKING, Any, cast

from pydantic_core import from_json, to_json

from agent_lsp.loop.options import FINAL_ANSWER
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.events import ToolSpec

_TOOL = ("tool", "toolname")
_INPUT = ("input", "prompt", "args", "arguments", "parameters", "toolinput")
_REASON = ("reason", "thought")
SECTIONS = ("tool", "tool name", "input", "prompt", "args", "reason")
"""Heads of the Markdown form of a decision."""

_FENCED = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_HEAD = re.compile(
    r"[ \t]*(?:#{1,6}[ \t]*|\*{2}|__)?(tool[ _]name|tool|input|prompt|args|reason)[ \t]*"
    r"(?:(?::?(?:\*{2}|__)|:)[ \t]*:?[ \t]*(.*)|)",
    re.IGNORECASE,
)
_NAME = re.compile(r"`?([\w.-]+)`?")
_OBJECTS = JSONDecoder()


@frozen
class Planned:
    """A call that was decided on; `preface` is prose that came before it."""

    tool: str
    input: dict[str, Any] | str
    reason: str | None = None
    preface: str = ""


@frozen
class Answer:
    """The answer that ends the prompt."""

    text: str


@frozen
class Unreadable:
    """No decision, and why not."""

    why: str


Read = Planned | Answer | Unreadable


def read(text: str) -> Read:
    """What the whole reply decides."""
    stripped = text.strip()
    if not stripped:
        return Unreadable("it is empty")
    body = unfenced(stripped)
    try:
        value = from_json(body)
    except ValueError as error:
        return _read_loosely(stripped, body, str(error))
    return _decision(value)


def unfenced(text: str) -> str:
    """The inside of a code fence that begins the text; any other text as it is."""
    found = _FENCED.match(text)
    return found[1].strip() if found else text


def arguments(planned: Planned, spec: ToolSpec | None) -> str:
    """The input as the arguments of a call: a text is read as JSON, else it is the tool's one required string."""
    if not isinstance(planned.input, str):
        return to_json(planned.input).decode()
    try:
        value = from_json(planned.input)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return planned.input
    return to_json({single_string(spec) or "input": planned.input}).decode()


def single_string(spec: ToolSpec | None) -> str | None:
    """The name of the one required field of a tool, if that is a string."""
    schema = spec.parameters if spec else {}
    required = cast("list[str]", schema.get("required") or [])
    fields = cast("dict[str, dict[str, Any]]", schema.get("properties") or {})
    only = required[0] if len(required) == 1 else None
    return only if only and fields.get(only, {}).get("type") == "string" else None


def partial_answer(body: str) -> str | None:
    """As much of the final answer as an unfinished decision holds; None as long as it may be something else."""
    try:
        value: Any = from_json(body, allow_partial="trailing-strings")
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    given = cast("dict[str, Any]", value)
    keys = [_plain(key) for key in given]
    place = next((at for at, key in enumerate(keys) if key in _TOOL), None)
    if place is None or place == len(keys) - 1 or list(given.values())[place] != FINAL_ANSWER:
        return None  # the last value may still be growing
    input = _first(given, _INPUT)
    answer = _first(cast("dict[str, Any]", input), ("answer",)) if isinstance(input, dict) else input
    return answer if isinstance(answer, str) and not answer.lstrip().startswith("{") else None


def _decision(value: Any) -> Read:
    if not isinstance(value, dict):
        kind = "an array" if isinstance(value, list) else "a single value"
        return Unreadable(f"it is {kind}, not an object")
    given = cast("dict[str, Any]", value)
    tool, input = _first(given, _TOOL), _first(given, _INPUT)
    if tool is None:
        tool = _first(given, ("name",)) if input is not None else None
    if tool is None and isinstance(_first(given, ("answer", FINAL_ANSWER.replace("_", ""))), str):
        tool, input = FINAL_ANSWER, _first(given, ("answer", FINAL_ANSWER.replace("_", "")))
    if not isinstance(tool, str) or not tool.strip():
        return Unreadable('it has no "tool" that names one')
    if input is not None and not isinstance(input, dict | str):
        return Unreadable('its "input" is neither an object nor a text')
    reason = _first(given, _REASON)
    return _checked(
        tool.strip(), cast("dict[str, Any] | str", input or {}), reason if isinstance(reason, str) else None
    )


def _checked(tool: str, input: dict[str, Any] | str, reason: str | None, preface: str = "") -> Read:
    if tool.lower() != FINAL_ANSWER:
        return Planned(tool, input, reason, preface)
    answer = _answer_in(input)
    if answer is None or not answer.strip():
        return Unreadable(f"the {FINAL_ANSWER} holds no answer")
    return Answer(preface + answer)


def _answer_in(input: Any) -> str | None:
    """The answer in the input of a final answer: itself, its field of that name, or its only field."""
    if isinstance(input, str):
        try:
            inner = from_json(input)
        except ValueError:
            return input
        return (_answer_in(inner) if isinstance(inner, dict) else None) or input
    if not isinstance(input, dict):
        return None
    fields = cast("dict[str, Any]", input)
    found = _first(fields, ("answer",))
    if found is None and len(fields) == 1:
        found = next(iter(fields.values()))
    if found is None or isinstance(found, str):
        return found
    return to_json(found).decode()


def _read_loosely(stripped: str, body: str, why: str) -> Read:
    if body.startswith("{"):
        try:
            value, _ = _OBJECTS.raw_decode(body)
        except (JSONDecodeError, RecursionError):
            return Unreadable(f"it is not valid JSON: {why}")
        return _decision(value)
    if sections := _sections(stripped):
        return sections
    for found in _FENCED.finditer(stripped):
        try:
            decided = _decision(from_json(found[1].strip()))
        except ValueError:
            continue
        preface = stripped[: found.start()].rstrip()
        if isinstance(decided, Planned):
            return Planned(decided.tool, decided.input, decided.reason, preface)
        if isinstance(decided, Answer):
            return Answer(f"{preface}\n\n{decided.text}")
    return Answer(stripped)


def _sections(text: str) -> Read | None:
    """A decision in Markdown: a head for each part, its value behind or below it."""
    parts: dict[str, list[str]] = {}
    present: list[str] | None = None
    for line in text.splitlines():
        found = _HEAD.fullmatch(line)
        name = _plain(found[1]) if found else ""
        if found and name not in parts:
            present = parts.setdefault(name, [])
            present.append(found[2] or "")
        elif present is None:
            return None
        else:
            present.append(line)
    values = {name: "\n".join(lines).strip() for name, lines in parts.items()}
    named = _NAME.fullmatch(_first(values, _TOOL) or "")
    if named is None:
        return None
    return _checked(named[1], unfenced(_first(values, _INPUT) or "") or {}, _first(values, _REASON))


def _first(given: dict[str, Any], names: tuple[str, ...]) -> Any:
    """The value of the first key that, spelled in whatever way, is one of the names; the order of the names counts."""
    spelled = {_plain(key): value for key, value in reversed(given.items())}
    return next((spelled[name] for name in names if spelled.get(name) is not None), None)


def _plain(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())
