from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.access import Access
from agent_lsp.policy.paths import PathRules


def tool_call(name="write_file", id="c1", **arguments):
    return ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id=id)


@dataclass
class NoCommandRules:
    """Knows no command; `words` are what every line is remembered by."""

    words: tuple[str, ...] | None = None
    forbidden: str | None = None
    reads: tuple[Path, ...] | None = None

    def forbids(self, line, cwd):
        return self.forbidden

    def first_words(self, line):
        return self.words

    def only_reads(self, line, cwd):
        return self.reads


@dataclass
class FixedProposals:
    """Says the same of every call."""

    access_: Access
    previews: list[str] = field(default_factory=list)

    def permission(self, call):
        return "rw"

    def title(self, call):
        return call.name

    def access(self, call):
        return self.access_

    async def preview(self, call):
        self.previews.append(call.tool_call_id)


class Waits:
    """Counts how often, and whether now, somebody waits for a person."""

    def __init__(self):
        self.now = self.times = 0

    @contextmanager
    def waiting(self):
        self.now += 1
        self.times += 1
        try:
            yield
        finally:
            self.now -= 1


@pytest.fixture
def call():
    return tool_call


@pytest.fixture
def fakes():
    class Fakes:
        CommandRules, Proposals, Waits = NoCommandRules, FixedProposals, Waits

    return Fakes


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    return tmp_path / "home"


@pytest.fixture
def workspace(tmp_path):
    (tmp_path / "work space").mkdir()
    return tmp_path / "work space"


@pytest.fixture
def data_dir(tmp_path):
    (tmp_path / "data" / "scratchpad" / "s1").mkdir(parents=True)
    return tmp_path / "data"


@pytest.fixture
def paths(workspace, data_dir, home):
    return PathRules(
        workspace,
        data_dir=data_dir,
        scratchpad=data_dir / "scratchpad" / "s1",
        user_config=[home / ".config" / "agent-lsp"],
        deny=["*.pem", "vault/**", "~/private"],
        homes=[home],
    )
