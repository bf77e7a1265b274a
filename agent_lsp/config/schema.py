"""The JSON Schema of the configuration."""

from __future__ import annotations

from typing import Any

from agent_lsp.config.settings import Settings

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(*, camel: bool = False) -> dict[str, Any]:
    """The schema of the user's TOML file, or (`camel`) of the same settings as JSON clients spell them."""
    return {"$schema": DIALECT, **Settings.model_json_schema(by_alias=camel), "title": "agent-lsp configuration"}
