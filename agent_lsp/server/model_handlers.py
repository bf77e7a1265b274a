"""The handlers of models, and the patience of all others with them: a key or a server may have to be looked for."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from agent_lsp.errors import ModelUnsettled, SessionNotFound
from agent_lsp.server.late_handlers import LateHandlers
from agent_lsp.server.methods import NoParams, Params
from agent_lsp.slotted import replace
from agent_lsp.wire.service import Call, Method

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.hub import Hub
    from agent_lsp.server.run_methods import RunParams
    from agent_lsp.server.session_methods import ModelTestParams

_RUN = "agent/run"


class ModelHandlers:
    """What tells of models and tries them out."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub
        self._source = hub.opener.models
        self._looking: asyncio.Task[None] | None = None
        self._one_at_a_time = asyncio.Lock()

    def requests(self) -> dict[str, Method[Any]]:
        """The methods, by name."""
        from agent_lsp.server.session_methods import ModelTestParams

        return {
            "agent/models": Method(NoParams, self.models),
            "agent/models/test": Method(ModelTestParams, self.test),
        }

    def models(self, _params: NoParams, _: Call) -> dict[str, Any] | Awaitable[dict[str, Any]]:
        """`agent/models`: at once if that is right; what a look adds is told after it, or to whoever asks meanwhile."""
        if self._source.is_settled:
            return self._source.listed()
        if self._source.is_right and (self._looking is None or self._looking.done()):
            self._looking = self._connection.spawn(self._look())
            return self._source.listed()
        return self._listed()

    def test(self, params: ModelTestParams, _: Call) -> Awaitable[dict[str, Any]]:
        """`agent/models/test`: a success ends the wait of the model's sessions for a credential."""
        given = params.model
        return self._test(given if isinstance(given, str) else given.name)

    def patient(
        self, requests: Mapping[str, Method[Any]], offered: Mapping[str, Method[Any]]
    ) -> Mapping[str, Method[Any]]:
        """The methods, each of which looks for a model, when it needs one, and begins again.

        Whatever the client says meanwhile waits, so that everything still comes in the order in which it was said.
        """
        ready = {name: self._patient(method) for name, method in offered.items()}
        names = [name for name in requests if name not in ready]
        return LateHandlers(ready, {(name,): partial(self._patient_named, name, requests) for name in names})

    def _patient_named(self, name: str, requests: Mapping[str, Method[Any]]) -> dict[str, Method[Any]]:
        return {name: self._patient(requests[name])}

    def _patient(self, method: Method[Any]) -> Method[Any]:
        def handler(params: Params, call: Call) -> Any:
            if call.method == _RUN and self._may_have_new_key(cast("RunParams", params)):
                return self._once_looked(method, params, call, afresh=True)
            try:
                return method.handler(params, call)
            except ModelUnsettled:
                return self._once_looked(method, params, call, afresh=False)

        return replace(method, handler=handler)

    def _once_looked(self, method: Method[Any], params: Params, call: Call, *, afresh: bool) -> Awaitable[Any]:
        self._connection.hold(True)
        return self._begin_again(method, params, call, afresh)

    async def _begin_again(self, method: Method[Any], params: Params, call: Call, afresh: bool) -> Any:
        try:
            await self._look(afresh=afresh)
            result = method.handler(params, call)
        finally:
            self._connection.hold(False)
        return await result if inspect.isawaitable(result) else result

    def _may_have_new_key(self, params: RunParams) -> bool:
        """Whether the run's session waits for a credential that the person may have put into the keyring meanwhile."""
        try:
            opened = self._hub.get(params.session_id).session
        except SessionNotFound:
            return False
        return opened.session.state.state == "auth_required" and self._source.is_kept(opened.model.name)

    async def _listed(self) -> dict[str, Any]:
        await self._look()
        return self._source.listed()

    async def _look(self, *, afresh: bool = False) -> None:
        async with self._one_at_a_time:  # or two looks would tell of the same change
            before = self._source.listed()
            await self._source.look(afresh=afresh)
            if self._source.listed() != before:
                self._connection.notify("agent/modelsChanged")

    async def _test(self, name: str) -> dict[str, Any]:
        if self._source.is_kept(name):
            await self._look(afresh=True)
        result = await self._source.test(name)
        if result["ok"]:
            for opened in self._hub.sessions():
                if opened.model.name == name:
                    opened.session.credential_changed()
        return result
