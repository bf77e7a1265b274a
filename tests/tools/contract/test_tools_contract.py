"""What every built-in tool keeps to, through one list of cases."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest

from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.access import Access
from agent_lsp.tools.run_subagent import NoSubagents

from ..conftest import call, use

PATCH = "*** Begin Patch\n*** Update File: hello.txt\n@@\n-world\n+there\n*** End Patch"
GOOD = {
    "read_file": {"file_path": "hello.txt"},
    "write_file": {"file_path": "new/file.txt", "content": "x\n"},
    "edit_file": {"file_path": "hello.txt", "old_string": "world", "new_string": "there"},
    "apply_patch": {"patch": PATCH},
    "list_files": {},
    "search_text": {"pattern": "world"},
    "exec_command": {"cmd": "echo hi"},
    "input_command": {"process_id": "proc-00000000"},
    "kill_command": {"process_id": "proc-00000000"},
    "read_image": {"file_path": "hello.txt"},
    "describe_image": {"file_path": "hello.txt"},
    "ask_user": {"question": "which?"},
    "todo_write": {"items": [{"text": "one"}]},
    "run_subagent": {"prompt": "look around", "agent": "scout"},
    "input_subagent": {"subagent_id": "session-1"},
    "kill_subagent": {"subagent_id": "session-1"},
    "exit_plan": {"plan": "# Do it"},
    "web_fetch": {"url": "https://example.com/"},
}
UNFIT = {
    "read_file": ({"file_path": 5, "offset": 0}, "file_path offset"),
    "write_file": ({"file_path": "a\0b"}, "file_path content"),
    "edit_file": ({"file_path": "", "old_string": []}, "file_path old_string new_string"),
    "apply_patch": ({"patch": "no patch"}, "patch"),
    "list_files": ({"path": [], "depth": 0}, "path depth"),
    "search_text": ({"context": -1, "path": {}}, "pattern context path"),
    "exec_command": ({"run_in_background": "perhaps"}, "cmd run_in_background"),
    "input_command": ({"yield_time_ms": "soon"}, "process_id yield_time_ms"),
    "kill_command": ({}, "process_id"),
    "ask_user": ({"options": "yes"}, "question options"),
    "todo_write": ({"items": [{"status": "perhaps"}]}, "items.0.text items.0.status"),
    "read_image": ({"file_path": ""}, "file_path"),
    "describe_image": ({"question": []}, "file_path question"),
    "run_subagent": (
        {"agent": "nobody", "thinking_level": "much", "context": 3},
        "prompt agent thinking_level context",
    ),
    "input_subagent": ({"wait_ms": -1}, "subagent_id wait_ms"),
    "kill_subagent": ({"subagent_id": ""}, "subagent_id"),
    "exit_plan": ({"plan": ""}, "plan"),
    "web_fetch": ({"url": ["a"]}, "url"),
}
PATHS = ["hello.txt/child.txt", ".", "x" * 300, "a\ud800b".encode("utf-8", "replace").decode(), "../..", "~", "no/such"]
KINDS = {
    "read_file": "read", "list_files": "read", "search_text": "read", "write_file": "edit", "edit_file": "edit",
    "apply_patch": "edit", "exec_command": "command", "input_command": "own", "kill_command": "own", "ask_user": "own",
    "todo_write": "own", "read_image": "read", "describe_image": "read", "run_subagent": "other",
    "input_subagent": "own", "kill_subagent": "own", "exit_plan": "ask", "web_fetch": "ask",
}  # fmt: skip
tools = pytest.mark.parametrize("name", GOOD)


class Planning:
    """A plan mode that is on."""

    is_on = True

    def leave(self) -> str:
        return "ask"


async def nowhere(url):
    return "there is no web here"


@pytest.fixture
def session(make_session):
    """All the tools there are, those that a session may be without too."""
    subagents = NoSubagents({"scout": "Looks around."})
    return make_session(subagents=subagents, plan_mode=Planning(), fetch=nowhere)


def test_the_list_is_whole_and_its_order_fixed(session):
    assert [spec.name for spec in session.toolset.tools()] == list(GOOD)


@tools
def test_its_schema_is_one_object_that_explains_itself(session, name):
    spec = next(one for one in session.toolset.tools() if one.name == name)
    assert spec.description and spec.parameters["type"] == "object"
    text = json.dumps(spec.parameters)
    assert not [word for word in ('"title"', '"$ref"', '"anyOf"', '"null"') if word in text]
    assert name == "todo_write" or all(one.get("description") for one in spec.parameters["properties"].values())


@tools
def test_it_says_what_it_would_touch_and_changes_nothing_by_that(session, name):
    this = call(name, GOOD[name])
    access = session.toolset.access(this)
    assert access.kind == KINDS[name] and all(path.is_absolute() for path in access.paths)
    assert bool(access.paths) == (access.kind in ("read", "edit")) and (access.command is None) == (
        access.kind != "command"
    )
    assert session.toolset.title(this) and session.toolset.permission(this) in ("r", "rw")
    assert [one.name for one in session.root.iterdir()] == ["hello.txt"]


@tools
@pytest.mark.asyncio
async def test_a_good_call_has_one_result_and_it_is_last(session, name):
    done = await use(session.toolset, name, GOOD[name])
    assert done.output.strip() and done.result.stop_reason in (None, "failed")


@tools
@pytest.mark.asyncio
async def test_its_preview_changes_nothing(session, name):
    await session.toolset.preview(call(name, GOOD[name]))
    assert [one.name for one in session.root.iterdir()] == ["hello.txt"]
    assert (session.root / "hello.txt").read_text() == "hello\nworld\n"


@tools
@pytest.mark.parametrize("arguments", ["", "{}", "[]", "null", "{", '{"file_path": {}}'])
def test_any_arguments_are_answered(session, name, arguments):
    unfit = session.toolset.check(ToolCall(name=name, arguments=arguments, tool_call_id="c"))
    assert unfit is None or (unfit.stop_reason == "failed" and unfit.output)


@tools
def test_each_unfit_argument_is_named(session, name):
    arguments, fields = UNFIT[name]
    unfit = session.toolset.check(call(name, arguments))
    assert unfit.stop_reason == "failed"
    assert all(f"- {one}: " in unfit.output for one in fields.split()), unfit.output


@pytest.mark.asyncio
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ["read_file", "write_file", "edit_file", "list_files", "search_text", "exec_command"])
async def test_odd_paths_are_outputs_not_exceptions(session, name, path, monkeypatch):
    monkeypatch.setenv("HOME", str(session.scratchpad.parent))
    if name == "search_text" and path in ("../..", "~"):
        pytest.skip("a whole foreign tree")
    where = {"list_files": "path", "search_text": "path", "exec_command": "workdir"}.get(name, "file_path")
    done = await use(
        session.toolset, name, {**GOOD[name], where: path, **({"depth": 1} if name == "list_files" else {})}
    )
    assert done.output.strip() and "Traceback" not in done.output and "Error" not in done.output


@tools
@pytest.mark.asyncio
async def test_it_can_be_cancelled_at_any_point_and_is_over_then(session, name):
    for steps in itertools.count(1):
        items = session.toolset.execute(call(name, GOOD[name]))
        task = asyncio.ensure_future(_collect(items))
        for _ in range(steps):
            await asyncio.sleep(0)
        if task.done():
            assert isinstance(task.result()[-1], ToolResult)
            break
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(StopAsyncIteration):
            await anext(items)
        if steps > 30:
            break
    await asyncio.wait_for(_idle(session), 5)


@tools
@pytest.mark.asyncio
async def test_it_can_be_closed_after_its_first_item(session, name):
    items = session.toolset.execute(call(name, GOOD[name]))
    await anext(items)
    await items.aclose()
    await asyncio.wait_for(_idle(session), 5)


def test_an_access_is_of_the_known_kinds(session):
    assert session.toolset.access(call("read_file", {"file_path": "~/x"})) != Access("own")


async def _collect(items):
    return [item async for item in items]


async def _idle(session):
    while session.toolset._running:
        await asyncio.wait(set(session.toolset._running))
