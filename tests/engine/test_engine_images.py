"""Images for a model that cannot see: files, and lines that name them."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages import markers
from agent_lsp.messages.content import ImageUrl, Text
from tests.engine.harness import PIXEL, Rig, Shelf, said, virtual, work

IMAGE = ImageUrl(image_url=PIXEL)
BLIND = EngineOptions(vision=False)


@virtual
async def test_those_of_a_prompt_are_kept_when_the_run_starts_before_the_trace():
    async with Rig(options=BLIND, pictures=(shelf := Shelf())) as rig:
        await rig.run("look", IMAGE, IMAGE)
        assert shelf.kept == [PIXEL, PIXEL]
        assert rig.sent(0) == [
            ("user", "look"),
            ("user", "[attached image: /pad/1.png]"),
            ("user", "[attached image: /pad/2.png]"),
        ]
        assert "image_url" not in [one["type"] for one in rig.traced()]


@virtual
async def test_those_of_a_run_that_never_started_are_not_kept():
    async with Rig(options=BLIND, pictures=(shelf := Shelf())) as rig:
        first, second = rig.start("a"), rig.start(IMAGE)
        rig.session.cancel(second)
        await first.result
        assert not shelf.kept


@virtual
async def test_those_of_steering_are_lines_of_its_block_and_kept_when_it_is_delivered():
    async with Rig(options=BLIND, pictures=(shelf := Shelf())) as rig:
        rig.llm.script([work("a", then=2)])
        rig.at(1, rig.session.steer, said("like this", IMAGE, "or that"))
        rig.at(1.5, lambda: shelf.kept and pytest.fail("too early"))
        await rig.run("go")
        assert rig.sent(1)[-1] == ("user", markers.steering("like this\n\nor that\n[attached image: /pad/1.png]"))


@virtual
async def test_those_of_steering_that_is_thrown_away_leave_no_files():
    async with Rig(options=BLIND, pictures=(shelf := Shelf())) as rig:
        rig.llm.script([work("a", then="inf")])
        rig.at(1, rig.session.steer, said(IMAGE))
        rig.at(2, rig.abort)
        await rig.run("go")
        assert not shelf.kept


@virtual
async def test_steering_that_is_an_image_alone_is_a_block_all_the_same():
    async with Rig(options=BLIND, pictures=Shelf()) as rig:
        rig.when("token_usage", lambda: rig.session.steer(said(IMAGE)))
        await rig.run("go")
        assert [one.text for one in rig.of(Text) if "steering" in one.text] == [
            markers.steering("[attached image: /pad/1.png]")
        ]


@virtual
async def test_a_model_that_sees_gets_the_image_itself_behind_the_block():
    async with Rig(pictures=(shelf := Shelf())) as rig:
        rig.when("token_usage", lambda: rig.session.steer(said("so", IMAGE)))
        await rig.run("look", IMAGE)
        assert rig.sent(0)[-1] == ("image", PIXEL) and not shelf.kept
        assert rig.sent(1)[-2:] == [("user", markers.steering("so")), ("image", PIXEL)]


@virtual
async def test_without_a_place_for_it_the_line_says_so():
    async with Rig(options=BLIND) as rig:
        await rig.run(IMAGE)
        assert rig.sent(0) == [("user", "[attached image: it could not be kept]")]
