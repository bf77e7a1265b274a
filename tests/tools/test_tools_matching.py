from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.tools.editor import Change, Snapshot, new_text
from agent_lsp.tools.matching import Match, Mismatch, find


def edited(text, old, new, everywhere=False):
    found = find(text, old, new, everywhere=everywhere)
    assert isinstance(found, Match), found
    return new_text(Change(None, Snapshot(None, text), found.edits)), found.note


def why(text, old, new="new", everywhere=False):
    found = find(text, old, new, everywhere=everywhere)
    assert isinstance(found, Mismatch)
    return found.why


def test_the_only_place_is_edited():
    assert edited("a\nb\nc\n", "b", "B") == ("a\nB\nc\n", "")


def test_two_places_are_told_and_not_edited():
    assert "2 times (lines 1, 3)" in why("x = 1\ny\nx = 1\n", "x = 1")
    assert edited("x = 1\ny\nx = 1\n", "x = 1", "z", everywhere=True)[0] == "z\ny\nz\n"


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("a", "a"), ("a\r\n", "a\n")])
def test_what_changes_nothing_is_refused(old, new):
    assert why("a\nb\n", old, new)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("their", ["\n", "\r\n"])
def test_line_ends_do_not_matter_and_the_file_keeps_its_own(end, their):
    text = f"one{end}two{end}three{end}"
    assert edited(text, f"one{their}two{their}", f"1{their}2{their}x{their}")[0] == f"1{end}2{end}x{end}three{end}"


def test_in_a_mixed_file_the_place_decides():
    assert edited("a\r\nb\r\nc\nd\ne\n", "a\nb", "A\nB")[0] == "A\r\nB\r\nc\nd\ne\n"
    assert edited("a\r\nb\r\nc\nd\ne\n", "c\nd", "C\nD")[0] == "a\r\nb\r\nC\nD\ne\n"


def test_the_only_place_but_for_trailing_blanks_is_edited_and_said():
    text, note = edited("# 1\none  \ntwo\t\n", "one\ntwo", "new")
    assert text == "# 1\nnew\n" and "trailing blanks" in note
    assert edited("x one\ntwo y\n", "one  \ntwo", "new")[0] == "x new y\n"


def test_the_only_place_but_for_indentation_gets_the_new_text_moved():
    text, note = edited(
        "class A:\n    def f(self):\n        return 1\n",
        "def f(self):\n    return 1",
        "def f(self):\n    x = 2\n\n    return x",
    )
    assert text == "class A:\n    def f(self):\n        x = 2\n\n        return x\n" and "indentation" in note
    assert edited("a\n\tif x:\n\t\ty\n", "    if x:\n        y", "    if z:\n        w")[0] == "a\n\tif z:\n\t\tw\n"
    assert edited("if x:\n    y\n", "  if x:\n      y\n", "  if x:\n      z\n")[0] == "if x:\n    z\n"


@pytest.mark.parametrize(
    ("text", "old"), [("one  \ntwo\none\t\ntwo\n", "one\ntwo"), ("if a:\n    x\nif a:\n        x\n", "if a:\n  x")]
)
def test_two_places_but_for_blanks_are_not_guessed_between(text, old):
    assert "2 places" in why(text, old)


def test_the_nearest_place_is_shown_with_its_lines():
    reason = why("import os\n\n\ndef greeting(name):\n    return name.title()\n", "def greting(nam):")
    assert "     4\tdef greeting(name):" in reason


def test_line_numbers_and_case_are_pointed_out():
    assert "line numbers" in why("a\nb\n", "     1\ta\n     2\tb")
    assert "upper and lower case" in why("Hello World\n", "hello world")


def test_blanks_alone_fit_nowhere_by_leniency():
    assert why("a\n\nb\n", "   ")


lines = st.lists(st.sampled_from(["a", "  a", "b ", "", "\tc"]), max_size=6)


@settings(deadline=None)
@given(lines, lines, lines, st.sampled_from(["\n", "\r\n"]))
def test_an_exact_and_single_place_is_replaced_and_nothing_else(before, middle, after, end):
    old = "\n".join(["<", *middle, ">"])
    text = end.join([*before, *old.split("\n"), *after])
    result, note = edited(text, old, "NEW")
    assert result == end.join([*before, "NEW", *after]) and not note


@settings(deadline=None)
@given(st.text("ab \t\r\n", max_size=30), st.text("ab \t\r\n", min_size=1, max_size=8), st.booleans())
def test_it_never_raises_and_edits_do_not_overlap(text, old, everywhere):
    found = find(text, old, "new", everywhere=everywhere)
    if isinstance(found, Match):
        ends = [0, *(edge for edit in found.edits for edge in (edit.start, edit.end)), len(text)]
        assert ends == sorted(ends)


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("ab" * 20_000, "ba " * 500 + "q"),
        ("\n".join(f"ab{number}" * 400 for number in range(2_000)), "ba " * 600),
        ("\n".join("ab" * 100 for _ in range(20_000)), "ba " * 60),
        ("x" + " " * 20_000 + "\ny\n", "\nzzz"),
        (" \t" * 9_000, "\n\n\nq"),
    ],
    ids=["one long line", "many long lines", "many alike", "a run of blanks", "blanks alone"],
)
def test_what_is_not_there_is_soon_known_however_long_the_lines_are(text, old):
    began = time.process_time()
    assert why(text, old)
    assert time.process_time() - began < 5


def test_an_edit_of_too_many_places_is_refused_with_advice():
    assert "sed" in why("x" * 50_001, "x", "y", everywhere=True)
    assert "more than 50000 times" in why("x" * 50_001, "x", "y")
    assert edited("x" * 50_000, "x", "y", everywhere=True)[0] == "y" * 50_000
