"""What tests of the dialects share: bytes into parts, and parts into the messages that the engine makes of them."""

import json

from agent_lsp.engine.ports import CallBegin, CallDelta, SegmentEnd, TextDelta, ThinkingDelta
from agent_lsp.messages.content import Text, Thinking, ToolCall
from agent_lsp.providers.decoder import BodyDecoder


def sse(*events):
    return b"".join(b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n" for e in events)


def read(reader, *chunks):
    """The parts of a reply whose body comes in these chunks."""
    decoder = BodyDecoder(reader, [])
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return parts + decoder.close()


def joined(parts):
    """The parts with adjacent deltas of one segment put together: what must not depend on chunking."""
    whole = []
    for part in parts:
        last = whole[-1] if whole else None
        match part, last:
            case TextDelta(text), TextDelta(before):
                whole[-1] = TextDelta(before + text)
            case ThinkingDelta(text), ThinkingDelta(before):
                whole[-1] = ThinkingDelta(before + text)
            case CallDelta(key, text), CallDelta(other, before) if key == other:
                whole[-1] = CallDelta(key, before + text)
            case _:
                whole.append(part)
    return whole


def messages(parts):
    """The complete messages, in the order in which their segments begin."""
    found, calls, prose = [], {}, None
    for part in parts:
        match part:
            case TextDelta(piece) | ThinkingDelta(piece):
                kind = "text" if isinstance(part, TextDelta) else "thinking"
                if prose is None or prose[0] != kind:
                    found.append(prose := [kind, "", None])
                prose[1] += piece
            case CallBegin(key, name, call_id):
                prose = None
                found.append(calls.setdefault(key, [name, "", None, call_id or f"made-{key}"]))
            case CallDelta(key, piece):
                calls[key][1] += piece
            case SegmentEnd(key, fidelity):
                (prose if key is None else calls[key])[2] = fidelity
                prose = None if key is None else prose
    return [_message(*one) for one in found]


def _message(name, body, fidelity, call_id=None):
    if call_id is not None:
        return ToolCall(name=name, arguments=body, tool_call_id=call_id, fidelity=fidelity)
    if name == "text":
        return Text(role="assistant", text=body, fidelity=fidelity)
    return Thinking(thinking=body, fidelity=fidelity)


def whole_calls(parts):
    """(id, name, arguments) of each call that ended, in call order."""
    begun = {part.key: part for part in parts if isinstance(part, CallBegin)}
    ended = sorted(part.key for part in parts if isinstance(part, SegmentEnd) and part.key is not None)
    raw = {key: "".join(p.arguments for p in parts if isinstance(p, CallDelta) and p.key == key) for key in begun}
    return [(begun[key].call_id, begun[key].name, raw[key]) for key in ended]
