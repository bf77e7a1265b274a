"""A session goes on from what was traced: a process may end anywhere, and nothing that was committed is lost."""
# ruff: noqa: E501 - what is told is pinned as it is, a message a line

import json
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from agent_lsp.engine.ledger import Ledger
from agent_lsp.engine.options import EngineOptions
from agent_lsp.messages import markers
from agent_lsp.messages.content import ToolCallOutput
from agent_lsp.messages.envelope import MESSAGE, encode, envelope
from agent_lsp.messages.events import CompactionEnd, SessionUpdate
from agent_lsp.providers.scripted import fail, text, thinking
from tests.engine.harness import Person, Rig, block, said, short, virtual, work

GOLDEN = Path(__file__).parent.parent / "golden" / "traces" / "format_1.jsonl"
EXITED = markers.INTERRUPTED_BY_EXIT
SUMMARY = [text("[summary]so far[/summary]")]
CARRIED = ("user", "[context_summary]\nso far\n[/context_summary]")
FULL = EngineOptions(max_context_length=10)


def after(rig, count=None):
    """A rig that goes on from another one's newest trace file, or from that of the time when `count` lines were traced."""
    lines = rig.trace.lines[:count]
    start = max(place for place in rig.trace.contexts if place < len(lines))
    resumed = Rig()
    resumed.session.replay(map(MESSAGE.validate_json, lines[start:]))
    return resumed


async def at_the(rig, label, *input):
    """What is left of a process that was killed when a line of this type had been traced."""
    killed = []

    def look(line):
        payload = json.loads(line)["payload"]
        if payload["type"] == label.partition(":")[0] and label.partition(":")[2] in str(payload):
            killed.append(len(rig.trace.lines))

    rig.trace.on_append.append(look)
    await rig.run(*input or ["go"])
    return after(rig, killed[0])


# --- where a process may end ------------------------------------------------------------------------------------------


@virtual
async def test_by_resuming_alone_nothing_is_said_written_or_asked():
    async with Rig() as rig:
        rig.llm.script([work("a")], [text("one")])
        await rig.run("go")
        async with after(rig) as resumed:
            assert not resumed.screen.messages and not resumed.trace.lines and not resumed.llm.requests
            assert resumed.session.turns == 2 and resumed.session.usage == rig.session.usage
            assert resumed.session.context_tokens == rig.session.context_tokens


@virtual
async def test_a_request_that_had_produced_nothing_leaves_its_input_waiting():
    async with Rig() as rig, await at_the(rig, "request_begin", "a") as resumed:
        await resumed.run("b")
        assert resumed.sent(0) == [("user", "a"), ("user", "b")]


@virtual
async def test_what_an_unfinished_request_had_produced_is_told_as_after_an_interrupt():
    async with Rig() as rig:
        rig.llm.script([thinking("hm"), text("half"), work("x")])
        async with await at_the(rig, "tool_call:", "a") as resumed:
            await resumed.run("b")
            items = ["[user_input]a[/user_input]", "[thinking]hm[/thinking]", "[text]half[/text]"]
            assert resumed.sent(0) == [
                ("user", block("turn_aborted", *items, '[tool_call name="work" id="x"]{}[/tool_call]')),
                ("user", "b"),
            ]


@virtual
async def test_attempts_that_failed_are_told_as_a_retry_tells_them():
    async with Rig() as rig:
        rig.llm.script([text("half"), fail("timeout")])
        async with await at_the(rig, "request_end", "a") as resumed:
            await resumed.run("b")
            assert resumed.sent(0) == [
                ("user", "a"),
                ("user", block("turn_retried", "[text]half[/text]")),
                ("user", "b"),
            ]


@virtual
async def test_a_committed_call_without_an_output_was_left_by_the_exit_and_the_others_keep_theirs():
    async with Rig() as rig:
        rig.llm.script([work("a", then=9), work("b", out="found"), work("c", then=9)])
        async with await at_the(rig, "tool_call_output:found", "go") as resumed:
            resumed.tools.ran.clear()
            await resumed.run("next")
            assert resumed.sent(0)[-4:] == [
                ("output", "a", EXITED),
                ("output", "b", "found"),
                ("output", "c", EXITED),
                ("user", "next"),
            ]
            assert not [one for one in resumed.of(ToolCallOutput)], "in memory only"
            assert {one.stop_reason for one in resumed.llm.requests[0].input[:3] if one.output == EXITED} == {"aborted"}


@virtual
async def test_after_a_traced_abort_the_live_text_stands():
    async with Rig(person=Person(never={"a"})) as rig:
        rig.llm.script([work("a"), text("so")])
        rig.at(1, rig.abort)
        await rig.run("go")
        async with after(rig) as resumed:
            await resumed.run("next")
            assert resumed.sent(0)[-2] == ("output", "a", markers.INTERRUPTED)


@virtual
async def test_steering_that_was_delivered_to_no_committed_request_is_pending_again():
    async with Rig() as rig:
        rig.llm.script([work("a", then=2)])
        rig.at(1, rig.session.steer, said("hurry"))
        async with await at_the(rig, "text:user_steering", "go") as resumed:
            await resumed.run("next")
            assert resumed.sent(0)[-3:] == [
                ("output", "a", "ok"),
                ("user", markers.steering("hurry")),
                ("user", "next"),
            ]


@virtual
async def test_ids_go_on_where_they_were():
    async with Rig() as rig:
        rig.llm.script([work("a")], [work("a")])
        await rig.run("go")
        async with after(rig) as resumed:
            resumed.llm.script([work("a")])
            await resumed.run("next")
            assert resumed.tools.ran == ["a#3"]
            assert {one[1] for one in resumed.sent(1) if one[0] == "call"} == {"a"}, "the provider's own"


@virtual
async def test_the_tools_are_told_again_only_if_they_changed():
    async with Rig() as rig:
        await rig.run("go")
        async with after(rig) as same, after(rig) as other:
            other.tools.names = ("work",)
            await same.run("next")
            await other.run("next")
            assert "tool_list_ready" not in same.labels() and other.labels()[0] == "tool_list_ready"


@virtual
async def test_settings_that_were_changed_are_those_of_the_last_change():
    async with Rig() as rig:
        rig.session.record(SessionUpdate(title="A", model="p/m"))
        rig.session.record(SessionUpdate(title="B"))
        async with after(rig) as resumed:
            assert resumed.session.settings == SessionUpdate(title="B", model="p/m")


# --- compactions ------------------------------------------------------------------------------------------------------


@virtual
async def test_a_trace_that_ends_in_a_compaction_goes_on_with_the_summary_in_a_new_file():
    async with Rig(options=FULL) as rig:
        rig.llm.script([text("one")], SUMMARY)
        await rig.run("a")
        async with after(rig) as resumed:
            assert resumed.session.compactability() == "just_compacted" and not resumed.trace.lines
            await resumed.run("b")
            assert resumed.sent(0) == [CARRIED, ("user", "b")]
            assert [one["type"] for one in resumed.traced()[:3]] == ["session_meta", "tool_list_ready", "text"]


@virtual
async def test_a_file_that_begins_with_a_summary_has_it_waiting():
    async with Rig(options=FULL) as rig:
        rig.llm.script([text("one")], SUMMARY)
        await rig.run("a")
        rig.session.record(SessionUpdate(title="T"))
        assert len(rig.trace.contexts) == 2
        async with after(rig) as resumed:
            await resumed.run("b")
            assert resumed.sent(0) == [CARRIED, ("user", "b")] and resumed.session.settings.title == "T"


@pytest.mark.parametrize("place", ["compaction_begin", "request_begin", "token_usage"])
@virtual
async def test_a_compaction_without_an_end_has_failed_and_its_prompt_is_no_input(place):
    async with Rig(options=FULL) as rig:
        rig.llm.script([work("a", out="found")], SUMMARY, [text("two")])
        await rig.run("go")
        kinds = [one["type"] for one in rig.traced()]
        begin = kinds.index("compaction_begin")
        async with after(rig, begin + kinds[begin:].index(place) + 1) as resumed:
            await resumed.run("next")
            assert resumed.sent(0) == [
                ("user", "go"),
                ("call", "a"),
                ("output", "a", "found"),
                ("user", "next"),
            ]
            assert not [one for one in resumed.of(CompactionEnd) if one.status == "failed"], "nothing is made up"


@virtual
async def test_a_call_that_a_compaction_committed_and_did_not_answer_is_answered():
    async with Rig(options=FULL) as rig:
        rig.llm.script([text("one")], [work("c")], SUMMARY)
        await rig.run("go")
        async with after(rig, [one["type"] for one in rig.traced()].index("tool_call_output")) as resumed:
            await resumed.run("next")
            assert resumed.sent(0)[-3:] == [("call", "c"), ("output", "c", EXITED), ("user", "next")]


# --- a trace that must stay readable ----------------------------------------------------------------------------------


def replayed(lines):
    ledger = Ledger()
    for line in lines:
        ledger.apply(MESSAGE.validate_json(line).payload)
    ledger.end_replay()
    return ledger


def test_a_trace_of_format_1_is_still_read_as_it_was():
    ledger = replayed(GOLDEN.read_bytes().splitlines())
    assert [[short(one) for one in commit.messages] for commit in ledger.history] == snapshot(
        [
            [
                (
                    "user",
                    """\
[context_summary]
They greeted each other.
[/context_summary]\
""",
                ),
                ("user", "look at this"),
                ("image", "https://example.org/a.png"),
                (
                    "user",
                    """\
[turn_retried]
  [thinking]hm[/thinking]
  [text]half an [/text]
  [tool_call name="work" id="a"]{"out": "seen"}[/tool_call]
  [tool_call_output id="a" status="completed"]seen[/tool_call_output]
[/turn_retried]\
""",
                ),
                ("thinking", "again"),
                ("assistant", "I look"),
                ("call", "a"),
                ("call", "b"),
            ],
            [
                (
                    "output",
                    "a",
                    """\
1
2
""",
                ),
                (
                    "output",
                    "b",
                    """\
Tool call denied by user.
not that one\
""",
                ),
                (
                    "user",
                    """\
[user_steering]
hurry [/text]
[/user_steering]\
""",
                ),
                ("image", "data:image/png;base64,iVBORw0KGgo="),
                ("assistant", "cut "),
            ],
            [
                (
                    "user",
                    """\
[output_limit]
Your reply reached the output limit inside a call of work. That call was not run. Send it again in smaller parts.
[/output_limit]\
""",
                ),
                ("assistant", "done"),
            ],
            [("user", "carry on"), ("call", "c")],
            [("output", "c", "ok"), ("user", "Sum up."), ("assistant", "[summary] [/summary]")],
            [
                (
                    "user",
                    "That was no summary. Call no tool now; answer with the summary alone, between [summary] and [/summary].",
                ),
                ("user", "Sum up."),
                ("call", "d"),
            ],
            [
                ("output", "d", "[tool error] the compaction request expects a summary, not tool calls"),
                ("assistant", "so far so "),
                ("call", "e"),
            ],
        ]
    )
    assert [short(one) for one in ledger.request_input()] == snapshot(
        [
            ("output", "e", "[interrupted: tool aborted by user]"),
            (
                "user",
                """\
[turn_aborted]
  [user_input]and now?[/user_input]
  [text]never committed[/text]
  [text]half of the second[/text]
  [text]an[/text]
  [tool_call name="work" id="f"]{"then": "inf"}[/tool_call]
  [tool_call_output id="f" status="aborted"][interrupted: tool aborted by user][/tool_call_output]
[/turn_aborted]\
""",
            ),
        ]
    )
    assert (ledger.turns, ledger.usage.total, ledger.settings.title, ledger.ids.original("a#2")) == snapshot(
        (5, 135, "A fence", "a")
    )


def test_each_line_of_it_is_written_as_it_was():
    for line in GOLDEN.read_bytes().splitlines():
        message = MESSAGE.validate_json(line)
        assert encode(message) == line
        assert encode(envelope(message.payload, message.timestamp, message.origin)) == line
