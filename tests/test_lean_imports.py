"""What a start is spared is missed by nobody: the libraries do the same without it."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCHEMAS = """
import json, pkgutil, sys
from importlib import import_module
import agent_lsp, pydantic
for module in pkgutil.walk_packages(agent_lsp.__path__, "agent_lsp."):
    if not module.name.endswith("__main__"):
        import_module(module.name)

def below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from below(one)

ours = [one for one in below(pydantic.BaseModel) if one.__module__.startswith("agent_lsp.")]
print(json.dumps({f"{one.__module__}.{one.__qualname__}": one.model_json_schema() for one in ours}))
"""
SPARED = "from agent_lsp import lean_imports\nlean_imports.spare()\n"


def printed(script):
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_model_says_the_same():
    usual = printed(SCHEMAS)
    assert len(usual) > 150
    assert printed(SPARED + SCHEMAS) == usual


def test_what_is_spared_is_not_there():
    script = "import json, sys, asyncio.sslproto, pydantic.main\nfrom pydantic.plugin import _loader\n"
    asked = "print(json.dumps(['ssl' in sys.modules, asyncio.sslproto.ssl is None, list(_loader.get_plugins())]))"
    assert printed(SPARED + script + asked) == [False, True, []]
    clicks = "import json, sys, httpx\nprint(json.dumps(['click' in sys.modules, callable(httpx.main)]))"
    assert printed(SPARED + clicks) == [False, True]


def test_everything_can_be_imported_afterwards_as_it_is():
    script = "import json, ssl, typing, typing_extensions, httpx\n"
    kinds = "one = typing_extensions.TypedDict('One', {'a': int})\ntwo = typing.TypedDict('Two', {'a': int})\n"
    asked = "print(json.dumps([ssl.HAS_TLSv1_3, *one.__annotations__, *two.__annotations__]))"
    assert printed(SPARED + script + kinds + asked) == [True, "a", "a"]


def test_whoever_has_the_libraries_already_keeps_them():
    script = "import json, asyncio.sslproto, pydantic_core.core_schema as kinds\n"
    asked = "print(json.dumps([asyncio.sslproto.ssl is None, 'ref' in kinds.ModelSchema.__annotations__]))"
    assert printed(script + SPARED + asked) == [False, True]
