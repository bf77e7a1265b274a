"""The protocol as a table: each method with what it takes, what it gives, and what it is for.

The JSON Schema, the TypeScript types and the page of the documentation are made from it. A running server does not
import it; a test holds it against the handlers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from agent_lsp.server import methods as m
from agent_lsp.server import reference_shapes as s
from agent_lsp.server import reference_told as t
from agent_lsp.server import run_methods as r
from agent_lsp.server import session_methods as sm
from agent_lsp.server.configuration import OptionsParams, TrustParams
from agent_lsp.server.edits import ChosenParams, EditList, EditsParams
from agent_lsp.server.page_handlers import PageAnswer
from agent_lsp.server.usage_handlers import UsageParams

if TYPE_CHECKING:
    from pydantic import BaseModel


class Exchange(NamedTuple):
    """A request: the models of its params and its result."""

    params: type[BaseModel]
    result: type[BaseModel]
    purpose: str


class Notice(NamedTuple):
    """A notification: the model of its params."""

    params: type[BaseModel]
    purpose: str


REQUESTS: Mapping[str, Exchange] = {
    "agent/session/new": Exchange(m.NewParams, m.SessionInfo, "Makes a session."),
    "agent/session/resume": Exchange(
        m.NamedSessionParams, m.SessionInfo, "Goes on with a session that was closed, or that a crash has ended."
    ),
    "agent/session/fork": Exchange(
        sm.ForkParams, m.SessionInfo, "Makes a session that begins with another one's past."
    ),
    "agent/session/list": Exchange(sm.ListParams, sm.SessionList, "The sessions there are, newest first."),
    "agent/session/history": Exchange(
        sm.HistoryParams, s.HistoryAnswer, "A session's messages, page by page, and what is going on in it."
    ),
    "agent/session/update": Exchange(
        sm.UpdateParams, m.SessionInfo, "Changes settings of a session; model, mode and tools only between runs."
    ),
    "agent/session/close": Exchange(m.NamedSessionParams, s.Nothing, "Ends what runs; the trace stays."),
    "agent/session/delete": Exchange(m.NamedSessionParams, s.Nothing, "Closes it and removes what was kept of it."),
    "agent/session/snapshot": Exchange(m.NamedSessionParams, s.Snapshot, "A session's records as of this moment."),
    "agent/session/page": Exchange(
        m.NamedSessionParams, PageAnswer, "Makes a page of HTML of a session's trace as of now, and says where it is."
    ),
    "agent/run": Exchange(
        r.RunParams,
        r.RunAnswer,
        "Runs a prompt; answered when the task has ended. `$/cancelRequest` aborts it; it is answered all the same.",
    ),
    "agent/steer": Exchange(r.SteerParams, r.SteerAnswer, "A word to the running task."),
    "agent/unsteer": Exchange(r.UnsteerParams, s.Withdrawn, "Takes it back, as long as it was not delivered."),
    "agent/abort": Exchange(r.AbortParams, r.AbortAnswer, "Ends what runs, or a run that waits; answered once it has."),
    "agent/retryNow": Exchange(m.SessionParams, s.Skipped, "Ends the present wait before a retry."),
    "agent/compact": Exchange(sm.CompactParams, sm.CompactAnswer, "Goes on from a summary of the conversation."),
    "agent/compactability": Exchange(m.SessionParams, s.Compactability, "Whether that would do anything."),
    "agent/title": Exchange(m.SessionParams, s.Title, "Asks the model for a title."),
    "agent/edits": Exchange(EditsParams, EditList, "The agent's edits that still stand."),
    "agent/edits/keep": Exchange(ChosenParams, EditList, "Marks edits as kept."),
    "agent/edits/undo": Exchange(
        ChosenParams, EditList, "Takes edits back; one whose text has changed since is refused, with the reason."
    ),
    "agent/rules": Exchange(m.SessionParams, sm.Rules, "What was allowed for longer than once."),
    "agent/rules/revoke": Exchange(sm.RevokeParams, sm.Rules, "Allows it no longer, from now on."),
    "agent/tools": Exchange(m.SessionParams, s.Tools, "The tools that a model is told of."),
    "agent/models": Exchange(m.NoParams, s.Models, "The models there are."),
    "agent/models/test": Exchange(sm.ModelTestParams, s.ModelTest, "Tries a model out with the smallest request."),
    "agent/usage": Exchange(UsageParams, s.Usage, "Tokens and costs, in a time, by model, day or session."),
    "agent/usage/page": Exchange(
        m.NoParams, PageAnswer, "Makes a page of HTML of what all sessions have used in the last 30 days."
    ),
}
"""What a client may ask, by name."""

SERVER_REQUESTS: Mapping[str, Exchange] = {
    "agent/approve": Exchange(
        t.ApproveParams, t.ApproveAnswer, "Whether a call may run. Withdrawn with `$/cancelRequest`. Needs `approve`."
    ),
    "agent/ask": Exchange(t.AskParams, t.AskAnswer, "A question of the model's. Needs `ask`."),
    "agent/saveDocument": Exchange(t.SaveParams, t.SaveAnswer, "Has a document saved. Needs `saveDocument`."),
    "agent/diagnostics": Exchange(
        t.DiagnosticsParams, t.DiagnosticsAnswer, "What is wrong in the documents. Needs `diagnostics`."
    ),
}
"""What the client is asked, if it has declared that it can be."""

NOTIFICATIONS: Mapping[str, Notice] = {
    "agent/message": Notice(t.MessageNotice, "The stream of a session. Numbers begin at 0 and never skip."),
    "agent/state": Notice(t.StateNotice, "The state of a session has changed."),
    "agent/approvalResolved": Notice(t.ApprovalResolved, "A question is answered, or withdrawn: close the dialog."),
    "agent/modelsChanged": Notice(s.Nothing, "Ask `agent/models` again."),
}
"""What the client is told."""

CLIENT_NOTIFICATIONS: Mapping[str, Notice] = {
    "agent/options": Notice(OptionsParams, "The person has changed settings: `initializationOptions.agent` anew."),
    "agent/workspaceTrust": Notice(TrustParams, "The person trusts the workspace, or does so no more."),
}
"""What a client may tell, beside what LSP has."""
