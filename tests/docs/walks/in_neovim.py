"""Neovim as a person has it: lines of a page in init.lua, keys, and what is on the screen then, into the log.

    in_neovim.py PAGE CHECKOUT MACHINE

It runs with the Python that the plugin's tests run with, and with their screen.
"""

import re
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "editors/nvim/tests/e2e"))
from harness.agent import GUARD_S
from harness.neovim import Neovim

WISH = "fix the greeting in greeter.py"


def lua(page, word):
    found = re.findall(r"^```lua\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), flags=re.M | re.S)
    return next(one for one in found if word in one)


class Walk:
    """What is typed, and the screen on which the expected is to be seen then."""

    def __init__(self, init, home):
        self.nvim = Neovim(home, Path.cwd(), init, plugin=False)

    def type(self, keys, *seen, gone=()):
        print(f"[keys] {keys}")
        self.nvim.type(keys)
        screen = self.nvim.watch(
            lambda screen: all(one in screen for one in seen) and not any(one in screen for one in gone),
            f"waited for {seen} without {gone}",
            within_s=30,
        )
        print("\n".join(f"    | {line}" for line in screen.rstrip().splitlines() if line != "~"))

    def leave(self):
        print(f"[left] after {self.nvim.quit():.2f} s")


def with_the_plugin(walk):
    """The first task: asked for, allowed, seen in the file, taken back."""
    walk.type(":edit greeter.py<CR>", "Helo")
    walk.type(":checkhealth agent_lsp<CR>", "OK agent-lsp")
    walk.type(":bdelete<CR>", "Helo")
    walk.type(f":Agent {WISH}<CR>", "Edit greeter.py", "to answer")
    walk.type(":AgentApproval<CR>", "a allow")
    time.sleep(GUARD_S)  # keys count only after a look at what they answer
    walk.type("a", "This is what I did", "edit greeter.py: done", 'return f"Hello', gone=["a allow", "running"])
    walk.type("u", 'return f"Helo', gone=['return f"Hello', "▎"])
    walk.type(":write<CR>", "written")


def without_a_plugin(walk):
    """The same by the lines of the page and Neovim's own menu."""
    walk.type(":edit greeter.py<CR>", "Helo")
    walk.nvim.until("local c = vim.lsp.get_clients({ name = 'agent' })[1] return c and c.initialized")
    walk.type(r"\aa", "Agent:")
    walk.type(f"{WISH}<CR>", "Edit greeter.py?", "1: Allow")
    walk.type("1<CR>", "Hello", gone=["1: Allow"])
    walk.type("u", 'return f"Helo', gone=['return f"Hello'])
    walk.type(":write<CR>", "written")


def main(page, checkout, machine):
    """Walks each way of the page, in a home of its own."""
    machine, plugin = Path(machine), Path(checkout) / "editors/nvim"
    by_path, plain = lua(page, "rtp:append"), lua(page, "vim.lsp.enable")
    linked = machine / "by-link/data/nvim/site/pack/agent/start"
    linked.mkdir(parents=True)
    (linked / "agent-lsp").symlink_to(plugin)
    for home, init, go in (
        ("by-path", by_path.replace("/path/to/agent-lsp", checkout), with_the_plugin),
        ("by-link", "\n".join(by_path.splitlines()[1:]), with_the_plugin),
        ("plain", plain, without_a_plugin),
    ):
        print(f"== {home}")
        walk = Walk(init, machine / home)
        try:
            go(walk)
            walk.leave()
        finally:
            walk.nvim.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
