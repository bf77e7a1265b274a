"""The server is killed in the middle of everything, again and again; each time another one goes on with the session."""

import asyncio
import json
import signal
from itertools import count

import pytest

from tests.e2e.launch import over_stdio
from tests.e2e.model_server import Gate, ModelServer, refuse, say, think, use
from tests.e2e.peer import Peer

pytestmark = pytest.mark.asyncio
WITHIN_S = 60
ENDLESS = "echo begun; exec tail -f /dev/null"
SUMMARY = "[summary]so far[/summary]"


class Survivor:
    """One session that outlives its servers. `words` are what its next request has to hold."""

    def __init__(self, model, start):
        self.model, self.kills, self.words = model, 0, []
        self._start, self._number, self._session, self._heard = start, count(1), None, 0

    async def begin(self):
        """The first server makes the session."""
        self.peer = await self._start()
        self._session = (await self.peer.ask("agent/session/new"))["sessionId"]
        await self.run_to_its_end()

    def send(self):
        """A prompt that nobody has said before."""
        words = f"prompt-{next(self._number)}"
        self.words.append(words)
        self._heard = len(self.peer.stream.of(self._session))
        return self.peer.send("agent/run", {"sessionId": self._session, "input": words})

    async def run_to_its_end(self):
        """A run with a tool, to a good end; what it sends is checked."""
        first, answer = len(self.model.asked), f"answer-{next(self._number)}"
        self.model.script([say("I look."), use("read_file", {"file_path": "notes.txt"})], [say(answer)])
        result = await asyncio.wait_for(self.send(), 10)
        assert (result["status"], result["text"]) == ("completed", answer), result
        for asked in self.model.asked[first:]:
            check_is_legal(asked)
            assert [word for word in self.words if word not in asked.words] == []
        self.words.append(answer)

    async def dies(self):
        """The server is killed here and now, and another one resumes the session."""
        self.peer.server.process.send_signal(signal.SIGKILL)
        assert await self.peer.server.status() == -signal.SIGKILL
        await self.peer.end()
        self.kills += 1
        self.model.forget()
        self.peer = await self._start()
        info = await self.peer.ask("agent/session/resume", {"sessionId": self._session})
        assert info["state"] == "idle"

    async def streams(self, type, text=""):
        """Waits for a message of this type since the last prompt, with this in it."""

        def seen():
            since = self.peer.stream.of(self._session)[self._heard :]
            return any(one["type"] == type and text in json.dumps(one) for one in since)

        await self.peer.until(seen, f"{type} {text}")

    def compact(self):
        """A compaction by hand."""
        self._heard = len(self.peer.stream.of(self._session))
        return self.peer.send("agent/compact", {"sessionId": self._session})


# --- where it is killed -----------------------------------------------------------------------------------------------


async def when_the_run_begins(one):
    one.model.script([Gate()])
    one.send()
    await one.peer.until(lambda: one.peer.states(), "a state")
    one.words.pop()  # nothing says that it has got any further than that


async def when_a_request_is_on_its_way(one):
    one.model.script([gate := Gate(), say("never")])
    one.send()
    await gate.reached.wait()


async def in_the_middle_of_a_thought(one):
    one.model.script([think("half a thought"), Gate()])
    one.send()
    await one.streams("partial_thinking", "half a thought")


async def in_the_middle_of_a_text(one):
    one.model.script([think("hm"), say("half a text"), Gate()])
    one.send()
    await one.streams("partial_text", "half a text")


async def in_the_middle_of_a_call(one):
    one.model.script([use("read_file", {"file_path": "notes.txt"}), Gate()])
    one.send()
    await one.streams("partial_tool_call", "notes")


async def while_a_person_is_asked(one):
    one.peer.handlers["agent/approve"] = lambda _: asyncio.get_running_loop().create_future()
    one.model.script([use("write_file", {"file_path": "new.txt", "content": "x"})])
    one.send()
    await one.peer.until(lambda: one.peer.told("agent/approve"), "a question")


async def in_the_middle_of_a_tool(one):
    one.peer.handlers["agent/approve"] = allow
    one.model.script([use("exec_command", {"cmd": ENDLESS})])
    one.send()
    await one.streams("partial_tool_call_output", "begun")


async def with_one_output_of_two(one):
    one.peer.handlers["agent/approve"] = allow
    one.model.script([use("exec_command", {"cmd": ENDLESS}), use("exec_command", {"cmd": "echo kept-$((40 + 2))"})])
    one.send()
    await one.streams("partial_tool_call_output", "begun")
    await one.streams("tool_call_output", "kept-42")
    one.words.append("kept-42")


async def behind_the_outputs(one):
    one.model.script([use("read_file", {"file_path": "notes.txt"})], [gate := Gate()])
    one.send()
    await gate.reached.wait()


async def when_a_turn_is_committed(one):
    one.model.script([say("committed-1"), use("read_file", {"file_path": "notes.txt"})], [Gate()])
    one.send()
    await one.streams("request_end", "completed")
    one.words.append("committed-1")


async def when_a_request_has_failed(one):
    one.model.script(refuse(503), [Gate()])
    one.send()
    await one.streams("request_end", "timeout")


async def in_the_second_attempt(one):
    one.model.script(refuse(503), [say("once more"), Gate()])
    one.send()
    await one.streams("partial_text", "once more")


async def with_steering_that_was_delivered(one):
    one.model.script([say("Working"), gate := Gate(), say(" on.")], [say("Turned"), Gate()])
    one.send()
    await gate.reached.wait()
    assert (await one.peer.ask("agent/steer", {"input": "the other way"}))["accepted"]
    gate.open()
    await one.streams("partial_text", "Turned")
    one.words.append("the other way")


async def right_after_an_interrupt(one):
    one.model.script([say("An endless "), Gate()])
    run = one.send()
    await one.streams("partial_text", "endless")
    await one.peer.ask("agent/abort")
    assert (await run)["status"] == "aborted"


async def between_two_runs(one):
    await one.run_to_its_end()


async def in_the_middle_of_a_summary(one):
    one.model.script([say("[summary]half"), Gate()])
    one.compact()
    await one.streams("partial_text", "half")


async def right_after_a_summary(one):
    one.model.script([say(SUMMARY)])
    one.compact()
    await one.streams("compaction_end", "completed")
    one.words[:] = ["[context_summary]"]


MOMENTS = [
    when_the_run_begins,
    when_a_request_is_on_its_way,
    in_the_middle_of_a_thought,
    in_the_middle_of_a_text,
    in_the_middle_of_a_call,
    while_a_person_is_asked,
    in_the_middle_of_a_tool,
    with_one_output_of_two,
    behind_the_outputs,
    in_the_middle_of_a_summary,
    when_a_turn_is_committed,
    when_a_request_has_failed,
    in_the_second_attempt,
    right_after_a_summary,
    with_steering_that_was_delivered,
    right_after_an_interrupt,
    between_two_runs,
]


def allow(_):
    return {"decision": "allow"}


# --- what a provider would say to it ----------------------------------------------------------------------------------


def check_is_legal(asked):
    """Each call is answered once, in order and before anything else; whichever the dialect."""
    waiting, seen = [], set()
    for message in asked.messages:
        calls, answers, others = parts_of(message)
        for id in answers:
            assert waiting and waiting.pop(0) == id, "an output without its call, or out of order"
        assert not (waiting and (calls or others)), "calls without outputs"
        assert not seen & set(calls), "a call twice"
        seen |= set(calls)
        waiting += calls
    assert not waiting, "calls without outputs"
    assert asked.messages[-1]["role"] in ("user", "tool")


def parts_of(message):
    """The ids of its calls and of its outputs, and whether there is more in it than outputs."""
    if message["role"] == "tool":
        return [], [message["tool_call_id"]], False
    content = message["content"] if isinstance(message["content"], list) else []
    calls = [one["id"] for one in message.get("tool_calls", ())]
    calls += [one["id"] for one in content if one["type"] == "tool_use"]
    answers = [one["tool_use_id"] for one in content if one["type"] == "tool_result"]
    return calls, answers, not answers


# --- all of it --------------------------------------------------------------------------------------------------------


async def survive(model_name, folder, options, environ):
    """A session of one dialect, killed at each moment; how often that was."""
    peers = []
    for name in ("work", "data"):
        (folder / name).mkdir(parents=True)
    (folder / "work" / "notes.txt").write_text("first line\nsecond line\n")

    async with ModelServer() as model:
        own = json.loads(json.dumps(options).replace(options["providers"]["claude"]["baseUrl"], model.url))

        async def start():
            peers.append(Peer(await over_stdio(folder / "work", environ)))
            await peers[-1].initialize(own | {"defaultModel": model_name, "dataDir": str(folder / "data")})
            return peers[-1]

        one = Survivor(model, start)
        try:
            await one.begin()
            for moment in MOMENTS:
                await moment(one)
                await one.dies()
                await one.run_to_its_end()
            assert await one.peer.leave() == 0 and not one.peer.server.errors
        finally:
            for peer in peers:
                await peer.end()
    return one.kills


async def test_a_server_that_is_killed_anywhere_loses_nothing_that_was_committed(tmp_path, options, environ):
    async with asyncio.timeout(WITHIN_S), asyncio.TaskGroup() as group:
        lives = [
            group.create_task(survive(f"{dialect}/big", tmp_path / dialect, options, environ))
            for dialect in ("chat", "claude")
        ]
    assert [life.result() for life in lives] == [len(MOMENTS)] * 2
