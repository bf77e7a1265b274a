"""What is announced to a client without a plugin. Standard library only: the handshake imports it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

COMMANDS = (
    "agent.run",
    "agent.steer",
    "agent.abort",
    "agent.compact",
    "agent.showTranscript",
    "agent.showTrace",
    "agent.showUsage",
)
EDIT_COMMANDS = ("agent.keepEdit", "agent.undoEdit", "agent.showEdit")
QUICK_FIX, REFACTOR, REWRITE, ANY_KIND = "quickfix", "refactor", "refactor.rewrite", ""
"""Kinds of code actions; `ANY_KIND` is the root of all, for what has no kind of its own."""
ACTION_KINDS = (ANY_KIND, QUICK_FIX, REFACTOR, REWRITE)


def plain_capabilities(client: Mapping[str, Any]) -> dict[str, Any]:
    """The server capabilities that a plugin has no need of, for a client with these capabilities.

    Only such a client is told of them: an editor that registers the commands of its servers would find those of a
    plugin taken.
    """
    return {"executeCommandProvider": {"commands": [*COMMANDS, *EDIT_COMMANDS]}, **offers_in_files(client)}


def offers_in_files(client: Mapping[str, Any]) -> dict[str, Any]:
    """Code actions and lenses, also for a plugin that declares `codeActions`: it carries their commands out itself."""
    kinds = {"codeActionKinds": list(ACTION_KINDS)}
    return {
        "codeActionProvider": kinds if takes_literals(client) else True,
        "codeLensProvider": {"resolveProvider": False},
    }


def takes_literals(client: Mapping[str, Any]) -> bool:
    """Whether the client understands code actions; an older one knows bare commands only."""
    return bool(declared(client, "textDocument", "codeAction", "codeActionLiteralSupport"))


def refreshes_lenses(client: Mapping[str, Any]) -> bool:
    """Whether the client asks for code lenses again when it is told to."""
    return declared(client, "workspace", "codeLens", "refreshSupport") is True


def shows_documents(client: Mapping[str, Any]) -> bool:
    """Whether the client can be asked to open a document."""
    return declared(client, "window", "showDocument", "support") is True


def shown_document(client_name: Any, uri: str, *, take_focus: bool) -> dict[str, Any]:
    """The params of `window/showDocument` for a client that called itself so."""
    if not take_focus and client_name == "Eglot":  # takes a false for a true, and nothing for a false; others do not
        return {"uri": uri}
    return {"uri": uri, "takeFocus": take_focus}


def declared(client: Mapping[str, Any], *path: str) -> Any:
    """What the client said there, whatever it is; None where nothing was."""
    here: Any = client
    for name in path:
        if not isinstance(here, Mapping):
            return None
        here = cast("Mapping[str, Any]", here).get(name)
    return here
