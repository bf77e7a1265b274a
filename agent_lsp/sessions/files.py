"""The files of one session: the editor that its tools use, watched for what the model sees and what the agent edits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages.content import ToolCall
from agent_lsp.messages.events import CompactionEnd
from agent_lsp.sessions.edits import Edits
from agent_lsp.sessions.file_records import RUNS_COMMANDS, FileRecords
from agent_lsp.sessions.judged import Judged
from agent_lsp.sessions.user_edits import UserEdits
from agent_lsp.tools.editor import Applied, Change, Editor, Outcome, Snapshot, Unknown, Unreadable, new_text
from agent_lsp.tools.tool import CURRENT_CALL

if TYPE_CHECKING:
    from agent_lsp.engine.ports import Sink, StateChange
    from agent_lsp.messages.envelope import Message
    from agent_lsp.sessions.recalled_files import Locate


class SessionFiles:
    """`editor` is what the tools get; `edits` and `user_edits` are what is learned from it.

    `judged` keeps what the person says of edits, as soon as it has a path. `beneath` holds the files. `display` names a
    path to the model.
    """

    def __init__(self, beneath: Editor, display: Callable[[Path], str]) -> None:
        self.judged = Judged()
        self.edits = Edits(beneath, self.judged)
        self.user_edits = UserEdits(beneath, self.edits, display)
        self.editor: Editor = WatchedEditor(beneath, self)
        self._beneath = beneath
        self._runs: dict[str, str] = {}
        self._with_commands: set[str] = set()

    def recall(self, records: FileRecords, locate: Locate, is_plain: Callable[[Path], bool]) -> None:
        """Goes on with a session of which a trace has these records.

        `locate` and `is_plain`: the path that a name means, and whether nothing but that file, inside the workspace,
        can be there. Nothing is worked out before it is asked for.
        """
        from agent_lsp.sessions.recalled_edits import recalled_edits  # most sessions are new
        from agent_lsp.sessions.recalled_files import recalled_files

        def read(path: Path) -> str | None:
            return found.text if isinstance(found := self._beneath.peek(path), Snapshot) else None

        self._with_commands |= records.runs
        self.edits.recall(lambda said: recalled_edits(records.edits, locate, is_plain, read, said))
        seen = records.told
        self.user_edits.recall(lambda: {k: v for k, v in recalled_files(seen, locate).items() if is_plain(k)})

    def overheard(self, sink: Sink) -> Sink:
        """The sink of the session, with everything that goes there heard here as well."""
        return _Overheard(sink, self._heard)

    def attach(self, path: Path) -> None:
        """The person shows the file to the model."""
        if isinstance(found := self._beneath.peek(path), Snapshot):
            self.user_edits.shown(path, found.text)

    def ran_commands(self, run_id: str | None = None) -> bool:
        """Whether the run (any run) has run commands, whose changes nobody can take back."""
        return run_id in self._with_commands if run_id else bool(self._with_commands)

    def run_of(self, tool_call_id: str) -> str:
        """The run that a call belongs to."""
        return self._runs.get(tool_call_id, "")

    def _heard(self, message: Message, run_id: str | None) -> None:
        match message.payload:
            case ToolCall(tool_call_id=id, name=name) if run_id and message.origin is None:
                self._runs[id] = run_id
                if name in RUNS_COMMANDS:
                    self._with_commands.add(run_id)
            case CompactionEnd(status="completed") if message.origin is None:
                self.user_edits.forget()
            case _:
                pass


class WatchedEditor:
    """An editor that tells a session's files what happens in it."""

    def __init__(self, beneath: Editor, files: SessionFiles) -> None:
        self._beneath, self._files = beneath, files

    async def read(self, path: Path, *, shown: bool = False) -> Snapshot | Unreadable | None:
        """As beneath."""
        found = await self._beneath.read(path, shown=shown)
        if shown and isinstance(found, Snapshot):
            self._files.user_edits.shown(path, found.text)
        return found

    def peek(self, path: Path) -> Snapshot | Unreadable | None:
        """As beneath."""
        return self._beneath.peek(path)

    def stamp(self, path: Path) -> object:
        """As beneath."""
        return self._beneath.stamp(path)

    async def replace(self, changes: Sequence[Change], label: str) -> Outcome:
        """As beneath. An edit that is still on its way when its call is aborted is written down all the same."""
        call = CURRENT_CALL.get()
        id = call.tool_call_id if call else ""
        run_id = self._files.run_of(id)
        self._files.edits.look_up()
        try:
            outcome = await self._beneath.replace(changes, label)
        except asyncio.CancelledError:
            self._files.edits.record(run_id, id, changes, is_certain=False)
            raise
        if isinstance(outcome, Applied | Unknown):
            self._files.edits.record(run_id, id, changes, is_certain=isinstance(outcome, Applied))
        if isinstance(outcome, Applied):
            for change in changes:
                before = change.snapshot.text if change.snapshot else None
                self._files.user_edits.edited(change.path, before, new_text(change))
        return outcome

    async def diagnostics(self, paths: Sequence[Path]) -> str:
        """As beneath."""
        return await self._beneath.diagnostics(paths)

    def unsaved(self) -> Mapping[Path, str]:
        """As beneath."""
        return self._beneath.unsaved()


class _Overheard:
    """A sink with a listener, which must not raise."""

    def __init__(self, sink: Sink, hear: Callable[[Message, str | None], None]) -> None:
        self._sink, self._hear = sink, hear

    def push(self, message: Message, run_id: str | None) -> None:
        """To both."""
        self._hear(message, run_id)
        self._sink.push(message, run_id)

    def state(self, change: StateChange) -> None:
        """To the sink."""
        self._sink.state(change)

    async def drain(self) -> None:
        """As the sink does."""
        await self._sink.drain()
