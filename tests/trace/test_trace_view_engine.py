"""Traces of generated conversations with the real engine: whatever happens, its trace is sound and can be looked at."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings

from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.providers.scripted import fail, finish, text, torn
from agent_lsp.trace.view.html import render
from agent_lsp.trace.view.replay import replay
from agent_lsp.trace.view.show import show
from agent_lsp.trace.view.timeline import read_timeline
from agent_lsp.trace.view.verify import verify
from tests.engine.harness import work
from tests.engine.scenarios import Scenario, scenarios, told

META = SessionMeta(
    session_id="s",
    provider="p",
    model_id="m",
    system_prompt="be brief",
    workspace="/w",
    created_at="2026-11-29T00:00:00Z",
)
generated = settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))


@pytest.fixture
def traces(tmp_path):
    """The files of a played scenario: a new one begins with each `session_meta`."""

    def written(scenario):
        contexts = [[encode(envelope(META))]]
        for line in told(scenario).lines:
            if b'"type":"session_meta"' in line[:64]:
                contexts.append([])
            contexts[-1].append(line)
        paths = [tmp_path / f"t_{number:03d}.jsonl" for number in range(1, len(contexts) + 1)]
        for path, lines in zip(paths, contexts, strict=True):
            path.write_bytes(b"".join(line + b"\n" for line in lines))
        return paths

    return written


@generated
@given(scenarios())
def test_a_trace_of_the_engine_is_sound(traces, scenario):
    for path in traces(scenario):
        assert [one for one in verify(path).findings if one.severity == "error"] == []


@generated
@given(scenarios())
def test_a_trace_of_the_engine_can_be_looked_at(traces, scenario):
    timeline = read_timeline(traces(scenario))

    assert render(timeline, lambda *_: 1.0)
    assert list(show(timeline, lambda *_: None))


@generated
@given(scenarios())
def test_a_trace_of_the_engine_comes_out_again_as_it_was(traces, scenario):
    files = traces(scenario)
    for place, path in enumerate(files):
        assert asyncio.run(replay(path, files[:place])).differences == ()


def test_a_run_that_goes_on_in_a_file_has_used_its_call_ids(traces):
    replies = (
        (torn("other", "{", "x"), finish("length")),
        (text("[summary]so far[/summary]"),),
        (work("a"), torn("other", "{", "a"), fail("timeout")),
        (work("a"),),
    )
    files = traces(Scenario(replies, max_retries=0, max_context_length=1))
    for place, path in enumerate(files):
        assert asyncio.run(replay(path, files[:place])).differences == ()
