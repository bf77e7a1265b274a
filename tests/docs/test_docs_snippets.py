"""Every snippet of the documentation does what it says, or is at least what it claims to be.

| language | rule |
|---|---|
| sh | run, line by line, in a fresh home and a sample project, with the rehearsal; what installs is looked at |
| python | is an example that is run (`test_docs_examples`), so it has to be the file that it names |
| toml | a configuration: every key and value is one. `check: helix`: a configuration of that editor |
| json | parsed; each program that is started in it is ours, with arguments that it takes |
| lua | compiled by Neovim, else by luac |
| elisp | read by Emacs, form by form |
| text | a drawing or a usage line: nothing to run |
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
import tomllib

import pytest

from agent_lsp.cli.commands import parser
from agent_lsp.cli.completion import commands
from agent_lsp.config.layers import Layer, Merged
from agent_lsp.config.settings import validate
from agent_lsp.server.flags import parse as parse_flags
from tests.docs.home import Home, neovim
from tests.docs.snippets import ROOT, of

INSTALLS = re.compile(r"^(?:(?:\S*/)?pip|pipx|uv tool) install (?:'?\.(?:\[(?P<extras>[\w,]+)\])?'?)$")
MAKES_VENV = re.compile(r"^python3 -m venv \S+$")
PLACES_IT = ("mkdir -p ~/.local/bin", "ln -sf ")
EXTENSION = json.loads((ROOT / "editors" / "vscode" / "package.json").read_text(encoding="utf-8"))["contributes"]


def named(cases):
    return pytest.mark.parametrize("snippet", cases, ids=lambda one: one.where)


def lines_of(snippet):
    """The commands, with lines that go on joined and comments taken off."""
    joined = re.sub(r"\\\n\s*", "", snippet.body)
    return [line for raw in joined.splitlines() if (line := re.sub(r"(^|\s)#.*", "", raw).strip())]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


@pytest.mark.timeout(300)  # several starts of the server, on a machine that may be busy
@named(of("sh"))
def test_shell_commands_run(snippet, home):
    for line in lines_of(snippet):
        if line.startswith(("make ", "python3 -m venv", "pip ", "pipx ", "uv ", "git ", *PLACES_IT)) or "/pip " in line:
            looked_at(line)
        else:
            home.run(line)


def looked_at(line):
    """What installs or builds is not run here; the start pages and `make package` go through it for real."""
    if line.startswith("make "):
        asked = subprocess.run(["make", "-n", *shlex.split(line)[1:]], cwd=ROOT, capture_output=True, text=True)
        assert asked.returncode == 0, asked.stderr
    elif found := INSTALLS.match(line):
        known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set((found["extras"] or "dev").split(",")) <= set(known)
    else:
        assert MAKES_VENV.match(line) or line.startswith(PLACES_IT), f"no rule for {line!r}"


@named(of("python"))
def test_python_is_an_example_that_is_run(snippet):
    assert snippet.remark and snippet.remark[0] == "file", "say which file it is: <!-- file: examples/NAME.py -->"
    assert (ROOT / "docs" / snippet.remark[1]).read_text(encoding="utf-8") == snippet.body


@named(of("toml"))
def test_toml_is_a_configuration_without_an_unknown_key(snippet):
    values = tomllib.loads(snippet.body)
    if snippet.remark == ("check", "helix"):
        for server in values["language-server"].values():
            check_started(server["command"], server.get("args", []))
        assert {name for one in values["language"] for name in one["language-servers"]} >= set(
            values["language-server"]
        )
        return
    check_settings(values)


def check_settings(values):
    merged = Merged()
    merged.add(Layer("a snippet", values))
    assert merged.warnings == []
    validate(merged)


@named(of("json"))
def test_json_is_json_and_starts_what_there_is(snippet):
    value = json.loads(snippet.body)
    for command, arguments in started(value):
        check_started(command, arguments)
    for key, options in pairs(value):
        if key == "initializationOptions" or (snippet.remark == ("check", "options") and key == "agent"):
            check_settings(options["agent"] if key == "initializationOptions" else options)
    if any(key.startswith("agentLsp.") for key in value):
        known = {name: one for part in EXTENSION["configuration"] for name, one in part["properties"].items()}
        for key, given in value.items():
            assert key in known, f"the extension has no setting {key}"
            assert given in known[key].get("enum", [given])


def pairs(value):
    if isinstance(value, dict):
        yield from value.items()
        for one in value.values():
            yield from pairs(one)


def started(value):
    """Every (command, arguments) in a configuration of an editor."""
    for key, one in pairs(value):
        if key == "command":
            yield (one[0], one[1:]) if isinstance(one, list) else (one, value_beside(value, one))


def value_beside(value, command):
    for _, one in pairs({"": value}):
        if isinstance(one, dict) and one.get("command") == command:
            return one.get("args", [])
    return []


def check_started(command, arguments):
    """Whether it is our program, with arguments of its own."""
    assert command in ("agent-lsp", "/path/to/agent-lsp", "npx"), command
    if command == "npx":
        return
    if arguments[:1] == ["acp"]:
        arguments = arguments[1:]
    elif arguments and not arguments[0].startswith("--"):
        assert arguments[0] in {one.path[0] for one in commands(parser()) if one.path}
        return
    parse_flags(list(arguments))


@named(of("lua"))
def test_lua_compiles(snippet, tmp_path):
    file = tmp_path / "snippet.lua"
    file.write_text(snippet.body)
    if editor := neovim():
        command = [editor, "--clean", "--headless", "-l", "-", str(file)]
        done = subprocess.run(command, input="assert(loadfile(arg[1]))", capture_output=True, text=True, timeout=55)
    elif luac := shutil.which("luac"):
        done = subprocess.run([luac, "-p", str(file)], capture_output=True, text=True, timeout=55)
    else:
        pytest.skip("neither Neovim nor luac is installed")
    assert (done.returncode, done.stderr) == (0, "")


@named(of("elisp"))
def test_elisp_can_be_read(snippet, tmp_path):
    if shutil.which("emacs") is None:
        pytest.skip("Emacs is not installed")
    file = tmp_path / "snippet.el"
    file.write_text(snippet.body)
    reading = "(condition-case nil (while t (read (current-buffer))) (end-of-file t))"
    script = f'(with-temp-buffer (insert-file-contents "{file}") (emacs-lisp-mode) (check-parens) {reading})'
    done = subprocess.run(["emacs", "--batch", "-Q", "--eval", script], capture_output=True, text=True, timeout=55)
    assert done.returncode == 0, done.stderr


def test_the_examples_are_all_shown_somewhere():
    shown = {one.remark[1] for one in of("python") if one.remark}
    assert shown == {f"examples/{path.name}" for path in (ROOT / "docs" / "examples").glob("*.py")}


def test_this_interpreter_is_one_that_the_pages_promise():
    assert sys.version_info >= (3, 11)
