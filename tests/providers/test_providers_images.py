import base64
import io
import struct
import sys

import pytest

from agent_lsp.engine.ports import Commit, Request
from agent_lsp.messages.content import ImageUrl, InlineData, Text, ToolCallOutput
from agent_lsp.providers.build import build
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.image_size import size_px
from agent_lsp.providers.images import FittedImages, Limits, Unfit, fit, limits_of
from agent_lsp.providers.scripted import Scripted, text
from agent_lsp.slotted import replace

Image = pytest.importorskip("PIL.Image")
PIXEL = "data:image/png;base64,AAAA"


def drawn(width, height, kind="png", mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, (width, height), "red").save(buffer, kind)
    return buffer.getvalue()


def url(data, kind="png"):
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def opened(data_url):
    return Image.open(io.BytesIO(base64.b64decode(data_url.partition(",")[2])))


@pytest.mark.parametrize("kind", ["png", "gif", "jpeg", "webp"])
def test_the_size_is_read_from_the_first_bytes(kind):
    assert size_px(drawn(31, 17, kind)) == (31, 17)


@pytest.mark.parametrize("mode", [{"lossless": True}, {"exif": b"x"}])
def test_other_forms_of_webp_too(mode):
    buffer = io.BytesIO()
    Image.new("RGB", (31, 17)).save(buffer, "webp", **mode)
    assert size_px(buffer.getvalue()) == (31, 17)


@pytest.mark.parametrize(
    "head", [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"RIFF1234WEBPVP8X", b"GIF8", b"BM", b"RIFF"]
)
def test_bytes_that_do_not_tell_have_no_size(head):
    assert size_px(head) is None


def test_what_fits_is_left_alone():
    small = url(drawn(9, 9))
    assert fit(small, Limits()) is small and fit("https://x/y.png", Limits(length=1)) == "https://x/y.png"


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "P", "L"])
def test_too_many_pixels_are_scaled_and_the_shape_is_kept(mode):
    fitted = fit(url(drawn(400, 200, mode=mode)), Limits(side_px=100))
    assert opened(fitted).size == (100, 50)
    assert fitted == fit(url(drawn(400, 200, mode=mode)), Limits(side_px=100))


def test_too_many_bytes_are_scaled():
    noisy = Image.effect_noise((300, 300), 90).convert("RGBA")
    buffer = io.BytesIO()
    noisy.save(buffer, "png")
    fitted = fit(url(buffer.getvalue()), Limits(length=20_000))
    assert len(fitted) < 20_100 and max(opened(fitted).size) <= 300


def test_a_kind_that_is_not_taken_is_converted():
    assert fit(url(drawn(5, 5, "bmp"), "bmp"), Limits()).startswith("data:image/png;base64,")


def test_what_is_no_image_is_unfit():
    with pytest.raises(Unfit, match=r"takes no image/bmp, and it could not"):
        fit("data:image/bmp;base64,AAAA", Limits())
    bomb = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 1 << 30, 1 << 30) + b"\x08\x02\0\0\0" + b"\0" * 9
    with pytest.raises(Unfit, match="pixels"):
        fit(url(bomb), Limits())


def test_without_the_library_it_is_said_what_to_install(monkeypatch):
    large = url(drawn(200, 100))
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(Unfit, match=r"200×100 pixels, the provider takes 50 a side; install agent-lsp\[images\]"):
        fit(large, Limits(side_px=50))


def test_each_provider_has_its_limits():
    endpoint = Endpoint("p", "anthropic", "https://h", "m", vision=True)
    assert limits_of(endpoint).length == 5 * 1024 * 1024
    assert "image/heic" in limits_of(replace(endpoint, api="gemini")).kinds
    assert isinstance(build(endpoint), FittedImages) and not isinstance(
        build(replace(endpoint, vision=False)), FittedImages
    )


SMALL = Limits(side_px=100)
BIG = url(drawn(400, 200))


async def sent(*given, history=(), limits=SMALL):
    llm = Scripted([[text("ok")]])
    request = Request("s", (), tuple(history), given or (Text(role="user", text="go"),))
    parts = [part async for part in FittedImages(llm, limits).stream(request)]
    return parts[-1], (llm.requests[0] if llm.requests else None), request


@pytest.mark.asyncio
async def test_a_request_without_large_images_goes_as_it_is():
    small = (ImageUrl(image_url=url(drawn(9, 9))), ToolCallOutput(tool_call_id="c", output="x", images=(PIXEL,)))
    outcome, got, given = await sent(*small, history=[Commit(small)])
    assert outcome.status == "completed" and got is given


@pytest.mark.asyncio
async def test_large_images_are_fitted_in_input_and_history_alike():
    inline = InlineData(role="user", data=BIG.partition(",")[2], mime_type="image/png")
    given = (ImageUrl(image_url=BIG), inline, ToolCallOutput(tool_call_id="c", output="x", images=(BIG,)))
    _, got, request = await sent(*given, history=[Commit(given), kept := Commit((Text(role="user", text="a"),))])
    first, second, third = got.input
    assert first.image_url == second.image_url == third.images[0] == fit(BIG, SMALL)
    assert got.history[0].messages == got.input and got.history[1] is kept
    assert request.input[0].image_url == BIG


@pytest.mark.asyncio
async def test_the_user_is_told_of_an_image_that_cannot_be_sent(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    outcome, got, _ = await sent(ImageUrl(image_url=BIG))
    assert outcome.permanent and "install agent-lsp[images]" in outcome.message and got is None


@pytest.mark.asyncio
async def test_the_model_goes_on_without_an_image_of_a_tool_or_of_before(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    output = ToolCallOutput(tool_call_id="c", output="x", images=(BIG, PIXEL))
    outcome, got, _ = await sent(output, history=[Commit((ImageUrl(image_url=BIG),))])
    assert outcome.status == "completed" and got.input[0].images == (PIXEL,)
    assert got.input[0].output.startswith("x\n[image not shown: it is 400×200 pixels")
    assert got.history[0].messages[0].text.startswith("[image not shown: ")
