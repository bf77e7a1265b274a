"""The edits between two texts."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.tools.difference import applied, changed_lines, difference, locate, refine
from agent_lsp.tools.editor import TextEdit

TEXTS = st.text(alphabet="ab😀\r\n\x0c\u2028", max_size=30)
LINES = st.lists(st.sampled_from(["a\n", "b\r\n", "c\r", "d", "\n", "😀\n"]), max_size=12).map("".join)


@settings(deadline=None)
@given(TEXTS | LINES, TEXTS | LINES)
def test_the_edits_make_the_one_text_of_the_other(old, new):
    assert applied(old, difference(old, new)) == new


@settings(deadline=None)
@given(TEXTS | LINES, TEXTS | LINES)
def test_the_edits_are_in_order_do_not_touch_and_cut_no_line_end(old, new):
    edits = difference(old, new)
    assert all(a.end < b.start for a, b in pairwise(edits))
    for edit in edits:
        assert all(old[at - 1 : at + 1] != "\r\n" for at in (edit.start, edit.end) if at)


@settings(deadline=None)
@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), TEXTS), max_size=4))
def test_refined_edits_come_to_the_same(text, rough):
    at, edits = 0, []
    for start, length, new in rough:
        begin = min(len(text), at + start)
        at = min(len(text), begin + length)
        edits.append(TextEdit(begin, at, new))
    assert applied(text, refine(text, edits)) == applied(text, edits)


def test_one_changed_line_of_many_is_one_small_edit():
    old = "".join(f"line {n}\n" for n in range(1000))
    (edit,) = difference(old, old.replace("line 500\n", "changed\n"))
    assert edit.end - edit.start < 10 and len(edit.text) < 10


def test_two_changes_far_apart_are_two_edits():
    old = "".join(f"line {n}\n" for n in range(100))
    new = old.replace("line 5\n", "five\n").replace("line 90\n", "")
    assert len(difference(old, new)) == 2


def test_changes_far_apart_in_a_very_long_text_are_edits_of_their_own():
    lines = [f"{n}\n" for n in range(9000)]
    old = "".join(lines)
    new = "x\n" + old.replace("\n4500\n", "\n").replace("8998\n", "y\n")
    assert [len(edit.text) for edit in difference(old, new)] == [2, 0, 1]


def test_a_very_long_text_without_a_line_of_its_own_is_one_edit():
    assert len(difference("a\nb\n" * 3000, "b\na\n" * 2999)) == 1


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 400), min_size=600, max_size=900), st.data())
def test_long_texts_that_are_cut_come_to_the_same(numbers, data):
    lines = [f"{n}\n" for n in numbers]
    others = list(lines)
    for at in data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=6)):
        others[at : at + data.draw(st.integers(0, 3))] = ["new\n"]
    old, new = "".join(lines), "".join(others)
    assert applied(old, difference(old, new)) == new


def test_a_stretch_moves_with_what_happens_before_it_and_is_lost_when_something_reaches_in():
    text = "one\ntwo\nthree\n"
    start, end = text.index("two"), text.index("two") + 3
    assert locate(difference(text, "0\n" + text), start, end) == (6, 9)
    assert locate(difference(text, text + "4\n"), start, end) == (4, 7)
    assert locate(difference(text, text.replace("two", "two2")), start, end) == (4, 7)
    assert locate(difference(text, text.replace("two", "tXo")), start, end) is None


def test_a_place_without_length_is_lost_when_something_happens_there():
    assert locate(difference("ab", "aXb"), 1, 1) is None
    assert locate(difference("ab", "abX"), 1, 1) == (1, 1)


@settings(deadline=None)
@given(LINES, LINES, st.data())
def test_a_located_stretch_holds_the_same_text(old, new, data):
    start = data.draw(st.integers(0, len(old)))
    end = data.draw(st.integers(start, len(old)))
    if place := locate(difference(old, new), start, end):
        assert new[place[0] : place[1]] == old[start:end]


@settings(deadline=None)
@given(TEXTS | LINES, TEXTS | LINES)
def test_changed_lines_come_to_the_same(old, new):
    assert applied(old, changed_lines(old, (TextEdit(0, len(old), new),))) == new


def test_what_is_left_of_a_line_is_left_whole():
    text = "def f():\n    return second\n"
    start = text.index("second")
    assert changed_lines(text, (TextEdit(start, start + 6, "2nd"),)) == (TextEdit(start, start + 6, "2nd"),)
    whole = changed_lines(text, (TextEdit(0, len(text), text.replace("second", "2nd")),))
    assert whole == (TextEdit(9, len(text), "    return 2nd\n"),)
