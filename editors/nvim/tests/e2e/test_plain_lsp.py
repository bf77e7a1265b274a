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
    """By its function, not its key: Neovim leaves what comes unseen while a menu was answered in visual mode."""
    plain.type(":lua vim.lsp.buf.code_action({ range = { start = { 4, 0 }, ['end'] = { 7, 4 } } })<CR>")
    plain.wait_for("Explain with agent", "Document with agent", "Type number")
    plain.type("1<CR>")


def read_up_to(plain, text):
    """Goes on reading messages, of which Neovim shows long ones until a key is pressed, up to one that has the text."""
    screen = plain.wait_for("Press ENTER")
    while text not in screen:
        plain.type("<CR>")
        plain.watch(lambda now, before=screen: now != before, "the message stayed")
        screen = plain.wait_for("Press ENTER")
    plain.type("<CR>")


@pytest.fixture
def edited(plain):
    """After a run that has mended the file, its edit allowed in the usual menu."""
    choose_explain(plain)
    plain.wait_for("Edit greeter.py?", "1: Allow", "3: Deny", "Type number")
    plain.type("1<CR>")
    read_up_to(plain, ANSWER)
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
    plain.wait_for("Edit greeter.py?", "3: Deny", "Type number")
    plain.type("3<CR>")

    read_up_to(plain, "edit greeter.py: denied")

    assert "Helo, {name}" in plain.text(plain.buffer("greeter.py"))
    plain.take_messages()


def test_the_page_of_what_was_used_opens_as_pages_do(plain):
    plain.lua("vim.ui.open = function(path) vim.g.opened = path return vim.system({ 'true' }) end")
    plain.lua("vim.lsp.get_clients({ name = 'agent' })[1]:exec_cmd({ title = 'Usage', command = 'agent.showUsage' })")
    uri = plain.until("return vim.g.opened", within_s=60)
    assert "Nothing was used." in plain.lua("return table.concat(vim.fn.readfile(vim.uri_to_fname(...)))", uri)
