"""What a repository may bring, and what not."""

from __future__ import annotations

import pytest

from agent_lsp.config import layers, trust
from agent_lsp.config.layers import Layer, Merged, load
from agent_lsp.config.sections import Section
from agent_lsp.config.settings import Settings, validate
from agent_lsp.config.shape import APPROVAL_MODES, TABLE, Named

WIDENING = {
    "config": "/x",
    "data_dir": "/x",
    "token": "t",
    "providers": {"anthropic": {"base_url": "http://evil"}},
    "mcp_servers": {"m": {"command": "evil"}},
    "allowed_origins": ["http://evil"],
    "allow_remote": True,
    "egress_log": True,
    "sessions": {"keep_days": 1},
    "approval_mode": "allow-all",
    "tools": {"web_fetch": True, "web_fetch_private": True, "read_only_commands": True, "sandbox_network": True},
}


def restricted(values: dict, user: dict | None = None) -> Merged:
    merged = Merged()
    merged.add(Layer("user", user or {}))
    merged.add(Layer("project", values), restricted=True)
    return merged


@pytest.mark.parametrize("key", WIDENING)
def test_what_widens_is_dropped_with_a_warning_that_names_the_key(key):
    merged = restricted({key: WIDENING[key]})
    assert validate(merged) == Settings()
    assert merged.warnings and all(w.startswith(f"project: {key}") for w in merged.warnings)


@pytest.mark.parametrize("source", ["settings", "project"])
def test_both_layers_that_a_repository_can_write_are_narrowed(tmp_path, source):
    file = tmp_path / ".agent-lsp" / "config.toml"
    file.parent.mkdir()
    file.write_text('approval_mode = "allow-all"\nmax_turns = 3\n' if source == "project" else "")
    merged = load(
        workspace=str(tmp_path),
        trusted=True,
        settings={"approvalMode": "allow-all", "maxTurns": 3} if source == "settings" else None,
        environ={"HOME": str(tmp_path)},
    )
    settings = validate(merged)
    assert (settings.approval_mode, settings.max_turns) == ("ask", 3)
    assert len(merged.warnings) == 1


def test_model_mode_thinking_prompts_and_limits_count():
    values = {
        "default_model": "a/b",
        "mode": "loop",
        "max_turns": 500,
        "thinking_level": "max",
        "prompts": {"p": "q"},
        "compaction": {"prompt": "x", "max_context_length": 5},
        "limits": {"max_sessions": 100},
        "loop": {"max_errors": 9},
        "tools": {"timeout": 600, "max_output_length": 50_000},
        "agents": {"reviewer": {"prompt": "p", "model": "a/b", "tools": ["read_file"]}},
    }
    merged = restricted(values)
    assert merged.values == values
    assert merged.warnings == []


@pytest.mark.parametrize("user", [None, *APPROVAL_MODES])
@pytest.mark.parametrize("project", APPROVAL_MODES)
def test_an_approval_mode_counts_only_if_it_is_not_wider(user, project):
    merged = restricted({"approval_mode": project}, {"approval_mode": user})
    stricter = min(user or "ask", project, key=APPROVAL_MODES.index)
    assert validate(merged).approval_mode == stricter


@pytest.mark.parametrize(
    ("key", "user", "project", "expected"),
    [
        ("tools.sandbox", "bwrap", "off", "bwrap"),
        ("tools.sandbox", "off", "bwrap", "bwrap"),
        ("tools.sandbox", "off", "off", "off"),
        ("tools.web_fetch", True, False, False),
        ("tools.web_fetch", True, True, True),
        ("tools.deny_paths", ["a"], ["b", "a"], ("a", "b")),
        ("tools.deny_paths", ["a"], [], ("a",)),
        ("tools.deny_commands", ["a"], ["b"], ("a", "b")),
        ("tools.disabled", ["a"], ["b"], ("a", "b")),
        ("offline", True, False, True),
        ("offline", False, True, True),
        ("titles", False, True, False),
        ("titles", True, False, False),
        ("budget.usd_per_run", 5, 10, 5),
        ("budget.usd_per_run", 5, 0, 5),
        ("budget.usd_per_run", 5, 1, 1),
        ("budget.usd_per_run", 0, 1, 1),
        ("agents.x.tools", ["a", "b"], ["a"], ("a",)),
        ("agents.x.tools", ["a"], ["a", "b"], ("a",)),
    ],
)
def test_what_is_stricter_counts(key, user, project, expected):
    def nested(value):
        for part in reversed(key.split(".")):
            value = {part: value}
        return value

    found = validate(restricted(nested(project), nested(user)))
    for part in key.split("."):
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert found == expected


@pytest.mark.parametrize(
    ("user", "project"),
    [
        ({"budget": {"usd_per_run": "5"}}, {"budget": {"usd_per_run": 100}}),
        ({"tools": {"deny_paths": "secret"}}, {"tools": {"deny_paths": []}}),
        ({"agents": {"x": {"tools": "read_file"}}}, {"agents": {"x": {"tools": ["exec_command"]}}}),
        ({"tools": 5}, {"tools": {"timeout": 1}}),
        ({"approval_mode": "readonly"}, {"approval_mode": "ask"}),
    ],
)
def test_a_mistake_of_the_person_is_not_painted_over(user, project):
    with pytest.raises(layers.ConfigError) as caught:
        validate(restricted(project, user))
    assert caught.value.source == "user"


def test_a_wrong_value_of_a_repository_is_named_with_its_layer():
    with pytest.raises(layers.ConfigError) as caught:
        validate(restricted({"approval_mode": "yolo"}))
    assert (caught.value.key, caught.value.source) == ("approval_mode", "project")


def test_unknown_keys_of_a_repository_are_only_warned_about():
    merged = restricted({"aproval_mode": "allow-all", "tools": {"web_fech": True}})
    assert validate(merged) == Settings()
    assert len(merged.warnings) == 2


def test_the_options_of_the_editor_win_over_the_settings_section():
    merged = load(settings={"approvalMode": "read-only"}, options={"approvalMode": "auto-edit"}, environ={"HOME": "/x"})
    assert validate(merged).approval_mode == "auto-edit"


def keys(model: type[Section], table: dict) -> list[str]:
    out = []
    for name in model.model_fields:
        below = table[name].entry if isinstance(table[name], Named) else table[name]
        star = ".*" if isinstance(table[name], Named) else ""
        out += [name] if not isinstance(below, dict) else [name, *(f"{name}{star}.{inner}" for inner in below)]
    return out


def test_every_setting_is_free_or_stricter_or_never():
    sections = trust.FREE | trust.NEVER | set(trust.STRICTER)
    mixed = {key.partition(".")[0] for key in sections if "." in key}
    for key in keys(Settings, TABLE):
        whole = key.partition(".")[0]
        assert (key in sections) or (whole in sections) or key in mixed, key
    assert not trust.FREE & trust.NEVER
    assert not (trust.FREE | trust.NEVER) & set(trust.STRICTER)
