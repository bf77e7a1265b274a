"""The fenced snippets of the documentation, each with what is known of it."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w+-]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)
_REMARK = re.compile(r"<!-- (?P<key>check|file): (?P<value>\S+) -->\n$")


class Snippet(NamedTuple):
    """`remark` is the comment right above it, `key: value`; `line` is that of its fence."""

    page: Path
    line: int
    language: str
    body: str
    remark: tuple[str, str] | None

    @property
    def where(self):
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def snippets(page):
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        before = text[: found.start()]
        remark = _REMARK.search(before)
        indent = len(found["indent"])
        body = "".join(line[indent:] if line.strip() else line for line in found["body"].splitlines(keepends=True))
        key = (remark["key"], remark["value"]) if remark else None
        yield Snippet(page, before.count("\n") + 1, found["language"], body, key)


ALL = [one for page in PAGES for one in snippets(page)]


def of(*languages):
    return [one for one in ALL if one.language in languages]
