"""Tool calls as a client is shown them: each is announced once, and ends once.

ToolCall ──▶ pending ── allowed ──▶ in_progress ── output … ──▶ completed | failed
                ╰──── denied, interrupted, not run ───────────────────────▶ failed
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from agent_lsp.acp.diffs import diff, diffs_of
from agent_lsp.policy.access import CommandPreview, EditPreview, Preview, Proposals
from agent_lsp.tools.arguments import parse
from agent_lsp.tools.todo_write import TodoWriteArgs

if TYPE_CHECKING:
    from agent_lsp.messages.content import PartialToolCallOutput, ToolCall, ToolCallOutput

Tell = Callable[[dict[str, Any]], None]
Origin = Sequence[str] | None

KINDS: Final[dict[str, str]] = {
    "read_file": "read",
    "read_image": "read",
    "describe_image": "read",
    "diagnostics": "read",
    "list_files": "search",
    "search_text": "search",
    "edit_file": "edit",
    "write_file": "edit",
    "apply_patch": "edit",
    "exec_command": "execute",
    "input_command": "execute",
    "kill_command": "execute",
    "web_fetch": "fetch",
    "todo_write": "think",
    "exit_plan": "switch_mode",
}
"""What a client may choose an icon by; all other tools are `other`."""

_PLAN_STATUS = {"pending": "pending", "in_progress": "in_progress", "done": "completed"}
_DATA_URL = re.compile(r"data:([^;,]+)(?:;[^;,]*)*;base64,(.*)", re.DOTALL)
_GROWN = 10  # a running output is told again when it is longer by one part in so many: that stays linear


def call_id(call: str, origin: Origin) -> str:
    """How a call is named to the client: those of a child session are told apart from the session's own."""
    return "/".join((*(origin or ()), call))


class Calls:
    """The calls of one session. `proposals` tells what a call would touch; `root` is where relative paths begin."""

    def __init__(self, tell: Tell, proposals: Proposals, root: Path) -> None:
        self._tell, self._proposals, self._root = tell, proposals, root
        self._open: dict[str, tuple[ToolCall, str | None]] = {}
        self._output: dict[str, tuple[list[str], int]] = {}

    def announce(self, call: ToolCall, origin: Origin, run_id: str | None) -> None:
        """A call has come. One that was cut off is not run, so that it has ended already."""
        id = call_id(call.tool_call_id, origin)
        if id in self._open:
            return
        self._open[id] = (call, run_id)
        self._tell({"sessionUpdate": "tool_call", "status": "pending", **described(call, id, self._proposals)})
        if call.stop_reason not in (None, "completed"):
            self._close(id, "failed", [])

    def allowed(self, call: str, origin: Origin) -> None:
        """The call is going to run."""
        if (id := call_id(call, origin)) in self._open:
            self._tell({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "in_progress"})

    def streamed(self, output: PartialToolCallOutput, origin: Origin) -> None:
        """A piece of output has come. The client is told the whole each time, so not for every piece."""
        id = call_id(output.tool_call_id, origin)
        if id not in self._open or not output.output:
            return
        pieces, told = self._output.get(id, ([], 0))
        pieces.append(output.output)
        size = sum(map(len, pieces))
        if size - told > told // _GROWN:
            pieces, told = ["".join(pieces)], size
            self._tell({"sessionUpdate": "tool_call_update", "toolCallId": id, "content": [text_content(pieces[0])]})
        self._output[id] = (pieces, told)

    def ended(self, output: ToolCallOutput, origin: Origin) -> None:
        """The call has its output."""
        id = call_id(output.tool_call_id, origin)
        if id not in self._open:
            return
        call, _ = self._open[id]
        is_good = output.stop_reason in (None, "completed")
        content = self._edits(call, output.output) if is_good else None
        content = content or ([text_content(output.output)] if output.output else [])
        content += [one for url in output.images or () if (one := image_content(url))]
        self._close(id, "completed" if is_good else "failed", content)
        if is_good and call.name == "todo_write" and origin is None and (plan := plan_of(call)):
            self._tell(plan)

    def end(self, run_id: str | None) -> None:
        """The run is over: a call of it that nobody has ended will not be ended any more."""
        for id in [id for id, (_, run) in self._open.items() if run == run_id]:
            self._close(id, "failed", [])

    def _edits(self, call: ToolCall, output: str) -> list[dict[str, Any]] | None:
        """What was edited, if that can be told."""
        if KINDS.get(call.name) != "edit":
            return None
        found, around = diffs_of(output, self._root)
        if not found and call.name == "write_file" and output.startswith("Created "):
            given = raw_input(call)
            if isinstance(given, dict) and (places := locations(call, self._proposals)):
                fields = cast("dict[str, Any]", given)
                return [diff(Path(places[0]["path"]), None, str(fields.get("content", "")))]
        return [*found, *([text_content(around)] if around else [])] if found else None

    def _close(self, id: str, status: str, content: list[dict[str, Any]]) -> None:
        del self._open[id]
        self._output.pop(id, None)
        update = {"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}
        self._tell({**update, "content": content} if content else update)


def described(call: ToolCall, id: str, proposals: Proposals) -> dict[str, Any]:
    """What a call is, for a person."""
    try:
        title = proposals.title(call)
    except ValueError:  # it does not fit its tool, and will be answered with what is wrong
        title = call.name
    return {
        "toolCallId": id,
        "title": title,
        "kind": KINDS.get(call.name, "other"),
        "locations": locations(call, proposals),
        "rawInput": raw_input(call),
    }


def locations(call: ToolCall, proposals: Proposals) -> list[dict[str, Any]]:
    """Where a call reads or writes; lines count from 1."""
    try:
        access = proposals.access(call)
    except ValueError:
        return []
    given = raw_input(call)
    line = cast("dict[str, Any]", given).get("offset") if isinstance(given, dict) else None
    at = {"line": line} if type(line) is int and line > 0 and call.name == "read_file" else {}
    return [{"path": str(path), **at} for path in access.paths if path.is_absolute()]


def raw_input(call: ToolCall) -> Any:
    """The arguments, as an object where they are one."""
    try:
        return json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return call.arguments


def previewed(preview: Preview, root: Path) -> list[dict[str, Any]]:
    """What a call would do, as content."""
    match preview:
        case EditPreview():
            found, around = diffs_of(preview.diff, root)
            if found:
                return [*found, *([text_content(around)] if around else [])]
            return [text_content(preview.diff)] if preview.diff else []
        case CommandPreview():
            return [text_content(f"```sh\n{preview.command}\n```\nin {preview.cwd}")]
        case _:
            return [text_content(preview.text)]


def plan_of(call: ToolCall) -> dict[str, Any] | None:
    """The plan in a call of `todo_write`; the protocol wants a priority, of which the plan knows nothing."""
    args = parse(TodoWriteArgs, call.arguments)
    if not isinstance(args, TodoWriteArgs):
        return None
    return {
        "sessionUpdate": "plan",
        "entries": [
            {"content": item.text, "priority": "medium", "status": _PLAN_STATUS[item.status]} for item in args.items
        ],
    }


def text_content(text: str) -> dict[str, Any]:
    """Text in a call."""
    return {"type": "content", "content": {"type": "text", "text": text}}


def image_content(url: str) -> dict[str, Any] | None:
    """An image in a call; one that is elsewhere, or is none, is left out."""
    block = image_block(url)
    return {"type": "content", "content": block} if block else None


def image_block(url: str) -> dict[str, Any] | None:
    """The image of a data URL as a block."""
    match = _DATA_URL.fullmatch(url)
    if match is None:
        return None
    try:
        base64.b64decode(match[2], validate=True)
    except ValueError:  # of binascii, and for what is not even ASCII
        return None
    return {"type": "image", "mimeType": match[1], "data": match[2]}
