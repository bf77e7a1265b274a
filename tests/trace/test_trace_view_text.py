import pytest

from agent_lsp.trace.view.figures import duration, money, plural, short_count
from agent_lsp.trace.view.show import LINES_SHOWN, show
from agent_lsp.trace.view.timeline import read_timeline
from tests.trace.trace_view_samples import Teller, rich, simple


def shown(told, tmp_path, *, full=False, cost=lambda *_: None):
    return list(show(read_timeline([told.save(tmp_path)]), cost, full=full))


def test_a_run_reads_from_top_to_bottom(tmp_path):
    lines = shown(simple(), tmp_path, cost=lambda *_: 0.25)

    assert lines[0].startswith("anthropic/claude-sonnet-4-5 · session-20261129-212041-0a1b2c3d · /home/ada/greeter")
    assert lines[1] == "1 run · 2 requests · 51 tokens · $0.5000"
    assert lines[3].startswith("── 1 · 2026-11-30 00:53:20 · completed · 2.3 s · 51 tokens · $0.5000 ─")
    assert lines[4:] == [
        "› look",
        "▸ request 1 · completed · 1.2 s · 10 → 5 · $0.2500",
        "  ● read_file a.py   [allow by mode]",
        "    │ 1\thello",
        "▸ request 2 · completed · 1.1 s · 30 (10 cached) → 6 · $0.2500",
        "  It says hello.",
    ]


def test_everything_that_happened_has_its_line(tmp_path):
    said = "\n".join(shown(rich(), tmp_path))

    for words in (
        "▸ request 2, attempt 2 · failed",
        "  ! HTTP 529: overloaded",
        "  ↻ again in 500 ms",
        "[allow by user, after 6 m 52 s]",
        "[allow by exec_command(python *)]",
        "[deny by user, after 4.1 s]",
        "» Also mention it in the README.",
        "≋ compaction · summarize · context · at 7.2k tokens · completed",
        "  ▸ summary request, attempt 2",
        "■ aborted by user",
        "· auth ·",
    ):
        assert words in said, words


def test_long_outputs_are_cut_unless_all_is_asked_for(tmp_path):
    told = Teller().run(1, "go").ask().call(1, "c", "read_file", file_path="a").decide(0, "c")
    told.answer(0, "c", "\n".join(map(str, range(100)))).done(0)

    assert f"    │ … {100 - LINES_SHOWN} more lines" in shown(told, tmp_path)
    assert "    │ 99" in shown(told, tmp_path, full=True)


def test_nothing_in_a_trace_reaches_the_terminal_as_a_control(tmp_path):
    evil = "\x1b]0;owned\x07\u202e\r\x9b31m"
    told = Teller(workspace=evil, model_id=evil).run(1, evil).ask().think(1, evil).write(1, evil)
    told.call(1, evil, evil, cmd=evil).decide(0, evil, rule=evil, by="rule").answer(1, evil, evil).done(1)
    told.ask().fail(1, "failed", evil)

    assert not set("\x1b\x07\u202e\r\x9b") & set("".join(shown(told, tmp_path, full=True)))


@pytest.mark.parametrize("cut", range(0, 76, 5))
def test_a_trace_that_ends_anywhere_can_be_shown(tmp_path, cut):
    told = rich()
    told.lines = told.lines[:cut]

    shown(told, tmp_path)


def test_an_approval_that_was_never_given_and_a_call_that_has_no_output_are_told_apart(tmp_path):
    told = Teller().run(1, "go").ask().call(1, "c", "x").done(1, finish="tool_calls")

    assert shown(told, tmp_path)[-2:] == ["  ● x", "    (no output)"]


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "0"), (999, "999"), (1000, "1k"), (12_345, "12.3k"), (999_960, "1M"), (2_500_000, "2.5M")],
)
def test_counts_are_short(number, expected):
    assert short_count(number) == expected


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(-1, "0 ms"), (0.04, "40 ms"), (2.34, "2.3 s"), (65, "1 m 05 s"), (3600, "1 h 00 m"), (90000, "1 d 1 h")],
)
def test_durations_have_two_units_at_most(seconds, expected):
    assert duration(seconds) == expected


def test_money_that_nobody_knows_is_not_nothing():
    assert [money(one) for one in (None, 0.0, 0.00001, 0.0042, 12.5)] == ["–", "$0.00", "<$0.0001", "$0.0042", "$12.50"]
    assert [plural(1, "entry", "entries"), plural(2, "entry", "entries")] == ["1 entry", "2 entries"]
