"""Pages as a client asks for them, and as an editor without a plugin gets to see them."""

import asyncio
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agent_lsp.providers.scripted import text
from tests.server.front_end import front_end

pytestmark = pytest.mark.asyncio
OPENS = {"showDocument": {"support": True}}
WITHIN_S = 50  # a process of its own is started, on a machine that may have other things to do


async def asked(client, method, **params):
    return await asyncio.wait_for(client.send(method, **params), WITHIN_S)


async def ran(client, model, *turns):
    model.script(*turns)
    return (await client.ask("agent/run", input="say hello", queueIfBusy=True))["sessionId"]


async def executed(client, command):
    return await client.ask("workspace/executeCommand", command=f"agent.{command}", arguments=[])


async def until(client, condition):
    async with asyncio.timeout(WITHIN_S):
        while not (found := condition()):
            client._changed.clear()
            await client._changed.wait()
    return found


def path_of(answer):
    return Path(unquote(urlsplit(answer["uri"]).path))


def messages(client):
    return [(one["type"], one["message"]) for one in client.told("window/showMessage")]


async def test_the_page_of_an_open_session_has_what_was_said_by_now(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await ran(client, model, [text("A first answer")])
        first = path_of(await asked(client, "agent/session/page", sessionId=session))
        assert "A first answer" in first.read_text()
        await ran(client, model, [text("A second answer")])
        second = path_of(await asked(client, "agent/session/page", sessionId=session))
        assert first == second
        assert "A second answer" in second.read_text()


async def test_the_page_goes_with_its_session(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await ran(client, model, [text("A first answer")])
        page = path_of(await asked(client, "agent/session/page", sessionId=session))
        await client.ask("agent/session/delete", sessionId=session)
        assert not page.exists()


async def test_a_session_that_is_only_on_the_disk_has_a_page_too(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await ran(client, model, [text("A first answer")])
        await client.ask("agent/session/close", sessionId=session)
        assert "A first answer" in path_of(await asked(client, "agent/session/page", sessionId=session)).read_text()


async def test_where_there_is_nothing_to_show_the_error_is_the_usual_one(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        fresh = (await client.ask("agent/session/new", ephemeral=True))["sessionId"]
        for session, hint in ((fresh, "run a prompt first"), ("nobody", "create one with agent/session/new")):
            refused = await client.refusal("agent/session/page", sessionId=session)
            assert (refused.code, refused.data["hint"]) == (-32004, hint)
        assert (await client.refusal("agent/session/page")).fields == ["sessionId"]


async def test_a_request_that_is_taken_back_is_answered_as_such(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await ran(client, model, [text("A first answer")])
        message, answer = client.prepare("agent/session/page", sessionId=session)
        client.say(message)
        await asyncio.sleep(0)  # its process may be there by now, or not yet
        client.say({"method": "$/cancelRequest", "params": {"id": message["id"]}})
        with pytest.raises(Exception, match="-32800"):
            await asyncio.wait_for(answer, WITHIN_S)


async def test_the_page_of_usage_has_what_the_server_has_just_recorded(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = await ran(client, model, [text("hello")])
        page = path_of(await asked(client, "agent/usage/page")).read_text()
        assert "rehearsal/rehearsal" in page
        assert session in page


async def test_without_a_plugin_a_command_opens_the_page_in_a_browser(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, window=OPENS) as (client, model):
        client.handlers["window/showDocument"] = lambda params: {"success": True}
        await ran(client, model, [text("A first answer")])
        for count, command in enumerate(("showTrace", "showUsage"), 1):
            assert await executed(client, command) == {}
            shown = await until(client, lambda count=count: client.told("window/showDocument")[count - 1 :])
            assert shown[0]["external"] is True
            assert path_of(shown[0]).is_file()
        assert messages(client) == []


@pytest.mark.parametrize("window", [{}, OPENS])
async def test_where_nothing_opens_the_path_is_said(tmp_path, monkeypatch, window):
    async with front_end(tmp_path, monkeypatch, plain=True, window=window) as (client, model):
        client.handlers["window/showDocument"] = lambda params: {"success": False}
        session = await ran(client, model, [text("A first answer")])
        await executed(client, "showTrace")
        page = tmp_path / "data" / "pages" / f"{session}.html"
        assert await until(client, lambda: messages(client)) == [(3, f"Written to {page}")]
        assert page.is_file()


async def test_a_page_that_cannot_be_made_is_an_error_that_says_why(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "pages").write_text("no folder")
        await executed(client, "showUsage")
        ((kind, said),) = await until(client, lambda: messages(client))
        assert kind == 1
        assert "not made" in said
