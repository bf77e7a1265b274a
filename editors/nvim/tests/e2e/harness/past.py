"""Long histories, made from short ones that the server has written itself."""

import json


def lengthen(home, turns):
    """Has the one session below this home say what it said so many times, numbered from 0; its id and its messages."""
    [trace] = home.rglob("session-*.jsonl")
    lines = trace.read_text().splitlines()
    begin = next(number for number, line in enumerate(lines) if '"run_begin"' in line)
    body = [json.loads(line) for line in lines[begin:]]
    out = lines[:begin]
    for number in range(turns):
        out += [json.dumps(_numbered(message, number)) for message in body]
    trace.write_text("\n".join(out) + "\n")
    return trace.stem.rpartition("_")[0], len(out)


def _numbered(message, number):
    payload = dict(message["payload"])
    if payload["type"] == "run_begin":
        payload["run_id"] += f"-{number}"
    if "tool_call_id" in payload:
        payload["tool_call_id"] += f"-{number}"
    if payload["type"] == "text":
        payload["text"] += f" number {number}"
    return message | {"payload": payload}
