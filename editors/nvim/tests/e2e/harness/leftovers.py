"""Finds the processes that a test has started and that are still there, by a mark in their environment."""

import os
import time
from pathlib import Path

MARK = "AGENT_LSP_E2E"


def alive(mark):
    """Command lines of the processes that carry the mark, by their ids."""
    found = {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            environment = (folder / "environ").read_bytes().split(b"\0")
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            is_zombie = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        if f"{MARK}={mark}".encode() in environment and not is_zombie:
            found[int(folder.name)] = words.strip()
    return found


def left(mark, within_s=5.0):
    """Those that do not end in time."""
    deadline = time.monotonic() + within_s
    while (found := alive(mark)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return found
