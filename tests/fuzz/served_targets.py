"""The two front ends as wholes: whatever is sent, each request gets one answer, and the next one is answered too."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agent_lsp.messages.content import Text
from agent_lsp.providers.scripted import call, text
from agent_lsp.server.framing import frame
from agent_lsp.server.method_names import METHODS
from agent_lsp.sessions import pages
from tests.acp.acp_end import acp_end
from tests.fuzz.mutation import Sample
from tests.fuzz.target import Target
from tests.server.front_end import front_end

WITHIN_S = 30
LAST = "the last one"
SESSION = "SESSION"
LARGEST_ANSWER = 4_000_000

# --- what each method takes -------------------------------------------------------------------------------------------

PARAMS: dict[str, list[dict[str, Any]]] = {
    "agent/session/new": [
        {"title": "t", "approvalMode": "ask", "thinkingLevel": "low", "tags": ["a"], "maxTurns": 3, "ephemeral": True},
        {"mode": "loop", "limits": {"maxStepsPerTurn": 2}, "preparation": {"prompt": "p"}, "systemPrompt": "s"},
        {"initialHistory": [{"type": "text", "role": "user", "text": "before"}], "model": "rehearsal/rehearsal"},
    ],
    "agent/session/list": [{"limit": 2, "cursor": "x"}, {"workspace": "file:///tmp"}],
    "agent/session/close": [{"sessionId": "session-20260101-000000-00000000"}],
    "agent/session/update": [
        {"sessionId": SESSION, "approvalMode": "plan", "thinkingLevel": "high", "title": "t", "tools": ["read_file"]},
        {"sessionId": SESSION, "mode": "loop", "model": {"provider": "rehearsal", "model": "rehearsal"}},
    ],
    "agent/session/history": [{"sessionId": SESSION, "limit": 3, "cursor": "1:0"}, {"sessionId": SESSION}],
    "agent/session/resume": [{"sessionId": SESSION}, {"sessionId": "session-20260101-000000-00000000"}],
    "agent/session/fork": [{"sessionId": SESSION, "atTurn": 1}],
    "agent/session/delete": [{"sessionId": "session-20260101-000000-00000000"}],
    "agent/session/snapshot": [{"sessionId": SESSION}],
    "agent/session/page": [{"sessionId": SESSION}, {"sessionId": "session-20260101-000000-00000000"}],
    "agent/run": [
        {"sessionId": SESSION, "input": "go", "queueIfBusy": True, "thinkingLevel": "low", "workDoneToken": 7},
        {
            "input": [
                {"type": "text", "text": "look"},
                {"type": "image", "data": "data:image/png;base64,iVBORw0KGgo="},
                {
                    "type": "resource",
                    "uri": "file:///etc/hostname",
                    "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1, "character": 2}},
                },
            ],
            "queueIfBusy": True,
            "budget": {"usd": 1.5, "tokens": 1000},
        },
        {"sessionId": SESSION, "input": "aim", "goal": {"budget": 40}, "queueIfBusy": True},
    ],
    "agent/steer": [{"sessionId": SESSION, "runId": "r", "input": "left"}],
    "agent/unsteer": [{"sessionId": SESSION, "steerId": "steer-1"}],
    "agent/abort": [{"sessionId": SESSION, "runId": "run-1", "reason": "enough"}],
    "agent/retryNow": [{"sessionId": SESSION}],
    "agent/edits": [{"sessionId": SESSION, "runId": "r"}],
    "agent/edits/keep": [{"sessionId": SESSION, "editIds": ["e"]}],
    "agent/edits/undo": [{"sessionId": SESSION, "runId": "r", "editIds": ["e"]}],
    "agent/rules": [{"sessionId": SESSION}],
    "agent/rules/revoke": [{"ruleIds": ["rule-1"]}],
    "agent/tools": [{"sessionId": SESSION}],
    "agent/usage": [{"sessionId": SESSION, "from": "2026-01-01", "to": "2027-01-01", "groupBy": "day"}],
    "agent/usage/page": [{}],
    "agent/models": [{}],
    "agent/models/test": [{"model": "rehearsal/rehearsal"}],
    "agent/compact": [{"sessionId": SESSION, "mode": "summarize"}, {"mode": "discard"}],
    "agent/compactability": [{"sessionId": SESSION}],
    "agent/title": [{"sessionId": SESSION}],
}
assert PARAMS.keys() == set(METHODS)
DOCUMENT = {"uri": "file:///WORK/a.txt", "languageId": "text", "version": 1, "text": "one\ntwo\n"}
NOTIFIED: list[tuple[str, Any]] = [
    ("initialized", {}),
    ("$/cancelRequest", {"id": 3}),
    ("textDocument/didOpen", {"textDocument": DOCUMENT}),
    (
        "textDocument/didChange",
        {
            "textDocument": {"uri": DOCUMENT["uri"], "version": 2},
            "contentChanges": [
                {
                    "range": {"start": {"line": 0, "character": 1}, "end": {"line": 1, "character": 0}},
                    "text": "ü\U0001f600",
                }
            ],
        },
    ),
    ("textDocument/didSave", {"textDocument": {"uri": DOCUMENT["uri"]}, "text": "x"}),
    ("textDocument/didClose", {"textDocument": {"uri": DOCUMENT["uri"]}}),
    ("workspace/didChangeConfiguration", {"settings": {"agent": {"maxTurns": 3, "approvalMode": "plan"}}}),
    ("agent/workspaceTrust", {"trusted": True}),
]
ASKED = {
    "session/new": [{"cwd": "/WORK", "mcpServers": []}],
    "session/load": [{"sessionId": SESSION, "cwd": "/WORK", "mcpServers": []}],
    "session/resume": [{"sessionId": SESSION, "cwd": "/WORK", "mcpServers": []}],
    "session/fork": [{"sessionId": SESSION, "cwd": "/WORK", "mcpServers": []}],
    "session/list": [{"cwd": "/WORK", "cursor": "x"}],
    "session/close": [{"sessionId": "none"}],
    "session/delete": [{"sessionId": "none"}],
    "session/set_mode": [{"sessionId": SESSION, "modeId": "plan"}],
    "session/set_config_option": [{"sessionId": SESSION, "configId": "mode", "value": "loop"}],
    "session/prompt": [
        {"sessionId": SESSION, "prompt": [{"type": "text", "text": "/compact now"}]},
        {
            "sessionId": SESSION,
            "prompt": [
                {"type": "text", "text": "go"},
                {"type": "resource_link", "uri": "file:///etc/hostname", "name": "h"},
                {"type": "resource", "resource": {"uri": "file:///x", "text": "words"}},
                {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            ],
        },
    ],
    "_session/steering": [{"sessionId": SESSION, "prompt": [{"type": "text", "text": "left"}]}],
    "authenticate": [{"methodId": "login"}],
}
TOLD: list[tuple[str, Any]] = [
    ("session/cancel", {"sessionId": SESSION}),
    ("$/cancel_request", {"requestId": 3}),
]


def bodies(requests: dict[str, list[dict[str, Any]]], notifications: list[tuple[str, Any]]) -> tuple[Sample, ...]:
    """One sample a message."""
    messages = [{"id": 3, "method": method, "params": one} for method, many in requests.items() for one in many]
    messages += [{"method": method, "params": params} for method, params in notifications]
    messages += [{"id": 1, "result": {"decision": "allow"}}, {"id": 1, "error": {"code": 1, "message": "no"}}]
    return tuple(Sample((json.dumps({"jsonrpc": "2.0", **message}).encode(),)) for message in messages)


# --- who is owed an answer --------------------------------------------------------------------------------------------


def owed(sent: Sequence[bytes]) -> tuple[Counter[str], int]:
    """How many answers each id is owed at most, and how many there are to be in all; told without the server's code."""
    by_id: Counter[str] = Counter()
    count = 0
    for body in sent:
        try:
            message = json.loads(body.decode(), parse_constant=_refuse)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            count += 1
            continue
        if "method" not in message and ("result" in message or "error" in message):
            continue
        is_message = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
        if is_message and "id" not in message:
            continue
        count += 1
        id = message.get("id")
        if isinstance(id, str | int | float) and not isinstance(id, bool) and id not in (float("inf"), float("-inf")):
            by_id[key_of(id)] += 1
    return by_id, count


def _refuse(name: str) -> Any:
    raise ValueError(name)


def key_of(id: Any) -> str:
    """Ids of different types are different ids; a lone surrogate cannot be sent back."""
    return json.dumps(
        id if not isinstance(id, str) else id.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    )


def check_answers(sent: Sequence[bytes], heard: Sequence[dict[str, Any]]) -> None:
    by_id, count = owed(sent)
    answers = [one for one in heard if "method" not in one]
    given = Counter(key_of(one["id"]) for one in answers if one["id"] is not None)
    assert len(answers) == count, f"{count} answers are owed, {len(answers)} came; fewer than asked: {by_id - given}"
    assert not given - by_id, f"answered more often than asked: {given - by_id}"
    for answer in answers:
        assert ("result" in answer) != ("error" in answer)
        error = answer.get("error", {})
        assert error.get("data", {}).get("kind") != "internal_error", error
        assert "Traceback" not in error.get("message", "")


# --- the front ends ---------------------------------------------------------------------------------------------------


def turns(request: Any) -> Any:
    """A model that looks at a file, and asks to write one, in every run that it can."""
    if not isinstance(request.input[-1], Text) or not request.tools:
        return [text("[summary]done[/summary]")]
    return [
        text("well"),
        call("read_file", {"file_path": "a.txt"}),
        call("write_file", {"file_path": "b", "content": "x"}),
    ]


def fuzz(
    start: Any, framed: Callable[[bytes], bytes], last: dict[str, Any], without: tuple[bytes, bytes] = (b"", b"")
) -> Callable[[Sequence[bytes]], None]:
    """`without`: what no body can have, and what stands there instead."""

    def say(client: Any, body: bytes) -> None:
        client.connection.received(framed(body))

    async def trial(inputs: Sequence[bytes]) -> None:
        with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # a busy disk takes seconds, which says nothing
            async with start(Path(folder), monkeypatch) as (client, session):
                heard, changed = client.log, asyncio.Event()
                client.wire._hear = lambda message: (heard.append(message), changed.set(), answer(client, say, message))
                heard.clear()
                work = str(Path(folder) / "work").encode()
                names = ((SESSION.encode(), session.encode()), (b"/WORK", work), *([without] if without[0] else ()))
                sent = [one for body in inputs if (one := replaced(body, names)).strip()]
                for body in sent:
                    say(client, body)
                sent.append(json.dumps({"jsonrpc": "2.0", "id": LAST, **last}).encode())
                say(client, sent[-1])
                count = owed(sent)[1]
                deadline = asyncio.get_running_loop().time() + WITHIN_S
                while sum("method" not in one for one in heard) < count:
                    changed.clear()
                    try:
                        async with asyncio.timeout_at(deadline):
                            await changed.wait()
                    except TimeoutError:
                        break
                check_answers(sent, heard)
                assert next("result" in one for one in heard if one.get("id") == LAST and "method" not in one)

    return lambda inputs: asyncio.run(trial(inputs))


def replaced(body: bytes, names: Sequence[tuple[bytes, bytes]]) -> bytes:
    for name, value in names:
        body = body.replace(name, value)
    return body


def answer(client: Any, say: Callable[[Any, bytes], None], message: dict[str, Any]) -> None:
    """A client that allows what it is asked, in the words of either protocol."""
    if "method" in message and "id" in message:
        allowed = {"decision": "allow", "outcome": {"outcome": "selected", "optionId": "allow_once"}, "answer": None}
        body = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": allowed}).encode()
        asyncio.get_running_loop().call_soon(say, client, body)


@asynccontextmanager
async def language_server(folder: Path, monkeypatch: Any) -> Any:
    monkeypatch.setattr(pages, "PROGRAM", ("/bin/true",))  # a page takes half a second, and nothing of it is random
    async with front_end(folder, monkeypatch, reconnect={"maxRetries": 0}) as (client, model):
        (folder / "work" / "a.txt").write_text("one\ntwo\n")
        model.script(*[turns] * 500)
        client.handlers["agent/approve"] = lambda _: {"decision": "allow"}
        session = (await client.ask("agent/session/new"))["sessionId"]
        await client.ask("agent/run", input="begin", sessionId=session)
        yield client, session


@asynccontextmanager
async def acp_agent(folder: Path, monkeypatch: Any) -> Any:
    async with acp_end(folder, monkeypatch, reconnect={"max_retries": 0}) as (client, model):
        (folder / "work" / "a.txt").write_text("one\ntwo\n")
        model.script(*[turns] * 500)
        client.conformance = SimpleNamespace(sent=lambda _: None, heard=lambda _: None)  # other tests hold it to that
        session = await client.new(folder / "work")
        await client.prompted(session, "begin")
        yield client, session


TARGETS = (
    Target(
        "agent methods",
        bodies(PARAMS, NOTIFIED),
        fuzz(
            language_server,
            frame,
            {"method": "agent/compactability", "params": {"sessionId": None}},
        ),
        4_000,
        batch=100,
    ),
    Target(
        "acp methods",
        bodies(ASKED, TOLD),
        fuzz(
            acp_agent,
            lambda body: body + b"\n",
            {"method": "session/list", "params": {}},
            without=(b"\n", b" "),
        ),
        2_000,
        batch=100,
    ),
)
