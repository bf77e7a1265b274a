"""The meter beside the real engine, on a clock that costs no time."""

from agent_lsp.engine.ports import Ports
from agent_lsp.engine.session import Session
from agent_lsp.messages.envelope import SessionMeta
from agent_lsp.messages.events import TokenCounts
from agent_lsp.providers.scripted import Scripted, fail, text, usage
from agent_lsp.usage.metered import Meter, MeteredSink, MeteredTrace
from agent_lsp.usage.row import Subject
from tests.engine.harness import Lines, Paced, Person, Screen, Tools, now_s, said, virtual, work

META = SessionMeta(
    session_id="s", provider="p", model_id="m", system_prompt="", workspace="/w", created_at="2026-11-29T00:00:00Z"
)


class Rows(list):
    def record(self, entry):
        self.append(entry)


@virtual
async def test_each_request_of_a_session_has_its_row_and_the_tokens_add_up():
    rows, llm = Rows(), Scripted()
    meter = Meter(rows, Subject("s", "/w", "p", "m"), now_s)
    session = Session(
        META,
        Ports(
            llm=Paced(llm, 0.5),
            environment=Tools(),
            approver=Person(),
            trace=MeteredTrace(Lines(), meter),
            sink=MeteredSink(Screen(), meter),
        ),
    )
    llm.script(
        [fail("timeout", "busy")], [text("a", "b"), work("c1"), usage(100, 20)], [text("done"), usage(10, 5, 120)]
    )
    llm.script([fail("failed", "no")], [text("[summary]all done[/summary]"), usage(130, 8)])

    await session.run(said("go"))
    await session.compact()

    assert [(row.purpose, row.status, row.attempt) for row in rows] == [
        ("turn", "timeout", 1),
        ("turn", "completed", 2),
        ("turn", "completed", 1),
        ("compaction", "failed", 1),
        ("compaction", "completed", 2),
    ]
    assert [row.ttft_ms for row in rows] == [None, 500, 500, None, 500]
    assert [row.duration_ms for row in rows] == [500, 3500, 1500, 500, 1500]
    assert sum((row.tokens for row in rows), TokenCounts()) == session.usage
    await session.close()
