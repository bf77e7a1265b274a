"""What a session is told beside the conversation: its prompt, the instructions of folders, skills that have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from agent_lsp.messages.content import Text
from agent_lsp.sessions import skills, slash
from agent_lsp.sessions.agents_md import NestedInstructions
from agent_lsp.sessions.documents import read_text
from agent_lsp.sessions.environment import surroundings
from agent_lsp.sessions.prompt import PARTS, Facts, system_prompt
from agent_lsp.sessions.prompt.skills import listing
from agent_lsp.sessions.slash import SlashCommand, find_commands
from agent_lsp.slotted import frozen

if TYPE_CHECKING:
    from agent_lsp.messages.envelope import Message
    from agent_lsp.policy.access import Access
    from agent_lsp.policy.paths import PathRules
    from agent_lsp.tools.shared import Shared

PROJECT_FOLDER = ".agent-lsp"
_OVERRIDES = "prompt"


@frozen
class Sources:
    """Where the instructions of a session are: its paths, the user's folder, what its profile says."""

    paths: PathRules
    user_folder: Path
    task: str | None = None

    def folders(self, name: str) -> tuple[Path, Path]:
        """The project's folder of that name, then the user's, whose contents count more."""
        return self.paths.workspace / PROJECT_FOLDER / name, self.user_folder / name


class Instructions:
    """The instructions of one session. What has changed is told where the toolset reports (`tools.toolset.Shared`)."""

    def __init__(self, sources: Sources, tools: Callable[[], Iterable[str]]) -> None:
        self._sources, self._tools = sources, tools
        self._nested = NestedInstructions(sources.paths)
        self._folders = sources.folders(skills.FOLDER)
        self._skills: tuple[skills.Skill, ...] = ()
        self._stamp: skills.Stamp = ()

    def prompt(self) -> str:
        """The system prompt of a context that begins now. Looks at the disk, for about 50 ms at most."""
        self._nested.begin()
        self._look()
        workspace = self._sources.paths.workspace
        return system_prompt(
            Facts(
                surroundings(workspace),
                tuple(self._tools()),
                self._nested.root(),
                self._skills,
                self._sources.task,
                self._overrides(),
            )
        )

    def commands(self) -> dict[str, SlashCommand]:
        """The slash commands there are now."""
        return find_commands(*self._sources.folders(slash.FOLDER), self._may_read)

    def resume(self, messages: Iterable[Message]) -> None:
        """Goes on in a context of which these messages were heard; its prompt stays as it was."""
        self._look()
        for message in messages:
            if isinstance(message.payload, Text):
                self._nested.heard(message.payload)

    def touched(self, access: Access) -> None:
        """A call has touched these places."""
        self._nested.touched(access)

    def take_reports(self) -> tuple[str, ...]:
        """What the model has not been told yet."""
        return (*self._nested.take(), *self._changed_skills())

    async def close(self) -> None:
        """Nothing to end."""

    def _look(self) -> None:
        self._stamp = skills.stamp(self._folders)
        self._skills = skills.find_skills(self._folders, self._may_read)

    def _changed_skills(self) -> tuple[str, ...]:
        """The prompt of a context stays as it is, so changes are told behind it."""
        if skills.stamp(self._folders) == self._stamp:
            return ()
        before = self._skills
        self._look()
        if self._skills == before:
            return ()
        now = listing(self._skills, self._sources.paths.workspace) or "there are none any more"
        return (f"[the skills have changed; these are there now]\n{now}",)

    def _may_read(self, path: Path) -> bool:
        return self._sources.paths.place(path).standing == "inside"

    def _overrides(self) -> dict[str, str]:
        """The person's own texts for parts of the prompt."""
        folder = self._sources.user_folder / _OVERRIDES
        return {name: text for name in PARTS if (text := read_text(folder / f"{name}.md"))}


if TYPE_CHECKING:
    _: type[Shared] = Instructions
