import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import CallBegin, Outcome, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.providers.openai_chat.stream import ChatReader
from tests.providers.replies import joined, read, sse


def delta(finish=None, **fields):
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def said(*pieces, think_tags=True, more=()):
    events = [*(delta(content=piece) for piece in pieces), *more, delta("stop"), b"[DONE]"]
    parts = joined(read(ChatReader("p", think_tags=think_tags), sse(*events)))
    return [part for part in parts if not isinstance(part, SegmentEnd)]


def words(*pieces, **more):
    """(thinking, text)."""
    parts = said(*pieces, **more)
    thinking = "".join(part.thinking for part in parts if isinstance(part, ThinkingDelta))
    return thinking, "".join(part.text for part in parts if isinstance(part, TextDelta))


CASES = {
    "a block at the start": ("<think>\nhm\n</think>\n\nHi", ("hm\n", "Hi")),
    "white space before it": (" \n<think>hm</think>Hi", ("hm", "Hi")),
    "no block": ("Hi", ("", "Hi")),
    "tags further on": ("Use <think>x</think>.", ("", "Use <think>x</think>.")),
    "a second block": ("<think>a</think>b<think>c</think>", ("a", "b<think>c</think>")),
    "something like a tag": ("<thin ice", ("", "<thin ice")),
    "something like the end": ("<think>a </thin b</think>c", ("a </thin b", "c")),
    "an empty block": ("<think></think>Hi", ("", "Hi")),
}


@pytest.mark.parametrize("name", CASES)
def test_a_leading_block_is_thinking(name):
    text, wanted = CASES[name]
    assert words(text) == words(*text) == wanted


def test_nobody_is_split_who_did_not_ask():
    assert words("<think>hm</think>Hi", think_tags=False) == ("", "<think>hm</think>Hi")


def test_a_block_that_never_ends_is_no_reply():
    assert said("<think>hm</th")[-1].status == "malformed"
    assert words("<think>hm</th")[0] == "hm</th"


def test_what_was_held_back_comes_before_a_call():
    call = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}])
    parts = said("<thi", more=[call])
    assert parts[:2] == [TextDelta("<thi"), CallBegin(0, "f", "a")] and isinstance(parts[-1], Outcome)


@settings(deadline=None)
@given(st.lists(st.sampled_from(["<think>", "</think>", "<", "/", "think>", "a", " ", "\n"]), max_size=12))
def test_how_it_is_cut_does_not_matter(pieces):
    assert words(*pieces) == words("".join(pieces)) == words(*"".join(pieces))
