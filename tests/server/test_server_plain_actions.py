"""Code actions of an editor without a plugin: what is offered where, and in which shape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lsprotocol import types
from lsprotocol.converters import get_converter

from agent_lsp.server.plain_actions import END_OF_LINE, CodeActionParams, code_actions
from agent_lsp.server.plain_capabilities import ACTION_KINDS

URI = "file:///project/a.py"
FINDING = {
    "range": {"start": {"line": 3, "character": 4}, "end": {"line": 5, "character": 1}},
    "severity": 1,
    "source": "checker",
    "code": 17,
    "message": "x is\n undefined",
}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["range", "start", "end", "line", "message", "severity", "source", "value"]), inner
        )
    ),
    max_leaves=12,
)


def place(*, span=(0, 0, 0, 0), uri=URI, **context):
    first, column, last, end = span
    return CodeActionParams.model_validate(
        {
            "textDocument": {"uri": uri},
            "range": {"start": {"line": first, "character": column}, "end": {"line": last, "character": end}},
            "context": context,
        }
    )


def offered(params, prompts=None, *, literals=True):
    return code_actions(params, prompts or {}, literals=literals)


def titles(params, prompts=None):
    return [one["title"] for one in offered(params, prompts)]


SELECTED = ["Explain with agent", "Add tests with agent", "Document with agent"]


def test_a_selection_is_offered_what_one_does_with_code_and_the_configured_prompts():
    prompts = {"Simplify": "Make it shorter.", "Odd\x1btitle": "Do."}
    assert titles(place(span=(1, 0, 2, 0)), prompts) == [*SELECTED, "Simplify", "Odd\\x1btitle"]
    run = offered(place(span=(1, 2, 2, 3)), prompts)[3]["command"]
    assert run == {
        "title": "Simplify",
        "command": "agent.run",
        "arguments": [
            "Make it shorter.",
            {"uri": URI, "range": {"start": {"line": 1, "character": 2}, "end": {"line": 2, "character": 3}}},
        ],
    }


@pytest.mark.parametrize("span", [(1, 1, 1, 1), (2, 0, 1, 0), (1, 5, 1, 4)])
def test_an_empty_or_a_reversed_range_is_no_selection(span):
    assert titles(place(span=span), {"Simplify": "Make it shorter."}) == []


def test_problems_are_offered_a_fix_of_the_whole_lines_they_are_in():
    (fix,) = offered(place(diagnostics=[FINDING]))
    assert (fix["title"], fix["kind"], fix["diagnostics"]) == ("Fix with agent", "quickfix", [FINDING])
    prompt, attached = fix["command"]["arguments"]
    assert prompt.endswith(":\n- line 4: error: x is undefined (checker 17)")
    assert attached == {
        "uri": URI,
        "range": {"start": {"line": 3, "character": 0}, "end": {"line": 5, "character": END_OF_LINE}},
    }


def test_many_problems_are_one_fix_that_lists_some_and_counts_the_rest():
    many = [FINDING | {"message": f"number {number} " + "x" * 2000} for number in range(33)]
    (fix,) = offered(place(diagnostics=many))
    prompt = fix["command"]["arguments"][0]
    assert fix["title"] == "Fix with agent (33 problems)"
    assert prompt.endswith("- and 13 more")
    assert len(prompt) < 12_000


def test_a_problem_cannot_hide_what_it_says():
    (fix,) = offered(place(diagnostics=[FINDING | {"message": "a\u202eb\x1b[0m"}]))
    assert "a\\u202eb\\x1b[0m" in fix["command"]["arguments"][0]


@pytest.mark.parametrize(
    ("only", "wanted"),
    [
        (None, ["Fix with agent", *SELECTED, "Mine"]),
        ([""], ["Fix with agent", *SELECTED, "Mine"]),
        (["quickfix"], ["Fix with agent"]),
        (["refactor"], ["Add tests with agent", "Document with agent"]),
        (["refactor.rewrite"], ["Document with agent"]),
        (["source.fixAll", "quickfix.python"], []),
        (["quick"], []),
        ([], []),
    ],
)
def test_only_what_is_wanted_is_offered(only, wanted):
    params = place(span=(1, 0, 2, 0), diagnostics=[FINDING], only=only)
    assert titles(params, {"Mine": "Do."}) == wanted


def test_every_kind_is_announced():
    params = place(span=(1, 0, 2, 0), diagnostics=[FINDING])
    assert {one["kind"] for one in offered(params, {"Mine": "Do."})} == set(ACTION_KINDS)


def test_an_old_client_is_given_bare_commands():
    found = offered(place(span=(1, 0, 2, 0), diagnostics=[FINDING]), literals=False)
    assert [sorted(one) for one in found] == [["arguments", "command", "title"]] * 4


@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "git:/a?b", "", "vscode-notebook-cell:/x.ipynb#1"])
def test_nothing_is_offered_on_what_cannot_be_attached(uri):
    assert titles(place(span=(1, 0, 2, 0), uri=uri, diagnostics=[FINDING])) == []


@given(st.lists(ANYTHING, max_size=4))
@settings(deadline=None)
def test_whatever_other_servers_have_found_the_answer_is_one_of_lsp(diagnostics):
    converter = get_converter()
    for action in offered(place(diagnostics=diagnostics)):
        action.pop("diagnostics")  # given back as they came
        converter.structure(action, types.CodeAction)
