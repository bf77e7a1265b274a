"""What is wrong with a configuration, key by key."""

from __future__ import annotations

from agent_lsp.errors import ConfigError

SECRET = "***"
_SECRET_KEYS = frozenset({"api_key", "token", "headers", "env"})


class Problem:
    """One key that cannot be used. `path` is spelled as in the layer that brought it, `source` names that layer."""

    __slots__ = ("message", "path", "source")

    def __init__(self, path: str, message: str, source: str) -> None:
        self.path, self.message, self.source = path, message, source

    def __str__(self) -> str:
        return f"{self.source}: {self.path}: {self.message}"


class InvalidSettings(ConfigError):
    """Settings that do not fit; `problems` names every wrong key, never empty."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(map(str, problems)), key=problems[0].path, source=problems[0].source)
        self.problems = problems


def is_secret(path: tuple[str, ...]) -> bool:
    """Whether the value at `path` (snake_case) may never be shown: a credential, or a table that can hold one."""
    return any(key in _SECRET_KEYS for key in path)


def shown(path: tuple[str, ...], value: object) -> str:
    """A value for a person: secrets hidden (a web address may hold a password), long ones cut."""
    address = path[-1].endswith("url") and "@" in str(value)
    if address or is_secret(path):
        return SECRET
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
