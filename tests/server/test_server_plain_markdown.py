"""A session as Markdown: what each message adds."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent_lsp.messages.content import ImageUrl, PartialText, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import SessionMeta, envelope
from agent_lsp.messages.events import (
    Abort,
    ApprovalDecision,
    CompactionEnd,
    RequestBegin,
    RequestEnd,
    RunBegin,
)
from agent_lsp.messages.markers import attached_file, context_summary, output_limit, steering
from agent_lsp.server.plain_markdown import Markdown, heading


def rendered(*payloads, origin=None):
    markdown = Markdown()
    return "".join(markdown.add(envelope(one, origin=origin)) for one in payloads)


def you(text, sender=None):
    return Text(role="user", text=text, sender=sender)


def agent(text):
    return Text(role="assistant", text=text)


def test_a_run_reads_as_a_conversation():
    assert rendered(
        RunBegin(run_id="run-1"),
        you("Fix it."),
        you(attached_file("a.py:2-3", "x = 1\r\n")),
        RequestBegin(),
        Thinking(thinking="Hm.\nYes."),
        agent("I shall **look**."),
        ToolCall(name="read_file", arguments='{"file_path": "a.py"}', tool_call_id="c1"),
        ApprovalDecision(tool_call_id="c1", decision="allow", decided_by="mode"),
        ToolCallOutput(tool_call_id="c1", output="x = 1\n"),
        ToolCall(name="exec_command", arguments="", tool_call_id="c2"),
        ApprovalDecision(tool_call_id="c2", decision="deny", decided_by="user"),
        ToolCallOutput(tool_call_id="c2", output="Tool call denied by user.", stop_reason="failed"),
        you(steering("Faster."), "harness"),
        RequestEnd(status="failed", error_message="busy", attempt=1, retry_in_ms=10),
        agent("Done."),
    ) == snapshot("""\

---

## You

Fix it.

`a.py:2-3`

```
x = 1
```

## Agent

> Hm.
> Yes.

I shall **look**.

**Calls `read_file`**

```json
{"file_path": "a.py"}
```

Output of `read_file`:

```
x = 1
```

**Calls `exec_command`**

*deny, by user*

Output of `exec_command` (failed):

```
Tool call denied by user.
```

## You

Faster.

*a request failed: busy*

## Agent

Done.
""")


def test_what_the_engine_says_is_told_apart_from_the_person():
    summary = rendered(you(context_summary("All was well."), "harness"))
    assert summary == "\n## Summary of what came before\n\nAll was well.\n"
    note = rendered(you(output_limit(["read_file"]), "harness"))
    assert note.startswith("\n## Note to the agent\n\n```\n[output_limit]\n")


def test_events_that_matter_are_a_line():
    assert rendered(Abort(reason="enough *of* it")) == "\n*stopped: enough \\*of\\* it*\n"
    compacted = CompactionEnd(reason="manual", mode="summarize", status="completed")
    assert rendered(compacted) == "\n*the context was compacted: completed*\n"
    assert rendered(ImageUrl(image_url="data:image/png;base64,AAAA")) == "\n## You\n\n*an image or other data*\n"
    rule = ApprovalDecision(tool_call_id="c", decision="allow", decided_by="rule", rule="`git …` in this session")
    assert rendered(rule) == "\n*allow, by rule: \\`git …\\` in this session*\n"


def test_fragments_children_and_the_preamble_of_a_new_context_add_nothing():
    meta = SessionMeta(session_id="s", provider="p", model_id="m", system_prompt="", workspace="/w", created_at="now")
    assert rendered(PartialText(event_type="delta", text="x"), meta, RequestBegin()) == ""
    assert rendered(agent("of a child"), origin=("session-1",)) == ""


def test_long_outputs_are_cut_and_say_so():
    text = rendered(ToolCallOutput(tool_call_id="c", output="x" * 9000))
    assert "\n[1000 more characters]\n```" in text
    assert len(text) < 8200


@given(st.text(alphabet="`~\n a\x1b\u202e", max_size=40))
@settings(deadline=None)
def test_nothing_in_an_output_ends_its_block_or_hides(output):
    text = rendered(ToolCallOutput(tool_call_id="c", output=output))
    fence = re.search(r"\n(`{3,})\n", text)[1]
    assert text.endswith(f"\n{fence}\n")
    inside = text.split(f"\n{fence}\n", 1)[1].removesuffix(f"{fence}\n")
    assert not any(line.strip().startswith(fence) for line in inside.split("\n"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_the_heading_is_text_whatever_the_title():
    assert heading("A <b>*title*\n# no", ("/w`x", "p/m")) == (
        "# A \\<b\\>\\*title\\*\\\\n\\# no\n\n`` /w`x `` · `p/m`\n"
    )
