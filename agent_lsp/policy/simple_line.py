"""The words of a line that is one simple command, and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from agent_lsp.policy import shell_text

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_lsp.policy.shell import Tree

_BARE: Final = re.compile(r"[ \t]*[A-Za-z0-9_\-./:@%+,][A-Za-z0-9_\-./:=@%+, \t]*\Z", re.ASCII)
_LONGEST: Final = 10_000
_RESERVED: Final = frozenset(
    (
        *("if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "select", "in"),
        *(
            "function",
            "time",
            "coproc",
            "declare",
            "typeset",
            "export",
            "readonly",
            "local",
            "unset",
            "unsetenv",
            "test",
        ),
    )
)
_EXPANDING: Final = re.compile(r"[~*?\[\]{}$`]")


def simple_words(line: str) -> tuple[str, ...] | None:
    """The words with their quoting undone; None if anything is expanded, substituted, assigned, redirected or joined.

    What the grammar cannot read is not a simple command either.
    """
    if _BARE.match(line):
        words = tuple(line.split())
        return None if words[0] in _RESERVED or "=" in words[0] else words
    if len(line) > _LONGEST or re.search(r"[\x00-\x08\x0b-\x1f\x7f]", line):
        return None
    from agent_lsp.policy.shell import Tree

    tree = Tree(line)
    if tree.root.has_error or len(tree.root.children) != 1 or tree.root.children[0].type != "command":
        return None
    words = [_literal(tree, child) for child in tree.root.children[0].children]
    found = tuple(word for word in words if word is not None)
    return found if found and len(found) == len(words) and found[0] and found[0] not in _RESERVED else None


def _literal(tree: Tree, node: Node) -> str | None:
    """The node as plain text, None if it is anything more."""
    raw = tree.text(node)
    match node.type:
        case "command_name":
            return _literal(tree, node.children[0]) if len(node.children) == 1 else None
        case "concatenation":
            parts = [_literal(tree, child) for child in node.children]
            whole = "".join(part for part in parts if part is not None)
            touching = "".join(map(tree.text, node.children)) == raw
            return whole if touching and None not in parts else None
        case "raw_string":
            return raw[1:-1]
        case "string":
            plain = all(child.type in ("string_content", '"') for child in node.children)
            return shell_text.shown(shell_text.in_double_quotes(raw[1:-1])) if plain else None
        case "word" | "number":
            expands = _EXPANDING.search(re.sub(r"\\.", "", raw, flags=re.DOTALL))
            return None if expands else shell_text.shown(shell_text.unescaped(raw))
        case _:
            return None
