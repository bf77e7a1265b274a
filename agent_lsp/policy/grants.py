"""What the person has granted a session and its children: the approval mode and the remembered rules."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_lsp.policy.rules import Coverage, Offer, Rule, Scope, WorkspaceRules, taken

if TYPE_CHECKING:
    from agent_lsp.policy.modes import ApprovalMode


class Grants:
    """The mode and rules of one root session. Its children have the same object, so a change reaches them at once."""

    def __init__(self, mode: ApprovalMode = "ask", workspace_rules: WorkspaceRules | None = None) -> None:
        """`workspace_rules`: None for a session that keeps nothing."""
        self._mode: ApprovalMode = mode
        self._before_plan: ApprovalMode = "ask"
        self._workspace_rules = workspace_rules
        self._session_rules: dict[str, Rule] = {}
        self._watchers: list[Callable[[], None]] = []

    @property
    def mode(self) -> ApprovalMode:
        """The approval mode now."""
        return self._mode

    def set_mode(self, mode: ApprovalMode) -> None:
        """Holds from the next call on, and for a question that is open."""
        if mode == "plan" and self._mode != "plan":
            self._before_plan = self._mode
        self._mode = mode
        self._tell()

    def leave_plan(self) -> ApprovalMode:
        """Goes back to the mode before `plan` (`ask` if the session began with it); returns the mode that holds now."""
        if self._mode == "plan":
            self.set_mode(self._before_plan)
        return self._mode

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """How long a rule can be remembered here."""
        return ("session",) if self._workspace_rules is None else ("session", "workspace")

    def remember(self, offer: Offer) -> Rule:
        """Takes a rule. Raises `OSError` when one for the workspace cannot be written."""
        rule = taken(offer)
        if offer.scope == "workspace" and self._workspace_rules is not None:
            self._workspace_rules.add(rule)
        else:
            self._session_rules[rule.rule_id] = rule
        self._tell()
        return rule

    def covering(self, found: Iterable[Coverage]) -> Rule | None:
        """The first rule that covers one of these, narrowest coverage first; session before workspace."""
        by_print: dict[str, Rule] = {}
        for rule in self.rules():
            by_print.setdefault(rule.rule, rule)
        return next((by_print[one.rule] for one in found if one.rule in by_print), None)

    def rules(self) -> tuple[Rule, ...]:
        """Every rule that holds, those of the session first."""
        kept = self._workspace_rules.all() if self._workspace_rules else ()
        return (*self._session_rules.values(), *kept)

    def revoke(self, rule_ids: Iterable[str]) -> set[str]:
        """Takes rules back at once, and returns the ids that were known. Raises `OSError` as `remember` does."""
        wanted = set(rule_ids)
        gone = {rule_id for rule_id in wanted if self._session_rules.pop(rule_id, None)}
        if self._workspace_rules is not None:
            gone |= self._workspace_rules.remove(wanted - gone)
        return gone

    @contextmanager
    def watched(self, changed: Callable[[], None]) -> Generator[None]:
        """Calls `changed` (which must not raise) after every change of mode and every new rule meanwhile."""
        self._watchers.append(changed)
        try:
            yield
        finally:
            self._watchers.remove(changed)

    def _tell(self) -> None:
        for changed in tuple(self._watchers):
            changed()
