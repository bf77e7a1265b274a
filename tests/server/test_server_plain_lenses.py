"""Code lenses on pending edits: where they are, what they do, when they are asked for again."""

import asyncio

import pytest

from agent_lsp.providers.scripted import call, text
from tests.server.front_end import Refused, front_end

pytestmark = pytest.mark.asyncio
EDIT = call("edit_file", {"file_path": "a.txt", "old_string": "two", "new_string": "TWO"})
WRITE = call("write_file", {"file_path": "new.txt", "content": "new\n"})
REFRESHES = {"workspace": {"codeLens": {"refreshSupport": True}}}
OPENS = {"showDocument": {"support": True}}


async def execute(client, command, *arguments):
    return await client.ask("workspace/executeCommand", command=f"agent.{command}", arguments=list(arguments))


async def edited(client, model, folder, *calls):
    """A run that changes files in the folder."""
    folder.joinpath("a.txt").write_text("one\ntwo\nthree\n")
    model.script(*([one] for one in calls), [text("done")])
    await execute(client, "run", "go", None, {"wait": True})


async def lenses(client, path):
    return await client.ask("textDocument/codeLens", textDocument={"uri": path.as_uri()})


async def perform(client, lens):
    command = lens["command"]
    return await execute(client, command["command"].removeprefix("agent."), *command["arguments"])


async def test_a_pending_edit_has_three_lenses_at_its_first_line(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        work = tmp_path / "work"
        assert await lenses(client, work / "a.txt") == []
        await edited(client, model, work, EDIT, WRITE)
        found = await lenses(client, work / "a.txt")
        assert [one["command"]["title"] for one in found] == ["Keep", "Undo", "Show diff"]
        assert {one["range"]["start"]["line"] for one in found} == {1}
        assert all(one["range"]["start"] == one["range"]["end"] for one in found)
        assert len(await lenses(client, work / "new.txt")) == 3
        assert await lenses(client, work / "other.txt") == []


async def test_a_plugin_that_asked_for_them_has_lenses_and_actions_and_keeps_its_commands(tmp_path, monkeypatch):
    agent = {"approve": True, "codeActions": True}
    async with front_end(tmp_path, monkeypatch, agent=agent, approvalMode="allow-all") as (client, model):
        file = tmp_path / "work" / "a.txt"
        file.write_text("one\ntwo\nthree\n")
        model.script([EDIT], [text("done")])
        await client.ask("agent/run", input="go")
        assert [one["command"]["title"] for one in await lenses(client, file)] == ["Keep", "Undo", "Show diff"]
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}}
        offered = await client.ask(
            "textDocument/codeAction",
            textDocument={"uri": file.as_uri()},
            range=whole,
            context={"diagnostics": []},
        )
        assert "Explain with agent" in [one["title"] for one in offered]
        with pytest.raises(Refused):
            await execute(client, "run", "go")


async def test_keeping_takes_the_lenses_away_and_leaves_the_text(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        file = tmp_path / "work" / "a.txt"
        await edited(client, model, file.parent, EDIT)
        keep, _, _ = await lenses(client, file)
        assert [one["state"] for one in (await perform(client, keep))["edits"]] == ["kept"]
        assert await lenses(client, file) == []
        assert file.read_text() == "one\nTWO\nthree\n"


async def test_undoing_puts_the_text_back_in_whatever_session_it_was_edited(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        file = tmp_path / "work" / "a.txt"
        await edited(client, model, file.parent, EDIT)
        await client.ask("agent/session/new")
        _, undo, _ = await lenses(client, file)
        assert [one["state"] for one in (await perform(client, undo))["edits"]] == ["undone"]
        assert file.read_text() == "one\ntwo\nthree\n"
        assert await lenses(client, file) == []


async def test_an_edit_that_cannot_be_undone_is_told_with_the_reason(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        file = tmp_path / "work" / "a.txt"
        await edited(client, model, file.parent, EDIT)
        _, undo, _ = await lenses(client, file)
        file.write_text("something else\n")
        await perform(client, undo)
        last = client.told("window/showMessage")[-1]
        assert last == {"type": 2, "message": "The edit was not undone: the text has changed since"}
        assert file.read_text() == "something else\n"


async def test_the_diff_is_a_message_where_nothing_can_be_opened(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        file = tmp_path / "work" / "a.txt"
        await edited(client, model, file.parent, EDIT)
        _, _, show = await lenses(client, file)
        diff = (await perform(client, show))["diff"]
        assert "--- a/a.txt\n+++ b/a.txt\n" in diff
        assert "\n-two\n+TWO\n" in diff
        assert client.told("window/showMessage")[-1]["message"] == diff


async def test_a_long_diff_is_written_down_where_nothing_can_be_opened(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        await edited(client, model, tmp_path / "work", call("write_file", {"file_path": "b", "content": "x\n" * 900}))
        _, _, show = await lenses(client, tmp_path / "work" / "b")
        diff = (await perform(client, show))["diff"]
        await client.until(lambda: "Written to" in client.told("window/showMessage")[-1]["message"])
        (path,) = tmp_path.glob("data/scratchpad/*/diffs/*.diff")
        assert client.told("window/showMessage")[-1]["message"] == f"Written to {path}"
        assert path.read_text() == diff


async def test_the_diff_is_opened_where_that_is_possible(tmp_path, monkeypatch):
    async with front_end(
        tmp_path, monkeypatch, plain=True, window=OPENS, approvalMode="allow-all"
    ) as (client, model):  # fmt: skip
        client.handlers["window/showDocument"] = lambda params: {"success": True}
        file = tmp_path / "work" / "a.txt"
        await edited(client, model, file.parent, EDIT)
        _, _, show = await lenses(client, file)
        diff = (await perform(client, show))["diff"]
        opened = await client.until(lambda: [one for one in client.told("window/showDocument") if one["takeFocus"]])
        (path,) = tmp_path.glob("data/scratchpad/*/diffs/*.diff")
        assert opened == [{"uri": path.as_uri(), "takeFocus": True}]
        assert path.read_text() == diff


@pytest.mark.parametrize(
    ("argument", "field"),
    [(None, "arguments[0]"), ({}, "arguments[0].sessionId"), ({"sessionId": "HERE"}, "arguments[0].editId")],
)
@pytest.mark.parametrize("command", ["keepEdit", "undoEdit", "showEdit"])
async def test_a_wrong_choice_is_named(tmp_path, monkeypatch, command, argument, field):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        with pytest.raises(Refused) as refused:
            await execute(client, command, argument)
        assert refused.value.fields[0] == field


@pytest.mark.parametrize("command", ["keepEdit", "undoEdit", "showEdit"])
async def test_an_edit_that_is_none_is_refused(tmp_path, monkeypatch, command):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        session = (await client.ask("agent/session/new"))["sessionId"]
        with pytest.raises(Refused) as refused:
            await execute(client, command, {"sessionId": session, "editId": "edit-99"})
        assert refused.value.code == -32602


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/a?b", "", "file:///none/none.txt", "http://[x"])
async def test_an_odd_document_has_no_lenses(tmp_path, monkeypatch, uri):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        await client.ask("agent/session/new")
        assert await client.ask("textDocument/codeLens", textDocument={"uri": uri}) == []


async def test_lenses_are_asked_for_again_when_the_edits_are_others_one_request_at_a_time(tmp_path, monkeypatch):
    async with front_end(
        tmp_path, monkeypatch, plain=True, capabilities=REFRESHES, approvalMode="allow-all"
    ) as (client, model):  # fmt: skip
        answered = asyncio.Event()

        def asked():
            return client.told("workspace/codeLens/refresh")

        async def refreshed(params):
            await answered.wait()

        client.handlers["workspace/codeLens/refresh"] = refreshed
        await edited(client, model, tmp_path / "work", EDIT, WRITE)
        assert len(asked()) == 1
        answered.set()
        await client.until(lambda: len(asked()) == 2)
        keep, _, _ = await lenses(client, tmp_path / "work" / "a.txt")
        await perform(client, keep)
        await client.until(lambda: len(asked()) == 3)


async def test_a_client_that_cannot_ask_again_is_not_told_to(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, approvalMode="allow-all") as (client, model):
        await edited(client, model, tmp_path / "work", EDIT)
        assert not client.told("workspace/codeLens/refresh")
