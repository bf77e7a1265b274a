"""One question to a server that is started for it: what the commands show that have no session."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from agent_lsp import __version__
from agent_lsp.cli import conversation
from agent_lsp.cli.client import Client, Json, UnknownMethod, converse


def inquire(method: str, params: Json, workspace: Path, options: Json, *, times: int = 1) -> Any:
    """The server's answer; `options` are the settings of the connection. Raises ServerError and ServerGone.

    Of a question that is put several `times` it is the last.
    """

    async def talk(client: Client) -> Any:
        await client.request("initialize", _introduction(workspace, options))
        client.notify("initialized", {})
        for _ in range(times - 1):
            await client.request(method, params)
        return await client.request(method, params)

    return asyncio.run(converse(conversation.SERVER, workspace, dict(os.environ), _Deaf(), talk))


class _Deaf:
    """Has no use for what the server says unasked, and answers nothing."""

    def notified(self, method: str, params: Json) -> None:
        """Passes."""

    async def asked(self, method: str, params: Json) -> Any:
        """Refuses."""
        raise UnknownMethod(f"nobody is there for {method}")


def _introduction(workspace: Path, options: Json) -> Json:
    uri = workspace.as_uri()
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "agent-lsp", "version": __version__},
        "rootUri": uri,
        "workspaceFolders": [{"uri": uri, "name": workspace.name}],
        "capabilities": {"experimental": {"agent": {"protocolVersion": 1}}},
        "initializationOptions": {"agent": options},
    }
