"""What an editor without a plugin offers on a place in a file: each action is the command that runs a prompt there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, cast

from pydantic import Field

from agent_lsp.policy.visible import visible_line
from agent_lsp.server.methods import Params
from agent_lsp.server.plain_capabilities import ANY_KIND, QUICK_FIX, REFACTOR, REWRITE
from agent_lsp.server.shapes import Position, Range
from agent_lsp.slotted import frozen

END_OF_LINE = 2**31 - 1
"""A column that no line has: it means the line's end, and is the largest number that LSP knows."""
_MOST_PROBLEMS = 20
_PROBLEM_CHARS = 500
_SEVERITIES = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_FIX = "Fix what the checks have found in the attached lines:"


class DocumentId(Params):
    """A document, by its URI."""

    uri: str


class ActionContext(Params):
    """What the editor says of the place. Diagnostics come from other servers and are read without trust."""

    diagnostics: Annotated[list[Any], Field(default_factory=list[Any])]
    only: list[str] | None = None


class CodeActionParams(Params):
    """`textDocument/codeAction`."""

    text_document: DocumentId
    range: Range
    context: ActionContext


@frozen
class Offer:
    """One thing to do: `prompt` is run on `range` of the document. `fixes` are the diagnostics it is for."""

    title: str
    kind: str
    prompt: str
    range: Range
    fixes: Sequence[Any] = ()


_ON_A_SELECTION = (
    ("Explain", ANY_KIND, "Explain what the attached code does, and what is not obvious about it. Change nothing."),
    (
        "Add tests",
        REFACTOR,
        "Write tests for the attached code where this project keeps its tests and in their style, and run them.",
    ),
    (
        "Document",
        REWRITE,
        "Document the attached code in this project's style: what its readers cannot see from the code itself."
        " Change nothing but comments and documentation.",
    ),
)


def code_actions(params: CodeActionParams, prompts: Mapping[str, str], *, literals: bool) -> list[dict[str, Any]]:
    """The actions for a place, as LSP has them; bare commands for a client that takes no `literals`.

    `prompts` are those of the configuration, by title.
    """
    uri = params.text_document.uri
    if not uri.startswith("file:"):  # its text could not be attached
        return []
    offers = [one for one in _offers(params, prompts) if _is_wanted(one.kind, params.context.only)]
    return [_written(one, uri, literals) for one in offers]


def _offers(params: CodeActionParams, prompts: Mapping[str, str]) -> Iterator[Offer]:
    if fix := _fix(params.context.diagnostics):
        yield fix
    start, end = params.range.start, params.range.end
    if (start.line, start.character) < (end.line, end.character):
        for title, kind, prompt in _ON_A_SELECTION:
            yield Offer(f"{title} with agent", kind, prompt, params.range)
        for title, prompt in prompts.items():
            yield Offer(visible_line(title), ANY_KIND, prompt, params.range)


def _fix(diagnostics: Sequence[Any]) -> Offer | None:
    """The action for all problems at once, on the whole lines that they are in."""
    found = [(given, problem) for given in diagnostics if (problem := _problem(given))]
    if not found:
        return None
    listed = [problem.text for _, problem in found[:_MOST_PROBLEMS]]
    if more := len(found) - len(listed):
        listed.append(f"and {more} more")
    first = min(problem.first_line for _, problem in found)
    last = max(problem.last_line for _, problem in found)
    return Offer(
        "Fix with agent" if len(found) == 1 else f"Fix with agent ({len(found)} problems)",
        QUICK_FIX,
        "\n".join([_FIX, *(f"- {line}" for line in listed)]),
        Range(start=Position(line=first, character=0), end=Position(line=last, character=END_OF_LINE)),
        [given for given, _ in found],
    )


@frozen
class _Problem:
    first_line: int
    last_line: int
    text: str


def _problem(given: Any) -> _Problem | None:
    """A diagnostic as a line of text, None if it is none."""
    fields = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    message = fields.get("message")
    if isinstance(message, dict):  # newer editors know marked-up messages
        message = cast("dict[str, Any]", message).get("value")
    span = _lines(fields.get("range"))
    if span is None or not isinstance(message, str) or not message.strip():
        return None
    severity = fields.get("severity")
    label = _SEVERITIES.get(severity, "") if isinstance(severity, int) else ""
    about = [str(one) for one in (fields.get("source"), fields.get("code")) if isinstance(one, str | int)]
    text = " ".join([f"line {span[0] + 1}:", *([f"{label}:"] if label else ()), message])
    line = " ".join(f"{text} ({' '.join(about)})".split() if about else text.split())
    return _Problem(*span, visible_line(line, _PROBLEM_CHARS))


def _lines(span: Any) -> tuple[int, int] | None:
    """The first and the last line of a range, None if it is none."""
    ends = [cast("dict[str, Any]", span).get(name) for name in ("start", "end")] if isinstance(span, dict) else []
    lines = [cast("dict[str, Any]", one).get("line") for one in ends if isinstance(one, dict)]
    match lines:
        case [int(first), int(last)] if 0 <= first <= last <= END_OF_LINE:
            return first, last
        case _:
            return None


def _is_wanted(kind: str, only: Sequence[str] | None) -> bool:
    """Whether the kind is one of those asked for, or below one of them."""
    return only is None or any(not wanted or kind == wanted or kind.startswith(f"{wanted}.") for wanted in only)


def _written(offer: Offer, uri: str, literals: bool) -> dict[str, Any]:
    command = {
        "title": offer.title,
        "command": "agent.run",
        "arguments": [offer.prompt, {"uri": uri, "range": offer.range.model_dump()}],
    }
    if not literals:
        return command
    action: dict[str, Any] = {"title": offer.title, "kind": offer.kind, "command": command}
    return action | {"diagnostics": offer.fixes} if offer.fixes else action
