"""Unified diffs of bounded size and cost."""

from __future__ import annotations

from collections.abc import Sequence

_CONTEXT = 3
_MOST_COMPARED = 5_000
_MOST_SHOWN = 400
_LONGEST_LINE = 1_000

Opcode = tuple[str, int, int, int, int]


def unified_diff(name: str, before: str | None, after: str | None, *, whole: bool = False) -> str:
    """The difference of two texts (None: no file), without the ends of CRLF lines; empty if there is none.

    Comparing is quadratic, so only what lies between the first and the last change is compared, and as one block if it
    is long. What is long is shortened, unless it is to be the `whole` difference.
    """
    old, new = _lines(before or ""), _lines(after or "")
    if old == new and before is not None and after is not None:
        return ""
    head = [f"--- {_side('a', name, before)}", f"+++ {_side('b', name, after)}"]
    body = [line for hunk in _hunks(old, new) for line in hunk]
    if not whole:
        body = _shortened(body)
    return "\n".join([*head, *body]) + "\n"


def _shortened(body: list[str]) -> list[str]:
    shown = [_cut(line) for line in body[:_MOST_SHOWN]]
    more = len(body) - _MOST_SHOWN
    return [*shown, f"[{more} more lines of the diff left out]"] if more > 0 else shown


def _side(prefix: str, name: str, text: str | None) -> str:
    return "/dev/null" if text is None else f"{prefix}/{name}"


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    else:
        lines[-1] += "\n\\ No newline at end of file"
    return [line.removesuffix("\r") for line in lines]


def _cut(line: str) -> str:
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"


def _hunks(old: list[str], new: list[str]) -> list[list[str]]:
    return [_hunk(old, new, group) for group in _groups(_opcodes(old, new))]


def _opcodes(old: list[str], new: list[str]) -> list[Opcode]:
    first = 0
    while first < min(len(old), len(new)) and old[first] == new[first]:
        first += 1
    last = 0
    while last < min(len(old), len(new)) - first and old[-1 - last] == new[-1 - last]:
        last += 1
    old_end, new_end = len(old) - last, len(new) - last
    if old_end - first + new_end - first > _MOST_COMPARED:
        return [("replace", first, old_end, first, new_end)]
    from difflib import SequenceMatcher

    compared = SequenceMatcher(None, old[first:old_end], new[first:new_end], autojunk=False).get_opcodes()
    return [(tag, i + first, j + first, k + first, m + first) for tag, i, j, k, m in compared]


def _groups(opcodes: list[Opcode]) -> list[list[Opcode]]:
    groups: list[list[Opcode]] = []
    for opcode in opcodes:
        if opcode[0] == "equal":
            continue
        if groups and opcode[1] - groups[-1][-1][2] <= 2 * _CONTEXT:
            groups[-1].append(opcode)
        else:
            groups.append([opcode])
    return groups


def _hunk(old: list[str], new: list[str], group: Sequence[Opcode]) -> list[str]:
    before = min(_CONTEXT, group[0][1])
    after = min(_CONTEXT, len(old) - group[-1][2])
    start_old, start_new = group[0][1] - before, group[0][3] - before
    end_old, end_new = group[-1][2] + after, group[-1][4] + after
    lines = [f"@@ -{_range(start_old, end_old)} +{_range(start_new, end_new)} @@"]
    at = start_old
    for _, i, j, k, m in group:
        lines += [f" {line}" for line in old[at:i]]
        lines += [f"-{line}" for line in old[i:j]]
        lines += [f"+{line}" for line in new[k:m]]
        at = j
    return [*lines, *(f" {line}" for line in old[at:end_old])]


def _range(start: int, end: int) -> str:
    length = end - start
    return f"{start + 1 if length else start},{length}"
