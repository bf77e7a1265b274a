"""The processes below a process (Linux; elsewhere none are found and groups have to do)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator


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


def marked(mark: str) -> list[int]:
    """The processes with `mark` in the environment they were started with, as far as we may look."""
    found: list[int] = []
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():  # noqa: PTH112, PTH208
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/environ", "rb") as file:  # noqa: PTH123
                if mark.encode() in file.read():
                    found.append(int(name))
        except OSError:
            continue
    return found


def kill_marked(mark: str) -> None:
    """Ends at once all processes with `mark` in their environment, daemons too."""
    for pid in marked(mark):
        try:
            os.kill(pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            continue


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
