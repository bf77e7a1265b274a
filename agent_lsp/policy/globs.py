"""Globs over paths: `*`, `?`, `[…]` within a component, `**` over any number of them."""

from __future__ import annotations

import os
import re
from pathlib import Path

from agent_lsp.errors import ConfigError


class PathGlob:
    """One entry of a list of paths: what it matches, and everything below.

    An absolute path or glob (`~` is the home folder) stands for itself; a relative one with a `/` starts at the
    workspace; one without a `/`, or that starts with `**/`, matches anywhere. Letter case is set aside.
    """

    def __init__(self, pattern: str, workspace: Path, home: Path | None) -> None:
        """Raises `ConfigError` for a pattern that means nothing."""
        absolute = _absolute(pattern, workspace, home)
        self.named = () if any(char in absolute[0] for char in "*?[") else (Path(absolute[-1]),)
        spellings = [_translated(glob) for glob in absolute]
        try:
            self._regex = re.compile("|".join(spellings), re.IGNORECASE | re.DOTALL)
        except re.error as error:
            raise ConfigError(f"{pattern!r} is no glob: {error}", key="tools.deny_paths") from None

    def matches(self, path: Path) -> bool:
        """Whether the absolute path is matched or lies below something that is."""
        return self._regex.match(path.as_posix()) is not None


def _absolute(pattern: str, workspace: Path, home: Path | None) -> list[str]:
    """The pattern as absolute globs: as it is written and, if it names one path, as that path resolves."""
    text = pattern.strip().replace(os.sep, "/").rstrip("/").removeprefix("./")
    if home and (text == "~" or text.startswith("~/")):
        text = _literal(home) + text[1:]
    if not text:
        raise ConfigError(f"{pattern!r} names no path", key="tools.deny_paths")
    if not Path(text).is_absolute():
        anywhere = "/" not in text or text.startswith("**/")
        text = f"/**/{text.removeprefix('**/')}" if anywhere else f"{_literal(workspace)}/{text}"
    if any(char in text for char in "*?["):
        return [text]
    return list(dict.fromkeys((text, Path(os.path.realpath(text)).as_posix())))


def _literal(path: Path) -> str:
    return re.sub(r"([*?\[])", r"[\1]", path.as_posix())


def _translated(glob: str) -> str:
    """The glob as a regular expression that also accepts everything below a match."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        if glob.startswith("/**/", at):
            out.append("/(?:.*/)?")
            at += 4
        elif glob.startswith("**", at):
            out.append(".*")
            at += 2
        elif glob[at] == "[" and (end := glob.find("]", at + 2)) > 0:
            out.append(_character_class(glob[at + 1 : end]))
            at = end + 1
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(glob[at]) or re.escape(glob[at]))
            at += 1
    return "".join(out) + r"(?:/.*)?\Z"


def _character_class(body: str) -> str:
    negated = body.startswith("!") and len(body) > 1
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negated else body)
    return f"(?!/)[{'^' if negated else ''}{inner}]"
