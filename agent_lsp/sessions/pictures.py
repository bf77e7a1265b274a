"""Images for models that cannot see: kept in the session's scratchpad, where tools find them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import re
from pathlib import Path

from agent_lsp.policy.private_file import write_private
from agent_lsp.trace.paths import make_private

_log = logging.getLogger(__name__)
_DATA_URL = re.compile(r"data:(?:image/([\w.+-]+))?(?:;[^;,]*)*;base64,(.*)", re.DOTALL | re.IGNORECASE)
_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg"}


class ScratchpadPictures:
    """The images of one session (`engine.ports.Pictures`). The same image is kept once."""

    def __init__(self, scratchpad: Path) -> None:
        self._scratchpad = scratchpad

    def keep(self, image_url: str) -> str:
        """The path of the image; for a web address that address; what is wrong if it cannot be kept."""
        if image_url[:5].casefold() != "data:":
            return image_url
        match = _DATA_URL.fullmatch(image_url)
        if match is None:
            return "it could not be kept (it is not in base64)"
        try:
            data = base64.b64decode("".join(match[2].split()), validate=True)
            kind = (match[1] or "bin").lower()
            path = self._scratchpad / f"image-{hashlib.sha256(data).hexdigest()[:12]}.{_ENDINGS.get(kind, kind)}"
            make_private(path.parent)
            if not path.exists():
                write_private(path, data)
        except (OSError, binascii.Error) as error:
            _log.warning("an image could not be kept: %s", error)
            return f"it could not be kept ({error})"
        return str(path)
