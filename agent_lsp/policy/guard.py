"""The verdict on one call: command policy and forbidden places, remembered rules, the mode, and else the person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from agent_lsp.policy.access import Access
from agent_lsp.policy.modes import MODES
from agent_lsp.policy.paths import PathRules, Place
from agent_lsp.policy.rules import Coverage, Offer, coverages, offers
from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import ToolCall
    from agent_lsp.policy.grants import Grants


class CommandRules(Protocol):
    """What a guard asks about command lines."""

    def forbids(self, line: str, cwd: Path) -> str | None:
        """Why the line must never run there (one line for a person), None if it may."""
        ...

    def first_words(self, line: str) -> tuple[str, ...] | None:
        """The words by which the line can be remembered, None if only as a whole."""
        ...

    def only_reads(self, line: str, cwd: Path) -> tuple[Path, ...] | None:
        """The paths that the line looks at, if it is known to do nothing else and that counts; else None."""
        ...


@frozen
class Verdict:
    """What is to become of a call.

    `reason` says why in one line. `rule` is the label of the rule that allowed it. `offers` (of an `ask`) are the rules
    that may be taken with the answer. `places` are where its paths led when this was decided.
    """

    action: Literal["allow", "deny", "ask", "forbidden"]
    decided_by: Literal["policy", "rule", "mode"] | None
    reason: str
    rule: str | None = None
    offers: tuple[Offer, ...] = ()
    places: tuple[Place, ...] = ()


class Guard:
    """Judges the calls of one session. It keeps nothing: every verdict is made of what holds at that moment."""

    def __init__(self, grants: Grants, paths: PathRules, commands: CommandRules) -> None:
        self.grants = grants
        self._paths = paths
        self._commands = commands

    def decide(self, call: ToolCall, access: Access) -> Verdict:
        """The verdict on the call, of which `access` says what it would touch."""
        access = self._as_reading(access)
        places = self._places(access)
        if forbidden := self._forbidden(access, places):
            return Verdict("forbidden", "policy", forbidden, places=places)
        odd = tuple(place for place in places if place.standing != "inside")
        known = self._coverages(call, access, odd)
        if rule := self.grants.covering(known):
            return Verdict("allow", "rule", f"remembered: {rule.label}", rule=rule.label, places=places)
        mode = self.grants.mode
        answer = MODES[mode][access.kind]
        if answer == "allow" and mode != "allow-all" and (odd or _is_aimless(access)):
            answer = "ask"
        if answer != "ask":
            return Verdict(answer, "mode", f"approval mode {mode}", places=places)
        return Verdict("ask", None, _why(mode, odd), offers=offers(known, self.grants.scopes), places=places)

    def _as_reading(self, access: Access) -> Access:
        """A command that is known to only look inside the workspace counts as a look, if the settings want it so."""
        if access.kind != "command" or access.command is None or access.cwd is None:
            return access
        looked_at = self._commands.only_reads(access.command, access.cwd)
        if looked_at is None or any(self._paths.place(path).standing != "inside" for path in (access.cwd, *looked_at)):
            return access
        return Access("read", (*access.paths, *looked_at), access.command, access.cwd)

    def _places(self, access: Access) -> tuple[Place, ...]:
        writes = access.kind not in ("read", "ask")
        places = [self._paths.place(path, writes=writes) for path in access.paths]
        if access.cwd is not None:
            cwd = self._paths.place(access.cwd)
            # What a command reaches is not held back by its folder: a forbidden one only makes it worth a question.
            places.append(Place(cwd.path, "outside") if cwd.standing == "forbidden" else cwd)
        return tuple(places)

    def _forbidden(self, access: Access, places: tuple[Place, ...]) -> str | None:
        if access.command is not None and (why := self._commands.forbids(access.command, access.cwd or Path("/"))):
            return why
        return next(
            (f"no tool may touch {visible_line(str(place.path))}" for place in places if place.standing == "forbidden"),
            None,
        )

    def _coverages(self, call: ToolCall, access: Access, odd: tuple[Place, ...]) -> list[Coverage]:
        """What leads outside or makes code run is only ever remembered as the very call, and with where it led."""
        exact = bool(odd) or access.kind == "ask" or _is_aimless(access)
        words = None if exact or access.command is None else self._commands.first_words(access.command)
        where = [place.path for place in odd]
        return coverages(call, command=access.command, first_words=words, where=where, exact=exact)


def _is_aimless(access: Access) -> bool:
    """Whether it is an edit whose target nobody can tell."""
    return access.kind == "edit" and not access.paths


def _why(mode: str, odd: tuple[Place, ...]) -> str:
    for place in odd:
        if place.standing == "outside":
            return f"{visible_line(str(place.path))} is outside the workspace"
        return f"a change of {visible_line(str(place.path))} can make code run"
    return f"approval mode {mode}"
