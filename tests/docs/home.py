"""A new user's machine: a fresh home, a sample project, our program on the PATH, nothing else of anybody's."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from agent_lsp.cli.sample import FILES

ROOT = Path(__file__).parents[2]
PLACEHOLDERS = {
    "PROVIDER/MODEL": "rehearsal/rehearsal",
    "anthropic/claude-sonnet-5": "rehearsal/rehearsal",
    "PATH": ".",
}


class Home:
    """`run` runs a line of shell in the sample project. There is a session to look at from the first `SESSION` on."""

    def __init__(self, folder):
        self.home, self.project = folder / "home", folder / "greeter"
        self.home.mkdir()
        self.project.mkdir()
        for name, text in FILES.items():
            (self.project / name).write_text(text)
        (self.project / "task.md").write_text("look at the project\n")
        for example in (ROOT / "docs" / "examples").glob("*.py"):
            shutil.copy(example, self.project)
        (self.home / "src" / "thing").mkdir(parents=True)
        self._exports = []
        self._session = None
        programs = folder / "bin"
        programs.mkdir()
        for name in ("python3", "python"):
            (programs / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        (programs / "agent-lsp").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m agent_lsp "$@"\n')
        for program in programs.iterdir():
            program.chmod(0o755)
        self.environ = {
            "HOME": str(self.home),
            "PATH": f"{programs}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT),
            "BROWSER": "true",
            "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring",
        }

    def run(self, line, status=0):
        """Runs it and returns what it printed. `export` lines hold for those that come after them."""
        if line.startswith("export ") and "…" in line:
            return ""  # a key that only the reader has
        if "SESSION" in line:
            line = line.replace("SESSION", self.session())
        for name, value in PLACEHOLDERS.items():
            line = line.replace(f" {name}", f" {value}")
        script = "\n".join(["set -euo pipefail", *self._exports, line])
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=self.project,
            env=self.environ,
            input="y\n" * 5,
            capture_output=True,
            text=True,
            timeout=200,
        )
        assert done.returncode == status, f"{line}\n{done.stdout}\n{done.stderr}"
        if line.startswith(("export ", "source ")):
            self._exports.append(line)
        return done.stdout

    def session(self):
        """The id of a session that has run."""
        if self._session is None:
            self.run('agent-lsp run "look at the project" --yes')
            traces = sorted((self.home / ".local/share/agent-lsp/sessions").rglob("*.jsonl"))
            self._session = traces[-1].stem.rpartition("_")[0]
        return self._session


def neovim():
    """Neovim, as installed or as the plugin's own tests have it; None where there is none."""
    kept = ROOT / ".venv" / "nvim"
    return shutil.which("nvim") or (str(kept) if os.access(kept, os.X_OK) and kept.is_file() else None)
