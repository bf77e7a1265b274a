"""A session that has gone on for long: its end at once, all that is before it when somebody wants it."""

import pytest
from harness.agent import ended, run
from harness.model import say, think, use
from harness.past import lengthen

ASKED = """
asked = {}
local client = require("agent_lsp.client")
local request = client.request
client.request = function(method, params, callback)
  table.insert(asked, { method = method, limit = params.limit, from_end = params.fromEnd })
  request(method, params, function(...)
    table.insert(asked, { method = method, answered = true })
    callback(...)
  end)
end
"""


def kept(home):
    """What a second Neovim needs to find the configuration and the sessions of the first."""
    return {"AGENT_LSP_DATA_DIR": str(home / "data/agent-lsp"), "XDG_CONFIG_HOME": str(home / "config")}


@pytest.fixture
def long_session(start, home, model, config):
    """Thirty thousand messages on the disk, and a Neovim that has seen none of them; its id and how many they are."""
    model.configure(config, approval_mode="allow-all")
    model.script(
        [think("Hm.\nLet me see.\n"), use("read_file", {"file_path": "notes.txt"})],
        [use("exec_command", {"cmd": "seq 20"})],
        [say("**Read**\n\nIt has lines.\n")],
    )
    first = start()
    run(first, "read it")
    assert ended(first) == "completed"
    first.quit()
    return lengthen(home / "data", 1600)


@pytest.fixture
def second(start, home, long_session):
    return start(variables=kept(home))


def test_the_end_of_a_long_session_is_there_before_the_session_is_open(second, long_session):
    id, count = long_session
    assert count > 30_000
    second.lua(ASKED)

    second.type(f":AgentChat {id}<CR>")

    second.wait_for("read it number 1599", "It has lines.")
    second.until("return require('agent_lsp.session').current().epoch > 0")
    asked = second.lua("return asked")
    assert asked[0] == {"method": "agent/session/history", "limit": 200, "from_end": True}
    assert asked[1]["method"] == "agent/session/history" and asked[1]["answered"]
    assert [one["method"] for one in asked if not one.get("answered")].count("agent/session/resume") == 1


def test_what_was_said_earlier_comes_with_scrolling_and_the_next_task_goes_on_below(second, long_session, model):
    id, _ = long_session
    model.script([say("Gone on.")])
    second.type(f":AgentChat {id}<CR>")
    second.wait_for("number 1599")
    second.until("return require('agent_lsp.session').current().epoch > 0")
    second.type("<C-w>kgg")
    second.wait_for("number 1590")
    top = second.lua("return vim.fn.getline('.')")

    second.until("return vim.fn.line('.') > 1")
    assert second.lua("return vim.fn.getline('.')") == top
    second.type("<C-b>")
    second.wait_for("number 1588")
    second.type("i")
    second.until("return vim.bo.filetype == 'agent_prompt'")
    second.type("igo on<CR><Esc>")
    second.type("<C-w>kG")

    second.wait_for("Gone on.", "go on")


def test_a_selection_that_is_being_made_stays_on_its_text_when_an_earlier_page_comes(second, long_session):
    id, _ = long_session
    second.type(f":AgentChat {id}<CR>")
    second.wait_for("number 1599")
    second.until("return require('agent_lsp.session').current().epoch > 0")
    second.type("<C-w>k:call search('It has', 'b')<CR>wvj")
    second.until("return vim.fn.mode() == 'v'")
    taken = "return vim.fn.getregion(vim.fn.getpos('v'), vim.fn.getpos('.'), { type = vim.fn.mode() })"
    before, line = second.lua(taken), second.lua("return vim.fn.line('v')")
    assert len(before) == 2

    second.lua("require('agent_lsp.session').current():read_earlier({})")

    second.until("return vim.fn.line('v') > ...", line)
    assert second.lua(taken) == before
    assert second.lua("return vim.fn.mode()") == "v"
    second.type("<Esc>")


def test_one_key_reads_everything_for_a_search(second, long_session):
    id, _ = long_session
    second.type(f":AgentChat {id}<CR>")
    second.wait_for("number 1599")
    second.type("<C-w>k")
    assert second.lua("return vim.fn.search('number 7$', 'w')") == 0

    second.type("g<lt>")

    second.until("return require('agent_lsp.session').current().earlier == nil", within_s=60)
    second.type("/number 7$<CR>")
    second.wait_for("number 7")
    prompts = [line for line in second.text().splitlines() if line.startswith("read it")]
    assert prompts == [f"read it number {number}" for number in range(1600)]
    second.type(":AgentEarlier<CR>")
    second.wait_for("the chat has everything")
    second.take_messages()


def test_what_an_ended_subagent_said_is_there_after_a_reload_folded_into_its_line(start, home, model, config):
    model.configure(config, approval_mode="allow-all")
    model.script(
        [use("run_subagent", {"name": "scout", "prompt": "look around"})],
        [think("Whither?\nThither."), use("read_file", {"file_path": "notes.txt"})],
        [say("I have looked around.")],
        [say("It has reported.")],
    )
    first = start()
    run(first, "send a scout")
    assert ended(first) == "completed"
    id = first.lua("return vim.g.session")
    first.quit()
    second = start(variables=kept(home))

    second.type(f":AgentChat {id}<CR>")
    screen = second.wait_for("It has reported.", "> subagent 71 lines agent://")
    assert "Thither" not in screen and screen.count("I have looked around") <= 1
    second.type("<C-w>k:call search('^> subagent')<CR>zo")

    screen = second.wait_for("I have looked around.", "subagent ", "read_file notes.txt", "thought Whither?")
    assert "line 7" not in screen
    second.type(":call search('Whither')<CR>zo")
    second.wait_for("Thither.")
