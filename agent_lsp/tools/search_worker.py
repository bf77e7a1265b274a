"""Searches texts for a pattern, in a process of its own: a pattern that never comes to an end can be killed.

Run as a script: a request comes as one JSON object on standard input, hits go out as JSON lines. Knows nothing of the
package.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any, TextIO

_MOST_BYTES = 32 * 2**20


def _text_of(path: str) -> str | None:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - importing pathlib takes longer than most searches
            raw = file.read(_MOST_BYTES + 1)
    except OSError:
        return None
    if len(raw) > _MOST_BYTES:
        return None
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return raw.decode("utf-16", "replace")
    return None if b"\0" in raw else raw.decode("utf-8-sig", "replace")


def _search(text: str, pattern: re.Pattern[str], context: int) -> list[tuple[int, str, bool]]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    if lines[-1] == "":
        lines.pop()
    hits = [index for index, line in enumerate(lines) if pattern.search(line)]
    hit = set(hits)
    shown = sorted(
        {at for index in hits for at in range(max(0, index - context), min(len(lines), index + context + 1))}
    )
    return [(index + 1, lines[index], index in hit) for index in shown]


def main(request: dict[str, Any], out: TextIO) -> None:
    """Answers one request: `{pattern, context, most, files: [path], texts: {path: text}}`."""
    pattern = re.compile(request["pattern"])
    left = request["most"]
    texts: dict[str, str] = request["texts"]
    for path in sorted({*request["files"], *texts}):
        text = texts.get(path) if path in texts else _text_of(path)
        for number, line, is_hit in _search(text, pattern, request["context"]) if text is not None else ():
            left -= is_hit
            if left < 0:
                return
            out.write(json.dumps([path, number, line[: request["longest"]], is_hit]) + "\n")


if __name__ == "__main__":
    main(json.load(sys.stdin), sys.stdout)
