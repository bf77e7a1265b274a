"""Output of any size costs the server the same memory: measured as the growth of a process of its own."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peaks are read from /proc"),
]
OUTPUT_MB = 200
COMMAND_MB = 32
"""The archive's tail (4 MiB), what is kept of a command (1 MiB), their copies, and what malloc does not give back."""
SEARCH_MB = 96
"""What is read of ripgrep's events (16 MiB), joined, cut into lines and parsed."""

HOST = """
import asyncio, json, sys
from pathlib import Path
from agent_lsp.messages.content import ToolCall
from agent_lsp.tools.builtin import builtin_tools
from agent_lsp.tools.late import ToolContext
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace

def peak_mb():
    (line,) = [one for one in Path("/proc/self/status").read_text().splitlines() if one.startswith("VmHWM")]
    return int(line.split()[1]) / 1024  # ru_maxrss would begin with the peak of the process that started this one

async def use(toolset, name, **arguments):
    call = ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id="c")
    assert toolset.check(call) is None
    items = [item async for item in toolset.execute(call)]
    return "".join(item for item in items[:-1]) + items[-1].output

async def main(root, name, arguments, then):
    workspace = Workspace(root, root / "scratchpad")
    processes = Processes()
    commands = processes.session()
    tools = builtin_tools(ToolContext(workspace, DiskEditor(workspace.scratchpad), commands))
    toolset = Toolset(tools, ToolLimits(), workspace.scratchpad, ["a-secret-to-look-for"], shared=(commands,))
    await use(toolset, name, **({"cmd": "echo warm"} if name == "exec_command" else {"pattern": "warm"}))
    before = peak_mb()
    output = await use(toolset, name, **arguments)
    if then:
        process_id = output.split()[-1].rstrip("]")
        while "[process running" in output:
            output = await use(toolset, "input_command", process_id=process_id, yield_time_ms=60_000)
    grown = peak_mb() - before
    await toolset.close()
    await processes.close()
    print(json.dumps([grown, output]))

asyncio.run(main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3]), sys.argv[4] == "then"))
"""


async def measured(root: Path, name: str, then: str = "", **arguments: object) -> tuple[float, str]:
    """How many MB the peak of a process grows by one call, and the call's output."""
    argv = (sys.executable, "-c", HOST, str(root), name, json.dumps(arguments), then)
    host = await asyncio.create_subprocess_exec(*argv, cwd=Path.cwd(), stdout=asyncio.subprocess.PIPE)
    out, _ = await host.communicate()
    assert host.returncode == 0
    grown, output = json.loads(out)
    print(f"{name}: {grown:.1f} MB")
    return grown, output


@pytest.mark.parametrize("in_background", [False, True], ids=["foreground", "background"])
async def test_200_mb_of_output_of_a_command_take_bounded_memory(tmp_path, in_background):
    cmd = f"yes 0123456789abcdef | head -c {OUTPUT_MB}000000; echo; echo THE END"
    then = "then" if in_background else ""
    grown, output = await measured(tmp_path, "exec_command", then, cmd=cmd, run_in_background=in_background)
    assert output.endswith("[exit code: 0]") and len(output) < 20_000
    assert grown < COMMAND_MB, f"{grown:.0f} MB"


async def test_200_mb_in_one_line_without_an_end_take_bounded_memory(tmp_path):
    grown, output = await measured(tmp_path, "exec_command", cmd=f"head -c {OUTPUT_MB}000000 /dev/zero")
    assert output.endswith("[exit code: 0]") and len(output) < 20_000
    assert grown < COMMAND_MB, f"{grown:.0f} MB"


async def test_a_pattern_that_every_line_of_200_mb_fits_takes_bounded_memory(tmp_path):
    line = b"every line of this file is a hit, and it is quite long\n"
    for number in range(10):
        (tmp_path / f"{number}.txt").write_bytes(line * (OUTPUT_MB * 100_000 // len(line)))
    grown, output = await measured(tmp_path, "search_text", pattern=".")
    assert "only the first 500 lines are shown" in output
    assert grown < SEARCH_MB, f"{grown:.0f} MB"


async def test_a_pattern_that_fits_everywhere_in_one_endless_line_takes_bounded_memory(tmp_path):
    (tmp_path / "bundle.min.js").write_bytes(b"x=1;" * 5_000_000)
    grown, output = await measured(tmp_path, "search_text", pattern=".")
    assert output.startswith("bundle.min.js\n     1: x=1;") and len(output) < 1_000
    assert grown < SEARCH_MB, f"{grown:.0f} MB"
