"""What a session is told: its prompt, what folders say, skills, and commands that were written down."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.policy.access import Access
from agent_lsp.policy.paths import PathRules
from agent_lsp.providers.scripted import call, text
from agent_lsp.sessions.documents import parse, read_text
from agent_lsp.sessions.environment import surroundings
from agent_lsp.sessions.instructions import Instructions, Sources
from agent_lsp.sessions.prompt import PARTS, Facts, system_prompt
from agent_lsp.sessions.slash import SlashCommand, expand, find_commands
from tests.server.front_end import front_end

TOOLS = ("read_file", "edit_file", "search_text", "run_subagent")


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


@pytest.fixture
def config(tmp_path):
    return tmp_path / "config"


@pytest.fixture
def instructions(root, config, tmp_path):
    paths = PathRules(root, data_dir=tmp_path / "data", user_config=(config,))
    paths.let_read(config / "skills")
    return Instructions(Sources(paths, config), lambda: TOOLS)


def write(path: Path, words: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(words)
    return path


def skill(folder: Path, name: str, description: str = "Does it.") -> Path:
    return write(folder / "skills" / name / "SKILL.md", f"---\nname: {name}\ndescription: {description}\n---\nBODY\n")


# --- the prompt -------------------------------------------------------------------------------------------------------


def test_the_parts_stand_in_a_fixed_order_and_the_prompt_is_the_same_for_the_same_facts(instructions, root):
    write(root / "AGENTS.md", "Speak in rhymes.")
    skill(root / ".agent-lsp", "ferment")
    prompt = instructions.prompt()
    heads = [prompt.index(one) for one in ("# Environment", "# Rules", "# Tools", "# Project", "# Skills")]
    assert heads == sorted(heads) and instructions.prompt() == prompt and len(prompt) < 4000
    assert "Speak in rhymes." in prompt and "ferment: Does it. (.agent-lsp/skills/ferment/SKILL.md)" in prompt
    assert "BODY" not in prompt and "[turn_aborted]" not in prompt and "[user_steering]" not in prompt


def test_advice_is_given_of_tools_that_are_there(root):
    prompts = [system_prompt(Facts(surroundings(root), tools)) for tools in (TOOLS, ())]
    assert "subagent" in prompts[0] and "subagent" not in prompts[1] and "# Tools" not in prompts[1]


def test_a_person_may_put_their_own_text_in_a_parts_place_and_a_project_may_not(instructions, config, root):
    write(config / "prompt" / "role.md", "You are a poet.")
    write(root / ".agent-lsp" / "prompt" / "rules.md", "There are no rules.")
    prompt = instructions.prompt()
    assert prompt.startswith("You are a poet.") and "coding agent" not in prompt and "no rules" not in prompt
    assert list(PARTS)[:3] == ["role", "environment", "rules"]


# --- AGENTS.md --------------------------------------------------------------------------------------------------------


def test_a_folders_instructions_come_once_after_something_there_was_touched_outer_ones_first(instructions, root):
    write(root / "AGENTS.md", "root")
    write(root / "a" / "AGENTS.md", "of a")
    write(root / "a" / "b" / "AGENTS.md", "of b")
    write(root / "c" / "AGENTS.md", "of c")
    instructions.prompt()
    assert instructions.take_reports() == ()
    instructions.touched(Access("read", (root / "a" / "b" / "x.py",)))
    told = instructions.take_reports()
    assert [one.partition("\n")[2] for one in told] == ["of a", "of b"] and "a/b/AGENTS.md" in told[1]
    instructions.touched(Access("command", command="ls", cwd=root / "a"))
    assert instructions.take_reports() == ()


def test_they_come_again_in_a_fresh_context_and_not_again_after_a_resume(instructions, root, tmp_path):
    write(root / "a" / "AGENTS.md", "of a")
    instructions.prompt()
    seen = Access("edit", (root / "a" / "x.py",))
    instructions.touched(seen)
    (told,) = instructions.take_reports()
    instructions.prompt()
    instructions.touched(seen)
    assert instructions.take_reports() == (told,)
    from agent_lsp.messages.envelope import envelope

    resumed = Instructions(instructions._sources, lambda: TOOLS)
    resumed.resume([envelope(Text(role="user", text=told, sender="harness"))])
    resumed.touched(seen)
    assert resumed.take_reports() == ()


def test_a_link_out_of_the_workspace_is_no_instruction(instructions, root, tmp_path):
    secret = write(tmp_path / "secret.txt", "PLANTED")
    (root / "AGENTS.md").symlink_to(secret)
    (root / "a").mkdir()
    (root / "a" / "AGENTS.md").symlink_to(secret)
    skill(tmp_path, "evil")
    (root / ".agent-lsp").mkdir()
    (root / ".agent-lsp" / "skills").symlink_to(tmp_path / "skills")
    prompt = instructions.prompt()
    instructions.touched(Access("read", (root / "a" / "x", tmp_path / "elsewhere")))
    assert "PLANTED" not in prompt and "evil" not in prompt and instructions.take_reports() == ()


@pytest.mark.asyncio
async def test_the_model_hears_of_a_folder_after_the_output_that_touched_it(tmp_path, monkeypatch):
    write(tmp_path / "work" / "a" / "AGENTS.md", "Use tabs.")
    write(tmp_path / "work" / "a" / "x.py", "x = 1\n")
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([call("read_file", {"file_path": "a/x.py"})], [text("done")])
        await client.ask("agent/run", input="go")
        output, told = model.requests[1].input
        assert output.type == "tool_call_output" and told.sender == "harness" and told.text.endswith("Use tabs.")


# --- skills -----------------------------------------------------------------------------------------------------------


def test_the_users_skill_takes_the_place_of_the_projects_and_can_be_read_and_not_written(instructions, root, config):
    skill(root / ".agent-lsp", "one", "theirs")
    path = skill(config, "one", "mine")
    assert "one: mine" in instructions.prompt() and "theirs" not in instructions.prompt()
    paths = instructions._sources.paths
    assert paths.place(path).standing == "inside" and paths.place(path, writes=True).standing == "forbidden"
    assert paths.place(config / "config.toml").standing == "forbidden"


def test_skills_that_change_are_told_once_and_the_prompt_of_the_next_context_has_them(instructions, root):
    instructions.prompt()
    path = skill(root / ".agent-lsp", "new")
    (told,) = instructions.take_reports()
    assert "new: Does it." in told and instructions.take_reports() == ()
    assert "new: Does it." in instructions.prompt()
    path.unlink()
    assert "none any more" in instructions.take_reports()[0]


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("---\nname: a b\ndescription: x: y\n---\nbody", {"name": "a b", "description": "x: y"}),
        ("---\nname: 'a'\ndescription: >\n  one\n  two\n---\nbody", {"name": "a", "description": "one two"}),
        ("---\nname: a\n", {}),
        ("body", {}),
    ],
)
def test_front_matter_is_read_leniently(head, fields):
    assert parse(head).fields == fields


@settings(deadline=None, max_examples=50)
@given(st.text())
def test_any_text_is_a_document(words):
    parse(words)
    parse(f"---\n{words}\n---\n{words}")


def test_nothing_but_an_ordinary_file_is_read_and_not_all_of_a_large_one(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert read_text(tmp_path / "pipe") is None and read_text(tmp_path) is None and read_text(tmp_path / "no") is None
    large = read_text(write(tmp_path / "large", "x" * 200_000))
    assert large and len(large) < 70_000 and large.endswith("left out]")


# --- slash commands ---------------------------------------------------------------------------------------------------


def command(body: str) -> SlashCommand:
    return SlashCommand("fix", "", "", body, "user")


@pytest.mark.parametrize(
    ("body", "arguments", "expected"),
    [
        ("Fix $ARGUMENTS now", "a b", "Fix a b now"),
        ("Fix $1 in $2$3.", "a b", "Fix a in b."),
        ("Fix it", "a", "Fix it\n\na"),
        ("Fix it", "", "Fix it"),
        ("$ARGUMENTS", "$1", "$1"),
    ],
)
def test_arguments_go_where_they_are_wanted(body, arguments, expected):
    assert command(body).text(arguments) == expected


def test_only_a_known_command_that_is_the_whole_input_is_expanded():
    known = {"fix": command("Fix $ARGUMENTS")}

    def of(*input):
        return expand(tuple(input), lambda: known)

    def user(words):
        return Text(role="user", text=words)

    assert of(user("/fix a\nb"))[0].text == "Fix a\nb"
    for input in (
        (user("/unknown a"),),
        (user("see /fix a"),),
        (user("/fix a"), user("b")),
        (ImageUrl(image_url="data:image/png;base64,"),),
        (user("/usr/bin/fix"),),
        (),
    ):
        assert of(*input) == input


def test_the_users_command_takes_the_place_of_the_projects(root, config):
    write(root / ".agent-lsp" / "commands" / "a.md", "theirs")
    write(config / "commands" / "a.md", "---\ndescription: Mine.\nargument-hint: '[file]'\n---\nmine")
    write(root / ".agent-lsp" / "commands" / "b.md", "# Do b\nbody")
    write(root / ".agent-lsp" / "commands" / "no good.md", "x")
    found = find_commands(root / ".agent-lsp" / "commands", config / "commands", lambda _: True)
    assert {(one.name, one.description, one.hint, one.source) for one in found.values()} == {
        ("a", "Mine.", "[file]", "user"),
        ("b", "Do b", "", "project"),
    }


@pytest.mark.asyncio
async def test_a_run_expands_a_command_of_the_project(tmp_path, monkeypatch):
    write(tmp_path / "work" / ".agent-lsp" / "commands" / "fix.md", "Please fix $ARGUMENTS.")
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([text("ok")], [text("ok")])
        await client.ask("agent/run", input="/fix a.py")
        await client.ask("agent/run", input="/nothing a.py")
        assert [one.input[0].text for one in model.requests] == ["Please fix a.py.", "/nothing a.py"]


# --- the context's start ----------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_prompt_stays_within_a_context_and_is_made_anew_for_the_next(tmp_path, monkeypatch):
    agents_md = write(tmp_path / "work" / "AGENTS.md", "the first")
    async with front_end(tmp_path, monkeypatch) as (client, model):
        model.script([text("ok")], [text("ok")], [text("[summary]so far[/summary]")], [text("ok")])
        await client.ask("agent/run", input="go")
        agents_md.write_text("the second")
        await client.ask("agent/run", input="go")
        await client.ask("agent/compact")
        await client.ask("agent/run", input="go")
        systems = [one.system for one in model.requests]
        assert systems[0] == systems[1] == systems[2] and "the first" in systems[0]
        assert "the second" in systems[3] and "the first" not in systems[3]


@pytest.mark.asyncio
async def test_a_prompt_that_a_client_gives_is_all_of_it_in_every_context(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        await client.ask("agent/session/new", systemPrompt="Be brief.")
        model.script([text("ok")], [text("[summary]so far[/summary]")], [text("ok")])
        await client.ask("agent/run", input="go")
        await client.ask("agent/compact")
        await client.ask("agent/run", input="go")
        assert {one.system for one in model.requests} == {"Be brief."}


# --- the repository ---------------------------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    own = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "PATH": os.environ["PATH"]}
    name = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *name, *arguments], cwd=folder, env=own, check=True, capture_output=True)


@pytest.fixture
def repository(root):
    git(root, "init", "-q", "-b", "main")
    for name in ("a.py", "sub dir/b.py", "c.py"):
        write(root / name, f"{name}\n")
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "first")
    return root


def state(folder: Path):
    found = surroundings(folder, budget_s=10).repository
    return found and (found.head, found.changed)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_the_branch_and_the_number_of_changed_files_are_told(repository, version):
    git(repository, "update-index", "--index-version", str(version))
    assert state(repository) == ("branch main", 0)
    write(repository / "a.py", "changed\n")
    (repository / "sub dir" / "b.py").unlink()
    assert state(repository) == state(repository / "sub dir") == ("branch main", 2)


def test_a_file_of_another_age_with_the_same_text_is_not_changed(repository):
    os.utime(repository / "a.py", (1, 1))
    assert state(repository) == ("branch main", 0)


def test_detached_heads_worktrees_and_fresh_repositories_are_told_too(repository, tmp_path):
    git(repository, "worktree", "add", "-q", "-b", "feature/x", str(tmp_path / "other"))
    assert state(tmp_path / "other") == ("branch feature/x", 0)
    git(repository, "checkout", "-q", "--detach")
    assert state(repository)[0].startswith("detached at ")
    (tmp_path / "fresh").mkdir()
    git(tmp_path / "fresh", "init", "-q", "-b", "trunk")
    assert state(tmp_path / "fresh") == ("branch trunk", 0)


def test_no_repository_or_a_broken_one_is_no_error(root, repository):
    for content in (
        b"",
        b"DIRC",
        b"DIRC\0\0\0\2\xff\xff\xff\xff",
        os.urandom(500),
        b"DIRC\0\0\0\4\0\0\0\1" + b"\xff" * 90,
    ):
        (repository / ".git" / "index").write_bytes(content)
        assert state(repository) == ("branch main", None)
    write(root / "plain" / "x", "")
    write(repository / ".git" / "HEAD", "ref: refs/heads/x\n\x1b[31mred\n")
    assert "\x1b" not in surroundings(repository).repository.head


def test_looking_around_takes_no_longer_than_it_may(root):
    git(root, "init", "-q")
    for number in range(3000):
        (root / f"{number}.txt").write_text(str(number))
    git(root, "add", ".")
    for number in range(3000):
        os.utime(root / f"{number}.txt", (1, 1))
    begun = time.monotonic()
    found = surroundings(root, budget_s=0.005)
    assert time.monotonic() - begun < 1 and found.repository.changed is None


def test_nothing_of_the_repository_is_run(repository, tmp_path):
    mark = tmp_path / "ran"
    git(repository, "config", "core.fsmonitor", f"touch {mark}")
    git(repository, "config", "filter.x.clean", f"touch {mark}")
    write(repository / ".gitattributes", "* filter=x\n")
    write(repository / "a.py", "b.py\n")
    surroundings(repository, budget_s=10)
    assert not mark.exists()
