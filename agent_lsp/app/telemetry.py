"""The telemetry of a process: nothing at all, unless the settings ask for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from agent_lsp.providers.catalog import is_loopback
from agent_lsp.slotted import replace

if TYPE_CHECKING:
    from agent_lsp.config.settings import Settings
    from agent_lsp.engine.ports import Ports
    from agent_lsp.messages.envelope import SessionMeta
    from agent_lsp.sessions.open_session import Model
    from agent_lsp.telemetry.export import Exporter

_CLOSE_WITHIN_S = 2.0
_MISSING = (
    "telemetry is on, but OpenTelemetry is not installed: pip install 'agent-lsp[otel]', or telemetry.enabled = false"
)
_OFFLINE = "telemetry is off, because offline = true and telemetry.endpoint is not on this machine"


class Telemetry:
    """Observes sessions, as the settings of the process's start say. `warn` is told once of what is in the way."""

    def __init__(self, settings: Settings, warn: Callable[[str], None]) -> None:
        self._settings, self._warn = settings.telemetry, warn
        self._is_on = self._settings.enabled
        if self._is_on and settings.offline and not is_loopback(self._settings.endpoint or ""):
            self._is_on = False
            warn(_OFFLINE)
        self._exporter: Exporter | None = None

    def observed(self, ports: Ports, meta: SessionMeta, model: Model) -> Ports:
        """The ports of a session; the very same ones when telemetry is off."""
        exporter = self._begin() if self._is_on else None
        if exporter is None:
            return ports
        from agent_lsp.telemetry.observer import Observer, Subject
        from agent_lsp.telemetry.sink import ObservedSink

        at = model.endpoint
        host, port = at.host, _port(at.base_url)
        subject = Subject(meta.session_id, meta.parent_id, at.provider, at.model, host, port)
        return replace(ports, sink=ObservedSink(ports.sink, Observer(exporter.instruments, subject)))

    async def close(self) -> None:
        """Sends what is left, within two seconds."""
        if self._exporter:
            await asyncio.to_thread(self._exporter.close, _CLOSE_WITHIN_S)

    def _begin(self) -> Exporter | None:
        if self._exporter is None:
            try:
                from agent_lsp.telemetry.export import over_otlp

                self._exporter = over_otlp(self._settings.endpoint, has_content=self._settings.content)
            except ImportError:
                self._give_up(_MISSING)
            except ValueError as error:  # an OTEL_… variable that means nothing to the SDK
                self._give_up(f"telemetry is off, because OpenTelemetry cannot be set up: {error}")
        return self._exporter

    def _give_up(self, why: str) -> None:
        self._is_on = False
        self._warn(why)


def _port(url: str) -> int | None:
    try:
        return urlsplit(url).port
    except ValueError:
        return None
