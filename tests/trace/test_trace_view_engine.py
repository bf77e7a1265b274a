"""Traces of generated conversations with the real engine: whatever happens, its trace is sound and can be looked at."""

import asyncio

import pytest
from hypothesis import HealthCheck, given, settings

from agent_lsp.messages.envelope import SessionMeta, encode, envelope
from agent_lsp.trace.view.html import render
from agent_lsp.trace.view.replay import replay
from agent_lsp.trace.view.show import show
from agent_lsp.trace.view.timeline import read_timeline
from agent_lsp.trace.view.verify import verify
from tests.engine.scenarios import scenarios, told

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
def trace(tmp_path):
    def written(scenario):
        path = tmp_path / "t.jsonl"
        path.write_bytes(b"".join(line + b"\n" for line in (encode(envelope(META)), *told(scenario).lines)))
        return path

    return written


@generated
@given(scenarios())
def test_a_trace_of_the_engine_is_sound(trace, scenario):
    assert [one for one in verify(trace(scenario)).findings if one.severity == "error"] == []


@generated
@given(scenarios())
def test_a_trace_of_the_engine_can_be_looked_at(trace, scenario):
    timeline = read_timeline([trace(scenario)])

    assert render(timeline, lambda *_: 1.0)
    assert list(show(timeline, lambda *_: None))


@generated
@given(scenarios())
def test_a_trace_of_the_engine_comes_out_again_as_it_was(trace, scenario):
    assert asyncio.run(replay(trace(scenario))).differences == ()
