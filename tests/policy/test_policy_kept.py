"""What is kept on the disk, and what is shown."""

from __future__ import annotations

import json
import stat
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.policy.grants import Grants
from agent_lsp.policy.rules import Coverage, Offer, WorkspaceRules, canonical, taken
from agent_lsp.policy.trust import Trust
from agent_lsp.policy.visible import visible, visible_line


def offer(rule="tool:1", scope="workspace"):
    return Offer("tool", scope, rule, "a label")


def the_file(data_dir):
    (found,) = (data_dir / "rules").glob("*.json")
    return found


def test_rules_of_a_workspace_outlive_the_server_and_are_nobody_elses(data_dir, workspace):
    rule = Grants("ask", WorkspaceRules(data_dir, workspace)).remember(offer())
    assert WorkspaceRules(data_dir, workspace).all() == (rule,)
    assert WorkspaceRules(data_dir, workspace.parent).all() == ()
    assert list(workspace.iterdir()) == []
    assert stat.S_IMODE(the_file(data_dir).stat().st_mode) == 0o600
    assert stat.S_IMODE((data_dir / "rules").stat().st_mode) == 0o700


def test_a_workspace_is_the_same_by_all_its_names(data_dir, workspace, tmp_path):
    (tmp_path / "other name").symlink_to(workspace)
    rule = taken(offer())
    WorkspaceRules(data_dir, tmp_path / "other name").add(rule)
    assert WorkspaceRules(data_dir, workspace / "x" / "..").all() == (rule,)


def test_a_second_server_sees_rules_and_revocations_at_once(data_dir, workspace):
    ours, theirs = (Grants("ask", WorkspaceRules(data_dir, workspace)) for _ in range(2))
    first, second = ours.remember(offer("tool:1")), theirs.remember(offer("tool:2"))
    assert set(ours.rules()) == set(theirs.rules()) == {first, second}
    assert theirs.revoke([first.rule_id]) == {first.rule_id}
    assert ours.rules() == (second,)
    assert ours.covering([Coverage("tool", "tool:1", "")]) is None


def test_rules_of_a_session_end_with_it(data_dir, workspace):
    grants = Grants("ask", WorkspaceRules(data_dir, workspace))
    grants.remember(offer(scope="session"))
    assert Grants("ask", WorkspaceRules(data_dir, workspace)).rules() == ()
    assert not (data_dir / "rules").exists()


def test_a_session_that_keeps_nothing_offers_only_itself():
    assert Grants().scopes == ("session",)


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '{"rules": 5}', '{"rules": [{}]}', "\x00" * 50, "[" * 99_999, '{"rules": [1, null]}'],
)
def test_a_damaged_file_holds_no_rule_and_can_be_written_again(data_dir, workspace, content):
    rules = WorkspaceRules(data_dir, workspace)
    rules.add(taken(offer()))
    the_file(data_dir).write_text(content)
    assert rules.all() == ()
    rule = taken(offer())
    rules.add(rule)
    assert rules.all() == (rule,)


def test_a_damaged_entry_is_left_out_and_the_others_hold(data_dir, workspace):
    rules = WorkspaceRules(data_dir, workspace)
    rule = taken(offer())
    rules.add(rule)
    content = json.loads(the_file(data_dir).read_text())
    good = content["rules"][0]
    content["rules"] = [{**good, "kind": "everything"}, {**good, "label": None}, {**good, "rule": ["x"]}, "x", good]
    the_file(data_dir).write_text(json.dumps(content))
    assert rules.all() == (rule,)


def test_a_file_of_another_workspace_grants_nothing(data_dir, workspace):
    rules = WorkspaceRules(data_dir, workspace)
    rules.add(taken(offer()))
    content = json.loads(the_file(data_dir).read_text())
    the_file(data_dir).write_text(json.dumps({**content, "workspace": "/elsewhere"}))
    assert rules.all() == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.text(), JSON, max_size=4), st.randoms())
def test_equal_arguments_have_one_spelling_whatever_their_order(value, random):
    items = list(value.items())
    random.shuffle(items)
    assert canonical(json.dumps(dict(items), indent=3)) == canonical(json.dumps(value, ensure_ascii=False))


@settings(deadline=None)
@given(JSON, JSON)
def test_different_arguments_have_different_spellings(one, other):
    same = json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    assert (canonical(json.dumps(one)) == canonical(json.dumps(other))) == same


def test_blank_arguments_are_the_empty_object_and_other_text_is_itself():
    assert canonical("") == canonical(" \n") == canonical("{}") == "{}"
    assert canonical("{") == "{"
    assert canonical("[" * 99_999)


def test_trust_is_of_the_very_folder_and_can_be_taken_back(data_dir, workspace, tmp_path):
    trust = Trust(data_dir)
    assert not trust.is_trusted(workspace)
    (tmp_path / "link").symlink_to(workspace)
    assert trust.add(tmp_path / "link") == workspace
    (workspace / "clone").mkdir()
    assert Trust(data_dir).is_trusted(workspace)
    assert not trust.is_trusted(workspace / "clone")
    assert not trust.is_trusted(tmp_path)
    assert stat.S_IMODE((data_dir / "trust.json").stat().st_mode) == 0o600
    assert trust.remove(workspace)
    assert not trust.remove(workspace)
    assert trust.all() == ()


def test_what_is_not_there_cannot_be_trusted(data_dir, tmp_path):
    with pytest.raises(FileNotFoundError):
        Trust(data_dir).add(tmp_path / "missing")


@pytest.mark.parametrize("content", ["", "[]", '{"trusted": "x"}', '{"trusted": [1, {}]}', "{"])
def test_a_damaged_trust_file_trusts_nothing(data_dir, workspace, content):
    (data_dir / "trust.json").write_text(content)
    assert Trust(data_dir).all() == ()
    Trust(data_dir).add(workspace)
    assert Trust(data_dir).is_trusted(workspace)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\r\nb\tc", "a\\r\nb\tc"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("\u202etxt.exe\u2066", "\\u202etxt.exe\\u2066"),
        ("a\u200bb\ufeff\u2028", "a\\u200bb\\ufeff\\u2028"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("ünï 👩\u200d💻 日本", "ünï 👩\u200d💻 日本"),
    ],
)
def test_controls_are_made_visible_and_everything_else_is_left(text, shown):
    assert visible(text) == shown
    assert visible_line(text) == shown.replace("\n", "\\n").replace("\t", "\\t")


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=()) | st.sampled_from("\x1b\u202e\n\t\udc80")))
def test_nothing_that_is_shown_can_move_a_cursor_or_turn_a_line(text):
    line = visible_line(text)
    line.encode()
    assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp")]
    assert not [
        c
        for c in line
        if unicodedata.bidirectional(c) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
    ]
    assert visible_line(line) == line
    assert len(line) <= 10 * len(text)
