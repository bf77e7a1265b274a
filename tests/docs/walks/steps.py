"""Prints what a page has a reader type: the lines of its shell snippets, from one of them to another."""

import re
import sys
from pathlib import Path


def main(page: str, first: str, last: str) -> None:
    found = re.findall(r"^```sh\n(.*?)^```$", Path(page).read_text(encoding="utf-8"), flags=re.M | re.S)
    for snippet in found[int(first) - 1 : int(last)]:
        for line in snippet.splitlines():
            if line.strip() and "…" not in line:  # a key is the reader's own
                sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
