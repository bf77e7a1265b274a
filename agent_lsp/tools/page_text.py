"""The text of what a web server sends: HTML becomes Markdown, text stays as it is, anything else is refused."""

from __future__ import annotations

import re

from agent_lsp.slotted import frozen

_LARGEST_HTML_BYTES = 1024 * 1024
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXT = re.compile(r"text/.+|application/(?:[\w.+-]+\+)?(?:json|xml|yaml|javascript|toml)|application/x-[\w.+-]+", re.I)
_CHARSET = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.I)
_UNSEEN = ("script", "style", "noscript", "template", "svg", "iframe", "object", "nav", "footer")
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")


@frozen
class Unreadable:
    """A body without a text; `why` is a sentence."""

    why: str


def page_text(body: bytes, content_type: str) -> str | Unreadable:
    """The text of the body. Slow for large HTML: to be called in a thread."""
    kind = content_type.partition(";")[0].strip().lower()
    if b"\0" in body[:4096] or (kind and kind not in _HTML and not _TEXT.fullmatch(kind)):
        return Unreadable(f"it is no text but {kind or 'binary'}; fetch it with a command if you need it")
    is_html = kind in _HTML or (not kind and body.lstrip()[:1] == b"<")
    text = _decoded(body[:_LARGEST_HTML_BYTES] if is_html else body, content_type, is_html=is_html)
    return _from_html(text) if is_html else text


def _decoded(body: bytes, content_type: str, *, is_html: bool) -> str:
    named = _CHARSET.search(content_type)
    if named is None and is_html:
        named = _CHARSET.search(body[:2048].decode("ascii", "replace"))
    try:
        return body.decode(named[1] if named else "utf-8", "replace").removeprefix("\ufeff")
    except LookupError:  # an encoding that nobody knows
        return body.decode("utf-8", "replace").removeprefix("\ufeff")


def _from_html(html: str) -> str | Unreadable:
    try:
        from bs4 import BeautifulSoup
        from bs4.exceptions import ParserRejectedMarkup
        from markdownify import MarkdownConverter
    except ImportError:
        return Unreadable("it is HTML, which needs an extra to be read: install agent-lsp[web]")
    try:
        soup = BeautifulSoup(html, "html.parser")
        for unseen in soup(_UNSEEN):
            unseen.decompose()
        text = str(MarkdownConverter(heading_style="ATX", strip=["img"]).convert_soup(soup))
    except (RecursionError, ParserRejectedMarkup):  # a page made to break parsers
        return Unreadable("its HTML cannot be read")
    return _BLANK_LINES.sub("\n\n", text).strip()
