"""What tests do with the agent: start runs, answer on purpose, wait for ends."""

import time

from harness.model import say, use

RUN = """
local prompt = ...
local sessions = require("agent_lsp.session")
vim.g.ended = nil
sessions.ready(function(err, session)
  assert(session, err and err.message)
  vim.g.session = session.id
  session:run(prompt, function(problem, result)
    vim.g.ended = result and result.status or problem.message
  end)
end)
"""
GUARD_S = 0.3


def run(nvim, prompt):
    """Starts a run; `ended` tells how it went."""
    nvim.lua(RUN, prompt)


def ended(nvim):
    """Waits for the end of the run; its status."""
    return nvim.until("return vim.g.ended")


def focus(nvim):
    """Enters the next question as a person does, and looks at it for as long as it takes until keys count."""
    nvim.command("AgentApproval")
    entered = time.monotonic()
    nvim.until("return vim.api.nvim_win_get_config(0).relative ~= ''")
    while time.monotonic() < entered + GUARD_S + 0.02:
        time.sleep(0.01)


def answer(nvim, text, keys):
    """Waits for a question on the screen and answers it with keys."""
    nvim.until("return require('agent_lsp.approval.questions').count() > 0")
    nvim.wait_for(text)
    focus(nvim)
    nvim.type(keys)


def read(name):
    """A call that reads a file."""
    return use("read_file", {"file_path": name})


def replace(name, old, new):
    """A call that edits a file."""
    return use("edit_file", {"file_path": name, "old_string": old, "new_string": new})


def outputs(model):
    """What tools have said to the model, as its last request has it."""
    return [message["content"] for message in model.asked[-1].messages if message["role"] == "tool"]


def agent_run(editor, model, *calls, prompt="do it"):
    """A run that makes these calls, one a turn, and ends."""
    model.script(*[[call] for call in calls], [say("Done.")])
    run(editor, prompt)
    assert ended(editor) == "completed"


def server_knows(editor):
    """Waits until the server has the present texts: a request takes them along."""
    editor.lua(
        "vim.g.told = nil; require('agent_lsp.client').request('agent/models', {}, function() vim.g.told = 1 end)"
    )
    editor.until("return vim.g.told")


def pending(editor, count):
    """Waits until so many edits wait to be kept or undone."""
    editor.until("return #require('agent_lsp.edits.list').pending() == ...", count)
