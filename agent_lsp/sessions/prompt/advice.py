"""What is worth knowing of the tools beyond their descriptions, told of those that are there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.sessions.prompt.facts import Facts

_ADVICE: tuple[tuple[frozenset[str], str], ...] = (
    (
        frozenset({"read_file", "edit_file"}),
        "Read a file before you edit it. Keep its style, line ends and indentation.",
    ),
    (frozenset({"search_text"}), "Find things with search_text and list_files rather than with commands."),
    (frozenset({"edit_file", "apply_patch"}), "edit_file for one place, apply_patch for several or for several files."),
    (frozenset({"exec_command"}), "Start what does not end by itself (a server, a watcher) in the background."),
    (
        frozenset({"run_subagent"}),
        "Give a subagent what can be done apart, such as a long search, and all it must know: it sees nothing of this"
        " conversation. What need not wait for each other can be called in one reply.",
    ),
)


def part(facts: Facts) -> str:
    """A line for each piece of advice whose tools are all there."""
    there = frozenset(facts.tools)
    lines = [f"- {text}" for names, text in _ADVICE if names <= there]
    return "# Tools\n\n" + "\n".join(lines) if lines else ""
