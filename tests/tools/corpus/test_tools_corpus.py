"""How often edits as models make them succeed, and that none of them ever hits the wrong place."""

from __future__ import annotations

from collections import defaultdict
from difflib import unified_diff

import pytest

from agent_lsp.tools.editor import Change, Snapshot, new_text
from agent_lsp.tools.matching import Mismatch, find
from agent_lsp.tools.patch import PatchUnreadable, parse_patch
from agent_lsp.tools.patching import HunkUnfit, fit

from .edits import Edit, corpus

EDITS = corpus()
LEAST = {
    "exact": 1.0,
    "with its line end": 1.0,
    "a CRLF file": 1.0,
    "CRLF in the call": 1.0,
    "trailing blanks in the file": 1.0,
    "trailing blanks in the call": 1.0,
    "outdented": 0.9,
    "indented": 1.0,
    "blanks for tabs": 1.0,
    "half the indentation": 0.9,
}
"""The part that succeeds, by kind of imprecision; what is not here is to be refused."""


def edited(edit: Edit) -> str | None:
    """What edit_file makes of the file; None if it refuses."""
    found = find(edit.text, edit.old, edit.new, everywhere=False)
    return None if isinstance(found, Mismatch) else changed(edit, found.edits)


def changed(edit: Edit, edits) -> str | None:
    return new_text(Change(None, Snapshot(None, edit.text), edits))  # type: ignore[arg-type]


def patched(edit: Edit, patch: str) -> str | None:
    """What apply_patch makes of it."""
    try:
        (file,) = parse_patch(patch)
        return changed(edit, fit(edit.text, file.hunks))
    except (PatchUnreadable, HunkUnfit):
        return None


def v4a(edit: Edit) -> str:
    """The call as a V4A patch without anchors."""
    removed = [f"-{line}" for line in edit.old.replace("\r\n", "\n").split("\n")]
    added = [f"+{line}" for line in edit.new.replace("\r\n", "\n").split("\n")]
    return "\n".join(["*** Begin Patch", f"*** Update File: {edit.name}", "@@", *removed, *added, "*** End Patch"])


def unified(edit: Edit, off: int) -> str:
    """The change as a unified diff whose line numbers are wrong by so many."""
    before = edit.text.replace("\r\n", "\n").splitlines()
    after = edit.wanted.replace("\r\n", "\n").splitlines()
    lines = list(unified_diff(before, after, edit.name, edit.name, lineterm="", n=2))
    head = lines[2].split()
    start, _, count = head[1][1:].partition(",")
    lines[2] = f"@@ -{max(1, int(start) + off)},{count or 1} {head[2]} @@"
    return "\n".join(lines)


def same(edit: Edit, result: str) -> bool:
    """Whether it is what was wanted, trailing blanks of lines aside: nobody asked to have those of other lines gone."""
    return [line.rstrip() for line in result.split("\n")] == [line.rstrip() for line in edit.wanted.split("\n")]


def test_there_are_enough_edits_in_enough_languages():
    assert len(EDITS) >= 400 and len({edit.name for edit in EDITS}) >= 10
    assert corpus() == EDITS


@pytest.mark.parametrize("how", [edited, lambda edit: patched(edit, v4a(edit))], ids=["edit_file", "apply_patch"])
def test_no_edit_is_ever_made_in_the_wrong_place_or_in_the_wrong_way(how):
    wrong = [(e.kind, e.name, e.old, r) for e in EDITS if (r := how(e)) is not None and not same(e, r)]
    assert not wrong, wrong[0]


def test_line_ends_and_all_that_is_not_edited_stay_as_they_were():
    for edit in EDITS:
        if (result := edited(edit)) is not None:
            assert ("\r\n" in result) == ("\r\n" in edit.text) and "\r\n" not in result.replace("\r\n", "")


def test_what_is_imprecise_succeeds_as_often_as_it_ever_did():
    tried, done = defaultdict(int), defaultdict(int)
    for edit in EDITS:
        tried[edit.kind] += 1
        done[edit.kind] += edited(edit) is not None
    rates = {kind: done[kind] / tried[kind] for kind in tried}
    below = {kind: (rates[kind], least) for kind, least in LEAST.items() if rates[kind] < least}
    assert not below and sum(done.values()) >= 0.65 * len(EDITS), (below, rates)


def test_it_never_guesses_between_two_places():
    for edit in EDITS:
        if edit.kind == "twice in the file":
            assert edited(edit) is None and patched(edit, v4a(edit)) is None
            assert (text := find(edit.text, edit.old, edit.new, everywhere=False)) and "2 times" in text.why


@pytest.mark.parametrize("off", [0, 1, -3, 40])
def test_a_diff_with_wrong_line_numbers_fits_where_its_lines_are(off):
    exact = [edit for edit in EDITS if edit.kind in ("exact", "a CRLF file")]
    results = [(edit, patched(edit, unified(edit, off))) for edit in exact]
    assert all(result is None or same(edit, result) for edit, result in results)
    assert sum(result is not None for _, result in results) >= 0.95 * len(results)
