"""Where approvals come up: never in the way of what the person is doing, whatever that is."""

import time

import pytest
from harness.agent import answer, ended, focus, run
from harness.model import say, use

EDIT = {"file_path": "greeter.py", "old_string": "Helo", "new_string": "Hello"}
READ = [use("read_file", {"file_path": "greeter.py"})]
PLACE = "return { vim.api.nvim_get_current_win(), vim.api.nvim_get_current_tabpage(), vim.fn.getreg('\"') }"
PUT = """
local title = ...
local diff = "--- a\\n+++ b\\n@@ -1,400 +1,400 @@\\n" .. ("-old line\\n+new line\\n"):rep(400)
local handle = require("agent_lsp.protocol").handlers()["agent/approve"]
coroutine.wrap(handle)(nil, {
  sessionId = "s", title = title, permission = "rw",
  toolCall = { tool_call_id = title, name = "edit_file", arguments = "" },
  preview = { kind = "edit", uri = "file:///a", diff = diff, created = false },
}, {})
"""


@pytest.fixture
def asked(nvim, model):
    """A Neovim in which the agent asks whether it may mend the greeter."""
    model.script(READ, [use("edit_file", EDIT)], [say("So far.")])
    nvim.edit("notes.txt")
    run(nvim, "mend it")
    nvim.wait_for("Edit greeter.py", "to answer")
    return nvim


def test_its_border_tells_the_way_in_and_once_one_is_in_the_keys(asked):
    assert ":AgentApproval to answer" in asked.screen and "allow" not in asked.screen
    asked.type(":AgentApproval<CR>")
    assert "to answer" not in asked.wait_for("a allow", "d deny")
    asked.type("<C-w>p")
    asked.wait_for(":AgentApproval to answer")

    asked.type(":nmap <LT>Space>y <LT>Plug>(agent-approval)<CR>:AgentApproval<CR><C-w>p")

    asked.wait_for("<Space>y to answer")
    answer(asked, "Edit greeter.py", "a")
    assert ended(asked) == "completed"


def test_it_is_not_entered_and_keys_go_on_to_where_they_went(nvim, model):
    gate = model.stop()
    model.script(READ, [gate, use("edit_file", EDIT)], [say("So far.")])
    nvim.edit("notes.txt")
    run(nvim, "mend it")
    gate.reached()
    nvim.type("ia")
    nvim.wait_for("aline 1")
    before = nvim.lua(PLACE)

    gate.open()
    nvim.wait_for("Edit greeter.py")
    nvim.type("aarrdd11q")

    nvim.wait_for("aaarrdd11qline 1", "Edit greeter.py")
    assert nvim.mode["mode"] == "i"
    assert before == nvim.lua(PLACE)
    nvim.type("<Esc>:bd!<CR>")
    answer(nvim, "Edit greeter.py", "a")
    assert ended(nvim) == "completed"


def test_it_is_on_the_screen_within_100_ms(nvim, rehearsal):
    nvim.lua("require('agent_lsp.client').prepare()")
    nvim.edit("notes.txt")
    waits_s = []
    for number in range(5):
        began = time.monotonic()
        nvim.lua(PUT, f"Edit number {number}")
        nvim.wait_for(f"Edit number {number}")
        waits_s.append(time.monotonic() - began)
        nvim.lua("require('agent_lsp.approval.questions').withdraw_all(function() return true end)")
        nvim.wait_gone(f"Edit number {number}")
    assert sorted(waits_s)[2] < 0.1, waits_s


def test_a_pending_operator_survives_its_arrival(nvim, model):
    gate = model.stop()
    model.script(READ, [gate, use("edit_file", EDIT)], [say("So far.")])
    nvim.edit("notes.txt")
    run(nvim, "mend it")
    gate.reached()
    nvim.type("d")
    gate.open()
    nvim.wait_for("Edit greeter.py")

    assert nvim.mode["mode"] == "no"
    nvim.type("d")

    nvim.until("return vim.fn.getline(1) == 'line 2'")
    nvim.command("edit!")
    answer(nvim, "Edit greeter.py", "d")
    ended(nvim)


def test_it_follows_into_another_tabpage_and_a_smaller_screen(asked):
    asked.command("tabnew")
    asked.wait_for("Edit greeter.py")
    assert asked.lua("return #vim.api.nvim_tabpage_list_wins(0)") == 2
    asked.api("nvim_ui_try_resize", 60, 14)
    asked.watch(lambda screen: "Edit greeter.py" in screen and "def greeting" in screen, "not redrawn")
    asked.command("tabclose")
    asked.wait_for("Edit greeter.py")
    answer(asked, "Edit greeter.py", "d")
    ended(asked)


def test_the_menu_of_vim_ui_select_is_used_only_where_it_is_wished_for(start, model, workspace):
    model.script(READ, [use("edit_file", EDIT)], [say("So far.")])
    nvim = start("require('agent_lsp').setup({ approval = { ui = 'select' } })")
    nvim.type("i")
    run(nvim, "mend it")
    nvim.wait_for("Edit greeter.py")
    assert nvim.mode["mode"] == "i"

    nvim.type("<Esc>")
    nvim.wait_for("1: Allow", "Deny", "Type number")
    nvim.type("1<CR>")

    assert ended(nvim) == "completed"
    assert "Hello" in (workspace / "greeter.py").read_text()


def test_writing_a_file_answers_nothing(start, model):
    autosave = (
        "vim.api.nvim_create_autocmd({ 'TextChanged', 'InsertLeave', 'WinLeave' }, { command = 'silent! update' })"
    )
    model.script(READ, [use("edit_file", EDIT)], [say("So far.")])
    nvim = start(autosave)
    nvim.edit("greeter.py")
    run(nvim, "mend it")
    nvim.wait_for("Edit greeter.py")
    nvim.type("Goa<Esc>")
    nvim.until("return not vim.bo.modified")
    focus(nvim)
    nvim.type("<C-w>p")
    assert nvim.lua("return require('agent_lsp.approval.questions').count()") == 1
    answer(nvim, "Edit greeter.py", "d")
    ended(nvim)


def test_it_comes_while_a_command_line_or_a_terminal_is_typed_in(nvim, model):
    gate, later = model.stop(), model.stop()
    model.script(
        READ,
        [gate, use("exec_command", {"cmd": "echo first"})],
        [later, use("exec_command", {"cmd": "echo second"})],
        [say("So far.")],
    )
    run(nvim, "run them")
    gate.reached()
    nvim.type(":echo 1")
    nvim.until("return vim.fn.getcmdline() == 'echo 1'")
    gate.open()
    nvim.wait_for("Run echo first")
    assert nvim.mode["mode"] == "c"
    nvim.type("2<Esc>")
    answer(nvim, "Run echo first", "a")

    later.reached()
    nvim.command("terminal cat")
    nvim.type("i")
    nvim.until("return vim.api.nvim_get_mode().mode == 't'")
    later.open()
    nvim.wait_for("Run echo second")
    nvim.type("typed on<CR>")
    nvim.until("return vim.fn.getline(2) == 'typed on'")
    nvim.type("<C-\\><C-n>")
    answer(nvim, "Run echo second", "a")
    assert ended(nvim) == "completed"
    nvim.command("bwipeout!")


def test_it_waits_while_the_command_line_window_is_open_and_is_there_after_it(nvim, model):
    gate = model.stop()
    model.script(READ, [gate, use("edit_file", EDIT)], [say("So far.")])
    run(nvim, "mend it")
    gate.reached()
    nvim.type("q:")
    nvim.until("return vim.fn.getcmdwintype() == ':'")
    gate.open()
    nvim.until("return require('agent_lsp.approval.questions').count() == 1")
    nvim.type(":q<CR>")
    nvim.until("return vim.fn.getcmdwintype() == ''")
    answer(nvim, "Edit greeter.py", "d")
    assert ended(nvim) == "completed"
