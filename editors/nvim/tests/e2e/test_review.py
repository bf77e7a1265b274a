"""Looking through the agent's edits: signs, from one to the next, keeping, taking back, the quickfix list."""

import pytest
from harness.agent import agent_run, pending, read, replace

ROWS = "".join(f"row {number}\n" for number in range(1, 101))


# --- review -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def reviewed(editor, model):
    """After a run that has changed two open files and one that is not open."""
    editor.edit("rows.txt")
    editor.edit("greeter.py")
    agent_run(
        editor,
        model,
        read("rows.txt"),
        read("greeter.py"),
        read("notes.txt"),
        replace("greeter.py", "Helo", "Hello"),
        replace("rows.txt", "row 5\nrow 6\n", ""),
        replace("rows.txt", "row 20\n", "row 20\nrow 20 and a half\n"),
        replace("notes.txt", "line 9\n", "line nine\n"),
        prompt="mend all of them",
    )
    pending(editor, 4)
    return editor


def place(editor):
    return editor.lua("return { vim.fs.basename(vim.api.nvim_buf_get_name(0)), vim.fn.line('.') }")


def test_changed_lines_have_signs_and_removed_ones_are_shown(reviewed):
    screen = reviewed.wait_for("Helo, {name}", "Hello, {name}")
    assert any(line.startswith("▎") and "Hello, {name}" in line for line in screen.splitlines())
    reviewed.command("buffer rows.txt")
    screen = reviewed.wait_for("row 5", "row 6")
    assert any(line.startswith("▎") and "row 20 and a half" in line for line in screen.splitlines())


def test_one_key_walks_through_all_edits_of_all_files_and_back(reviewed):
    reviewed.command("nmap ]a <Plug>(agent-next-edit)")
    reviewed.command("nmap [a <Plug>(agent-prev-edit)")
    reviewed.type("gg]a")
    reviewed.until("return vim.fn.line('.') == 7")
    walked = []
    for keys in ("]a", "]a", "]a", "]a", "[a", "[a"):
        before = place(reviewed)
        reviewed.type(keys)
        reviewed.until(
            "local name, line = ... return vim.fs.basename(vim.api.nvim_buf_get_name(0)) ~= name"
            " or vim.fn.line('.') ~= line",
            *before,
        )
        walked.append(place(reviewed))
    assert walked == [
        ["rows.txt", 5],
        ["rows.txt", 19],
        ["notes.txt", 9],
        ["greeter.py", 7],
        ["notes.txt", 9],
        ["rows.txt", 19],
    ]
    assert reviewed.lua("return #vim.api.nvim_list_wins()") == 1
    assert not reviewed.lua("return vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.wo[w].diff end)")


def test_the_edit_under_the_cursor_is_taken_back_and_no_other(reviewed, workspace):
    reviewed.command("buffer rows.txt")
    reviewed.command("19AgentUndo")
    reviewed.until("return vim.fn.getline(19) == 'row 21'")
    pending(reviewed, 3)
    assert "row 20 and a half" not in (workspace / "rows.txt").read_text()
    assert "Hello" in (workspace / "greeter.py").read_text()


def test_a_range_and_all_are_kept_and_the_signs_go(reviewed):
    reviewed.command("buffer rows.txt")
    reviewed.wait_for("▎")
    reviewed.command("1,30AgentKeep")
    pending(reviewed, 2)
    reviewed.wait_gone("▎")
    reviewed.command("AgentKeep!")
    pending(reviewed, 0)
    reviewed.command("AgentUndo")
    reviewed.wait_for("no edit of the agent here")
    reviewed.take_messages()


def test_all_are_taken_back_closed_files_too(reviewed, workspace):
    reviewed.command("AgentUndo!")
    pending(reviewed, 0)
    assert (workspace / "rows.txt").read_text() == ROWS
    assert "line 9\n" in (workspace / "notes.txt").read_text()
    assert "Helo" in (workspace / "greeter.py").read_text()


def test_an_edit_that_was_typed_into_stays_and_says_why(reviewed):
    reviewed.command("buffer greeter.py")
    reviewed.type("7GfHaXX<Esc>")
    reviewed.until("return vim.fn.getline(7):find('HXXello', 1, true)")
    pending(reviewed, 3)
    assert "HXXello" in reviewed.text()


def test_the_edits_of_a_run_are_one_quickfix_list_behind_those_of_the_person(reviewed, model):
    reviewed.lua("vim.fn.setqflist({}, ' ', { title = 'grep', items = { { filename = 'notes.txt', lnum = 3 } } })")
    reviewed.command("AgentEdits")
    reviewed.until("return vim.fn.getqflist({ nr = '$' }).nr == 2")
    shown = reviewed.lua("return vim.fn.getqflist({ nr = '$', title = 0, size = 0, id = 0 })")
    assert (shown["title"], shown["size"]) == ("mend all of them", 4)
    assert reviewed.lua("return vim.fn.getqflist({ nr = 1, title = 0 }).title") == "grep"
    assert reviewed.lua("return #vim.api.nvim_list_wins()") == 1

    reviewed.command("buffer greeter.py")
    reviewed.command("7AgentUndo")

    reviewed.until("return vim.fn.getqflist({ id = ..., size = 0 }).size == 3", shown["id"])
    assert reviewed.lua("return vim.fn.getqflist({ nr = '$' }).nr") == 2
    reviewed.take_messages()
