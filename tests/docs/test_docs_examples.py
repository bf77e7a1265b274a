"""The examples of the pages, beyond what their own commands show: each does what it is an example of."""

import importlib.util
import subprocess
import sys

import pytest

from agent_lsp.engine.ports import LLM, Outcome, Request, TextDelta
from agent_lsp.messages.content import Text, ToolCall
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace
from tests.docs.home import ROOT, Home

pytestmark = pytest.mark.timeout(180)


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "docs" / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def test_the_client_streams_asks_and_leaves(home):
    said = home.run('python3 client.py "fix the greeting in greeter.py"')
    assert "Edit greeter.py? [y/n]" in said and "This is what I did:" in said
    assert said.strip().endswith("completed")
    assert "Hello, {name}" in (home.project / "greeter.py").read_text()


def test_the_client_is_as_short_as_it_says():
    code = (ROOT / "docs" / "examples" / "client.py").read_text().partition('"""\n\n')[2]
    assert sum(1 for line in code.splitlines() if line.strip() and not line.startswith("import ")) <= 24


def test_the_embedded_run_decides_by_itself(home):
    said = home.run('python3 embed_run.py . "fix the greeting in greeter.py, then run `python3 greeter.py`"')
    assert "allowed: Edit greeter.py" in said and said.startswith(("allowed", "completed"))
    assert "Hello, {name}" in (home.project / "greeter.py").read_text()


def test_the_embedded_stream_shows_calls(home):
    assert "[list_files {}]" in home.run('python3 embed_tool.py . "look at the project"')


@pytest.mark.asyncio
async def test_the_tool_of_the_page_works_in_a_toolset(tmp_path):
    (tmp_path / "a.txt").write_text("one two  three\n")
    workspace = Workspace(tmp_path, tmp_path / "scratch")
    tool = example("tool_word_count").WordCount(workspace, DiskEditor(workspace.scratchpad))
    toolset = Toolset([tool], ToolLimits(1000, 10), tmp_path / "scratch")

    async def said(arguments):
        call = ToolCall(name="word_count", arguments=arguments, tool_call_id="c")
        assert toolset.check(call) is None
        return [part async for part in toolset.execute(call)][-1]

    assert (await said('{"file_path": "a.txt"}')).output == "3 words"
    missing = await said('{"file_path": "b.txt"}')
    assert missing.stop_reason == "failed" and "Did you mean a.txt?" in missing.output
    assert (await said('{"file_path": "."}')).stop_reason == "failed"
    assert (
        toolset.access(ToolCall(name="word_count", arguments='{"file_path": "a.txt"}', tool_call_id="c")).kind == "read"
    )


@pytest.mark.asyncio
async def test_the_model_of_the_page_is_one():
    model: LLM = example("provider_echo").Echo()

    async def parts(*words):
        input = tuple(Text(role="user", text=one) for one in words)
        return [part async for part in model.stream(Request("", (), (), input))]

    streamed = await parts("say it", "again please")
    assert [part.text for part in streamed if isinstance(part, TextDelta)] == ["again ", "please "]
    assert isinstance(streamed[-1], Outcome) and streamed[-1].status == "completed"
    assert (await parts(""))[-1].permanent


@pytest.mark.timeout(180)
def test_the_examples_pass_the_type_checker_that_the_package_passes():
    typed = [ROOT / "docs" / "examples" / name for name in ("embed_run.py", "provider_echo.py", "tool_word_count.py")]
    checked = subprocess.run(
        [sys.executable, "-m", "basedpyright", *map(str, typed)], capture_output=True, text=True, timeout=170, cwd=ROOT
    )
    assert checked.returncode == 0, checked.stdout
