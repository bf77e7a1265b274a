"""More ways out of the sandbox than its own tests know; bubblewrap is real."""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import pytest_asyncio

from agent_lsp.engine.ports import ToolResult
from agent_lsp.messages.content import ToolCall
from agent_lsp.policy.paths import PathRules
from agent_lsp.tools.builtin import builtin_tools
from agent_lsp.tools.disk import DiskEditor
from agent_lsp.tools.late import ToolContext
from agent_lsp.tools.processes import Processes
from agent_lsp.tools.sandbox import Sandbox
from agent_lsp.tools.toolset import ToolLimits, Toolset
from agent_lsp.tools.workspace import Workspace

pytestmark = [
    pytest.mark.asyncio,
    pytest.mark.skipif(
        shutil.which("bwrap") is None
        or subprocess.call(["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]) != 0,
        reason="bubblewrap is not installed, or may not be used here",
    ),
]
PLANTED = "PLANTED-4711"


@pytest.fixture
def home():
    """A home folder outside of /tmp, which the sandbox replaces."""
    folder = Path(__file__).parent / f".sandboxed-{os.getpid()}"
    for name in ("work", "data", ".ssh", "other"):
        (folder / name).mkdir(parents=True)
        (folder / name / "secret").write_text(PLANTED)
    yield folder
    shutil.rmtree(folder)


@pytest_asyncio.fixture
async def run(home):
    """run(command) → its output, from inside."""
    processes = Processes(frozenset({"MY_API_KEY"}), {**os.environ, "SHELL": "/bin/bash", "MY_API_KEY": PLANTED})
    workspace = Workspace(home / "work", home / "data" / "scratchpad" / "s")
    paths = PathRules(home / "work", data_dir=home / "data", scratchpad=workspace.scratchpad, homes=[home])
    commands = processes.session(Sandbox((home / "work", workspace.scratchpad), paths.hidden))
    context = ToolContext(workspace, DiskEditor(workspace.scratchpad), commands, None, paths.forbids)
    toolset = Toolset(builtin_tools(context), ToolLimits(timeout_s=20), workspace.scratchpad, shared=[commands])

    async def inside(cmd):
        call = ToolCall(name="exec_command", arguments=json.dumps({"cmd": cmd}), tool_call_id="c")
        items = [one async for one in toolset.execute(call)]
        return "".join(
            one if isinstance(one, str) else one.output for one in items if isinstance(one, str | ToolResult)
        )

    yield inside
    await toolset.close()
    await processes.close()


@pytest.mark.parametrize(
    "attempt",
    [
        'p=$(cat /proc/sys/kernel/core_pattern); echo "$p" > /proc/sys/kernel/core_pattern',
        "p=$(cat /proc/sys/kernel/hostname); echo $p > /proc/sys/kernel/hostname",
        "p=$(cat /proc/sys/vm/overcommit_memory); echo $p > /proc/sys/vm/overcommit_memory",
        "echo h > /proc/sysrq-trigger",
        "mknod disk b 8 0 && head -c 1 disk",
        "p=$(cat /sys/kernel/uevent_helper) && echo $p > /sys/kernel/uevent_helper",
        "mkdir cg && mount -t cgroup -o memory cgroup cg",
        "mkdir ns && mount --bind / ns",
        "chroot / true",
        "insmod /x.ko; modprobe dummy",
        "nsenter -t 1 -a true; nsenter -t 1 -m ls {home}/.ssh",
        "setcap cap_sys_admin+ep /bin/true",
        "python3 -c 'import os; os.setns(os.open(\"/proc/1/ns/mnt\", 0), 0)'",
        "unshare -rmpf sh -c 'mount -t proc p /proc && echo core > /proc/sys/kernel/core_pattern'",
        "bwrap --bind / / --dev /dev sh -c 'echo x > {home}/outside'",
    ],
)
async def test_what_would_change_the_machine_is_refused(run, home, attempt):
    """Each attempt writes what is there already: one that succeeds fails the test and harms nothing."""
    output = await run(f"( {attempt.format(home=home)} ) && echo SUCCEEDED")
    assert "SUCCEEDED" not in output and PLANTED not in output
    assert not (home / "outside").exists()


@pytest.mark.parametrize(
    "attempt",
    [
        "ls -l /proc/self/fd/ | grep -v 'pipe:\\|/dev/null\\|/proc/\\|total' ; cat /proc/self/fd/[3-9]* 2>/dev/null",
        "cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'",
        "find / -xdev -name secret -path '*.ssh*' -exec cat {} + 2>/dev/null; cat {home}/.ssh/secret",
        "cp -a {home}/.ssh keys; ln {home}/.ssh/secret hard; cat keys/secret hard",
        "tar c -C {home} .ssh | tar x; cat .ssh/secret",
        "cat {home}/data/secret {home}/work/../data/secret /proc/self/root{home}/.ssh/secret",
        "cat /proc/self/cwd/../.ssh/secret",
        "exec 5<{home}/.ssh; ls /proc/self/fd/5/; cat /proc/self/fd/5/secret",
        "mv {home}/.ssh {home}/moved; cat {home}/moved/secret",
        "rm -r {home}/.ssh; rmdir {home}/.ssh; cat {home}/.ssh/secret",
    ],
)
async def test_secrets_are_not_there_by_any_way(run, home, attempt):
    (home / "work" / "secret").unlink()
    output = await run(attempt.replace("{home}", str(home)))
    assert PLANTED not in output
    assert (home / ".ssh" / "secret").read_text() == PLANTED


async def test_processes_outside_cannot_be_signalled_traced_or_outlived(run):
    output = await run("kill -9 -1; kill -9 $PPID; echo still; ls -d /proc/[0-9]* | wc -l")
    assert os.getpid() and "pytest" not in output


async def test_what_lies_in_the_scratchpad_is_never_written_through(run, home):
    """The server keeps long outputs there, by names that nobody can put a link at in time."""
    pad = home / "data" / "scratchpad" / "s"
    output = await run(
        f"cd {pad} && for n in output before image GOAL.yaml; do ln -sf {home}/other/secret $n; done;"
        " head -c 200000 /dev/zero | tr '\\0' y"
    )
    assert "[output archived: " in output
    assert (home / "other" / "secret").read_text() == PLANTED


async def test_the_network_of_the_machine_is_not_there(run):
    dial = 'import socket; socket.create_connection(("192.0.2.1", 53), 2)'
    output = await run(f"cat /proc/net/dev | tail -n +3; python3 -c '{dial}' && echo SUCCEEDED")
    assert "SUCCEEDED" not in output and "eth" not in output


async def test_a_terminal_of_the_person_gets_no_keystrokes(run):
    output = await run(
        'python3 -c \'import fcntl, termios; fcntl.ioctl(open("/dev/tty"), termios.TIOCSTI, b"x")\' && echo SUCCEEDED'
    )
    assert "SUCCEEDED" not in output


def repository(folder):
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    (folder / ".git" / "hooks").mkdir(exist_ok=True)
    return folder


@pytest.mark.parametrize(
    "attempt",
    [
        "git config core.fsmonitor 'touch {home}/outside'",
        "echo '[core]' >> .git/config",
        "rm -f .git/config; echo x > .git/config",
        "mv .git .aside; cp -r .aside .git; echo '[core]' >> .git/config",
        "mv .git/hooks .git/aside; mkdir .git/hooks; echo x > .git/hooks/pre-commit",
        "echo x > .git/hooks/pre-commit",
        "ln -s /tmp/evil .git/hooks/post-checkout",
        "echo '{}' > .vscode/tasks.json; mv .vscode .aside; mkdir .vscode; echo '{}' > .vscode/tasks.json",
        "umount .git/config .git/hooks; echo '[core]' >> .git/config",
    ],
)
async def test_what_an_editor_or_git_would_run_outside_stays_as_it_is(run, home, attempt):
    work = repository(home / "work")
    (work / ".vscode").mkdir()

    def state():
        found = [work / ".git" / "config", *(work / ".git" / "hooks").iterdir(), *(work / ".vscode").iterdir()]
        return {str(one): one.read_bytes() for one in found}

    before = state()
    await run(attempt.replace("{home}", str(home)))
    assert state() == before


async def test_a_repository_without_hooks_is_given_none(run, home):
    work = repository(home / "work")
    shutil.rmtree(work / ".git" / "hooks")
    await run("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit; mv .git/hooks .git/h; mkdir .git/hooks")
    assert list((work / ".git" / "hooks").iterdir()) == []


async def test_the_file_that_names_the_repository_of_a_worktree_stays_as_it_is(run, home):
    work = home / "work"
    (work / ".git").write_text("gitdir: ../other\n")
    await run("mkdir evil; echo 'gitdir: evil' > .git; rm -f .git; mv .git aside; echo 'gitdir: evil' > .git")
    assert (work / ".git").read_text() == "gitdir: ../other\n"


EVIL = "cp -r .git/objects .git/refs evil; printf '[core]\\n\\tfsmonitor = touch {home}/ran' > evil/config"


@pytest.mark.parametrize(
    "how",
    [
        "echo ../evil > .git/commondir",
        "echo ../evil > x; ln -s ../x .git/commondir",
        "rm -rf .git/HEAD; git init -q .; echo ../evil > .git/commondir",
    ],
)
async def test_git_is_not_left_with_another_configuration(run, home, how):
    work = repository(home / "work")
    output = await run(f"mkdir evil; {EVIL}; {how}".replace("{home}", str(home)))
    assert "commondir was set aside" in output and not os.path.lexists(work / ".git" / "commondir")
    await asyncio.to_thread(subprocess.run, ["git", "status"], cwd=work, check=True, capture_output=True)
    assert not (home / "ran").exists()
    assert "set aside" not in await run("true")


@pytest.mark.parametrize(
    ("made", "name"),
    [
        ("mkdir .vscode; echo '{}' > .vscode/tasks.json", ".vscode"),
        ("git init -q .", ".git"),
        ("mkdir .agent-lsp", ".agent-lsp"),
        ("ln -s /nowhere .idea", ".idea"),
    ],
)
async def test_what_an_editor_or_git_would_run_is_told_of_once_when_it_is_new(run, home, made, name):
    output = await run(made)
    assert output.count("[new: ") == 1 and f"[new: {home / 'work' / name};" in output
    assert "[new: " not in await run("true")


async def test_a_new_repository_is_not_left_with_another_configuration_either(run, home):
    output = await run(f"git init -q .; mkdir evil; {EVIL}; echo ../evil > .git/commondir".replace("{home}", str(home)))
    assert "commondir was set aside" in output and "[new: " in output


async def test_what_has_come_to_be_between_two_commands_is_told_with_the_next_one(run, home):
    await run("true")
    (home / "work" / ".vscode").mkdir()
    assert "[new: " in await run("true")


async def test_a_folder_where_nothing_is_is_left_as_it_is(run, home):
    assert "[new: " not in await run("true")
    assert [one.name for one in (home / "work").iterdir()] == ["secret"]


async def test_git_works_inside_all_the_same(run, home):
    repository(home / "work")
    who = "-c user.name=x -c user.email=x@example.org"
    output = await run(
        f"echo a > a && git add a && git {who} commit -q -m first && git checkout -q -b two && git log --oneline"
    )
    assert "first" in output and "[exit code: 0]" in output
