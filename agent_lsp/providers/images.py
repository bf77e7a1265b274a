"""Images as a provider takes them: those over its limits are scaled down, or it is said why they are not shown.

Scaling needs Pillow, which is optional. The same image always becomes the same bytes, as prompt caches want it.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import io
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import aclosing
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from agent_lsp.engine.ports import LLM, Commit, Outcome, Part, Request
from agent_lsp.messages.content import Content, ImageUrl, InlineData, Text, ToolCallOutput
from agent_lsp.providers.encoding import NOT_SHOWN, split_data_url
from agent_lsp.providers.image_size import size_px
from agent_lsp.slotted import frozen, replace

if TYPE_CHECKING:
    from agent_lsp.providers.endpoint import Endpoint

_MIB = 1024 * 1024
_SMALLEST_PX = 64
_log = logging.getLogger(__name__)


@frozen
class Limits:
    """What an image may be: characters of its base64, pixels of its longer side, media types."""

    length: int = 20 * _MIB
    side_px: int = 16_000
    kinds: frozenset[str] = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


_DEFAULT = Limits()
_BY_API: Mapping[str, Limits] = {
    "anthropic": Limits(5 * _MIB, 8_000),
    "gemini": Limits(14 * _MIB, kinds=_DEFAULT.kinds | {"image/heic", "image/heif"}),
}
_BY_PROVIDER: Mapping[str, Limits] = {"groq": Limits(4 * _MIB)}


def limits_of(endpoint: Endpoint) -> Limits:
    """The limits of the endpoint's provider."""
    return _BY_PROVIDER.get(endpoint.provider) or _BY_API.get(endpoint.api, _DEFAULT)


class Unfit(Exception):
    """An image that the provider would not take and that cannot be made to fit; the text says why and what to do."""


class FittedImages:
    """A model that is only sent images that fit. What was made of a commit is kept as long as the commit lives."""

    def __init__(self, llm: LLM, limits: Limits) -> None:
        self._llm, self._limits = llm, limits
        self._kept: WeakKeyDictionary[Commit, Commit] = WeakKeyDictionary()

    async def stream(self, request: Request) -> AsyncGenerator[Part, None]:
        """Streams the reply. A new image of the user that does not fit ends the request before it is sent."""
        try:
            fitted = await self._fitted(request)
        except Unfit as error:
            yield Outcome("failed", f"the image cannot be sent: {error}", permanent=True)
            return
        async with aclosing(self._llm.stream(fitted)) as parts:
            async for part in parts:
                yield part

    async def _fitted(self, request: Request) -> Request:
        fresh = [commit for commit in request.history if commit not in self._kept]
        if any(self._is_over(url) for url in _urls(message for commit in fresh for message in commit.messages)):
            await asyncio.to_thread(lambda: [self._of(commit.messages, strict=False) for commit in fresh])
        for commit in fresh:
            messages = self._of(commit.messages, strict=False)
            self._kept[commit] = commit if _are_same(messages, commit.messages) else Commit(messages)
        given = request.input
        if any(map(self._is_over, _urls(given))):
            given = await asyncio.to_thread(lambda: self._of(request.input, strict=True))
        history = tuple(self._kept[commit] for commit in request.history)
        is_same = given is request.input and _are_same(history, request.history)
        return request if is_same else replace(request, history=history, input=given)

    def _is_over(self, url: str) -> bool:
        return _problem(url, self._limits) is not None

    def _of(self, messages: Sequence[Content], *, strict: bool) -> tuple[Content, ...]:
        return tuple(self._message(message, strict=strict) for message in messages)

    def _message(self, message: Content, *, strict: bool) -> Content:
        """The message with what fits. The images of tools are never refused: the model goes on without them."""
        if isinstance(message, ToolCallOutput) and message.images:
            return self._output(message)
        url = _url(message)
        if url is None:
            return message
        try:
            fitted = fit(url, self._limits)
        except Unfit as error:
            if strict:
                raise
            return Text(role="user", text=NOT_SHOWN.format(why=error))
        return message if fitted == url else ImageUrl(image_url=fitted)

    def _output(self, output: ToolCallOutput) -> ToolCallOutput:
        shown: list[str] = []
        notes: list[str] = []
        for url in output.images or ():
            try:
                shown.append(fit(url, self._limits))
            except Unfit as error:
                notes.append(NOT_SHOWN.format(why=error))
        if shown == list(output.images or ()):
            return output
        text = "\n".join(filter(None, (output.output, *notes)))
        return output.model_copy(update={"output": text, "images": tuple(shown) or None})


def _are_same(ours: Sequence[object], given: Sequence[object]) -> bool:
    return all(a is b for a, b in zip(ours, given, strict=True))


def _url(message: Content) -> str | None:
    if isinstance(message, ImageUrl):
        return message.image_url
    if isinstance(message, InlineData) and message.mime_type.startswith("image/"):
        return f"data:{message.mime_type};base64,{message.data}"
    return None


def _urls(messages: Iterable[Content]) -> list[str]:
    urls: list[str] = []
    for message in messages:
        if isinstance(message, ToolCallOutput):
            urls += message.images or ()
        elif url := _url(message):
            urls.append(url)
    return urls


def _problem(url: str, limits: Limits) -> str | None:
    """What is wrong with the image, None if it fits; an address on the web is the provider's to judge."""
    data = split_data_url(url)
    if data is None:
        return None
    kind, encoded = data
    if kind not in limits.kinds:
        return f"the provider takes no {kind}"
    if len(encoded) > limits.length:
        return f"it has {len(encoded) / _MIB:.1f} MiB, the provider takes {limits.length // _MIB}"
    size = size_px(_decoded(encoded[: 64 * 1024]))
    if size and max(size) > limits.side_px:
        return f"it is {size[0]}×{size[1]} pixels, the provider takes {limits.side_px} a side"
    return None


def fit(url: str, limits: Limits) -> str:
    """The image as a URL that fits. Slow where it has to be scaled. Raises Unfit."""
    problem = _problem(url, limits)
    data = split_data_url(url)
    if problem is None or data is None:
        return url
    try:
        import PIL  # noqa: F401 # pyright: ignore[reportUnusedImport] - is it there?
    except ImportError:
        raise Unfit(f"{problem}; install agent-lsp[images] to have it scaled down") from None
    return _scaled(data[1], limits, problem)


@lru_cache(maxsize=4)
def _scaled(encoded: str, limits: Limits, problem: str) -> str:
    """The image as PNG or JPEG, made smaller until it fits. An input is kept in mind until it is history."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(_decoded(encoded))) as opened:
            opened.load()
            is_clear = opened.mode in ("RGBA", "LA", "P", "PA")
            image = opened.convert("RGBA" if is_clear else "RGB")
        side_px = min(max(image.size), limits.side_px)
        while True:
            image.thumbnail((side_px, side_px))
            for kind in ("png", "jpeg"):
                result = f"data:image/{kind};base64,{_saved(image, kind)}"
                if _problem(result, limits) is None:
                    return result
            if side_px < _SMALLEST_PX:
                break
            side_px = side_px * 3 // 4
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        _log.debug("an image could not be scaled: %s", error)
    raise Unfit(f"{problem}, and it could not be scaled down")


def _saved(image: Image.Image, kind: str) -> str:
    from PIL import Image as Images

    if kind == "jpeg" and image.mode == "RGBA":  # it knows no transparency: white shows through
        ground = Images.new("RGBA", image.size, "white")
        image = Images.alpha_composite(ground, image).convert("RGB")
    buffer = io.BytesIO()
    image.save(buffer, kind, **({"quality": 85} if kind == "jpeg" else {}))
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _decoded(encoded: str) -> bytes:
    """What the base64 stands for, as far as it is any."""
    try:
        return base64.b64decode(encoded[: len(encoded) // 4 * 4] or b"")
    except (binascii.Error, ValueError):
        return b""


if TYPE_CHECKING:
    from PIL import Image

    _: type[LLM] = FittedImages
