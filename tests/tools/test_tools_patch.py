from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.tools.diff import unified_diff
from agent_lsp.tools.editor import Change, Snapshot, new_text
from agent_lsp.tools.patch import PatchUnreadable, parse_patch
from agent_lsp.tools.patching import HunkUnfit, added_text, fit


def patched(text, patch):
    (file,) = parse_patch(patch)
    return new_text(Change(None, Snapshot(None, text), fit(text, file.hunks)))


texts = st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ e", "", " f", "*g"]), max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join([*lines, ""])])
)


@settings(deadline=None, max_examples=300)
@given(texts, texts)
def test_a_diff_of_ours_applied_as_a_patch_gives_the_new_text(before, after):
    diff = unified_diff("f", before, after)
    if diff:
        assert patched(before, diff) == after
    else:
        assert before == after


@settings(deadline=None)
@given(texts.filter(bool))
def test_a_diff_that_adds_a_file_adds_just_its_text(after):
    (file,) = parse_patch(unified_diff("f", None, after))
    assert file.kind == "add" and added_text(file.hunks) == after


@settings(deadline=None)
@given(st.text("-+ @*ab\n\\/", max_size=60))
def test_reading_any_text_gives_files_or_says_why_not(text):
    for prefix in ("", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n", "*** Begin Patch\n*** Update File: f\n"):
        try:
            files = parse_patch(prefix + text)
            for file in files:
                fit("a\nb\n", file.hunks)
        except (PatchUnreadable, HunkUnfit) as error:
            assert str(error)


def test_counts_that_do_not_add_up_are_left_aside():
    patch = "--- a/f\n+++ b/f\n@@ -1,9 +1,7 @@\n a\n-b\n+B\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+y\n"
    first, second = parse_patch(patch)
    assert (first.path, second.path) == ("f", "g") and first.hunks[0].lines == [(" ", "a"), ("-", "b"), ("+", "B")]


def test_a_hunk_goes_to_the_fitting_place_nearest_to_where_it_says():
    text = "".join(f"{name}\nx\n" for name in "abcdefgh")
    assert patched(text, "--- f\n+++ f\n@@ -12,1 +12,1 @@\n-x\n+y\n") == text.replace("f\nx", "f\ny")


def test_context_may_differ_in_trailing_blanks_and_stays_as_the_file_has_it():
    assert patched("a  \nb\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n") == "a  \nc\n"


def test_line_ends_and_a_missing_final_one_stay():
    patch = "*** Begin Patch\n*** Update File: f\n@@\n-b\n+c\n+d\n*** End Patch"
    assert patched("a\r\nb", patch) == "a\r\nc\r\nd"
    assert patched("a\r\nb\r\n", patch) == "a\r\nc\r\nd\r\n"


def test_anchors_lead_to_the_right_one_of_several_places():
    patch = "*** Begin Patch\n*** Update File: f\n@@ def g():\n-    return 1\n+    return 2\n*** End Patch"
    assert patched("def f():\n    return 1\ndef g():\n    return 1\n", patch).endswith("def g():\n    return 2\n")


def test_git_renames_quoting_and_prefixes_are_understood():
    rename = "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
    patch = rename + '--- "a/d\\303\\244"\n+++ "b/d\\303\\244"\n@@ -1 +1 @@\n-a\n+b\n'
    renamed, quoted = parse_patch(patch)
    assert (renamed.path, renamed.move_to, quoted.path) == ("x", "y", "dä")


@pytest.mark.parametrize(
    "patch",
    [
        "",
        "hello",
        "*** Begin Patch\n*** End Patch",
        "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n",
    ],
)
def test_what_is_no_patch_is_said(patch):
    with pytest.raises(PatchUnreadable):
        parse_patch(patch)


def test_a_hunk_that_fits_nowhere_is_named():
    with pytest.raises(HunkUnfit, match="hunk 1 does not fit"):
        patched("a\n", "--- f\n+++ f\n@@ -1 +1 @@\n-b\n+c\n")


def test_a_diff_is_bounded():
    before, after = ("".join(f"{n} {x}\n" for n in range(20_000)) for x in "ab")
    assert len(unified_diff("f", before, after).splitlines()) < 450
    assert unified_diff("f", "a\n", "a\n") == ""


@pytest.mark.parametrize(
    "patch",
    [
        "--- /dev/null\n+++ \n@@ -0,0 +1 @@\n+a\n",
        "*** Begin Patch\n*** Update File: m.py\n*** Move to:  \n@@\n-a\n+b\n*** End Patch",
        "*** Begin Patch\n*** Delete File:  \n*** End Patch",
    ],
)
def test_a_file_without_a_name_is_refused(patch):
    with pytest.raises(PatchUnreadable):
        parse_patch(patch)
