"""What git would run by itself when it only looks: a command that looks into such a repository is asked about."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agent_lsp.policy.commands import CommandPolicy

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git makes the repositories")
POLICY = CommandPolicy(read_only=True)


class Repository:
    """A repository with one commit and a program that leaves a mark when it runs."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "work"
        self.root.mkdir(parents=True)
        self.mark, self.program = folder / "ran", folder / "program"
        self.program.write_text(f"#!/bin/sh\ntouch '{self.mark}'\ncat\n")
        self.program.chmod(0o755)
        self.git("init", "--quiet")
        (self.root / "a.txt").write_text("one\n")
        self.git("add", "a.txt")
        self.git("commit", "--quiet", "-m", "first")
        (self.root / "a.txt").write_text("two\n")

    def git(self, *words: str, cwd: Path | None = None) -> None:
        identity = {f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent), "GIT_CONFIG_NOSYSTEM": "1"} | identity
        subprocess.run(
            ["git", *words], cwd=cwd or self.root, env=environment, check=True, capture_output=True, input=b""
        )

    @property
    def config(self) -> Path:
        return self.root / ".git" / "config"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path)


def monitor(repository: Repository) -> None:
    repository.git("config", "core.fsmonitor", str(repository.program))


def on_the_line_of_its_section(repository: Repository) -> None:
    with repository.config.open("a") as config:
        config.write(f'[core] fsmonitor = "{repository.program}"\n')


def behind_a_line_that_goes_on(repository: Repository) -> None:
    with repository.config.open("a") as config:
        config.write(f"[core]\n\teol = lf\\\n[user]\n\tfsmonitor = {repository.program}\n")


def behind_a_separator(repository: Repository) -> None:
    with repository.config.open("a") as config:
        config.write(f"[core]\n# \u2028[user]\n\tfsmonitor = {repository.program}\n")


def included(repository: Repository) -> None:
    (repository.root / ".git" / "more").write_text(f"[core]\n\tfsmonitor = {repository.program}\n")
    repository.git("config", "include.path", "more")


def converter(repository: Repository) -> None:
    repository.git("config", "diff.mine.textconv", str(repository.program))
    (repository.root / ".gitattributes").write_text("* diff=mine\n")


def external(repository: Repository) -> None:
    repository.git("config", "diff.external", str(repository.program))


def cleaner(repository: Repository) -> None:
    repository.git("config", "filter.mine.clean", str(repository.program))
    (repository.root / ".gitattributes").write_text("* filter=mine\n")


def hook(repository: Repository) -> None:
    hooks = repository.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    shutil.copy(repository.program, hooks / "post-index-change")
    (repository.root / "a.txt").write_text("one\n")  # so that git refreshes its index


def monitor_above(repository: Repository) -> None:
    """The folder in which one stands only looks like a repository, so git goes by the one around it."""
    monitor(repository)
    fake = repository.root / "sub" / ".git"
    fake.mkdir(parents=True)
    (fake / "config").write_text("[core]\n\tbare = false\n")


def submodule(repository: Repository) -> None:
    inner = Repository(repository.root / "inner")
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", str(inner.root), "module")
    module = repository.root / "module"
    repository.git("config", "core.fsmonitor", str(repository.program), cwd=module)
    shutil.rmtree(repository.root / "inner")
    repository.git("config", "--remove-section", "submodule.module")  # nothing in the outer one tells of it


HOSTILE = (
    (monitor, "git status"),
    (on_the_line_of_its_section, "git status"),
    (behind_a_line_that_goes_on, "git status"),
    (behind_a_separator, "git status"),
    (included, "git status"),
    (converter, "git diff"),
    (external, "git diff"),
    (cleaner, "git diff"),
    (hook, "git status"),
    (monitor_above, "git status"),
    (submodule, "git status"),
)


@pytest.mark.parametrize(("prepare", "line"), HOSTILE, ids=[one.__name__ for one, _ in HOSTILE])
def test_a_look_that_would_run_a_program_of_the_repository_is_no_look(repository, prepare, line):
    prepare(repository)
    cwd = repository.root / "sub" if prepare is monitor_above else repository.root
    repository.mark.unlink(missing_ok=True)
    assert POLICY.only_reads(line, cwd) is None
    assert not repository.mark.exists(), "judging it runs nothing"
    repository.git(*line.split()[1:], cwd=cwd)
    assert repository.mark.exists(), "git does run it, so there is something to be judged"


@pytest.mark.parametrize("line", ["git status", "git diff", "git log -p", "git show HEAD", "git blame a.txt"])
def test_looking_into_an_ordinary_repository_counts_as_reading(repository, line):
    repository.git("remote", "add", "origin", "https://example.org/a.git")
    repository.git("config", "branch.main.remote", "origin")
    repository.git("config", "user.name", "Somebody")
    (repository.root / "deep" / "er").mkdir(parents=True)
    for cwd in (repository.root, repository.root / "deep" / "er"):
        assert POLICY.only_reads(line, cwd) is not None


def test_a_worktree_is_judged_by_the_repository_it_belongs_to(repository, tmp_path):
    other = tmp_path / "other"
    repository.git("worktree", "add", "--quiet", str(other))
    assert POLICY.only_reads("git status", other) is not None
    monitor(repository)
    assert POLICY.only_reads("git status", other) is None


@pytest.mark.parametrize("file", [".git/config", ".git/index", ".git/commondir"])
def test_what_cannot_be_read_is_asked_about_without_waiting_for_it(repository, file):
    path = repository.root / file
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    assert POLICY.only_reads("git status", repository.root) is None
    path.unlink()
    path.write_bytes(b"\xff" * (300 * 1024) if file != ".git/index" else b"\x00\x00\xe0\x00")
    assert POLICY.only_reads("git status", repository.root) is None


def test_a_bare_repository_inside_the_workspace_is_judged_too(repository):
    repository.git("clone", "--quiet", "--bare", ".", "bare.git")
    bare = repository.root / "bare.git"
    assert POLICY.only_reads("git log", bare) is not None
    (bare / "config").write_text(f"[core]\n\tbare = true\n\tfsmonitor = {repository.program}\n")
    assert POLICY.only_reads("git log", bare) is None
