"""Model servers on this machine: who listens on the usual ports, and which models they have.

Asked only while nothing is configured. Whatever answers in another form, late or not at all is no model server.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import from_json

from agent_lsp.config.builtin import LOCAL_PORTS
from agent_lsp.providers import catalog
from agent_lsp.providers.shape import as_count, as_dict, as_list, as_text

WITHIN_S = 0.2
_NO_CHAT = re.compile(r"embed|rerank|whisper|\bbge\b|\btts\b", re.I)
_WINDOWS = ("max_model_len", "loaded_context_length", "context_length", "max_context_length", "context_window", "n_ctx")
_TRAINED = "n_ctx_train"

ModelInfo = dict[str, Any]


async def discover(
    ports: Mapping[str, int] = LOCAL_PORTS, *, host: str = "127.0.0.1", within_s: float = WITHIN_S
) -> list[ModelInfo]:
    """The models of the servers that answer within `within_s`, all asked at once, in the order of `ports`."""
    from agent_lsp.providers import http  # before the clock starts: its import takes longer than an answer

    urls = [f"http://{host}:{port}/v1/models" for port in ports.values()]
    answers = await asyncio.gather(*(http.get(url, within_s=within_s) for url in urls))
    return [info for name, body in zip(ports, answers, strict=True) if body for info in _infos(name, body)]


def as_providers(found: Iterable[ModelInfo]) -> dict[str, dict[str, Any]]:
    """What was found as a `providers` table, so that it is known like any configured model."""
    table: dict[str, dict[str, Any]] = {}
    for info in found:
        settings = {"context_window": info.get("contextWindow"), "vision": info["vision"]}
        given = {name: value for name, value in settings.items() if value}
        table.setdefault(info["provider"], {"models": {}})["models"][info["model"]] = given
    return table


def _infos(provider: str, body: bytes) -> list[ModelInfo]:
    try:
        listed = as_list(as_dict(from_json(body)).get("data"))
    except ValueError:
        return []
    models = {as_text(entry.get("id")): _settings(entry) for entry in map(as_dict, listed)}
    table = {provider: {"models": {name: one for name, one in models.items() if name and not _NO_CHAT.search(name)}}}
    return [info for info in catalog.configured_models(table, {}) if info["provider"] == provider]


def _settings(entry: dict[str, Any]) -> dict[str, Any]:
    """What the server tells of a model. The window it was trained for is the last resort: less may be loaded."""
    meta = as_dict(entry.get("meta"))
    told = [as_count(place.get(name)) for name in _WINDOWS for place in (entry, meta)]
    window = next(filter(None, (*told, as_count(meta.get(_TRAINED)))), None)
    kinds = [entry.get("type"), *as_list(entry.get("capabilities"))]
    sees = any(kind in ("vlm", "vision", "multimodal") for kind in kinds)
    return {**({"context_window": window} if window else {}), **({"vision": True} if sees else {})}
