"""Without the plugin: what Neovim's own client and its usual keys give."""

import pytest

INIT = """
vim.o.cmdheight = 2
vim.lsp.config("agent", { cmd = { "agent-lsp" }, filetypes = { "python" }, root_markers = { ".git" } })
vim.lsp.enable("agent")
"""
ANSWER = "This is what I did:"


@pytest.fixture
def plain(start, rehearsal):
    editor = start(INIT, plugin=False)
    editor.edit("greeter.py")
    editor.until("local c = vim.lsp.get_clients({ name = 'agent' })[1] return c and c.initialized")
    return editor


def choose_explain(plain):
    """Neovim shows nothing more while it is left in visual mode, so the selection is ended."""
    plain.type("4GV3jgra")
    plain.wait_for("Explain with agent", "Document with agent")
    plain.type("1<CR>")
    plain.until("return vim.api.nvim_get_mode().mode == 'V'")
    plain.type("<Esc>")


@pytest.fixture
def edited(plain):
    """After a run that has mended the file, its edit allowed in the usual menu."""
    choose_explain(plain)
    plain.wait_for("Edit greeter.py?", "1: Allow", "3: Deny")
    plain.type("1<CR>")
    plain.wait_for(ANSWER, "Press ENTER")
    plain.type("<CR>")
    return plain


def test_a_code_action_runs_the_agent_and_its_edit_is_one_undo_step_of_the_buffer(edited, workspace):
    assert "Hello, {name}" in edited.text()
    assert "Helo, {name}" in (workspace / "greeter.py").read_text()

    edited.type("<Esc>u")

    edited.until("return vim.fn.getline(7):find('Helo', 1, true)")
    edited.take_messages()


def test_a_code_lens_on_the_edit_takes_it_back(edited):
    edited.command("buffer greeter.py")
    edited.lua("vim.lsp.codelens.refresh({ bufnr = 0 })")
    edited.wait_for("Keep", "Undo", "Show diff")

    edited.type("7G")
    edited.lua("vim.schedule(vim.lsp.codelens.run)")
    edited.wait_for("Undo", "Type number")
    edited.type("2<CR>")

    edited.until("return vim.fn.getline(7):find('Helo', 1, true)")
    edited.take_messages()


def test_what_is_denied_in_the_menu_is_not_done(plain, workspace):
    choose_explain(plain)
    plain.wait_for("Edit greeter.py?", "3: Deny")
    plain.type("3<CR>")

    plain.wait_for("edit greeter.py: denied", "Press ENTER")
    plain.type("<CR>")

    assert "Helo, {name}" in plain.text(plain.buffer("greeter.py"))
    plain.take_messages()
