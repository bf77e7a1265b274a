"""One run: a server is started, a prompt is given to it, and what comes back is shown, asked about and summed up."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_lsp import __version__
from agent_lsp.cli.client import Client, Json, ServerGone, UnknownMethod, converse
from agent_lsp.cli.shapes import Approval, Question, Result, Session, Stream
from agent_lsp.cli.terminal import Reply, Screen, ask, ask_freely, interrupts
from agent_lsp.policy.visible import visible_line
from agent_lsp.slotted import field, frozen

if TYPE_CHECKING:
    from agent_lsp.cli.render import Renderer

SERVER = (sys.executable, "-P", "-m", "agent_lsp")
"""-P: what lies in the folder where it is started is none of its modules."""
_WARNING_WAYS = ("window/showMessage", "window/logMessage")
_WARNINGS = (1, 2)  # MessageType: error, warning
_WARNING_CHARS = 400


@frozen
class Answerer:
    """Replies to approvals in the person's place, and says so."""

    reply: Reply
    remark: str


@frozen
class Job:
    """What is to be done. `options` are the settings of this connection.

    Without an `answerer` the person is asked about approvals; `asks`: about what the model wants to know, too.
    """

    prompt: str
    workspace: Path
    model: str | None = None
    options: Json = field(default_factory=dict[str, Any])
    answerer: Answerer | None = None
    asks: bool = False
    as_json: bool = False
    command: tuple[str, ...] = ()


ALLOW_ALL = Answerer(Reply("allow"), "└ allowed, because of --yes")
NOBODY_TO_ASK = Answerer(
    Reply("deny"), "└ denied: there is no terminal to ask on (--yes allows, --approval-mode decides)"
)


async def run(job: Job, screen: Screen, renderer: Renderer) -> Result:
    """Does the job and shows it. Raises ServerError for what the server refuses, ServerGone when it ends early."""
    conversation = Conversation(job, screen, renderer)
    return await converse(job.command or SERVER, job.workspace, dict(os.environ), conversation, conversation.talk)


class Conversation:
    """The client's side of one run."""

    def __init__(self, job: Job, screen: Screen, renderer: Renderer) -> None:
        self._job, self._screen, self._renderer = job, screen, renderer
        self._session_id: str | None = None
        self._left = False
        self._warned = set[str]()
        self._one_at_a_time = asyncio.Lock()  # a question may come while an approval waits
        self._began = time.monotonic()

    async def talk(self, client: Client) -> Result:
        """Introduces itself, makes a session, runs the prompt."""
        with interrupts(lambda: self._abort(client), lambda: self._leave(client)):
            try:
                return await self._talk(client)
            except ServerGone:
                if not self._left:
                    raise
                return self._told({"status": "aborted", "errorMessage": "left before it had ended"})

    async def _talk(self, client: Client) -> Result:
        await client.request("initialize", self._introduction())
        client.notify("initialized", {})
        model = {"model": self._job.model} if self._job.model else {}
        made = await client.request("agent/session/new", {"workspace": str(self._job.workspace), **model})
        session = Session.model_validate(made)
        if not self._job.as_json:
            self._screen.write(self._renderer.header(session, str(self._job.workspace), self._job.prompt))
        self._session_id = session.session_id
        return self._told(
            await client.request("agent/run", {"sessionId": session.session_id, "input": self._job.prompt})
        )

    def notified(self, method: str, params: Json) -> None:
        """Shows the session's messages, and what the server warns of; the other notifications are for editors."""
        if method in _WARNING_WAYS and params.get("type") in _WARNINGS:
            self._warn(str(params.get("message")))
        if method != "agent/message":
            return
        if self._job.as_json:
            self._screen.write("".join(f"{_line(message)}\n" for message in params["messages"]))
            return
        for message in Stream.model_validate(params).messages:
            self._screen.write(self._renderer.message(message))

    def _warn(self, message: str) -> None:
        """Says it once. Standard output may be for a program to read."""
        if message in self._warned:
            return
        self._warned.add(message)
        line = visible_line(message, _WARNING_CHARS)
        if self._job.as_json:
            sys.stderr.write(f"agent-lsp: {line}\n")
        else:
            self._screen.write(self._renderer.warning(line))

    async def asked(self, method: str, params: Json) -> Any:
        """Answers approvals and questions; the server asks for nothing else that this client has declared."""
        if method == "agent/ask" and self._job.asks:
            return {"answer": await self._answer(Question.model_validate(params))}
        if method != "agent/approve":
            raise UnknownMethod(f"the command line has no {method}")
        approval = Approval.model_validate(params)
        async with self._one_at_a_time:
            reply = await self._reply(approval)
        answer: Json = {"decision": "deny" if reply.answer == "deny" else "allow"}
        if reply.answer == "session" and (rule := approval.for_session()):
            answer["remember"] = {"scope": rule.scope, "rule": rule.rule}
        return answer | ({"feedback": reply.feedback} if reply.feedback else {})

    def _introduction(self) -> Json:
        uri = self._job.workspace.as_uri()
        agent = {"protocolVersion": 1, "approve": True, "ask": self._job.asks, "partials": not self._job.as_json}
        return {
            "processId": os.getpid(),
            "clientInfo": {"name": "agent-lsp run", "version": __version__},
            "rootUri": uri,
            "workspaceFolders": [{"uri": uri, "name": self._job.workspace.name}],
            "capabilities": {"experimental": {"agent": agent}},
            "initializationOptions": {"agent": self._job.options},
        }

    def _abort(self, client: Client) -> None:
        if self._session_id is None:
            self._leave(client)
        else:
            abort = {"sessionId": self._session_id, "reason": "interrupted at the terminal"}
            client.post("agent/abort", abort)

    def _leave(self, client: Client) -> None:
        self._left = True
        client.hang_up()

    def _told(self, answer: Json) -> Result:
        """Shows the answer to the run, and returns it."""
        result = Result.model_validate(answer)
        if self._job.as_json:
            self._screen.write(f"{_line({'type': 'run_result', **answer})}\n")
        else:
            self._screen.write(self._renderer.result(result, time.monotonic() - self._began))
        return result

    async def _reply(self, approval: Approval) -> Reply:
        if not self._job.as_json:
            self._screen.write(self._renderer.approval(approval))
        if answerer := self._job.answerer:
            if not self._job.as_json:
                self._screen.write(self._renderer.remark(answerer.remark))
            return answerer.reply
        with self._asking() as question:
            return await ask(question, session_offered=approval.for_session() is not None)

    async def _answer(self, asked: Question) -> str | list[str] | None:
        async with self._one_at_a_time:
            self._screen.write(self._renderer.question(asked))
            with self._asking() as question:
                return await ask_freely(question, asked.options, multiple=asked.multiple)

    @contextmanager
    def _asking(self) -> Generator[Callable[[str], None]]:
        """Holds the rest of the output back, and ends the line when the question is withdrawn."""
        with self._screen.question() as question:
            try:
                yield question
            except asyncio.CancelledError:
                question("\n")
                raise


def _line(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
