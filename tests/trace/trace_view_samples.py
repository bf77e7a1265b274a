"""Traces to look at, told record by record on a clock of their own."""

from __future__ import annotations

import json
from pathlib import Path

from agent_lsp.messages.clock import timestamp
from agent_lsp.messages.content import ImageUrl, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionBegin,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
    ToolListReady,
    ToolSpec,
)

BEGAN_S = 1_796_000_000.0
SESSION_ID = "session-20261129-212041-0a1b2c3d"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAf"
    "FcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


class Teller:
    """Writes a trace. `after` lets time pass, then says things; the rest are the usual sequences."""

    def __init__(self, **meta):
        self.now_s, self.lines, self.session = BEGAN_S, [], TokenCounts()
        known = {
            "provider": "anthropic",
            "model_id": "claude-sonnet-4-5",
            "system_prompt": "You are a careful engineer.",
        }
        known |= {"session_id": SESSION_ID, "workspace": "/home/ada/greeter", "model_context_window": 200_000}
        self.meta = SessionMeta(**(known | {"created_at": timestamp(BEGAN_S)} | meta))
        self.say(self.meta)

    def say(self, *payloads):
        self.lines += [encode(envelope(one, at=timestamp(self.now_s))) for one in payloads]
        return self

    def after(self, seconds, *payloads):
        self.now_s += seconds
        return self.say(*payloads)

    def run(self, number, *input, tools=()):
        parts = [Text(role="user", text=one) if isinstance(one, str) else one for one in input]
        specs = [ToolSpec(name=one, description=f"{one}.", parameters={"type": "object"}) for one in tools]
        told = [ToolListReady(tools=tuple(specs))] if specs else []
        return self.say(RunBegin(run_id=f"run-{number}"), *told, *parts)

    def ask(self):
        return self.say(RequestBegin())

    def think(self, seconds, words):
        return self.after(seconds, Thinking(thinking=words))

    def write(self, seconds, words, **fields):
        return self.after(seconds, Text(role="assistant", text=words, **fields))

    def call(self, seconds, id, name, **arguments):
        return self.after(seconds, ToolCall(name=name, arguments=json.dumps(arguments), tool_call_id=id))

    def decide(self, seconds, id, decision="allow", by="mode", rule=None):
        return self.after(seconds, ApprovalDecision(tool_call_id=id, decision=decision, decided_by=by, rule=rule))

    def answer(self, seconds, id, output, **fields):
        return self.after(seconds, ToolCallOutput(tool_call_id=id, output=output, **fields))

    def done(self, seconds, read=0, new=10, out=5, finish="stop", attempt=None):
        used = TokenCounts(cache_read=read, cache_write=new, output=out, total=read + new + out)
        self.session += used
        usage = TokenUsage(session=self.session, request=used, context_window=200_000, compaction_at=7000)
        return self.after(seconds, usage, RequestEnd(status="completed", finish=finish, attempt=attempt))

    def fail(self, seconds, status="timeout", message="no byte for 120 s", attempt=1, wait_ms=None):
        end = RequestEnd(status=status, error_message=message, attempt=attempt, retry_in_ms=wait_ms)
        return self.after(seconds, end)

    def save(self, folder: Path, index=1):
        path = folder / f"{self.meta.session_id}_{index:03d}.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in self.lines))
        return path


def simple(**meta) -> Teller:
    """One run: a call that reads, an answer."""
    told = Teller(**meta).run(1, "look", tools=["read_file"]).ask()
    told.call(1, "c1", "read_file", file_path="a.py").decide(0, "c1").answer(0.1, "c1", "1\thello")
    told.done(0.1, finish="tool_calls").ask().write(1, "It says hello.")
    return told.done(0.1, read=10, new=20, out=6)


DIFF = """--- a/greeter.py
+++ b/greeter.py
@@ -4,5 +4,7 @@
 def greeting(name: str) -> str:
     \"\"\"What to say to somebody.\"\"\"
-    # TODO: greet people without a name as well
-    return f"Helo, {name}!"
+    if not name:
+        return "Hello!"
+    return f"Hello, {name}!"
"""


def rich() -> Teller:
    """Several runs with everything in them that a trace can hold."""
    prompt = "Fix the greeting in greeter.py, then run it to see that it is right.\n\nKeep the tests green."
    tools = ("read_file", "edit_file", "exec_command", "search_text")
    told = Teller().run(1, prompt, ImageUrl(image_url=PIXEL), tools=tools).ask()
    told.think(1.8, "The greeting is misspelt. I should look at the file first, and at whatever tests it.")
    told.write(0.9, "I'll look at the code and at its tests first.")
    told.call(0.4, "c1", "read_file", file_path="greeter.py").decide(0, "c1")
    told.call(0.3, "c2", "search_text", pattern="greeting", glob="tests/**").decide(0, "c2").answer(
        0.05, "c1", '1\tdef greeting(name):\n2\t    return f"Helo, {name}!"'
    )
    told.done(0.2, new=4180, out=214, finish="tool_calls").answer(
        0.6, "c2", "tests/test_greeter.py:4: assert greeting('Ada') == 'Hello, Ada!'"
    )
    told.ask().fail(2.1, "timeout", "the connection was reset", 1, 250)
    told.after(0.25).ask().fail(0.4, "failed", "HTTP 529: overloaded", 2, 500)
    told.after(0.5).ask().write(1.6, "The typo is in line 7; nobody without a name is greeted either.")
    told.call(
        1.2,
        "c3",
        "edit_file",
        file_path="greeter.py",
        old_string='    # TODO: greet people without a name as well\n    return f"Helo, {name}!"',
        new_string='    if not name:\n        return "Hello!"\n    return f"Hello, {name}!"',
    )
    told.done(0.2, read=4180, new=690, out=320, finish="tool_calls", attempt=3).decide(412, "c3", by="user").answer(
        0.08, "c3", DIFF
    )
    told.ask().call(1.4, "c4", "exec_command", cmd="python -m pytest -q && python3 greeter.py").done(
        0.2, read=4870, new=420, out=96, finish="tool_calls"
    )
    told.decide(6.5, "c4", by="rule", rule="exec_command(python *)")
    told.answer(3.7, "c4", "....                                        [100%]\n4 passed in 0.41s\nHello, Ada!\n")
    told.say(Text(role="user", text="[user_steering]\nAlso mention it in the README.\n[/user_steering]"))
    told.ask().think(0.7, "They want the README to mention it too.").call(
        1.1,
        "c5",
        "edit_file",
        file_path="README.md",
        old_string="Says hello",
        new_string="Says hello, with or without a name,",
    )
    told.done(0.1, read=5290, new=510, out=150, finish="tool_calls").decide(4, "c5", "deny", "user").answer(
        0, "c5", "Tool call denied by user.\nthe README is written by hand", stop_reason="aborted"
    )
    told.ask().write(
        2.2, "Done: the greeting is spelt right and people without a name are greeted. The README is as it was."
    )
    told.done(0.1, read=5800, new=240, out=130).say(SessionUpdate(title="Fix the greeting"))
    told.now_s += 5400
    told.run(2, "Now delete all generated files").ask().call(1.3, "c6", "exec_command", cmd="git clean -ndx").done(
        0.1, read=6100, new=300, out=60, finish="tool_calls"
    )
    told.decide(0, "c6", by="policy").answer(
        41, "c6", "Would remove build/\n[interrupted: tool aborted by user]", stop_reason="aborted"
    ).say(Abort(reason="aborted by user"))
    told.now_s += 700
    told.run(3, "Go on").ask().call(1, "c7", "search_text", pattern="Helo").decide(0, "c7").answer(0.2, "c7", "no hits")
    told.done(0.1, read=6460, new=640, out=60, finish="tool_calls")
    told.say(CompactionBegin(reason="context", mode="summarize", context=7160, turns=7))
    told.say(Text(role="user", text="Summarise.", sender="harness")).ask().fail(
        1, "malformed", "the stream ended without its end mark", 1, 250
    )
    told.after(0.25).ask().write(4, "[summary]The greeting in greeter.py is fixed.[/summary]").done(
        0.1, read=6300, new=310, out=420, attempt=2
    )
    told.say(CompactionEnd(reason="context", mode="summarize", status="completed", attempt=2))
    told.ask().write(1.5, "Everything is done.").done(0.1, new=900, out=40)
    told.now_s += 60
    told.run(4, "And what about <script>alert(1)</script>?").ask().fail(0.3, "auth", "HTTP 401: invalid x-api-key", 1)
    return told.say(Abort(reason="llm request error: HTTP 401: invalid x-api-key"))
