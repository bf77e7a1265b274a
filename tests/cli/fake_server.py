"""A server that plays one scene: `python fake_server.py SCENE`. It knows the protocol and nothing else."""

import json
import sys
from itertools import count

AT = "2026-01-01T00:00:00.000Z"
CALL = {
    "type": "tool_call",
    "name": "exec_command",
    "arguments": '{"cmd": "ls"}',
    "tool_call_id": "c1",
    "role": "assistant",
}
TITLE = {"type": "partial_text", "role": "assistant"}
ids = count(1)


def send(**message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def receive():
    length = 0
    while (line := sys.stdin.buffer.readline()) not in (b"\r\n", b""):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else sys.exit(0)


def say(*payloads):
    messages = [
        {"timestamp": AT, "type": "event_msg" if "status" in one or "decision" in one else "model_msg", "payload": one}
        for one in payloads
    ]
    send(method="agent/message", params={"sessionId": "s", "seq": 0, "messages": messages})


def stream(text):
    say(*({**TITLE, "event_type": "delta", "text": piece} if piece else {**TITLE, "event_type": kind} for kind, piece in
          [("start", ""), *(("delta", word) for word in text.split(" ")), ("stop", "")]))  # fmt: skip
    say({"type": "text", "role": "assistant", "text": text.replace(" ", "")})


def ended(run, status="completed", **more):
    usage = {"cache_read": 0, "cache_write": 0, "output": 0, "total": 1234}
    send(id=run["id"], result={"status": status, "runId": "r", "turns": 1, "text": "", "usage": usage, **more})


def answer_run(run):
    stream("you_said: " + run["params"]["input"].replace(" ", "_"))
    ended(run)


def warn(run):
    for method, kind, message in (
        ("window/logMessage", 2, "a setting is unknown\x1b"),
        ("window/showMessage", 1, "the disk is full"),
        ("window/showMessage", 1, "the disk is full"),
        ("window/logMessage", 3, "nothing to worry about"),
    ):
        send(method=method, params={"type": kind, "message": message})
    answer_run(run)


def ask_and_report(run):
    send(id="ask", method="agent/approve", params={
        "sessionId": "s", "permission": "rw", "title": "Run ls", "toolCall": CALL,
        "preview": {"kind": "command", "command": "ls", "cwd": "/w"},
        "remember": [{"kind": "call", "scope": "session", "rule": {"opaque": 7}, "label": "this call"}]})  # fmt: skip
    stream("answer: " + json.dumps(receive()["result"], separators=(",", ":")))
    ended(run)


def ask_freely(run):
    for number, more in enumerate(({"options": ["red", "green"]}, {"options": ["a", "b"], "multiple": True}, {})):
        send(id=number, method="agent/ask", params={"sessionId": "s", "question": "Which?", **more})
        stream("answer: " + json.dumps(receive()["result"], separators=(",", ":")))
    ended(run)


def ask_twice_at_once(run):
    send(id="ask", method="agent/approve", params={"sessionId": "s", "permission": "r", "title": "T", "toolCall": CALL})
    send(id="question", method="agent/ask", params={"sessionId": "s", "question": "Which?"})
    stream("answers: " + json.dumps([receive()["result"], receive()["result"]], separators=(",", ":")))
    ended(run)


def ask_whether_it_may(run):
    stream("declared: " + str(run["agent"]["ask"]))
    send(id=7, method="agent/ask", params={"sessionId": "s", "question": "Which?"})
    stream("answer: " + str(receive()["error"]["code"]))
    ended(run)


def ask_and_withdraw(run):
    send(id="ask", method="agent/approve", params={"sessionId": "s", "permission": "r", "title": "T", "toolCall": CALL})
    assert receive()["method"] == "agent/abort"
    send(method="$/cancelRequest", params={"id": "ask"})
    ended(run, "aborted")


def stream_then_ask(run):
    stream("working")
    assert receive()["method"] == "agent/abort"  # the sign that the scene may go on
    ask_and_report(run)


def ask_unknown(run):
    send(id=7, method="workspace/unheardOf", params={})
    stream("answer: " + str(receive()["error"]["code"]))
    ended(run)


def wait_for_abort(run):
    stream("working")
    request = receive()
    send(id=request["id"], result={"aborted": True, "what": "run"})
    ended(run, "aborted")


def never_answer(run):
    stream("working")
    while True:
        receive()


def die(run):
    sys.exit(3)


def refuse(run):
    error = {
        "code": -32010,
        "message": "no credential for x/y",
        "data": {"kind": "model_unavailable", "hint": "set X_KEY"},
    }
    send(id=run["id"], error=error)


SCENES = {scene.__name__: scene for scene in (
    answer_run, ask_and_report, ask_freely, ask_twice_at_once, ask_whether_it_may, ask_and_withdraw,
        stream_then_ask, ask_unknown, wait_for_abort, never_answer, die, refuse, warn)}  # fmt: skip


MODELS = {
    "models": [
        {"provider": "groq", "model": "big", "contextWindow": 131072, "vision": False, "toolCalling": True,
         "hasCredential": True},
        {"provider": "mine", "model": "sma\x1b[31mll", "vision": True, "toolCalling": False, "hasCredential": False},
    ],
    "defaultModel": {"provider": "groq", "model": "big"},
}  # fmt: skip


def tried(status):
    message = {} if status == "completed" else {"message": f"it was {status}"}
    return {"ok": status == "completed", "latencyMs": 12, "status": status, **message}


def main(scene):
    agent = {}
    while True:
        request = receive()
        match request.get("method"):
            case "initialize":
                agent = request["params"]["capabilities"]["experimental"]["agent"]
                send(id=request["id"], result={"capabilities": {}})
            case "agent/models" if scene == "lists_none":
                send(id=request["id"], result={"models": [], "defaultModel": MODELS["defaultModel"]})
            case "agent/models":
                send(method="agent/modelsChanged", params={})
                send(id=request["id"], result=MODELS)
            case "agent/models/test" if scene == "refuse":
                refuse(request)
            case "agent/models/test":
                send(id=request["id"], result=tried(scene.removeprefix("tried_")))
            case "agent/session/new":
                session = {"sessionId": "s", "model": {"provider": "p", "model": "m"}, "approvalMode": "ask"}
                send(id=request["id"], result=session)
            case "agent/run" if scene.startswith("ends_"):
                ended(request, scene.removeprefix("ends_"))
            case "agent/run":
                SCENES[scene](request | {"agent": agent})
            case "shutdown":
                send(id=request["id"], result=None)
            case "exit":
                sys.exit(0)


main(sys.argv[1])
