""":checkhealth agent_lsp: says what is wrong, and what to do, before anything was set up or started."""

import pytest
from harness.agent import answer
from harness.model import say, think, use


def report(nvim):
    nvim.command("checkhealth agent_lsp")
    nvim.until("return vim.bo.filetype == 'checkhealth' and vim.api.nvim_buf_line_count(0) > 5")
    text = nvim.text()
    nvim.take_messages()
    return text


def test_all_is_well_without_setup_and_nothing_was_started(start, model):
    nvim = start()
    nvim.edit("greeter.py")
    said = report(nvim)
    assert "ERROR" not in said and "WARN" not in said
    assert "agent-lsp 0." in said and "chat/big" in said and "a project" in said
    assert nvim.lua("return #vim.lsp.get_clients()") == 0


def test_a_program_that_is_not_there_is_an_error_with_a_remedy(start):
    said = report(start("require('agent_lsp').setup({ cmd = { 'agent-lsp-nowhere' } })"))
    assert "agent-lsp-nowhere was not found" in said and "pipx install ." in said


@pytest.mark.parametrize("program", ["/bin/true", "/bin/false"])
def test_another_program_is_no_agent_lsp(start, program):
    said = report(start(f"require('agent_lsp').setup({{ cmd = {{ '{program}' }} }})"))
    assert f"{program} is no agent-lsp that works" in said


def test_an_old_one_is_too_old(start, tmp_path):
    old = tmp_path / "agent-lsp"
    old.write_text("#!/bin/sh\necho agent-lsp 0.0.1\n")
    old.chmod(0o755)
    said = report(start(f"require('agent_lsp').setup({{ cmd = {{ '{old}' }} }})"))
    assert "agent-lsp 0.0.1 is older than" in said and "pipx upgrade" in said


def test_where_only_the_rehearsal_is_left_it_says_how_to_get_a_model(start):
    said = report(start())
    assert "only goes through the motions" in said and "agent-lsp login" in said


def test_a_model_that_cannot_be_used_is_named(start, config):
    config.parent.mkdir(parents=True)
    config.write_text('default_model = "anthropic/claude-sonnet-4-5"\n')
    said = report(start())
    assert "anthropic/claude-sonnet-4-5 cannot be used" in said and "ANTHROPIC_API_KEY" in said


def test_the_server_that_runs_is_asked(start, model):
    nvim = start()
    nvim.lua("require('agent_lsp.client').with(function() vim.g.up = true end)")
    nvim.until("return vim.g.up")
    said = report(nvim)
    assert "connected (client 1)" in said and "model: chat/big" in said


def test_a_configuration_that_cannot_be_read_is_named(start, config):
    config.parent.mkdir(parents=True)
    config.write_text("approval_mode = 3\n")
    said = report(start())
    assert "could not be listed" in said and "doctor" in said


def test_a_file_outside_any_project_is_a_warning(start, rehearsal, workspace):
    (workspace / ".git").rmdir()
    nvim = start()
    nvim.edit("greeter.py")
    assert "the current folder" in report(nvim)


def test_a_second_client_of_the_same_server_is_a_warning(start, rehearsal):
    nvim = start("vim.lsp.config('mine', { cmd = { 'agent-lsp' }, root_markers = { '.git' } }) vim.lsp.enable('mine')")
    nvim.edit("greeter.py")
    nvim.until("local c = vim.lsp.get_clients({ name = 'mine' })[1] return c and c.initialized")
    assert "mine starts agent-lsp once more" in report(nvim)


def test_nothing_that_neovim_has_deprecated_is_used(start, model):
    edit = {"file_path": "greeter.py", "old_string": "Helo", "new_string": "Hello"}
    model.script(
        [think("Hm."), use("read_file", {"file_path": "greeter.py"})], [use("edit_file", edit)], [say("Mended.")]
    )
    nvim = start()
    nvim.edit("greeter.py")
    nvim.type(":Agent mend it<CR>")
    answer(nvim, "Edit greeter.py", "a")
    nvim.wait_for("Mended.")
    nvim.command("AgentUndo!")
    nvim.until("return vim.fn.getline(7):find('Helo', 1, true)")
    nvim.command("checkhealth vim.deprecated")
    nvim.until("return vim.bo.filetype == 'checkhealth' and vim.api.nvim_buf_line_count(0) > 2")
    assert "No deprecated functions detected" in nvim.text()
    nvim.take_messages()
