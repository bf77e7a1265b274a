"""The patience of handlers with models: a key or a server may have to be looked for before one is known."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agent_lsp.acp.methods import Params, PromptParams
from agent_lsp.errors import ModelUnsettled
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.acp.connection import Connection
    from agent_lsp.acp.hub import Hub
    from agent_lsp.wire.service import Call, Method


def patient(requests: Mapping[str, Method[Any]], connection: Connection, hub: Hub) -> dict[str, Method[Any]]:
    """The methods, each of which looks for a model when it needs one, and begins again.

    Whatever the client says meanwhile waits, so that everything still comes in the order in which it was said.
    """

    async def begin_again(method: Method[Any], params: Params, call: Call, afresh: bool) -> Any:
        try:
            await hub.opener.models.look(afresh=afresh)
            result = method.handler(params, call)
        finally:
            connection.hold(False)
        return await result if inspect.isawaitable(result) else result

    def once_looked(method: Method[Any]) -> Method[Any]:
        def handler(params: Params, call: Call) -> Any:
            afresh = isinstance(params, PromptParams) and _may_have_new_key(params.session_id, hub)
            try:
                if not afresh:
                    return method.handler(params, call)
            except ModelUnsettled:
                pass
            connection.hold(True)
            return begin_again(method, params, call, afresh)

        return replace(method, handler=handler)

    return {name: once_looked(method) for name, method in requests.items()}


def _may_have_new_key(session_id: str, hub: Hub) -> bool:
    """Whether the session waits for a credential that the person may have put into the keyring meanwhile."""
    served = hub.find(session_id)
    if served is None or served.opened.session.state.state != "auth_required":
        return False
    return hub.opener.models.is_kept(served.opened.model.name)
