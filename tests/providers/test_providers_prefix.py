"""Two requests in a row of one context differ only at their end: that is what every provider's cache lives on."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import Commit, Request
from agent_lsp.messages.content import ImageUrl, Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.events import ToolSpec
from agent_lsp.providers.anthropic.request import MessagesEncoder
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.gemini.request import GeminiEncoder
from agent_lsp.providers.openai_chat.dialect import Dialect
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.providers.openai_responses.request import ResponsesEncoder

MARK = b',"cache_control":{"type":"ephemeral"}'
PIXEL = "data:image/png;base64,AAAA"
TOOLS = (ToolSpec(name="f", description="x", parameters={"type": "object"}),)
MARKED = Dialect(cache_marks=("claude",))
MOST_MARKS = 4
FOREIGN = {
    "anthropic": {"signature": "S"},
    "openai_chat": {"provider": "p", "field": "reasoning"},
    "openai_responses": {"provider": "p", "item": {"type": "reasoning", "id": "rs", "encrypted_content": "E"}},
    "gemini": {"provider": "p", "part": {"text": "", "thoughtSignature": "S"}},
}


def endpoint(api, model):
    return Endpoint("p", api, "https://h/v1", model, vision=True, max_output_tokens=9)


ENCODERS = {
    "openai-chat": lambda: ChatEncoder(endpoint("openai-chat", "m"), Dialect()),
    "anthropic": lambda: MessagesEncoder(endpoint("anthropic", "claude-sonnet-5")),
    "openai-responses": lambda: ResponsesEncoder(endpoint("openai-responses", "gpt-5")),
    "gemini": lambda: GeminiEncoder(endpoint("gemini", "gemini-3-pro")),
    "gemini, older": lambda: GeminiEncoder(endpoint("gemini", "gemini-2.5-pro")),
}
words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4)
fidelities = st.dictionaries(st.sampled_from(sorted(FOREIGN)), st.none(), max_size=4).map(
    lambda names: {name: FOREIGN[name] for name in names} or None
)
replied = st.lists(
    st.one_of(
        st.builds(lambda text, own: Text(role="assistant", text=text, fidelity=own), words, fidelities),
        st.builds(lambda text, own: Thinking(thinking=text, fidelity=own), words, fidelities),
        st.builds(lambda raw: ToolCall(name="f", arguments=raw, tool_call_id="?"), st.sampled_from(['{"a":  1}', ""])),
    ),
    max_size=4,
)
asked = st.lists(
    st.one_of(words.map(lambda text: Text(role="user", text=text)), st.just(ImageUrl(image_url=PIXEL))), max_size=2
)


def conversation(turns):
    """The requests of a context that goes on: the results of a turn's calls open the next one."""
    history, results = [], []
    for number, (extra, reply) in enumerate(turns):
        opening = [] if results else [Text(role="user", text=f"turn {number}")]
        given_now = (*results, *opening, *extra)
        yield Request("the rules", TOOLS, tuple(history), given_now, thinking_level="high", session_id="s")
        named = [
            one.model_copy(update={"tool_call_id": f"c{number}-{at}"}) if isinstance(one, ToolCall) else one
            for at, one in enumerate(reply)
        ]
        results = [
            ToolCallOutput(tool_call_id=one.tool_call_id, output="done", images=(PIXEL,) if extra else None)
            for one in named
            if isinstance(one, ToolCall)
        ]
        history.append(Commit((*given_now, *named)))


turns = st.lists(st.tuples(asked, replied), min_size=2, max_size=6)


@pytest.mark.parametrize("name", ENCODERS)
@given(turns=turns)
@settings(deadline=None, max_examples=60)
def test_a_request_extends_the_bytes_of_the_one_before(name, turns):
    encoder = ENCODERS[name]()
    bodies = [encoder.body(one, frozenset()).replace(MARK, b"") for one in conversation(turns)]
    for before, after in pairwise(bodies):
        rest = before[next(at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other) :]
        assert rest.startswith(b"]") and after.endswith(rest)
        assert b'"turn ' not in rest and len(rest) < 1_000  # nothing but settings, which are the same


@pytest.mark.parametrize("name", ENCODERS)
@given(turns=turns)
@settings(deadline=None, max_examples=20)
def test_an_encoder_that_has_kept_nothing_gives_the_same_bytes(name, turns):
    encoder = ENCODERS[name]()
    for one in conversation(turns):
        assert encoder.body(one, frozenset()) == ENCODERS[name]().body(one, frozenset())


def marks(value):
    """Where the marks are, as paths."""
    found = [()] if isinstance(value, dict) and "cache_control" in value else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [(key, *path) for key, one in inner for path in marks(one)]


@pytest.mark.parametrize(
    "encoder",
    [
        ENCODERS["anthropic"],
        lambda: ChatEncoder(endpoint("openai-chat", "anthropic/claude-x"), MARKED),
    ],
    ids=["anthropic", "openai-chat"],
)
@given(turns=turns)
@settings(deadline=None, max_examples=60)
def test_marks_stay_within_the_limit_and_the_last_one_is_found_again(encoder, turns):
    made = encoder()
    marked = [marks(json.loads(made.body(one, frozenset()))) for one in conversation(turns)]
    assert all(1 <= len(paths) <= MOST_MARKS for paths in marked)
    for before, after in pairwise(marked):
        assert before[-1] in after  # what was written to the cache then is what is looked up now
