"""What `doctor` and `schema config` tell."""

from __future__ import annotations

import tomllib

import jsonschema
import pytest

from agent_lsp.config.facts import gather
from agent_lsp.config.layers import load
from agent_lsp.config.report import report
from agent_lsp.config.schema import json_schema
from agent_lsp.slotted import replace

PLANTED = {
    "token": "PLANTED",
    "approvalMode": "auto-edit",
    "providers": {
        "p": {
            "api": "gemini",
            "apiKey": "PLANTED",
            "baseUrl": "https://me:PLANTED@x",
            "headers": {"a": "PLANTED"},
        },
        "q": {"api": "gemini", "apiKeyEnv": "Q_KEY"},
    },
    "mcpServers": {
        "m": {"command": "c", "args": ["--key=PLANTED"], "env": {"A": "PLANTED"}},
        "n": {"url": "https://x/?key=PLANTED", "headers": {"A": "PLANTED"}},
    },
}


@pytest.fixture
def told(tmp_path):
    """told(options, environ) → the report on them."""

    def _told(options: dict, **environ: str) -> str:
        environ = {"HOME": str(tmp_path), "PATH": "/nowhere", **environ}
        merged = load(workspace="/ws", options=options, environ=environ)
        return report(gather(merged, workspace="/ws", trusted=False, environ=environ))

    return _told


def lines(text: str, start: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line.strip().startswith(start)]


def test_each_setting_in_force_is_told_with_its_source(told, tmp_path):
    file = tmp_path / "c.toml"
    file.write_text("max_turns = 7\n")
    text = told({"config": str(file), "approvalMode": "auto-edit"})
    assert lines(text, "max_turns") == [["max_turns", "7", str(file)]]
    assert lines(text, "approval_mode") == [["approval_mode", '"auto-edit"', "initializationOptions.agent"]]
    assert text.index("Built in") < text.index("reconnect.max_retries")


def test_no_credential_is_told(told):
    text = told(PLANTED, Q_KEY="PLANTED", ANTHROPIC_API_KEY="PLANTED")
    assert "PLANTED" not in text
    assert lines(text, "providers.p.api_key ") == [["providers.p.api_key", "***", "initializationOptions.agent"]]
    assert lines(text, "q ") == [["q", "Q_KEY", "found"]]
    assert lines(text, "anthropic ") == [["anthropic", "ANTHROPIC_API_KEY", "found"]]


def test_the_data_directory_is_told_with_its_source(told):
    assert lines(told({}), "data directory")[0][-2:] == ["built", "in"]
    assert lines(told({}, AGENT_LSP_DATA_DIR="/b"), "data directory")[0][2:4] == ["/b", "$AGENT_LSP_DATA_DIR"]
    assert lines(told({"dataDir": "/c"}), "data directory")[0][2:4] == ["/c", "initializationOptions.agent"]


def test_a_data_directory_that_cannot_be_written_is_told(told, tmp_path):
    (tmp_path / "file").write_text("")
    assert "cannot be written" in told({"dataDir": str(tmp_path / "file" / "below")})
    assert "cannot be written" not in told({"dataDir": str(tmp_path / "new" / "below")})


def test_errors_and_warnings_are_told_and_stop_nothing(told):
    text = told({"maxTurns": "x", "aprovalMode": "ask"})
    assert "maxTurns: must be a valid integer" in text and "did you mean approvalMode?" in text
    assert "Installation" in text and "not found" in text


def test_what_the_sandbox_does_not_do_is_told(told):
    assert "the sandbox is off" in told({})
    assert "bwrap is not found" in told({"tools": {"sandbox": "bwrap"}})


def test_control_characters_are_made_visible(told):
    text = told({"prompts": {"a\x1b[1m": "b\x1b[2m\n"}})
    assert "\x1b" not in text and "\\x1b[1m" in text


def test_the_report_is_a_pure_function_of_the_facts(tmp_path):
    facts = gather(load(environ={"HOME": str(tmp_path)}), workspace=None, trusted=False, environ={})
    assert report(facts) == report(replace(facts))
    assert report(facts).endswith("\n")


@pytest.mark.parametrize("camel", [False, True])
def test_the_schema_is_one_and_knows_right_from_wrong(camel):
    schema = json_schema(camel=camel)
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    key = "approvalMode" if camel else "approval_mode"
    assert validator.is_valid({key: "ask"})
    assert not validator.is_valid({key: "yolo"})
    assert key in schema["properties"] and schema["properties"][key]["description"]


@pytest.mark.parametrize("camel", [False, True])
def test_every_setting_is_described(camel):
    schema = json_schema(camel=camel)
    tables = {"": schema, **schema["$defs"]}
    assert len(tables) > 10
    assert [
        f"{table}.{name}"
        for table, fields in tables.items()
        for name, field in fields["properties"].items()
        if not field.get("description")
    ] == []


def test_the_schema_accepts_toml_as_it_is_written():
    values = tomllib.loads('[tools]\ndeny_paths = ["*.pem"]\n[mcp_servers.x]\ncommand = "x"\nargs = ["y"]\n')
    assert jsonschema.Draft202012Validator(json_schema()).is_valid(values)
