"""The rules of the rehearsal: what it says and calls next, as a function of the request alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from agent_lsp.messages.content import Content, Text, ToolCall, ToolCallOutput
from agent_lsp.providers.failure import one_line
from agent_lsp.providers.mending import SEARCH, TODO, mend, most_promising
from agent_lsp.providers.shape import as_dict
from agent_lsp.slotted import field, frozen, mutable

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Request
    from agent_lsp.messages.events import ToolSpec

INTRODUCTION = (
    "I am the rehearsal built into agent-lsp, not a language model: to talk to a real one, set a key such as"
    " ANTHROPIC_API_KEY in the environment or default_model in the configuration."
)

_MOST_READ_CHARS = 10_000  # of a prompt: its rules take a second for some megabytes
_WANTS_CHANGE = re.compile(
    r"\b(fix|mend|repair|edit|change|correct|improve|clean|todo|typos?|bugs?|implement|finish)\b", re.I
)
_WANTS_LOOK = re.compile(r"\b(look|list|show|read|explain|find|search|what|where|files?|project|summari[sz]e)\b", re.I)
_WANTS_FILE = re.compile(r"\b(?:create|write|add|make)\b[^\n]*?([\w./-]*\w\.\w+)", re.I)
_COMMAND = re.compile(r"\brun\b[^`\n]*`([^`\n]+)`", re.I)
_RUN = re.compile(r"\brun\s+(ls|pwd|date|git status|git diff|git log)\b", re.I)
_FILE = re.compile(r"(?<![\w/.-])((?:\.{0,2}/)?[\w-][\w./-]*\.[A-Za-z]\w*)")
_TITLE_WORDS = 6


@frozen
class Call:
    """A call to make."""

    name: str
    arguments: dict[str, Any]

    def raw(self) -> str:
        """The arguments as a model would write them."""
        return json.dumps(self.arguments, ensure_ascii=False)


@frozen
class Reply:
    """What to answer."""

    text: str = ""
    thinking: str = ""
    calls: tuple[Call, ...] = ()


Step = tuple[ToolCall, ToolCallOutput | None]


@mutable
class Task:
    """What a person asked for last, and what was done about it since."""

    prompt: str = ""
    steps: list[Step] = field(default_factory=list[Step])

    def output(self, name: str) -> str | None:
        """The output of the first call of a tool, None if it was not called."""
        return next((output.output if output else "" for call, output in self.steps if call.name == name), None)


def reply_to(request: Request) -> Reply:
    """The reply to a request."""
    said = [message for commit in request.history for message in commit.messages] + list(request.input)
    last = next((one.text for one in reversed(said) if isinstance(one, Text) and one.role == "user"), "")
    if "[summary]" in last:
        return Reply(_summary(said))
    if not request.tools and not request.system:
        return Reply(_title(last))
    task = _task(said)
    calls = tuple(_next_calls(task, _Toolbox(request.tools)))
    is_new = not any(isinstance(one, Text) and one.text.startswith(INTRODUCTION) for one in said)
    opening = f"{INTRODUCTION} " if is_new else ""
    if calls:
        doing = " and ".join(_doing(call) for call in calls)
        thinking = f"The request is {_quoted(task.prompt)}. By my rules the next step is to {doing}."
        return Reply(f"{opening}Now I {doing}.", thinking, calls)
    if task.steps:
        return Reply(f"{opening}{_account(task)}", "Nothing more to do by my rules: I tell what happened.")
    return Reply(
        f"{opening}You wrote {_quoted(task.prompt)}. Ask me to look at the project, to fix something in it,"
        " to create a file, or to run a command in backquotes, and I go through the motions with the real tools."
    )


# --- what was asked and done ------------------------------------------------------------------------------------------


def _task(said: Sequence[Content]) -> Task:
    outputs = {one.tool_call_id: one for one in said if isinstance(one, ToolCallOutput)}
    task, texts = Task(), list[str]()
    for one in said:
        if _is_prompt(one):
            if task.steps or not texts:
                task, texts = Task(), []
            texts.append(one.text if isinstance(one, Text) else "")
            task.prompt = "\n".join(texts)[:_MOST_READ_CHARS]
        elif isinstance(one, ToolCall):
            task.steps.append((one, outputs.get(one.tool_call_id)))
        elif isinstance(one, Text) and one.role == "assistant" and not task.steps:
            texts = []  # what is said after an answer is a new request
    return task


def _is_prompt(message: Content) -> bool:
    """Whether the person wrote it; what the engine composed stands in square brackets."""
    if not isinstance(message, Text) or message.role != "user":
        return False
    return message.sender in (None, "user", "parent_agent") and not message.text.startswith("[")


# --- what to do next --------------------------------------------------------------------------------------------------


class _Toolbox:
    """The tools that the request offers; a call names only parameters that its tool has."""

    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        self._known = {tool.name: tool.parameters.get("properties", {}) for tool in tools}

    def call(self, name: str, **arguments: Any) -> Iterator[Call]:
        """The call, if there is such a tool."""
        known = self._known.get(name)
        if known is not None:
            yield Call(name, {key: value for key, value in arguments.items() if key in known})


def _next_calls(task: Task, tools: _Toolbox) -> Iterator[Call]:
    """The first step that has not been taken; each is taken once, whatever came of it."""
    taken = {call.name for call, _ in task.steps}
    for steps in (_change, _look, _create, _run):
        if new := [call for call in steps(task, tools) if call.name not in taken]:
            yield from new
            return


def _change(task: Task, tools: _Toolbox) -> Iterator[Call]:
    if not _WANTS_CHANGE.search(task.prompt):
        return
    page = task.output("read_file")
    if page is not None:
        edit = mend(page)
        path = next(_arguments(call).get("file_path", "") for call, _ in task.steps if call.name == "read_file")
        if edit:
            yield from tools.call("edit_file", file_path=path, old_string=edit[0], new_string=edit[1])
        return
    hits = task.output("search_text")
    if named := _FILE.search(task.prompt):
        yield from tools.call("read_file", file_path=named[1])
    elif hits is None:
        yield from tools.call("list_files")
        yield from tools.call("search_text", pattern=SEARCH)
    elif path := most_promising(hits):
        yield from tools.call("read_file", file_path=path)


def _look(task: Task, tools: _Toolbox) -> Iterator[Call]:
    if _WANTS_CHANGE.search(task.prompt) or _WANTS_FILE.search(task.prompt) or not _WANTS_LOOK.search(task.prompt):
        return
    if named := _FILE.search(task.prompt):
        yield from tools.call("read_file", file_path=named[1])
    else:
        yield from tools.call("list_files")


def _create(task: Task, tools: _Toolbox) -> Iterator[Call]:
    wanted = _WANTS_FILE.search(task.prompt)
    if wanted and not _WANTS_CHANGE.search(task.prompt):
        mark = "" if wanted[1].endswith((".txt", ".md")) else "# "
        yield from tools.call(
            "write_file", file_path=wanted[1], content=f"{mark}Written by the rehearsal of agent-lsp.\n"
        )


def _run(task: Task, tools: _Toolbox) -> Iterator[Call]:
    if wanted := _COMMAND.search(task.prompt) or _RUN.search(task.prompt):
        yield from tools.call("exec_command", cmd=wanted[1], description="asked for in the prompt")


def _arguments(call: ToolCall) -> dict[str, Any]:
    """The arguments of an earlier call; what is no object has none."""
    try:
        return as_dict(json.loads(call.arguments))
    except ValueError:
        return {}


# --- what to say ------------------------------------------------------------------------------------------------------

_DOING = {
    "list_files": "list the files",
    "search_text": "search for misspellings and things left to do",
    "read_file": "read {file_path}",
    "edit_file": "edit {file_path}",
    "write_file": "write {file_path}",
    "exec_command": "run `{cmd}`",
}


def _doing(call: Call | ToolCall) -> str:
    given = call.arguments if isinstance(call, Call) else _arguments(call)
    template = _DOING.get(call.name, f"call {call.name}")
    return re.sub(r"\{(\w+)\}", lambda name: str(given.get(name[1], "")), template)


def _account(task: Task) -> str:
    """What happened, step by step, denials and failures too."""
    lines = [f"- {_doing(call)}: {_outcome(output)}" for call, output in task.steps]
    left = [found[2] for found in TODO.finditer(task.output("read_file") or "") if found[2]]
    more = (
        [f"Left to do, and beyond my rules: {left[0].strip()}."]
        if left and task.output("edit_file") is not None
        else []
    )
    return "\n".join(["This is what I did:", *lines, *more])


def _outcome(output: ToolCallOutput | None) -> str:
    if output is None:
        return "no output"
    if output.output.startswith("Tool call denied"):
        return "denied, so nothing was done"
    if output.stop_reason not in (None, "completed"):
        return f"{output.stop_reason} ({_first_line(output.output)})"
    return "done"


def _summary(said: Iterable[Content]) -> str:
    asked, steps = list[str](), list[str]()
    for one in said:
        if _is_prompt(one) and isinstance(one, Text) and "[summary]" not in one.text:
            asked.append(f"- {_quoted(one.text)}")
        elif isinstance(one, ToolCall):
            steps.append(f"- {_doing(one)}")
    lines = ["Asked:", *(asked or ["- nothing"]), "Done:", *(steps or ["- nothing"])]
    return "[summary]\n" + "\n".join(lines) + "\n[/summary]"


def _title(text: str) -> str:
    lines = text.strip().splitlines() or [""]
    prompt = next((line.removeprefix("user: ") for line in lines if line.startswith("user: ")), lines[-1])
    words = re.findall(r"[\w'’.-]+", prompt)
    return " ".join(words[:_TITLE_WORDS]).strip(".") or "Rehearsal"


def _quoted(text: str) -> str:
    return f"“{_first_line(text)}”"


def _first_line(text: str) -> str:
    return one_line(text.strip().split("\n", 1)[0], ())
