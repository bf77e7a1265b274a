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
    """Whether what is at `path` (snake_case) is a credential, or a table that can hold one."""
    return any(key in _SECRET_KEYS for key in path)


def hides(path: tuple[str, ...], value: object) -> bool:
    """Whether `value` is never shown: a credential, or arguments or a web address, which can have one in them."""
    address = path[-1].endswith("url") and any(mark in str(value) for mark in "@?")
    return address or "args" in path or is_secret(path)


def shown(path: tuple[str, ...], value: object) -> str:
    """A value for a message: short, and `***` if it is none of the reader's business."""
    if hides(path, value):
        return SECRET
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."
