"""What a tracing system is told of a session: read back from the SDK's in-memory exporters."""

import json

import pytest
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from agent_lsp.engine.ports import StateChange
from agent_lsp.messages.content import PartialText, Text, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import envelope
from agent_lsp.messages.events import ApprovalDecision, RequestBegin, RequestEnd, SessionUpdate, TokenCounts, TokenUsage
from agent_lsp.telemetry import names
from agent_lsp.telemetry.export import Exporter
from agent_lsp.telemetry.observer import Observer, Subject
from agent_lsp.telemetry.sink import ObservedSink

SUBJECT = Subject("session-1", None, "gemini", "gemini-2.5-pro", "example.com", 8443)
TOKENS = TokenCounts(cache_read=100, cache_write=20, output=7, total=127)


class Rig:
    def __init__(self, has_content=False):
        self.memory, self.reader = InMemorySpanExporter(), InMemoryMetricReader()
        self.exporter = Exporter(SimpleSpanProcessor(self.memory), self.reader, has_content=has_content)
        self.passed = []
        self.sink = self.observe(SUBJECT)

    def observe(self, subject):
        return ObservedSink(self, Observer(self.exporter.instruments, subject))

    def push(self, message, run_id):
        self.passed.append(message)

    def state(self, change):
        self.passed.append(change)

    async def drain(self):
        self.passed.append("drain")

    def say(self, *payloads, run_id="run-1", sink=None, **more):
        for payload in payloads:
            (sink or self.sink).push(envelope(payload, **more), run_id)

    def rest(self, state="idle"):
        self.sink.state(StateChange(state))

    def spans(self):
        return {span.name: span for span in self.memory.get_finished_spans()}

    def metrics(self):
        data = self.reader.get_metrics_data()
        found = [metric for one in data.resource_metrics for scope in one.scope_metrics for metric in scope.metrics]
        return {metric.name: metric for metric in found}


def turn(call=True):
    reply = [ToolCall(name="read_file", arguments='{"file_path": "a"}', tool_call_id="c1")] if call else []
    reply = reply or [Text(role="assistant", text="All of it is secret.")]
    return [
        RequestBegin(),
        *reply,
        TokenUsage(session=TOKENS, request=TOKENS),
        RequestEnd(status="completed", finish="stop"),
    ]


def whole_run(rig):
    rig.say(Text(role="user", text="a secret prompt"), *turn())
    rig.say(ApprovalDecision(tool_call_id="c1", decision="allow", decided_by="mode"))
    rig.say(ToolCallOutput(tool_call_id="c1", output="secret output"), *turn(call=False))
    rig.rest()


def test_a_run_is_a_span_with_its_requests_and_calls_below():
    rig = Rig()
    whole_run(rig)
    spans = rig.spans()
    assert set(spans) == {"invoke_agent agent-lsp", "chat gemini-2.5-pro", "execute_tool read_file"}
    run = spans["invoke_agent agent-lsp"]
    for name in ("chat gemini-2.5-pro", "execute_tool read_file"):
        assert spans[name].parent.span_id == run.context.span_id
    assert (run.kind, spans["chat gemini-2.5-pro"].kind) == (SpanKind.INTERNAL, SpanKind.CLIENT)
    assert run.attributes[names.INPUT_TOKENS] == 240 and run.attributes[names.OUTPUT_TOKENS] == 14
    assert run.instrumentation_scope.schema_url == "https://opentelemetry.io/schemas/1.41.0"
    assert run.resource.attributes["service.name"] == "agent-lsp"


def test_a_request_has_the_attributes_of_the_conventions():
    rig = Rig()
    whole_run(rig)
    assert dict(rig.spans()["chat gemini-2.5-pro"].attributes) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.request.model": "gemini-2.5-pro",
        "gen_ai.conversation.id": "session-1",
        "server.address": "example.com",
        "server.port": 8443,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 120,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 100,
    }
    assert dict(rig.spans()["execute_tool read_file"].attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read_file",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": "session-1",
        "agent_lsp.approval.decision": "allow",
        "agent_lsp.approval.decided_by": "mode",
    }


def test_nothing_that_was_said_is_told_unless_asked_for():
    rig = Rig()
    whole_run(rig)
    told = json.dumps([span.to_json() for span in rig.memory.get_finished_spans()]) + str(rig.metrics())
    assert "secret" not in told and not any(name in told for name in names.CONTENT)


def test_content_is_told_where_it_was_asked_for():
    rig = Rig(has_content=True)
    whole_run(rig)
    requests = [span for span in rig.memory.get_finished_spans() if span.name.startswith("chat")]
    first, second = (json.loads(span.attributes[names.INPUT_MESSAGES]) for span in requests)
    assert first == [{"role": "user", "parts": [{"type": "text", "content": "a secret prompt"}]}]
    assert second[0]["parts"][0] == {"type": "tool_call_response", "id": "c1", "response": "secret output"}
    said = json.loads(requests[1].attributes[names.OUTPUT_MESSAGES])
    assert said == [{"role": "assistant", "parts": [{"type": "text", "content": "All of it is secret."}]}]
    call = rig.spans()["execute_tool read_file"].attributes
    assert (call[names.TOOL_ARGUMENTS], call[names.TOOL_RESULT]) == ('{"file_path": "a"}', "secret output")


def test_metrics_have_the_buckets_of_the_conventions_and_tell_input_from_output():
    rig = Rig()
    whole_run(rig)
    tokens = rig.metrics()[names.TOKENS].data.data_points
    assert {(one.attributes["gen_ai.token.type"], one.sum) for one in tokens} == {("input", 240), ("output", 14)}
    assert tokens[0].explicit_bounds == (
        1,
        4,
        16,
        64,
        256,
        1024,
        4096,
        16384,
        65536,
        262144,
        1048576,
        4194304,
        16777216,
        67108864,
    )
    (duration,) = rig.metrics()[names.DURATION].data.data_points
    assert duration.count == 2 and duration.explicit_bounds[:2] == (0.01, 0.02)
    assert rig.metrics()[names.DURATION].unit == "s"
    assert not any("conversation" in name for one in (*tokens, duration) for name in one.attributes)


@pytest.mark.parametrize("status", ["failed", "aborted", "timeout", "malformed", "auth"])
def test_a_request_that_failed_is_an_error_of_its_kind(status):
    rig = Rig()
    rig.say(RequestBegin(), RequestEnd(status=status, error_message="quotes a secret", attempt=2))
    rig.rest()
    span = rig.spans()["chat gemini-2.5-pro"]
    assert (span.status.status_code, span.status.description) == (StatusCode.ERROR, None)
    assert span.attributes["error.type"] == status and span.attributes["agent_lsp.request.attempt"] == 2
    (duration,) = rig.metrics()[names.DURATION].data.data_points
    assert duration.attributes["error.type"] == status
    assert "secret" not in span.to_json()


def test_a_call_that_was_denied_is_an_error_and_says_by_whom():
    rig = Rig()
    rig.say(*turn(), ApprovalDecision(tool_call_id="c1", decision="deny", decided_by="user"))
    rig.say(ToolCallOutput(tool_call_id="c1", output="denied", stop_reason="failed"))
    attributes = rig.spans()["execute_tool read_file"].attributes
    assert (attributes["agent_lsp.approval.decision"], attributes["error.type"]) == ("deny", "failed")


def test_what_an_abort_leaves_open_is_closed_with_the_run():
    rig = Rig()
    rig.say(*turn(), ApprovalDecision(tool_call_id="c1", decision="allow", decided_by="user"), RequestBegin())
    rig.rest("auth_required")
    spans = rig.memory.get_finished_spans()
    assert [span.attributes.get("error.type") for span in spans] == [None, "interrupted", "interrupted", None]
    assert spans[-1].attributes["agent_lsp.run.status"] == "auth"


def test_after_a_change_of_model_requests_are_those_of_the_new_one():
    rig = Rig()
    rig.say(SessionUpdate(model="anthropic/claude-sonnet-5"), SessionUpdate(title="A title"), run_id=None)
    rig.say(*turn(call=False))
    rig.rest()
    attributes = rig.spans()["chat claude-sonnet-5"].attributes
    assert attributes["gen_ai.provider.name"] == "anthropic" and "server.address" not in attributes


def test_a_compaction_by_hand_is_a_request_without_a_run_and_splits_none():
    rig = Rig()
    rig.say(RequestBegin(), RequestEnd(status="completed"), run_id=None)
    rig.say(RequestBegin())
    rig.say(SessionUpdate(title="A title"), run_id=None)
    rig.say(RequestEnd(status="completed"))
    rig.rest()
    spans = rig.memory.get_finished_spans()
    assert [span.name for span in spans] == ["chat gemini-2.5-pro", "chat gemini-2.5-pro", "invoke_agent agent-lsp"]
    assert spans[0].parent is None and spans[1].parent.span_id == spans[2].context.span_id


def test_a_queued_run_begins_a_span_of_its_own():
    rig = Rig()
    rig.say(*turn(call=False), run_id="run-1")
    rig.say(*turn(call=False), run_id="run-2")
    rig.rest()
    assert [span.name for span in rig.memory.get_finished_spans()].count("invoke_agent agent-lsp") == 2


def test_a_subagents_run_is_below_that_of_its_parent():
    rig = Rig()
    rig.say(RequestBegin())
    child = rig.observe(Subject("session-2", "session-1", "openai", "gpt-5-mini"))
    rig.say(*turn(call=False), sink=child, run_id="run-9")
    child.state(StateChange("idle"))
    rig.say(*turn(call=False), origin=("session-2",))
    rig.say(RequestEnd(status="completed"))
    rig.rest()
    spans = rig.memory.get_finished_spans()
    runs = {span.attributes[names.CONVERSATION]: span for span in spans if span.name.startswith("invoke_agent")}
    assert runs["session-2"].parent.span_id == runs["session-1"].context.span_id
    assert [span.name for span in spans if span.name.startswith("chat")] == ["chat gpt-5-mini", "chat gemini-2.5-pro"]


@pytest.mark.asyncio
async def test_everything_is_passed_on_as_it_came():
    rig = Rig()
    rig.say(PartialText(event_type="start"), RequestBegin())
    rig.rest()
    await rig.sink.drain()
    kinds = [one if isinstance(one, str) else getattr(one, "state", None) or one.payload.type for one in rig.passed]
    assert kinds == ["partial_text", "request_begin", "idle", "drain"]
