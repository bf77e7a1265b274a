"""A program runs sessions in its own event loop: against a model on loopback, on a real folder."""

import asyncio
import os
from pathlib import Path
from typing import Literal

import pytest
import pytest_asyncio

from agent_lsp import AgentError, Answer, Session, tool
from agent_lsp.errors import ConfigError, ModelUnavailable, SessionBusy, WorkspaceInvalid
from tests.e2e.model_server import Gate, ModelServer, say, use

pytestmark = pytest.mark.asyncio
EDIT = use("edit_file", {"file_path": "notes.txt", "old_string": "first", "new_string": "1st"})


@pytest_asyncio.fixture
async def model():
    async with ModelServer() as server:
        yield server


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.startswith("XDG_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "notes.txt").write_text("first line\n")
    return folder


@pytest.fixture
def settings(model, tmp_path):
    provider = {"api": "openai-chat", "base_url": f"{model.url}/v1", "api_key": "sk-embedded", "models": {"big": {}}}
    return {"default_model": "own/big", "data_dir": str(tmp_path / "data"), "providers": {"own": provider}}


async def until(condition):
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110 - what is waited for is outside of this process
            await asyncio.sleep(0.01)


async def test_a_task_runs_to_its_end_and_its_trace_stays(workspace, settings, model):
    asked = []

    def approve(question):
        asked.append((question.call.name, question.preview.diff))
        return True

    async with Session.open(workspace, approve=approve, settings=settings) as session:
        model.script([EDIT], [say("Done.")])
        result = await session.run("count in digits")
        assert (result.status, result.text, result.turns) == ("completed", "Done.", 2)
        assert session.model == "own/big" and session.usage.total == result.usage.total > 0
        assert [one.type for one in session.history()] == ["text", "tool_call", "tool_call_output", "text"]
    assert (workspace / "notes.txt").read_text() == "1st line\n"
    assert len(asked) == 1 and asked[0][0] == "edit_file" and "+1st line" in asked[0][1]
    assert session.trace_path.is_file() and session.id in session.trace_path.name


async def test_without_anybody_to_ask_nothing_is_changed(workspace, settings, model):
    async with Session.open(workspace, settings=settings) as session:
        model.script([EDIT], [say("I could not.")])
        assert (await session.run("go")).text == "I could not."
    assert (workspace / "notes.txt").read_text() == "first line\n"


@pytest.mark.parametrize("answer", [False, None, "yes", Answer("deny", feedback="not on a Friday")])
async def test_what_is_no_clear_yes_is_a_no(workspace, settings, model, answer):
    async def approve(question):
        return answer

    async with Session.open(workspace, approve=approve, settings=settings) as session:
        model.script([EDIT], [say("I see.")])
        await session.run("go")
        output = next(one for one in session.history() if one.type == "tool_call_output")
    assert (workspace / "notes.txt").read_text() == "first line\n" and "denied" in output.output
    assert ("not on a Friday" in output.output) == isinstance(answer, Answer)


async def test_an_approver_that_breaks_is_a_no_and_ends_nothing(workspace, settings, model, caplog):
    def approve(question):
        raise RuntimeError("broken dialog")

    async with Session.open(workspace, approve=approve, settings=settings) as session:
        model.script([EDIT], [say("I see.")])
        assert (await session.run("go")).status == "completed"
    assert (workspace / "notes.txt").read_text() == "first line\n"


async def test_a_function_is_a_tool(workspace, settings, model):
    calls = []

    @tool(permission="r")
    def stock_of(item: str, unit: Literal["piece", "box"] = "piece") -> dict[str, int]:
        """Says how much of an item is in stock."""
        calls.append((item, unit))
        return {"count": 12}

    async with Session.open(workspace, tools=[stock_of], settings=settings) as session:
        model.script([use("stock_of", {"item": "apples"})], [use("stock_of", {"unit": "crate"})], [say("Twelve.")])
        assert (await session.run("how many?")).text == "Twelve."
        outputs = [one.output for one in session.history() if one.type == "tool_call_output"]
    offered = next(one for one in model.asked[0].body["tools"] if one["function"]["name"] == "stock_of")["function"]
    assert offered["description"] == "Says how much of an item is in stock."
    assert offered["parameters"]["required"] == ["item"]
    assert calls == [("apples", "piece")] and outputs[0] == '{"count": 12}'
    assert "item" in outputs[1] and "unit" in outputs[1]


async def test_a_function_that_may_change_something_is_asked_about(workspace, settings, model):
    @tool
    async def order(item: str) -> str:
        """Orders an item."""
        raise AssertionError("nobody has allowed that")

    titles = []
    async with Session.open(
        workspace, tools=[order], approve=lambda question: titles.append(question.title), settings=settings
    ) as session:
        model.script([use("order", {"item": "pears"})], [say("No.")])
        await session.run("order")
    assert titles == ['order(item="pears")']


async def test_questions_of_the_model_are_answered_by_a_function(workspace, settings, model):
    async with Session.open(workspace, ask=lambda question, options: options[1], settings=settings) as session:
        model.script([use("ask_user", {"question": "Which?", "options": ["red", "blue"]})], [say("Blue it is.")])
        await session.run("paint")
        assert [one.output for one in session.history() if one.type == "tool_call_output"] == ["blue"]


async def test_messages_come_as_they_are_said_and_leaving_the_stream_aborts(workspace, settings, model):
    async with Session.open(workspace, settings=settings) as session:
        gate = Gate()
        model.script([say("Hel", "lo"), gate])
        seen = []
        async for message in session.stream("go"):
            seen.append(message.payload.type)
            if message.payload.type == "partial_text" and message.payload.text:
                break
        assert "request_begin" in seen
        model.script([say("Again.")])
        async with asyncio.timeout(5):
            while True:
                try:
                    assert (await session.run("again")).text == "Again."
                    break
                except SessionBusy:
                    await asyncio.sleep(0)


async def test_a_running_task_can_be_steered_and_aborted(workspace, settings, model):
    async with Session.open(workspace, settings=settings) as session:
        assert not session.steer("nobody listens") and not session.abort()
        gate = Gate()
        model.script([say("hm"), gate], [say("Blue, then.")])
        task = asyncio.create_task(session.run("paint"))
        await gate.reached.wait()
        assert session.steer("in blue")
        gate.open()
        assert (await task).text == "Blue, then."
        assert "in blue" in str(model.asked[-1].messages)
        gate = Gate()
        model.script([say("hm"), gate])
        task = asyncio.create_task(session.run("more"))
        await gate.reached.wait()
        assert session.abort()
        assert (await task).status == "aborted"


async def test_a_program_that_leaves_in_the_middle_leaves_nothing_behind(workspace, settings, model):
    marker = workspace / "started"
    with pytest.raises(KeyError):
        async with Session.open(workspace, approve=lambda question: True, settings=settings) as session:
            model.script([use("exec_command", {"cmd": f"touch {marker}; exec sleep 1000.5"})])
            task = asyncio.create_task(session.run("go"))
            await until(marker.exists)
            raise KeyError
    assert (await task).status == "aborted"
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if b"1000.5" in text_of(one)]


def text_of(path):
    try:
        return path.read_bytes()
    except OSError:  # the process has ended meanwhile
        return b""


async def test_two_sessions_work_side_by_side(workspace, settings, model):
    async with Session.open(workspace, settings=settings) as one, Session.open(workspace, settings=settings) as other:
        model.script([say("A.")], [say("A.")])
        results = await asyncio.gather(one.run("a"), other.run("b"))
    assert [result.text for result in results] == ["A.", "A."] and one.id != other.id


async def test_what_cannot_be_opened_says_so(workspace, settings, tmp_path):
    for error, arguments in (
        (WorkspaceInvalid, {"workspace": tmp_path / "nowhere"}),
        (ModelUnavailable, {"workspace": workspace, "model": "nobody/big"}),
        (ConfigError, {"workspace": workspace, "settings": {**settings, "approval_mode": "maybe"}}),
    ):
        with pytest.raises(error) as caught:
            async with Session.open(**{"settings": settings, **arguments}):
                raise AssertionError("it was opened")
        assert isinstance(caught.value, AgentError) and caught.value.message


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("def bare(item: str): ...", "docstring"),
        ("def odd(item):\n    '''Does.'''", "annotation"),
        ("def many(*items: str):\n    '''Does.'''", "by name"),
    ],
)
async def test_a_function_that_says_too_little_is_no_tool(function, said):
    names = {}
    exec(function, names)
    with pytest.raises(TypeError, match=said):
        tool(next(value for name, value in names.items() if name != "__builtins__"))
