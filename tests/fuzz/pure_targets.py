"""What reads bytes and does nothing else: framing, JSON-RPC, events, provider streams, patches, edits, commands."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

from agent_lsp.acp.framing import Lines
from agent_lsp.engine.ports import CallBegin, CallDelta, Outcome, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.errors import FramingError
from agent_lsp.policy.commands import CommandPolicy
from agent_lsp.providers.anthropic.stream import MessagesReader
from agent_lsp.providers.decoder import BodyDecoder
from agent_lsp.providers.gemini.stream import GeminiReader
from agent_lsp.providers.openai_chat.stream import ChatReader
from agent_lsp.providers.openai_responses.stream import ResponsesReader
from agent_lsp.providers.sse import SseDecoder
from agent_lsp.server.framing import Decoder, frame
from agent_lsp.tools.editor import Change, Snapshot, TextEdit, new_text
from agent_lsp.tools.matching import Match, find
from agent_lsp.tools.patch import PatchUnreadable, parse_patch
from agent_lsp.tools.patching import HunkUnfit, added_text, fit
from agent_lsp.wire import jsonrpc
from tests.fuzz.mutation import Sample
from tests.fuzz.target import Target
from tests.providers.dialects import DIALECTS
from tests.providers.replies import joined, whole_calls
from tests.providers.wire_server import event

LIMIT_BYTES = 50_000
GOOD = b'{"jsonrpc":"2.0","id":"good","method":"x"}'
STATUSES = ("completed", "timeout", "malformed", "failed", "auth")


def pieces_of(data: bytes) -> list[bytes]:
    """The input cut at places that it names itself."""
    if not data:
        return []
    edges = sorted({0, len(data), *(byte * len(data) // 256 for byte in data[:6])})
    return [data[start:end] for start, end in pairwise(edges)]


# --- framing and JSON-RPC ---------------------------------------------------------------------------------------------


def decoded(decoder: Decoder | Lines, chunks: list[bytes]) -> list[Any]:
    """What comes out; between two chunks no more is kept than the limit allows."""
    found: list[Any] = []
    for chunk in chunks:
        decoder.feed(chunk)
        while (item := decoder.take()) is not None:
            found.append(item.code if isinstance(item, FramingError) else item)
        assert len(decoder._buffer) <= LIMIT_BYTES + 40_000
    return found


def framing(data: bytes) -> None:
    whole = decoded(Decoder(LIMIT_BYTES), [data])
    assert decoded(Decoder(LIMIT_BYTES), pieces_of(data)) == whole
    assert sum(len(item) for item in whole if isinstance(item, bytes)) <= len(data)
    decoder = Decoder(LIMIT_BYTES)
    decoded(decoder, [data])
    pending = (decoder._body_bytes or 0) + decoder._skip_bytes
    if pending < 2 * LIMIT_BYTES:
        assert GOOD in decoded(decoder, [b" " * pending, b"\r\n\r\n", frame(GOOD), frame(GOOD)])


def lines(data: bytes) -> None:
    whole = decoded(Lines(LIMIT_BYTES), [data])
    assert decoded(Lines(LIMIT_BYTES), pieces_of(data)) == whole
    assert decoded(Lines(LIMIT_BYTES), [data, b"\n" + GOOD + b"\n"])[-1] == GOOD


def json_rpc(data: bytes) -> None:
    match jsonrpc.parse(data):
        case jsonrpc.Invalid() as invalid:
            answer = json.loads(invalid.answer())
            assert answer["error"]["code"] in jsonrpc.KINDS and "id" in answer
        case jsonrpc.Request(request_id):
            assert json.loads(jsonrpc.success(request_id, b"1"))["id"] == jsonrpc.scrubbed(request_id)
        case jsonrpc.Notification() | jsonrpc.Response():
            pass


# --- events and provider streams --------------------------------------------------------------------------------------


def events(data: bytes) -> None:
    def read(chunks: list[bytes]) -> list[tuple[str, bytes]]:
        decoder = SseDecoder()
        return [one for chunk in chunks for one in decoder.feed(chunk)] + decoder.close()

    whole = read([data])
    assert read(pieces_of(data)) == whole
    assert sum(len(body) for _, body in whole) <= len(data)


READERS = {
    "openai-chat": lambda: ChatReader("p", think_tags=True),
    "anthropic": MessagesReader,
    "openai-responses": lambda: ResponsesReader("p", ()),
    "gemini": lambda: GeminiReader("p"),
}


def stream_of(api: str) -> Any:
    def check(data: bytes) -> None:
        whole = parts_of(READERS[api](), [data])
        check_parts(whole, len(data))
        assert joined(parts_of(READERS[api](), pieces_of(data))) == joined(whole)

    return check


def parts_of(reader: Any, chunks: list[bytes]) -> list[Any]:
    decoder = BodyDecoder(reader, ["sk-secret"])
    parts: list[Any] = []
    for chunk in chunks:
        if not decoder.is_over:
            parts += decoder.feed(chunk)
    return parts if decoder.is_over else parts + decoder.close()


def check_parts(parts: list[Any], size: int) -> None:
    """What the engine relies on, whatever the provider has said."""
    *before, outcome = parts
    assert isinstance(outcome, Outcome) and outcome.status in STATUSES
    assert not any(isinstance(part, Outcome) for part in before)
    assert (outcome.status == "completed") == (outcome.finish is not None)
    assert outcome.status == "completed" or outcome.message
    assert outcome.usage is None or min(outcome.usage.total, outcome.usage.output) >= 0
    begun: set[int] = set()
    ended: set[int] = set()
    produced = 0
    for part in before:
        match part:
            case CallBegin(key, name):
                assert key not in begun and isinstance(name, str) and name
                begun.add(key)
            case CallDelta(key, arguments):
                assert key in begun and key not in ended and arguments
                produced += len(arguments)
            case SegmentEnd(key) if key is not None:
                assert key in begun and key not in ended
                ended.add(key)
            case TextDelta(words) | ThinkingDelta(words):
                produced += len(words)
            case _:
                pass
    assert produced <= 8 * size + 100
    for _, _, arguments in whole_calls(parts):
        assert not arguments.strip() or isinstance(json.loads(arguments), dict)


def replies(dialect: Any) -> tuple[Sample, ...]:
    calls = (("call", "c1", "read_file", '{"file_path":', '"a.txt"}'), ("call", "c2", "f", "{}"))
    told = [
        ((("text", "Hel", "lo ü"),), "stop"),
        ((("thinking", "hm", "m"), ("text", "ok")), "stop"),
        ((("text", "Both."), *calls), "tool_calls"),
        ((("thinking", "<think>"), ("call", "c9", "f", '{"a": [1, {"b": "\\u00fc"}]}')), "tool_calls"),
        ((("text", "cut"),), "length"),
        ((("text", "no"),), "refusal"),
        ((("text", "open"),), None),
    ]
    made = [Sample(tuple(map(event, dialect.reply(*steps, finish=finish)))) for steps, finish in told]
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy sk-secret", "code": 529}}
    return (*made, Sample((*made[0].pieces[:1], event(error))), Sample((json.dumps(error).encode(),)))


# --- patches, edits, commands -----------------------------------------------------------------------------------------

TEXT = "import os\n\n\ndef main():\n    print('one')\n    print('two')\n\n\nif __name__ == '__main__':\n    main()\n"


def patches(data: bytes) -> None:
    try:
        files = parse_patch(data.decode("utf-8", "replace"))
    except PatchUnreadable:
        return
    assert files and all(file.path for file in files)
    for file in files:
        for text in (TEXT, TEXT.replace("\n", "\r\n"), "", "no end"):
            try:
                edits = fit(text, file.hunks)
            except HunkUnfit:
                continue
            check_edits(text, edits, len(data))
        assert len(added_text(file.hunks)) <= 2 * len(data) + 1


def check_edits(text: str, edits: tuple[TextEdit, ...], size: int) -> None:
    """They are in order, apart and inside of the text, and make of it what they say."""
    at = 0
    for edit in edits:
        assert at <= edit.start <= edit.end <= len(text)
        at = edit.end
    made = new_text(Change(Path("/x"), Snapshot(Path("/x"), text, None), edits)) or ""
    assert len(made) <= len(text) + 4 * size + 10 * len(edits)


def edits(data: bytes) -> None:
    try:
        given = json.loads(data)
        text, old, new, everywhere = (given[name] for name in ("text", "old", "new", "all"))
    except (ValueError, LookupError, TypeError, RecursionError):
        return
    if not all(isinstance(one, str) for one in (text, old, new)):
        return
    found = find(text, old, new, everywhere=bool(everywhere))
    if not isinstance(found, Match):
        assert found.why
        return
    assert found.edits and (everywhere or len(found.edits) == 1)
    at = 0
    for edit in found.edits:
        assert at <= edit.start < edit.end <= len(text), "something of the file is replaced, and only that"
        at = edit.end
        if not found.note:
            assert text[edit.start : edit.end].replace("\r\n", "\n") == old.replace("\r\n", "\n")


def edit_samples() -> tuple[Sample, ...]:
    cases = [
        (TEXT, "    print('one')\n", "    print('1')\n", False),
        (TEXT.replace("\n", "\r\n"), "print('one')\n    print('two')", "pass", False),
        (TEXT, "print", "log", True),
        (TEXT, "def main():   \n    print('one')", "def f():\n    pass", False),
        (TEXT, "if __name__ == '__main__':\n\tmain()", "main()", False),
        ("a\r\nb\na\r\n" * 40, "b\na", "c", True),
        ("x" * 4000 + "\n" + " " * 4000, "x x", "y", False),
    ]
    names = ("text", "old", "new", "all")
    return tuple(Sample((json.dumps(dict(zip(names, case, strict=True))).encode(),)) for case in cases)


COMMANDS = CommandPolicy(deny=("git push", "curl *--data*"), read_only=True, homes=(Path("/home/me"),))


def command_lines(data: bytes) -> None:
    line = data.decode("utf-8", "replace")
    cwd = Path("/home/me/project")
    assert COMMANDS.forbids(line, cwd) is None or COMMANDS.forbids(line, cwd).isprintable()
    words = COMMANDS.first_words(line)
    assert words is None or (words and COMMANDS.is_simple(line))
    paths = COMMANDS.only_reads(line, cwd)
    assert paths is None or all(path.is_absolute() for path in paths)


def words(*lines: str) -> tuple[Sample, ...]:
    return tuple(Sample(tuple(line.encode().split(b" ")), b" ") for line in lines)


def patch_sample(text: str) -> Sample:
    return Sample(tuple(line.encode() for line in text.split("\n")), b"\n")


UNIFIED = (
    "diff --git a/m.py b/m.py\n--- a/m.py\n+++ b/m.py\n@@ -4,3 +4,4 @@ def main():\n def main():\n"
    "-    print('one')\n+    print('1')\n+    print('1.5')\n     print('two')\n"
    "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n"
)
V4A = (
    "*** Begin Patch\n*** Update File: m.py\n*** Move to: n.py\n@@ def main():\n     print('one')\n-    print('two')\n"
    "+    print('2')\n@@\n if __name__ == '__main__':\n-    main()\n+    pass\n*** End of File\n"
    "*** Add File: o.py\n+x = 1\n+\n*** Delete File: p.py\n*** End Patch"
)
BODIES = (
    GOOD,
    b'{"jsonrpc":"2.0","id":7,"method":"agent/run","params":{"input":"go","sessionId":"s"}}',
    b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}',
    b'{"jsonrpc":"2.0","id":3,"result":{"decision":"allow"}}',
    '{"jsonrpc":"2.0","id":"ü","error":{"code":-32601,"message":"no"}}'.encode(),
)

TARGETS = (
    Target("framing", tuple(Sample(tuple(map(frame, BODIES[at:]))) for at in range(len(BODIES))), framing, 1500),
    Target("acp framing", (Sample(BODIES, b"\n"),), lines, 800),
    Target("json-rpc", tuple(Sample((body,)) for body in BODIES), json_rpc, 1500),
    Target("sse", tuple(sample for dialect in DIALECTS for sample in replies(dialect)), events, 1200),
    *(Target(f"stream of {one.api}", replies(one), stream_of(one.api), 1500) for one in DIALECTS),
    Target("patch", (patch_sample(UNIFIED), patch_sample(V4A)), patches, 1500),
    Target("edit", edit_samples(), edits, 1500),
    Target(
        "command line",
        words(
            "git status --short",
            "sudo rm -rf /home/me/x ; echo done",
            "for f in *.py ; do cat $f | grep -n x > out.txt ; done",
            "env A=1 sh -c 'rm -rf \"$HOME\"' && npm test",
            "cat <<EOF | bash\nrm -rf ~/\nEOF",
            "dd if=/dev/zero of=/dev/sda ; mkfs.ext4 /dev/sda1",
            ":(){ :|:& };:",
            "find . -name x -exec rm -rf {} +",
        ),
        command_lines,
        1000,
    ),
)
