"""Remembered rules: what a person has allowed for longer than one call.

A rule is a fingerprint of what it covers. Matching computes the fingerprints a call has and looks them up, so a rule
can only ever cover what was shown when it was made: a call by its tool, its arguments and where it leads if that is not
simply inside the workspace; a command by its first words; a tool. Nothing is compared by pattern, nothing in the
workspace can make one.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from agent_lsp.messages.clock import timestamp
from agent_lsp.policy.private_file import locked, read_object, write_object
from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import as_dict, frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall

RuleKind = Literal["call", "command", "tool"]
Scope = Literal["session", "workspace"]

_LABEL_CHARS: Final = 200


@frozen
class Coverage:
    """Something a call can be remembered as. `rule` is its fingerprint, `subject` says what it covers."""

    kind: RuleKind
    rule: str
    subject: str


@frozen
class Offer:
    """A rule that a question offers to remember; `rule` is opaque and is sent back to take it."""

    kind: RuleKind
    scope: Scope
    rule: str
    label: str


@frozen
class Rule:
    """A rule that was taken."""

    rule_id: str
    kind: RuleKind
    scope: Scope
    rule: str
    label: str
    created_at: str


def coverages(
    call: ToolCall, *, command: str | None, first_words: tuple[str, ...] | None, where: Iterable[Path], exact: bool
) -> list[Coverage]:
    """What the call can be remembered as, narrowest first.

    `command`: the command line, if it is a command. `first_words`: of a command that may be remembered by them.
    `where`: the places it leads to that are not simply inside the workspace. `exact`: only as this very call.
    """
    subject = f"`{_short(command)}`" if command is not None else f"this call of {call.name}"
    found = [
        Coverage(
            "call", _fingerprint("call", call.name, canonical(call.arguments), *map(str, where)), f"only {subject}"
        )
    ]
    if exact:
        return found
    if first_words:
        words = " ".join(first_words)
        found.append(Coverage("command", _fingerprint("command", call.name, *first_words), f"`{_short(words)} …`"))
    everything = "every command" if command is not None else f"every call of {call.name} inside the workspace"
    found.append(Coverage("tool", _fingerprint("tool", call.name), everything))
    return found


def offers(found: Iterable[Coverage], scopes: Iterable[Scope] = get_args(Scope)) -> tuple[Offer, ...]:
    """The coverages as rules to take, each for every scope."""
    where = {"session": "in this session", "workspace": "in this workspace, from now on"}
    return tuple(
        Offer(one.kind, scope, one.rule, visible_line(f"{one.subject} {where[scope]}"))
        for one in found
        for scope in scopes
    )


def canonical(arguments: str) -> str:
    """The arguments (JSON, blank means `{}`) in the one spelling that all equal ones share; other text as it is."""
    try:
        value: object = json.loads(arguments) if arguments.strip() else {}
    except (ValueError, RecursionError):
        return arguments
    return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def taken(offer: Offer) -> Rule:
    """The offer as a rule, made now."""
    return Rule(f"rule-{secrets.token_hex(8)}", offer.kind, offer.scope, offer.rule, offer.label, timestamp())


class WorkspaceRules:
    """The rules of one workspace: a file in the data directory, shared by all servers on the same workspace."""

    def __init__(self, data_dir: Path, workspace: Path) -> None:
        self._workspace = str(workspace.resolve())
        name = hashlib.sha256(self._workspace.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = data_dir / "rules" / f"{name}.json"
        self._read_at: tuple[int, int, int] | None = None
        self._rules: dict[str, Rule] = {}

    def all(self) -> tuple[Rule, ...]:
        """Every rule, oldest first, as the file has it now; a damaged entry is left out, a damaged file is empty."""
        stamp = self._stamp()
        if stamp != self._read_at or stamp is None:
            self._rules = {rule.rule_id: rule for rule in self._read()}
            self._read_at = stamp
        return tuple(self._rules.values())

    def add(self, rule: Rule) -> None:
        """Keeps the rule. Raises `OSError` when it cannot be written."""
        with locked(self._path):
            self._write([*self._read(), rule])

    def remove(self, rule_ids: Iterable[str]) -> set[str]:
        """Takes the rules back and returns the ids that were there. Raises `OSError` when that cannot be written."""
        doomed = set(rule_ids)
        if not doomed & {rule.rule_id for rule in self.all()}:
            return set()
        with locked(self._path):
            before = self._read()
            self._write([rule for rule in before if rule.rule_id not in doomed])
        return doomed & {rule.rule_id for rule in before}

    def _stamp(self) -> tuple[int, int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns, found.st_size

    def _read(self) -> list[Rule]:
        content = read_object(self._path)
        entries = content.get("rules")
        if content.get("workspace") != self._workspace or not isinstance(entries, list):
            return []
        return [rule for entry in entries if (rule := _rule_from(entry))]  # pyright: ignore[reportUnknownVariableType]

    def _write(self, rules: list[Rule]) -> None:
        entries = [{key: value for key, value in as_dict(rule).items() if key != "scope"} for rule in rules]
        write_object(self._path, {"workspace": self._workspace, "rules": entries})
        self._read_at = None


def _rule_from(entry: Any) -> Rule | None:
    """The entry of a file as a rule, None if it is not one."""
    names = ("rule_id", "kind", "rule", "label", "created_at")
    if not isinstance(entry, dict):
        return None
    fields: dict[str, Any] = {name: entry.get(name) for name in names}  # pyright: ignore[reportUnknownMemberType]
    if fields["kind"] not in get_args(RuleKind) or not all(
        isinstance(value, str) and value for value in fields.values()
    ):
        return None
    return Rule(scope="workspace", **fields)


def _fingerprint(kind: RuleKind, *parts: str) -> str:
    digest = hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
    return f"{kind}:{digest}"


def _short(text: str) -> str:
    return text if len(text) <= _LABEL_CHARS else f"{text[:_LABEL_CHARS]}…"
