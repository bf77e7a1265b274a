"""The processes below a process (Linux; elsewhere none are found and groups have to do)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

_KERNEL_THREAD = 0x00200000  # PF_KTHREAD of linux/sched.h
_LOOK_AGAIN_S = 0.002


class Strays:
    """Descendants of `leader` that left its process group and would outlive a signal to it, as they are now.

    They are held by pidfd, so that a signal never meets another process that got the number meanwhile.
    """

    __slots__ = ("_held",)

    def __init__(self, leader: int) -> None:
        self._held: list[int] = []
        for pid in _outside_group(leader):
            try:
                self._held.append(os.pidfd_open(pid))
            except OSError:
                continue

    def signal(self, number: int) -> None:
        """Sends a signal to each."""
        for held in self._held:
            try:
                signal.pidfd_send_signal(held, number)
            except OSError:
                continue

    def close(self) -> None:
        """Lets go of them."""
        for held in self._held:
            os.close(held)
        self._held.clear()


def kill_marked(mark: str, within_s: float = 1.0) -> None:
    """Ends at once all processes with `mark` in the environment they were started with, daemons too (Linux).

    Looks again until nothing is left: what it finds may be starting another process, or turning into another program,
    and a process that does that has no environment for a moment.
    """
    until = time.monotonic() + within_s
    while True:
        found, are_all_known = _look_for(mark.encode())
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        if (are_all_known and not found) or time.monotonic() > until:
            return
        time.sleep(_LOOK_AGAIN_S)


def _look_for(mark: bytes) -> tuple[list[int], bool]:
    """The processes with `mark`, as far as we may look, and whether the environment of all others could be read."""
    found: list[int] = []
    are_all_known = True
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():  # noqa: PTH112, PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                environment = file.read()
            if mark in environment:
                found.append(int(name))
            elif not environment and _is_between_programs(name):
                are_all_known = False
        except OSError:
            continue
    return found, are_all_known


def _is_between_programs(pid: str) -> bool:
    """Whether a process whose environment was empty may have one all the same. Raises OSError if it is gone.

    proc_pid_stat(5): `env_start` and `env_end` (fields 50 and 51) are zero while the program is being replaced. In a
    process without environment they are equal, and not zero. Kernel threads and the dead have none.
    """
    with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123
        fields = file.read().rpartition(b") ")[2].split()
    state, flags, start, end = fields[0], int(fields[6]), int(fields[47]), int(fields[48])
    return not (flags & _KERNEL_THREAD or state in (b"Z", b"X")) and (start != end or not end)


def group_exists(group: int) -> bool:
    """Whether anything is left of a process group."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def group_is_alive(group: int) -> bool:
    """Whether anything that still runs is left of a process group: the dead may wait long for whoever reaps them."""
    if not group_exists(group):
        return False
    states = list(_states(group))
    return not states or any(state not in ("Z", "X") for state in states)


def _states(group: int) -> Iterator[str]:
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():  # noqa: PTH112, PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                state, _, member_of = file.read().rpartition(b") ")[2].split(maxsplit=3)[:3]
        except OSError:
            continue
        if int(member_of) == group:
            yield state.decode()


def _outside_group(leader: int) -> list[int]:
    found: list[int] = []
    ahead = [leader]
    while ahead:
        for child in _children(ahead.pop()):
            ahead.append(child)
            if _group(child) not in (leader, None):
                found.append(child)
    return found


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - many, small, and in a hurry
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                children += map(int, file.read().split())
    except OSError:
        return children
    return children


def _group(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except OSError:
        return None
