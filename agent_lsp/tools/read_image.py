"""read_image and describe_image: an image file for a model that sees, and one for a model that does not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Protocol

from pydantic import Field

from agent_lsp.policy.access import Access, Preview
from agent_lsp.tools.arguments import Arguments, PathText
from agent_lsp.tools.image_file import ImageFile, read_image_file
from agent_lsp.tools.tool import End, Spec, failed
from agent_lsp.tools.workspace import Workspace, is_there


class Describe(Protocol):
    """Has a model that sees tell what an image shows."""

    async def __call__(self, image_url: str, question: str) -> str | End:
        """The description; an `End` says why there is none."""
        ...


class ReadImageArgs(Arguments):
    """Arguments of read_image."""

    file_path: PathText = Field(description="Relative to the workspace, or absolute.")


class DescribeImageArgs(ReadImageArgs):
    """Arguments of describe_image."""

    question: str = Field(default="", description="What you want to know of the image; without it, what it shows.")


class ReadImage:
    """Puts the image into the call's output."""

    spec = Spec(
        "read_image",
        "Shows you an image file (PNG, JPEG, GIF, WebP): a screenshot, a diagram, a mock-up.",
        ReadImageArgs,
        "r",
    )

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def title(self, args: ReadImageArgs) -> str:
        """Names the file."""
        return f"Look at {args.file_path}"

    def access(self, args: ReadImageArgs) -> Access:
        """Reads one path."""
        return Access("read", (self._workspace.locate(args.file_path),))

    async def preview(self, args: ReadImageArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: ReadImageArgs) -> AsyncGenerator[str | End, None]:
        """Gives the image, or says why there is none."""
        image = await _read(self._workspace, args.file_path)
        if isinstance(image, End):
            yield image
        else:
            yield End(f"[{_facts(args.file_path, image)}]", images=(image.url,))


class DescribeImage:
    """Has the image described; without anybody to do that, only tells what kind of file it is."""

    spec = Spec(
        "describe_image",
        "Tells you what an image file (PNG, JPEG, GIF, WebP) shows, as you cannot see it yourself: another model looks"
        " at it and answers your question.",
        DescribeImageArgs,
        "r",
    )

    def __init__(self, workspace: Workspace, describe: Describe | None) -> None:
        self._workspace, self._describe = workspace, describe

    def title(self, args: DescribeImageArgs) -> str:
        """Names the file."""
        return f"Have {args.file_path} described"

    def access(self, args: DescribeImageArgs) -> Access:
        """Reads one path."""
        return Access("read", (self._workspace.locate(args.file_path),))

    async def preview(self, args: DescribeImageArgs) -> Preview | None:
        """Nothing changes, so there is nothing to show."""
        return None

    async def run(self, args: DescribeImageArgs) -> AsyncGenerator[str | End, None]:
        """Gives the description, or says why there is none."""
        image = await _read(self._workspace, args.file_path)
        if isinstance(image, End):
            yield image
            return
        facts = _facts(args.file_path, image)
        if self._describe is None:
            yield failed(
                f"{facts}. Nobody here can tell what it shows: you cannot see, and no model that can is named in the"
                " setting tools.vision_model. Ask the user, or go on without it."
            )
            return
        told = await self._describe(image.url, args.question)
        yield End(f"[{facts}, as another model sees it]\n{told}") if isinstance(told, str) else told


async def _read(workspace: Workspace, written: str) -> ImageFile | End:
    path = workspace.locate(written)
    if not is_there(path):
        return failed(await asyncio.to_thread(workspace.advice_on_missing, path))
    found = await asyncio.to_thread(read_image_file, path)
    return failed(f"{written} cannot be shown: {found}.") if isinstance(found, str) else found


def _facts(written: str, image: ImageFile) -> str:
    return f"{written}: {image.mime_type}, {len(image.data)} bytes"
