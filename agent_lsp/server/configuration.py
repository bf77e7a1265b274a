"""Configuration that changes while the server runs: the editor's settings section, and the trust in the workspace."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from pydantic import BaseModel, ConfigDict

from agent_lsp.errors import InvalidParams
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError
from agent_lsp.wire.service import Observer

if TYPE_CHECKING:
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.handshake import Configuration

SECTION = "agent"
_ERROR, _WARNING = 1, 2  # MessageType


class Anything(BaseModel):
    """Params of which nothing is used, or nothing is believed to have a type."""

    model_config = ConfigDict(extra="ignore", defer_build=True)
    settings: Any = None


class TrustParams(BaseModel):
    """`agent/workspaceTrust`."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    trusted: bool


class OptionsParams(BaseModel):
    """`agent/options`: what `initializationOptions.agent` would be now."""

    model_config = ConfigDict(extra="ignore", strict=True, defer_build=True)
    options: dict[str, Any]


class ConfigurationHandlers:
    """Reads the configuration again when a layer of it has changed. What does not fit is told and changes nothing."""

    def __init__(self, connection: Connection, apply: Callable[[Configuration], None]) -> None:
        self._connection, self._apply = connection, apply
        self._section: dict[str, Any] | None = None
        self._trusted: bool | None = None
        self._options: dict[str, Any] | None = None

    def notifications(self) -> dict[str, Observer[Any]]:
        """The notifications, by name."""
        return {
            "initialized": Observer(Anything, self.initialized),
            "workspace/didChangeConfiguration": Observer(Anything, self.settings_changed),
            "agent/options": Observer(OptionsParams, self.options_changed),
            "agent/workspaceTrust": Observer(TrustParams, self.trust_changed),
        }

    def initialized(self, _: Anything) -> None:
        """The client can be asked for its settings now."""
        if self._can_pull():
            self._connection.spawn(self._pull(always=False))

    def settings_changed(self, params: Anything) -> None:
        """The client sends its settings, or only says that they are others: those of the files may be, too."""
        if self._can_pull():
            self._connection.spawn(self._pull(always=True))
        elif isinstance(params.settings, dict):
            self._take(cast("dict[str, Any]", params.settings).get(SECTION), always=True)
        else:
            self._reload()

    def options_changed(self, params: OptionsParams) -> None:
        """The person has changed settings of their own, which come as options because they may allow more."""
        before, self._options = self._options, params.options
        if not self._reload():
            self._options = before

    def trust_changed(self, params: TrustParams) -> None:
        """The person has trusted the workspace, or does so no more."""
        self._trusted = params.trusted
        self._reload()

    def _can_pull(self) -> bool:
        workspace = self._connection.greeted.client.capabilities.get("workspace")
        return isinstance(workspace, dict) and cast("dict[str, Any]", workspace).get("configuration") is True

    async def _pull(self, *, always: bool) -> None:
        try:
            result = await self._connection.request("workspace/configuration", {"items": [{"section": SECTION}]})
        except (PeerError, ConnectionLost):
            return
        items = cast("list[Any]", result) if isinstance(result, list) else []
        self._take(items[0] if items else None, always=always)

    def _take(self, section: Any, *, always: bool) -> None:
        """The editor's section. Files are read again if it is another one, or `always`."""
        given = cast("dict[str, Any]", section) if isinstance(section, dict) else None
        if always or given != self._section:
            self._section = given
            self._reload()

    def _reload(self) -> bool:
        """Whether what holds now could be read and is in force."""
        greeted = self._connection.greeted
        before = greeted.configuration
        try:
            now = before.reload(self._section, self._trusted, self._options)
        except InvalidParams as error:
            self._tell(_ERROR, f"The settings are not used: {error.message}")
            return False
        for warning in now.warnings:
            if warning not in before.warnings:
                self._tell(_WARNING, warning)
        greeted.configuration = now
        self._apply(now)
        if (now.models, now.default_model) != (before.models, before.default_model):
            self._connection.notify("agent/modelsChanged")
        return True

    def _tell(self, kind: int, message: str) -> None:
        method = "window/showMessage" if kind == _ERROR else "window/logMessage"
        self._connection.notify(method, {"type": kind, "message": message})
