"""The size of an image, read from its first bytes."""

from __future__ import annotations

import struct
from itertools import pairwise

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})


def size_px(head: bytes) -> tuple[int, int] | None:
    """(width, height) of a PNG, GIF, JPEG or WebP; None where the bytes do not tell."""
    try:
        if head.startswith(_PNG):
            return struct.unpack(">II", head[16:24])
        if head[:4] == b"GIF8":
            return struct.unpack("<HH", head[6:10])
        if head.startswith(_JPEG):
            return _jpeg(head)
        if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
            return _webp(head)
    except (struct.error, IndexError):
        pass
    return None


def _jpeg(head: bytes) -> tuple[int, int] | None:
    """The size is in the first frame; the segments before it are passed over."""
    at = 2
    while at + 9 < len(head) and head[at] == 0xFF:
        if head[at + 1] in _FRAMES:
            height, width = struct.unpack(">HH", head[at + 5 : at + 9])
            return width, height
        at += 2 + struct.unpack(">H", head[at + 2 : at + 4])[0]
    return None


def _webp(head: bytes) -> tuple[int, int] | None:
    match head[12:16]:
        case b"VP8X" if len(head) >= 30:
            width, height = (int.from_bytes(head[a:b], "little") for a, b in pairwise((24, 27, 30)))
            return width + 1, height + 1
        case b"VP8 ":
            width, height = struct.unpack("<HH", head[26:30])
            return width & 0x3FFF, height & 0x3FFF
        case b"VP8L":
            bits = struct.unpack("<I", head[21:25])[0]
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case _:
            return None
