"""What a model asks of the person: as a form where the client shows those, else as a choice, else not at all."""

import pytest

from agent_lsp.acp.questions import answered
from agent_lsp.providers.scripted import call, text
from tests.acp.acp_end import Refused, acp_end

pytestmark = pytest.mark.asyncio
FORMS = {"elicitation": {"form": {}}}
COLOURS = ["red", "blue"]
NO_ANSWER = "The person did not answer."


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """ask(answer, …) → what the client was asked, and what the model was told of its person's answer."""

    async def run(answer, capabilities=FORMS, **question):
        def form(_):
            if isinstance(answer, Exception):
                raise answer
            return answer

        async with acp_end(tmp_path, monkeypatch, capabilities=capabilities) as (client, model):
            client.handlers["elicitation/create"] = form
            session = await client.new(tmp_path / "work")
            model.script([call("ask_user", {"question": "Which?", **question}, "q1")], [text("ok")])
            await client.prompted(session, "go")
            (told,) = [one.output for one in model.requests[1].input if getattr(one, "tool_call_id", None) == "q1"]
            return [*client.asked("elicitation/create"), *client.asked("session/request_permission")], told

    return run


def accept(**content):
    return {"action": "accept", "content": content}


async def test_a_choice_is_a_form_with_the_options_and_words_of_ones_own(ask):
    (asked,), told = await ask(accept(answer="blue"), options=COLOURS)
    assert (asked["mode"], asked["message"], asked["toolCallId"]) == ("form", "Which?", "q1")
    fields = asked["requestedSchema"]["properties"]
    assert fields["answer"]["enum"] == COLOURS and fields["words"]["type"] == "string"
    assert told == "blue"


async def test_an_open_question_is_a_form_that_wants_words(ask):
    (asked,), told = await ask(accept(words=" mauve "))
    assert asked["requestedSchema"]["required"] == ["words"] and told == "mauve"


async def test_several_are_chosen_at_once_and_joined_by_words(ask):
    (asked,), told = await ask(accept(answer=["red", "blue"], words="mauve"), options=COLOURS, multiple=True)
    assert asked["requestedSchema"]["properties"]["answer"]["items"]["enum"] == COLOURS
    assert told == "red\nblue\nmauve"


async def test_a_client_without_forms_is_asked_to_choose_and_nothing_else(ask):
    (asked,), told = await ask(None, capabilities={}, options=COLOURS)
    assert [one["name"] for one in asked["options"]] == ["red", "blue", "No answer"] and told == NO_ANSWER
    assert await ask(None, capabilities={"elicitation": {"form": None}}) == ([], NO_ANSWER)


@pytest.mark.parametrize(
    "answer",
    [{"action": "decline"}, {"action": "cancel"}, {"action": "_later"}, {"action": "accept"}, accept(answer="green"),
     Refused({"code": -32603, "message": "no"})],
    ids=["declined", "cancelled", "another action", "no content", "no option", "an error"],
)  # fmt: skip
async def test_what_is_no_answer_is_none(ask, answer):
    _, told = await ask(answer, options=COLOURS)
    assert told == NO_ANSWER


@pytest.mark.parametrize("result", [None, [], "yes", {"content": {"answer": "red"}}, accept(answer=7, words=["red"])])
async def test_nothing_that_a_client_sends_is_taken_for_more_than_it_is(result):
    assert answered(result, COLOURS, multiple=False) is None
