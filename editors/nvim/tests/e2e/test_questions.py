"""Questions of the model: options to choose from or to tick, or words."""

import pytest
from harness.agent import answer, ended, focus, run
from harness.model import say, use


def outputs(model):
    return [message["content"] for message in model.asked[-1].messages if message["role"] == "tool"]


@pytest.fixture
def ask(nvim, model):
    def put(**arguments):
        model.script([use("ask_user", arguments)], [say("So far.")])
        run(nvim, "go")
        nvim.wait_for(arguments["question"])
        return nvim

    return put


def test_a_digit_chooses(ask, model):
    nvim = ask(question="Which colour?", options=["red", "green"])
    nvim.wait_for("1  red", "2  green")
    answer(nvim, "Which colour?", "2")
    assert ended(nvim) == "completed"
    assert "green" in outputs(model)[-1]


def test_several_are_ticked_and_sent_together(ask, model):
    nvim = ask(question="Which colours?", options=["red", "green", "blue"], multiple=True)
    focus(nvim)
    nvim.type("1")
    nvim.wait_for("[x] red")
    nvim.type("32")
    nvim.wait_for("[x] green", "[x] blue")
    nvim.type("2")
    nvim.wait_for("[ ] green")
    nvim.type("<CR>")
    assert ended(nvim) == "completed"
    assert "red" in outputs(model)[-1] and "blue" in outputs(model)[-1] and "green" not in outputs(model)[-1]


def test_words_are_an_answer_too(ask, model):
    nvim = ask(question="What name?")
    focus(nvim)
    nvim.type("i")
    nvim.wait_for("Answer:")
    nvim.type("Ada<CR>")
    assert ended(nvim) == "completed"
    assert "Ada" in outputs(model)[-1]


def test_no_answer_lets_the_run_go_on(ask):
    nvim = ask(question="What name?")
    answer(nvim, "What name?", "x")
    assert ended(nvim) == "completed"


def test_what_an_aborted_run_has_asked_goes_away(ask):
    nvim = ask(question="What name?")
    nvim.lua("require('agent_lsp.session').current():abort(nil, function() end)")
    nvim.wait_gone("What name?")
    assert ended(nvim) == "aborted"
