"""The command policy, imported with the first command: its modules and their patterns take 5 ms."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_lsp.policy.commands import CommandPolicy
    from agent_lsp.policy.guard import CommandRules


class LateCommandPolicy:
    """`policy.commands.CommandPolicy(deny, read_only)`, as a guard asks it."""

    def __init__(self, deny: tuple[str, ...], *, read_only: bool) -> None:
        self._deny, self._read_only = deny, read_only
        self._made: CommandPolicy | None = None

    def forbids(self, line: str, cwd: Path) -> str | None:
        """As the policy does."""
        return self._policy.forbids(line, cwd)

    def first_words(self, line: str) -> tuple[str, ...] | None:
        """As the policy does."""
        return self._policy.first_words(line)

    def only_reads(self, line: str, cwd: Path) -> tuple[Path, ...] | None:
        """As the policy does."""
        return self._policy.only_reads(line, cwd)

    @property
    def _policy(self) -> CommandPolicy:
        if self._made is None:
            from agent_lsp.policy.commands import CommandPolicy

            self._made = CommandPolicy(deny=self._deny, read_only=self._read_only)
        return self._made


if TYPE_CHECKING:
    _: type[CommandRules] = LateCommandPolicy
