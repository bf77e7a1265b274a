"""One whole conversation, message by message: a failure, tools, a denial, steering, an abort, and the run after it."""
# ruff: noqa: E501 - what is told is pinned as it is, a message a line

import json

from inline_snapshot import snapshot

from agent_lsp.messages.content import PARTIAL_TYPES
from agent_lsp.messages.envelope import encode
from agent_lsp.providers.scripted import fail, text, thinking
from tests.engine.harness import DENY, Person, Rig, said, virtual, work


def told(rig):
    """Each message in one line; fragments as their type and body alone, what never changes left out."""
    return [_line(message) for message in rig.screen.messages]


def _line(message):
    payload = json.loads(encode(message))["payload"]
    kind = payload.pop("type")
    if isinstance(message.payload, PARTIAL_TYPES):
        body = payload.get("text") or payload.get("thinking") or payload.get("arguments") or payload.get("output")
        return f"  {kind}.{payload['event_type']}{' ' + body if body else ''}"
    for known in ("role", "session", "tools"):
        payload.pop(known, None)
    return " ".join([kind, *(f"{name}={value!r}" for name, value in payload.items())])


@virtual
async def test_the_story_of_a_run_that_fails_works_is_steered_and_interrupted():
    async with Rig(person=Person({"b": DENY}), gap_s=0.5) as rig:
        rig.llm.script(
            [text("half"), fail("timeout", "the connection broke")],
            [thinking("hm"), text("I look"), work("a", say=["1\n", "2\n"], gap=2), work("b")],
            [text("so", " far", " so good")],
        )
        rig.at(5, rig.session.steer, said("hurry"))
        rig.when("request_end:completed", lambda: rig.when("request_begin", lambda: rig.at(1.2, rig.abort, "enough")))
        await rig.run("go")
        assert told(rig) == snapshot(
            [
                "tool_list_ready",
                "request_begin",
                "  partial_text.start",
                "  partial_text.delta half",
                "  partial_text.stop",
                "text text='half' stop_reason='timeout'",
                "request_end status='timeout' error_message='the connection broke' attempt=1 retry_in_ms=250",
                "request_begin",
                "  partial_thinking.start",
                "  partial_thinking.delta hm",
                "  partial_thinking.stop",
                "thinking thinking='hm'",
                "  partial_text.start",
                "  partial_text.delta I look",
                "  partial_text.stop",
                "text text='I look'",
                "  partial_tool_call.start",
                '  partial_tool_call.delta {"say": ["1\\n", "2\\n"], "gap": 2}',
                "  partial_tool_call.stop",
                'tool_call name=\'work\' arguments=\'{"say": ["1\\\\n", "2\\\\n"], "gap": 2}\' tool_call_id=\'a\'',
                "approval_decision tool_call_id='a' decision='allow' decided_by='user'",
                "  partial_tool_call.start",
                "  partial_tool_call.delta {}",
                "  partial_tool_call.stop",
                "tool_call name='work' arguments='{}' tool_call_id='b'",
                "approval_decision tool_call_id='b' decision='deny' decided_by='user'",
                "tool_call_output tool_call_id='b' output='Tool call denied by user.' stop_reason='aborted'",
                "  partial_tool_call_output.start",
                "  partial_tool_call_output.delta 1\n",
                "token_usage request={'cache_read': 0, 'cache_write': 10, 'output': 5, 'total': 15} compaction_at=128000",
                "request_end status='completed' attempt=2 finish='tool_calls'",
                "  partial_tool_call_output.delta 2\n",
                "  partial_tool_call_output.stop",
                "tool_call_output tool_call_id='a' output='1\\n2\\n'",
                "text text='[user_steering]\\nhurry\\n[/user_steering]'",
                "request_begin",
                "  partial_text.start",
                "  partial_text.delta so",
                "  partial_text.delta  far",
                "  partial_text.stop",
                "text text='so far' stop_reason='aborted'",
                "request_end status='aborted'",
                "abort reason='enough'",
            ]
        )
        del rig.screen.messages[:]
        rig.llm.script([text("ok")])
        await rig.run("next")
        assert told(rig) == snapshot(
            [
                "request_begin",
                "  partial_text.start",
                "  partial_text.delta ok",
                "  partial_text.stop",
                "text text='ok'",
                "token_usage request={'cache_read': 0, 'cache_write': 10, 'output': 5, 'total': 15} compaction_at=128000",
                "request_end status='completed' finish='stop'",
            ]
        )
        assert rig.sent() == snapshot(
            [
                ("user", "go"),
                (
                    "user",
                    """\
[turn_retried]
  [text]half[/text]
[/turn_retried]\
""",
                ),
                ("thinking", "hm"),
                ("assistant", "I look"),
                ("call", "a"),
                ("call", "b"),
                (
                    "output",
                    "a",
                    """\
1
2
""",
                ),
                ("output", "b", "Tool call denied by user."),
                (
                    "user",
                    """\
[turn_aborted]
  [user_input][user_steering]
hurry
[/user_steering][/user_input]
  [text]so far[/text]
[/turn_aborted]\
""",
                ),
                ("user", "next"),
            ]
        )
