from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from agent_lsp.policy.access import Access
from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.guard import Guard
from agent_lsp.policy.modes import APPROVAL_MODES, MODES, mode_named
from agent_lsp.policy.rules import WorkspaceRules


@pytest.fixture
def guard(paths, home):
    return Guard(Grants(), paths, CommandPolicy(homes=(home,)))


@pytest.fixture
def command(call, workspace):
    def build(line, cwd=workspace):
        return call("exec_command", cmd=line), Access("command", command=line, cwd=cwd)

    return build


def action(guard, mode, access, call):
    guard.grants.set_mode(mode)
    return guard.decide(call(), access).action


@pytest.mark.parametrize("mode", APPROVAL_MODES)
def test_modes_are_the_table(guard, call, workspace, mode):
    inside = (workspace / "a",)
    for kind, answer in MODES[mode].items():
        access = Access(kind, inside, command="ls" if kind == "command" else None, cwd=workspace)
        assert action(guard, mode, access, call) == answer, kind


def test_modes_are_found_by_name():
    assert [mode_named(mode) for mode in APPROVAL_MODES] == list(APPROVAL_MODES)
    assert mode_named("Ask") is mode_named("") is None


@pytest.mark.parametrize(
    ("mode", "read", "edit"),
    [
        ("ask", "ask", "ask"),
        ("read-only", "ask", "deny"),
        ("plan", "ask", "deny"),
        ("auto-edit", "ask", "ask"),
        ("allow-all", "allow", "allow"),
    ],
)
def test_a_path_outside_asks_unless_the_mode_denies_or_allows_everything(guard, call, tmp_path, mode, read, edit):
    assert action(guard, mode, Access("read", (tmp_path / "x",)), call) == read
    assert action(guard, mode, Access("edit", (tmp_path / "x",)), call) == edit


def test_one_path_outside_is_enough(guard, call, workspace, tmp_path):
    access = Access("edit", (workspace / "a", tmp_path / "x", workspace / "b"))
    assert action(guard, "auto-edit", access, call) == "ask"


@pytest.mark.parametrize("name", [".git/hooks/pre-commit", ".agent-lsp/config.toml", ".vscode/tasks.json"])
def test_what_makes_code_run_asks_even_in_auto_edit(guard, call, workspace, name):
    assert action(guard, "auto-edit", Access("edit", (workspace / name,)), call) == "ask"
    assert action(guard, "auto-edit", Access("read", (workspace / name,)), call) == "allow"
    assert action(guard, "allow-all", Access("edit", (workspace / name,)), call) == "allow"


def test_an_edit_without_a_known_target_asks_in_auto_edit(guard, call):
    assert action(guard, "auto-edit", Access("edit"), call) == "ask"


@pytest.mark.parametrize("mode", APPROVAL_MODES)
def test_forbidden_places_and_commands_are_forbidden_in_every_mode(guard, call, command, home, mode):
    for kind in ("read", "edit", "other", "own", "ask"):
        assert action(guard, mode, Access(kind, (home / ".ssh" / "id",)), call) == "forbidden"
    verdict = guard.decide(*command("rm -rf ~"))
    assert (verdict.action, verdict.decided_by) == ("forbidden", "policy")


def test_a_command_in_a_folder_outside_asks(guard, command, tmp_path, home):
    guard.grants.set_mode("allow-all")
    assert guard.decide(*command("ls", tmp_path)).action == "allow"
    guard.grants.set_mode("ask")
    kinds = {offer.kind for offer in guard.decide(*command("npm test", home / ".ssh")).offers}
    assert kinds == {"call"}


def test_offers_are_narrowest_first_for_each_scope(paths, home, command, data_dir, workspace):
    guard = Guard(Grants("ask", WorkspaceRules(data_dir, workspace)), paths, CommandPolicy(homes=(home,)))
    offers = guard.decide(*command("npm test")).offers
    expected = list(itertools.product(("call", "command", "tool"), ("session", "workspace")))
    assert [(offer.kind, offer.scope) for offer in offers] == expected
    assert len({offer.rule for offer in offers}) == 3
    assert {offer.kind for offer in guard.decide(*command("npm test && x")).offers} == {"call", "tool"}


def take(guard, call, access, kind):
    offer = next(one for one in guard.decide(call, access).offers if one.kind == kind)
    return guard.grants.remember(offer)


def test_an_exact_call_is_remembered_by_tool_and_canonical_arguments(guard, call, workspace):
    access = Access("edit", (workspace / "a",))
    rule = take(guard, call(file="a", n=1), access, "call")
    verdict = guard.decide(call(id="other", n=1, file="a"), access)
    assert (verdict.action, verdict.decided_by, verdict.rule) == ("allow", "rule", rule.label)
    assert guard.decide(call(file="a", n=2), access).action == "ask"
    assert guard.decide(call("edit_file", file="a", n=1), access).action == "ask"


def test_a_command_is_remembered_by_its_first_words_and_alone(guard, command):
    take(guard, *command("npm test"), "command")
    assert guard.decide(*command("npm test -- --watch")).action == "allow"
    for line in ("npm run x", "npm", "npm test; x", "npm test && x", "sudo npm test", "X=1 npm test", "npm test $(x)"):
        assert guard.decide(*command(line)).action == "ask", line


def test_a_rule_for_a_tool_ends_at_the_workspace_and_at_what_makes_code_run(guard, call, workspace, tmp_path):
    take(guard, call(), Access("edit", (workspace / "a",)), "tool")
    assert guard.decide(call(x=1), Access("edit", (workspace / "b",))).action == "allow"
    assert guard.decide(call(x=1), Access("edit", (tmp_path / "b",))).action == "ask"
    assert guard.decide(call(x=1), Access("edit", (workspace / ".git" / "hooks" / "x",))).action == "ask"
    assert guard.decide(call("edit_file"), Access("edit", (workspace / "b",))).action == "ask"


def test_a_question_about_a_path_outside_offers_the_very_call_only(guard, call, tmp_path):
    access = Access("read", (tmp_path / "x",))
    assert {offer.kind for offer in guard.decide(call("read_file"), access).offers} == {"call"}


def test_a_remembered_call_does_not_follow_a_link_that_was_moved(guard, call, workspace, tmp_path):
    link, access = workspace / "link", Access("edit", (workspace / "link",))
    (workspace / "a").write_text("")
    link.symlink_to(workspace / "a")
    take(guard, call(), access, "call")
    assert guard.decide(call(), access).action == "allow"
    link.unlink()
    link.symlink_to(tmp_path / "elsewhere")
    verdict = guard.decide(call(), access)
    assert verdict.action == "ask"
    guard.grants.remember(verdict.offers[0])
    assert guard.decide(call(), access).action == "allow"
    link.unlink()
    link.symlink_to(tmp_path / "other")
    assert guard.decide(call(), access).action == "ask"


@pytest.mark.parametrize("kind", ["call", "command", "tool"])
def test_no_rule_opens_what_the_policy_forbids(guard, command, home, call, kind):
    take(guard, *command("npm rm"), kind)
    guard.grants.set_mode("allow-all")
    assert guard.decide(*command("rm -rf ~")).action == "forbidden"
    assert guard.decide(call("exec_command"), Access("read", (home / ".ssh",))).action == "forbidden"


def test_a_revoked_rule_is_asked_about_again_at_once(guard, command):
    rule = take(guard, *command("npm test"), "tool")
    assert guard.grants.revoke([rule.rule_id, "unknown"]) == {rule.rule_id}
    assert guard.decide(*command("npm test")).action == "ask"
    assert guard.grants.rules() == ()


def test_the_setting_lets_known_commands_look_inside_the_workspace(paths, home, command, tmp_path):
    guard = Guard(Grants("read-only"), paths, CommandPolicy(homes=(home,), read_only=True))
    assert guard.decide(*command("cat a.txt")).action == "allow"
    for line in ("cat ../x", f"cat {home}/.ssh/id", "cat a > b", "touch a", "cat server.pem", "cat $HOME/x"):
        assert guard.decide(*command(line)).action == "deny", line
    assert guard.decide(*command("ls", tmp_path)).action == "deny"


def test_leaving_plan_goes_back_to_the_mode_before(guard):
    guard.grants.set_mode("auto-edit")
    guard.grants.set_mode("plan")
    guard.grants.set_mode("plan")
    assert guard.grants.leave_plan() == "auto-edit" == guard.grants.mode
    assert guard.grants.leave_plan() == "auto-edit"
    assert Grants("plan").leave_plan() == "ask"


def test_labels_show_what_they_hide(guard, command):
    labels = [offer.label for offer in guard.decide(*command("npm te\x1bst\u202e\n")).offers]
    assert all(label.isprintable() and len(label) < 400 for label in labels)
    assert "\\x1b" in labels[0]
    assert "\\u202e" in labels[0]


def test_a_relative_looking_path_is_still_judged(guard, call):
    assert guard.decide(call(), Access("read", (Path("/etc/../etc/hostname"),))).action == "ask"
