"""What the editor reports, as the model is told of it."""

from __future__ import annotations

import pytest

from agent_lsp.messages.content import ToolCall
from agent_lsp.tools.findings import Finding, tell
from agent_lsp.tools.tool import CURRENT_CALL

pytestmark = pytest.mark.asyncio


class Editor:
    """`findings`, or None for an editor that does not answer."""

    def __init__(self, findings) -> None:
        self.findings, self.asked, self.call = findings, [], None

    async def __call__(self, path):
        self.asked.append(path)
        self.call = CURRENT_CALL.get()
        return self.findings


async def test_findings_come_by_file_and_place(make_session, root):
    later, first = (
        Finding(root / "b.py", 9, 1, "hint", "so so"),
        Finding(root / "a.py", 2, 3, "error", "bad\nline", "x"),
    )
    done = await make_session(findings=Editor([later, first])).use("diagnostics")
    assert done.output == "a.py\n  2:3 error: bad line (x)\nb.py\n  9:1 hint: so so"


async def test_one_file_is_asked_for_by_its_path(make_session, root):
    editor = Editor([])
    done = await make_session(findings=editor).use("diagnostics", file_path="a.py")
    assert editor.asked == [root / "a.py"] and done.output == "The editor reports nothing for a.py."


async def test_of_all_files_those_outside_and_those_denied_are_left_out(make_session, root, tmp_path):
    found = [Finding(path, 1, 1, "error", "x") for path in (tmp_path / "out.py", root / "secret.py", root / "in.py")]
    session = make_session(findings=Editor(found), is_denied=lambda path: path.name == "secret.py")
    output = (await session.use("diagnostics")).output
    assert "in.py" in output and "out.py" not in output and "secret.py" not in output


async def test_an_editor_that_does_not_answer_is_a_failure(make_session):
    assert (await make_session(findings=Editor(None)).use("diagnostics")).failed


async def test_without_an_editor_that_can_tell_there_is_no_such_tool(make_session):
    assert (await make_session().use("diagnostics")).output == "Unknown tool: diagnostics"


async def test_the_list_is_bounded(root):
    found = [Finding(root / "a", n, 1, "error", "x") for n in range(50)]
    assert tell(found, str, 3).splitlines()[-1] == "[47 more]"


async def test_a_tool_knows_the_call_that_it_answers_and_nobody_else_does(make_session):
    editor = Editor([])
    await make_session(findings=editor).use("diagnostics")
    assert editor.call == ToolCall(name="diagnostics", arguments="{}", tool_call_id="c1")
    assert CURRENT_CALL.get() is None
