"""Writes what in the documentation is made from the source: the reference of the protocol, and the examples in pages.

`--check` writes nothing and says what is old.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agent_lsp.server.method_names import PROTOCOL_VERSION
from agent_lsp.server.protocol_schema import protocol_schema
from agent_lsp.server.protocol_typescript import type_of

DOCS = Path(__file__).parent.parent
PROTOCOL = DOCS / "protocol.md"
BEGIN = "<!-- from here on written by `make docs` -->"
INCLUDED = re.compile(r"<!-- file: (?P<name>\S+) -->\n(?P<fence>`{3}\w+\n)(?P<body>.*?)^`{3}$", re.M | re.S)
_MESSAGES = ("ModelMessage", "EventMessage", "MetaMessage")
_TABLES = (
    ("requests", "Requests of the client"),
    ("serverRequests", "Requests of the server"),
    ("notifications", "Notifications of the server"),
    ("clientNotifications", "Notifications of the client"),
)

Schema = dict[str, Any]


def main(words: list[str]) -> int:
    """Returns 1 if something was to be checked and is old."""
    old = [page.name for page, text in pages() if page.read_text(encoding="utf-8") != text]
    if "--check" not in words:
        for page, text in pages():
            page.write_text(text, encoding="utf-8")
        return 0
    if old:
        sys.stderr.write(f"{', '.join(old)}: old; `make docs` brings it up to date\n")
    return 1 if old else 0


def pages() -> Iterator[tuple[Path, str]]:
    """Each page with something made in it, as it should be."""
    for page in sorted(DOCS.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if page == PROTOCOL:
            yield page, f"{text.partition(BEGIN)[0]}{BEGIN}\n\n{reference(protocol_schema())}"
        elif INCLUDED.search(text):
            yield page, INCLUDED.sub(_included, text)


def _included(found: re.Match[str]) -> str:
    body = (DOCS / found["name"]).read_text(encoding="utf-8")
    return f"<!-- file: {found['name']} -->\n{found['fence']}{body}```"


def reference(schema: Schema) -> str:
    """The methods, then the shapes that they use, then the messages."""
    shapes = schema["$defs"]
    payloads = [name for name in shapes if name not in _MESSAGES and _is_payload(shapes[name])]
    named = [name for name in shapes if name not in (*payloads, *_MESSAGES, "OmniMessage")]
    methods = "\n".join(line for key, title in _TABLES for line in _methods(title, schema[key]))
    fields = "\n".join(line for name in named for line in _shape(name, shapes))
    kinds = "\n".join(line for name in payloads for line in _shape(name, shapes))
    version = f"Version {PROTOCOL_VERSION}. A field with a `?` may be left out.\n"
    return f"{version}\n{methods}\n## Shapes\n\n{fields}\n## Messages\n\n{_ENVELOPE}\n\n{kinds}"


_ENVELOPE = """\
Each is `{timestamp, type, payload, origin?}`: `timestamp` is ISO 8601 in UTC, `type` is `model_msg`, `event_msg` or
`session_meta`, `origin` names the child sessions that it comes from, outer to inner. The payloads, by their `type`:"""


def _methods(title: str, methods: Schema) -> Iterator[str]:
    yield f"## {title}\n"
    has_results = any("result" in one for one in methods.values())
    yield "| method | params | result | |" if has_results else "| method | params | |"
    yield "|---|---|---|---|" if has_results else "|---|---|---|"
    for name, one in methods.items():
        cells = [f"`{name}`", *(_linked(one[part]) for part in ("params", "result") if part in one), one["description"]]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _shape(name: str, shapes: Schema) -> Iterator[str]:
    shape = shapes[name]
    kind = shape.get("properties", {}).get("type", {}).get("const")
    yield f"### {f'`{kind}`' if kind and _is_payload(shape) else name}\n"
    yield " ".join(str(shape.get("description", "")).split()) + "\n"
    fields = {field: given for field, given in shape.get("properties", {}).items() if "const" not in given}
    if not fields:
        return
    yield "| field | type |\n|---|---|"
    for field, given in fields.items():
        yield f"| `{field}{'' if field in shape.get('required', ()) else '?'}` | {_linked(given)} |"
    yield ""


def _is_payload(shape: Schema) -> bool:
    """Whether the shape is what a message carries: told apart by its `type`, with names in snake_case."""
    kind = shape.get("properties", {}).get("type", {}).get("const", "")
    return (
        bool(kind)
        and kind not in ("model_msg", "event_msg", "resource", "image")
        and "Part" not in shape.get("title", "")
    )


def _linked(given: Schema) -> str:
    """The type, with links to the shapes in it."""
    text = type_of(given).replace("|", "\\|")
    parts = re.split(r"([A-Z]\w+)", text)
    linked = (_link(part) if index % 2 else (f"`{part}`" if part.strip() else part) for index, part in enumerate(parts))
    return "".join(linked).replace("``", "")


def _link(name: str) -> str:
    if name == "Record":
        return f"`{name}`"
    return "[OmniMessage](#messages)" if name == "OmniMessage" else f"[{name}](#{name.lower()})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
