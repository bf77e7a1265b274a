"""Walks the tree of a shell line in the order it would run, and collects its simple commands."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agent_lsp.policy import shell_text as text
from agent_lsp.policy.shell import Command, Script, Surroundings, Tree, descendants
from agent_lsp.policy.shell_output import output
from agent_lsp.policy.shell_text import MOST, UNKNOWN
from agent_lsp.policy.shell_words import DEEPEST, Scope, TooDeep, Words

if TYPE_CHECKING:
    from tree_sitter import Node

_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", "<>"))
_LONGEST = 100_000  # characters; a longer line is only read roughly
# What can set a variable in ways that are not followed here.
_SETTERS = frozenset((".", "source", "read", "eval", "mapfile", "readarray", "getopts", "printf"))


def read(line: str, surroundings: Surroundings) -> Script:
    """Every simple command in the line, in the order they stand: those in substitutions, functions and branches too."""
    if len(line) > _LONGEST:
        script = Script(broken=True)
    else:
        tree = Tree(line)
        walker = _Walker(tree, Scope.at_start(surroundings))
        script = walker.script
        script.broken = tree.root.has_error
        try:
            walker.walk(tree.root, 0)
        except TooDeep:
            script.broken = True
    if script.broken:
        _guess(line, Scope.at_start(surroundings), script)
    return script


def _guess(line: str, scope: Scope, script: Script) -> None:
    """Reads the line without a grammar: wherever a command could begin, one is taken to begin."""
    for piece in re.split(r"[;&|\n()`]+", line):
        plain = text.filled_in(re.sub(r"\\(?=\S)|['\"]", "", piece), scope.variables)
        script.written_to += re.findall(r">\|?\s*([^\s<>]+)", plain)
        words = tuple(text.fields(re.sub(r"\d*>\|?\s*\S+", " ", plain), scope.home, scope.variables))
        if words:
            script.commands.append(Command(words, scope.cwd))


class _Walker:
    def __init__(self, tree: Tree, scope: Scope) -> None:
        self.script = Script()
        self._tree = tree
        self._scope = scope
        self._words = Words(tree, scope, self._inside)

    def _inside(self, node: Node, depth: int) -> list[Command]:
        before = len(self.script.commands)
        self.walk(node, depth)
        return self.script.commands[before:]

    def walk(self, node: Node, depth: int, heard: str | None = None) -> None:
        if depth > DEEPEST:
            raise TooDeep
        match node.type:
            case "command":
                self._command(node, depth, heard)
            case "pipeline":
                self._pipeline(node, depth, heard)
            case "redirected_statement":
                self._redirected(node, depth, heard)
            case "subshell" | "command_substitution" | "process_substitution":
                kept = self._scope.cwd, dict(self._scope.variables)
                for child in node.named_children:
                    self.walk(child, depth + 1, heard)
                self._scope.cwd, self._scope.variables = kept
            case "function_definition":
                self._function(node, depth)
            case "for_statement":
                self._loop(node, depth)
            case "variable_assignment":
                self._assign(node, depth)
            case "file_redirect":
                self._file_redirect(node, depth)
            case _:
                for child in node.named_children:
                    self.walk(child, depth + 1, heard)

    def _command(self, node: Node, depth: int, heard: str | None) -> None:
        names: list[tuple[str, ...]] = [()]
        words: list[str] = []
        for child in node.named_children:
            if child.type == "command_name":
                spellings = self._words.spellings(child.named_children[0] if child.named_children else child, depth)
                names = [self._words.fields(spelling) for spelling in spellings]
            elif child.type == "variable_assignment":
                self._assign(child, depth)
            elif child.type == "herestring_redirect":
                heard = next((text.shown(one) for one in self._words.spellings(child.named_children[0], depth)), None)
            elif child.type == "file_redirect":
                self._file_redirect(child, depth)
            elif child.type == "subshell":
                self.walk(child, depth + 1)
            else:
                words += self._words.read(child, depth)
        for name in names:
            self._run((*name, *words), heard)

    def _run(self, words: tuple[str, ...], heard: str | None) -> None:
        if not words:
            return
        self.script.commands.append(Command(words, self._scope.cwd, heard))
        if words[0] in ("cd", "pushd"):
            operands = [UNKNOWN if word == "-" else word for word in words[1:] if word == "-" or word[:1] != "-"]
            self._cd(operands[0] if operands else self._scope.home)
        elif words[0] in _SETTERS:
            self._scope.all_known = False

    def _cd(self, target: str) -> None:
        if UNKNOWN in target or (self._scope.cwd is None and not target.startswith("/")):
            self._scope.cwd = None
        else:
            self._scope.cwd = posixpath.normpath(posixpath.join(self._scope.cwd or "/", target))
        self._scope.variables["PWD"] = (self._scope.cwd or UNKNOWN,)

    def _pipeline(self, node: Node, depth: int, heard: str | None) -> None:
        for child in node.named_children:
            before = len(self.script.commands)
            self.walk(child, depth + 1, heard)
            ran = self.script.commands[before:]
            heard = output(ran[-1]) if ran else None

    def _redirected(self, node: Node, depth: int, heard: str | None) -> None:
        body = node.child_by_field_name("body")
        after: list[Node] = []
        for redirect in node.children_by_field_name("redirect"):
            if redirect.type == "heredoc_redirect":
                for child in redirect.named_children:
                    if child.type == "heredoc_body":
                        heard = self._heredoc(child, depth)
                    elif child.type not in ("heredoc_start", "heredoc_end"):
                        after.append(child)
            elif redirect.type == "herestring_redirect":
                heard = next(
                    (text.shown(one) for one in self._words.spellings(redirect.named_children[0], depth)), None
                )
            else:
                self.walk(redirect, depth + 1)
        before = len(self.script.commands)
        if body:
            self.walk(body, depth + 1, heard)
        ran = self.script.commands[before:]
        for child in after:  # `cmd <<EOF | next`: the rest of the line hangs below the redirect
            self.walk(child, depth + 1, output(ran[-1]) if ran else None)

    def _heredoc(self, node: Node, depth: int) -> str:
        for child in node.named_children:
            self.walk(child, depth + 1)
        return text.filled_in(self._tree.text(node), self._scope.variables)

    def _file_redirect(self, node: Node, depth: int) -> None:
        operators = {child.type for child in node.children if not child.is_named}
        for target in node.children_by_field_name("destination"):
            words = self._words.read(target, depth)
            if operators & _WRITING:
                self.script.written_to += words

    def _function(self, node: Node, depth: int) -> None:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name is None or body is None:
            return
        own = self._tree.text(name)
        calls = [one for one in descendants(body, "command_name") if self._tree.text(one) == own]
        piped = any(self._tree.text(one) in ("|", "|&", "&") for one in descendants(body, "|", "|&", "&"))
        if piped and calls:
            self.script.bombs.append(own)
        kept = self._scope.cwd, dict(self._scope.variables)
        self.walk(body, depth + 1)
        self._scope.cwd, self._scope.variables = kept

    def _loop(self, node: Node, depth: int) -> None:
        variable = node.child_by_field_name("variable")
        values = [word for one in node.children_by_field_name("value") for word in self._words.read(one, depth)]
        if variable is not None:
            self._scope.variables[self._tree.text(variable)] = tuple(values[:MOST]) or (UNKNOWN,)
        body = node.child_by_field_name("body")
        for child in [body] if body else []:
            self.walk(child, depth + 1)

    def _assign(self, node: Node, depth: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None:
            return
        values = [""] if value is None else self._words.spellings(value, depth)
        values = [text.shown(text.tilde(one, self._scope.home, self._scope.variables)) for one in values]
        known = self._tree.text(name).split("[", 1)[0]
        if "+=" in self._tree.text(node)[: len(self._tree.text(name)) + 2]:
            values = [text.bounded(old + new) for old in self._scope.lookup(known) or ("",) for new in values][:MOST]
        self._scope.variables[known] = tuple(values)
