"""The chat against the real server: first use, streaming beside typing, steering, crashes, restored sessions."""

import os
import signal

import pytest
from harness.agent import focus
from harness.model import say, use
from harness.neovim import PLUGIN

CHAT = "agent://session/"
CHILDREN = "return vim.fn.systemlist({ 'pgrep', '-P', tostring(vim.fn.getpid()) })"
LOADED = "return vim.tbl_filter(function(name) return name:find('^agent_lsp') end, vim.tbl_keys(package.loaded))"
STATE = (
    "return { vim.api.nvim_get_current_win(), vim.api.nvim_get_current_tabpage(), vim.api.nvim_get_mode().mode,"
    " vim.fn.getreg('\"'), vim.fn.getreg('/') }"
)


def chat_text(nvim):
    """What the chat holds."""
    return nvim.text(nvim.lua(CHAT_BUFFER))


CHAT_BUFFER = (
    "for _, b in ipairs(vim.api.nvim_list_bufs()) do"
    " if vim.startswith(vim.api.nvim_buf_get_name(b), 'agent://session/') then return b end end"
)


def said_to(model):
    """All texts of the person in the last request."""
    contents = [message["content"] for message in model.asked[-1].messages if message["role"] == "user"]
    return "\n".join(
        one if isinstance(one, str) else "\n".join(part.get("text", "") for part in one) for one in contents
    )


def session_id(nvim):
    return nvim.lua("return require('agent_lsp.session').current().id")


# --- the first use ---


def test_nothing_is_loaded_or_started_before_the_first_command(nvim):
    nvim.edit("greeter.py")

    assert nvim.lua(LOADED) == {} or nvim.lua(LOADED) == []
    assert nvim.lua(CHILDREN) == []


def test_the_plugin_costs_less_than_a_millisecond_at_the_start(nvim):
    """The best of many, since a busy machine only makes it longer."""
    best_ms = nvim.lua(
        """local best = math.huge
        for _ = 1, 50 do
          vim.g.loaded_agent_lsp = nil
          local began = vim.uv.hrtime()
          dofile(...)
          best = math.min(best, (vim.uv.hrtime() - began) / 1e6)
        end
        return best""",
        str(PLUGIN / "plugin/agent_lsp.lua"),
    )

    assert best_ms < 1


def test_the_first_command_works_with_a_range_and_without_setup(nvim, model):
    model.script([say("They are lines.")])
    nvim.edit("notes.txt")

    nvim.type(":2,3Agent what is this?<CR>")

    nvim.wait_for("They are lines.", "what is this?")
    assert "line 2\nline 3" in said_to(model)
    assert "line 4" not in said_to(model)


@pytest.mark.parametrize(
    ("keys", "text"),
    [("wve", "🙂 ünïcödé"), ("V", "a 🙂 ünïcödé b"), ("ww<C-v>jl", "ün\nxx"), ("$vb", "ünïcödé b")],
)
def test_a_visual_selection_is_sent_exactly(nvim, model, workspace, keys, text):
    (workspace / "mixed.txt").write_text("a 🙂 ünïcödé b\nyyyyyxx\n")
    model.script([say("Seen.")])
    nvim.edit("mixed.txt")

    nvim.type(f"gg0{keys}:Agent look<CR>")

    nvim.wait_for("Seen.")
    attached = said_to(model).removesuffix("\nlook").split("]\n", 1)[1]
    assert attached.rstrip("\n") == text


LOADERS = {
    "a runtimepath that is set late": "vim.schedule(function() vim.opt.rtp:append(PLUGIN)"
    " vim.cmd.runtime('plugin/agent_lsp.lua') end)",
    "a package": "vim.opt.packpath:prepend(vim.fn.stdpath('data') .. '/site')",
}


@pytest.mark.parametrize("way", LOADERS)
def test_however_it_is_loaded_the_first_command_works(start, model, home, way):
    link = home / "data/nvim/site/pack/agent/start/agent-lsp"
    if way == "a package":
        link.parent.mkdir(parents=True)
        link.symlink_to(PLUGIN)
    model.script([say("Here I am.")])
    nvim = start(f"local PLUGIN = {str(PLUGIN)!r}\n{LOADERS[way]}\n", plugin=False)

    nvim.until("return vim.fn.exists(':Agent') == 2")
    nvim.type(":Agent hello<CR>")

    nvim.wait_for("Here I am.")


# --- while it streams ---


def test_nothing_is_taken_from_a_person_who_types_elsewhere(nvim, model):
    gate = model.stop()
    model.script([say("First part. "), gate, *[say(f"word {number} ") for number in range(300)], say("\n\nThe end.")])
    nvim.edit("notes.txt")
    nvim.type(":Agent tell<CR>")
    nvim.wait_for("First part.")
    nvim.type("ggO")
    nvim.wait_for("INSERT")
    before = nvim.lua(STATE)

    gate.open()
    nvim.type("typed while it came")

    nvim.wait_for("The end.", "typed while it came")
    assert nvim.lua(STATE) == before
    assert nvim.text(nvim.buffer("notes.txt")).startswith("typed while it came\nline 1\n")
    nvim.type("<Esc>:set nomodified<CR>")


def test_enter_steers_while_a_task_runs_and_the_word_is_delivered(nvim, model, workspace):
    gate = model.stop()
    model.script([gate, use("read_file", {"file_path": "greeter.py"})], [say("As you say.")])
    nvim.type(":AgentChat<CR>")
    nvim.wait_for("○")
    nvim.type("iwork<CR>")
    gate.reached()

    nvim.type("only the parser<CR>")
    nvim.wait_for("pending: only the parser")
    gate.open()

    nvim.wait_for("As you say.", "delivered: only the parser", "You, meanwhile")
    assert nvim.mode["mode"] == "i"
    assert "only the parser" in said_to(model)
    nvim.type("<Esc>")


def test_an_abort_ends_the_task_and_the_next_one_works(nvim, model):
    model.script([say("Going on "), model.stop()], [say("Again.")])
    nvim.type(":Agent work<CR>")
    nvim.wait_for("Going on")

    nvim.type(":AgentAbort<CR>")
    nvim.wait_for("> stopped")
    nvim.type(":Agent once more<CR>")

    nvim.wait_for("Again.")


def test_a_wait_for_the_next_attempt_is_shown_and_goes(nvim, model, config):
    from harness.model import refuse

    config.write_text(config.read_text() + "\n[reconnect]\nbase_ms = 1500\n")
    model.script(refuse(503, "overloaded"), [say("At last.")])

    nvim.type(":Agent work<CR>")

    nvim.wait_for("overloaded", "attempt")
    nvim.wait_for("At last.")
    nvim.wait_gone("overloaded")


def test_a_mention_is_completed_as_it_is_typed_and_enter_takes_what_was_chosen(nvim, model):
    model.script([say("Read.")])
    nvim.type(":AgentChat<CR>")
    nvim.wait_for("○")

    nvim.type("iread @gre")
    nvim.wait_for("@greeter.py")
    nvim.type("<C-n>")
    nvim.wait_for("read @greeter.py")
    nvim.type("<CR><CR>")

    nvim.wait_for("Read.")
    assert "[attached file: greeter.py]" in said_to(model)
    nvim.type("<Esc>")


def test_a_prompt_that_was_read_again_still_completes_and_has_its_draft(nvim, model):
    nvim.type(":AgentChat<CR>")
    nvim.wait_for("○")
    nvim.type("ihalf<Esc>")

    for command in ("edit", "bdelete | AgentChat | AgentChat", "bwipeout! | AgentChat | AgentChat"):
        nvim.type(f":{command}<CR>")
        nvim.until("return vim.endswith(vim.fn.bufname(), ...)", session_id(nvim))
        nvim.wait_for("half")
        nvim.type("A @gre")
        nvim.wait_for("@greeter.py")
        nvim.type("<C-e><C-w><C-w><Esc>")
        nvim.until("return vim.api.nvim_get_mode().mode == 'n'")


# --- a chat is a buffer ---


def test_what_was_folded_can_be_opened_and_what_was_said_searched(start, model):
    nvim = start("require('agent_lsp').setup({ settings = { approvalMode = 'allow-all' } })")
    model.script([use("exec_command", {"cmd": "seq 3000 3040"})], [say("Counted.")])
    nvim.type(":Agent count<CR>")
    nvim.wait_for("Counted.")
    assert "3001" not in nvim.screen

    nvim.type("<C-w>l/seq 30<CR>zo")

    nvim.wait_for("3001")


def test_a_second_tabpage_and_edit_show_the_same_chat(nvim, model):
    model.script([say("Remember this.")])
    nvim.type(":Agent note<CR>")
    nvim.wait_for("Remember this.")
    text = chat_text(nvim)

    nvim.type(f":tabnew<CR>:edit {CHAT}{session_id(nvim)}<CR>")
    nvim.wait_for("Remember this.")
    nvim.type(":edit<CR>")
    nvim.wait_for("Remember this.")

    assert nvim.text() == text
    assert len(nvim.lua("return vim.fn.win_findbuf(vim.api.nvim_get_current_buf())")) == 2


def test_a_restored_session_shows_the_chat_again(start, home, model, tmp_path):
    model.script([say("Remember this.")])
    first = start()
    first.type(":Agent note<CR>")
    first.wait_for("Remember this.")
    first.command(f"mksession {tmp_path}/session.vim")
    first.quit()

    second = start(arguments=["-S", f"{tmp_path}/session.vim"], variables=kept(home))

    second.wait_for("note", "Remember this.")
    told = second.take_messages().splitlines()  # what Neovim itself says of each `:file` in a session file
    assert all(line.startswith('"agent://') for line in told), told


def kept(home):
    """What a second Neovim needs to find the configuration and the sessions of the first."""
    return {"AGENT_LSP_DATA_DIR": str(home / "data/agent-lsp"), "XDG_CONFIG_HOME": str(home / "config")}


def test_a_chat_of_another_neovim_is_read_from_the_disk(start, home, model):
    model.script([say("Kept on the disk.")], [say("And goes on.")])
    first = start()
    first.type(":Agent note<CR>")
    first.wait_for("Kept on the disk.")
    name = CHAT + session_id(first)
    first.quit()

    second = start(
        variables={"AGENT_LSP_DATA_DIR": str(home / "data/agent-lsp"), "XDG_CONFIG_HOME": str(home / "config")}
    )
    second.type(f":edit {name}<CR>")
    second.wait_for("note", "Kept on the disk.")
    second.type("i")
    second.wait_for("○")
    second.type("ion<CR>")

    second.wait_for("And goes on.")
    second.type("<Esc>")


def test_quit_in_the_last_ordinary_window_quits(nvim, model):
    model.script([say("Done.")])
    nvim.type(":AgentChat<CR>")
    nvim.wait_for("○")
    nvim.type("<C-w>h")

    nvim.type(":quit<CR>")

    nvim.process.wait(5)


def test_a_refused_quit_leaves_everything_as_it_was(nvim, model):
    nvim.edit("notes.txt")
    nvim.type(":AgentChat<CR>")
    nvim.wait_for("○")
    nvim.type("<C-w>hix<Esc>")

    nvim.type(":quit<CR>")

    nvim.wait_for("E37", "○")
    nvim.type(":set nomodified<CR>:echo<CR>")
    nvim.take_messages()


def test_a_draft_survives_quitting_by_force(start, home, model):
    first = start()
    first.type(":AgentChat<CR>")
    first.wait_for("○")
    first.type("ihalf a thought")
    first.wait_for("half a thought")
    name = session_id(first)
    first.quit()

    files = list((first.home / "state/nvim/agent_lsp/drafts").glob("*.json"))

    assert [file.stem for file in files] == [name]
    assert "half a thought" in files[0].read_text()


# --- the server's end ---


def test_after_a_crash_the_next_command_goes_on_with_nothing_lost_or_twice(nvim, model):
    model.script([say("First, whole.")], [say("Second, cut "), model.stop()], [say("Third, after it.")])
    nvim.type(":Agent one<CR>")
    nvim.wait_for("First, whole.")
    nvim.type(":Agent two<CR>")
    nvim.wait_for("Second, cut")

    for pid in nvim.lua(CHILDREN):
        os.kill(int(pid), signal.SIGKILL)
    nvim.wait_for("the server has ended (signal 9)")
    said = nvim.take_messages()
    nvim.type(":Agent three<CR>")
    nvim.wait_for("Third, after it.")

    assert said.count("\n") == 0
    text = chat_text(nvim)
    for words in ("one", "First, whole.", "two", "Second, cut", "three", "Third, after it."):
        assert text.count(words) == 1, text
    assert "two" in said_to(model)


def test_quitting_while_a_task_runs_takes_less_than_a_second_and_leaves_nothing(nvim, model):
    model.script([use("exec_command", {"cmd": "sleep 600"})])
    nvim.type(":Agent wait<CR>")
    nvim.wait_for("sleep 600")
    focus(nvim)
    nvim.type("a")
    nvim.until("return require('agent_lsp.session').current().state.state == 'running'")

    assert nvim.quit() < 1.5


def test_a_server_that_is_not_there_is_said_in_one_line(start, model):
    nvim = start("require('agent_lsp').setup({ cmd = { '/nowhere/agent-lsp' } })")

    nvim.type(":Agent hello<CR>")

    nvim.wait_for("/nowhere/agent-lsp was not found")
    assert nvim.take_messages().count("\n") == 0


@pytest.mark.parametrize("program", [["sleep", "600"], ["cat"], ["false"]], ids=" ".join)
def test_a_program_that_is_no_server_is_said_in_one_line(start, model, program):
    command = ", ".join(map(repr, program))
    nvim = start(f"require('agent_lsp').setup({{ cmd = {{ {command} }} }})")
    nvim.lua("require('agent_lsp.client').start_ms = 300")

    nvim.type(":Agent hello<CR>")

    nvim.wait_for("agent-lsp: ", ":checkhealth agent_lsp" if program[0] != "cat" else "")
    assert nvim.take_messages().count("\n") == 0


def test_a_wrong_setting_of_the_server_is_said_in_one_line(start, model):
    nvim = start("require('agent_lsp').setup({ settings = { approvalMode = 'yolo' } })")

    nvim.type(":Agent hello<CR>")

    nvim.wait_for("approvalMode")
    assert nvim.take_messages().count("\n") == 0
