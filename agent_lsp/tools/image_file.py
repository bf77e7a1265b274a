"""Image files: what they are is told by their first bytes, never by their name."""

from __future__ import annotations

import base64
import os
import stat
from pathlib import Path
from typing import Final

from agent_lsp.slotted import frozen

LARGEST_BYTES: Final = 20 * 2**20
_KINDS: Final = (
    (b"\x89PNG\r\n\x1a\n", 0, "image/png"),
    (b"\xff\xd8\xff", 0, "image/jpeg"),
    (b"GIF87a", 0, "image/gif"),
    (b"GIF89a", 0, "image/gif"),
    (b"WEBP", 8, "image/webp"),
    (b"ftypheic", 4, "image/heic"),
    (b"ftypmif1", 4, "image/heif"),
)


@frozen
class ImageFile:
    """An image as it is in its file."""

    mime_type: str
    data: bytes

    @property
    def url(self) -> str:
        """It as a data URL."""
        return f"data:{self.mime_type};base64,{base64.b64encode(self.data).decode('ascii')}"


def read_image_file(path: Path) -> ImageFile | str:
    """The image, or in one sentence why there is none. Blocks on the disk."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return "it is no file"
            data = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        return f"it cannot be read: {getattr(error, 'strerror', None) or error}"
    if len(data) > LARGEST_BYTES:
        return f"it is larger than {LARGEST_BYTES // 2**20} MiB; make a smaller copy of it"
    kind = kind_of(data)
    if kind is None:
        return "it is no image of a kind that models take (PNG, JPEG, GIF, WebP, HEIC)"
    return ImageFile(kind, data)


def kind_of(data: bytes) -> str | None:
    """The media type that the first bytes tell."""
    return next((kind for magic, at, kind in _KINDS if data.startswith(magic, at)), None)
