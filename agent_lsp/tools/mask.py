"""Known secrets never get into an output, also when a secret is cut in two by the pieces it comes in."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = "***"
_SHORTEST = 4  # shorter values would black out ordinary words


class Mask:
    """The secrets of a session."""

    __slots__ = ("_known", "_pattern", "_secrets")

    def __init__(self, secrets: Iterable[str]) -> None:
        self._known = frozenset(one for one in secrets if len(one) >= _SHORTEST)
        self._secrets = sorted(self._known, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, self._secrets))) if self._secrets else None

    def with_more(self, secrets: Iterable[str]) -> Mask:
        """One that knows these secrets too: itself, if it does."""
        more = {one for one in secrets if len(one) >= _SHORTEST}
        return self if more <= self._known else Mask(more | self._known)

    def __call__(self, text: str) -> str:
        """The whole text with every secret masked."""
        return self._pattern.sub(MASK, text) if self._pattern else text

    def stream(self) -> MaskedStream:
        """Masks a text that comes in pieces."""
        return MaskedStream(self)

    def safe_length(self, text: str) -> int:
        """How much of the text can be masked for good: the rest may be the beginning of a secret."""
        if not self._pattern:
            return len(text)
        begin = min((self._unfinished(text, secret) for secret in self._secrets), default=len(text))
        for found in self._pattern.finditer(text) if begin < len(text) else ():
            if found.start() < begin < found.end():
                return found.end()
        return begin

    @staticmethod
    def _unfinished(text: str, secret: str) -> int:
        first = text.find(secret[0], max(0, len(text) - len(secret) + 1))
        while first >= 0:
            if secret.startswith(text[first:]):
                return first
            first = text.find(secret[0], first + 1)
        return len(text)


class MaskedStream:
    """Holds back only what could be the beginning of a secret."""

    __slots__ = ("_held", "_mask")

    def __init__(self, mask: Mask) -> None:
        self._mask, self._held = mask, ""

    def feed(self, piece: str) -> str:
        """The next piece, masked, as far as it is certain."""
        text = self._held + piece
        length = self._mask.safe_length(text)
        self._held = text[length:]
        return self._mask(text[:length])

    def close(self) -> str:
        """What was still held back."""
        rest, self._held = self._held, ""
        return self._mask(rest)
