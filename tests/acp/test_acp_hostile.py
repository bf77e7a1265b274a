"""Clients that are wrong, rude or gone, and a real process: an answer or a clean end, never silence for ever."""

import json
import os
import select

import pytest

MB = 1_000_000
STALLED_S = 0.5
BIG = b"9" * 5000
PROBE = b'{"jsonrpc":"2.0","id":"probe","method":"session/list","params":{}}'
WRONG = [
    (b"nonsense", -32700),
    (b"\0\0\0", -32700),
    (b"\xff\xfe{}", -32700),
    (b'{"jsonrpc":"2.0","id":"\xff","method":"session/list"}', -32700),
    (b"[" * 100_000, -32700),
    (b'{"jsonrpc":"2.0","id":' + BIG + b',"method":"session/list"}', -32700),
    (b'{"jsonrpc":"2.0","id":NaN,"method":"session/list"}', -32700),
    (b"[]", -32600),
    (b"[" + PROBE + b"," + PROBE + b"]", -32600),
    (b"7", -32600),
    (b"true", -32600),
    (b"null", -32600),
    (b'"initialize"', -32600),
    (b"{}", -32600),
    (b'{"id":1,"method":"session/list"}', -32600),
    (b'{"jsonrpc":"1.0","id":1,"method":"session/list"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":7}', -32600),
    (b'{"jsonrpc":"2.0","id":[1],"method":"session/list"}', -32600),
    (b'{"jsonrpc":"2.0","id":null,"method":"session/list"}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}', -32600),
    (b'{"jsonrpc":"2.0","id":1,"method":"session/frobnicate","params":{}}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"","params":{}}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}', -32601),
    (b'{"jsonrpc":"2.0","id":1,"method":"session/list","params":[1]}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":7}}', -32602),
    (b'{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"none","prompt":[]}}', -32002),
]
IGNORED = [
    b"",
    b" \t\r",
    b'{"jsonrpc":"2.0","method":"session/frobnicate"}',
    b'{"jsonrpc":"2.0","method":"session/cancel"}',
    b'{"jsonrpc":"2.0","method":"session/cancel","params":7}',
    b'{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"none"}}',
    b'{"jsonrpc":"2.0","method":"$/cancel_request"}',
    b'{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":[{}]}}',
    b'{"jsonrpc":"2.0","id":99,"result":{}}',
    b'{"jsonrpc":"2.0","id":{"a":[]},"error":7}',
    b'{"jsonrpc":"2.0","id":null,"result":null}',
]
REPLIES = [
    {"result": None},
    {"result": []},
    {"result": {"outcome": "selected"}},
    {"result": {"outcome": {"outcome": "selected", "optionId": ["allow_once"]}}},
    {"error": None},
    {"error": {"code": "x"}},
    {"result": {"outcome": {"outcome": "selected", "optionId": "allow_once"}}, "error": {"code": 1, "message": ""}},
]


class Talk:
    """Lines to and from a process; `greet` begins it."""

    def __init__(self, process):
        self.process = process

    def send(self, *lines):
        self.process.stdin.write(b"".join(line + b"\n" for line in lines))
        self.process.stdin.flush()

    def request(self, id, method, **params):
        self.send(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode())

    def next(self):
        line = self.process.stdout.readline()
        assert line, self.process.stderr.read().decode()
        return json.loads(line)

    def until(self, condition):
        while not condition(message := self.next()):
            pass
        return message

    def answer(self, id):
        return self.until(lambda message: "method" not in message and message["id"] == id)

    def ask(self, id, method, **params):
        self.request(id, method, **params)
        return self.answer(id)

    def greet(self, **capabilities):
        result = self.ask("hello", "initialize", protocolVersion=1, clientCapabilities=capabilities)["result"]
        assert result["protocolVersion"] == 1
        return self

    def new(self, folder):
        return self.ask("new", "session/new", cwd=str(folder), mcpServers=[])["result"]["sessionId"]

    def prompt(self, id, session, text):
        self.request(id, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": text}])

    def is_well(self):
        self.send(PROBE)
        return self.answer("probe").keys() == {"jsonrpc", "id", "result"}

    def ends_well(self):
        said, complaints = self.process.communicate(timeout=10)
        for line in said.splitlines():
            json.loads(line)
        return (self.process.returncode, complaints) == (0, b"")


@pytest.fixture
def talk(start, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('default_model = "rehearsal/rehearsal"\n')
    return Talk(start("--config", str(config)))


def asks(message):
    return message.get("method") == "session/request_permission"


def test_what_is_no_request_is_one_error_and_the_rest_is_served(talk):
    talk.greet()
    for line, code in WRONG:
        talk.send(line)
        assert talk.next()["error"]["code"] == code, line[:100]
        assert talk.is_well(), line[:100]
    assert talk.ends_well()


def test_what_wants_no_answer_gets_none(talk):
    talk.greet()
    talk.send(*IGNORED, PROBE)
    assert talk.next()["id"] == "probe"
    assert talk.ends_well()


def test_nonsense_before_the_greeting_is_answered_too(talk):
    talk.send(b"\xff", b"[]", b"7", PROBE, *IGNORED)
    assert [talk.next()["error"]["code"] for _ in range(4)] == [-32700, -32600, -32600, -32600]
    assert talk.greet().is_well() and talk.ends_well()


def test_fields_that_nobody_knows_are_nothing(talk, tmp_path):
    talk.greet()
    answer = talk.ask(1, "session/new", cwd=str(tmp_path), mcpServers=[], _meta={"a": [None]}, junk={"b": 1e300})
    assert "result" in answer and talk.ends_well()


@pytest.mark.parametrize("is_greeted", [False, True])
def test_a_line_of_50_megabytes_is_read_and_a_larger_one_skipped(is_greeted, talk):
    if is_greeted:
        talk.greet()
    talk.send(b"x" * (50 * MB), b"x" * (70 * MB))
    assert [talk.next()["error"]["code"] for _ in range(2)] == [-32700, -32012]
    if not is_greeted:
        talk.greet()
    assert talk.is_well() and talk.ends_well()


def test_a_prompt_of_50_megabytes_is_answered(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.prompt(1, session, "x" * (50 * MB))
    answer = talk.answer(1)
    assert ("result" in answer) != ("error" in answer)
    assert talk.is_well() and talk.ends_well()


def test_an_id_that_is_in_use_is_refused_and_its_first_request_answered_once(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.prompt(1, session, "run `echo hi`")
    question = talk.until(asks)
    talk.request(1, "session/list")
    talk.prompt(1, session, "again")
    refusals = [talk.until(lambda message: "error" in message) for _ in range(2)]
    assert [(one["id"], one["error"]["code"]) for one in refusals] == [(None, -32600)] * 2
    outcome = {"outcome": {"outcome": "selected", "optionId": "reject_once"}}
    reply = json.dumps({"jsonrpc": "2.0", "id": question["id"], "result": outcome}).encode()
    talk.send(reply, reply)
    assert talk.answer(1)["result"]["stopReason"] == "end_turn"
    assert talk.ask(1, "session/list")["result"]["sessions"] and talk.ends_well()


def test_a_closed_session_takes_nothing_more(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    assert talk.ask(1, "session/close", sessionId=session)["result"] == {}
    talk.prompt(2, session, "hello?")
    assert talk.answer(2)["error"]["code"] == -32002
    for method in ("session/close", "session/delete"):
        assert talk.ask(3, method, sessionId=session)["error"]["code"] == -32002
    talk.send(json.dumps({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}).encode())
    assert talk.is_well() and talk.ends_well()


def test_closing_a_session_answers_its_prompt(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.prompt(1, session, "run `echo hi`")
    talk.until(asks)
    talk.request(2, "session/close", sessionId=session)
    answers = [talk.until(lambda message: message.get("id") in (1, 2) and "method" not in message) for _ in range(2)]
    assert {one["id"] for one in answers} == {1, 2} and talk.ends_well()


def test_an_answer_that_makes_no_sense_allows_nothing(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    for number, reply in enumerate(REPLIES):
        talk.prompt(number, session, "run `touch made`")
        question = talk.until(asks)
        talk.send(json.dumps({"jsonrpc": "2.0", "id": question["id"], **reply}).encode())
        assert talk.answer(number)["result"]["stopReason"] == "end_turn"
        assert not (tmp_path / "made").exists(), reply
    assert talk.ends_well()


def test_a_client_that_leaves_with_a_question_open_ends_it(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.prompt(1, session, "run `touch made`")
    talk.until(asks)
    assert talk.ends_well() and not (tmp_path / "made").exists()


def test_a_client_that_never_sends_a_file_can_cancel_and_leave(talk, tmp_path):
    (tmp_path / "a.txt").write_text("one\n")
    session = talk.greet(fs={"readTextFile": True}).new(tmp_path)
    talk.prompt(1, session, "read a.txt")
    talk.until(lambda message: message.get("method") == "fs/read_text_file")
    cancel = {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}
    talk.send(json.dumps(cancel).encode())
    assert talk.answer(1)["result"]["stopReason"] == "cancelled"
    talk.prompt(2, session, "read a.txt")
    talk.until(lambda message: message.get("method") == "fs/read_text_file")
    assert talk.ends_well()


def test_a_client_that_leaves_in_the_middle_of_a_line_ends_it(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.prompt(1, session, "hello")
    talk.process.stdin.write(b'{"jsonrpc":"2.0","id":2,')
    assert talk.ends_well()


def test_a_client_that_sends_everything_at_once_and_leaves_ends_it(talk, tmp_path):
    new = {"jsonrpc": "2.0", "id": 2, "method": "session/new", "params": {"cwd": str(tmp_path), "mcpServers": []}}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
    talk.process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in (hello, new)) + PROBE + b"\n")
    said, complaints = talk.process.communicate(timeout=10)
    answered = [message["id"] for line in said.splitlines() if "method" not in (message := json.loads(line))]
    assert answered == [1, 2, "probe"] and (talk.process.returncode, complaints) == (0, b"")


def test_a_client_whose_ears_are_gone_ends_it(talk, tmp_path):
    session = talk.greet().new(tmp_path)
    talk.process.stdout.close()
    talk.prompt(1, session, "hello")
    assert talk.process.wait(10) == 1


@pytest.mark.parametrize("leave", [lambda process: process.terminate(), lambda process: process.stdin.close()])
def test_a_client_that_does_not_read_cannot_keep_it_from_ending(leave, talk):
    talk.greet()
    talk.send(*[b'{"jsonrpc":"2.0","id":1,"method":"nothing"}'] * 10_000)  # answers for several full pipes
    leave(talk.process)
    assert talk.process.wait(10) in (0, 1)


def test_a_client_that_floods_it_reads_nothing_and_leaves_ends_it(start, tmp_path):
    config = tmp_path / "config.toml"
    config.write_text('default_model = "rehearsal/rehearsal"\n[limits]\nmax_queued_bytes = 65536\n')
    talk = Talk(start("--config", str(config))).greet()
    assert talk.is_well()
    stdin = talk.process.stdin
    os.set_blocking(stdin.fileno(), False)
    while select.select([], [stdin], [], STALLED_S)[1]:  # until it takes no more
        os.write(stdin.fileno(), b'{"jsonrpc":"2.0","id":1,"method":"nothing"}\n' * 50)
    stdin.close()
    assert talk.process.wait(10) == 0
