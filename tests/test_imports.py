"""Importing does nothing: no output, no side effect, and nothing heavy below the front ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in (ROOT / "agent_lsp").rglob("*.py")
)
BARE = """
import json, os, sys, tempfile
import pydantic.main, pydantic.type_adapter  # once for all the children: only what we wrote is on trial

def told(module):
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            try:
                __import__(module)
                sys.stdout.flush(), sys.stderr.flush()
                os._exit(0)
            except BaseException:
                import traceback
                traceback.print_exc()
                sys.stderr.flush()
                os._exit(1)
        failed = os.waitpid(child, 0)[1] != 0
        output.seek(0)
        return output.read().decode() or ("failed" if failed else "")

print(json.dumps({module: words for module in json.load(sys.stdin) if (words := told(module))}))
"""


def bare(script, input=""):
    done = subprocess.run([sys.executable, "-c", script], input=input, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.timeout(180)
def test_every_module_can_be_imported_alone_and_says_nothing():
    assert len(MODULES) > 20
    assert bare(BARE, json.dumps(MODULES)) == {}


@pytest.mark.parametrize("package", ["agent_lsp.errors", "agent_lsp.messages", "agent_lsp.engine"])
def test_the_lower_layers_pull_in_nothing_heavy(package):
    below = [module for module in MODULES if module == package or module.startswith(f"{package}.")]
    script = f"import json, sys\nfor one in {below!r}: __import__(one)\nprint(json.dumps(sorted(sys.modules)))"
    modules = bare(script)
    assert not {module.split(".")[0] for module in modules} & {
        "httpx",
        "pygls",
        "lsprotocol",
        "cattrs",
        "tree_sitter",
        "jsonschema",
        "mcp",
        "platformdirs",
    }
    layers = {name for name in modules if name.startswith("agent_lsp.") and name.count(".") == 1}
    assert layers <= {"agent_lsp.errors", "agent_lsp.slotted", "agent_lsp.messages", "agent_lsp.engine"}


def test_errors_import_nothing_of_ours():
    loaded = bare("import json, sys, agent_lsp.errors\nprint(json.dumps(list(sys.modules)))")
    assert {module for module in loaded if module.startswith("agent_lsp")} == {"agent_lsp", "agent_lsp.errors"}
