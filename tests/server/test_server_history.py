"""History that a client brings along, and history that it asks for while things go on."""

import asyncio

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent_lsp.engine.ports import Outcome, SegmentEnd, TextDelta
from agent_lsp.errors import InvalidParams
from agent_lsp.messages.content import CONTENT_TYPES, PARTIAL_TYPES, Text, ToolCall
from agent_lsp.messages.envelope import MESSAGE
from agent_lsp.messages.events import TokenCounts
from agent_lsp.messages.partial import Aggregator
from agent_lsp.providers.scripted import call, gate, text, thinking
from agent_lsp.server.history import read_seed
from tests.server.front_end import front_end

STAMP = "2026-11-29T21:20:41.123Z"


def message(type, **fields):
    return {"timestamp": STAMP, "type": "model_msg", "payload": {"type": type, **fields}}


def said(role, words, **more):
    return message("text", role=role, text=words, **more)


CALL = message("tool_call", role="assistant", name="read_file", arguments="{}", tool_call_id="c1")
OUTPUT = message("tool_call_output", role="user", tool_call_id="c1", output="[no output]")
SEED = [said("user", "hello"), CALL, OUTPUT, said("assistant", "hi", fidelity={"x": {"deep": [1, None]}})]


def refused_at(given):
    with pytest.raises(InvalidParams) as caught:
        read_seed(given)
    return caught.value.errors[0][0]


def test_a_seed_is_read_in_order_with_its_opaque_parts():
    seed = read_seed(SEED)
    assert [one.type for one in seed] == ["text", "tool_call", "tool_call_output", "text"]
    assert isinstance(seed[1], ToolCall)
    assert isinstance(seed[3], Text)
    assert seed[3].fidelity == {"x": {"deep": [1, None]}}
    assert read_seed([]) == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"type": "model_msg", "payload": {}},
        {**said("user", "x"), "timestamp": None},
        said("robot", "x"),
        message("text", role="user"),
        {"timestamp": STAMP, "type": "event_msg", "payload": {"type": "request_begin"}},
        message("partial_text", role="assistant", event_type="start"),
    ],
)
def test_what_is_no_message_of_a_context_is_named_by_its_index(wrong):
    assert refused_at([said("user", "fine"), wrong]) == "initialHistory[1]"


@pytest.mark.parametrize(
    "wrong",
    [
        [CALL],
        [OUTPUT],
        [CALL, OUTPUT, OUTPUT],
        [CALL, said("user", "but"), OUTPUT],
        [OUTPUT, CALL],
    ],
)
def test_a_call_without_its_one_output_right_after_is_refused(wrong):
    assert refused_at([said("user", "fine"), *wrong]) == "initialHistory"


@pytest.mark.parametrize("twice", [[CALL, CALL, OUTPUT, OUTPUT], [CALL, OUTPUT, CALL, OUTPUT]])
def test_an_id_that_two_calls_share_is_refused_at_the_second(twice):
    assert refused_at(twice) == f"initialHistory[{twice.index(CALL, 1)}]"


@pytest.mark.asyncio
async def test_a_seed_goes_to_the_model_and_is_in_the_history(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        session = (await client.ask("agent/session/new", initialHistory=SEED))["sessionId"]
        await client.ask("agent/run", input="go on")

        [request] = model.requests
        sent = [one for commit in request.history for one in commit.messages]
        assert [one.type for one in sent] == ["text", "tool_call", "tool_call_output", "text"]
        kept = (await client.ask("agent/session/history", sessionId=session))["messages"]
        assert [one["payload"] for one in SEED] == [one["payload"] for one in kept if one["type"] == "model_msg"][:4]


@pytest.mark.asyncio
async def test_a_refused_seed_opens_no_session(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        assert (await client.refusal("agent/session/new", initialHistory=[CALL])).fields == ["initialHistory"]
        assert (await client.ask("agent/session/list"))["sessions"] == []


@pytest.mark.asyncio
async def test_history_and_notifications_join_without_gap_or_repetition(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = asyncio.Event()
        model.script([thinking("hm"), text("Once "), gate(opened), text("upon "), text("a time")])
        run = client.send("agent/run", input="go")
        await client.until(lambda: client.streamed("partial_text"))
        session = client.told("agent/message")[0]["sessionId"]
        seen = await client.ask("agent/session/history", sessionId=session)
        last = await client.ask("agent/session/history", sessionId=session, fromEnd=True, limit=1)
        assert last["messages"] == seen["messages"][-1:]
        assert [one["payload"] for one in last["live"]] == [one["payload"] for one in seen["live"]]
        opened.set()
        await run

        fragments = [one["payload"] for one in seen["live"]]
        assert [(one["event_type"], one.get("text")) for one in fragments] == [("start", ""), ("delta", "Once ")]
        later = [
            one["payload"]
            for params in client.told("agent/message")
            for number, one in enumerate(params["messages"], params["seq"])
            if number >= seen["nextSeq"]
        ]
        whole = "".join(one["text"] for one in [*fragments, *later] if one["type"] == "partial_text")
        assert whole == "Once upon a time"
        kept = [one["payload"]["type"] for one in seen["messages"]]
        assert kept.count("thinking") == 1
        assert "thinking" not in [one["type"] for one in later]


@given(st.lists(st.sampled_from(["speak", "speak", "look", "stop reading", "read"]), max_size=24))
@example(["stop reading", "speak", "look", "speak"])
@settings(deadline=None)
@pytest.mark.asyncio
async def test_whenever_one_looks_history_and_what_follows_are_the_whole(tmp_path_factory, actions):
    with pytest.MonkeyPatch.context() as patch:
        async with front_end(tmp_path_factory.mktemp("look"), patch) as (client, model):
            gates = [asyncio.Event() for _ in range(actions.count("speak"))]
            model.stream = speaking(gates)
            run, looks = client.send("agent/run", input="go"), []
            session = (await client.until(lambda: client.told("agent/state")))[0]["sessionId"]
            for action in actions:
                if action == "speak":
                    next(one for one in gates if not one.is_set()).set()
                elif action == "look":
                    looks.append(client.send("agent/session/history", sessionId=session))
                else:
                    client.wire.paused = action == "stop reading"
                    client.connection.writable()
                await turns_of_the_loop()
            client.wire.paused = False
            client.connection.writable()
            await run

            whole = (await client.ask("agent/session/history", sessionId=session))["messages"]
            for look in looks:
                seen = await look
                joined = Aggregator()
                for one in seen.get("live", []):
                    joined.apply(MESSAGE.validate_python(one).payload)
                rest = [one for one in after(client, seen["nextSeq"]) if takes(joined, one)]
                assert not joined.open
                assert seen["messages"] + rest == whole


def speaking(gates):
    """A model that says one piece for each gate; every third ends its segment."""

    async def stream(_):
        for number, one in enumerate(gates):
            await one.wait()
            yield TextDelta(f"piece {number} ")
            if number % 3 == 2:
                yield SegmentEnd()
        yield TextDelta("done")
        yield Outcome("completed", usage=TokenCounts(), finish="stop")

    return stream


async def turns_of_the_loop():
    for _ in range(10):
        await asyncio.sleep(0)


def after(client, seq):
    told = client.told("agent/message")
    return [one for params in told for number, one in enumerate(params["messages"], params["seq"]) if number >= seq]


def takes(joined, message):
    """Whether it is a whole message and not a fragment of one. Raises when it does not fit what came before."""
    payload = MESSAGE.validate_python(message).payload
    if isinstance(payload, PARTIAL_TYPES + CONTENT_TYPES):
        joined.apply(payload)
    return not isinstance(payload, PARTIAL_TYPES)


@pytest.mark.asyncio
async def test_what_waits_is_told_as_it_was_given_and_forgotten_when_it_waits_no_more(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        opened = asyncio.Event()
        model.script([gate(opened), text("one")], [text("steered")], [text("two")])
        first = client.send("agent/run", input="one")
        session = (await client.until(lambda: client.told("agent/state")))[0]["sessionId"]
        parts = [{"type": "text", "text": "tw"}, {"type": "text", "text": "o"}]
        second = client.send("agent/run", input=parts, queueIfBusy=True)
        steered = await client.ask("agent/steer", input="left")
        pending = (await client.ask("agent/session/history", sessionId=session))["pending"]
        assert [one["input"] for one in pending["runs"]] == [parts]
        assert pending["steers"] == [{"steerId": steered["steerId"], "input": "left"}]

        opened.set()
        await first
        assert (await second)["runId"] == pending["runs"][0]["runId"]
        pending = (await client.ask("agent/session/history", sessionId=session))["pending"]
        assert pending == {"runs": [], "steers": [], "approvals": []}


@pytest.mark.asyncio
async def test_an_open_question_is_told_with_its_params(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, model):
        answered = asyncio.Event()

        async def later(_):
            await answered.wait()
            return {"decision": "deny"}

        client.handlers["agent/approve"] = later
        model.script([call("write_file", {"file_path": "a", "content": "b"})])
        run = client.send("agent/run", input="go")
        [asked] = await client.until(lambda: client.told("agent/approve"))
        pending = (await client.ask("agent/session/history", sessionId=asked["sessionId"]))["pending"]
        assert pending["approvals"] == [asked]
        answered.set()
        await run
        pending = (await client.ask("agent/session/history", sessionId=asked["sessionId"]))["pending"]
        assert pending["approvals"] == []


@pytest.mark.asyncio
async def test_of_a_subagent_at_work_everything_so_far_is_live_and_joins_its_notifications(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch, approvalMode="allow-all") as (client, model):
        opened = asyncio.Event()
        model.script(
            [call("run_subagent", {"prompt": "look"})],
            [text("I look. "), call("exec_command", {"cmd": "echo seen"})],
            [text("Once "), gate(opened), text("upon")],
            [text("done")],
        )
        run = client.send("agent/run", input="go")
        await client.until(lambda: [one for one in client.streamed("partial_text") if one["text"] == "Once "])
        session = client.told("agent/message")[0]["sessionId"]
        seen = await client.ask("agent/session/history", sessionId=session, fromEnd=True, limit=1)
        opened.set()
        await run

        [child] = {tuple(one["origin"]) for one in seen["live"] if "origin" in one}
        sent = [
            (number, one)
            for params in client.told("agent/message")
            for number, one in enumerate(params["messages"], params["seq"])
            if one.get("origin") == list(child)
        ]
        live = [one["payload"] for one in seen["live"] if "origin" in one]
        whole = [one["payload"] for number, one in sent if number < seen["nextSeq"]]
        assert told(live) == told(whole) and "I look. " in [one.get("text") for one in live]
        later = [one["payload"] for number, one in sent if number >= seen["nextSeq"]]
        last = [one["text"] for one in [*live, *later] if one["type"] == "partial_text"]
        assert "".join(last) == "Once upon"
        after = await client.ask("agent/session/history", sessionId=session, fromEnd=True, limit=1)
        assert "live" not in after


def told(payloads):
    """What the model and its tools said in a stream, whatever the fragments; the task is in the trace alone."""
    kinds = ("text", "tool_call", "tool_call_output")
    return [one for one in payloads if one["type"] in kinds and one.get("sender") != "parent_agent"]


@pytest.mark.asyncio
async def test_pages_join_to_the_whole(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        for words in ("one", "two"):
            session = (await client.ask("agent/run", input=words))["sessionId"]
        whole = (await client.ask("agent/session/history", sessionId=session))["messages"]
        paged, cursor = [], {}
        while cursor is not None:
            page = await client.ask("agent/session/history", sessionId=session, limit=3, **cursor)
            paged += page["messages"]
            cursor = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        assert paged == whole
        latest, cursor = [], {}
        while cursor is not None:
            page = await client.ask("agent/session/history", sessionId=session, limit=3, fromEnd=True, **cursor)
            latest = page["messages"] + latest
            assert page.get("earlier", 0) == len(whole) - len(latest)
            cursor = {"cursor": page["previousCursor"]} if "previousCursor" in page else None
        assert latest == whole
        refused = await client.refusal("agent/session/history", sessionId=session, cursor="nonsense")
        assert refused.fields == ["cursor"]


@pytest.mark.asyncio
async def test_a_closed_session_keeps_its_history(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = (await client.ask("agent/run", input="one"))["sessionId"]
        before = await client.ask("agent/session/history", sessionId=session)
        await client.ask("agent/session/close", sessionId=session)
        after = await client.ask("agent/session/history", sessionId=session)
        assert after["messages"] == before["messages"]
        assert after["nextSeq"] == 0
        latest = await client.ask("agent/session/history", sessionId=session, limit=2, fromEnd=True)
        assert latest["messages"] == before["messages"][-2:] and latest["earlier"] == len(before["messages"]) - 2


@pytest.mark.asyncio
async def test_an_ephemeral_session_leaves_nothing_on_the_disk(tmp_path, monkeypatch):
    settings = {"approvalMode": "allow-all", "tools": {"maxOutputLength": 10}}
    async with front_end(tmp_path, monkeypatch, **settings) as (client, model):
        session = (await client.ask("agent/session/new", ephemeral=True))["sessionId"]
        model.script([call("exec_command", {"cmd": "seq 100"})], [text("done")])
        await client.ask("agent/run", input="go", goal={})
        scratchpad = tmp_path / "data" / "scratchpad" / session
        assert list(scratchpad.rglob("*"))
        await client.ask("agent/session/close", sessionId=session)
        assert not [one for one in (tmp_path / "data").rglob("*") if session in str(one)]


@pytest.mark.asyncio
async def test_an_ephemeral_session_has_a_history_until_it_is_closed(tmp_path, monkeypatch):
    async with front_end(tmp_path, monkeypatch) as (client, _):
        session = (await client.ask("agent/session/new", ephemeral=True))["sessionId"]
        await client.ask("agent/run", input="one")
        history = await client.ask("agent/session/history", sessionId=session)
        assert "one" in [one["payload"].get("text") for one in history["messages"]]
        await client.ask("agent/session/close", sessionId=session)
        assert (await client.refusal("agent/session/history", sessionId=session)).code == -32004
