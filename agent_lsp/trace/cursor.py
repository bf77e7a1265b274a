"""Cursors of paged answers: text that means nothing to a client, and that it gives back as it got it."""

from __future__ import annotations

import base64
import binascii
import re

from agent_lsp.errors import InvalidParams


def seal(content: str) -> str:
    """The content (ASCII) as a cursor."""
    return base64.urlsafe_b64encode(content.encode("ascii")).decode("ascii")


def unseal(cursor: str, form: re.Pattern[str]) -> re.Match[str]:
    """What a cursor holds, matched against the form it must have. InvalidParams when it is not one of ours."""
    try:
        content = base64.b64decode(cursor.encode("ascii"), altchars=b"-_", validate=True).decode("ascii")
    except (UnicodeError, binascii.Error):
        content = ""
    if matched := form.fullmatch(content):
        return matched
    raise InvalidParams("the cursor is not one that was given out", [("cursor", "not a cursor of this method")])
