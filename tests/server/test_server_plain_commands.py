"""The commands of an editor without a plugin, each at its edges."""

import asyncio
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_lsp.providers.scripted import call, fail, finish, gate, text
from agent_lsp.server.methods import TokenCounts
from agent_lsp.server.plain_answers import MOST_CHARS, bounded, told
from agent_lsp.server.plain_capabilities import COMMANDS, EDIT_COMMANDS
from agent_lsp.server.run_methods import RunAnswer
from tests.server.front_end import Refused, front_end

OPENS = {"showDocument": {"support": True}}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["uri", "range", "wait", "start", "end", "line", "character"]), inner)
    ),
    max_leaves=8,
)


def send(client, command, *arguments, **more):
    return client.send("workspace/executeCommand", command=f"agent.{command}", arguments=list(arguments), **more)


async def execute(client, command, *arguments, **more):
    return await asyncio.wait_for(send(client, command, *arguments, **more), 5)


async def ran(client, model, *turns, prompt="go"):
    """A run to its end, by the command that waits for it."""
    model.script(*turns)
    return await execute(client, "run", prompt, None, {"wait": True})


async def refusal(client, command, *arguments):
    with pytest.raises(Refused) as refused:
        await execute(client, command, *arguments)
    return refused.value


def shown(client):
    return [(one["type"], one["message"]) for one in client.told("window/showMessage")]


def opened_documents(client):
    return [(Path(unquote(urlsplit(one["uri"]).path)), one["takeFocus"]) for one in client.told("window/showDocument")]


def answer(status="completed", said="", **more):
    return RunAnswer(session_id="s", status=status, run_id="r", turns=3, text=said, usage=TokenCounts(), **more)


@pytest.mark.asyncio
async def test_a_run_is_answered_at_once_and_its_answer_shown_at_the_end(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        opened = asyncio.Event()
        model.script([text("The answer"), gate(opened), text(" is 42.")])
        started = await execute(client, "run", "what is it?")
        assert sorted(started) == ["runId", "sessionId"]
        assert shown(client) == []
        opened.set()
        assert await client.until(lambda: shown(client)) == [(3, "The answer is 42.")]
        assert "what is it?" in str(model.requests[0].input)


@pytest.mark.asyncio
async def test_a_run_that_is_waited_for_is_answered_with_its_result_after_its_message(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        result = await ran(client, model, [text("done")])
        assert (result["status"], result["text"], result["turns"]) == ("completed", "done", 1)
        assert [one.get("method", one.get("id")) for one in client.log] == ["window/showMessage", 1]


@pytest.mark.asyncio
async def test_cancelling_a_run_that_is_waited_for_aborts_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        model.script([text("a"), gate(asyncio.Event())])
        message, answer = client.prepare(
            "workspace/executeCommand", command="agent.run", arguments=["go", None, {"wait": True}]
        )
        client.say(message, {"method": "$/cancelRequest", "params": {"id": message["id"]}})
        assert (await asyncio.wait_for(answer, 5))["status"] == "aborted"
        assert shown(client) == [(3, "The run was aborted.")]


@pytest.mark.asyncio
async def test_a_selection_goes_along_and_the_next_prompt_goes_on_with_the_session(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        file = tmp_path / "work" / "a.txt"
        file.write_text("one\ntwo\nthree\n")
        span = {"start": {"line": 1, "character": 0}, "end": {"line": 1, "character": 3}}
        model.script([text("first")], [text("second")])
        first = await execute(client, "run", "explain", {"uri": file.as_uri(), "range": span}, {"wait": True})
        second = await execute(client, "run", "more", {"uri": file.as_uri()}, {"wait": True})
        assert first["sessionId"] == second["sessionId"]
        words = [one.text for one in model.requests[0].input]
        assert words == ["explain", "[attached file: a.txt:2-2]\ntwo"]
        assert model.requests[1].input[1].text == "[attached file: a.txt]\none\ntwo\nthree\n"


@pytest.mark.asyncio
async def test_a_prompt_while_one_runs_waits_its_turn(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        opened = asyncio.Event()
        model.script([gate(opened), text("one")], [text("two")])
        first = await execute(client, "run", "first")
        second = await execute(client, "run", "second")
        assert first["runId"] != second["runId"]
        opened.set()
        await client.until(lambda: len(shown(client)) == 2)
        assert sorted(message for _, message in shown(client)) == ["one", "two"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ([], "arguments[0]"),
        ([None], "arguments[0]"),
        ([""], "arguments[0]"),
        ([{"a": 1}], "arguments[0]"),
        (["hi", "file:///x"], "arguments[1]"),
        (["hi", {}], "arguments[1].uri"),
        (["hi", {"uri": 7}], "arguments[1].uri"),
        (["hi", {"uri": "file:///x", "range": {"start": {"line": 0, "character": 0}}}], "arguments[1].range.end"),
        (["hi", None, {"wait": "yes"}], "arguments[2].wait"),
    ],
)
async def test_a_wrong_argument_is_named_and_nothing_begins(tmp_path, monkeypatch, arguments, field):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        refused = await refusal(client, "run", *arguments)
        assert (refused.code, refused.fields) == (-32602, [field])
        assert field in refused.message
        assert model.requests == []
        assert (await client.ask("agent/session/list"))["sessions"] == []


@pytest.mark.asyncio
async def test_what_cannot_be_attached_is_said_with_the_reason(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        refused = await refusal(client, "run", "hi", {"uri": (tmp_path / "nothing").as_uri()})
        assert refused.message == "invalid params: arguments[1].uri does not exist"
        assert refused.fields == ["arguments[1].uri"]


@given(
    command=st.sampled_from([*COMMANDS, *EDIT_COMMANDS, "agent.nope", ""]),
    arguments=st.none() | st.lists(ANYTHING, max_size=4),
)
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_arguments_make_a_bug_appear(tmp_path, command, arguments):
    async def tried():
        with pytest.MonkeyPatch.context() as monkeypatch:
            async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
                model.script([text("done")])
                try:
                    await client.ask("workspace/executeCommand", command=command, arguments=arguments)
                except Refused as refused:
                    assert refused.code in (-32602, -32004)

    asyncio.run(tried())


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("command", "arguments"),
    [("steer", ["x"]), ("abort", []), ("compact", []), ("showTranscript", []), ("showTrace", [])],
)
async def test_what_needs_a_session_says_how_to_get_one(tmp_path, monkeypatch, command, arguments):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, _):
        refused = await refusal(client, command, *arguments)
        assert (refused.code, refused.message) == (-32004, "no current session: run a prompt first")


@pytest.mark.asyncio
async def test_an_error_says_what_to_do_in_its_one_line(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, defaultModel="nobody/m") as (client, _):
        refused = await refusal(client, "run", "go")
        assert refused.code == -32010
        assert refused.message.endswith(f": {refused.data['hint']}")
        assert "\n" not in refused.message


@pytest.mark.asyncio
async def test_steering_reaches_the_running_task_and_is_refused_when_none_runs(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        opened = asyncio.Event()
        model.script([text("working"), gate(opened)], [text("turned")])
        run = send(client, "run", "go", None, {"wait": True})
        assert (await execute(client, "steer", "to the left"))["accepted"] is True
        opened.set()
        assert (await run)["text"] == "turned"
        assert "to the left" in str(model.requests[1].input)

        assert await execute(client, "steer", "too late") == {"accepted": False}
        assert shown(client)[-1] == (2, "Nothing runs that could be steered: use agent.run.")


@pytest.mark.asyncio
async def test_a_compaction_says_what_came_of_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        await ran(client, model, [text("one")])
        model.script([text("[summary]short[/summary]")])
        assert (await execute(client, "compact"))["status"] == "completed"
        assert (await execute(client, "compact"))["availability"] == "just_compacted"
        assert [message for _, message in shown(client)[1:]] == [
            "The context was compacted.",
            "There is nothing to compact: just compacted.",
        ]
        await ran(client, model, [text("two")])
        model.script([fail("auth", "no such key")])
        assert (await execute(client, "compact"))["status"] == "auth"
        assert shown(client)[-1][0] == 1
        assert "no such key" in shown(client)[-1][1]


@pytest.mark.asyncio
async def test_a_failure_is_an_error_that_says_why(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        assert (await ran(client, model, [fail("auth", "no such\x1b key")]))["status"] == "auth"
        ((kind, said),) = shown(client)
        assert (kind, said.split("\n")[0]) == (
            1,
            "The provider refused the credential: no such\\x1b key",
        )
        assert "`agent-lsp doctor`" in said


@pytest.mark.parametrize(
    ("ended", "said"),
    [
        (answer(said=" 42 \n"), ("info", "42")),
        (answer(), ("info", "Done.")),
        (answer(said="cut", finish="length"), ("warning", "The answer was cut at the model's output limit:\ncut")),
        (answer(finish="refusal"), ("warning", "The model refused to answer.")),
        (answer("aborted", "half"), ("info", "The run was aborted.")),
        (answer("max_turns", "so far"), ("warning", "Stopped after 3 turns. Run another prompt to go on. so far")),
        (answer("failed", error_message="two\nlines"), ("error", "The run failed: two\\nlines")),
        (answer("malformed"), ("error", "The model's answers could not be read.")),
    ],
)
def test_every_ending_is_told(ended, said):
    assert told(ended) == said


def test_a_long_answer_is_cut_and_says_where_the_rest_is():
    assert bounded("x" * MOST_CHARS) == "x" * MOST_CHARS
    assert len(bounded("x" * 5000)) == MOST_CHARS
    assert bounded("x" * 5000).endswith("[… the rest is in the transcript]")


# --- the transcript ---------------------------------------------------------------------------------------------------


def transcript(tmp_path):
    (found,) = (tmp_path / "data" / "scratchpad").glob("*/transcript.md")
    return found


@pytest.mark.asyncio
async def test_the_transcript_is_its_owners_alone_and_grows_with_each_run(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        (tmp_path / "work" / "a.txt").write_text("hello\n")
        await ran(client, model, [call("read_file", {"file_path": "a.txt"})], [text("one answer")], prompt="first")
        path = transcript(tmp_path)
        first = path.read_text()
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert all(words in first for words in ("first", "**Calls `read_file`**", "hello", "one answer"))
        await ran(client, model, [text("two answers")], prompt="second")
        second = path.read_text()
        assert second.startswith(first)
        assert second.removeprefix(first) == "\n---\n\n## You\n\nsecond\n\n## Agent\n\ntwo answers\n"


@pytest.mark.asyncio
async def test_it_goes_on_over_a_compaction_and_a_resume(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        session = (await ran(client, model, [text("one answer")], prompt="first"))["sessionId"]
        model.script([text("[summary]short[/summary]")])
        await execute(client, "compact")
        await ran(client, model, [text("two answers")], prompt="second")
        whole = transcript(tmp_path).read_text()
        assert [whole.count(words) for words in ("first\n", "one answer", "second\n", "two answers")] == [1, 1, 1, 1]
        await client.ask("agent/session/close", sessionId=session)
        transcript(tmp_path).unlink()
        await client.ask("agent/session/resume", sessionId=session)
        await execute(client, "showTranscript")
        await client.until(lambda: any("transcript.md" in message for _, message in shown(client)))
        assert transcript(tmp_path).read_text() == whole


@pytest.mark.asyncio
async def test_it_opens_by_itself_once_and_with_focus_when_asked_for(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, window=OPENS) as (client, model):
        client.handlers["window/showDocument"] = lambda params: {"success": True}
        await ran_to_the_message(client, model, "one", 1)
        await ran_to_the_message(client, model, "two", 2)
        assert opened_documents(client) == [(transcript(tmp_path), False)]
        result = await execute(client, "showTranscript")
        await client.until(lambda: len(opened_documents(client)) == 2)
        assert opened_documents(client)[1] == (transcript(tmp_path), True)
        assert result == {"uri": transcript(tmp_path).as_uri()}


@pytest.mark.asyncio
async def test_eglot_is_not_told_that_no_focus_is_wanted_since_it_would_take_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, window=OPENS) as (client, model):
        client.connection.greeted.client.params["clientInfo"] = {"name": "Eglot", "version": "1.17.30"}
        client.handlers["window/showDocument"] = lambda params: {"success": True}
        await ran_to_the_message(client, model, "one", 1)
        uri = transcript(tmp_path).as_uri()
        assert client.told("window/showDocument") == [{"uri": uri}]
        await execute(client, "showTranscript")
        opened = await client.until(lambda: client.told("window/showDocument")[1:])
        assert opened == [{"uri": uri, "takeFocus": True}]


async def ran_to_the_message(client, model, words, count):
    model.script([text(words)])
    await execute(client, "run", "go", None, {"wait": True})
    assert len(shown(client)) == count


@pytest.mark.asyncio
async def test_a_client_that_opens_nothing_is_told_where_it_is(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True, window=OPENS) as (client, model):
        client.handlers["window/showDocument"] = lambda params: {"success": False}
        await ran(client, model, [text("done")])
        await execute(client, "showTranscript")
        assert (3, f"Written to {transcript(tmp_path)}") in await client.until(
            lambda: shown(client)[1:] and shown(client)
        )


@pytest.mark.asyncio
async def test_what_cannot_be_written_is_told_and_the_answer_comes_all_the_same(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        (tmp_path / "data").mkdir(exist_ok=True)
        (tmp_path / "data" / "scratchpad").write_text("in the way")
        await ran(client, model, [text("done")])
        assert [kind for kind, _ in shown(client)] == [2, 3]
        assert shown(client)[0][1].startswith("The transcript /")
        assert shown(client)[1][1] == "done"


@pytest.mark.asyncio
async def test_an_ephemeral_session_leaves_no_transcript(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        await client.ask("agent/session/new", ephemeral=True)
        await ran(client, model, [text("done")])
        refused = await refusal(client, "showTranscript")
        assert refused.message.endswith("it has nothing on the disk: run a prompt first")
        assert not list(tmp_path.rglob("transcript.md"))


@pytest.mark.asyncio
async def test_a_deleted_session_gets_no_transcript_back(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        model.script([gate(asyncio.Event())])
        started = await execute(client, "run", "go")
        await client.ask("agent/session/delete", sessionId=started["sessionId"])
        await client.until(lambda: shown(client))
        assert not list(tmp_path.rglob("transcript.md"))


# --- what the client has not heard of ---------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_nothing_of_the_protocol_is_told_to_a_client_that_does_not_know_it(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        client.handlers["window/showMessageRequest"] = lambda params: {"title": "Allow"}
        await ran(client, model, [call("write_file", {"file_path": "a", "content": "b"})], [text("done")])
        assert {one["method"] for one in client.log if "method" in one} == {
            "window/showMessage",
            "window/showMessageRequest",
        }


@pytest.mark.asyncio
async def test_the_commands_are_served_to_plain_clients_only(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        assert (await refusal(client, "run", "go")).code == -32601


@pytest.mark.asyncio
async def test_configured_prompts_are_offered_as_they_are_now(tmp_path, monkeypatch):
    settings = {"workspace": {"configuration": True}}
    async with front_end(
        tmp_path, monkeypatch, plain=True, capabilities=settings, prompts={"Simplify": "Make it shorter."}
    ) as (client, _):
        place = {
            "textDocument": {"uri": "file:///a.py"},
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 0}},
            "context": {"diagnostics": []},
        }
        found = await client.ask("textDocument/codeAction", **place)
        assert [one["title"] for one in found][-1] == "Simplify"
        assert all(sorted(one) == ["arguments", "command", "title"] for one in found)


@pytest.mark.asyncio
async def test_the_progress_of_a_command_is_under_its_token_and_can_be_cancelled(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        model.script([text("a"), gate(asyncio.Event())])
        run = send(client, "run", "go", None, {"wait": True}, workDoneToken="mine")
        await client.until(lambda: model.requests)
        client.say({"method": "window/workDoneProgress/cancel", "params": {"token": "mine"}})
        assert (await asyncio.wait_for(run, 5))["status"] == "aborted"
        values = [one["value"] for one in client.told("$/progress") if one["token"] == "mine"]
        assert values[0] == {"kind": "begin", "title": "go", "cancellable": True}
        assert values[-1] == {"kind": "end", "message": "aborted"}


@pytest.mark.asyncio
async def test_a_refused_answer_is_told(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, plain=True) as (client, model):
        await ran(client, model, [text("no"), finish("refusal")])
        assert shown(client) == [(2, "The model refused to answer.\nno")]
