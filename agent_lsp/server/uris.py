"""Paths and URIs: the only place where one becomes the other."""

from __future__ import annotations

import logging
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent_lsp.errors import InvalidParams

_log = logging.getLogger(__name__)


def path_of(text: str, field: str) -> Path:
    """The absolute path of a `file:` URI or of a plain path (relative ones: to the working directory).

    Raises InvalidParams naming `field` for any other scheme.
    """
    if "://" not in text and not text.startswith("file:"):
        return Path(text).absolute()
    try:
        parts = urlsplit(text)
    except ValueError:
        raise InvalidParams(f"invalid params: {field}", [(field, "is no URI")]) from None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise InvalidParams(f"invalid params: {field}", [(field, "must be a file: URI or a path")])
    return Path(unquote(parts.path, errors="surrogateescape"))


def workspace_of(uri: str | None) -> Path:
    """The folder that a client opened, else the working directory: what is open may not be on this machine at all."""
    try:
        return path_of(uri, "rootUri") if uri else Path.cwd()
    except InvalidParams as error:
        _log.warning("the workspace %.200r %s; sessions that name none work in %s", uri, error.errors[0][1], Path.cwd())
        return Path.cwd()


def uri_of(path: Path) -> str:
    """The `file:` URI of an absolute path."""
    return path.as_uri()
