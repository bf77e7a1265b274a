"""Pages of a session and of what was used: made by the server, opened by whatever opens pages here."""

import stat
from pathlib import Path

from harness.agent import ended, run
from harness.model import say

WITHIN_S = 60  # a process of its own makes the page
OPENS = "vim.ui.open = function(path) vim.g.opened = path end\n"
OPENS_NOTHING = "vim.ui.open = function() return nil, 'nobody opens pages here' end\n"


def done(nvim, model):
    model.script([say("Pages are fine.")])
    run(nvim, "say something of pages")
    assert ended(nvim) == "completed"


def opened(nvim, command):
    nvim.command(command)
    path = Path(nvim.until("return vim.g.opened", within_s=WITHIN_S))
    nvim.lua("vim.g.opened = nil")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    return path.read_text()


def test_a_page_of_the_session_opens_with_what_was_said_by_now(start, model):
    nvim = start(OPENS)
    done(nvim, model)
    page = opened(nvim, "AgentTrace")
    assert page.startswith("<!doctype html>")
    assert "say something of pages" in page
    assert "Pages are fine." in page


def test_the_page_of_what_was_used_needs_no_session(start, model):
    nvim = start(OPENS)
    assert "Nothing was used." in opened(nvim, "AgentUsage")
    done(nvim, model)
    assert "By model" in opened(nvim, "AgentUsage")


def test_where_nothing_opens_pages_the_whole_path_is_on_the_screen(start, model):
    nvim = start(OPENS_NOTHING, size=(200, 30))
    done(nvim, model)
    nvim.command("AgentTrace")
    screen = nvim.wait_for("nobody opens pages here", ".html", within_s=WITHIN_S)
    (line,) = (line for line in screen.splitlines() if ".html" in line)
    assert Path(line.strip("│ ~")).is_file()
    assert nvim.lua("return vim.api.nvim_get_mode().blocking") is False


def test_without_a_session_it_says_how_to_get_one(nvim):
    nvim.command("AgentTrace")
    nvim.wait_for("there is no session yet")
    nvim.take_messages()


def test_a_session_that_has_said_nothing_has_no_page_yet(start, model):
    nvim = start(OPENS)
    nvim.command("AgentNew")
    nvim.until("return require('agent_lsp.session').current() ~= nil")
    nvim.command("AgentTrace")
    nvim.wait_for("nothing was said in this session yet")
    nvim.take_messages()
