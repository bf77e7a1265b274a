"""The lines of the README for plugin managers, as they stand there, on a repository of which the plugin is a folder."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness.model import say
from harness.neovim import PLUGIN, REPOSITORY, binary

LAZY = Path(os.environ.get("LAZY_NVIM", REPOSITORY / ".venv/.nvim-managers/lazy.nvim"))


@pytest.fixture
def repository(tmp_path):
    """A git repository that has the plugin where ours has it; its URL."""
    folder = tmp_path / "agent-lsp"
    shutil.copytree(PLUGIN, folder / "editors/nvim", ignore=shutil.ignore_patterns("node_modules", "tests", ".*"))
    git = ["git", "-C", folder, "-c", "user.name=Nobody", "-c", "user.email=nobody@localhost"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "The plugin"]):
        subprocess.run([*git, *command], check=True)
    return folder.as_uri()


def lines_for(manager):
    """What the README says to write for a manager."""
    text = (PLUGIN / "README.md").read_text()
    found = re.search(rf"\*\*{re.escape(manager)}\*\*[^\n]*\n\n```lua\n(.*?)```", text, re.DOTALL)
    assert found, manager
    return found[1]


def has(feature):
    command = [binary(), "--clean", "--headless", "-c", f"lua io.write(tostring({feature} ~= nil))", "-c", "qa!"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout == "true"


@pytest.mark.skipif("not has('vim.pack')", reason="vim.pack comes with Neovim 0.12")
def test_with_vim_pack_the_first_command_works_the_help_is_there_and_an_update_finds_it(start, model, repository):
    lines = lines_for("vim.pack").replace("https://HOST/OWNER/agent-lsp", repository)
    model.script([say("Here I am.")])
    nvim = start(lines.replace("load = ", "confirm = false, load = ", 1), plugin=False)

    nvim.until("return vim.fn.exists(':Agent') == 2", within_s=30)
    nvim.take_messages()  # what vim.pack itself says of an installation
    nvim.type(":Agent hello<CR>")

    nvim.wait_for("Here I am.")
    assert nvim.lua("return vim.fn.getcompletion('agent-lsp-', 'help')")
    assert nvim.lua("return vim.tbl_map(function(one) return one.spec.name end, vim.pack.get())") == ["agent-lsp"]


LAZILY = {
    "at once": "",
    "with the first command": 'spec.cmd = { "Agent", "AgentChat" }',
    "with a key": 'spec.keys = { { "gz", "<Plug>(agent-op)", mode = { "n", "x" } } }',
}


@pytest.mark.skipif(not LAZY.exists(), reason="lazy.nvim could not be had")
@pytest.mark.parametrize("when", LAZILY)
def test_with_lazy_nvim_the_first_command_works_and_the_help_is_there(start, model, repository, when):
    spec = lines_for("lazy.nvim").replace('"OWNER/agent-lsp"', f'url = "{repository}"')
    model.script([say("Here I am.")])
    nvim = start(
        f"""
        vim.opt.rtp:prepend("{LAZY}")
        local spec = {spec}
        {LAZILY[when]}
        local lockfile = vim.fn.stdpath("data") .. "/lock"
        require("lazy").setup({{ spec }}, {{ rocks = {{ enabled = false }}, lockfile = lockfile }})
        """,
        plugin=False,
    )
    nvim.until("return #vim.tbl_filter(function(one) return one._.installed end, require('lazy').plugins()) > 1")
    nvim.command("silent! fclose!")
    nvim.take_messages()  # what lazy.nvim itself says of an installation
    assert nvim.lua("return package.loaded['agent_lsp.commands'] == nil")
    nvim.edit("notes.txt")

    if when == "with a key":
        nvim.type("2Ggzj")
        nvim.until("return vim.bo.filetype == 'agent_prompt'")
        nvim.type("ihello<CR><Esc>")
    else:
        nvim.type(":2,3Agent hello<CR>")

    nvim.wait_for("Here I am.")
    assert "line 2\nline 3" in str(model.asked[-1].messages) or "line 2\\nline 3" in str(model.asked[-1].messages)
    assert nvim.lua("return vim.fn.getcompletion('agent-lsp-', 'help')")
