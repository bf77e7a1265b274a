"""A loop session over everything fake, with a model that plans or one that calls tools itself."""

from __future__ import annotations

import json
from typing import Any

from agent_lsp.engine.hooks import Terms
from agent_lsp.engine.ports import ToolResult
from agent_lsp.engine.session import Session
from agent_lsp.loop.loop_session import LoopSession, Surroundings
from agent_lsp.loop.options import Limits, LoopOptions, Preparation
from agent_lsp.loop.policy import Around
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.scripted import Scripted, call, text
from tests.engine.harness import META, Paced, Person, Rig, Tools, said

BASE = META.system_prompt
KINDS = ("planned", "native")
NAMED = {"type": "object", "properties": {"out": {"type": "string"}}, "required": ["out"]}


class LoopTools(Tools):
    """`work` and `other` do what their arguments say; `ask` asks the person until it is given an answer."""

    def tools(self) -> tuple[ToolSpec, ...]:
        asking = ToolSpec(
            name="ask",
            description="asks",
            parameters={"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
        )
        named = (ToolSpec(name=name, description=name, parameters=NAMED) for name in self.names)
        return (*named, *([asking] if "ask" not in self.names else []))

    def check(self, call):
        return None if call.name == "ask" else super().check(call)

    async def execute(self, call):
        if call.name != "ask":
            async for piece in super().execute(call):
                yield piece
            return
        self.ran.append(call.tool_call_id)
        answer = json.loads(call.arguments).get("answer")
        yield ToolResult("which one?", needs_input=True) if not answer else ToolResult(f"the person says {answer}")


class LoopRig(Rig):
    """`decide` scripts decisions: (tool, input), a text for the final answer, or a turn of the scripted model."""

    def __init__(
        self,
        kind: str = "planned",
        *,
        limits: dict[str, Any] | None = None,
        preparation: Preparation | None = None,
        max_output_chars: int = 16_000,
        archives: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(**more)
        self.kind = kind
        self.children: list[Rig] = []
        self.child_llm, self.small = Scripted(), Scripted()
        self.tools = LoopTools()
        self.session._runtime.environment = self.tools
        options = LoopOptions(Limits(**(limits or {})), preparation, max_output_chars)
        around = Around(lambda: self.tools.tools(), lambda: self.small, None, self._child)
        self.surroundings = Surroundings(around, (archives or {}).get, lambda: BASE)
        self.options = options
        self.loop = LoopSession(options, self.surroundings)
        llm = Paced(self.llm, more.get("gap_s", 0), more.get("stubborn_model", False))
        self.session.configure(hooks=self.loop.policy, llm=self.loop.plan(llm) if kind == "planned" else llm)

    def _child(self, preparation: Preparation) -> Session:
        child = LoopRig(person=self.person)
        child.llm.turns = self.child_llm.turns
        child.llm.requests = self.child_llm.requests
        child.tools.names = preparation.tools or child.tools.names
        self.children.append(child)
        return child.session

    def decide(self, *decisions: Any) -> None:
        for one in decisions:
            if isinstance(one, str):
                planned = text(json.dumps({"tool": "final_answer", "input": {"answer": one}}))
                self.llm.script([planned if self.kind == "planned" else text(one)])
            elif isinstance(one, tuple):
                tool, input = one
                planned = text(json.dumps({"tool": tool, "input": input}))
                self.llm.script([planned if self.kind == "planned" else call(tool, input)])
            else:
                self.llm.script(one)

    async def prompt(self, words: str, expected: str | None = None, max_retries: int | None = None):
        ticket = self.session.submit(said(words), terms=Terms(expected, max_retries))
        return await ticket.result

    def snap(self) -> dict[str, Any]:
        return self.loop.snapshot()

    def kinds(self) -> list[str]:
        return [entry["type"] for entry in self.snap()["history"]]

    def ending(self) -> tuple[str, str, int, str]:
        """(turn, session, number of failed turns, tail of the history)."""
        snap = self.snap()
        return snap["turns"][-1]["status"], snap["status"], len(snap["failedTurns"]), self.kinds()[-1]

    def told(self, number: int = -1) -> list[tuple[str, str]]:
        """(role, text) of each message of a request."""
        request = self.llm.requests[number]
        messages = (*(one for commit in request.history for one in commit.messages), *request.input)
        return [(one.role, getattr(one, "text", "")) for one in messages]


def replayed(rig: LoopRig, mode="loop") -> dict[str, Any]:
    """The records as another process would make them of the trace."""
    from agent_lsp.messages.envelope import MESSAGE

    again = LoopSession(rig.options, rig.surroundings, mode)
    again.replay(MESSAGE.validate_json(line) for line in rig.trace.lines)
    return again.snapshot()


def asking(person: Person | None = None, **answers: Any) -> Person:
    return person or Person(answers=answers)
