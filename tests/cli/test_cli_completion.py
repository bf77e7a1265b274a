"""The Tab key in three shells, each asked in its own language."""

import re
import shutil
import subprocess
import sys

import pytest

from agent_lsp.cli import main
from agent_lsp.cli.commands import parser
from agent_lsp.cli.completion import SHELLS, commands, script

CASES = {
    "": {"run", "doctor", "trace", "completion", "acp"},
    "tr": {"trace", "trust"},
    "trace ": {"show", "html", "verify", "replay"},
    "trace html --o": {"--output", "--open"},
    "run --approval-mode ": {"read-only", "plan", "ask", "auto-edit", "allow-all"},
    "usage --by ": {"day", "model", "session"},
    "completion ": {"bash", "zsh", "fish"},
    "--log-level d": {"debug"},
    "schema t": {"typescript"},
}
NEVER = {"trace ": {"run", "doctor"}, "tr": {"run"}, "run --approval-mode ": {"--help"}}

ASK = {
    "bash": """
source {script}
compopt() {{ :; }}
words=({quoted})
COMP_WORDS=(agent-lsp "${{words[@]}}")
COMP_CWORD={number}
_agent_lsp
printf '%s\\n' "${{COMPREPLY[@]}}"
""",
    "zsh": """
compdef() {{ :; }}
_files() {{ :; }}
_message() {{ :; }}
_describe() {{ for one in "${{list[@]}}"; do print -r -- "${{one%%:*}}"; done }}
compadd() {{ shift; print -rl -- "$@" }}
source {script}
words=(agent-lsp {quoted})
CURRENT=$(({number} + 1))
_agent_lsp
""",
    "fish": "source {script}\ncomplete -C 'agent-lsp {line}' | string split -f1 \\t\n",
}


@pytest.fixture(params=SHELLS)
def shell(request, tmp_path):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    file = tmp_path / "completion"
    file.write_text(script(request.param, parser()))

    def ask(line):
        words = line.split(" ")
        quoted = " ".join(f"'{word}'" for word in words)
        asked = ASK[request.param].format(script=file, line=line, quoted=quoted, number=len(words))
        done = subprocess.run([request.param], input=asked, capture_output=True, text=True, timeout=30, cwd=tmp_path)
        assert done.stderr == ""
        return {word for word in done.stdout.split() if word.startswith(words[-1])}

    return ask


@pytest.mark.parametrize("line", CASES)
def test_what_may_come_next_is_offered_and_nothing_else(shell, line):
    offered = shell(line)
    assert CASES[line] <= offered
    assert not offered & NEVER.get(line, set())


@pytest.mark.parametrize("shell_name", SHELLS)
def test_the_command_prints_the_script(shell_name, capsys):
    assert main(["completion", shell_name]) == 0
    assert capsys.readouterr().out == script(shell_name, parser())


def test_every_command_of_the_help_is_known():
    listed = subprocess.run([sys.executable, "-m", "agent_lsp", "--help"], capture_output=True, text=True, check=True)
    helped = set(re.findall(r"^    ([a-z]+)\b", listed.stdout, flags=re.M))
    assert helped == {command.path[0] for command in commands(parser()) if len(command.path) == 1}
    assert {"run", "doctor", "usage", "completion"} <= helped
