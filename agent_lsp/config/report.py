"""What `agent-lsp doctor` prints: facts in, text out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_lsp.config.layers import BUILT_IN
from agent_lsp.config.spelling import visible

if TYPE_CHECKING:
    from agent_lsp.config.facts import Facts


def report(facts: Facts) -> str:
    """The whole text, ending with a line end; control characters made visible, never a credential."""
    sections = (
        ("Installation", _installation(facts)),
        ("Places", _places(facts)),
        ("Programs", _programs(facts)),
        ("Credentials", _credentials(facts)),
        ("Set", _settings(facts, built_in=False)),
        ("Built in", _settings(facts, built_in=True)),
        ("Protection", _protection(facts)),
        ("Warnings", facts.warnings),
        ("Errors", facts.problems),
    )
    return "\n".join(text for title, lines in sections for text in _section(title, lines))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = [f"  {visible(line)}" for line in lines]
    if told:
        yield "\n".join([title, *told, ""])


def _table(rows: Iterable[tuple[str, ...]]) -> list[str]:
    kept = list(rows)
    widths = [min(60, max(len(row[column]) for row in kept)) for column in range(len(kept[0]))] if kept else []
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in kept]


def _installation(facts: Facts) -> list[str]:
    return _table([("agent-lsp", facts.version), ("Python", facts.python), ("platform", facts.platform)])


def _places(facts: Facts) -> list[str]:
    usable = "" if facts.data_dir_usable else "; cannot be written"
    rows = [
        ("user file", facts.user_file, "" if facts.user_file_exists else "does not exist"),
        ("data directory", facts.data_dir, f"{facts.data_dir_source}{usable}"),
    ]
    if facts.workspace is not None:
        rows.append(("workspace", facts.workspace, "trusted" if facts.trusted else "not trusted"))
    return _table(rows)


def _programs(facts: Facts) -> list[str]:
    found = [(name, path or "not found") for name, path in facts.programs.items()]
    installed = [(name, "installed" if there else "not installed") for name, there in facts.packages.items()]
    return _table(found + installed)


def _credentials(facts: Facts) -> list[str]:
    return _table((one.provider, one.place, "found" if one.found else "not set") for one in facts.credentials)


def _settings(facts: Facts, *, built_in: bool) -> list[str]:
    chosen = [one for one in facts.in_force if (one.source == BUILT_IN) == built_in]
    return _table((one.key, one.value) if built_in else (one.key, one.value, one.source) for one in chosen)


def _protection(facts: Facts) -> Iterator[str]:
    if facts.settings is None:
        return
    yield "denied paths bind the file tools, mentions and images; commands are held back by the sandbox only"
    yield "denied commands guard against accidents, not against intent"
    if facts.settings.tools.sandbox == "off":
        yield "the sandbox is off: a command that is allowed can do what you can do"
    elif facts.programs.get("bwrap") is None:
        yield "the sandbox is on, but bwrap is not found: no command will run"
