"""A shell line as the simple commands it would run: the shapes, and the grammar (tree-sitter, loaded on first use)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from agent_lsp.slotted import field, frozen, mutable

if TYPE_CHECKING:
    from tree_sitter import Node, Parser


@frozen
class Command:
    """A simple command as it would run: its words with quoting undone and what is known filled in.

    `cwd` is the folder it runs in (None: not known). `heard` is what it would read on its standard input, if that can
    be told.
    """

    words: tuple[str, ...]
    cwd: str | None
    heard: str | None = None


@mutable
class Script:
    """What a line comes to. `broken`: the grammar could not make sense of all of it."""

    commands: list[Command] = field(default_factory=list[Command])
    written_to: list[str] = field(default_factory=list[str])
    bombs: list[str] = field(default_factory=list[str])
    broken: bool = False


@frozen
class Surroundings:
    """What a line is read with: the home folder, the folder it starts in and the variables that are set."""

    home: str
    cwd: str | None
    variables: Mapping[str, str]


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))


# The grammar's scanner looks characters up in a table of the C library and reads past its end for wide ones: it gets
# a stand-in, byte for byte, that is as ordinary to a shell.
_SHOWN_TO_GRAMMAR: Final = bytes(code if 0 < code < 0x80 else ord(".") for code in range(256))


class Tree:
    """The syntax tree of a line, and the texts of its nodes."""

    def __init__(self, line: str) -> None:
        self._bytes = line.encode("utf-8", "replace")
        self.root = _parser().parse(self._bytes.translate(_SHOWN_TO_GRAMMAR)).root_node

    def text(self, node: Node) -> str:
        """What stands in the line where the node is."""
        return self.between(node.start_byte, node.end_byte)

    def between(self, start: int, end: int) -> str:
        """What stands between two byte offsets."""
        return self._bytes[start:end].decode("utf-8", "replace")


def descendants(node: Node, *kinds: str) -> list[Node]:
    """The nodes of these kinds at or below the node."""
    found: list[Node] = []
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in kinds:
            found.append(one)
        waiting += one.children
    return found
