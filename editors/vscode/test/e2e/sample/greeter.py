"""Says hello."""

import sys


def greeting(name: str) -> str:
    """What to say to somebody."""
    return f"Helo, {name}!"


if __name__ == "__main__":
    print(greeting(sys.argv[1] if len(sys.argv) > 1 else "world"))
