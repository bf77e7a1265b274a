"""The whole life with the official Python client, over real pipes, with a model behind real HTTP."""

import asyncio
import json
import os
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import pytest_asyncio

from tests.e2e.launch import AGENT_LSP
from tests.e2e.model_server import Gate, ModelServer, say, think, use

acp = pytest.importorskip("acp")
from acp import schema  # noqa: E402

pytestmark = pytest.mark.asyncio
KEPT = ("PATH", "LANG", "PYTHONPATH", "COVERAGE_PROCESS_START")


class Person:
    """The client's side: a person who chooses what a test says, and files as an editor holds them."""

    def __init__(self):
        self.updates, self.written, self.asked = [], {}, asyncio.Queue()
        self.choice = "allow_once"
        self.news = asyncio.Event()

    async def session_update(self, session_id, update, **_):
        self.updates.append((session_id, update))
        self.news.set()

    async def request_permission(self, session_id, tool_call, options, **_):
        self.asked.put_nowait((tool_call, options))
        if self.choice is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        if isinstance(self.choice, asyncio.Event):
            await self.choice.wait()
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=str(self.choice))
        )

    async def read_text_file(self, session_id, path, **_):
        return schema.ReadTextFileResponse(content=Path(path).read_text().replace("second", "unsaved"))

    async def write_text_file(self, session_id, path, content, **_):
        self.written[path] = content
        Path(path).write_text(content)

    def on_connect(self, _):
        pass

    def words(self, session_id=None):
        return "".join(
            update.content.text
            for session, update in self.updates
            if update.session_update == "agent_message_chunk" and session_id in (None, session)
        )

    def kinds(self):
        return [update.session_update for _, update in self.updates]

    async def until(self, condition):
        async with asyncio.timeout(20):
            while not (found := condition()):
                self.news.clear()
                await self.news.wait()
        return found


@pytest_asyncio.fixture
async def model():
    async with ModelServer() as server:
        yield server


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\nsecond line\n")
    return folder


@pytest.fixture
def start(tmp_path, work, model):
    """start(files=…) → the agent and the person, greeted."""
    home = tmp_path / "home"
    (home / "agent-lsp").mkdir(parents=True)
    (home / "agent-lsp" / "config.toml").write_text(
        f'''default_model = "chat/big"
titles = false
[providers.chat]
api = "openai-chat"
base_url = "{model.url}/v1"
api_key = "sk-test"
[providers.chat.models.big]
context_window = 100000
tool_calling = true
'''
    )
    (home / "agent-lsp" / "config.toml").chmod(0o600)
    environ = {name: os.environ[name] for name in KEPT if name in os.environ}
    environ |= {"HOME": str(home), "XDG_CONFIG_HOME": str(home), "SHELL": "/bin/sh"}

    @asynccontextmanager
    async def begin(files=False):
        person = Person()
        arguments = ("acp", "--data-dir", str(tmp_path / "data"))
        async with acp.spawn_agent_process(person, str(AGENT_LSP), *arguments, env=environ, cwd=work) as (
            agent,
            process,
        ):
            able = schema.FileSystemCapabilities(read_text_file=files, write_text_file=files)
            greeting = await agent.initialize(1, schema.ClientCapabilities(fs=able))
            assert greeting.protocol_version == 1 and greeting.agent_capabilities.load_session
            assert not greeting.auth_methods
            yield agent, person, process

    return begin


def words(text):
    return [acp.text_block(text)]


async def test_a_session_from_its_first_word_to_its_deletion(start, work, model):
    async with start(files=True) as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        model.script(
            [think("hm"), say("Let me ", "look."), use("read_file", {"file_path": "notes.txt"})],
            [use("edit_file", {"file_path": "notes.txt", "old_string": "first", "new_string": "1st"})],
            [say("Done.")],
        )
        assert (await agent.prompt(session, words("fix it"))).stop_reason == "end_turn"
        assert person.words() == "Let me look.Done." and "unsaved line" in model.asked[1].words
        assert person.written == {str(work / "notes.txt"): "1st line\nunsaved line\n"}
        tool_call, options = person.asked.get_nowait()
        assert tool_call.content[0].type == "diff" and len(options) == 3
        lived = [kind for kind in person.kinds() if kind not in ("available_commands_update", "usage_update")]
        assert lived[0] == "agent_thought_chunk" and lived.count("tool_call") == 2
        await agent.set_session_mode(session, "plan")
        chosen = await agent.set_config_option("thinking", session, "high")
        assert {one.id: one.current_value for one in chosen.config_options}["thinking"] == "high"
        await agent.close_session(session)

    async with start() as (agent, person, process):
        listed = await agent.list_sessions(cwd=str(work))
        assert [one.session_id for one in listed.sessions] == [session]
        loaded = await agent.load_session(str(work), session, mcp_servers=[])
        assert loaded.modes.current_mode_id == "plan" and person.words() == "Let me look.Done."
        assert person.kinds()[0] == "user_message_chunk"
        await agent._conn.send_request("session/delete", {"sessionId": session})
        assert not (await agent.list_sessions()).sessions
    assert process.returncode == 0


@pytest.mark.parametrize("choice", ["reject_once", None])
async def test_what_the_person_does_not_allow_is_not_done(choice, start, work, model):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        person.choice = choice
        model.script([use("exec_command", {"cmd": "touch made"})], [say("As you wish.")])
        assert (await agent.prompt(session, words("go"))).stop_reason == "end_turn"
        assert not (work / "made").exists() and person.words() == "As you wish."


async def test_cancels_while_it_speaks_works_and_asks(start, work, model):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        gate = Gate()
        model.script([say("begun"), gate])
        prompt = asyncio.create_task(agent.prompt(session, words("speak")))
        await person.until(person.words)
        await agent.cancel(session)
        assert (await asyncio.wait_for(prompt, 10)).stop_reason == "cancelled"
        gate.open()

        person.choice = asyncio.Event()
        model.script([use("exec_command", {"cmd": "touch made"})])
        prompt = asyncio.create_task(agent.prompt(session, words("ask")))
        await asyncio.wait_for(person.asked.get(), 10)
        await agent.cancel(session)
        assert (await asyncio.wait_for(prompt, 10)).stop_reason == "cancelled"
        person.choice.set()

        person.choice = "allow_once"
        model.script([use("exec_command", {"cmd": "echo run''ning; sleep 60"})])
        prompt = asyncio.create_task(agent.prompt(session, words("work")))
        await person.until(lambda: "running" in str(person.updates[-1]))
        await agent.cancel(session)
        assert (await asyncio.wait_for(prompt, 10)).stop_reason == "cancelled" and not (work / "made").exists()


async def test_steering_and_two_sessions_at_once(start, work, model):
    async with start() as (agent, person, _):
        one = (await agent.new_session(str(work), mcp_servers=[])).session_id
        two = (await agent.new_session(str(work), mcp_servers=[])).session_id
        gate = Gate()
        model.script([say("one"), gate], [say("two")], [say(" more")])
        first = asyncio.create_task(agent.prompt(one, words("go")))
        await person.until(lambda: person.words(one))
        assert (await agent.prompt(two, words("go"))).stop_reason == "end_turn"
        steer = {"sessionId": one, "prompt": [{"type": "text", "text": "sooner"}]}
        assert await agent.ext_method("session/steering", steer) == {"outcome": "injected"}
        gate.open()
        assert (await asyncio.wait_for(first, 10)).stop_reason == "end_turn"
        assert (person.words(one), person.words(two)) == ("one more", "two") and "sooner" in model.asked[2].words


async def test_a_cancelled_request_is_answered(start, work, model):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        gate = Gate()
        model.script([say("begun"), gate], [say(" again")])
        prompt = asyncio.create_task(agent.prompt(session, words("go")))
        await person.until(person.words)
        (request,) = agent._conn._pending
        await agent._conn.send_notification("$/cancel_request", {"requestId": request})
        assert (await asyncio.wait_for(prompt, 10)).stop_reason == "cancelled"
        gate.open()
        assert (await agent.prompt(session, words("and now"))).stop_reason == "end_turn"
        assert person.words() == "begun again"


async def test_what_is_allowed_always_is_asked_once(start, work, model):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        person.choice = "allow_always"
        model.script(*[[use("exec_command", {"cmd": "touch made"})] for _ in range(2)], [say("done")])
        assert (await agent.prompt(session, words("go"))).stop_reason == "end_turn"
        _, options = person.asked.get_nowait()
        assert person.asked.empty() and (work / "made").exists()
        assert "touch" in {one.option_id: one.name for one in options}["allow_always"]


async def test_a_session_is_resumed_in_silence_and_forked(start, work, model):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        model.script([say("Hi.")])
        await agent.prompt(session, words("hello"))
    async with start() as (agent, person, _):
        resumed = await agent.resume_session(cwd=str(work), session_id=session, mcp_servers=[])
        assert resumed.modes.current_mode_id == "ask"
        model.script([say("Still here.")], [say("Elsewhere.")])
        assert (await agent.prompt(session, words("and?"))).stop_reason == "end_turn"
        assert person.words() == "Still here." and "user_message_chunk" not in person.kinds()
        fork = (await agent.fork_session(cwd=str(work), session_id=session, mcp_servers=[])).session_id
        assert (await agent.prompt(fork, words("there?"))).stop_reason == "end_turn"
        assert person.words(fork) == "Elsewhere." and "hello" in model.asked[2].words
        await agent.close_session(session)
        with pytest.raises(acp.RequestError) as closed:
            await agent.prompt(session, words("too late"))
        assert closed.value.code == -32002


async def test_commands_are_offered_and_followed(start, work):
    async with start() as (agent, person, _):
        session = (await agent.new_session(str(work), mcp_servers=[])).session_id
        await person.until(lambda: "available_commands_update" in person.kinds())
        offered = next(
            update.available_commands for _, update in person.updates if hasattr(update, "available_commands")
        )
        assert {"compact", "goal", "model", "tools"} <= {one.name for one in offered}
        assert (await agent.prompt(session, words("/tools"))).stop_reason == "end_turn"
        assert "- read_file" in person.words()


async def test_errors_are_the_clients_errors(start, work):
    async with start() as (agent, _, __):
        with pytest.raises(acp.RequestError) as unknown:
            await agent.load_session(str(work), "session-20200101-000000-deadbeef", mcp_servers=[])
        assert unknown.value.code == -32002
        with pytest.raises(acp.RequestError) as relative:
            await agent.new_session("here", mcp_servers=[])
        assert relative.value.code == -32602 and json.dumps(relative.value.data)
