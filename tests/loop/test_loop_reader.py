"""What is read as a decision, as an answer, as nothing; and that an answer is streamed exactly."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.loop.reader import Answer, Planned, Unreadable, arguments, read
from agent_lsp.loop.reply import Reply
from agent_lsp.messages.events import ToolSpec

RAW = '{"tool": "read_file", "input": {"file_path": "a"}}'

DECISIONS = {
    "plain": RAW,
    "blanks": f"\n\n  {RAW}  \n",
    "fence": f"```json\n{RAW}\n```",
    "bare fence": f"```\n{RAW}\n```",
    "open fence": f"```json\n{RAW}",
    "key case": '{"Tool": "read_file", "INPUT": {"file_path": "a"}}',
    "tool_name": '{"tool_name": "read_file", "input": {"file_path": "a"}}',
    "toolName": '{"toolName": "read_file", "args": {"file_path": "a"}}',
    "args": '{"tool": "read_file", "args": {"file_path": "a"}}',
    "prompt": '{"tool": "read_file", "prompt": {"file_path": "a"}}',
    "order": '{"input": {"file_path": "a"}, "tool": "read_file"}',
    "words behind it": f"{RAW}\n\nI hope this helps.",
    "a second one behind it": f"{RAW}\n{RAW}",
    "sections": '## Tool\nread_file\n\n## Input\n{"file_path": "a"}',
    "bold sections": '**Tool:** `read_file`\n**Input:** {"file_path": "a"}',
    "plain sections": 'Tool: read_file\nInput:\n```json\n{"file_path": "a"}\n```',
}


def is_call(decided):
    return decided.tool == "read_file" and json.loads(arguments(decided, None)) == {"file_path": "a"}


@pytest.mark.parametrize("name", DECISIONS)
def test_a_decision_is_read_in_many_spellings(name):
    assert is_call(read(DECISIONS[name]))


def test_prose_before_a_fenced_decision_is_kept():
    decided = read(f"I will look at it.\n\n```json\n{RAW}\n```")
    assert decided == Planned("read_file", {"file_path": "a"}, None, "I will look at it.")


def test_the_reason_is_kept():
    assert read('{"tool": "x", "input": {}, "reason": "because"}') == Planned("x", {}, "because")


@pytest.mark.parametrize(
    "text, answer",
    [
        ("The answer is 42.", "The answer is 42."),
        ('{"tool": "final_answer", "input": {"answer": "yes"}}', "yes"),
        ('{"tool": "final_answer", "input": "yes"}', "yes"),
        ('{"tool": "FINAL_ANSWER", "input": {"Answer": "yes"}}', "yes"),
        ('{"tool": "final_answer", "input": {"answer": {"a": 1}}}', '{"a":1}'),
        ('{"tool": "final_answer", "input": "{\\"answer\\": \\"yes\\"}"}', "yes"),
        ("# Report\n\nAll is well.", "# Report\n\nAll is well."),
        ("Tools are useful.", "Tools are useful."),
        ("[1] is the first", "[1] is the first"),
        ("```python\nprint(1)\n```", "```python\nprint(1)\n```"),
    ],
)
def test_what_is_an_answer(text, answer):
    assert read(text) == Answer(answer)


@pytest.mark.parametrize(
    "text",
    [
        *["", " \n ", "[]", f"[{RAW}]", "42", "-1.5e3", "null", "true", '"text"', "{}", '{"colour": "blue"}'],
        *['{"tool": ""}', '{"tool": 5}', '{"tool": "x", "input": 5}', '{"tool": "x", "input": []}', '{"tool": "x"'],
        *['{"tool": "final_answer", "input": {}}', '{"tool": "final_answer", "input": {"answer": " "}}'],
        "```json\n[1]\n```",
    ],
)
def test_what_is_no_decision(text):
    assert isinstance(read(text), Unreadable)


def test_a_text_as_input_is_json_or_the_one_required_string():
    schema = {"type": "object", "properties": {"cmd": {"type": "string"}, "n": {}}, "required": ["cmd"]}
    spec = ToolSpec(name="run", description="", parameters=schema)
    assert json.loads(arguments(Planned("run", '{"cmd": "ls"}'), spec)) == {"cmd": "ls"}
    assert json.loads(arguments(Planned("run", "ls -l"), spec)) == {"cmd": "ls -l"}
    assert json.loads(arguments(Planned("run", "5"), spec)) == {"cmd": "5"}
    assert json.loads(arguments(Planned("run", "ls"), None)) == {"input": "ls"}


def streamed(pieces):
    """What was shown piece by piece, and all of it."""
    reply = Reply()
    shown = "".join(map(reply.feed, pieces))
    decided = reply.end()
    return shown, shown + reply.rest(decided.text) if isinstance(decided, Answer) else decided


def cut(raw, places):
    ends = sorted({min(place, len(raw)) for place in places} | {len(raw)})
    return [raw[start:end] for start, end in zip([0, *ends], ends, strict=False)]


ANSWERS = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda text: text.strip())
KEYS = st.sampled_from(["tool", "Tool", "name", "input", "args", "answer", "reason", "x"])
VALUES = st.just("a") | st.none() | st.integers() | st.lists(st.integers()) | st.dictionaries(st.text(), st.text())
PLACES = st.lists(st.integers(0, 400), max_size=30)


@settings(deadline=None)
@given(ANSWERS, PLACES, st.booleans(), st.booleans())
def test_an_answer_in_json_is_exact_wherever_it_is_cut(answer, places, ascii, fenced):
    raw = json.dumps({"tool": "final_answer", "input": {"answer": answer}, "reason": "x"}, ensure_ascii=ascii)
    shown, whole = streamed(cut(f"```json\n{raw}\n```" if fenced else raw, places))
    assert answer.startswith(shown) and whole == answer


@settings(deadline=None)
@given(st.text(max_size=300), PLACES)
def test_nothing_that_is_shown_is_ever_taken_back(raw, places):
    shown, whole = streamed(cut(raw, places))
    assert not isinstance(whole, str) or whole.startswith(shown)


@settings(deadline=None)
@given(st.dictionaries(KEYS, VALUES))
def test_any_object_is_read_without_an_error(value):
    read(json.dumps(value))


@settings(deadline=None)
@given(st.sampled_from([*DECISIONS.values()]), PLACES)
def test_a_decision_for_a_tool_shows_nothing(raw, places):
    shown, decided = streamed(cut(raw, places))
    assert shown == "" and is_call(decided)


def test_an_answer_is_shown_before_it_is_whole():
    reply = Reply()
    assert reply.feed('{"tool": "final_answer", "input": {"answer": "Hel') == "Hel"
    assert reply.feed("lo") == "lo"
    assert reply.feed('"}}') == ""


def test_prose_is_shown_as_it_comes():
    reply = Reply()
    assert reply.feed("The ans") == "The ans" and reply.feed("wer") == "wer"


def test_a_long_answer_is_looked_at_a_bounded_number_of_times(monkeypatch):
    from agent_lsp.loop import reply as module

    looks = []
    real = module.partial_answer
    monkeypatch.setattr(module, "partial_answer", lambda body: looks.append(1) or real(body))
    raw = json.dumps({"tool": "final_answer", "input": {"answer": "x" * 200_000}})
    shown, whole = streamed([raw[at : at + 4] for at in range(0, len(raw), 4)])
    assert len(looks) < 1500 and len(shown) > 190_000 and whole == "x" * 200_000
