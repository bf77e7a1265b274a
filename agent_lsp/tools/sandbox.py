"""Commands under bubblewrap: what they can reach is decided by the kernel, not by looking at the command."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from agent_lsp.slotted import frozen

_SOCKETS = ("/tmp", "/run", "/var/run", "/var/tmp")
"""Sockets of services lie there, through which a command could have others act for it; private and empty instead."""


_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""What is written there changes the machine, and may have it run a program outside. bubblewrap leaves `/proc/sys` as it
is where the user is root, and root writes to it with no capability at all: as in most containers."""

_RUNS_CODE = (".git/config", ".git/hooks", ".agent-lsp", ".vscode", ".idea")
"""In a writable folder: an editor's own `git status` runs what `.git/config` says, and it does not run in here."""


@frozen
class Sandbox:
    """What commands may reach: all can be read but what is `hidden`, the `writable` folders can be written too.

    What makes an editor or git run programs stays as it is where it is there already.

    Neither other processes nor (without `network`) anything beyond the machine, nor the machine's own ports, are there.
    """

    writable: Sequence[Path]
    hidden: Callable[[], Iterable[Path]]
    """Files and folders, links resolved. A writable folder below one of them stays visible."""
    network: bool = False

    def wrapped(self, argv: Sequence[str], cwd: Path) -> tuple[str, ...]:
        """The command line that runs `argv` inside. Raises OSError if bubblewrap is not installed."""
        program = shutil.which("bwrap")
        if program is None:
            raise OSError("tools.sandbox is bwrap, and bwrap is not installed: install bubblewrap, or set it to off")
        return (program, *self._options(), "--chdir", str(cwd), "--", *argv)

    def _options(self) -> Iterable[str]:
        # The outer process stays in the group that the command is ended by; all inside ends with it.
        yield from ("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--cap-drop", "ALL")
        if not self.network:
            yield "--unshare-net"
        yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
        for place in _KERNEL:
            yield from ("--ro-bind-try", place, place)
        for folder in _SOCKETS:
            if Path(folder).is_dir() and not Path(folder).is_symlink():
                yield from ("--tmpfs", folder)
        if self.network:  # where names are resolved by a service, its configuration is linked to from /etc
            yield from ("--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve")
        for folder in self.writable:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        hidden = [path for path in dict.fromkeys(self.hidden()) if path.exists()]
        for path in sorted(
            [*self.writable, *hidden], key=lambda one: len(one.parts)
        ):  # the inner ones lie on the outer
            if path in self.writable:
                yield from ("--bind", str(path), str(path))
            elif path.is_dir():
                yield from ("--tmpfs", str(path))
            else:
                yield from ("--ro-bind", "/dev/null", str(path))
        for folder in self.writable:
            yield from _kept(folder)


def _kept(folder: Path) -> Iterable[str]:
    """Binds what runs code so that it cannot be written; what is bound cannot be moved out of the way either."""
    if _is_there(git := folder / ".git") and git.is_dir():
        yield from ("--bind", str(git), str(git))
    for path in (folder / name for name in _RUNS_CODE):
        if _is_there(path):
            yield from ("--ro-bind", str(path), str(path))


def _is_there(path: Path) -> bool:
    return path.exists() and not path.is_symlink()
