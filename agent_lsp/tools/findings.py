"""What an editor finds wrong in files, and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, Protocol

from agent_lsp.slotted import frozen

Severity = Literal["error", "warning", "information", "hint"]
_MOST_SHOWN = 200


@frozen
class Finding:
    """Something that is wrong in a file; line and column count from 1."""

    path: Path
    line: int
    column: int
    severity: Severity
    message: str
    source: str = ""

    def told(self) -> str:
        """One line of text."""
        words = " ".join(self.message.split())
        return f"{self.line}:{self.column} {self.severity}: {words}" + (f" ({self.source})" if self.source else "")


class Findings(Protocol):
    """An editor that can tell what is wrong."""

    async def __call__(self, path: Path | None) -> Sequence[Finding] | None:
        """What is wrong in a file, or in all that the editor knows; None when it gives no answer in time."""
        ...


def tell(findings: Iterable[Finding], display: Callable[[Path], str], most: int = _MOST_SHOWN) -> str:
    """The findings below the names of their files, the first `most` of them."""
    ordered = sorted(findings, key=lambda one: (str(one.path), one.line, one.column))
    lines: list[str] = []
    path: Path | None = None
    for one in ordered[:most]:
        if one.path != path:
            path = one.path
            lines.append(display(path))
        lines.append(f"  {one.told()}")
    if len(ordered) > most:
        lines.append(f"[{len(ordered) - most} more]")
    return "\n".join(lines)
