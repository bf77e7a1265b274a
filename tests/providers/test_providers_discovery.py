import json

import pytest

from agent_lsp.providers.catalog import configured_models, default_model, is_nothing_configured
from agent_lsp.providers.discovery import as_providers, discover
from agent_lsp.providers.endpoint import endpoint_for
from tests.providers.wire_server import HANG, Server, plain, serving


def listing(*models):
    return plain(200, json.dumps({"object": "list", "data": list(models)}).encode())


async def found(*answers, within_s=5.0):
    servers = [Server() for _ in answers]
    async with serving(*servers):
        for server, answer in zip(servers, answers, strict=True):
            server.answers = [answer]
        names = ("ollama", "lmstudio", "llamacpp", "vllm")
        ports = {name: server.port for name, server in zip(names, servers, strict=False)}
        return await discover({**ports, "vllm": 1}, within_s=within_s)


@pytest.mark.asyncio
async def test_each_server_tells_its_models_in_the_order_of_the_ports():
    models = await found(
        listing({"id": "qwen3:8b"}, {"id": "nomic-embed-text"}),
        listing({"id": "vl", "max_context_length": 32_768, "type": "vlm"}),
        listing({"id": "m.gguf", "meta": {"n_ctx_train": 131_072, "n_ctx": 4_096}, "capabilities": ["multimodal"]}),
    )
    assert models == [
        {"provider": "ollama", "model": "qwen3:8b", "vision": False, "toolCalling": True, "hasCredential": True},
        {
            "provider": "lmstudio",
            "model": "vl",
            "contextWindow": 32_768,
            "vision": True,
            "toolCalling": True,
            "hasCredential": True,
        },
        {
            "provider": "llamacpp",
            "model": "m.gguf",
            "contextWindow": 4_096,
            "vision": True,
            "toolCalling": True,
            "hasCredential": True,
        },
    ]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "answer",
    [
        plain(404),
        plain(200, b"<html>"),
        plain(200, b"[]"),
        plain(200, b'{"data": [{"name": "x"}, 3]}'),
        plain(302, headers="location: http://example.com/\r\n"),
        [b"220 smtp ready\r\n", None],
    ],
)
async def test_what_is_no_model_server_is_passed_over(answer):
    assert await found(answer, listing({"id": "m"})) == [
        {"provider": "lmstudio", "model": "m", "vision": False, "toolCalling": True, "hasCredential": True}
    ]


@pytest.mark.asyncio
async def test_a_server_that_is_late_is_not_waited_for():
    assert await found([HANG], within_s=0.05) == []


def test_what_was_found_is_known_like_any_configured_model():
    info = {
        "provider": "vllm",
        "model": "org/m",
        "contextWindow": 9,
        "vision": False,
        "toolCalling": True,
        "hasCredential": True,
    }
    table = as_providers([info])
    assert info in configured_models(table, {})
    assert default_model(None, table, {}) == {"provider": "vllm", "model": "org/m"}
    assert default_model(None, table, {"GROQ_API_KEY": "k"})["provider"] == "groq"
    assert endpoint_for("vllm", "org/m", table, {}).context_window == 9


def test_the_machine_is_asked_only_when_nothing_is_configured():
    assert is_nothing_configured(None, {}, {"PATH": "x"})
    assert not is_nothing_configured("a/b", {}, {})
    assert not is_nothing_configured(None, {"p": {}}, {})
    assert not is_nothing_configured(None, {}, {"XAI_API_KEY": "k"})
