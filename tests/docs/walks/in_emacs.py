"""Emacs as a person has it: the lines of a page in the init file, keys, and what is on the screen then, into the log.

    in_emacs.py PAGE MACHINE

The terminal that it runs in is that of a Neovim, so that the screen can be read.
"""

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "editors/nvim/tests/e2e"))
from in_neovim import Walk

WISH = "fix notes.txt"


def main(page, machine):
    """Starts the server with Eglot, asks, allows, sees the edit and takes it back."""
    (lines,) = re.findall(r"^```elisp\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), flags=re.M | re.S)
    home = Path(machine) / "emacs"
    (home / ".emacs.d").mkdir(parents=True)
    (home / ".emacs.d/init.el").write_text(lines)
    Path("notes.txt").write_text("Helo everybody.\n")
    walk = Walk("", home)
    try:
        walk.type(":terminal emacs -nw notes.txt<CR>", "notes.txt", "(Text")
        walk.nvim.type("i")
        walk.type("<M-x>eglot<CR>", "eglot:")
        walk.type(f"<M-x>my-agent-run<CR>{WISH}<CR>", "+Hello", "Choose an option")
        walk.type("<CR>", "This is what I did", "Hello everybody", gone=["Choose an option"])
        walk.type("<C-x>u", "Helo everybody", gone=["Hello everybody"])
        walk.leave()
    finally:
        walk.nvim.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
