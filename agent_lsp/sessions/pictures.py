"""Images for models that cannot see: kept in the session's scratchpad, where tools find them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import logging
import os
import re
from pathlib import Path

_log = logging.getLogger(__name__)
_DATA_URL = re.compile(r"data:image/([\w.+-]+);base64,(.*)", re.DOTALL)
_ENDINGS = {"jpeg": "jpg", "svg+xml": "svg"}


class ScratchpadPictures:
    """The images of one session (`engine.ports.Pictures`). The same image is kept once."""

    def __init__(self, scratchpad: Path) -> None:
        self._scratchpad = scratchpad

    def keep(self, image_url: str) -> str:
        """The path of the image; for a web address that address; what is wrong if it cannot be kept."""
        match = _DATA_URL.fullmatch(image_url)
        if match is None:
            return image_url
        try:
            data = base64.b64decode(match[2])
            name = f"image-{hashlib.sha256(data).hexdigest()[:12]}.{_ENDINGS.get(match[1], match[1])}"
            path = self._scratchpad / name
            _write_private(path, data)
        except (OSError, binascii.Error) as error:
            _log.warning("an image could not be kept: %s", error)
            return f"it could not be kept ({error})"
        return str(path)


def _write_private(path: Path, data: bytes) -> None:
    path.parent.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
