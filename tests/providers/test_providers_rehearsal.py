import json

import pytest

from agent_lsp.engine.ports import CallBegin, Commit, Outcome, Request, TextDelta, ThinkingDelta
from agent_lsp.messages.content import Text, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.rehearsal import Rehearsal
from agent_lsp.providers.rehearsed import INTRODUCTION, reply_to

PARAMETERS = {
    "read_file": ["file_path"],
    "list_files": ["path"],
    "search_text": ["pattern"],
    "edit_file": ["file_path", "old_string", "new_string"],
    "write_file": ["file_path", "content"],
    "exec_command": ["cmd", "description"],
}
TOOLS = tuple(
    ToolSpec(name=name, description="", parameters={"properties": {key: {} for key in known}})
    for name, known in PARAMETERS.items()
)
RESULTS = {
    "list_files": "greeter.py",
    "search_text": "greeter.py\n     6:     # TODO: greet everybody\n     7:     return 'Helo'",
    "read_file": "     6\t    # TODO: greet everybody\n     7\t    return 'Helo'\n",
    "edit_file": "edited",
    "exec_command": "ok",
    "write_file": "written",
}


def request(*messages, tools=TOOLS, system="You are an agent."):
    return Request(system, tools, (), messages or (Text(role="user", text="hi"),))


def played(prompt, results=RESULTS, tools=TOOLS):
    """The calls of a whole task, and its last words."""
    messages, calls = [Text(role="user", text=prompt)], []
    while (reply := reply_to(request(*messages, tools=tools))).calls:
        assert len(calls) < 9, calls
        messages.append(Text(role="assistant", text=reply.text))
        for call in reply.calls:
            calls.append((call.name, call.arguments))
            messages.append(ToolCall(name=call.name, arguments=call.raw(), tool_call_id=str(len(calls))))
        for number, call in enumerate(reply.calls, len(calls) - len(reply.calls) + 1):
            output = results[call.name]
            denied = output.startswith("Tool call denied")
            messages.append(
                ToolCallOutput(tool_call_id=str(number), output=output, stop_reason="aborted" if denied else None)
            )
    return calls, reply.text


def test_the_first_sentence_says_what_it_is_and_how_to_get_a_model():
    assert reply_to(request()).text.startswith(INTRODUCTION)
    assert "not a language model" in INTRODUCTION and "ANTHROPIC_API_KEY" in INTRODUCTION


def test_it_says_so_once_a_context():
    earlier = Text(role="assistant", text=reply_to(request()).text)
    again = reply_to(request(Text(role="user", text="hi"), earlier, Text(role="user", text="hi again")))
    assert INTRODUCTION not in again.text and "hi again" in again.text


def test_a_change_looks_then_mends_a_misspelling_and_tells():
    calls, words = played("Have a look at this project, find what is left to do, and mend it.")
    assert [name for name, _ in calls] == ["list_files", "search_text", "read_file", "edit_file"]
    assert calls[-1][1] == {
        "file_path": "greeter.py",
        "old_string": "    return 'Helo'",
        "new_string": "    return 'Hello'",
    }
    assert "edit greeter.py: done" in words and "Left to do, and beyond my rules: greet everybody" in words


def test_a_thing_left_to_do_is_marked_where_no_misspelling_is():
    calls, _ = played("fix a.py", {**RESULTS, "read_file": "     1\t# TODO: more\n"})
    assert calls[-1][1]["new_string"] == "# TODO (seen by the rehearsal): more"


def test_a_denial_is_told():
    _, words = played("fix greeter.py", {**RESULTS, "edit_file": "Tool call denied by user."})
    assert "edit greeter.py: denied, so nothing was done" in words


def test_commands_run_only_when_asked_for():
    assert played("what is here?")[0] == [("list_files", {})]
    assert played("run `make test`")[0] == [
        ("exec_command", {"cmd": "make test", "description": "asked for in the prompt"})
    ]
    assert [name for name, _ in played("fix greeter.py and run `pytest`")[0]][-1] == "exec_command"


def test_of_a_very_long_prompt_the_beginning_is_read():
    assert [name for name, _ in played("run `ls` " + "x" * 20_000)[0]] == ["exec_command"]
    assert not played("x" * 20_000 + " run `ls`")[0]


def test_a_file_is_created_when_asked_for():
    ((name, arguments),), _ = played("create a file notes.txt")
    assert (name, arguments["file_path"]) == ("write_file", "notes.txt")


def test_only_tools_that_are_offered_are_called():
    calls, words = played("fix greeter.py", tools=tuple(tool for tool in TOOLS if tool.name == "read_file"))
    assert [name for name, _ in calls] == ["read_file"] and "read greeter.py: done" in words


def test_what_the_engine_says_is_no_prompt():
    said = (Text(role="user", text="hello"), Text(role="user", text="[turn_retried]\n  run `x`\n[/turn_retried]"))
    assert reply_to(request(*said)).calls == ()


def test_a_summary_and_a_title_call_nothing():
    asked = Text(role="user", text="fix it")
    summary = reply_to(request(asked, Text(role="user", text="Write a [summary] block.", sender="harness")))
    assert summary.text.startswith("[summary]\n") and summary.text.endswith("[/summary]") and "fix it" in summary.text
    title = reply_to(
        request(Text(role="user", text="Name it:\nfix the greeting of people now please"), tools=(), system="")
    )
    assert title.text == "fix the greeting of people now" and not title.calls


def test_a_title_is_made_of_what_the_person_said():
    talk = "Give it a title.\n\nuser: fix greeter.py\n\nassistant: Now I read it.\n\nassistant: Now I edit greeter.py."
    assert reply_to(request(Text(role="user", text=talk), tools=(), system="")).text == "fix greeter.py"


@pytest.mark.asyncio
async def test_it_streams_word_by_word_with_a_pause_before_each():
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)

    ask = request(Text(role="user", text="fix greeter.py"))
    parts = [part async for part in Rehearsal(sleep, 0.01).stream(ask)]
    words = [part for part in parts if isinstance(part, TextDelta | ThinkingDelta)]
    assert len(pauses) == len(words) > 10 and set(pauses) == {0.01}
    assert "".join(part.text for part in words if isinstance(part, TextDelta)) == reply_to(ask).text
    assert [part.name for part in parts if isinstance(part, CallBegin)] == ["read_file"]
    assert isinstance(parts[-1], Outcome) and parts[-1].finish == "tool_calls" and parts[-1].usage.total > 0


@pytest.mark.asyncio
async def test_two_runs_of_one_context_are_the_same():
    ask = Request(
        "s",
        TOOLS,
        (Commit((Text(role="user", text="a"), Text(role="assistant", text="b"))),),
        (Text(role="user", text="c"),),
    )
    runs = [[part async for part in Rehearsal(word_delay_s=0).stream(ask)] for _ in range(2)]
    assert runs[0] == runs[1] and runs[0][-1].usage.cache_read > 0


def test_broken_arguments_in_the_history_do_not_stop_it():
    said = (
        Text(role="user", text="fix a.py"),
        ToolCall(name="read_file", arguments=json.dumps({"file_path": "a.py"}), tool_call_id="1"),
        ToolCallOutput(tool_call_id="1", output="     1\tteh\n"),
        ToolCall(name="other", arguments="[1", tool_call_id="2"),
    )
    assert [call.name for call in reply_to(request(*said)).calls] == ["edit_file"]
