import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.messages.envelope import MESSAGE, encode
from agent_lsp.trace import reader
from agent_lsp.trace.reader import parse, read_backwards, read_meta, read_records, read_trace

WORDS = st.text(max_size=30)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "trace.jsonl"


@pytest.fixture
def warned():
    return []


def written(path, lines, end=b"\n"):
    path.write_bytes(b"\n".join(lines) + end)
    return [MESSAGE.validate_json(line) for line in lines]


def test_messages_come_back_as_they_were_written(sessions, path, warned):
    lines = [sessions.line(sessions.meta()), sessions.run(), sessions.text("ä\u2028\n"), *sessions.turn(5)]
    expected = written(path, lines)
    assert list(read_trace(path, warned.append)) == expected and not warned
    assert [encode(message) for message in expected] == lines
    assert read_meta(path) == expected[0]


@settings(deadline=None, max_examples=60)
@given(st.lists(WORDS | st.sampled_from(["", "blank", "bad", "\r"])), st.sampled_from([b"\n", b""]), st.data())
def test_read_backwards_a_trace_has_the_same_messages_before_every_line(fresh_sessions, words, end, data):
    sessions = fresh_sessions()
    path = sessions.data.root / "trace.jsonl"
    odd = {"blank": b"  ", "bad": b'{"torn'}
    path.write_bytes(b"\n".join(odd.get(word) or sessions.text(word) for word in words) + end)
    begins = [0, *(one.end for one in read_records(path))]
    stop = data.draw(st.sampled_from([None, *begins]))
    forward = list(read_records(path, 0, stop))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "_BLOCK_BYTES", data.draw(st.sampled_from([1, 7, 300, 65_536])))
        found = list(read_backwards(path, stop))
    assert [message for _, message in reversed(found)] == [one.message for one in forward if one.message]
    for begin, message in found:
        assert next(read_records(path, begin)).message == message


@settings(deadline=None, max_examples=40)
@given(words=st.lists(WORDS, min_size=1, max_size=5), data=st.data())
def test_a_trace_cut_anywhere_is_a_beginning_of_its_messages_without_a_warning(fresh_sessions, words, data):
    sessions = fresh_sessions()
    path = sessions.data.root / "trace.jsonl"
    expected = written(path, [sessions.text(text) for text in words])
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:cut])
    warned = []
    read = list(read_trace(path, warned.append))
    assert read == expected[: len(read)] and not warned
    assert len(read) >= whole[:cut].count(b"\n")


def test_every_cut_of_a_trace_keeps_all_whole_lines(sessions, path, warned):
    lines = [sessions.line(sessions.meta()), sessions.text("ä"), *sessions.turn(1)]
    expected = written(path, lines)
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        count = (whole[:cut] + b"\n").count(b"}\n") if whole[cut : cut + 1] == b"\n" else whole[:cut].count(b"\n")
        assert list(read_trace(path, warned.append)) == expected[:count]
    assert not warned


@pytest.mark.parametrize(
    "bad",
    [
        b"not JSON",
        b"{}",
        b"[]",
        b"\xff\xfe",
        b'{"timestamp":"x","type":"event_msg","payload":{"type":"later"}}',
    ],
)
def test_bad_lines_in_the_middle_are_skipped_with_one_warning_that_names_them(sessions, path, warned, bad):
    good = [sessions.text("a"), sessions.text("b")]
    path.write_bytes(b"\n".join([bad, good[0], b"", bad, good[1]]) + b"\n")
    assert [encode(message) for message in read_trace(path, warned.append)] == good
    (warning,) = warned
    assert "lines 1, 4" in warning and path.name in warning


def test_a_warning_names_only_so_many_lines(path, warned):
    path.write_bytes(b"x\n" * 1000)
    assert not list(read_trace(path, warned.append))
    assert len(warned[0]) < 200 and "980 more" in warned[0]


def test_a_line_that_was_cut_and_then_set_apart_is_a_bad_line(sessions, path, warned):
    path.write_bytes(b'{"timest\n' + sessions.text("a") + b"\n")
    assert len(list(read_trace(path, warned.append))) == 1
    assert "line 1" in warned[0]


def test_reading_goes_on_where_it_left_off_and_stops_where_it_is_told(sessions, path):
    expected = written(path, [sessions.text(str(number)) for number in range(5)])
    ends = [record.end for record in read_records(path)]
    for start in range(5):
        for stop in range(start, 5):
            records = read_records(path, ends[start], ends[stop])
            assert [record.message for record in records] == expected[start + 1 : stop + 1]


def test_reading_holds_one_line_at_a_time(sessions, path):
    written(path, [sessions.text("a"), sessions.text("b")])
    records = read_records(path)
    first = next(records)
    with path.open("ab") as file:
        file.write(sessions.text("later") + b"\n")
    assert [first.message, *(record.message for record in records)][-1].payload.text == "later"


@pytest.mark.parametrize("content", [b"", b"\n", b"not JSON\n"])
def test_a_file_that_does_not_begin_with_the_session_has_no_meta(sessions, path, content):
    path.write_bytes(content)
    assert read_meta(path) is None
    path.write_bytes(sessions.text("a") + b"\n" + sessions.line(sessions.meta()))
    assert read_meta(path) is None


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_make_the_parser_fail(line):
    parse(line)
