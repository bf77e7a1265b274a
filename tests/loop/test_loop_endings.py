"""Every way in which a prompt can end, with a model that plans and with one that calls tools itself."""

import pytest

from agent_lsp.engine.options import EngineOptions
from agent_lsp.engine.ports import Decision
from agent_lsp.messages.events import LoopStep
from agent_lsp.providers.scripted import fail, text
from tests.engine.harness import DENY, Person, virtual
from tests.loop.loop_rig import KINDS, LoopRig, replayed

FAILS = {"stop": "failed", "out": "boom"}
QUICK = EngineOptions(max_retries=1, retry_base_ms=1)
DENIES = {"person": lambda: Anyone(DENY)}


class Anyone(Person):
    """Says the same to every call."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    async def approve(self, call, asking):
        self.asked.append(call.name)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def row(decisions, ending, says, *, requests=None, text=None, expected=None, errors=0, **more):
    return (decisions, ending, says, requests, text, expected, errors, more)


ROWS = {
    "answer accepted": row(
        [("work", {"out": "seen"}), "done"],
        ("done", "active", 0, "final_answer"),
        ("completed", "final_answer"),
        text="done",
    ),
    "expected answer, trimmed and in any case": row(
        ["  PARIS \n"], ("done", "active", 0, "final_answer"), ("completed", "final_answer"), expected="Paris"
    ),
    "rejected as often as may be": row(
        ["Lyon", "Nice", "never"],
        ("failed", "active", 1, "final_answer"),
        ("completed", "failed"),
        requests=2,
        text="Nice",
        expected="Paris",
        limits={"max_retries_per_turn": 2},
    ),
    "cannot complete": row(
        [("cannot_complete", {"reason": "no network"}), "never"],
        ("failed", "failed", 1, "cannot_complete"),
        ("completed", "cannot_complete"),
        requests=1,
        text="no network",
    ),
    "step limit": row(
        [("work", {"out": "1"}), ("work", {"out": "2"}), "never"],
        ("failed", "failed", 1, "timeout"),
        ("max_turns", "limit"),
        requests=2,
        text="[reached the step limit (2); stopping]",
        limits={"max_steps_per_turn": 2},
    ),
    "no steps at all": row(
        ["never"],
        ("failed", "failed", 1, "timeout"),
        ("max_turns", "limit"),
        requests=0,
        limits={"max_steps_per_turn": 0},
    ),
    "the engine's own limit of turns": row(
        [("work", {"out": "1"}), ("work", {"out": "2"}), "never"],
        ("failed", "failed", 1, "timeout"),
        ("max_turns", "limit"),
        requests=2,
        options=EngineOptions(max_turns=2),
    ),
    "error limit": row(
        [("nope", {}), ("work", FAILS), "never"],
        ("failed", "failed", 1, "error"),
        ("failed", "limit"),
        requests=2,
        errors=2,
        limits={"max_errors": 2},
    ),
    "error limit before the third same error": row(
        [("nope", {})] * 3 + ["never"],
        ("failed", "failed", 1, "error"),
        ("failed", "limit"),
        errors=3,
        limits={"max_errors": 3},
    ),
    "same call, same result": row(
        [("work", {"out": "same"})] * 3 + ["never"],
        ("done", "active", 0, "final_answer"),
        ("completed", "final_answer"),
        requests=3,
        text="same",
    ),
    "same call, same error": row(
        [("nope", {})] * 3 + ["never"],
        ("failed", "failed", 1, "cannot_complete"),
        ("completed", "cannot_complete"),
        requests=3,
        errors=3,
    ),
    "same call, same denial": row(
        [("work", {})] * 3 + ["never"],
        ("failed", "failed", 1, "cannot_complete"),
        ("completed", "cannot_complete"),
        requests=3,
        person=lambda: Anyone(DENY),
    ),
    "tool needs input": row(
        [("ask", {}), "never"],
        ("awaiting_input", "awaiting_input", 0, "awaiting_input"),
        ("completed", "awaiting_input"),
        requests=1,
        text="which one?",
    ),
    "ladder spent": row(
        [[fail("timeout", "busy")]] * 2,
        ("failed", "failed", 1, "error"),
        ("timeout", "failed"),
        requests=2,
        options=QUICK,
    ),
    "auth": row([[fail("auth", "bad key")]], ("failed", "failed", 1, "error"), ("auth", "failed"), requests=1),
    "no reply": row(
        [[text(" ")]] * 3,
        ("failed", "failed", 1, "error"),
        ("malformed", "limit"),
        requests=3,
        errors=3,
        limits={"max_errors": 3},
    ),
}


async def played(kind, name):
    decisions, *_, expected, _, more = ROWS[name]
    more = {key: value() if callable(value) else value for key, value in more.items()}
    rig = LoopRig(kind, **more)
    rig.decide(*decisions)
    return rig, await rig.prompt("go", expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
@virtual
async def test_a_prompt_ends_as_its_row_says(name, kind):
    _, ending, says, requests, words, _, errors, _ = ROWS[name]
    rig, result = await played(kind, name)
    async with rig:
        snap = rig.snap()
        assert rig.ending() == ending
        assert (result.status, result.outcome) == says
        assert result.text == snap["lastAnswer"]
        assert words in (None, result.text)
        assert requests in (None, len(rig.llm.requests))
        assert snap["errorCount"] == errors
        assert "running" not in [snap["status"], *(turn["status"] for turn in snap["turns"])]
        assert "running" not in [call["status"] for call in snap["toolCalls"]]


def without_ids(snap):
    calls = [{key: value for key, value in call.items() if key != "toolCallId"} for call in snap["toolCalls"]]
    history = [{"type": "error"} if entry["type"] == "error" else entry for entry in snap["history"]]
    return snap | {"toolCalls": calls, "history": history}


@pytest.mark.parametrize("name", ROWS)
@virtual
async def test_both_kinds_of_model_leave_the_same_records(name):
    snaps = []
    for kind in KINDS:
        rig, _ = await played(kind, name)
        async with rig:
            snaps.append(without_ids(rig.snap()))
    assert snaps[0] == snaps[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ROWS)
@virtual
async def test_the_trace_brings_the_records_back(name, kind):
    rig, _ = await played(kind, name)
    async with rig:
        assert replayed(rig) == rig.snap()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [name for name in ROWS if name != "no steps at all"])
@virtual
async def test_the_next_prompt_is_taken_with_the_history(name, kind):
    rig, _ = await played(kind, name)
    async with rig:
        rig.llm.turns.clear()
        rig.decide("as you wish")
        result = await rig.prompt("the next wish")
        assert (result.status, result.text, result.outcome) == ("completed", "as you wish", "final_answer")
        assert rig.snap()["status"] == "active"
        assert any(words == "go" for _, words in rig.told())
        assert replayed(rig) == rig.snap()


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_each_decision_is_a_step_that_is_told(kind):
    async with LoopRig(kind) as rig:
        rig.decide(("work", {"out": "x"}), ("nope", {}), "Lyon", "Paris")
        await rig.prompt("go", "paris")
        assert [(one.step, one.decision.tool, one.outcome) for one in rig.of(LoopStep)] == [
            (1, "work", "result"),
            (2, "nope", "error"),
            (3, "final_answer", "rejected"),
            (4, "final_answer", "final_answer"),
        ]
        turn = rig.snap()["turns"][0]
        assert [sorted(step) for step in turn["steps"]] == [
            ["decision", "result"],
            ["decision", "error"],
            ["decision", "denied"],
            ["decision", "result"],
        ]
        assert (turn["retryCount"], turn["usedTools"], turn["finalAnswer"]) == (1, ["work", "nope"], "Paris")
        assert rig.snap()["errorCount"] == 1


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_a_rejected_answer_is_recorded_and_told(kind):
    async with LoopRig(kind) as rig:
        rig.decide("Lyon", "Paris")
        await rig.prompt("go", "Paris")
        assert rig.kinds() == ["user", "validation_failed", "final_answer"]
        assert rig.told()[-1][0] == "user" and "answer_rejected" in rig.told()[-1][1]


@virtual
async def test_a_run_may_bring_its_own_number_of_retries():
    async with LoopRig() as rig:
        rig.decide("Lyon", "never")
        assert (await rig.prompt("go", "Paris", max_retries=1)).outcome == "failed"
        assert rig.snap()["turns"][0]["maxRetries"] == 1 and len(rig.llm.requests) == 1
        assert replayed(rig) == rig.snap()


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_another_call_between_breaks_the_row(kind):
    async with LoopRig(kind) as rig:
        same, other = ("work", {"out": "same"}), ("other", {"out": "same"})
        rig.decide(same, same, other, same, same, "done")
        assert (await rig.prompt("go")).text == "done"


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_the_same_call_with_another_result_is_no_row(kind):
    async with LoopRig(kind, limits={"max_steps_per_turn": 4}) as rig:
        rig.decide(*[("work", {"out": "x", "n": number}) for number in range(3)], "done")
        assert (await rig.prompt("go")).text == "done"


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_an_answer_behind_which_something_was_said_is_not_the_last(kind):
    async with LoopRig(kind) as rig:
        rig.decide("one", "two")
        rig.when("text", lambda: rig.session.steer([rig_text("more")]))
        result = await rig.prompt("go")
        assert result.text == "two" and rig.ending() == ("done", "active", 0, "final_answer")
        assert [one.outcome for one in rig.of(LoopStep)] == ["final_answer", "final_answer"]
        assert len(rig.snap()["turns"]) == 1 and replayed(rig) == rig.snap()


def rig_text(words):
    from agent_lsp.messages.content import Text

    return Text(role="user", text=words)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", [RuntimeError(), Decision("deny", "user", failed=True)], ids=["raises", "peer"])
@virtual
async def test_an_approver_that_breaks_is_an_error_and_denies(kind, error):
    async with LoopRig(kind, person=Anyone(error)) as rig:
        rig.decide(("work", {"out": "x"}), "done")
        assert (await rig.prompt("go")).text == "done"
        assert rig.snap()["errorCount"] == 1 and not rig.tools.ran


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_denials_are_no_errors_and_the_loop_goes_on(kind):
    person = Anyone(Decision("deny", "user", feedback="not there"))
    async with LoopRig(kind, person=person, limits={"max_errors": 1}) as rig:
        rig.decide(("work", {"out": "1"}), ("work", {"out": "2"}), "fine")
        assert (await rig.prompt("go")).text == "fine"
        assert rig.snap()["errorCount"] == 0
        assert [call["status"] for call in rig.snap()["toolCalls"]] == ["denied", "denied"]
        assert "not there" in rig.snap()["toolCalls"][0]["result"]


@pytest.mark.parametrize("kind", KINDS)
@virtual
async def test_errors_are_counted_anew_for_each_prompt_and_summed_for_the_session(kind):
    async with LoopRig(kind, limits={"max_errors": 2}) as rig:
        for number in range(3):
            rig.decide((f"nope_{number}", {}), "done")
            assert (await rig.prompt("go")).status == "completed"
        assert rig.snap()["errorCount"] == 3


@virtual
async def test_reserved_tools_need_no_approval_and_make_no_variable():
    async with LoopRig(person=Anyone(DENY)) as rig:
        rig.decide(("cannot_complete", {"reason": "why"}))
        await rig.prompt("go")
        assert not rig.person.asked and rig.snap()["toolVars"] == {} and rig.snap()["toolCalls"] == []


@virtual
async def test_out_of_loop_mode_the_rules_rest():
    from agent_lsp.messages.events import SessionUpdate

    async with LoopRig("native", limits={"max_steps_per_turn": 1}) as rig:
        rig.session.record(SessionUpdate(mode="native"))
        rig.decide(("work", {"out": "1"}), ("work", {"out": "2"}), "done")
        result = await rig.prompt("go")
        assert (result.text, result.outcome) == ("done", None) and rig.snap()["turns"] == []
        rig.session.record(SessionUpdate(mode="loop"))
        rig.decide("again")
        assert (await rig.prompt("go")).outcome == "final_answer" and len(rig.snap()["turns"]) == 1
        assert replayed(rig) == rig.snap()
