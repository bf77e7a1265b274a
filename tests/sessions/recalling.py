"""A session that works with real tools on real files, and the one that goes on with its trace."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import SimpleNamespace

from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import RunBegin
from agent_lsp.sessions.file_records import FileRecorder
from agent_lsp.sessions.files import SessionFiles
from agent_lsp.tools.apply_patch import ApplyPatch
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.edit_file import EditFile
from agent_lsp.tools.read_file import ReadFile
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace
from agent_lsp.tools.write_file import WriteFile

LINES = "".join(f"line {n}\n" for n in range(1, 31))


class Working:
    """One process's part of a session. `traced` is what its trace has of it."""

    def __init__(self, root: Path, *, secrets=(), earlier: Working | None = None) -> None:
        self.root, self.workspace = root, Workspace(root, root.parent / "scratchpad")
        self.files = SessionFiles(DiskEditor(root.parent / "backups"), self.workspace.display)
        self.files.judged.path = root.parent / "edits" / "s.json"
        tools = [one(self.workspace, self.files.editor) for one in (ReadFile, EditFile, WriteFile, ApplyPatch)]
        self.tools = Toolset(
            tools, ToolLimits(), self.workspace.scratchpad, secrets, shared=[self.files.user_edits, self.files.judged]
        )
        nothing = SimpleNamespace(push=lambda *_: None, state=lambda *_: None)
        self.sink = self.files.overheard(nothing)  # type: ignore[arg-type]
        self.traced = list(earlier.traced) if earlier else []
        if earlier:
            recorder = FileRecorder()
            recorder.hear(self.traced)
            self.files.recall(recorder.records(), self.workspace.locate, self._is_plain)
        self.run_id = f"run-{len(self.traced)}"
        self.say(RunBegin(run_id=self.run_id))

    def _is_plain(self, path: Path) -> bool:
        return os.path.realpath(path) == str(path) and path.is_relative_to(self.root)

    def say(self, payload) -> None:
        message = envelope(payload)
        self.traced.append(message)
        self.sink.push(message, self.run_id)

    async def call(self, name, **arguments) -> str:
        call = ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id=f"call-{len(self.traced)}")
        self.say(call)
        said = ""
        async for piece in self.tools.execute(call):
            said += piece.output if isinstance(piece, ToolResult) else piece
            reason = piece.stop_reason if isinstance(piece, ToolResult) else None
        self.say(ToolCallOutput(tool_call_id=call.tool_call_id, output=said, stop_reason=reason))
        return said

    async def read(self, name, **more) -> str:
        return await self.call("read_file", file_path=name, **more)

    async def edit(self, name, old, new, **more) -> str:
        return await self.call("edit_file", file_path=name, old_string=old, new_string=new, **more)

    async def write(self, name, content) -> str:
        return await self.call("write_file", file_path=name, content=content)

    def reports(self) -> list[str]:
        """What the model is told with its next input."""
        told = self.tools.reports()
        for text in told:
            self.say(Text(role="user", text=text, sender="harness"))
        return told

    def states(self) -> list[str]:
        return [edit.state for edit in self.files.edits.list()]

    def resumed(self, **more) -> Working:
        """The session as another process goes on with it."""
        return Working(self.root, earlier=self, **more)
