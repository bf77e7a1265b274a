"""What a session's trace holds of files: the calls that looked into them or changed them, and what else was told.

It is picked out when a session is resumed, in one pass over messages that are read anyway. What it means is worked out
when somebody asks (`recalled_files`, `recalled_edits`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import CompactionEnd, RunBegin
from agent_lsp.slotted import field, frozen, mutable

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message

EDITING = frozenset({"edit_file", "write_file", "apply_patch"})
RUNS_COMMANDS = frozenset({"exec_command", "input_command"})
_OF_FILES = EDITING | {"read_file"}
_TOLD = ("[user_edits]", "[attached file: ")


@frozen
class FileCall:
    """A call of a tool for files, with its output. Whether it did anything is in the output."""

    run_id: str
    call: ToolCall
    output: ToolCallOutput


@frozen
class FileRecords:
    """In the order in which they happened: `edits` of all contexts, and what of the present one tells of files.

    `runs` are those that have run commands.
    """

    edits: tuple[FileCall, ...] = ()
    told: tuple[FileCall | Text, ...] = ()
    runs: frozenset[str] = frozenset()


@mutable
class FileRecorder:
    """Picks the records out of the messages of a session's files, oldest first."""

    _run_id: str = ""
    _asked: dict[str, tuple[str, ToolCall]] = field(default_factory=dict[str, tuple[str, ToolCall]])
    _edits: list[FileCall] = field(default_factory=list[FileCall])
    _told: list[FileCall | Text] = field(default_factory=list[FileCall | Text])
    _runs: set[str] = field(default_factory=set[str])

    def hear(self, messages: Iterable[Message]) -> None:
        """The messages of one trace file."""
        for _ in self.heard(messages):
            pass

    def heard(self, messages: Iterable[Message]) -> Iterator[Message]:
        """The same messages for somebody else, each heard as it is taken."""
        for message in messages:
            match message.payload:
                case ToolCall() as call if call.name in _OF_FILES:
                    self._asked[call.tool_call_id] = (self._run_id, call)
                case ToolCall(name=name) if name in RUNS_COMMANDS:
                    self._runs.add(self._run_id)
                case ToolCallOutput(tool_call_id=id) as output if asked := self._asked.pop(id, None):
                    self._settle(FileCall(*asked, output))
                case Text(role="user", text=text) as said if text.startswith(_TOLD):
                    self._told.append(said)
                case RunBegin(run_id=run_id):
                    self._run_id = run_id
                case CompactionEnd(status="completed"):
                    self.new_context()
                case _:
                    pass
            yield message

    def new_context(self) -> None:
        """The model knows of no file any more."""
        self._told.clear()

    def records(self) -> FileRecords:
        """What was picked out."""
        return FileRecords(tuple(self._edits), tuple(self._told), frozenset(self._runs))

    def _settle(self, made: FileCall) -> None:
        if made.output.stop_reason is not None:
            return
        self._told.append(made)
        if made.call.name in EDITING:
            self._edits.append(made)
