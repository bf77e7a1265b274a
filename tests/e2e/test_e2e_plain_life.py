"""A whole life in editors that have no plugin: nothing but LSP, with the capabilities that each of them has."""

import asyncio
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import pytest_asyncio
from lsprotocol import types
from lsprotocol.converters import get_converter

from tests.e2e.editor import EDITORS, Editor
from tests.e2e.model_server import Gate, refuse, say, use

ALLOW, ALLOW_FOR_SESSION, DENY = "Allow", "Allow for session", "Deny"
WRITE = {"file_path": "new.txt", "content": "new\n"}


class Heard(list):
    """A list that says when something has come."""

    def __init__(self, changed):
        super().__init__()
        self._changed = changed

    def append(self, one):
        super().append(one)
        self._changed.set()


class Reports(dict):
    """The reports of each progress, by token in the order in which they were created."""

    def __init__(self, changed):
        super().__init__()
        self._changed = changed

    def setdefault(self, token, _):
        return super().setdefault(token, Heard(self._changed))


def _action(given, _):
    """lsprotocol takes every action that has a command for one."""
    kind = types.Command if isinstance(given["command"], str) else types.CodeAction
    return get_converter().structure(given, kind)


class PlainEditor(Editor):
    """Answers dialogs with `choice` (None closes them), as soon as `answers` is set."""

    def __init__(self, name, server):
        super().__init__(name, server, None)
        self.dialogs, self.choice, self.answers = Heard(self._changed), ALLOW, asyncio.Event()
        self.messages, self.shown_documents = Heard(self._changed), Heard(self._changed)
        self.progress_reports = Reports(self._changed)
        self.answers.set()
        self.protocol._converter.register_structure_hook(types.Command | types.CodeAction, _action)

        @self.feature(types.WINDOW_SHOW_MESSAGE_REQUEST)
        async def choose(params):
            self.dialogs.append(params)
            await self.answers.wait()
            return next((one for one in params.actions if one.title == self.choice), None)

    @property
    def opens_documents(self):
        window = self.capabilities.window
        return bool(window and window.show_document and window.show_document.support)

    @property
    def said(self):
        return [one.message for one in self.messages]

    async def execute(self, command, *arguments):
        params = types.ExecuteCommandParams(f"agent.{command}", arguments=list(arguments))
        return await asyncio.wait_for(self.workspace_execute_command_async(params), 10)

    async def actions(self, path, first, last, *diagnostics, only=None):
        span = types.Range(types.Position(first, 0), types.Position(last, 0))
        context = types.CodeActionContext(list(diagnostics), only=only)
        params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), span, context)
        return {one.title: one for one in await self.text_document_code_action_async(params) or []}

    async def perform(self, action):
        return await self.execute(action.command.command.removeprefix("agent."), *action.command.arguments)

    async def hears(self, words):
        await self.until(lambda: any(words in message for message in self.said))

    @property
    def opened(self):
        return [(Path(unquote(urlsplit(one.uri).path)), one.take_focus) for one in self.shown_documents]


@pytest_asyncio.fixture
async def open_editor(launch, workspace, options):
    editors = []

    async def start(name, **changed):
        editors.append(editor := PlainEditor(name, await launch()))
        said = await editor.initialize(workspace, options | changed)
        assert "agent.run" in said.capabilities.execute_command_provider.commands
        assert "quickfix" in said.capabilities.code_action_provider.code_action_kinds
        return editor

    yield start
    for editor in editors:
        assert editor.error is None
        await editor.end()


async def explains_a_selection(editor, model, workspace):
    offered = await editor.actions(workspace / "notes.txt", 1, 2)
    assert [*offered] == ["Explain with agent", "Add tests with agent", "Document with agent", "Simplify"]
    model.script([use("read_file", {"file_path": "notes.txt"})], [say("It says ", "little.")])
    await editor.perform(offered["Explain with agent"])
    await editor.hears("It says little.")
    assert "[attached file: notes.txt:2-3]\\nsecond line" in model.asked[0].words
    assert "first line" not in model.asked[0].words
    (reports,) = editor.progress_reports.values()
    assert [reports[0].kind, reports[-1].kind] == ["begin", "end"]
    assert any("read_file" in (one.message or "") for one in reports[1:])


async def fixes_a_problem(editor, model, workspace):
    span = types.Range(types.Position(0, 0), types.Position(0, 5))
    finding = types.Diagnostic(span, "should be last", severity=types.DiagnosticSeverity.Error, source="checker")
    offered = await editor.actions(workspace / "notes.txt", 0, 0, finding, only=["quickfix"])
    assert [*offered] == ["Fix with agent"]
    change = {"file_path": "notes.txt", "old_string": "first line", "new_string": "last line"}
    model.script([use("edit_file", change)], [say("Fixed it.")])
    editor.choice = ALLOW_FOR_SESSION
    await editor.perform(offered["Fix with agent"])
    await editor.hears("Fixed it.")
    (dialog,) = editor.dialogs
    assert [one.title for one in dialog.actions] == [ALLOW, ALLOW_FOR_SESSION, DENY]
    assert all(words in dialog.message for words in ("Edit notes.txt?", "-first line", "+last line", "every call of"))
    assert (workspace / "notes.txt").read_text() == "last line\nsecond line\n"
    assert "line 1: error: should be last (checker)" in model.asked[2].words


async def is_denied(editor, model, workspace):
    editor.choice = None
    model.script([use("write_file", WRITE)], [say("As you wish.")])
    result = await editor.execute("run", "write", None, {"wait": True})
    assert result["text"] == "As you wish."
    assert len(editor.dialogs) == 2
    assert not (workspace / "new.txt").exists()
    assert "Tool call denied by user." in model.asked[-1].words


async def is_steered_and_aborted_by_its_progress(editor, model):
    gate = Gate()
    model.script([say("An endless "), gate])
    started = await editor.execute("run", "never end")
    await gate.reached.wait()
    assert (await editor.execute("steer", "the other way"))["accepted"] is True
    token, reports = list(editor.progress_reports.items())[-1]
    await editor.until(lambda: reports)
    editor.window_work_done_progress_cancel(types.WorkDoneProgressCancelParams(token))
    await editor.hears("The run was aborted.")
    assert started["runId"]
    assert (reports[-1].kind, reports[-1].message) == ("end", "aborted")


async def is_told_of_a_failure(editor, model):
    model.script(refuse(401, "no such key"))
    await editor.execute("run", "go on")
    await editor.until(lambda: any(one.type == types.MessageType.Error for one in editor.messages))
    assert "no such key" in editor.said[-1]


async def can_be_read_again(editor, workspace):
    uri = (await editor.execute("showTranscript"))["uri"]
    path = Path(unquote(urlsplit(uri).path))
    if editor.opens_documents:
        await editor.until(lambda: len(editor.opened) == 2)
        assert editor.opened == [(path, False), (path, True)]
    else:
        await editor.hears(f"Written to {path}")
        assert editor.opened == []
    written = path.read_text()
    places = [
        written.index(words)
        for words in (
            "Explain what the attached code does",
            "second line",
            "**Calls `read_file`**",
            "It says little.",
            "should be last",
            "Fixed it.",
            "*deny, by user*",
            "As you wish.",
            "An endless",
            "*stopped: aborted by user*",
            "no such key",
        )
    ]
    assert places == sorted(places)


@pytest.mark.asyncio
@pytest.mark.parametrize("name", EDITORS)
async def test_a_whole_life_in_an_editor_without_a_plugin(open_editor, name, model, workspace):
    editor = await open_editor(name, prompts={"Simplify": "Make it shorter."}, reconnect={"maxRetries": 0})

    await explains_a_selection(editor, model, workspace)
    await fixes_a_problem(editor, model, workspace)
    await is_denied(editor, model, workspace)
    await is_steered_and_aborted_by_its_progress(editor, model)
    await is_told_of_a_failure(editor, model)
    await can_be_read_again(editor, workspace)

    assert editor.states == []
    assert editor.resolved == []
    assert not editor.stream.next_seq
    assert await editor.leave() == 0
    assert model.is_spent
    assert editor.server.errors == b""


@pytest.mark.asyncio
async def test_a_dialog_that_nobody_answers_does_not_hold_up_an_abort(open_editor, model, workspace):
    editor = await open_editor("vscode")
    editor.answers.clear()
    model.script([use("write_file", WRITE)])
    await editor.execute("run", "write")
    await editor.until(lambda: editor.dialogs)
    assert (await editor.execute("abort"))["aborted"] is True
    await editor.hears("The run was aborted.")
    editor.answers.set()
    assert await editor.leave() == 0
    assert not (workspace / "new.txt").exists()


@pytest.mark.asyncio
async def test_what_is_missing_is_said_in_one_line_with_the_remedy(open_editor):
    editor = await open_editor("neovim", defaultModel="anthropic/claude-sonnet-5")
    with pytest.raises(Exception, match=r"^.*ANTHROPIC_API_KEY[^\n]*$") as refused:
        await editor.execute("run", "go")
    assert refused.value.code == -32010
    assert await editor.leave() == 0
