"""What the loop session keeps with a call or its output, in the message's own `fidelity`: traced, so never lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.content import Fidelity, ToolCall, ToolCallOutput

_OWN = "loop"


@frozen
class Mark:
    """Of an output: the variable that it became, how many characters at its end are remarks, the file with all of it,
    whether it asks the person."""

    ref: str | None = None
    note_chars: int = 0
    archive: str | None = None
    needs_input: bool = False

    def fidelity(self) -> Fidelity | None:
        """As it is kept; None when there is nothing to keep."""
        given = {
            "ref": self.ref,
            "note_chars": self.note_chars,
            "archive": self.archive,
            "needs_input": self.needs_input,
        }
        kept = {name: value for name, value in given.items() if value}
        return {_OWN: kept} if kept else None

    @classmethod
    def of(cls, output: ToolCallOutput) -> Mark:
        """The mark of an output; an empty one where there is none, or somebody else's."""
        own = _own(output.fidelity)
        ref, chars, archive = own.get("ref"), own.get("note_chars"), own.get("archive")
        return cls(
            ref if isinstance(ref, str) else None,
            chars if isinstance(chars, int) else 0,
            archive if isinstance(archive, str) else None,
            own.get("needs_input") is True,
        )


def text_of(output: ToolCallOutput) -> str:
    """The tool's own text in an output."""
    chars = Mark.of(output).note_chars
    return output.output[: max(0, len(output.output) - chars)]


def reason_mark(reason: str | None) -> Fidelity | None:
    """What is kept with a call."""
    return {_OWN: {"reason": reason}} if reason else None


def reason_of(call: ToolCall) -> str | None:
    """Why the model has decided for the call, in its own words."""
    reason = _own(call.fidelity).get("reason")
    return reason if isinstance(reason, str) else None


def _own(fidelity: Fidelity | None) -> dict[str, Any]:
    own = (fidelity or {}).get(_OWN)
    return cast("dict[str, Any]", own) if isinstance(own, dict) else {}
