"""What a person is told of a run without a plugin: its answer as a message, all of it as a document."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast
from weakref import WeakKeyDictionary

from agent_lsp.errors import RequestRefused, SessionNotFound
from agent_lsp.policy.visible import visible, visible_line
from agent_lsp.server.plain_capabilities import declared, shown_document, shows_documents
from agent_lsp.server.plain_transcript import Transcript
from agent_lsp.server.uris import path_of, uri_of
from agent_lsp.wire.peer_errors import ConnectionLost, PeerError

if TYPE_CHECKING:
    from agent_lsp.engine.session import Session
    from agent_lsp.messages.events import Finish
    from agent_lsp.server.connection import Connection
    from agent_lsp.server.hub import Hub, Served
    from agent_lsp.server.page_handlers import PageAnswer
    from agent_lsp.server.run_methods import RunAnswer

MOST_CHARS = 1000
"""Of a message: what is longer fills a screen, and VS Code cuts it."""
_REST = "\n[… the rest is in the transcript]"
_TYPES = {"error": 1, "warning": 2, "info": 3}
_ENDINGS = {
    "failed": "The run failed",
    "timeout": "The model did not answer in time",
    "malformed": "The model's answers could not be read",
    "auth": "The provider refused the credential",
}
_REMEDIES = {
    "auth": "Set its key and run the prompt again; `agent-lsp doctor` says where keys are looked for.",
    "timeout": "Run the prompt again, or choose another model.",
}
_AT_ONCE = "llm request error: "
"""How the engine marks what it did not try again: for traces, and nothing to a person."""
_CUT: Mapping[Finish | None, str] = {
    "length": "The answer was cut at the model's output limit:",
    "refusal": "The model refused to answer.",
    "content_filter": "The answer was withheld by the provider's filter.",
}

_log = logging.getLogger(__name__)


class Answers:
    """Shows what came of runs. A session's transcript opens by itself once: after its first run here."""

    def __init__(self, connection: Connection, hub: Hub) -> None:
        self._connection, self._hub = connection, hub
        self._transcripts: WeakKeyDictionary[Session, Transcript] = WeakKeyDictionary()

    def say(self, kind: Literal["error", "warning", "info"], text: str) -> None:
        """Shows a message."""
        self._connection.notify("window/showMessage", {"type": _TYPES[kind], "message": bounded(visible(text))})

    async def give(self, served: Served, answer: RunAnswer) -> None:
        """Shows how a run has ended, once its transcript is written."""
        is_written = await self._is_written(served)
        self.say(*told(answer))
        transcript = self._transcript(served)
        if is_written and self.can_open and not transcript.is_shown:
            transcript.is_shown = True
            await self._opens(transcript.path, take_focus=False)

    async def show(self, served: Served) -> None:
        """Opens the transcript as it is now; a client that opens nothing is told where it is."""
        transcript = self._transcript(served)
        if await self._is_written(served):
            transcript.is_shown = True
            await self.open(transcript.path)

    def uri(self, served: Served) -> str:
        """Where the transcript is, or will be. Raises SessionNotFound while there is nothing to write down."""
        if served.session.trace.path is None:
            error = SessionNotFound(served.session.session_id, "it has nothing on the disk")
            error.hint = "run a prompt first"
            raise error
        return uri_of(self._transcript(served).path)

    @property
    def can_open(self) -> bool:
        """Whether the client opens documents."""
        return shows_documents(self._connection.greeted.client.capabilities)

    def _transcript(self, served: Served) -> Transcript:
        opened = served.session
        found = self._transcripts.get(opened.session)
        if found is None:
            found = self._transcripts[opened.session] = Transcript(opened, self._hub.scratchpad(opened.session_id))
        return found

    async def _is_written(self, served: Served) -> bool:
        """Brings the transcript up to date; an ephemeral session leaves none, one that was deleted gets none back."""
        if served.session.trace.path is None or self._hub.find(served.session.session_id) is not served:
            return False
        transcript = self._transcript(served)
        try:
            await transcript.write()
        except OSError as error:
            self.say("warning", f"The transcript {transcript.path} could not be written: {error.strerror}")
            return False
        return True

    async def open(self, path: Path) -> None:
        """Has the client open a file, or tells where it is."""
        if not self.can_open or not await self._opens(path, take_focus=True):
            self.say("info", f"Written to {path}")

    async def browse(self, page: Awaitable[PageAnswer]) -> None:
        """Has the client open a page in a browser once it is made, or tells where it is, or why there is none."""
        try:
            uri = (await page).uri
        except RequestRefused as error:
            self.say("error", error.message)
            return
        if not self.can_open or not await self._shows({"uri": uri, "external": True}):
            self.say("info", f"Written to {path_of(uri, 'uri')}")

    async def _opens(self, path: Path, *, take_focus: bool) -> bool:
        name = declared(self._connection.greeted.client.params, "clientInfo", "name")
        return await self._shows(shown_document(name, uri_of(path), take_focus=take_focus))

    async def _shows(self, params: dict[str, Any]) -> bool:
        try:
            result = await self._connection.request("window/showDocument", params)
        except (PeerError, ConnectionLost) as error:
            _log.info("%s was not opened: %s", params["uri"], error.message)
            return False
        return isinstance(result, dict) and cast("dict[str, Any]", result).get("success") is True


def told(answer: RunAnswer) -> tuple[Literal["error", "warning", "info"], str]:
    """The kind and the text of the message for how a run has ended."""
    why = visible_line((answer.error_message or "").removeprefix(_AT_ONCE))
    match answer.status:
        case "completed" if answer.finish in _CUT:
            return "warning", f"{_CUT[answer.finish]}\n{answer.text}".strip()
        case "completed":
            return "info", answer.text.strip() or "Done."
        case "aborted":
            return "info", "The run was aborted."
        case "max_turns":
            return "warning", f"Stopped after {answer.turns} turns. Run another prompt to go on. {answer.text}".strip()
        case status:
            ending = _ENDINGS.get(status, status)
            said = f"{ending}: {why}" if why else f"{ending}."
            is_told = "agent-lsp doctor" in why  # most providers' adapters say so themselves
            return "error", said if is_told or status not in _REMEDIES else f"{said}\n{_REMEDIES[status]}"


def bounded(text: str) -> str:
    """The text, no longer than a message may be."""
    return text if len(text) <= MOST_CHARS else text[: MOST_CHARS - len(_REST)] + _REST
