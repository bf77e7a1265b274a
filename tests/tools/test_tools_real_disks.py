"""Edits on disks that are really full or read-only: a process of its own in mounts that bubblewrap makes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASE = ("bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
CONFINES = shutil.which("bwrap") is not None and not subprocess.call([*BASE, "true"], stderr=subprocess.DEVNULL)
pytestmark = pytest.mark.skipif(not CONFINES, reason="bubblewrap is not installed, or may not be used here")

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

async def main(root, full, calls):
    if full:
        (root / "hello.txt").write_text("hello\\nworld\\n")
        with (root / "ballast").open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
    before = sorted((one.name, one.stat().st_size) for one in root.iterdir())
    workspace, processes = Workspace(root, root / ".scratchpad"), Processes()
    context = ToolContext(workspace, DiskEditor(workspace.scratchpad), processes.session())
    toolset = Toolset(builtin_tools(context), ToolLimits(50), workspace.scratchpad)
    outputs = []
    for name, arguments in calls:
        call = ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id="c")
        items = [item async for item in toolset.execute(call)]
        outputs.append("".join(items[:-1]) + items[-1].output)
    after = sorted((one.name, one.stat().st_size) for one in root.iterdir() if one.name != ".scratchpad")
    print(json.dumps([outputs, before == after, (root / "hello.txt").read_text()]))
    await processes.close()

asyncio.run(main(Path(sys.argv[1]), sys.argv[2] == "full", json.load(sys.stdin)))
"""
BIG = "line\n" * 50_000
PATCH = "*** Begin Patch\n*** Update File: hello.txt\n@@\n-world\n+there\n*** Add File: sub/new\n+{}\n*** End Patch"
CALLS = [
    ("write_file", {"file_path": "hello.txt", "content": BIG}),
    ("write_file", {"file_path": "new/file.txt", "content": BIG}),
    ("edit_file", {"file_path": "hello.txt", "old_string": "world", "new_string": BIG}),
    ("apply_patch", {"patch": PATCH.format("x" * 200_000)}),
]


def outputs_of(root: Path, kind: str, calls) -> list[str]:
    """What the calls say; nothing on the disk may be other than before."""
    mount = ("--size", "1048576", "--tmpfs") if kind == "full" else ("--ro-bind", str(root))
    argv = (*BASE, *mount, str(root), "--chdir", str(Path.cwd()), "--", sys.executable, "-c", HOST)
    command = [*argv, str(root), kind]
    done = subprocess.run(command, input=json.dumps(calls).encode(), stdout=subprocess.PIPE, check=True, timeout=30)
    outputs, is_same, text = json.loads(done.stdout)
    assert is_same and text == "hello\nworld\n"
    return outputs


@pytest.mark.parametrize(
    ("kind", "words"), [("full", "No space left on device"), ("read-only", "Read-only file system")]
)
def test_an_edit_that_the_disk_does_not_take_says_so_and_leaves_everything_as_it_was(root, kind, words):
    outputs = outputs_of(root, kind, CALLS)
    assert [words in one and " failed: " not in one for one in outputs] == [True] * len(CALLS), outputs


def test_reading_goes_on_where_nothing_can_be_written(root):
    calls = [("read_file", {"file_path": "hello.txt"}), ("exec_command", {"cmd": "seq 1 1000"})]
    read, ran = outputs_of(root, "read-only", calls)
    assert "2\tworld" in read and ran.startswith("1\n2\n")
    assert "[output not archived: Read-only file system]" in ran and ran.endswith("[exit code: 0]")
