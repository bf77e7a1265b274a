"""From messages to updates, where a whole session would be too much."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.acp.calls import image_block
from agent_lsp.acp.diffs import diffs_of
from agent_lsp.acp.projection import Projection, Speech
from agent_lsp.messages.content import (
    ImageUrl,
    PartialToolCallOutput,
    Text,
    ToolCall,
    ToolCallOutput,
)
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import (
    ApprovalDecision,
    CompactionEnd,
    ContextSeed,
    SessionUpdate,
    TokenCounts,
    TokenUsage,
)
from agent_lsp.messages.markers import attached_file, block, steering
from agent_lsp.tools.diff import unified_diff
from tests.acp.conformance import fits

ROOT = Path("/project")


class NoProposals:
    """Every call is one that does not fit its tool."""

    def title(self, call):
        raise ValueError

    access = permission = title


def seen(*messages, live=True, origin=None):
    told = []

    def chunk(session_id, kind, message_id, text):
        told.append({"sessionUpdate": kind, "content": {"type": "text", "text": text}, "messageId": message_id})

    projection = Projection(told.append, Speech("s", chunk), NoProposals(), ROOT, live=live)
    for message in messages:
        projection.see(envelope(message, origin=origin), "run")
    projection.calls.end("run")
    for update in told:
        fits("SessionNotification", {"sessionId": "s", "update": update})
    return told


def call(id="c", **fields):
    return ToolCall(name="exec_command", arguments='{"cmd": "ls"}', tool_call_id=id, **fields)


def test_a_call_that_nobody_ends_ends_with_its_run():
    announced, ended = seen(call())
    assert (announced["status"], ended["status"]) == ("pending", "failed")


def test_a_call_that_was_cut_off_has_ended_already():
    assert [
        one["status"] for one in seen(call(stop_reason="malformed"), ToolCallOutput(tool_call_id="c", output="x"))
    ] == [
        "pending",
        "failed",
    ]


def test_a_second_output_and_one_of_an_unknown_call_are_nothing():
    output = ToolCallOutput(tool_call_id="c", output="x")
    assert len(seen(call(), output, output, ToolCallOutput(tool_call_id="other", output="y"))) == 2


def test_calls_of_a_child_are_shown_and_told_apart_and_its_words_are_not():
    own, child = seen(call()), seen(call(), Text(role="assistant", text="child"), origin=("a", "b"))
    assert own[0]["toolCallId"] == "c" and {one["toolCallId"] for one in child} == {"a/b/c"}


def test_an_allowed_call_is_in_progress_and_a_denied_one_never():
    allowed = ApprovalDecision(tool_call_id="c", decision="allow", decided_by="user")
    denied = ApprovalDecision(tool_call_id="c", decision="deny", decided_by="user")
    assert [one["status"] for one in seen(call(), allowed)] == ["pending", "in_progress", "failed"]
    assert [one["status"] for one in seen(call(), denied)] == ["pending", "failed"]


@settings(deadline=None)
@given(st.lists(st.text(min_size=1, max_size=30), max_size=200))
def test_a_running_output_is_told_whole_and_at_linear_cost(pieces):
    fragments = [PartialToolCallOutput(event_type="delta", output=one, tool_call_id="c") for one in pieces]
    told = [one["content"][0]["content"]["text"] for one in seen(call(), *fragments) if "content" in one]
    whole = "".join(pieces)
    assert all(whole.startswith(one) for one in told)
    assert sum(map(len, told)) <= 25 * len(whole)


def test_what_the_person_said_is_told_only_when_it_is_long_ago():
    said = (Text(role="user", text="hi"), ImageUrl(image_url="data:image/png;base64,AAAA"))
    assert seen(*said) == []
    assert [one["content"]["type"] for one in seen(*said, live=False)] == ["text", "image"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (Text(role="user", text=steering("sooner")), "sooner"),
        (Text(role="user", text=attached_file("a.txt", "lots\nof text")), "[attached file: a.txt]"),
        (Text(role="user", text=block("context_summary", "x")), None),
        (Text(role="user", text=block("turn_aborted", "x")), None),
        (Text(role="user", text="go on", sender="harness"), None),
    ],
)
def test_only_the_persons_own_words_are_theirs(text, told):
    assert [one["content"]["text"] for one in seen(text, live=False)] == ([told] if told else [])


def test_what_a_compaction_has_kept_is_not_told_twice():
    kept = Text(role="user", text="kept")
    done = CompactionEnd(reason="manual", mode="discard", status="completed")
    told = seen(kept, done, ContextSeed(count=1), kept, Text(role="user", text="new"), live=False)
    assert [one["content"]["text"] for one in told] == ["kept", "new"]


def test_usage_needs_a_window_to_be_a_part_of():
    tokens = TokenCounts(total=7)
    assert seen(TokenUsage(session=tokens, request=tokens)) == []
    (told,) = seen(TokenUsage(session=tokens, request=tokens, context_window=10))
    assert (told["used"], told["size"]) == (7, 10)


def test_a_title_is_told():
    assert seen(SessionUpdate(title="T")) == [{"sessionUpdate": "session_info_update", "title": "T"}]


LINES = st.lists(st.sampled_from(["a", "b", "", "-x", "+++ b/y", "--- a/z", "@@ -1 +1 @@", "\\ No"]), max_size=8)


@settings(deadline=None)
@given(LINES, LINES, st.booleans())
def test_a_unified_diff_gives_back_both_texts(old, new, ends):
    before, after = ("\n".join(lines) + ("\n" if lines and ends else "") for lines in (old, new))
    text = unified_diff("a.txt", before, after)
    if text and not any(line[1:].startswith(("-- ", "++ ")) or line[:1] == "@" for line in text.split("\n")[2:]):
        found, around = diffs_of(f"above\n{text}below", ROOT)
        assert around == "above\nbelow"
        for one in found:
            assert one["path"] == "/project/a.txt"
            assert one["oldText"] in before + "\n" and one["newText"] in after + "\n"


def test_a_new_file_has_no_old_text_and_a_deleted_one_no_new():
    ((made,), _), ((gone,), _) = (
        diffs_of(unified_diff("d/n", *texts), ROOT) for texts in ((None, "x\n"), ("x\n", None))
    )
    assert (made["oldText"], made["newText"], made["path"]) == (None, "x\n", "/project/d/n")
    assert (gone["oldText"], gone["newText"], gone["path"]) == ("x\n", "", "/project/d/n")


@pytest.mark.parametrize(
    "url", ["https://x/y.png", "data:image/png;base64,?", "data:image/png;base64,\u202eü", "data:image/png,raw", ""]
)
def test_what_is_no_image_in_base64_is_no_block(url):
    assert image_block(url) is None
