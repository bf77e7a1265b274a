"""What the package says of itself, in one place each."""

import re
import tomllib
from pathlib import Path

import agent_lsp
from agent_lsp.server.handshake import initialize_result

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_version_is_written_down_once():
    assert "version" not in PROJECT["project"] and PROJECT["project"]["dynamic"] == ["version"]
    assert re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", agent_lsp.__version__)
    written = [
        path.relative_to(ROOT)
        for path in (ROOT / "agent_lsp").rglob("*.py")
        if f'"{agent_lsp.__version__}"' in path.read_text(encoding="utf-8")
    ]
    assert written == [Path("agent_lsp/__init__.py")]


def test_whoever_depends_on_it_gets_its_types():
    assert (ROOT / "agent_lsp" / "py.typed").read_bytes() == b""
    assert "Typing :: Typed" in PROJECT["project"]["classifiers"]


def test_all_is_all_that_a_user_may_want():
    extras = PROJECT["project"]["optional-dependencies"]
    (everything,) = extras["all"]
    named = re.fullmatch(r"agent-lsp\[(.*)\]", everything)[1].split(",")
    assert sorted(named) == sorted(set(extras) - {"all", "dev", "docs"})


def test_the_page_on_installing_lists_each_extra():
    page = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `(\w+)` \|", page, flags=re.M))
    assert listed == set(PROJECT["project"]["optional-dependencies"]) - {"dev", "docs"}


def test_the_changelog_has_the_format_that_it_says():
    headings = re.findall(r"^## (.+)$", CHANGES, flags=re.M)
    assert headings, "no section for what comes next"
    for heading in headings:
        assert heading == "Unreleased" or re.fullmatch(r"\[?\d+\.\d+\.\d+\]? - \d{4}-\d{2}-\d{2}", heading), heading
    assert set(re.findall(r"^### (.+)$", CHANGES, flags=re.M)) <= KINDS
    released = [re.search(r"\d+\.\d+\.\d+", one)[0] for one in headings if one != "Unreleased"]
    assert released == sorted(released, key=lambda one: tuple(map(int, one.split("."))), reverse=True)


def test_the_handshake_tells_the_same_version():
    source = (ROOT / "agent_lsp" / "server" / "handshake.py").read_text(encoding="utf-8")
    assert initialize_result and "__version__" in source
