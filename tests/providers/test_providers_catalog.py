# ruff: noqa: E501
import subprocess
import sys

import pytest

from agent_lsp.errors import ModelUnavailable
from agent_lsp.providers.build import build
from agent_lsp.providers.catalog import BUILT_IN, KNOWN, configured_models, default_model, is_loopback
from agent_lsp.providers.endpoint import Endpoint, endpoint_for
from agent_lsp.providers.thinking import claude_style, key, wording

LOCAL = {
    "api": "openai-chat",
    "base_url": "http://127.0.0.1:9/v1",
    "models": {"m": {"context_window": 9, "vision": True}},
}


def test_the_catalogue_needs_nothing_heavy():
    code = "import sys, agent_lsp.providers.catalog; print([m for m in ('pydantic', 'httpx', 'asyncio') if m in sys.modules])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_nothing_configured_lists_the_rehearsal_alone():
    (model,) = configured_models({}, {})
    assert (model["provider"], model["model"], model["hasCredential"]) == ("rehearsal", "rehearsal", True)
    assert default_model(None, {}, {}) == {"provider": "rehearsal", "model": "rehearsal"}


def test_a_key_lists_the_models_of_its_provider():
    names = {(one["provider"], one["hasCredential"]) for one in configured_models({}, {"GROQ_API_KEY": "k"})}
    assert names == {("groq", True), ("rehearsal", True)}


def test_configured_models_say_what_is_known_of_them():
    listed = configured_models({"local": LOCAL, "closed": {**LOCAL, "api_key_env": "CLOSED_KEY"}}, {})
    assert listed[0] == {
        "provider": "local",
        "model": "m",
        "contextWindow": 9,
        "vision": True,
        "toolCalling": True,
        "hasCredential": True,
    }
    assert listed[1]["hasCredential"] is False


def test_the_default_is_the_first_provider_with_a_key():
    environ = {"XAI_API_KEY": "k", "GOOGLE_API_KEY": "k"}
    assert default_model(None, {}, environ)["provider"] == "gemini"
    assert default_model("openai/gpt-x/y", {}, environ) == {"provider": "openai", "model": "gpt-x/y"}


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_provider_works_with_a_key_alone(name):
    known = BUILT_IN[name]
    endpoint = endpoint_for(name, known.default_model, {}, {known.key_env[-1]: "k"})
    assert endpoint.api_key == "k" and endpoint.base_url.startswith("https://")
    assert known.default_model in known.models
    assert build(endpoint)


REFUSED = {
    "an unknown provider": ("nope", "m", {}, "configure providers.nope"),
    "a model alone": ("gpt-5.1", "", {}, 'write it as "provider/model"'),
    "no key": ("anthropic", "m", {}, "set ANTHROPIC_API_KEY"),
    "no key in the named variable": ("p", "m", {"p": {**LOCAL, "api_key_env": "MINE"}}, "set MINE"),
    "no api": ("p", "m", {"p": {"base_url": "http://x"}}, "set providers.p.api"),
    "no base URL": ("p", "m", {"p": {"api": "anthropic"}}, "set providers.p.base_url"),
    "a base URL that is none": (
        "p",
        "m",
        {"p": {"api": "anthropic", "base_url": "http://[x"}},
        "set providers.p.base_url",
    ),
    "no model": ("p", "", {"p": LOCAL}, "provider/model"),
    "another rehearsal": ("rehearsal", "x", {}, "rehearsal/rehearsal"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_missing_is_said(name):
    provider, model, providers, hint = REFUSED[name]
    with pytest.raises(ModelUnavailable) as caught:
        endpoint_for(provider, model, providers, {})
    assert hint in caught.value.hint


def test_a_dialect_that_is_not_spoken_is_refused():
    with pytest.raises(ModelUnavailable, match="speaks 'telepathy'"):
        build(Endpoint("p", "telepathy", "https://x", "m"))


def test_the_native_dialects_are_the_usual_ones_and_chat_stays_usable():
    assert endpoint_for("openai", "gpt-5", {}, {"OPENAI_API_KEY": "k"}).api == "openai-responses"
    native = endpoint_for("gemini", "gemini-2.5-pro", {}, {"GEMINI_API_KEY": "k"})
    chat = endpoint_for("gemini", "gemini-2.5-pro", {"gemini": {"api": "openai-chat"}}, {"GEMINI_API_KEY": "k"})
    assert (native.api, native.base_url) == ("gemini", "https://generativelanguage.googleapis.com")
    assert (chat.api, chat.base_url) == ("openai-chat", "https://generativelanguage.googleapis.com/v1beta/openai")
    assert build(native) and build(chat)


def test_a_model_that_is_not_listed_is_taken_for_one_of_its_family():
    endpoint = endpoint_for("openai", "gpt-5.9-next", {}, {"OPENAI_API_KEY": "k"})
    assert endpoint.vision and endpoint.context_window and endpoint.max_output_tokens is None
    assert endpoint_for("ollama", "gpt-oss:20b", {}, {}).context_window is None
    table = {"local": {**LOCAL, "models": {"q": {"think_tags": True}}}}
    assert endpoint_for("local", "q", table, {}).think_tags and not endpoint_for("local", "r", table, {}).think_tags


def test_an_endpoint_never_shows_its_secrets():
    settings = {**LOCAL, "api_key": "sk-1", "headers": {"x-token": "tok-2"}}
    endpoint = endpoint_for("p", "m", {"p": settings}, {})
    assert "sk-1" not in repr(endpoint) and "tok-2" not in repr(endpoint)
    assert set(endpoint.secrets) == {"sk-1", "tok-2"}


def test_settings_override_the_catalogue():
    settings = {"base_url": "http://proxy/v1", "request_timeout": 5, "models": {"gpt-5": {"context_window": 7}}}
    endpoint = endpoint_for("openai", "gpt-5", {"openai": settings}, {"OPENAI_API_KEY": " k\n"})
    assert (endpoint.base_url, endpoint.context_window, endpoint.request_timeout_s) == ("http://proxy/v1", 7, 5.0)
    assert endpoint.max_output_tokens == BUILT_IN["openai"].models["gpt-5"].max_output_tokens
    assert endpoint.api_key == "k"
    assert (
        endpoint_for("openai", "m", {}, {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://b"}).base_url == "http://b"
    )


def test_a_model_on_this_machine_may_be_silent_for_longer():
    assert endpoint_for("ollama", "qwen3:8b", {}, {}).request_timeout_s == 600
    assert endpoint_for("xai", "m", {}, {"XAI_API_KEY": "k"}).request_timeout_s == 120


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9", "[::1]", "a.localhost", "LOCALHOST."])
def test_loopback(host):
    assert is_loopback(f"http://{host}:80/v1")


@pytest.mark.parametrize("host", ["localhost.evil.com", "10.0.0.1", "example.com", "[::2]", "", "[x"])
def test_not_loopback(host):
    assert not is_loopback(f"http://{host}/v1")


def test_urls_keep_a_query_at_the_end():
    endpoint = Endpoint("p", "openai-chat", "https://h/openai/deployments/d?api-version=1", "m")
    assert endpoint.url("/chat/completions") == "https://h/openai/deployments/d/chat/completions?api-version=1"


@pytest.mark.parametrize(
    ("model", "style"),
    [
        ("claude-sonnet-5", "adaptive"),
        ("claude-opus-4-6", "adaptive"),
        ("claude-opus-4-7-20260401", "adaptive"),
        ("claude-sonnet-4-5-20250929", "budget"),
        ("claude-opus-4-1", "budget"),
        ("claude-sonnet-4-20250514", "budget"),
        ("claude-3-7-sonnet-latest", "budget"),
        ("kimi-k2", "budget"),
    ],
)
def test_claude_styles(model, style):
    assert claude_style(model) == style


def test_a_refused_wording_is_followed_by_the_next_lower_one():
    refused = set()
    seen = []
    while words := wording("effort", "max", frozenset(refused)):
        seen.append(words["reasoning_effort"])
        refused.add(key(words))
    assert seen == ["max", "xhigh", "high", "medium", "low"]
    assert wording("effort", None, frozenset()) == {}


def test_known_providers_have_distinct_names_and_addresses():
    urls = [known.base_url for known in KNOWN.values()]
    assert len(urls) == len(set(urls))
