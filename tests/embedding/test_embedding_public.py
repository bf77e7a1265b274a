"""What `from agent_lsp import …` gives, and what it costs whoever wants none of it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import agent_lsp


def test_importing_the_package_imports_nothing_else():
    script = "import sys; before = set(sys.modules); import agent_lsp; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.replace("'", '"')) == ["agent_lsp"]


def test_every_public_name_is_there_and_typed():
    stub = ast.parse(Path(agent_lsp.__file__).with_suffix(".pyi").read_text())
    imported = {alias.asname for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imported | {"__version__"} == set(dir(agent_lsp))
    for name in dir(agent_lsp):
        assert getattr(agent_lsp, name) is not None


def test_a_name_that_is_not_public_is_said():
    with pytest.raises(AttributeError, match="no attribute 'Sessions'"):
        agent_lsp.Sessions  # noqa: B018
