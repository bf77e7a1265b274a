"""What both request dialects need to turn a context into bytes that never change."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from pydantic_core import to_json

from agent_lsp.messages.content import Content, Fidelity, Text, Thinking, ToolCall
from agent_lsp.providers.shape import as_dict

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Commit, Request

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V")

_DATA_URL = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,", re.I)
NOT_SHOWN = "[image not shown: {why}]"


class PerCommit(Generic[T]):
    """What `encode` made of each commit, kept as long as the commit lives: a history is never encoded twice."""

    def __init__(self, encode: Callable[[Sequence[Content]], T]) -> None:
        self._encode = encode
        self._kept: WeakKeyDictionary[Commit, T] = WeakKeyDictionary()

    def __call__(self, commit: Commit) -> T:
        """The encoding of the commit."""
        kept = self._kept.get(commit)
        if kept is None:
            kept = self._kept[commit] = self._encode(commit.messages)
        return kept


class Joined:
    """What `encode` made of a history, joined by commas. Only the commits that have come since are looked at.

    At 2,000 commits, going through them all takes 2 ms of a turn.
    """

    def __init__(self, encode: Callable[[Sequence[Content]], bytes]) -> None:
        self._encode = encode
        self._last: Commit | None = None
        self._count = 0
        self._bytes = bytearray()

    def __call__(self, history: Sequence[Commit]) -> bytes | bytearray:
        """The encoding of the history; to be read before the next one is asked for."""
        if not (0 < self._count <= len(history) and history[self._count - 1] is self._last):  # another context
            self._count, self._bytes = 0, bytearray()
        for commit in history[self._count :]:
            if encoded := self._encode(commit.messages):
                self._bytes += b"," + encoded if self._bytes else encoded
        self._count, self._last = len(history), history[-1] if history else None
        return self._bytes


class Latest(Generic[K, V]):
    """The encoding of the value that was given last, told by identity: system prompts and tool lists hardly change."""

    def __init__(self, encode: Callable[[K], V]) -> None:
        self._encode = encode
        self._last: tuple[K, V] | None = None

    def __call__(self, given: K) -> V:
        """The encoding of `given`."""
        if self._last is None or self._last[0] is not given:
            self._last = (given, self._encode(given))
        return self._last[1]


def runs(messages: Iterable[Content]) -> Iterator[tuple[bool, list[Content]]]:
    """Messages of one side, put together: (whether they are the model's, the messages)."""
    run: list[Content] = []
    is_model = False
    for message in messages:
        by_model = isinstance(message, Thinking | ToolCall) or (
            isinstance(message, Text) and message.role == "assistant"
        )
        if run and by_model != is_model:
            yield is_model, run
            run = []
        is_model = by_model
        run.append(message)
    if run:
        yield is_model, run


def own_fidelity(fidelity: Fidelity | None, adapter: str) -> dict[str, Any]:
    """What this adapter wrote; that of another one is nobody's business here."""
    return as_dict(as_dict(fidelity).get(adapter))


def has_own(request: Request, adapter: str) -> bool:
    """Whether anything in the request was marked by this adapter."""
    return any(
        own_fidelity(message.fidelity, adapter)
        for messages in (*(commit.messages for commit in request.history), request.input)
        for message in messages
    )


def fitting_id(call_id: str, pattern: re.Pattern[str], length: int, prefix: str = "") -> str:
    """The id if it fits the pattern, else one of `length` characters that is always the same for it."""
    if pattern.fullmatch(call_id):
        return call_id
    digest = hashlib.blake2b(call_id.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    return prefix + digest[: length - len(prefix)]


def split_data_url(url: str) -> tuple[str, str] | None:
    """(media type, base64 data) of a data URL, None for any other."""
    match = _DATA_URL.match(url)
    return (match[1] or "application/octet-stream", url[match.end() :]) if match else None


def listed(items: Iterable[bytes | bytearray]) -> list[bytes | bytearray]:
    """The items that are not empty, with commas between them: pieces of a body, of which only the whole is copied."""
    pieces: list[bytes | bytearray] = []
    for item in items:
        if item:
            pieces += (b",", item)
    return pieces[1:]


def encode(value: Any) -> bytes:
    """Compact JSON."""
    return to_json(value)
