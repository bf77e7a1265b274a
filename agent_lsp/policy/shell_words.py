"""What the words of a parsed line come to, as far as that can be told without running it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from agent_lsp.policy import shell_text as text
from agent_lsp.policy.shell_output import output
from agent_lsp.policy.shell_text import MOST, UNKNOWN
from agent_lsp.slotted import mutable

if TYPE_CHECKING:
    from tree_sitter import Node

    from agent_lsp.policy.shell import Command, Surroundings, Tree

DEEPEST: Final = 100
"""Levels of nesting that are followed."""


class TooDeep(Exception):
    """The line is nested deeper than anybody writes."""


@mutable
class Scope:
    """What holds at one point of a line. `all_known`: nothing so far could have set variables in a way not followed."""

    home: str
    cwd: str | None
    variables: dict[str, tuple[str, ...]]
    all_known: bool = True

    @classmethod
    def at_start(cls, surroundings: Surroundings) -> Scope:
        """What holds where the line begins."""
        own = {"HOME": surroundings.home, "PWD": surroundings.cwd or UNKNOWN, "IFS": " "}
        known = {**surroundings.variables, **own}
        return cls(surroundings.home, surroundings.cwd, {name: (value,) for name, value in known.items()})

    def lookup(self, name: str) -> tuple[str, ...]:
        """The values that a variable may have; none if it is not set, `UNKNOWN` if that cannot be told."""
        if name in self.variables:
            return self.variables[name]
        return () if name.isidentifier() and self.all_known else (UNKNOWN,)


class Words:
    """Reads words in a scope. `run_inside` walks a substitution and returns the commands in it."""

    def __init__(self, tree: Tree, scope: Scope, run_inside: Callable[[Node, int], list[Command]]) -> None:
        self._tree = tree
        self.scope = scope
        self._run_inside = run_inside

    def read(self, node: Node, depth: int) -> list[str]:
        """Every word that the node may become; where there are several readings, the words of all of them."""
        return [word for spelling in self.spellings(node, depth) for word in self.fields(spelling)]

    def fields(self, spelling: str) -> tuple[str, ...]:
        """The words that one spelling splits into."""
        return tuple(text.fields(spelling, self.scope.home, self.scope.variables))

    def spellings(self, node: Node, depth: int) -> list[str]:
        """What the word may come to, with what quoting protects still hidden."""
        if depth > DEEPEST:
            raise TooDeep
        match node.type:
            case "string" | "translated_string":
                return self._pieces(node, depth, quoted=True)
            case "concatenation":
                return self._pieces(node, depth, quoted=False)
            case "raw_string":
                return [text.hidden(self._tree.text(node)[1:-1])]
            case "ansi_c_string":
                return [text.hidden(text.ansi(self._tree.text(node)[2:-1]))]
            case "simple_expansion":
                return list(self.scope.lookup(self._tree.text(node)[1:])) or [""]
            case "expansion":
                return self._expansion(node, depth)
            case "command_substitution":
                return [self._substitution(node, depth)]
            case "process_substitution":
                return [text.hidden(self._substitution(node, depth))]
            case "array":
                return [one for each in node.named_children for one in self.spellings(each, depth + 1)][:MOST]
            case "arithmetic_expansion":
                return [UNKNOWN]
            case _:
                return [text.unescaped(self._tree.text(node))]

    def _pieces(self, node: Node, depth: int, *, quoted: bool) -> list[str]:
        """A word of several parts; the text between the parts belongs to it as well."""
        start, end = node.start_byte, node.end_byte
        if quoted:
            start, end = start + self._tree.text(node).index('"') + 1, end - 1
        literal = text.in_double_quotes if quoted else text.unescaped
        parts: list[list[str]] = []
        at = start
        for child in node.named_children:
            if child.start_byte < at:
                continue
            parts.append([literal(self._tree.between(at, child.start_byte))])
            if child.type == "string_content":
                parts.append([literal(self._tree.text(child))])
            else:
                found = self.spellings(child, depth + 1)
                parts.append([text.hidden(one) for one in found] if quoted else found)
            at = child.end_byte
        parts.append([literal(self._tree.between(at, end))])
        return text.combined(parts)

    def _expansion(self, node: Node, depth: int) -> list[str]:
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                self._substitution(child, depth)
        inside = self._tree.text(node)[2:-1]
        name = inside.split("[", 1)[0] if "[" in inside else inside
        found = re.match(r"\w+", name)
        values = self.scope.lookup(found[0]) if found else (UNKNOWN,)
        out = text.expansion(inside, values)
        return [text.filled_in(text.unescaped(one), self.scope.variables) for one in out][:MOST]

    def _substitution(self, node: Node, depth: int) -> str:
        ran = self._run_inside(node, depth + 1)
        made = output(ran[-1]) if ran else None
        if made is not None:
            return made.rstrip("\n")
        return ran[-1].cwd or UNKNOWN if ran and ran[-1].words[0] == "pwd" else UNKNOWN
