"""A process may end at any byte of its trace: what was committed is there when the session goes on, and stays legal."""

import asyncio
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Commit, Ports, Request
from agent_lsp.engine.session import Session
from agent_lsp.messages.content import Text, Thinking, ToolCall, ToolCallOutput
from agent_lsp.messages.envelope import MESSAGE
from agent_lsp.messages.events import CompactionBegin, CompactionEnd, RequestEnd, RunBegin
from agent_lsp.providers.endpoint import Endpoint
from agent_lsp.providers.openai_chat.dialect import Dialect
from agent_lsp.providers.openai_chat.request import ChatEncoder
from agent_lsp.providers.scripted import fail, finish, play, text, thinking, torn, usage
from agent_lsp.sessions.past import read_past
from agent_lsp.trace.paths import DataDir, make_private
from agent_lsp.trace.store import SessionStore
from agent_lsp.trace.writer import TraceWriter
from tests.engine.harness import META, Person, Screen, Tools, other_tasks, passing, run, said, work

ID = "session-20261129-101112-0a1b2c3d"
MINE = META.model_copy(update={"session_id": ID})
OPTIONS = EngineOptions(max_turns=6, max_retries=3, max_context_length=80, compaction_prompt="Sum up.")
LIMIT_S = 600
"""Virtual seconds after which something hangs; that nothing will ever happen again is noticed at once."""

SEEDS = range(4)
FEWEST_CUTS = 200
TOLD = re.compile(r"\b(?:said|out)-\d+\b")


class Disk:
    """A trace on disk that is never synced, since virtual time waits for no thread.

    `heads` are the sizes of what each new file begins with.
    """

    def __init__(self, writer):
        self._writer, self.heads = writer, []

    def append(self, line):
        self._writer.append(line)

    def rotate(self, preamble: Sequence[bytes]):
        self.heads.append(sum(len(line) + 1 for line in preamble))
        self._writer.rotate(preamble)

    async def sync(self):
        pass


class Model:
    """Says what `reply` makes up, and a summary where it is asked for one. Keeps each request with its context."""

    def __init__(self, reply, disk):
        self.requests: list[tuple[int, Request]] = []
        self._reply, self._disk = reply, disk

    async def stream(self, request):
        self.requests.append((len(self._disk.heads), request))
        pieces = [text("[summary]so far[/summary]")] if is_for_a_summary(request) else self._reply()
        for part in play(pieces, len(self.requests)):
            await passing(0.1)
            yield part


def is_for_a_summary(request):
    return getattr(request.input[-1], "text", "") == OPTIONS.compaction_prompt


# --- a session that is lived to its end -------------------------------------------------------------------------------


@dataclass
class Life:
    """A session as it was lived: its requests, what it had committed context by context, its files and their heads."""

    requests: list[tuple[int, Request]]
    commits: dict[int, tuple[Commit, ...]]
    files: list[bytes]
    heads: list[int]


class Talk:
    """What a model makes up from a seed: thoughts, words, calls, and requests that fail in the middle of them."""

    def __init__(self, rng):
        self._rng, self._count = rng, 0

    def __call__(self):
        rng = self._rng
        segments = [thinking("hm")] * rng.randint(0, 1) + [text(f"reply-{self._next()} ", "goes on")] * rng.randint(
            0, 1
        )
        calls = [self._call() for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]
        whole = [*segments, *calls] or [text(f"reply-{self._next()}")]
        match rng.randrange(10):
            case 0 | 1:
                return [*whole, fail(rng.choice(["timeout", "malformed", "failed"]))]
            case 2:
                return [*whole, torn("other", '{"x', "t"), fail("timeout", "cut")]
            case 3:
                return [*whole, torn("other", '{"x', "t"), finish("length")]
            case 4:
                return [*whole, usage(90, 10)]
            case _:
                return whole

    def _call(self):
        out, id = f"out-{self._next()}", self._rng.choice("abc")
        then = self._rng.choice([0, 0.3, 2])
        match self._rng.randrange(4):
            case 0:
                return work(id, say=[out, " and more"], gap=0.2, then=then)
            case 1:
                return work(id, name="nope")
            case _:
                return work(id, out=out, then=then)

    def _next(self):
        self._count += 1
        return self._count


class Meddler:
    """Steers and interrupts at messages that the seed names."""

    def __init__(self, rng, session):
        self._session, self._count, self._steered = session, 0, 100
        self._steer_at, self._abort_at = set(rng.sample(range(160), 6)), {rng.randrange(60, 200)}

    def __call__(self, _):
        self._count += 1
        if self._count in self._steer_at and self._session.steer(said(f"said-{self._steered}")):
            self._steered += 1
        if self._count in self._abort_at and (ticket := self._session.current()):
            self._session.cancel(ticket)


def lived(seed, folder):
    """Three runs and a compaction by hand in between; the model's token counts bring others."""
    rng, data = random.Random(seed), DataDir(folder)

    async def live():
        writer = TraceWriter.new(data, MINE, unexpected)
        disk, screen = Disk(writer), Screen()
        model = Model(Talk(rng), disk)
        session = Session(MINE, Ports(model, Tools(), Person(), disk, screen), OPTIONS)
        screen.on_push.append(Meddler(rng, session))
        async with asyncio.timeout(LIMIT_S):
            for number in range(4):
                await session.run(said(f"said-{number}"))
                if number == 1:
                    await session.compact()
            await session.close()
        writer.abandon()
        return model.requests, session.history(), disk.heads

    requests, last, heads = run(live())
    files = [file.path.read_bytes() for file in data.trace_files(ID)]
    histories = [*((context, tuple(request.history)) for context, request in requests), (len(files) - 1, last)]
    commits = {context: max((h for c, h in histories if c == context), key=len) for context, _ in histories}
    return Life(requests, commits, files, heads)


def unexpected(line):
    raise AssertionError(line)


# --- where it is cut --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cut:
    """The process ended when file `index` had so many bytes; `is_draft`: that file had not got its name yet."""

    index: int
    size: int
    is_draft: bool = False


def cuts(life, rng):
    """Each end of a record, and a place within each. A new file gets its name when its head is whole."""
    for index, content in enumerate(life.files):
        head = life.heads[index - 1] if index else content.index(b"\n") + 1
        end = 0
        for line in content.splitlines(keepends=True):
            begin, end = end, end + len(line)
            for place in (rng.randrange(begin + 1, end), end):
                if place >= head or index:
                    yield Cut(index, place, is_draft=place < head)


def left(life, cut, folder):
    """The data directory as such an end leaves it."""
    data = DataDir(folder)
    make_private(data.trace_path(ID, 1).parent)
    for index, content in enumerate(life.files[: cut.index]):
        data.trace_path(ID, index + 1).write_bytes(content)
    path = data.trace_path(ID, cut.index + 1)
    (path.with_suffix(".draft") if cut.is_draft else path).write_bytes(life.files[cut.index][: cut.size])
    return data


@dataclass
class Expected:
    """What a reader with no knowledge of the engine finds in the records that are whole."""

    context: int = 0
    turns: int = 0
    commits: int = 0
    is_compacting: bool = False
    words: list[str] = field(default_factory=list[str])

    def take(self, payload):
        match payload:
            case RequestEnd(status="completed") if not self.is_compacting:
                self.turns, self.commits = self.turns + 1, self.commits + 1
            case CompactionBegin():
                self.is_compacting = True
            case CompactionEnd(status="completed"):
                self.context, self.commits, self.is_compacting, self.words = self.context + 1, 0, False, []
            case CompactionEnd() | RunBegin():
                self.is_compacting = False
            case Text(role="user") if not self.is_compacting:
                self.words += TOLD.findall(payload.text)
            case ToolCallOutput():
                self.words += TOLD.findall(payload.output)
            case _:
                pass


def expected(life, cut):
    found = Expected()
    for index, content in enumerate(life.files[: cut.index + (not cut.is_draft)]):
        size = cut.size if index == cut.index else len(content)
        end = 0
        for line in content.splitlines(keepends=True):
            end += len(line)
            if end - 1 <= size:  # all but its line end is enough
                found.take(MESSAGE.validate_json(line).payload)
    return found


# --- what a provider and a person would say to it ---------------------------------------------------------------------


def check_is_legal(request):
    """As strict as the strictest provider."""
    history = [one for commit in request.history for one in commit.messages]
    assert request.input and all(role_of(one) == "user" for one in request.input)
    assert request.tools and request.system == MINE.system_prompt
    waiting, before = [], None
    for one in (*history, *request.input):
        if isinstance(one, ToolCallOutput):
            assert waiting and waiting.pop(0) == one.tool_call_id, "an output without its call, or out of order"
            assert one.output
        elif isinstance(one, ToolCall):
            assert not isinstance(before, ToolCallOutput) or not waiting, "a call among the outputs of others"
            assert one.stop_reason is None
            waiting.append(one.tool_call_id)
        else:
            assert not waiting or (role_of(one) == "assistant" and not isinstance(before, ToolCallOutput))
        assert before is not None or role_of(one) == "user", "it begins with what the person said"
        before = one
    assert not waiting, "calls without outputs"


def role_of(payload):
    if isinstance(payload, Thinking | ToolCall):
        return "assistant"
    return "user" if isinstance(payload, ToolCallOutput) else payload.role


def sent_before(life, context, commits):
    """The committed request that was sent last, as bytes; it begins each later one of its context."""
    sent = [r for c, r in life.requests if c == context and not is_for_a_summary(r) and len(r.history) == commits - 1]
    return prefix(sent[-1]) if sent else b""


def prefix(request):
    encoder = ChatEncoder(Endpoint("p", "openai-chat", "https://h/v1", "m"), Dialect())
    return encoder.body(request, frozenset()).partition(b'],"tools":')[0]


def words_of(request):
    return " ".join(
        getattr(one, "text", "") or getattr(one, "output", "")
        for one in (*(m for commit in request.history for m in commit.messages), *request.input)
    )


def messages_of(history):
    return [commit.messages for commit in history]


# --- going on ---------------------------------------------------------------------------------------------------------


async def resumed(data, warnings):
    """A session on a disk as a new process makes it, with its model and its writer."""
    writer = TraceWriter.resume(data, ID, unexpected)
    past = read_past(data, SessionStore(data), ID, warnings.append)
    turns = iter([[text("on"), work("a", out="found"), work("d")]])
    disk = Disk(writer)
    model = Model(lambda: next(turns, [text("done")]), disk)
    session = Session(past.meta, Ports(model, Tools(), Person(), disk, Screen()), OPTIONS)
    session.replay(past.messages, past.call_ids)
    session.count_from(past.turns, past.usage)
    return session, model, writer


async def go_on(life, cut, data):
    due, warnings = expected(life, cut), []
    async with asyncio.timeout(LIMIT_S):
        session, model, writer = await resumed(data, warnings)
        assert not warnings and session.turns == due.turns
        rebuilt, lasting = messages_of(session.history()), messages_of(life.commits.get(due.context, ()))
        assert rebuilt[: due.commits] == lasting[: due.commits] and len(lasting) >= due.commits
        assert len(rebuilt) - due.commits <= due.is_compacting, "a summary that was not put in force, at the most"

        result = await session.run(said("again"))
        assert (result.status, result.text) == ("completed", "done")
        await session.close()
    writer.abandon()
    requests = [request for _, request in model.requests]
    for request in requests:
        check_is_legal(request)
    assert prefix(requests[0]).startswith(sent_before(life, due.context, due.commits))
    words = " ".join(map(words_of, requests))
    assert [word for word in due.words if word not in words] == []
    assert "[context_summary]" in words_of(requests[0]) or not due.context
    assert session.turns == due.turns + 2
    assert len(data.trace_files(ID)) > due.context, "each context has a file of its own"

    again, _, second = await resumed(data, warnings)
    second.abandon()
    assert messages_of(again.history()) == messages_of(session.history()) and again.turns == session.turns
    assert len(warnings) <= 1, "the line that was cut off"
    assert not other_tasks()


@pytest.mark.parametrize("seed", SEEDS)
def test_wherever_a_process_ends_nothing_committed_is_lost_and_the_session_goes_on(seed, tmp_path):
    life = lived(seed, tmp_path / "life")
    for _, request in life.requests:
        check_is_legal(request)
    count = 0
    for count, cut in enumerate(cuts(life, random.Random(seed)), 1):
        run(go_on(life, cut, left(life, cut, tmp_path / str(count))))
    assert len(life.files) >= 2 and count >= FEWEST_CUTS
