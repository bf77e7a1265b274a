"""The main job, shown from end to end on a sample workspace: an answer streamed, a permission asked, a file changed.

It needs no network, no key and no configuration, and leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from agent_lsp.cli.conversation import Answerer, Job, run
from agent_lsp.cli.palette import Palette, palette_for
from agent_lsp.cli.render import Renderer
from agent_lsp.cli.sample import PROMPT, changes, lay_out
from agent_lsp.cli.status import EXIT_STATUS
from agent_lsp.cli.terminal import Reply, Screen
from agent_lsp.policy.visible import visible

MODEL = "rehearsal/rehearsal"
ITSELF = Answerer(Reply("allow"), "└ Allow?  y     (no terminal here, so the demo answers for you)")
_INTRODUCTION = """\
A coding agent, started the way your editor starts a language server, works on a small project.
Its model is the built-in rehearsal, which follows fixed rules and needs no network.
The server, the tools, the questions and the edits are the real ones.
"""
_NEXT = """\
Now on a project of yours:   {program} run "explain this project" --workspace PATH
With which model:            {program} doctor   (a key in the environment or a model server is found)
In your editor:              the README says how
"""


def demo() -> int:
    """Runs it on this terminal and returns the exit status of the run."""
    palette, screen = palette_for(sys.stdout, os.environ), Screen(sys.stdout)
    with TemporaryDirectory(prefix="agent-lsp-demo-") as scratch:
        folder = Path(scratch).resolve() / "greeter"
        lay_out(folder)
        screen.write(f"{palette.paint(_INTRODUCTION, 'dim')}\n")
        result = asyncio.run(run(_job(folder), screen, Renderer(palette)))
        screen.write(_told(folder, palette))
    return EXIT_STATUS[result.status]


def _job(folder: Path) -> Job:
    options = {
        "dataDir": str(folder.parent / "data"),
        "config": str(folder.parent / "none.toml"),
        "defaultModel": MODEL,
        "approvalMode": "ask",
    }
    answerer = None if sys.stdin.isatty() and sys.stdout.isatty() else ITSELF
    return Job(PROMPT, folder, MODEL, options, answerer, asks=answerer is None)


def _program() -> str:
    """How this program is started again from the same shell."""
    if shutil.which("agent-lsp"):
        return "agent-lsp"
    started = Path(sys.argv[0])
    return str(started) if started.name == "agent-lsp" else f"{sys.executable} -m agent_lsp"


def _told(folder: Path, palette: Palette) -> str:
    changed = list(changes(folder))
    lines = [palette.paint("What changed on disk" if changed else "Nothing changed on disk.", "bold")]
    for name, diff in changed:
        lines += [
            f"  {visible(str(folder / name))}",
            *(f"  {line}" for line in palette.diff(visible(diff)).split("\n")),
        ]
    lines += [
        palette.paint("(The project was a sample and is gone again.)", "dim"),
        "",
        palette.paint(_NEXT.format(program=_program()), "dim"),
    ]
    return "\n" + "\n".join(lines)
