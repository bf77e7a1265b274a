"""The patience of handlers with models: a key or a server may have to be looked for before one is known."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agent_lsp.acp.connection import Connection
from agent_lsp.acp.methods import Params
from agent_lsp.errors import ModelUnsettled
from agent_lsp.sessions.model_source import ModelSource
from agent_lsp.wire.service import Call, Method


def patient(requests: Mapping[str, Method[Any]], connection: Connection, models: ModelSource) -> dict[str, Method[Any]]:
    """The methods, each of which looks for a model when it needs one, and begins again.

    Whatever the client says meanwhile waits, so that everything still comes in the order in which it was said.
    """

    def once_looked(method: Method[Any]) -> Method[Any]:
        async def begin_again(params: Params, call: Call) -> Any:
            try:
                await models.look()
                result = method.handler(params, call)
            finally:
                connection.hold(False)
            return await result if inspect.isawaitable(result) else result

        def handler(params: Params, call: Call) -> Any:
            try:
                return method.handler(params, call)
            except ModelUnsettled:
                connection.hold(True)
                return begin_again(params, call)

        return replace(method, handler=handler)

    return {name: once_looked(method) for name, method in requests.items()}
