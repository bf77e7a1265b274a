"""Saving and reloading: as the person would do it, and without a question."""

import pytest
from harness.agent import agent_run, read, replace
from harness.model import use

MINE = "# mine"


# --- saving -----------------------------------------------------------------------------------------------------------


def test_a_clean_buffer_is_saved_with_the_autocommands_of_the_person(editor, model, workspace):
    editor.command("autocmd BufWritePre *.py %s/TODO/DONE/e")
    editor.edit("greeter.py")
    editor.edit("notes.txt")

    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))

    on_disk = (workspace / "greeter.py").read_text()
    assert "Hello" in on_disk and "DONE" in on_disk
    assert not editor.lua("return vim.bo[...].modified", editor.buffer("greeter.py"))
    assert editor.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))") == "notes.txt"


SAVE = """
local name = ...
local answer = vim.lsp.get_clients({ name = "agent_lsp" })[1].handlers["agent/saveDocument"](
  nil, { uri = vim.uri_from_fname(name) }, {})
return answer
"""


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("vim.bo.readonly = true", "E45"),
        ("vim.fn.writefile({ 'other' }, 'greeter.py')", "W12"),
        ("vim.cmd.file('fresh.py') vim.fn.writefile({ 'other' }, 'fresh.py')", "E13"),
        ("vim.cmd([[autocmd BufWritePre <buffer> throw 'formatter']])", "formatter"),
    ],
)
def test_what_cannot_be_saved_is_answered_with_the_error_and_no_question(editor, model, workspace, before, reason):
    editor.edit("greeter.py")
    agent_run(editor, model)
    editor.command("set confirm")
    editor.type("Go" + MINE + "<Esc>")
    editor.until("return vim.bo.modified")
    editor.lua(before)

    answer = editor.lua(SAVE, editor.lua("return vim.api.nvim_buf_get_name(0)"))

    assert answer["saved"] is False and reason in answer["reason"]
    assert not editor.mode["blocking"]
    assert editor.lua("return vim.o.confirm") is True
    editor.wait_for("was not saved")
    editor.take_messages()


# --- reloading --------------------------------------------------------------------------------------------------------


def test_what_commands_change_is_reloaded_if_clean_and_left_and_named_if_not(editor, model, config, workspace):
    model.configure(config, approval_mode="allow-all")
    clean = editor.edit("notes.txt")
    dirty = editor.edit("greeter.py")
    editor.type("Go" + MINE + "<Esc>")
    editor.until("return vim.bo.modified")
    editor.command("AgentChat")
    editor.until("return require('agent_lsp.session').current() ~= nil")
    both = use("exec_command", {"cmd": "sed -i s/line/LINE/ notes.txt; sed -i s/TODO/DONE/ greeter.py"})

    agent_run(editor, model, both)

    editor.until("return vim.api.nvim_buf_get_lines(..., 0, 1, false)[1] == 'LINE 1'", clean)
    assert MINE in editor.text(dirty) and "TODO" in editor.text(dirty)
    editor.wait_for("greeter.py changed on the disk")


def test_a_file_that_a_command_deletes_stays_in_its_buffer(editor, model, config):
    model.configure(config, approval_mode="allow-all")
    buffer = editor.edit("notes.txt")
    agent_run(editor, model, use("exec_command", {"cmd": "rm notes.txt"}))
    editor.until("return vim.fn.filereadable('notes.txt') == 0")
    assert editor.text(buffer).startswith("line 1\n")
