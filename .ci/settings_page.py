"""Writes the list of all settings into docs/configuration.md, from the JSON Schema; `--check` says if it is old."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_lsp.config.schema import json_schema

PAGE = Path(__file__).parent.parent / "docs" / "configuration.md"
BEGIN = "<!-- from here on written by `.venv/bin/python .ci/settings_page.py` -->"
PLACEHOLDERS = {
    "prompts": "TITLE",
    "providers": "NAME",
    "models": "MODEL",
    "agents": "NAME",
    "mcp_servers": "NAME",
    "headers": "HEADER",
    "env": "VARIABLE",
}
"""Tables whose keys are a person's own → what stands for such a key."""


def main(words: list[str]) -> int:
    """Returns 1 if the page was to be checked and is old."""
    written = PAGE.read_text(encoding="utf-8")
    prose, _, _ = written.partition(BEGIN)
    page = f"{prose}{BEGIN}\n\n{listing(json_schema())}"
    if "--check" not in words:
        PAGE.write_text(page, encoding="utf-8")
    elif page != written:
        sys.stderr.write(f"{PAGE.name} is old; `.venv/bin/python .ci/settings_page.py` brings it up to date\n")
        return 1
    return 0


def listing(schema: dict[str, Any]) -> str:
    """Every setting: a section for each table, a row for each value."""
    tables: dict[str, list[str]] = {}
    notes: dict[str, str] = {}
    for table, row in _rows(schema, schema["properties"], (), notes):
        tables.setdefault(table, []).append(row)
    sections = (
        "\n".join([f"### {f'`[{name}]`' if name else 'On top'}", *_note(notes.get(name)), "", *_HEAD, *rows])
        for name, rows in tables.items()
    )
    return "\n\n".join(sections) + "\n"


_HEAD = ("| setting | may be | left out | |", "|---|---|---|---|")


def _note(text: str | None) -> tuple[str, ...]:
    return ("", text) if text else ()


def _rows(
    schema: dict[str, Any], properties: dict[str, Any], path: tuple[str, ...], notes: dict[str, str]
) -> Iterator[tuple[str, str]]:
    """The values of a table, then those of the tables in it."""
    below: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    for name, given in properties.items():
        entry = _table(schema, given)
        if entry is None:
            yield ".".join(path), _row(name, given)
            continue
        here = (*path, name, PLACEHOLDERS[name]) if "additionalProperties" in given else (*path, name)
        notes[".".join(here)] = " ".join(str(given.get("description", "")).split())
        below.append((here, entry))
    for here, entry in below:
        yield from _rows(schema, entry, here, notes)


def _table(schema: dict[str, Any], given: dict[str, Any]) -> dict[str, Any] | None:
    """What is in the table that a setting is; None if it is a value."""
    choices = (given, given.get("additionalProperties", {}), *given.get("anyOf", ()))
    reference = next((one["$ref"] for one in choices if isinstance(one, dict) and "$ref" in one), None)
    return schema["$defs"][reference.rpartition("/")[2]]["properties"] if reference else None


def _row(name: str, given: dict[str, Any]) -> str:
    key = f"`{name}.{PLACEHOLDERS[name]}`" if "additionalProperties" in given else f"`{name}`"
    default = given.get("default")
    shown = "" if default in (None, [], {}, "") else f"`{json.dumps(default)}`"
    text = " ".join(str(given.get("description", "")).split()).replace("|", "\\|")
    return f"| {key} | {_kind(given)} | {shown} | {text} |"


def _kind(given: dict[str, Any]) -> str:
    choices = [one for one in given.get("anyOf", (given,)) if one.get("type") != "null"]
    one = choices[0]
    if "enum" in one:
        return ", ".join(f"`{value}`" for value in one["enum"])
    words = {"integer": "whole number", "boolean": "`true`, `false`", "string": "text", "array": "list of texts"}
    return words.get(one["type"], "text" if one["type"] == "object" else one["type"]) + _bounds(one)


def _bounds(one: dict[str, Any]) -> str:
    if one.get("exclusiveMinimum") == 0:
        return " above 0"
    least = one.get("minimum", -1)
    return f" from {least}" if least >= 0 else ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
