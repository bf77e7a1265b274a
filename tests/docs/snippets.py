"""The snippets of the documentation, each with what is known of it: fenced, or indented commands."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>[\w+-]*)\n(?P<body>.*?)^(?P=indent)```$", re.M | re.S)
_INDENTED = re.compile(r"(?<=\n\n)(?P<body>(?: {4}[^\n]+\n)+)(?=\n|\Z)")
_COMMANDS_ARE_INDENTED = ("README.md", "CONTRIBUTING.md")
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


def indented(page):
    """Commands of the pages that people read as they are."""
    text = page.read_text(encoding="utf-8")
    for found in _INDENTED.finditer(text):
        line = text[: found.start()].count("\n") + 1
        yield Snippet(page, line, "sh", re.sub("^    ", "", found["body"], flags=re.M), None)


ALL = [one for page in PAGES for one in snippets(page)]
ALL += [one for page in PAGES if page.name in _COMMANDS_ARE_INDENTED for one in indented(page)]


def of(*languages):
    return [one for one in ALL if one.language in languages]
