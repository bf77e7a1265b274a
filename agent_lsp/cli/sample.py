"""The workspace that the demo works on: small enough to read at a glance, with something left to mend."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

FILES = {
    "README.md": """\
# greeter

Says hello to people, in the terminal.
""",
    "greeter.py": '''\
"""Says hello to people."""


def greeting(name: str) -> str:
    """What to say to somebody."""
    # TODO: greet people without a name as well
    return f"Helo, {name}!"


if __name__ == "__main__":
    print(greeting("Ada"))
''',
}
PROMPT = "Fix the greeting in greeter.py, then run `python3 greeter.py` to see that it is right."


def lay_out(folder: Path) -> None:
    """Writes the files into a folder of their own."""
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")


def changes(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, unified diff) of each file that is no longer what it was, new ones included."""
    present = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(present.keys() | FILES.keys()):
        before = FILES.get(name, "").splitlines()
        after = present[name].read_text(encoding="utf-8", errors="replace").splitlines() if name in present else []
        diff = "\n".join(unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
        if diff:
            yield name, diff
