"""Square-bracket tags around text that the engine, not the person, composed.

A marker block is the whole text of its message. The older angle-bracket forms are still read and never written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

NO_OUTPUT = "[no output]"
DENIED = "Tool call denied by "
"""How the output of a denied call begins; who denied it follows."""
INTERRUPTED = "[interrupted: tool aborted by user]"
NOT_A_SUMMARY = "[tool error] the compaction request expects a summary, not tool calls"
GO_ON = "Go on."
INTERRUPTED_BY_EXIT = "[interrupted: process exited before the tool finished]"

_CARRIED = ("turn_aborted", "turn_retried")
_OWN_CLOSING = re.compile(r"\[/(turn_aborted|turn_retried|user_input|thinking|text|tool_call|tool_call_output)\]")
_INDENT = "  "


def block(tag: str, body: str) -> str:
    """`[tag]`, the body on lines of its own, `[/tag]`."""
    return f"[{tag}]\n{body}\n[/{tag}]"


def steering(text: str) -> str:
    """What a person said while a task was running."""
    return block("user_steering", text)


def context_summary(text: str) -> str:
    """What the summarised context comes to; the first input of the next one."""
    return block("context_summary", text)


def attached_image(path: str) -> str:
    """An image that the model cannot see, and where it is."""
    return f"[attached image: {path}]"


def attached_file(path: str, text: str) -> str:
    """A file or a selection of it, below the line that names it."""
    return f"[attached file: {path}]\n{text}"


def attached_resource(uri: str, server: str) -> str:
    """A resource of a server of tools, which a tool of that server reads."""
    return f"[attached resource: {uri} of the MCP server {server}]"


def output_limit(tools: Iterable[str]) -> str:
    """Tells the model that its calls of `tools` were cut at the output limit and not run."""
    names = ", ".join(tools)
    return block(
        "output_limit",
        f"Your reply reached the output limit inside a call of {names}. That call was not run."
        " Send it again in smaller parts.",
    )


def escape(body: str) -> str:
    """The body with every closing tag that a carried block gives a meaning to written `[\\/tag]`."""
    return _OWN_CLOSING.sub(r"[\\/\1]", body)


def item(tag: str, body: str, **attributes: str) -> str:
    """One item of a carried block: `[tag name="…"]body[/tag]`, its body escaped."""
    head = "".join(f' {name}="{value}"' for name, value in attributes.items())
    return f"[{tag}{head}]{escape(body)}[/{tag}]"


def carried(tag: str, items: Iterable[str]) -> str:
    """A `[turn_aborted]` or `[turn_retried]` block: each item begins a line, indented by two blanks."""
    return block(tag, "\n".join(_INDENT + one for one in items))


def carried_items(text: str) -> str | None:
    """The items of a carried block as one string, ready to be an item of another block; None for any other text."""
    for tag in _CARRIED:
        head, tail = f"[{tag}]\n{_INDENT}", f"\n[/{tag}]"
        if text.startswith(head) and text.endswith(tail):
            return text[len(head) : -len(tail)]
    return None


def read_summary(text: str) -> str:
    """The summary in a reply: the first pair that is not empty, else what is left without the tags, else the text."""
    found = bodies(text, "summary")
    if not found:
        return text.strip()
    return next((body for body in found if body), re.sub(r"[\[<]/?summary[\]>]", "", text).strip())


def is_block(text: str, tag: str) -> bool:
    """Whether the whole text is one block of `tag`, in today's form or the older one."""
    return (text.startswith(f"[{tag}]") and text.endswith(f"[/{tag}]")) or (
        text.startswith(f"<{tag}>") and text.endswith(f"</{tag}>")
    )


def bodies(text: str, tag: str) -> list[str]:
    """The bodies of every `tag` pair in the text, in order, without surrounding white space."""
    pattern = rf"\[{tag}\](.*?)\[/{tag}\]|<{tag}>(.*?)</{tag}>"
    return [(new or old or "").strip() for new, old in re.findall(pattern, text, re.DOTALL)]
