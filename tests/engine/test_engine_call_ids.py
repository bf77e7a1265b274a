"""Call ids: unique in a session, and the provider's own on the way back."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.call_ids import CallIds
from agent_lsp.messages.content import ToolCall
from agent_lsp.providers.scripted import text
from tests.engine.harness import Rig, virtual, work

IDS = st.text("ab#23", min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("given_", "unique"),
    [
        (["a", "a", "a"], ["a", "a#2", "a#3"]),
        (["a#2", "a"], ["a#2", "a"]),
        (["own#2", "own#2"], ["own#2", "own#2#2"]),
        (["a", "a", "b", "b"], ["a", "a#2", "b", "b#2"]),
        (["a#2", "a", "a"], ["a#2", "a", "a#3"]),
        (["#2", "#2"], ["#2", "#2#2"]),
    ],
)
def test_the_second_use_of_an_id_is_numbered_and_an_own_number_left_alone(given_, unique):
    ids = CallIds()
    assert [ids.claim(one) for one in given_] == unique
    assert [ids.original(one) for one in unique] == given_


@settings(deadline=None, max_examples=500)
@given(st.lists(IDS, max_size=12))
def test_ids_are_unique_and_lead_back_to_the_providers(originals):
    ids = CallIds()
    unique = [ids.claim(one) for one in originals]
    assert len(set(unique)) == len(unique)
    assert [ids.original(one) for one in unique] == originals


@settings(deadline=None, max_examples=500)
@given(st.lists(IDS, max_size=12))
def test_the_way_back_is_a_function_of_the_ids_alone(originals):
    live, replayed = CallIds(), CallIds()
    unique = [live.claim(one) for one in originals]
    for one in unique:
        replayed.note(one)
    assert [replayed.original(one) for one in unique] == originals
    assert [live.claim(one) for one in originals] == [replayed.claim(one) for one in originals]


def test_an_empty_id_is_made_up():
    ids = CallIds()
    first, second = ids.claim(""), ids.claim("")
    assert first and second and first != second
    assert ids.original(first) == first


@virtual
async def test_a_session_makes_repeated_ids_unique_and_gives_the_provider_its_own():
    async with Rig() as rig:
        rig.llm.script([work("dup"), work("own#2")], [work("dup")], [text("end")])
        await rig.run("go")
        assert rig.ids(ToolCall) == ["dup", "own#2", "dup#2"]
        assert [one[1] for one in rig.sent() if one[0] == "call"] == ["dup", "own#2", "dup"]
        assert [one[1] for one in rig.sent() if one[0] == "output"] == ["dup", "own#2", "dup"]


@virtual
async def test_two_calls_of_one_reply_may_have_the_same_id():
    async with Rig() as rig:
        rig.llm.script([work("a", out="1"), work("a", out="2"), work("", out="3")], [text("end")])
        await rig.run("go")
        first, second, third = rig.ids(ToolCall)
        assert (first, second) == ("a", "a#2") and third not in ("", "a", "a#2")
        assert rig.sent()[4:] == [("output", "a", "1"), ("output", "a", "2"), ("output", third, "3")]
