"""Recorded answers of real providers, where the recordings are at hand: what we read is what their own SDKs read."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.providers.anthropic.stream import MessagesReader
from agent_lsp.providers.failure import judge, read_answer
from agent_lsp.providers.gemini.stream import GeminiReader
from agent_lsp.providers.openai_chat.stream import ChatReader
from agent_lsp.providers.openai_responses.stream import ResponsesReader
from tests.providers import replies
from tests.providers.replies import joined

WIRE = Path(__file__).parents[3] / "shared" / "wire"
READERS = {
    "anthropic": MessagesReader,
    "openai_chat": lambda: ChatReader("p"),
    "openai_responses": lambda: ResponsesReader("p"),
    "gemini": lambda: GeminiReader("p"),
}
_SLOW_BYTES = 100_000
SPLICED = ("azure_openai_responses/07-", "openai_responses/51-")
"""Four replies in one body: what is expected is a mixture of them, and we stop at the end of the first."""
STATUS = {"transient": "timeout", "permanent": "failed", "context_length": "failed"}


def found():
    for path in sorted(WIRE.rglob("*.expect.json")):
        expect = json.loads(path.read_text())
        if f"{path.parent.name}/{path.name}".startswith(SPLICED):
            continue
        if expect.get("family") in READERS or path.parent.name == "errors":
            base = str(path).removesuffix(".expect.json")
            body = next((p for p in (Path(f"{base}.response.sse"), Path(f"{base}.response.json")) if p.exists()), None)
            if body:
                yield pytest.param(expect, body, Path(f"{base}.status"), id=f"{path.parent.name}/{Path(base).name}")


CASES = list(found()) or [pytest.param(None, None, None, marks=pytest.mark.skip("no recordings here"))]


def status_of(path):
    lines = path.read_text().splitlines() if path.exists() else ["200"]
    headers = dict(line.split(":", 1) for line in lines[1:] if ":" in line)
    return int(lines[0]), {name.lower(): value.strip() for name, value in headers.items()}


def read(family, body, cuts=()):
    edges = [0, *cuts, len(body)]
    return replies.read(READERS[family](), *(body[a:b] for a, b in pairwise(edges)))


def squashed(text):
    return re.sub(r"\s+", "", text or "")


def check_error(expect, outcome):
    error = expect["error"]
    allowed = [error["class"], *expect.get("accept_error_classes", [])]
    assert outcome.status in [STATUS.get(name, name) for name in allowed]
    if allowed == ["context_length"]:
        assert outcome.context_length


def check_reply(expect, parts):
    outcome = parts[-1]
    words = "".join(part.text for part in parts if isinstance(part, TextDelta))
    wanted = (expect.get("text") or "") + (expect.get("refusal") or "")
    calls = expect.get("tool_calls") or []
    if not wanted.strip() and not calls:
        refused = expect["finish"] in ("refusal", "content_filter", "pause")
        assert outcome.status == ("completed" if refused else "malformed")
        return
    assert outcome.status == "completed", outcome
    is_odd = expect.get("optional") or (expect.get("model") or "").startswith("@cf/")  # an object where a text belongs
    assert words == wanted or words == (expect.get("alternative") or {}).get("text") or is_odd
    thought = "".join(part.thinking for part in parts if isinstance(part, ThinkingDelta))
    assert squashed(thought) == squashed(expect.get("thinking")) or expect.get("optional")
    check_calls(expect, parts, calls)
    if expect["finish"]:
        assert outcome.finish == expect["finish"] or (calls and outcome.finish == "tool_calls") or expect.get("refusal")
    usage = expect.get("usage") or {}
    if usage.get("raw"):
        assert outcome.usage.output == (usage["output"] or 0)
        assert outcome.usage.cache_read == (usage["cache_read"] or 0)
        assert outcome.usage.total == (usage["input_total"] or 0) + (usage["output"] or 0)


def check_calls(expect, parts, calls):
    begun = {part.key: part for part in parts if isinstance(part, CallBegin)}
    ended = [part.key for part in parts if isinstance(part, SegmentEnd) and part.key is not None]
    cut = expect["finish"] == "length"  # the SDKs show what came of a torn call
    whole = [] if cut else [call for call in calls if call["arguments"] is not None]
    assert [begun[key].name for key in sorted(ended)] == [call["name"] for call in whole]
    for key, call in zip(sorted(ended), whole, strict=True):
        raw = "".join(part.arguments for part in parts if isinstance(part, CallDelta) and part.key == key)
        assert json.loads(raw or "{}") == call["arguments"]
        assert call["id"] is None or begun[key].call_id == call["id"]


@pytest.mark.parametrize(("expect", "body", "status"), CASES)
def test_what_is_read_is_what_the_sdk_reads(expect, body, status):
    code, headers = status_of(status)
    raw = body.read_bytes()
    if code != 200:
        check_error(expect, judge(read_answer(code, headers, raw), []))
        return
    parts = read(expect["family"], raw)
    if expect.get("error"):
        check_error(expect, parts[-1])
    elif expect["finish"] == "malformed":
        assert parts[-1].status == "malformed"
    else:
        check_reply(expect, parts)
    assert [isinstance(part, Outcome) for part in parts].index(True) == len(parts) - 1
    after_lines = [at + 2 for at, byte in enumerate(raw) if byte == 10 and at + 2 < len(raw)]
    for cuts in (after_lines, range(1, len(raw)) if len(raw) < _SLOW_BYTES else ()):
        assert joined(read(expect["family"], raw, cuts)) == joined(parts)
