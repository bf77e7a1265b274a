"""What every built-in tool keeps to, through one list of cases: framing, schemas, access, previews, abort."""

from __future__ import annotations

import asyncio
import itertools
import json

import pytest

from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.access import Access

from ..conftest import call, use
from .cases import GOOD, KINDS, UNFIT, tools

PATHS = ["hello.txt/child.txt", ".", "x" * 300, "a\ud800b".encode("utf-8", "replace").decode(), "../..", "~", "no/such"]


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
