"""Commands under bubblewrap: what they can reach is decided by the kernel, not by looking at the command."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from agent_lsp.slotted import frozen

_SOCKETS = ("/tmp", "/run", "/var/run", "/var/tmp")
"""Sockets of services lie there, through which a command could have others act for it; private and empty instead."""


_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs")
"""What is written there changes the machine, and may have it run a program outside. bubblewrap leaves `/proc/sys` as it
is where the user is root, and root writes to it with no capability at all: as in most containers."""

_RUNS_CODE = (".git/config", ".git/config.worktree", ".git/hooks", ".agent-lsp", ".vscode", ".idea")
"""In a writable folder: an editor's own `git status` runs what `.git/config` says, and it does not run in here."""

_COMMON = "commondir"
"""In a `.git`: has git read the configuration that lies elsewhere. Only git's own folders for worktrees have it."""

_NEW = (".git", f".git/{_COMMON}", *_RUNS_CODE)
"""What cannot be held where it is not there: bubblewrap would have to make it first, in the person's own folder."""


@frozen
class Sandbox:
    """What commands may reach: all can be read but what is `hidden`, the `writable` folders can be written too.

    What makes an editor or git run programs stays as it is where it is there already. Where it is not, it is told of
    when it has come to be (`absent`, `appeared`).

    Neither other processes nor (without `network`) anything beyond the machine, nor the machine's own ports, are there.
    """

    writable: Sequence[Path]
    hidden: Callable[[], Iterable[Path]]
    """Files and folders, links resolved. A writable folder below one of them stays visible."""
    network: bool = False

    def wrapped(self, argv: Sequence[str], cwd: Path) -> tuple[str, ...]:
        """The command line that runs `argv` inside. Raises OSError if bubblewrap is not installed."""
        from shutil import which  # with its compressors 1.5 ms that a start need not wait for

        program = which("bwrap")
        if program is None:
            raise OSError("tools.sandbox is bwrap, and bwrap is not installed: install bubblewrap, or set it to off")
        return (program, *self._options(), "--chdir", str(cwd), "--", *argv)

    def absent(self) -> frozenset[Path]:
        """What would make an editor or git run programs, and is not there."""
        places = (folder / name for folder in self.writable for name in _NEW)
        return frozenset(path for path in places if not os.path.lexists(path))

    def appeared(self, absent: Iterable[Path]) -> list[str]:
        """What of that is there now, in words; where a folder is, not what is in it. `.git/commondir` is set aside."""
        found = sorted(path for path in absent if os.path.lexists(path))
        return [_told(path) for path in found if path.name == _COMMON or not any(one in path.parents for one in found)]

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
    git = folder / ".git"
    if _is_there(git) and git.is_dir():
        if (git / "HEAD").exists():  # a repository, in which git itself would have made the folder
            with suppress(OSError):
                (git / "hooks").mkdir(exist_ok=True)
        yield from ("--bind", str(git), str(git))
    elif _is_there(git):  # names the repository of a working tree or a submodule, which lies elsewhere
        yield from ("--ro-bind", str(git), str(git))
    for path in (folder / name for name in _RUNS_CODE):
        if _is_there(path):
            yield from ("--ro-bind", str(path), str(path))


def _told(path: Path) -> str:
    if path.name != _COMMON:
        return f"[new: {path}; it can make an editor or git run programs: the person should look into it first]"
    aside = f"{_COMMON}.set-aside-{secrets.token_hex(3)}"
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.rename(path.name, aside, src_dir_fd=folder, dst_dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        return f"[new: {path}; it makes git read another configuration, and cannot be set aside: {error.strerror}]"
    return f"[{path} was set aside as {aside}: it makes git read another configuration]"


def _is_there(path: Path) -> bool:
    return path.exists() and not path.is_symlink()
