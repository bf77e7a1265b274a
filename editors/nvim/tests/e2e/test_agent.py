"""What a person lives through: the first run, a stream beside their typing, windows that come and go."""

import time

import pytest
from harness import leftovers
from harness.agent import answer, ended, focus, run
from harness.model import Flood, say, think, use

EDIT = {"file_path": "greeter.py", "old_string": "Helo", "new_string": "Hello"}
READ = [use("read_file", {"file_path": "greeter.py"})]
LENSES = """
if vim.lsp.codelens.enable then -- from 0.12 on
  vim.lsp.codelens.enable(true, { bufnr = 0 })
else
  vim.lsp.codelens.refresh({ bufnr = 0 })
end
"""
KEYMAPS = """
local maps = {}
for _, mode in ipairs({ "n", "x", "s", "o", "i", "c", "t", "l" }) do
  for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
    if not vim.startswith(map.lhs, "<Plug>") then
      maps[#maps + 1] = mode .. map.lhs .. (map.rhs or "")
    end
  end
end
table.sort(maps)
return maps
"""
STATE = """
return {
  vim.api.nvim_get_current_win(), vim.api.nvim_get_current_tabpage(), vim.api.nvim_get_mode().mode,
  vim.fn.getreg('"'), vim.fn.getreg("/"), vim.fn.winsaveview(),
}
"""
CHAT_TEXT = """
for _, buf in ipairs(vim.api.nvim_list_bufs()) do
  if vim.startswith(vim.api.nvim_buf_get_name(buf), "agent://session/") then
    return table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\\n")
  end
end
"""


def idle(nvim):
    nvim.until("local s = require('agent_lsp.session').current() return s and not s:is_busy() and not s.run_id")


def chat(nvim):
    return nvim.lua(CHAT_TEXT) or ""


def server_pid(nvim):
    [pid] = [pid for pid, words in leftovers.alive(nvim.mark).items() if "agent-lsp" in words]
    return pid


# --- first contact ----------------------------------------------------------------------------------------------------


def test_the_first_run_works_with_nothing_set_and_no_question_but_those_of_the_agent(start, rehearsal, workspace):
    nvim = start()
    nvim.edit("greeter.py")
    assert list(leftovers.alive(nvim.mark)) == [nvim.process.pid]

    nvim.type(":Agent fix greeter.py<CR>")

    nvim.wait_for("fix greeter.py", "Edit greeter.py", "read_file greeter.py")
    assert nvim.lua("return vim.fs.basename(vim.api.nvim_buf_get_name(0))") == "greeter.py"
    answer(nvim, "Edit greeter.py", "a")
    nvim.wait_for("This is what I did")
    idle(nvim)
    assert "Hello, {name}" in (workspace / "greeter.py").read_text()
    assert "Hello, {name}" in nvim.text()


def test_an_enabled_server_and_the_commands_share_one_process(start, model):
    model.script([say("I see.")])
    nvim = start("vim.lsp.enable('agent_lsp')")
    nvim.edit("notes.txt")
    nvim.until("local c = vim.lsp.get_clients({ name = 'agent_lsp' })[1] return c and c.initialized")
    nvim.type(":Agent hello<CR>")
    nvim.wait_for("I see.")
    assert nvim.lua("return #vim.lsp.get_clients({ name = 'agent_lsp' })") == 1


@pytest.fixture
def choosing(start, model):
    """A Neovim whose person takes the choice in `vim.g.choice` of every menu."""
    nvim = start("""
    vim.ui.select = function(items, options, done)
      local label = options.format_item or tostring
      for _, item in ipairs(items) do
        if label(item):find(vim.g.choice, 1, true) then
          return done(item)
        end
      end
      vim.g.offered = vim.tbl_map(label, items)
    end
    vim.lsp.enable("agent_lsp")
    """)
    nvim.edit("greeter.py")
    nvim.until("local c = vim.lsp.get_clients({ name = 'agent_lsp' })[1] return c and c.initialized")
    return nvim


def test_an_action_on_a_selection_runs_in_the_chat(choosing, model):
    model.script([say("It greets.")])
    choosing.lua("vim.g.choice = 'Explain with agent'")
    choosing.type("4GV3jgra<Esc>")
    choosing.wait_for("It greets.", "Explain what")
    assert "def greeting" in model.asked[0].words


def test_what_another_tool_has_found_can_be_fixed_from_its_line(choosing, model):
    model.script([say("Mended.")])
    choosing.lua("""
    vim.g.choice = "Fix with agent"
    local found = { lnum = 6, col = 4, message = "Helo is no word" }
    vim.diagnostic.set(vim.api.nvim_create_namespace("spelling"), 0, { found })
    """)
    choosing.type("7Ggra")
    choosing.wait_for("Mended.")
    assert "Helo is no word" in model.asked[0].words


def test_lenses_keep_an_edit_or_take_it_back(choosing, model):
    model.script(READ, [use("edit_file", EDIT)], [say("Mended.")])
    run(choosing, "mend it")
    answer(choosing, "Edit greeter.py", "a")
    assert ended(choosing) == "completed"
    choosing.until("return vim.fn.getline(7):find('Hello', 1, true)")
    choosing.lua(LENSES)
    choosing.wait_for("Keep", "Undo", "Show diff")

    choosing.type("7G")
    choosing.lua("vim.g.choice = 'Show diff' vim.lsp.codelens.run()")
    choosing.wait_for('-    return f"Helo', '+    return f"Hello')
    choosing.lua("vim.g.choice = 'Undo' vim.lsp.codelens.run()")

    choosing.until("return vim.fn.getline(7):find('Helo', 1, true)")


def test_no_key_is_mapped_outside_its_own_buffers(start, model):
    model.script([say("I see.")])
    nvim = start()
    before = nvim.lua(KEYMAPS)
    nvim.lua("require('agent_lsp').setup({})")
    nvim.type(":Agent hello<CR>")
    nvim.wait_for("I see.")
    idle(nvim)
    assert nvim.lua(KEYMAPS) == before


# --- streaming --------------------------------------------------------------------------------------------------------


def test_typing_elsewhere_goes_on_while_a_reply_streams(start, model):
    gate = model.stop()
    model.script([say("Begun. "), gate, Flood("word and another one, so that lines grow.\n", 4000), say("The end.")])
    nvim = start()
    nvim.edit("notes.txt")
    nvim.type(":Agent write a lot<CR>")
    nvim.wait_for("Begun.")
    nvim.type("Go")
    nvim.until("return vim.api.nvim_get_mode().mode == 'i'")
    before = nvim.lua(STATE)
    gate.open()
    slowest = 0.0
    typed = ""
    for letter in "typing goes on while it streams":
        typed += letter
        began = time.monotonic()
        nvim.type("<Space>" if letter == " " else letter)
        nvim.watch(lambda screen: typed.rstrip() in screen, "the key did not show")  # noqa: B023
        slowest = max(slowest, time.monotonic() - began)
    nvim.wait_for("The end.", within_s=40)
    after = nvim.lua(STATE)
    assert slowest < 0.5
    assert after[:5] == before[:5]
    assert nvim.lua("return vim.fn.getline('.')") == typed
    assert chat(nvim).count("word and another one") == 4000
    nvim.type("<Esc>:e!<CR>")
    idle(nvim)


def test_a_window_that_is_not_at_the_end_stays_where_it_is(start, model):
    gate = model.stop()
    model.script([say("".join(f"row {number}\n\n" for number in range(60))), gate, say("more\n\n" * 40)])
    nvim = start()
    nvim.type(":AgentChat<CR>")
    nvim.until("return require('agent_lsp.session').current() ~= nil")
    nvim.type("<Esc>:Agent write<CR>")
    nvim.wait_for("row 59")
    nvim.lua("""
    for _, win in ipairs(vim.api.nvim_list_wins()) do
      if vim.startswith(vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(win)), "agent://session/") then
        vim.g.chat = win
        vim.api.nvim_win_set_cursor(win, { 10, 0 })
      end
    end
    """)
    look = "return vim.api.nvim_win_call(vim.g.chat, vim.fn.winsaveview)"
    nvim.wait_for("row 2")
    before = nvim.lua(look)
    gate.open()
    idle(nvim)
    assert nvim.lua(look) == before


# --- windows ----------------------------------------------------------------------------------------------------------

RANDOM = """
local seed, seconds = ...
math.randomseed(seed)
local acts = {
  "vsplit", "split", "tabnew", "tabclose", "close", "enew", "bnext", "only", "resize 5", "vertical resize 30", "new",
  "colorscheme habamax", "colorscheme default", "AgentChat", "AgentApproval", "sbuffer notes.txt", "bwipeout",
  "wincmd w", "wincmd =", "set columns=70", "set columns=100", "edit notes.txt", "edit", "buffer #", "stopinsert",
  "wincmd H", "wincmd J",
}
-- none that answers a question, sends a prompt, or is wrong in some buffer
local keys = {
  "j", "k", "gg", "G", "<C-u>", "<C-f>", "<C-b>", "<C-e>", "<C-y>", "zt", "zb", "zR", "zM", "zj", "{", "}",
  "v", "V", "<Esc>", "<Esc>", "<C-Bslash><C-n>", "q:", ":",
}
vim.o.report = 9999
local resting = 0
vim.g.chaos = 0
local deadline = vim.uv.now() + seconds * 1000
local timer = vim.uv.new_timer()
timer:start(10, 15, vim.schedule_wrap(function()
  if vim.uv.now() > deadline then
    if not timer:is_closing() then
      timer:close()
      vim.g.chaos = -vim.g.chaos
    end
    return
  end
  vim.g.chaos = vim.g.chaos + 1
  resting = vim.fn.getcmdwintype() ~= "" and 5 or resting - 1 -- most keys are wrong in the command-line window
  if math.random(3) == 1 and resting < 0 then
    local key = keys[math.random(#keys)]
    resting = key == "q:" and 20 or 0
    vim.api.nvim_input(key)
  else
    pcall(vim.cmd, "silent! " .. acts[math.random(#acts)])
  end
  vim.v.errmsg = ""
end))
"""


ACTS_PER_GATE = 60
NO_ROOM_FOR_ITS_WINDOW = "E36: Not enough room"  # what Vim says to `q:` in a window of two lines


@pytest.mark.parametrize(("seed", "seconds"), [(1, 60), (2, 10)])
def test_windows_may_be_closed_at_random_while_it_streams_and_asks(start, model, seed, seconds):
    gates = [model.stop() for _ in range(seconds)]
    flood = [part for gate in gates for part in (Flood("word after word in a line.\n", 300), gate)]
    model.script([think("Hm."), *flood], [use("exec_command", {"cmd": "echo asked"})], [say("After.")])
    nvim = start("vim.o.hidden = true")
    nvim.edit("notes.txt")
    nvim.type(":Agent write<CR>")
    nvim.wait_for("word after word")
    nvim.lua("require('agent_lsp.session').new({}, function(_, s) s:run('ask', function() vim.g.asked = 1 end) end)")
    nvim.until("return require('agent_lsp.approval.questions').count() == 1")
    size = nvim.lua("return vim.uv.resident_set_memory()")

    nvim.lua(RANDOM, seed, seconds)

    for number, gate in enumerate(gates):
        nvim.until("return vim.g.chaos < 0 or vim.g.chaos > ...", number * ACTS_PER_GATE, within_s=60)
        gate.open()
    nvim.until("return vim.g.chaos < 0", within_s=90)
    nvim.type("<C-Bslash><C-n><C-Bslash><C-n>")
    nvim.until("return vim.api.nvim_get_mode().mode == 'n'")
    nvim.command("if getcmdwintype() != '' | quit | endif")
    nvim.command("silent! stopinsert | silent! tabonly | silent! only | redraw!")
    focus(nvim)
    nvim.wait_for("echo asked")
    nvim.type("a")
    nvim.until("return vim.g.asked")
    idle(nvim)
    grown = nvim.lua("return vim.uv.resident_set_memory()") - size
    log = nvim.home / "state/nvim/agent_lsp.log"
    assert not set(nvim.take_messages().splitlines()) - {NO_ROOM_FOR_ITS_WINDOW}
    assert not log.exists() or "ERROR" not in log.read_text(), log.read_text()[-3000:]
    assert grown < 50 * 2**20
