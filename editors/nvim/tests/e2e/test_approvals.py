"""Approvals: shown without being entered, answered only on purpose, in any order, or withdrawn."""

import re

import pytest
from harness.agent import answer, ended, focus, run
from harness.model import say, use

EDIT = {"file_path": "greeter.py", "old_string": "Helo", "new_string": "Hello"}
READ = [use("read_file", {"file_path": "greeter.py"})]
COMMAND = "echo one && printf 'two\\n' > two.txt"


@pytest.fixture
def asked(nvim, model):
    """A Neovim in which the agent asks whether it may mend the greeter."""
    model.script(READ, [use("edit_file", EDIT)], [say("So far.")])
    nvim.edit("notes.txt")
    run(nvim, "mend it")
    nvim.wait_for("Edit greeter.py", "to answer")
    return nvim


def outputs(model):
    """What tools said to the model, in the last request."""
    return [message["content"] for message in model.asked[-1].messages if message["role"] == "tool"]


def windows(nvim):
    return nvim.lua("return #vim.api.nvim_list_wins()")


def test_it_shows_the_diff_with_colours_and_a_key_allows_it(asked, workspace):
    assert "DiffDelete" in asked.grid.look("-    return f").groups
    assert "DiffAdd" in asked.grid.look("+    return f").groups

    focus(asked)
    asked.type("a")

    assert ended(asked) == "completed"
    assert "Hello" in (workspace / "greeter.py").read_text()
    asked.wait_gone("Edit greeter.py")


def test_keys_within_300_ms_of_its_focus_answer_nothing(asked):
    asked.command("AgentApproval")
    asked.type("a")
    asked.type("d")
    assert asked.lua("return require('agent_lsp.approval.questions').count()") == 1
    focus(asked)
    asked.type("d")
    assert ended(asked) == "completed"


def test_allowing_by_a_rule_takes_a_key_and_its_number_and_the_rule_holds(nvim, model, workspace):
    again = {"file_path": "greeter.py", "old_string": "Hello", "new_string": "Hullo"}
    model.script(READ, [use("edit_file", EDIT)], [use("edit_file", again)], [say("So far.")])
    run(nvim, "mend it")
    nvim.wait_for("Edit greeter.py")
    focus(nvim)

    nvim.type("3")
    nvim.type("r")
    screen = nvim.wait_for("from now on without asking", "every call of edit_file inside the workspace in this session")
    number = re.search(r"(\d)  every call of edit_file inside", screen)[1]
    nvim.type(number)

    assert ended(nvim) == "completed"
    assert "Hullo" in (workspace / "greeter.py").read_text()


def test_a_denial_brings_its_reason_to_the_model(asked, model, workspace):
    focus(asked)
    asked.type("D")
    asked.wait_for("because:")
    asked.type("greet in Latin<CR>")

    assert ended(asked) == "completed"
    assert "Helo" in (workspace / "greeter.py").read_text()
    assert "greet in Latin" in outputs(model)[-1]


def test_a_reason_that_is_not_given_decides_nothing(asked):
    focus(asked)
    asked.type("D")
    asked.wait_for("because:")
    asked.type("<Esc>")
    asked.wait_gone("because:")
    assert asked.lua("return require('agent_lsp.approval.questions').count()") == 1
    focus(asked)
    asked.type("d")
    ended(asked)


def test_putting_it_away_does_not_answer_it_and_the_statusline_counts_it(asked):
    asked.command("set laststatus=2 statusline=%f\\ %{v:lua.require'agent_lsp.statusline'.get()}")
    asked.wait_for("agent ? 1 waiting for you")
    focus(asked)
    asked.type("q")
    asked.wait_gone("Edit greeter.py")
    assert windows(asked) == 1
    asked.wait_for("agent ? 1 waiting for you")

    assert asked.lua("return vim.g.ended") is None
    focus(asked)
    asked.wait_for("Edit greeter.py")
    asked.type("a")

    assert ended(asked) == "completed"
    asked.wait_gone("waiting for you")


def test_closing_its_window_by_hand_is_putting_it_away(asked):
    focus(asked)
    asked.type("<C-w>c")
    asked.wait_gone("Edit greeter.py")
    assert asked.lua("return require('agent_lsp.approval.questions').count()") == 1
    focus(asked)
    asked.type("d")
    ended(asked)


def test_a_command_is_shown_whole_with_its_folder(nvim, model, workspace):
    long = "echo " + " ".join(f"word{number}" for number in range(40))
    model.script([use("exec_command", {"cmd": f"{long}\n{COMMAND}"})], [say("So far.")])
    run(nvim, "run it")

    screen = nvim.wait_for("word39", "two.txt", "a project")

    assert "word20" in "".join(line.strip("│ ") for line in screen.splitlines())
    answer(nvim, "two.txt", "a")
    assert ended(nvim) == "completed"
    assert (workspace / "two.txt").read_text() == "two\n"


def test_two_of_two_sessions_are_answered_in_any_order(nvim, model, workspace):
    model.script(
        [use("write_file", {"file_path": "one.txt", "content": "1\n"})],
        [use("write_file", {"file_path": "two.txt", "content": "2\n"})],
        [say("So far.")],
        [say("So far.")],
    )
    run(nvim, "one")
    nvim.wait_for("one.txt")
    nvim.lua("require('agent_lsp.session').new({}, function(_, s) s:run('two', function() vim.g.both = true end) end)")
    nvim.wait_for("one.txt", "two.txt")

    focus(nvim)
    focus(nvim)
    nvim.type("a")
    nvim.wait_gone("two.txt")
    assert (workspace / "two.txt").exists() or nvim.until("return vim.g.both")
    assert not (workspace / "one.txt").exists()
    nvim.wait_for("one.txt")
    focus(nvim)
    nvim.type("a")

    assert ended(nvim) == "completed"
    nvim.until("return vim.g.both")
    assert (workspace / "one.txt").exists()


def test_a_withdrawn_one_closes_at_once(asked):
    asked.lua("require('agent_lsp.session').current():abort(nil, function() end)")
    asked.wait_gone("Edit greeter.py")
    assert ended(asked) == "aborted"
    assert windows(asked) == 1


def test_a_dead_server_takes_its_questions_along(asked):
    asked.lua("vim.uv.kill(vim.api.nvim_get_proc_children(vim.fn.getpid())[1], 'sigkill')")
    asked.wait_gone("Edit greeter.py")
    asked.until("return vim.api.nvim_exec2('messages', { output = true }).output:find('ended')")
    asked.take_messages()


def test_the_command_answers_only_what_has_been_seen(asked, workspace):
    focus(asked)
    asked.type("q")
    asked.wait_gone("Edit greeter.py")
    asked.command("AgentApproval allow")
    asked.wait_for("Edit greeter.py")
    assert asked.lua("return require('agent_lsp.approval.questions').count()") == 1
    asked.until("return vim.api.nvim_exec2('messages', { output = true }).output:find('again')")
    asked.take_messages()
    focus(asked)

    asked.command("AgentApproval deny not like that")

    assert ended(asked) == "completed"
    assert "Helo" in (workspace / "greeter.py").read_text()


def test_its_keys_are_listed_and_stay_in_its_buffer(asked):
    focus(asked)
    listed = [(one["lhs"], one["nowait"], one.get("desc")) for one in asked.api("nvim_buf_get_keymap", 0, "n")]
    assert {"a", "r", "d", "D", "q", "g?"} <= {lhs for lhs, _, _ in listed}
    assert all(nowait == 1 and desc for _, nowait, desc in listed)
    asked.type("g?")
    asked.wait_for("allow this once", "deny, and say why")
    asked.type("q")
    answer(asked, "Edit greeter.py", "d")
    ended(asked)


def test_autocommands_hear_of_a_run_its_question_and_its_end(nvim, model):
    nvim.lua("""
    vim.g.heard = {}
    vim.api.nvim_create_autocmd("User", { pattern = "Agent*", callback = function(event)
      local heard = vim.g.heard
      heard[#heard + 1] = { event.match, event.data.session_id ~= nil, event.data.title, event.data.status }
      vim.g.heard = heard
    end })
    """)
    model.script(READ, [use("edit_file", EDIT)], [say("So far.")])
    run(nvim, "mend it")
    answer(nvim, "Edit greeter.py", "d")
    ended(nvim)
    heard = nvim.lua("return vim.g.heard")
    assert [one[0] for one in heard] == ["AgentRunStart", "AgentApproval", "AgentRunEnd"]
    assert heard[1][2] == "Edit greeter.py"
    assert heard[2][3] == "completed"
