"""The verdict on a configuration, and the quick look that spares it."""

from __future__ import annotations

import tomllib
import types
import typing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.config import builtin, shape
from agent_lsp.config.layers import OPTIONS, Merged, load
from agent_lsp.config.problems import InvalidSettings
from agent_lsp.config.sections import Section
from agent_lsp.config.settings import Settings, validate
from agent_lsp.config.shape import LARGEST, TABLE, Named, fits
from agent_lsp.config.spelling import to_camel, to_snake
from agent_lsp.errors import ConfigError

ENVIRON = {"HOME": "/nonexistent"}
DOCUMENTED = """
default_model = "anthropic/claude-sonnet-5"
approval_mode = "ask"
mode = "native"
max_turns = 100
thinking_level = "medium"
offline = false
[providers.local]
api = "openai-chat"
base_url = "http://127.0.0.1:11434/v1"
api_key_env = "LOCAL_KEY"
headers = {}
request_timeout = 120
content_timeout = 600
[providers.local.models."qwen3:8b"]
context_window = 32768
max_output_tokens = 8192
vision = false
tool_calling = true
prices = { input = 0.0, cache_read = 0.0, cache_write = 0.0, output = 0.0 }
[reconnect]
max_retries = 5
base_ms = 250
cap_ms = 30000
[compaction]
max_context_length = 128000
max_session_turns = -1
mode = "summarize"
prompt = "Summarise."
[limits]
max_message_bytes = 67108864
max_queued_bytes = 16777216
max_sessions = 64
[tools]
disabled = []
deny_paths = []
max_output_length = 16000
timeout = 120
sandbox = "off"
[loop]
max_steps_per_turn = 8
[budget]
usd_per_run = 0
usd_per_day = 0
tokens_per_run = 0
[agents.reviewer]
prompt = "Review."
model = "a/b"
tools = ["read_file"]
[mcp_servers.files]
command = "x"
args = []
env = {}
"""


def options(values: dict) -> Merged:
    return load(options=values, environ=ENVIRON)


def problems(values: dict) -> list[tuple[str, str]]:
    with pytest.raises(InvalidSettings) as caught:
        validate(options(values))
    assert all(problem.source == OPTIONS for problem in caught.value.problems)
    return [(problem.path, problem.message) for problem in caught.value.problems]


def camel(values: dict) -> dict:
    return {to_camel(key): camel(value) if isinstance(value, dict) else value for key, value in values.items()}


def test_every_documented_setting_is_read_and_fits():
    values = tomllib.loads(DOCUMENTED)
    assert fits(values)
    read = Settings.model_validate(values)
    assert read.providers["local"].models["qwen3:8b"].context_window == 32768
    assert (read.reconnect, read.limits, read.budget) == (Settings().reconnect, Settings().limits, Settings().budget)


def test_the_model_reads_both_spellings():
    values = {"max_turns": 3, "reconnect": {"max_retries": 2}, "tools": {"deny_paths": ["x"]}}
    assert Settings.model_validate(values) == Settings.model_validate(camel(values))


@pytest.mark.parametrize(
    ("wrong", "path", "told"),
    [
        ({"approvalMode": "yolo"}, "approvalMode", "'yolo'"),
        ({"reconnect": {"maxRetries": "many"}}, "reconnect.maxRetries", "'many'"),
        ({"providers": {"p": {"api": "telepathy"}}}, "providers.p.api", "'telepathy'"),
        ({"providers": {"p": {"models": {"a.b": {"contextWindow": 0}}}}}, "providers.p.models.a.b.contextWindow", "0"),
        ({"maxTurns": {}}, "maxTurns", "a table"),
        ({"maxTurns": True}, "maxTurns", "True"),
        ({"maxTurns": 2**60}, "maxTurns", "less than"),
        ({"reconnect": 5}, "reconnect", "must be a table"),
        ({"defaultModel": "gpt"}, "defaultModel", "'gpt'"),
        ({"tools": {"disabled": ["a", 3]}}, "tools.disabled.1", "3"),
        ({"tools": {"disabled": "a"}}, "tools.disabled", "'a'"),
        ({"offline": "false"}, "offline", "'false'"),
        ({"budget": {"usdPerDay": float("nan")}}, "budget.usdPerDay", "finite"),
        ({"loop": {"historyCompressionMaxSummaryTokens": 199}}, "loop.historyCompressionMaxSummaryTokens", "200"),
        ({"mcpServers": {"x": {}}}, "mcpServers.x", "command or url"),
        ({"mcpServers": {"x": {"command": "a", "url": "http://x"}}}, "mcpServers.x", "command or url"),
        ({"providers": {"p": {"baseUrl": "localhost:1"}}}, "providers.p.baseUrl", "'localhost:1'"),
    ],
)
def test_a_wrong_value_is_named_by_path_value_and_source(wrong, path, told):
    assert [message for at, message in problems(wrong) if at == path and told in message]
    assert not fits(options(wrong).values)


def test_all_wrong_values_are_named_at_once():
    assert {path for path, _ in problems({"maxTurns": "x", "mode": "y", "providers": {"mine": {}}})} == {
        "maxTurns",
        "mode",
        "providers.mine.api",
    }


def test_a_path_is_spelled_as_its_layer_spells_it(tmp_path):
    file = tmp_path / "c.toml"
    file.write_text('[reconnect]\nmax_retries = "x"\n')
    with pytest.raises(InvalidSettings) as caught:
        validate(load(options={"config": str(file), "reconnect": {"capMs": "y"}}, environ=ENVIRON))
    assert {(p.path, p.source) for p in caught.value.problems} == {
        ("reconnect.max_retries", str(file)),
        ("reconnect.capMs", OPTIONS),
    }


@pytest.mark.parametrize("name", sorted(builtin.NAMES))
def test_a_built_in_provider_needs_no_api(name):
    merged = options({"providers": {name: {"requestTimeout": 5}}})
    assert fits(merged.values)
    validate(merged)


@pytest.mark.parametrize(
    "wrong",
    [
        {"providers": {"p": {"api": "gemini", "apiKey": ["PLANTED"]}}},
        {"providers": {"p": "PLANTED"}},
        {"providers": ["PLANTED"]},
        {"providers": {"p": {"api": "gemini", "headers": {"x": {"PLANTED": 1}}}}},
        {"providers": {"p": {"api": "gemini", "headers": "PLANTED"}}},
        {"providers": {"p": {"api": "gemini", "baseUrl": "ftp://me:PLANTED@x"}}},
        {"mcpServers": {"x": {"command": "c", "env": {"A": ["PLANTED"]}}}},
        {"mcpServers": {"x": {"env": {"A": "PLANTED"}}}},
        {"mcpServers": {"x": {"command": "c", "args": [["PLANTED"]]}}},
        {"token": ["PLANTED"]},
    ],
)
def test_no_credential_is_in_an_error_or_its_traceback(wrong):
    with pytest.raises(InvalidSettings) as caught:
        validate(options(wrong))
    assert "PLANTED" not in f"{caught.value}{caught.value.problems}"
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_no_credential_is_in_the_representation():
    values = {
        "token": "PLANTED",
        "providers": {"p": {"api": "gemini", "apiKey": "PLANTED", "headers": {"x": "PLANTED"}}},
        "mcpServers": {"m": {"url": "http://x", "headers": {"x": "PLANTED"}}},
    }
    assert "PLANTED" not in repr(validate(options(values)))


# -- the table and the model --------------------------------------------------------

NUMBERS = [0, 1, -1, 1023, 1024, 199, 200, LARGEST, LARGEST + 1, 0.0, 0.5, -0.5, float("nan"), float("inf")]
TEXTS = ["", "a", "a/b", "/b", "a/", "a/\n", "a\n/b", "http://x", "https://é", "http://x\n", "é", "\ud800", "a/\ud800"]
CHOICES = [*shape.APIS, *shape.APPROVAL_MODES, *shape.THINKING_LEVELS, "discard", "bwrap", "off", "loop", "native"]
LISTS = [[], ["a"], [""], [1], [["a"]], ["\ud800"]]
DICTS = [{}, {"a": "b"}, {"a": ""}, {"a": 1}, {"": "a"}, {"\ud800": "a"}]
EDGES = st.sampled_from([None, True, False, *NUMBERS, *TEXTS, *CHOICES, *LISTS, *DICTS])
NAMES = st.sampled_from(["a", "", "a.b", "anthropic", "rehearsal", "models", "\ud800"])


def tables(shape_: shape.Shape) -> st.SearchStrategy:
    """Values near what a shape wants: right keys with odd values, odd keys, odd types."""
    if isinstance(shape_, Named):
        return st.dictionaries(NAMES, tables(shape_.entry), max_size=2)
    if isinstance(shape_, dict):
        known = st.fixed_dictionaries({}, optional={key: tables(below) for key, below in shape_.items()})
        return st.one_of(known, known, known, EDGES)
    return EDGES


@settings(deadline=None, max_examples=400)
@given(st.data())
def test_what_fits_is_accepted_without_a_warning(data):
    key = data.draw(st.sampled_from(sorted(TABLE)))
    merged = options({})
    values = {key: data.draw(tables(TABLE[key]))}
    if fits(values):
        merged.values.update(values)
        validate(merged)
        assert load(options=values, environ=ENVIRON).warnings == []


@settings(deadline=None, max_examples=200)
@given(st.recursive(EDGES, lambda inner: st.dictionaries(st.sampled_from(sorted(TABLE)), inner)))
def test_odd_values_end_in_settings_or_in_named_problems(value):
    try:
        validate(options(value if isinstance(value, dict) else {"tools": value}))
    except InvalidSettings as error:
        assert all(problem.path and problem.message for problem in error.problems)
        assert str(error).encode()
    except ConfigError as error:
        assert error.message.encode()


def inner_model(annotation: object) -> tuple[type[Section] | None, bool]:
    """The section an annotation holds, and whether by name."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation, False
    found = [inner_model(argument)[0] for argument in typing.get_args(annotation)]
    return next((model for model in found if model), None), typing.get_origin(annotation) is dict


def check(model: type[Section], table: dict, path: str) -> None:
    assert set(model.model_fields) == set(table), path
    for name, field in model.model_fields.items():
        section, named = inner_model(field.annotation)
        below = table[name]
        if section is None:
            assert not isinstance(below, dict), f"{path}{name}"
            continue
        assert isinstance(below, Named) is named, f"{path}{name}"
        check(section, below.entry if isinstance(below, Named) else below, f"{path}{name}.")


def test_the_table_has_exactly_the_fields_of_the_model():
    check(Settings, TABLE, "")


def test_the_table_has_the_choices_of_the_model():
    def choices(name: str) -> tuple[str, ...]:
        annotation = Settings.model_fields[name].annotation
        if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
            annotation = typing.get_args(annotation)[0]
        return typing.get_args(annotation)

    assert choices("approval_mode") == shape.APPROVAL_MODES
    assert choices("thinking_level") == shape.THINKING_LEVELS


@pytest.mark.parametrize("key", ["max_turns", "mcp_servers", "api_key_env", "titles", "a.b"])
def test_the_spellings_are_each_others_inverse(key):
    assert to_snake(to_camel(key)) == key == to_snake(key)
