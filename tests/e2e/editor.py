"""An editor: pytest-lsp's client, which holds the server to the capabilities that the editor has."""

import asyncio
import json
import logging

from lsprotocol import types
from pygls.io_ import run_async
from pygls.protocol import (
    JsonRPCNotification,
    JsonRPCRequestMessage,
    JsonRPCResponseMessage,
    default_converter,
)
from pytest_lsp import LanguageClient, client_capabilities
from pytest_lsp.client import register_lsp_features

from tests.e2e.peer import Stream

EDITORS = {"vscode": "visual-studio-code", "neovim": "neovim", "emacs": "emacs"}
_log = logging.getLogger(__name__)


def _plain_converter():
    """Params and results of methods that are not of LSP stay the dicts they are."""
    converter = default_converter()
    for kind in (JsonRPCRequestMessage, JsonRPCResponseMessage, JsonRPCNotification):
        converter.register_structure_hook(kind, lambda given, cls: cls(**given))
    return converter


class Editor(LanguageClient):
    """An editor with the capabilities of a real one; `plugin` is what it declares to know of `agent/*`."""

    def __init__(self, name, server, plugin):
        super().__init__(converter_factory=_plain_converter)
        register_lsp_features(self)
        self.capabilities = client_capabilities(EDITORS[name])
        self.capabilities.experimental = plugin and {"agent": plugin}
        self.server, self.stream, self.states, self.resolved, self.asked = server, Stream(), [], [], []
        self.decision = {"decision": "allow"}
        self._changed = asyncio.Event()
        self.protocol.set_writer(server.writer)
        self._reading = asyncio.create_task(self._read())
        self.feature("agent/message")(lambda params: self._message(params))
        self.feature("agent/state")(lambda params: self._keep(self.states, params))
        self.feature("agent/approvalResolved")(lambda params: self._keep(self.resolved, params))
        if plugin:
            self.feature("agent/approve")(lambda params: self._approve(params))

    async def initialize(self, workspace, options):
        if self.server.token:
            options = options | {"token": self.server.token}
        return await self.initialize_session(
            types.InitializeParams(
                capabilities=self.capabilities,
                root_uri=workspace.as_uri(),
                workspace_folders=[types.WorkspaceFolder(workspace.as_uri(), workspace.name)],
                initialization_options={"agent": options},
            )
        )

    def ask(self, method, **params):
        """A request; the answer can be awaited."""
        return asyncio.ensure_future(asyncio.wait_for(self.protocol.send_request_async(method, params), 10))

    async def until(self, condition):
        async with asyncio.timeout(10):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def leave(self):
        """The status with which the server ends after `shutdown` and `exit`."""
        await self.shutdown_session()
        return await self.server.status()

    async def end(self):
        await self.server.end()
        await self._reading

    async def _read(self):
        await run_async(self._stop_event, self.server.reader, self.protocol, _log, self.report_server_error)

    def _message(self, params):
        self.stream.take(params)
        self._changed.set()

    def _approve(self, params):
        self.asked.append(params)
        return self.decision

    def _keep(self, where, params):
        where.append(json.loads(json.dumps(params)))
        self._changed.set()
