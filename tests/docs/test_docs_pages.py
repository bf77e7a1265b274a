"""The pages are complete, their generated parts are those of the source, and the site builds without a warning."""

import importlib.util
import os
import re
import subprocess
import sys
import tomllib

import pytest

from tests.docs.snippets import ALL, PAGES, ROOT

AS_THEY_COME = {"security.md", "reliability.md", "performance.md"}
"""Those that `hooks.py` puts into the site's menu."""
OUTSIDE = [ROOT / name for name in ("README.md", "CONTRIBUTING.md")]
OUTSIDE += sorted((ROOT / "editors").glob("*/README.md"))
LANGUAGES = {"sh", "python", "toml", "json", "lua", "elisp", "text"}


def test_what_is_made_from_the_source_is_up_to_date():
    command = [sys.executable, ROOT / "docs" / "mkdocs" / "pages.py", "--check"]
    checked = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=55)
    assert (checked.returncode, checked.stderr) == (0, "")


def test_every_snippet_is_in_a_language_that_has_a_rule():
    assert len(ALL) > 40
    assert {one.where: one.language for one in ALL if one.language not in LANGUAGES} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_code_hides_from_the_rules_in_an_indented_block(page):
    text = re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    indented = re.findall(r"\n\n((?: {4}|\t)(?! *(?:[-*|]|\d+\.) )[^\n]+)", text)
    assert [line for line in indented if page.name not in ("README.md", "CONTRIBUTING.md")] == []


@pytest.mark.timeout(180)
@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="the extra docs is not installed")
def test_the_site_builds_and_no_link_in_it_leads_nowhere(tmp_path):
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    command += ["--config-file", str(ROOT / "docs" / "mkdocs" / "mkdocs.yml")]
    environ = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, capture_output=True, text=True, timeout=170, env=environ)
    assert built.returncode == 0, built.stdout + built.stderr
    page = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "agent-lsp" in page and "fonts.googleapis" not in page


def test_the_drawn_layers_are_those_of_the_import_contract():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    drawing = (
        (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    )
    drawn = [re.split(r" {2,}", line)[0] for line in drawing.splitlines() if not line.startswith(" ")]
    assert drawn == [layer.replace("agent_lsp.", "") for layer in contract["layers"]]


def test_every_page_is_in_the_sites_menu():
    menu = (ROOT / "docs" / "mkdocs" / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"- (\S+\.md)$", menu, flags=re.M))
    there = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert listed == there - AS_THEY_COME


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_link_of_a_page_outside_of_the_site_leads_nowhere(page):
    links = re.findall(r"(?<!!)\[[^\]]*\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if not (page.parent / link).exists()]
    assert [link for link in missing if link.removeprefix("docs/") not in AS_THEY_COME] == []


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 150
