"""Edits of open files: one undo step each, windows stay where they are, and what takes no edits refuses."""

import pytest
from harness.agent import agent_run, ended, outputs, pending, read, replace, run, server_knows
from harness.model import say, use

MINE = "# mine"


# --- undo -------------------------------------------------------------------------------------------------------------


def test_an_edit_in_the_midst_of_typing_is_an_undo_step_of_its_own(editor, model):
    gate = model.stop()
    model.script([read("rows.txt")], [gate, replace("rows.txt", "row 50", "row fifty")], [say("Done.")])
    editor.edit("rows.txt")
    run(editor, "do it")
    gate.reached()
    editor.type("ggO111")
    editor.until("return vim.fn.getline(1) == '111'")
    server_knows(editor)
    gate.open()
    editor.until("return vim.fn.getline(51) == 'row fifty'")
    assert editor.mode["mode"] == "i"
    editor.type("222<Esc>")
    editor.until("return vim.fn.getline(1) == '111222'")
    ended(editor)

    editor.type("u")
    editor.until("return vim.fn.getline(1) == '111' and vim.fn.getline(51) == 'row fifty'")
    editor.type("u")
    editor.until("return vim.fn.getline(1) == '111' and vim.fn.getline(51) == 'row 50'")
    editor.type("u")
    editor.until("return vim.fn.getline(1) == 'row 1' and vim.fn.getline(50) == 'row 50'")
    editor.take_messages()


def test_an_edit_of_a_buffer_with_unsaved_changes_keeps_them_and_saves_nothing(editor, model, workspace):
    editor.edit("greeter.py")
    editor.type("Go" + MINE + "<Esc>")
    editor.until("return vim.bo.modified")

    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))

    text = editor.text(editor.buffer("greeter.py"))
    assert "Hello" in text and MINE in text
    assert "Helo" in (workspace / "greeter.py").read_text()
    assert "not saved" in outputs(model)[-1]
    editor.type("u")
    editor.until("return not table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false)):find('Hello', 1, true)")
    assert MINE in editor.text()
    editor.take_messages()


def test_two_edits_are_two_steps(editor, model):
    editor.edit("rows.txt")
    agent_run(
        editor, model, read("rows.txt"), replace("rows.txt", "row 3\n", "3\n"), replace("rows.txt", "row 5\n", "5\n")
    )
    editor.type("u")
    editor.until("return vim.fn.getline(5) == 'row 5' and vim.fn.getline(3) == '3'")
    editor.type("u")
    editor.until("return vim.fn.getline(3) == 'row 3'")
    editor.take_messages()


# --- windows ----------------------------------------------------------------------------------------------------------


VIEWS = """
return vim.tbl_map(function(win)
  return vim.api.nvim_win_call(win, function()
    return { vim.fn.getline("."), vim.fn.col("."), vim.fn.getline(vim.fn.line("w0")) }
  end)
end, vim.api.nvim_list_wins())
"""


@pytest.fixture
def split(editor):
    """Two windows on one file, at different places."""
    editor.edit("rows.txt")
    editor.type("60Gzt3l")
    editor.command("split")
    editor.type("90Gzb2l")
    editor.until("return vim.fn.line('.') == 90")
    return editor


def test_every_window_stays_on_its_text_through_an_edit_and_its_undo(split, model):
    before = split.lua(VIEWS)
    insert = replace("rows.txt", "row 2\n", "row 2\nnew a\nnew b\n")

    agent_run(split, model, read("rows.txt"), insert, replace("rows.txt", "row 60\n", "row sixty\n"))
    after = split.lua(VIEWS)
    assert [one[:2] for one in after if "9" in one[0]] == [one[:2] for one in before if "9" in one[0]]
    assert after[0][2] == before[0][2]
    assert ["row sixty", 4] in [one[:2] for one in after]

    pending(split, 2)
    split.command("AgentUndo!")
    split.until("return vim.fn.getline(3) == 'row 3'")
    assert split.lua(VIEWS) == before


def test_every_window_stays_on_its_text_through_a_reload(split, model, config):
    before = split.lua(VIEWS)
    model.configure(config, approval_mode="allow-all")
    command = use("exec_command", {"cmd": "sed -i '1i above' rows.txt"})

    agent_run(split, model, command)

    split.until("return vim.fn.getline(1) == 'above'")
    assert split.lua(VIEWS) == before


# --- refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("option", "reason"), [("nomodifiable", "not modifiable"), ("readonly", "read-only")])
def test_a_buffer_that_takes_no_edits_refuses_with_the_reason(editor, model, workspace, option, reason):
    editor.edit("greeter.py")
    editor.command(f"setlocal {option}")

    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))

    assert reason in outputs(model)[-1]
    assert "Helo" in (workspace / "greeter.py").read_text()
    assert "Hello" not in editor.text(editor.buffer("greeter.py"))


APPLY = """
local name, version = ...
local client = vim.lsp.get_clients({ name = "agent_lsp" })[1]
return require("agent_lsp.edits.apply").handle({ edit = { documentChanges = { {
  textDocument = { uri = vim.uri_from_fname(name), version = version },
  edits = { { range = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }, newText = "x" } },
} } } }, { client_id = client.id })
"""


def test_a_file_that_is_listed_but_not_loaded_is_refused_and_stays_so(editor, model, workspace):
    agent_run(editor, model)
    name = str(workspace / "notes.txt")
    editor.lua("vim.fn.bufadd(...)", name)

    answer = editor.lua(APPLY, name)

    assert answer == {"applied": False, "failureReason": "notes.txt: it is not loaded in the editor"}
    assert not editor.lua("return vim.api.nvim_buf_is_loaded(vim.fn.bufnr(...))", name)


def test_an_edit_of_an_older_text_is_refused(editor, model, workspace):
    buffer = editor.edit("notes.txt")
    agent_run(editor, model)
    editor.type("ihello <Esc>")
    editor.until("return vim.lsp.util.buf_versions[...] > 1", buffer)
    version = editor.lua("return vim.lsp.util.buf_versions[...]", buffer)

    answer = editor.lua(APPLY, str(workspace / "notes.txt"), version - 1)

    assert answer["applied"] is False and "changed meanwhile" in answer["failureReason"]


def test_an_unlisted_buffer_stays_unlisted(editor, model):
    buffer = editor.edit("greeter.py")
    editor.command("set nobuflisted")
    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))
    assert "Hello" in editor.text(buffer)
    assert editor.lua("return vim.bo[...].buflisted", buffer) is False


# --- positions --------------------------------------------------------------------------------------------------------

OTHERS = """
for _, encoding in ipairs({ "utf-8", "utf-16" }) do
  vim.lsp.start({
    name = encoding,
    cmd = function()
      return {
        request = function(method, _, callback)
          if method == "initialize" then
            callback(nil, { capabilities = { positionEncoding = encoding, textDocumentSync = 2 } })
          elseif method == "shutdown" then
            callback(nil, vim.NIL)
          end
          return true, 1
        end,
        notify = function() return true end,
        is_closing = function() return false end,
        terminate = function() end,
      }
    end,
  }, { bufnr = 0 })
end
"""


def test_positions_are_right_beside_clients_of_other_encodings(editor, model, workspace):
    (workspace / "odd.txt").write_text("a 😀 and e\u0301 zwei\n日本語 zwei 😀😀\nend\n")
    buffer = editor.edit("odd.txt")
    editor.lua(OTHERS)

    agent_run(
        editor,
        model,
        read("odd.txt"),
        replace("odd.txt", "e\u0301 zwei", "e\u0301 drei 😀"),
        replace("odd.txt", "zwei 😀😀", "vier 😀"),
    )

    expected = "a 😀 and e\u0301 drei 😀\n日本語 vier 😀\nend"
    assert editor.text(buffer) == expected
    assert (workspace / "odd.txt").read_text() == expected + "\n"
    pending(editor, 2)
    editor.command("AgentUndo!")
    pending(editor, 0)
    assert editor.text(buffer) == "a 😀 and e\u0301 zwei\n日本語 zwei 😀😀\nend"


def test_line_ends_of_windows_stay(editor, model, workspace):
    (workspace / "crlf.txt").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    editor.edit("crlf.txt")
    agent_run(editor, model, read("crlf.txt"), replace("crlf.txt", "two", "2"))
    assert (workspace / "crlf.txt").read_bytes() == b"one\r\n2\r\nthree\r\n"


# --- diagnostics ------------------------------------------------------------------------------------------------------


def test_what_other_tools_find_after_an_edit_reaches_the_model(editor, model):
    editor.edit("greeter.py")
    editor.lua("""
    local namespace = vim.api.nvim_create_namespace("linter")
    vim.api.nvim_create_autocmd("BufWritePost", { callback = function(event)
      vim.diagnostic.set(namespace, event.buf, {
        { lnum = 6, col = 4, end_col = 10, message = "this greets nobody", severity = 1, source = "lint" },
      })
    end })
    """)
    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))
    assert "this greets nobody" in outputs(model)[-1]


def test_an_edit_is_announced(editor, model):
    editor.lua("""
    vim.api.nvim_create_autocmd("User", { pattern = "AgentEdit", callback = function(event)
      vim.g.heard = { vim.fs.basename(event.data.uri), event.data.bufnr }
    end })
    """)
    buffer = editor.edit("greeter.py")
    agent_run(editor, model, read("greeter.py"), replace("greeter.py", "Helo", "Hello"))
    assert editor.lua("return vim.g.heard") == ["greeter.py", buffer]
