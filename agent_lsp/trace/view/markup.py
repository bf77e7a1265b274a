"""Pieces of HTML. What a trace holds was written by a model, a file or a stranger: it goes through `text` or `block`.

Nothing here trusts that alone: the page's policy forbids every script but its own, and everything from elsewhere.
"""

from __future__ import annotations

import html
import re

from agent_lsp.policy.visible import visible, visible_line

LONGEST_BODY = 100_000
"""Characters of one body; the trace has the rest."""

_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp);base64,[A-Za-z0-9+/=\s]+")
_DIFF_CLASSES = {"+": "add", "-": "del", "@": "hunk"}


def text(line: str, limit: int = 400) -> str:
    """A text on one line, for between tags and in quoted attributes; its white space is that of running text."""
    return html.escape(visible_line(" ".join(line[: 4 * limit].split()), limit))


def block(body: str, kind: str = "") -> str:
    """A longer text, its line ends kept."""
    return f'<pre class="{kind}">{html.escape(visible(_bounded(body)))}</pre>' if body.strip() else ""


def diff(body: str) -> str:
    """A unified diff, its lines coloured."""
    lines = visible(_bounded(body)).rstrip("\n").split("\n")
    return f'<pre class="diff">{"".join(map(_diff_line, lines))}</pre>'


def picture(url: str) -> str:
    """An image that the trace itself holds; of any other only the address is shown, because it would be fetched."""
    if _PICTURE.fullmatch(url):
        return f'<img alt="image" src="{html.escape(url)}">'
    return f'<p class="quiet">image: {text(url, 200)}</p>'


def chip(label: str, kind: str = "", title: str = "") -> str:
    """A small label with a colour."""
    hint = f' title="{text(title)}"' if title else ""
    return f'<span class="chip {kind}"{hint}>{text(label, 60)}</span>'


def bar(left: float, right: float, kind: str, title: str = "") -> str:
    """A bar in a lane, from one place to another in percent; never too thin to be seen."""
    hint = f' title="{text(title)}"' if title else ""
    return f'<i class="bar {kind}" style="left:{left:.3f}%;width:{max(0.0, right - left):.3f}%"{hint}></i>'


def _diff_line(line: str) -> str:
    kind = "name" if line.startswith(("+++", "---", "***")) else _DIFF_CLASSES.get(line[:1], "")
    return f'<span class="{kind}">{html.escape(line)}\n</span>'


def _bounded(body: str) -> str:
    if len(body) <= LONGEST_BODY:
        return body
    return f"{body[:LONGEST_BODY]}\n[… {len(body) - LONGEST_BODY:,} more characters in the trace]"
