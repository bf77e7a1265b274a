from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_lsp.errors import ConfigError
from agent_lsp.policy.paths import PathRules, user_homes


def standing(paths, path, writes=False):
    return paths.place(Path(path), writes=writes).standing


def test_the_workspace_and_the_scratchpad_are_inside(paths, workspace, data_dir):
    assert standing(paths, workspace / "a" / "b.txt") == "inside"
    assert standing(paths, workspace) == "inside"
    assert standing(paths, data_dir / "scratchpad" / "s1" / "GOAL.yaml", writes=True) == "inside"


@pytest.mark.parametrize("path", ["../x", "..", "a/../../x", "../work space2/x", "/", "/etc/passwd", "../work spac"])
def test_what_leads_out_is_outside(paths, workspace, path):
    assert standing(paths, workspace / path) == "outside"


def test_links_are_followed_through_chains_and_missing_ends(paths, workspace, tmp_path):
    (tmp_path / "out").mkdir()
    (workspace / "way").symlink_to(tmp_path / "out")
    (workspace / "chain").symlink_to("way")
    (workspace / "loop").symlink_to("loop")
    for path in ("way", "way/new/deep.txt", "chain/x", "chain/../out/x", "./chain//x"):
        assert standing(paths, workspace / path) == "outside", path
    assert standing(paths, workspace / "way" / ".." / "work space" / "x") == "inside"


def test_a_link_to_itself_opens_nothing_outside(paths, workspace):
    (workspace / "loop").symlink_to("loop")
    assert standing(paths, workspace / "loop" / "x") in ("inside", "outside")


@pytest.mark.parametrize("path", ["nul\0byte", "x" * 5000, "\udcff"])
def test_a_path_that_cannot_be_is_no_exception(paths, workspace, path):
    assert standing(paths, workspace / path) in ("inside", "outside")


@pytest.mark.parametrize(
    "path",
    [
        ".ssh",
        ".ssh/id_rsa",
        ".SSH/id_rsa",
        ".ssh./id_rsa",
        ".ssh /id_rsa",
        ".ssh::$INDEX_ALLOCATION/id_rsa",
        ".s\u200csh/id_rsa",
        ".ſſh/id_rsa",
        ".aws/credentials",
        ".gnupg/x",
        "x/../.ssh/id_rsa",
        ".local/share/keyrings/login.keyring",
        ".config/agent-lsp/config.toml",
        "private",
        "private/x/y",
        "../data/sessions/x.jsonl",
        "../data/scratchpad/s2/x",
        "../data",
        "server.pem",
    ],
)
def test_no_tool_may_touch_credentials_data_and_denied_paths(paths, home, path):
    assert standing(paths, home / path) == "forbidden"
    assert paths.forbids(home / path)


def test_a_link_to_a_forbidden_place_is_forbidden_by_both_names(tmp_path, workspace, data_dir):
    home = tmp_path / "h"
    (tmp_path / "real keys").mkdir()
    home.mkdir()
    (home / ".ssh").symlink_to(tmp_path / "real keys")
    (workspace / "k").symlink_to(home / ".ssh")
    paths = PathRules(workspace, data_dir=data_dir, homes=[home])
    for path in (home / ".ssh" / "id", tmp_path / "real keys" / "id", workspace / "k" / "id"):
        assert standing(paths, path) == "forbidden"


def test_a_link_that_is_named_like_a_denied_file_is_denied_itself(paths, workspace):
    (workspace / "plain.txt").write_text("x")
    (workspace / "key.pem").symlink_to("plain.txt")
    assert standing(paths, workspace / "key.pem") == "forbidden"
    assert standing(paths, workspace / "plain.txt") == "inside"


def test_a_workspace_that_is_the_home_folder_keeps_the_secrets_shut(home, data_dir):
    paths = PathRules(home, data_dir=data_dir, homes=[home])
    assert standing(paths, home / "notes.txt") == "inside"
    assert standing(paths, home / ".ssh" / "id") == "forbidden"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc")
def test_the_servers_own_entries_in_proc_are_forbidden_by_any_id(paths, workspace):
    ids = ["self", "thread-self", str(os.getpid())]
    seen, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ids.append(str(threading.get_native_id())), seen.set(), done.wait(10)))
    thread.start()
    seen.wait(10)
    (workspace / "env").symlink_to("/proc/self/environ")
    for name in ids:
        assert standing(paths, f"/proc/{name}/environ") == "forbidden"
        assert standing(paths, f"/proc/{name}/root{workspace}/x") == "forbidden"
    assert standing(paths, workspace / "env") == "forbidden"
    assert standing(paths, "/proc/1/root/etc/passwd") == "outside"
    done.set()
    thread.join()


@pytest.mark.parametrize(
    "path",
    [
        ".git/hooks/pre-commit",
        ".git/config",
        ".GIT/hooks/x",
        ".g\u200cit/hooks/x",
        "git~1/hooks/x",
        "sub/.git/hooks/x",
        ".agent-lsp/config.toml",
        ".vscode/tasks.json",
        ".VSCode/settings.json",
        ".idea/workspace.xml",
        "x.code-workspace",
        ".envrc",
        ".exrc",
        "sub/.nvim.lua",
    ],
)
def test_what_makes_code_run_is_guarded_against_writing_only(paths, workspace, path):
    assert standing(paths, workspace / path, writes=True) == "guarded"
    assert standing(paths, workspace / path) == "inside"


def test_a_link_into_the_hooks_is_guarded(paths, workspace):
    (workspace / ".git" / "hooks").mkdir(parents=True)
    (workspace / "harmless").symlink_to(".git/hooks")
    assert standing(paths, workspace / "harmless" / "pre-commit", writes=True) == "guarded"


def test_only_what_is_below_the_workspace_makes_a_place_guarded(tmp_path, data_dir):
    workspace = tmp_path / ".cursor" / "worktrees" / "x"
    workspace.mkdir(parents=True)
    paths = PathRules(workspace, data_dir=data_dir, homes=[])
    assert standing(paths, workspace / "main.py", writes=True) == "inside"


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.pem", ["a.pem", "d/b.PEM", "a.pem/below"], ["a.pem.txt", "pem"]),
        ("secrets", ["secrets", "d/secrets/x"], ["secrets2", "my-secrets"]),
        ("a/b", ["a/b", "a/b/c"], ["x/a/b", "a/bc"]),
        ("./a/*.env", ["a/x.env"], ["a/b/x.env", "x.env"]),
        ("a/**/z", ["a/z", "a/b/c/z"], ["z", "b/z"]),
        ("**/vault/*", ["vault/x", "d/vault/x"], ["vault", "vaults/x"]),
        ("[ab]?.txt", ["a1.txt", "d/b2.txt"], ["c1.txt", "a.txt", "a/.txt"]),
        ("[!a].txt", ["b.txt"], ["a.txt"]),
        ("a[", ["a["], ["a"]),
        ("{ws}/x y", ["x y", "x y/z"], ["x"]),
    ],
)
def test_deny_globs(workspace, data_dir, pattern, yes, no):
    deny = [pattern.replace("{ws}", str(workspace))]
    paths = PathRules(workspace, data_dir=data_dir, deny=deny, homes=[])
    assert [path for path in yes if not paths.forbids(workspace / path)] == []
    assert [path for path in no if paths.forbids(workspace / path)] == []


@pytest.mark.parametrize("pattern", ["", "  ", "[z-a].txt"])
def test_a_deny_pattern_that_means_nothing_is_said(workspace, data_dir, pattern):
    with pytest.raises(ConfigError):
        PathRules(workspace, data_dir=data_dir, deny=[pattern])


def test_the_home_of_the_environment_counts(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert user_homes()[0] == tmp_path


PARTS = st.sampled_from(
    ["..", ".", "a", "out", "in", "deep", "up", "self", "..a", "...", "", "work space", "chain", "A", "missing", ".. "]
)


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(PARTS, max_size=8), absolute=st.booleans())
def test_no_spelling_leaves_the_workspace_unasked(tmp_path_factory, parts, absolute):
    root = tmp_path_factory.getbasetemp() / "spellings"
    workspace = root / "work space"
    if not workspace.exists():
        (workspace / "a" / "deep").mkdir(parents=True)
        (root / "out").mkdir()
        for link, target in {"out": "../out", "in": "a/deep", "up": "..", "self": ".", "chain": "up/out"}.items():
            (workspace / link).symlink_to(target)
    paths = PathRules(workspace, data_dir=root / "data", homes=[])
    spelling = "/".join(parts)
    path = Path(f"{root}/{spelling}" if absolute else f"{workspace}/{spelling}")
    truth = os.path.realpath(path)
    really_inside = truth == str(workspace) or truth.startswith(f"{workspace}/")
    place = paths.place(path)
    assert (place.standing == "inside") <= really_inside
    assert str(place.path) == truth
    assert os.path.realpath(place.path) == truth
