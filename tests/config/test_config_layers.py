"""Layers: where settings come from, and which one wins."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_lsp.config import layers, places
from agent_lsp.config.layers import load
from agent_lsp.errors import ConfigError


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def environ(home):
    return {"HOME": str(home)}


@pytest.fixture
def user_file(home):
    """user_file(text, mode) → its path."""

    def write(text: str | bytes, mode: int = 0o600):
        path = home / ".config" / "agent-lsp" / "config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)
        return str(path)

    return write


@pytest.fixture
def project(tmp_path):
    """project(text) → the workspace that brings it."""

    def write(text: str):
        file = tmp_path / "workspace" / ".agent-lsp" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        return str(tmp_path / "workspace")

    return write


def test_later_layers_win_key_by_key(environ, user_file, project):
    file = user_file("max_turns = 1\n[reconnect]\nmax_retries = 1\nbase_ms = 1\ncap_ms = 1\n")
    workspace = project("max_turns = 2\n[reconnect]\nmax_retries = 2\nbase_ms = 2\n")
    merged = load(
        workspace=workspace,
        trusted=True,
        settings={"maxTurns": 3, "reconnect": {"maxRetries": 3}},
        options={"maxTurns": 4},
        arguments={"max_turns": 5},
        environ=environ,
    )
    assert merged.values == {"max_turns": 5, "reconnect": {"max_retries": 3, "base_ms": 2, "cap_ms": 1}}
    assert merged.source("max_turns") == layers.COMMAND_LINE
    assert merged.source("reconnect.max_retries") == layers.SETTINGS
    assert merged.source("reconnect.base_ms") == places.project_file(workspace)
    assert merged.source("reconnect.cap_ms") == file
    assert merged.source("mode") == layers.BUILT_IN
    assert merged.warnings == []


def test_with_nothing_said_there_is_nothing(environ):
    merged = load(environ=environ)
    assert (merged.values, merged.warnings) == ({}, [])


def test_names_stay_and_keys_become_snake_case(environ):
    written = {
        "providers": {
            "myLLM": {
                "baseUrl": "http://x",
                "headers": {"X-Org": "a", "camelCase": "b"},
                "models": {"Qwen3:8B": {"contextWindow": 1}, "a.b": {"toolCalling": True}},
            },
            "models": {"baseUrl": "http://y"},
        },
        "mcpServers": {"myServer": {"command": "x", "env": {"myVar": "1"}}},
        "agents": {"codeReviewer": {"prompt": "p"}},
        "prompts": {"addTests": "Add tests."},
    }
    merged = load(options=written, environ=environ)
    assert merged.values == {
        "providers": {
            "myLLM": {
                "base_url": "http://x",
                "headers": {"X-Org": "a", "camelCase": "b"},
                "models": {"Qwen3:8B": {"context_window": 1}, "a.b": {"tool_calling": True}},
            },
            "models": {"base_url": "http://y"},
        },
        "mcp_servers": {"myServer": {"command": "x", "env": {"myVar": "1"}}},
        "agents": {"codeReviewer": {"prompt": "p"}},
        "prompts": {"addTests": "Add tests."},
    }
    assert merged.as_written("providers.myLLM.models.a.b.tool_calling") == "providers.myLLM.models.a.b.toolCalling"


def test_null_counts_as_left_out(environ):
    merged = load(options={"maxTurns": None, "reconnect": {"maxRetries": None}}, environ=environ)
    assert merged.values == {"reconnect": {}}


def test_a_value_in_place_of_a_table_replaces_it_and_its_sources(environ, user_file):
    user_file("[reconnect]\nmax_retries = 1\n")
    merged = load(options={"reconnect": 5}, environ=environ)
    assert merged.values == {"reconnect": 5}
    assert merged.source("reconnect.max_retries") == layers.OPTIONS


def test_input_is_not_changed(environ, user_file):
    user_file("[tools]\ndisabled = ['a']\n")
    options = {"tools": {"timeout": 1}}
    load(options=options, arguments={"tools": {"timeout": 2}}, environ=environ)
    assert options == {"tools": {"timeout": 1}}


@pytest.mark.parametrize("by", ["options", "arguments"])
def test_config_names_another_user_file(environ, user_file, tmp_path, by):
    user_file("max_turns = 1\n")
    other = tmp_path / "other.toml"
    other.write_text("max_turns = 2\n")
    assert load(environ=environ, **{by: {"config": str(other)}}).values["max_turns"] == 2
    assert "max_turns" not in load(environ=environ, **{by: {"config": str(tmp_path / "none.toml")}}).values


def test_config_of_a_wrong_type_is_left_to_validation(environ):
    assert load(options={"config": 5}, environ=environ).user_file.endswith("/.config/agent-lsp/config.toml")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("a = 1\nb = \n", "line 2"),
        (b"a = 1\nb = '\xff'\n", "line 2"),
        ("a = " + "[" * 100_000, "nested"),
    ],
)
def test_unreadable_toml_names_file_and_position(environ, user_file, content, named):
    file = user_file(content)
    with pytest.raises(ConfigError) as caught:
        load(environ=environ)
    assert file in caught.value.message and named in caught.value.message
    assert caught.value.source == file


def test_a_folder_or_a_path_that_cannot_be_is_no_traceback(environ, tmp_path):
    for path in (str(tmp_path), "\0"):
        with pytest.raises(ConfigError):
            layers.read_file(path)
    assert layers.read_file(str(tmp_path / "x" / "y")) is None
    assert layers.read_file("/dev/null") == ({}, 0o666)


def test_a_byte_order_mark_is_read_over(environ, user_file):
    user_file(b"\xef\xbb\xbfmax_turns = 7\n")
    assert load(environ=environ).values == {"max_turns": 7}


def test_a_key_in_a_file_that_others_can_read_warns(environ, user_file):
    text = "[providers.p]\napi = 'gemini'\napi_key = 'PLANTED'\nheaders = {X = 'PLANTED'}\n"
    user_file(text, 0o600)
    assert load(environ=environ).warnings == []
    file = user_file(text, 0o640)
    warnings = load(environ=environ).warnings
    assert [w for w in warnings if "providers.p.api_key" in w and file in w]
    assert [w for w in warnings if "providers.p.headers.X" in w]
    assert "PLANTED" not in "".join(warnings)
    user_file("max_turns = 1\n", 0o644)
    assert load(environ=environ).warnings == []


def test_a_project_that_is_not_trusted_is_not_read_and_that_is_said(environ, project):
    workspace = project("this is no TOML")
    merged = load(workspace=workspace, environ=environ)
    assert merged.values == {}
    assert [w for w in merged.warnings if "not trusted" in w]


@pytest.mark.parametrize(
    ("arguments", "variable", "options", "expected"),
    [
        ({"data_dir": "/a"}, "/b", {"dataDir": "/c"}, "/a"),
        ({}, "/b", {"dataDir": "/c"}, "/b"),
        ({}, "", {"dataDir": "/c"}, "/c"),
        ({}, "", {"dataDir": "~/d"}, "HOME/d"),
        ({}, "", {"dataDir": 5}, "HOME/.local/share/agent-lsp"),
        ({}, "", {}, "HOME/.local/share/agent-lsp"),
    ],
)
def test_data_dir_by_argument_then_variable_then_setting_then_platform(
    environ, home, arguments, variable, options, expected
):
    environ["AGENT_LSP_DATA_DIR"] = variable
    merged = load(arguments=arguments, options=options, environ=environ)
    assert merged.data_dir == expected.replace("HOME", str(home))


def test_the_xdg_variables_count_unless_they_are_relative(home):
    given = {"HOME": str(home), "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "relative"}
    merged = load(environ=given)
    assert merged.user_file == "/c/agent-lsp/config.toml"
    assert merged.data_dir == f"{home}/.local/share/agent-lsp"


def test_an_unknown_key_warns_with_the_nearest_name_as_the_layer_spells_it(environ, user_file):
    file = user_file("max_turn = 1\n[recconect]\nx = 1\n")
    merged = load(options={"aprovalMode": "ask", "tools": {"disable": []}, "quux": 1, "maxRetries": 3}, environ=environ)
    assert merged.warnings == [
        f"{file}: unknown setting max_turn; did you mean max_turns?",
        f"{file}: unknown setting recconect; did you mean reconnect?",
        "initializationOptions.agent: unknown setting aprovalMode; did you mean approvalMode?",
        "initializationOptions.agent: unknown setting tools.disable; did you mean tools.disabled?",
        "initializationOptions.agent: unknown setting quux",
        "initializationOptions.agent: unknown setting maxRetries; did you mean reconnect.maxRetries?",
    ]


def test_a_key_that_a_terminal_would_act_on_is_made_visible(environ):
    warnings = load(options={"a\x1b[2J\ud800": 1}, environ=environ).warnings
    assert warnings == ["initializationOptions.agent: unknown setting a\\x1b[2J\\ud800"]


def test_deep_nonsense_is_handed_on_without_recursion(environ):
    deep: dict = {}
    for _ in range(5000):
        deep = {"a": deep}
    assert load(options={"tools": deep}, environ=environ).warnings


def test_nothing_heavy_is_imported_before_the_handshake():
    code = """
import sys
from agent_lsp.config import layers, shape
merged = layers.load(options={"maxTurns": 1, "config": "/nonexistent"}, environ={"HOME": "/nonexistent"})
assert shape.fits(merged.values)
print([m for m in ("pydantic", "pathlib", "tomllib", "platformdirs", "difflib", "dataclasses") if m in sys.modules])
"""
    out = subprocess.run([sys.executable, "-I", "-S", "-c", f"import sys; sys.path = {sys.path!r}{code}"], **_captured)
    assert (out.returncode, out.stdout, out.stderr) == (0, "[]\n", "")


_captured: dict = {"capture_output": True, "text": True, "timeout": 30}
