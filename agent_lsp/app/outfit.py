"""What a session is fitted out with: tools, permissions, instructions, and children of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from agent_lsp.app.workshop import Crew, Equipment, Workshop
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.modes import ApprovalMode
from agent_lsp.sessions.open_session import Client, Model, OpenSession
from agent_lsp.sessions.plan_mode import SessionPlanMode
from agent_lsp.sessions.subagents import Begin, Subagents
from agent_lsp.tools.read_image import Describe, useless

MakeGrants = Callable[[], Grants]


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted: for which session, where, on which model, and what its profile says of the task.

    A child works in its parent's scratchpad, so `scratchpad_of` may be another session.
    """

    scratchpad_of: str
    workspace: Path
    model: Model
    task: str | None = None
    describe: Describe | None = None


@dataclass(frozen=True, slots=True)
class Outfit:
    """All of it. `client` is the front end's side as the session itself sees it."""

    client: Client
    grants: Grants
    equipment: Equipment
    subagents: Subagents | None = None
    plan_mode: SessionPlanMode | None = None

    def adopt(self, opened: OpenSession) -> None:
        """The session that wears it is there now."""
        opened.commands = self.equipment.instructions.commands
        if self.subagents:
            self.subagents.adopt(opened)
        if self.plan_mode:
            self.plan_mode.left = lambda mode: _left(opened, mode)


def outfit(
    workshop: Workshop, order: Order, client: Client, make_grants: MakeGrants, begin: Begin, profiles: Mapping[str, str]
) -> Outfit:
    """The outfit of a session. One whose client brings grants is a child: it has no children, and no plan to leave."""
    sees = order.model.endpoint.vision
    if client.grants is not None:
        crew = Crew(task=order.task, describe=order.describe, hidden=useless(sees=sees))
        equipment = workshop.equip(order.scratchpad_of, order.workspace, client, crew)
        return Outfit(client, client.grants, equipment)
    grants = make_grants()
    subagents, plan_mode = Subagents(client, begin, profiles), SessionPlanMode(grants)
    crew = Crew(subagents, plan_mode, order.task, order.describe, useless(sees=sees))
    equipment = workshop.equip(order.scratchpad_of, order.workspace, client, crew)
    return Outfit(subagents.client, grants, equipment, subagents, plan_mode)


def _left(opened: OpenSession, mode: ApprovalMode) -> None:
    opened.touch()
    opened.session.record(SessionUpdate(approval_mode=mode))
