"""What a session is fitted out with: tools, permissions, instructions, and children of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.app.workshop import Crew, Equipment, Workshop
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.policy.grants import Grants
from agent_lsp.policy.visible import visible_line
from agent_lsp.sessions.plan_mode import SessionPlanMode
from agent_lsp.sessions.subagents import Begin, Subagents
from agent_lsp.slotted import frozen
from agent_lsp.tools.late import useless

if TYPE_CHECKING:
    from agent_lsp.config.sections import AgentProfile
    from agent_lsp.policy.modes import ApprovalMode
    from agent_lsp.sessions.open_session import Client, Model, OpenSession
    from agent_lsp.tools.read_image import Describe

_PURPOSE_CHARS = 120
MakeGrants = Callable[[], Grants]


@frozen
class Order:
    """What is wanted: for which session, where, on which model, and what its profile says of the task.

    A child works in its parent's scratchpad, so `scratchpad_of` may be another session. `tools` None: all of them.
    """

    scratchpad_of: str
    workspace: Path
    model: Model
    task: str | None = None
    tools: Sequence[str] | None = None
    describe: Describe | None = None


@frozen
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
        self.equipment.adopt(opened)
        if self.subagents:
            self.subagents.adopt(opened)
            opened.stop_children = self.subagents.stop_all
            opened.children_at_work = self.subagents.at_work
        if self.plan_mode:
            self.plan_mode.left = lambda mode: _left(opened, mode)


def purposes(profiles: Mapping[str, AgentProfile]) -> dict[str, str]:
    """The configured profiles: what each is for, as its prompt begins."""
    prompts = {name: (profile.prompt or "").strip() for name, profile in profiles.items()}
    return {name: visible_line(text.partition("\n")[0], _PURPOSE_CHARS) for name, text in prompts.items()}


def outfit(
    workshop: Workshop, order: Order, client: Client, make_grants: MakeGrants, begin: Begin, profiles: Mapping[str, str]
) -> Outfit:
    """The outfit of a session. One whose client brings grants is a child: it has no children, and no plan to leave."""
    sees = order.model.endpoint.vision
    if client.grants is not None:
        crew = Crew(task=order.task, describe=order.describe, hidden=useless(sees=sees))
        equipment = _equip(workshop, order, client, crew)
        return Outfit(client, client.grants, equipment)
    grants = make_grants()
    subagents, plan_mode = Subagents(client, begin, profiles), SessionPlanMode(grants)
    crew = Crew(subagents, plan_mode, order.task, order.describe, useless(sees=sees))
    equipment = _equip(workshop, order, client, crew)
    return Outfit(subagents.client, grants, equipment, subagents, plan_mode)


def _equip(workshop: Workshop, order: Order, client: Client, crew: Crew) -> Equipment:
    equipment = workshop.equip(order.scratchpad_of, order.workspace, client, crew)
    if order.tools is not None:
        equipment.toolset.keep(order.tools)
    return equipment


def _left(opened: OpenSession, mode: ApprovalMode) -> None:
    opened.touch()
    opened.session.record(SessionUpdate(approval_mode=mode))
