"""The figures of the README are those of the page that is measured."""

import re

import pytest

from tests.docs.snippets import ROOT

AGENTS = ["agent-lsp", "codex", "claude-acp", "gemini"]
METRICS = {
    "prompt to first text, warm": "prompt → first delta, warm, ms",
    "a reply of 20,000 deltas": "20,000 deltas: wall, s",
    "one shell command and back": "shell turn (100 in a row), ms",
    "memory after a long session": "memory after 100,000 deltas and 500 turns, MiB",
    "start to a session you can write in": "spawn → session created, ms",
    "start to first text, cold": "spawn → first delta, ms",
}
FACTORS = {"GiB": 1024}
ROUNDING = 0.06


def table(page, head):
    """Its rows by their first cell, each with the cells by the names in the head."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(head))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    names = rows[0]
    return {row[0]: dict(zip(names, row, strict=True)) for row in rows[2:]}


@pytest.mark.parametrize("said", METRICS)
def test_each_figure_of_the_readme_was_measured(said):
    shown = table("README.md", "| | agent-lsp |")[said]
    measured = table("docs/performance.md", "| metric |")[METRICS[said]]
    for agent in AGENTS:
        number, unit = re.fullmatch(r"\**([\d,.]+) (\w+)\**", shown[agent]).groups()
        value = float(number.replace(",", "")) * FACTORS.get(unit, 1)
        assert value == pytest.approx(float(measured[agent].replace(",", "")), rel=ROUNDING), agent


def test_no_figure_of_the_readme_is_without_a_measurement():
    assert set(table("README.md", "| | agent-lsp |")) == set(METRICS)
