from __future__ import annotations

import base64
import os

import pytest

from agent_lsp.tools.image_file import LARGEST_BYTES, kind_of
from agent_lsp.tools.late import useless
from agent_lsp.tools.tool import failed

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
PNG = base64.b64decode(PIXEL)


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"),
        (b"RIFF\0\0\0\0WAVE", None),
        (b"<svg", None),
        (b"", None),
    ],
)
def test_the_first_bytes_tell_the_kind(head, kind):
    assert kind_of(head) == kind


@pytest.mark.asyncio
async def test_the_image_is_in_the_output_whatever_its_file_is_called(session):
    (session.root / "photo.jpg").write_bytes(PNG)
    done = await session.use("read_image", file_path="photo.jpg")
    assert done.result.images == (f"data:image/png;base64,{PIXEL}",) and "image/png" in done.output


@pytest.mark.asyncio
@pytest.mark.parametrize("tool", ["read_image", "describe_image"])
async def test_what_is_no_image_is_refused_with_the_reason(session, tool):
    os.mkfifo(session.root / "pipe")
    with (session.root / "large.png").open("wb") as file:
        file.write(PNG)
        file.truncate(LARGEST_BYTES + 1)
    for path, word in (
        ("hello.txt", "no image"),
        ("pipe", "no file"),
        (".", "directory"),
        ("large.png", "larger"),
        ("helo.txt", "hello.txt"),
    ):
        done = await session.use(tool, file_path=path)
        assert done.failed and word in done.output and not done.result.images


@pytest.mark.asyncio
async def test_a_model_that_sees_describes_for_one_that_does_not(make_session):
    asked = []

    async def describe(url, question):
        asked.append((url, question))
        return "a red dot" if question else failed("it is busy")

    session = make_session(describe=describe)
    (session.root / "dot.png").write_bytes(PNG)
    done = await session.use("describe_image", file_path="dot.png", question="which colour?")
    assert done.output.endswith("\na red dot") and asked == [(f"data:image/png;base64,{PIXEL}", "which colour?")]
    assert not done.result.images
    assert (await session.use("describe_image", file_path="dot.png")).failed


@pytest.mark.asyncio
async def test_without_anybody_who_sees_it_is_said_what_to_set(session):
    (session.root / "dot.png").write_bytes(PNG)
    done = await session.use("describe_image", file_path="dot.png")
    assert done.failed and "tools.vision_model" in done.output and "image/png" in done.output


def test_one_of_the_two_is_offered_and_the_other_comes_back_with_the_model(session):
    for sees, there, gone in ((True, "read_image", "describe_image"), (False, "describe_image", "read_image")):
        session.toolset.hide(useless(sees=sees))
        assert there in session.toolset.offered() and gone not in session.toolset.offered()
