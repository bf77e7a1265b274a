import sys
import threading
from types import SimpleNamespace

import pytest

from agent_lsp.errors import ConfigError
from agent_lsp.providers.catalog import default_model
from agent_lsp.providers.credentials import forget_key, keep_key, kept_keys, with_kept_keys
from agent_lsp.providers.endpoint import endpoint_for


@pytest.fixture
def ring(monkeypatch):
    """A keyring in memory."""
    kept = {}
    fake = SimpleNamespace(
        get_password=lambda service, name: kept.get((service, name)),
        set_password=lambda service, name, key: kept.__setitem__((service, name), key),
        delete_password=lambda service, name: kept.pop((service, name)),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return fake


@pytest.mark.usefixtures("ring")
def test_a_kept_key_is_found_until_it_is_forgotten():
    keep_key("openai", "sk-1")
    assert kept_keys() == {"openai": "sk-1"} and kept_keys(["groq"]) == {}
    assert forget_key("openai") and not forget_key("openai")
    assert kept_keys() == {}


def test_without_the_package_there_are_no_keys(monkeypatch):
    monkeypatch.setitem(sys.modules, "keyring", None)
    assert kept_keys() == {}
    for change in (lambda: keep_key("openai", "k"), lambda: forget_key("openai")):
        with pytest.raises(ConfigError, match=r"agent-lsp\[keyring\]"):
            change()


def test_a_keyring_that_fails_is_as_if_nothing_were_kept(ring):
    def locked(*_):
        raise RuntimeError("locked")

    ring.get_password = ring.set_password = locked
    assert kept_keys() == {}
    with pytest.raises(ConfigError, match="RuntimeError: locked"):
        keep_key("openai", "k")


def test_nobody_waits_for_a_keyring_that_hangs(ring):
    release = threading.Event()
    ring.get_password = ring.set_password = lambda *_: release.wait(10)
    assert kept_keys(within_s=0.02) == {}
    with pytest.raises(ConfigError, match=r"no answer within 0\.02 s"):
        keep_key("openai", "k", within_s=0.02)
    release.set()


def test_a_kept_key_is_the_last_source():
    keys = {"openai": "kept", "groq": "kept", "mine": "kept", "unknown": "kept"}
    mine = {"api": "openai-chat", "base_url": "http://x", "api_key_env": "MINE"}
    providers = {"mine": mine, "groq": {"api_key": "configured"}}
    table = with_kept_keys(providers, {"OPENAI_API_KEY": "in the environment"}, keys)
    assert table == {"mine": {**mine, "api_key": "kept"}, "groq": {"api_key": "configured"}}
    table = with_kept_keys(providers, {}, keys)
    assert endpoint_for("openai", "gpt-5", table, {}).api_key == "kept"
    assert default_model(None, table, {})["provider"] == "openai"
