"""Puts what the bench harness has measured into docs/performance.md, between its marks.

BENCH_HOME=.bench python tests/bench/page.py HARNESS
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "performance.md"
_BETWEEN = re.compile(r"(?<=<!-- measured -->\n).*(?=<!-- /measured -->)", re.DOTALL)


def said(harness: Path, *arguments: str) -> str:
    """What the harness' report prints."""
    done = subprocess.run(
        [sys.executable, str(harness / "report.py"), *arguments], capture_output=True, text=True, check=False
    )
    if not done.stdout:
        sys.exit(done.stderr or "the harness reports nothing")
    return done.stdout


def processor() -> str:
    """The processor's name and how many of it there are."""
    facts = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = re.findall(r"model name\s*: (.+)", facts)
    return f"{len(names)} × {names[0]}" if names else platform.machine()


def main() -> None:
    """Writes the page and prints the same."""
    harness = Path(sys.argv[1])
    table, bars = said(harness), said(harness, "--bars")
    where = f"Linux {platform.release().partition('-')[0]}" if sys.platform == "linux" else platform.platform()
    about = f"{processor()}, {where}, Python {platform.python_version()}."
    print(f"{table}\n{bars}")
    measured = f"{about}\n\n{table}\nThe bars, each a ratio within this run:\n\n```text\n{bars}```\n"
    page = PAGE.read_text()
    assert _BETWEEN.search(page), f"{PAGE} has no place for figures"
    PAGE.write_text(_BETWEEN.sub(lambda _: measured, page))


if __name__ == "__main__":
    main()
