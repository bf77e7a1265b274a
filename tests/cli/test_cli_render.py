import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.cli.palette import Palette, palette_for
from agent_lsp.cli.render import Renderer
from agent_lsp.cli.shapes import Approval, Result
from agent_lsp.messages.content import Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import Abort, ApprovalDecision, CompactionBegin, CompactionEnd, RequestEnd
from agent_lsp.messages.partial import Segment


class Shown:
    """A renderer and what it has written."""

    def __init__(self, palette: Palette | None = None) -> None:
        self.renderer = Renderer(palette or Palette())
        self.text = ""

    def emit(self, *payloads, origin=None) -> None:
        for payload in payloads:
            self.text += self.renderer.message(envelope(payload, origin=origin))

    def stream(self, kind, *pieces, stop=None, **identity) -> None:
        segment = Segment(self.emit, kind, **identity)
        for piece in pieces:
            segment.delta(piece)
        segment.close(stop)


@pytest.fixture
def shown() -> Shown:
    return Shown()


def call(call_id="c", name="read_file", arguments='{"file_path": "a.py"}'):
    return ToolCall(name=name, arguments=arguments, tool_call_id=call_id)


def approval(**changes):
    tool_call = {"tool_call_id": "c", "name": "edit_file", "arguments": "{}"}
    return Approval.model_validate({"toolCall": tool_call, "title": "Edit a.py", **changes})


def test_a_streamed_reply_is_written_once_as_it_comes(shown):
    shown.stream("text", "Hel", "lo")
    shown.stream("text", "again\n")

    assert shown.text == "\nHello\n\nagain\n"


def test_a_reply_that_was_never_streamed_is_written_whole(shown):
    shown.emit(Text(role="assistant", text="whole"))

    assert shown.text == "\nwhole\n"


def test_an_empty_streamed_reply_does_not_hide_the_next_whole_one(shown):
    shown.stream("text")
    shown.emit(Text(role="assistant", text="whole"))

    assert "whole" in shown.text


def test_what_the_user_said_is_not_repeated(shown):
    shown.emit(Text(role="user", text="me"))

    assert shown.text == ""


def test_long_thinking_is_folded(shown):
    shown.stream("thinking", *["word "] * 100)
    shown.emit(Thinking(thinking="word " * 100))

    assert shown.text.count("…") == 2
    assert all(len(line) < 260 for line in shown.text.splitlines())


def test_a_call_shows_what_it_is_about_its_first_lines_and_how_it_ended(shown):
    shown.emit(call())
    shown.stream("tool_call_output", *[f"line {n}\n" for n in range(20)], call_id="c")

    assert shown.text == (
        "\n● read_file a.py\n" + "".join(f"  │ line {n}\n" for n in range(6)) + "  │ …\n  ✓ 20 lines\n"
    )


def test_an_output_that_was_not_streamed_looks_the_same(shown):
    other = Shown()
    for one in (shown, other):
        one.emit(call())
    shown.stream("tool_call_output", "a\nb", call_id="c")
    other.emit(ToolCallOutput(tool_call_id="c", output="a\nb"))

    assert shown.text == other.text


def test_a_failed_output_says_so(shown):
    shown.emit(call(), ToolCallOutput(tool_call_id="c", output="boom", stop_reason="failed"))

    assert "✗ failed" in shown.text


def test_outputs_that_run_side_by_side_are_not_mixed_and_each_is_named(shown):
    shown.emit(call("one"), call("two", arguments='{"file_path": "b.py"}'))
    first = Segment(shown.emit, "tool_call_output", call_id="one")
    first.delta("first\n")
    shown.stream("tool_call_output", "second\n", call_id="two")
    first.delta("first again\n")
    first.close()

    tail = shown.text.split("b.py\n", 1)[1]
    assert tail == (
        "  read_file a.py\n  │ first\n  │ first again\n  ✓ 2 lines\n  read_file b.py\n  │ second\n  ✓ 1 line\n"
    )


def test_the_calls_of_a_subagent_are_a_line_each_and_its_words_are_left_out(shown):
    shown.emit(Text(role="assistant", text="inner"), call(), origin=("child",))

    assert shown.text == "  ↳ read_file a.py\n"


def test_a_request_that_is_made_again_says_why_and_when(shown):
    shown.emit(RequestEnd(status="timeout", error_message="HTTP 503", attempt=1, retry_in_ms=1500))

    assert shown.text == "\n[retry] HTTP 503; attempt 2 in 1.5 s\n"


def test_compactions_are_told_at_both_ends(shown):
    shown.emit(
        CompactionBegin(reason="context", mode="summarize", context=120_000, turns=9),
        CompactionEnd(reason="context", mode="summarize", status="completed"),
    )

    assert shown.text == "\n[compaction] summarize at 120,000 tokens …\n[compaction] completed\n"


def test_an_abort_is_told_with_its_reason(shown):
    shown.emit(Abort(reason="stop"))

    assert shown.text == "\n■ aborted: stop\n"


@pytest.mark.parametrize("reason", ["llm request error: HTTP 401", "reconnect failed after 5 retries"])
def test_what_the_last_line_says_anyway_is_not_told_before_it(shown, reason):
    shown.emit(Abort(reason=reason))

    assert shown.text == ""


def test_a_decision_shows_in_the_output_of_its_call_only(shown):
    shown.emit(ApprovalDecision(tool_call_id="c", decision="deny", decided_by="mode"))

    assert shown.text == ""


@pytest.mark.parametrize(("stop", "tail"), [(None, "  ✓ as shown\n"), ("failed", "  │ +new\n  ✗ failed 1 line\n")])
def test_an_edit_that_was_approved_is_not_shown_again_unless_it_failed(shown, stop, tail):
    shown.emit(call(name="edit_file"))
    shown.renderer.approval(approval(preview={"kind": "edit", "uri": "file:///a.py", "diff": "+new"}))
    shown.text = ""
    shown.stream("tool_call_output", "+new", call_id="c", stop=stop)

    assert shown.text == tail


def test_an_approval_shows_the_whole_diff(shown):
    diff = "".join(f"+line {n}\n" for n in range(500))
    text = shown.renderer.approval(approval(preview={"kind": "edit", "uri": "file:///a.py", "diff": diff}))

    assert text.startswith("\n┌ Edit a.py\n│ +line 0\n")
    assert "│ +line 499\n" in text


def test_an_approval_without_a_preview_shows_the_arguments(shown):
    assert "│ {}" in shown.renderer.approval(approval())


def test_the_last_line_says_how_it_ended_and_what_it_took(shown):
    result = Result(status="max_turns", turns=1)

    assert shown.renderer.result(result, 2.25) == "\n✗ stopped at the limit of turns · 1 turn · 0 tokens · 2.2 s\n"


@settings(deadline=None)
@given(st.text(alphabet=st.sampled_from("ab\n\x1b[31m\x07\x9b\u202e\r")), st.booleans())
def test_no_escape_of_a_model_or_a_tool_reaches_the_terminal(text, coloured):
    shown = Shown(Palette(coloured))
    shown.stream("text", *text)
    shown.stream("thinking", *text)
    shown.emit(call(arguments=text, name=text))
    shown.stream("tool_call_output", *text, call_id="c")
    shown.emit(RequestEnd(status="failed", error_message=text, retry_in_ms=1), Abort(reason=text))
    shown.text += shown.renderer.approval(
        approval(title=text, preview={"kind": "command", "command": text, "cwd": text})
    )
    shown.text += shown.renderer.approval(approval(preview={"kind": "edit", "uri": "", "diff": text}))
    shown.text += shown.renderer.result(Result(status="failed", error_message=text), 1)

    plain = shown.text
    for style in ("0", "1", "2", "31", "32", "33", "34", "36", "1;31", "1;33", "1;32", "1;36"):
        plain = plain.replace(f"\x1b[{style}m", "") if coloured else plain
    assert not set(plain) & set("\x1b\x07\x9b\u202e\r")


class Terminal:
    def __init__(self, tty: bool) -> None:
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


@pytest.mark.parametrize(
    ("tty", "environment", "coloured"),
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
    ],
)
def test_colours_are_for_terminals_that_want_them(tty, environment, coloured):
    assert palette_for(Terminal(tty), environment).coloured is coloured


def test_how_the_engine_marks_an_error_for_traces_is_not_shown_to_a_person():
    usage = {"cache_read": 0, "cache_write": 0, "output": 0, "total": 0}
    answer = {"status": "auth", "turns": 0, "usage": usage, "errorMessage": "llm request error: HTTP 401: bad key"}
    shown = Renderer(Palette()).result(Result.model_validate(answer), 1.0)
    assert "✗ the provider refused the credential: HTTP 401: bad key · 0 turns" in shown
