"""The errors of agent-lsp: one root, and a class for each thing somebody would catch.

    AgentError
    ├── ConfigError          a setting that cannot be used          (whoever reads configuration)
    ├── RequestRefused       a request that cannot be carried out   (the front ends: an error response)
    │   ├── InvalidParams        a parameter that does not fit
    │   ├── SessionBusy          a task or a compaction is running
    │   ├── SessionNotFound      no such session
    │   ├── ModelUnavailable     no such model, or no credential for it
    │   │   └── ModelUnsettled       not as far as is known: look around, then ask again
    │   ├── WorkspaceInvalid     the workspace is missing or no directory
    │   └── LimitExceeded        a limit of the server is reached
    └── FramingError         bytes that are no JSON-RPC message     (the transport)

What may be expected inside the engine is a value (an outcome, a stop reason), never one of these.
This module imports nothing, so that anything may import it.
"""

from __future__ import annotations


class AgentError(Exception):
    """Root of all errors that agent-lsp raises on purpose; `message` is one line for a person."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ConfigError(AgentError):
    """A setting that cannot be used. `key` is its dotted path, `source` the file (or layer) it came from."""

    def __init__(self, message: str, *, key: str = "", source: str = "") -> None:
        super().__init__(message)
        self.key, self.source = key, source


class RequestRefused(AgentError):
    """A request that was understood and cannot be carried out. `hint` says what to do about it."""

    kind = "request_failed"
    retryable = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


class InvalidParams(RequestRefused):
    """Parameters that do not fit. `errors` holds one (path, message) for each wrong field."""

    kind = "invalid_params"

    def __init__(self, message: str, errors: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.errors = errors


class SessionBusy(RequestRefused):
    """The session is running a task or a compaction; `run_id` names the run, if it is one."""

    kind = "session_busy"
    retryable = True

    def __init__(self, session_id: str, run_id: str | None) -> None:
        super().__init__("the session is busy", hint="wait for it, abort it, or send the run with queueIfBusy")
        self.session_id, self.run_id = session_id, run_id


class SessionNotFound(RequestRefused):
    """No session of that id is open, or there is no current one."""

    kind = "session_not_found"

    def __init__(self, session_id: str | None, detail: str = "") -> None:
        what = f"no session {session_id!r}" if session_id else "no current session"
        super().__init__(f"{what}: {detail}" if detail else what, hint="create one with agent/session/new")
        self.session_id = session_id


class ModelUnavailable(RequestRefused):
    """No such model, or no credential for it."""

    kind = "model_unavailable"


class ModelUnsettled(ModelUnavailable):
    """A model that may be there after all: the keyring, or this machine, was not asked yet (`ModelSource.look`)."""


class WorkspaceInvalid(RequestRefused):
    """The workspace does not exist or is not a directory."""

    kind = "workspace_invalid"


class LimitExceeded(RequestRefused):
    """A limit of the server (open sessions, message size, …) is reached."""

    kind = "limit_exceeded"


class FramingError(AgentError):
    """Bytes that are not a JSON-RPC message; `code` is the JSON-RPC error code to answer with."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
