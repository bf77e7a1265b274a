"""Steering: what is said while a task runs reaches it, once, or is refused."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.providers.scripted import text
from tests.engine.harness import PIXEL, Rig, block, passing, said, virtual, work


def steering(words):
    return ("user", f"[user_steering]\n{words}\n[/user_steering]")


def steer(rig, *input):
    return rig.session.steer(said(*input))


@virtual
async def test_steering_comes_after_the_outputs_and_is_told_and_traced_once():
    async with Rig() as rig:
        rig.llm.script([work("a", then=2)], [text("ok")])
        rig.at(1, steer, rig, "more")
        assert (await rig.run("go")).turns == 2
        assert rig.sent() == [("user", "go"), ("call", "a"), ("output", "a", "ok"), steering("more")]
        assert rig.labels()[rig.labels().index("tool_call_output") :][:3] == [
            "tool_call_output",
            "text",
            "request_begin",
        ]
        assert rig.of(Text)[0].sender is None
        assert len([one for one in rig.traced() if "user_steering" in one.get("text", "")]) == 1


@virtual
async def test_steering_goes_alone_instead_of_ending():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one")], [text("two")])
        rig.at(0.5, steer, rig, "more")
        result = await rig.run("go")
        assert (result.status, result.turns, result.text) == ("completed", 2, "two")
        assert rig.sent() == [("user", "go"), ("assistant", "one"), steering("more")]


@virtual
async def test_entries_come_in_order_of_arrival_one_text_each_with_its_images_behind():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one")], [text("two")])
        rig.at(0.1, steer, rig, "a", "b")
        rig.at(0.2, steer, rig, ImageUrl(image_url=PIXEL), "look")
        rig.at(0.3, steer, rig, ImageUrl(image_url=PIXEL))
        await rig.run("go")
        assert rig.sent()[2:] == [steering("a\n\nb"), steering("look"), ("image", PIXEL), ("image", PIXEL)]


@virtual
async def test_every_assembly_delivers():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one")], [text("two")], [text("three")])
        rig.at(0.5, steer, rig, "a")
        rig.at(3.5, steer, rig, "b")
        assert (await rig.run("go")).text == "three"
        assert rig.sent()[2:] == [steering("a"), ("assistant", "two"), steering("b")]


@virtual
async def test_steering_is_refused_when_nothing_runs():
    async with Rig() as rig:
        assert steer(rig, "lost") is None
        await rig.run("go")
        assert steer(rig, "lost") is None and steer(rig, "") is None
        await rig.run("next")
        assert "lost" not in str(rig.llm.requests)


@virtual
async def test_steering_of_another_run_is_refused():
    async with Rig(gap_s=1) as rig:
        ticket = rig.start("go")
        await passing(0.5)
        assert rig.session.steer(said("lost"), run_id="run-other") is None
        assert rig.session.steer(said("a"), run_id=ticket.run_id) is not None
        await ticket.result
        assert rig.sent()[2:] == [steering("a")]


@virtual
async def test_empty_steering_queues_nothing_and_is_accepted():
    async with Rig(gap_s=1) as rig:
        ticket = rig.start("go")
        await passing(0.5)
        assert rig.session.steer([]) is not None and rig.session.undelivered() == ()
        assert (await ticket.result).turns == 1


@virtual
async def test_steering_can_be_taken_back_until_its_delivery():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one")], [text("two")])
        ticket = rig.start("go")
        await passing(0.5)
        kept, gone = steer(rig, "kept"), steer(rig, "gone")
        assert [one.input[0].text for one in rig.session.undelivered()] == ["kept", "gone"]
        assert [rig.session.unsteer(gone.steer_id) for _ in range(2)] == [True, False]
        await passing(3)
        assert rig.session.unsteer(kept.steer_id) is False
        await ticket.result
        assert rig.sent()[2:] == [steering("kept")]
        assert rig.session.unsteer(kept.steer_id) is False


@virtual
async def test_a_task_ends_when_its_only_steering_was_taken_back():
    async with Rig(gap_s=1) as rig:
        ticket = rig.start("go")
        await passing(0.5)
        rig.session.unsteer(steer(rig, "gone").steer_id)
        assert (await ticket.result).turns == 1


@virtual
async def test_undelivered_steering_is_lost_with_an_abort():
    async with Rig(gap_s=1) as rig:
        rig.llm.script([text("one", "!")], [text("ok")])
        ticket = rig.start("go")
        await passing(1.5)
        assert steer(rig, "lost")
        rig.abort()
        assert steer(rig, "late") is None
        await ticket.result
        await rig.run("next")
        items = ["[user_input]go[/user_input]", "[text]one[/text]"]
        assert rig.sent() == [("user", block("turn_aborted", *items)), ("user", "next")]


@virtual
async def test_steering_counts_as_a_turn_and_is_carried_over_at_the_limit():
    async with Rig(options=EngineOptions(max_turns=1), gap_s=1) as rig:
        rig.llm.script([text("one")], [text("ok")])
        rig.at(0.5, steer, rig, "more")
        result = await rig.run("go")
        assert (result.status, result.turns, result.text, result.undelivered) == ("max_turns", 1, "one", 1)
        await rig.run("next")
        assert rig.sent() == [("user", "go"), ("assistant", "one"), steering("more"), ("user", "next")]


LABELS = [
    "tool_list_ready",
    "request_begin",
    "partial_text:start",
    "partial_text:stop",
    "text",
    "token_usage",
    "request_end:completed",
]


@pytest.mark.parametrize("label", LABELS)
@virtual
async def test_accepted_means_delivered_at_every_point_of_a_run(label):
    async with Rig() as rig:
        rig.llm.script([text("one")], [text("two")])
        accepted = []
        rig.when(label, lambda: accepted.append(steer(rig, "more")))
        result = await rig.run("go")
        assert len(accepted) == 1 and accepted[0] is not None
        assert result.turns == 2 and rig.sent()[-1] == steering("more")
