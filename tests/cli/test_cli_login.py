"""Keys go into the keyring and out of it, and are never shown."""

import importlib.util
import io
import sys
from types import SimpleNamespace

import pytest

from agent_lsp.cli import login, main
from agent_lsp.config.builtin import KEY_VARIABLES

KEY = "sk-typed-by-a-person"


@pytest.fixture(autouse=True)
def ring(monkeypatch):
    for name in (name for names in KEY_VARIABLES.values() for name in names):
        monkeypatch.delenv(name, raising=False)
    kept = {}
    fake = SimpleNamespace(
        __spec__=SimpleNamespace(),
        kept=kept,
        get_password=lambda service, name: kept.get(name),
        set_password=lambda service, name, key: kept.__setitem__(name, key),
        delete_password=lambda service, name: kept.pop(name),
    )
    monkeypatch.setitem(sys.modules, "keyring", fake)
    return fake


@pytest.fixture
def config(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(
        '[providers.far]\napi = "openai-chat"\nbase_url = "https://far.example/v1"\n'
        '[providers.near]\napi = "openai-chat"\nbase_url = "http://127.0.0.1:1/v1"\n'
        f'[providers.known]\napi = "openai-chat"\nbase_url = "https://known.example/v1"\napi_key = "{KEY}"\n'
    )
    file.chmod(0o600)
    return file


@pytest.fixture
def said(monkeypatch, capsys, config):
    """said(command, provider, typed) → exit status, all that was printed."""

    def carried_out(command, provider, typed=f"{KEY}\n"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        status = main([command, provider, "--config", str(config)])
        printed = capsys.readouterr()
        assert KEY not in printed.out + printed.err
        return status, printed.out + printed.err

    return carried_out


@pytest.mark.parametrize("provider", ["anthropic", "far"])
def test_a_key_from_stdin_is_kept_until_it_is_dropped(said, ring, provider):
    status, printed = said("login", provider)
    assert (status, ring.kept, "kept" in printed) == (0, {provider: KEY}, True)
    assert said("logout", provider) == (0, f"the key of {provider} is no longer kept in the keyring\n")
    assert ring.kept == {}
    assert said("logout", provider) == (0, f"the key of {provider} was not in the keyring\n")


def test_on_a_terminal_it_is_asked_for_without_an_echo(said, ring, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(login, "getpass", lambda prompt: f" {KEY} ")
    monkeypatch.setattr(io, "StringIO", Terminal)
    assert said("login", "groq")[0] == 0
    assert ring.kept == {"groq": KEY}


def test_a_key_that_goes_before_the_kept_one_is_said(said, monkeypatch):
    assert "goes before it" not in said("login", "groq")[1]
    monkeypatch.setenv("GROQ_API_KEY", "another")
    assert "goes before it" in said("login", "groq")[1]
    assert "goes before it" in said("login", "known")[1]


@pytest.mark.parametrize("typed", ["", "\n", "two words\n", "one\ntwo\n", "sk-\x1b[0m\n"])
def test_what_cannot_be_a_key_is_not_kept(said, ring, typed):
    assert said("login", "groq", typed)[0] == 2
    assert ring.kept == {}


@pytest.mark.parametrize(
    ("provider", "why"),
    [("nobody", "no provider named nobody"), ("near", "providers.near.api_key_env"), ("ollama", "wants no key")],
)
def test_a_key_that_nobody_would_ask_for_is_refused(said, ring, provider, why):
    status, printed = said("login", provider)
    assert (status, why in printed, ring.kept) == (2, True, {})


def test_without_the_package_it_says_what_to_do_instead(said, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    status, printed = said("login", "groq")
    assert status == 2
    assert "agent-lsp[keyring]" in printed
    assert "GROQ_API_KEY" in printed


def test_a_keyring_that_fails_says_so_and_what_to_do_instead(said, ring):
    def locked(*_):
        raise RuntimeError("locked")

    ring.set_password = locked
    status, printed = said("login", "gemini")
    assert status == 2
    assert "locked" in printed
    assert "GEMINI_API_KEY or GOOGLE_API_KEY" in printed


def test_a_configuration_that_is_wrong_is_said_first(said, config):
    config.write_text("[providers.far]\napi = 7\n")
    assert said("login", "far")[0] == 2
