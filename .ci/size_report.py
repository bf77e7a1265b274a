"""Prints what is too big, and fails on anything that the list of accepted sizes does not cover.

The list (`oversize.txt`) may only get shorter: an entry that is no longer needed fails too, until it is removed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

LIMITS = {"module": 300, "function": 40, "parameters": 6}
"""Lines of a module and of a function (blanks and docstrings included), parameters of a function (without `self`)."""

HERE = Path(__file__).parent
ACCEPTED = HERE / "oversize.txt"
SOURCES = [Path("agent_lsp"), Path("editors/vscode/src"), Path("editors/nvim/lua")]
SUFFIXES = {".py", ".ts", ".lua"}
"""Of what is not Python only the length of a module is looked at; eslint measures the functions of TypeScript."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function below `node` with its dotted name."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield prefix + child.name, child
        named = isinstance(child, ast.ClassDef | Function)
        yield from functions(child, f"{prefix}{child.name}." if named else prefix)


def parameters(function: Function) -> int:
    """How many values a caller may pass."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    stars = sum(star is not None for star in (given.vararg, given.kwarg))
    return len(names) + stars - (names[:1] in (["self"], ["cls"]))


def measured(path: Path) -> Iterator[tuple[str, str, int]]:
    """(kind, name, size) of the module at `path` and of each of its functions."""
    source = path.read_text(encoding="utf-8")
    yield "module", path.as_posix(), len(source.splitlines())
    if path.suffix != ".py":
        return
    for name, function in functions(ast.parse(source)):
        where = f"{path.as_posix()}:{name}"
        yield "function", where, (function.end_lineno or function.lineno) - function.lineno + 1
        yield "parameters", where, parameters(function)


def oversize(roots: Sequence[Path]) -> dict[tuple[str, str], int]:
    """What is over its limit in the sources below `roots`."""
    return {
        (kind, name): size
        for root in roots
        for path in sorted(one for one in root.rglob("*") if one.suffix in SUFFIXES)
        for kind, name, size in measured(path)
        if size > LIMITS[kind]
    }


def accepted(text: str) -> dict[tuple[str, str], int]:
    """The list of accepted sizes: `KIND NAME SIZE` a line, `#` begins a comment."""
    rows = [line.split("#")[0].split() for line in text.splitlines()]
    return {(kind, name): int(size) for kind, name, size in filter(None, rows)}


def verdicts(found: dict[tuple[str, str], int], allowed: dict[tuple[str, str], int]) -> list[str]:
    """What must change, a line each; nothing when all is as accepted."""
    grown = [
        f"{kind} {name}: {size}, at most {max(LIMITS[kind], allowed.get((kind, name), 0))}"
        for (kind, name), size in found.items()
        if size > allowed.get((kind, name), 0)
    ]
    gone = [f"{kind} {name}: fits now, remove it from {ACCEPTED.name}" for kind, name in allowed.keys() - found.keys()]
    return grown + sorted(gone)


def main(roots: Sequence[Path]) -> int:
    """Prints the report; 1 when something must change."""
    found = oversize(roots)
    for (kind, name), size in found.items():
        print(f"{kind:10} {size:4}  {name}")
    print(f"size report: {len(found)} over {LIMITS['module']}/{LIMITS['function']}/{LIMITS['parameters']}")
    complaints = verdicts(found, accepted(ACCEPTED.read_text(encoding="utf-8")))
    for complaint in complaints:
        print(f"error: {complaint}", file=sys.stderr)
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main([Path(given) for given in sys.argv[1:]] or SOURCES))
