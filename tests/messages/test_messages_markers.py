"""Square-bracket blocks: what the engine writes, and how it is read again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_lsp.messages import markers

KINDS = ["user_input", "thinking", "text"]
BODIES = st.lists(st.sampled_from(["a", "\n", "  ", *(f"[/{kind}]" for kind in [*KINDS, "turn_aborted"]), "[text]"]))


def test_a_block_is_its_body_between_lines_of_its_tag():
    assert markers.block("goal", "do it") == "[goal]\ndo it\n[/goal]"
    assert markers.steering("now") == "[user_steering]\nnow\n[/user_steering]"
    assert markers.attached_file("a.py", "x") == "[attached file: a.py]\nx"


def test_the_output_limit_names_its_tools():
    told = markers.output_limit(["write_file", "edit_file"])
    assert markers.is_block(told, "output_limit") and "write_file, edit_file" in told


def test_an_item_has_its_attributes_and_its_escaped_body():
    assert markers.item("text", "a[/text]b[/user_input][/other]") == "[text]a[\\/text]b[\\/user_input][/other][/text]"
    assert markers.item("tool_call", "{}", name="x", id="1") == '[tool_call name="x" id="1"]{}[/tool_call]'


@given(st.lists(st.tuples(st.sampled_from(KINDS), BODIES.map("".join)), min_size=1))
def test_carried_items_can_be_carried_again(items):
    written = [markers.item(tag, body) for tag, body in items]
    once = markers.carried("turn_retried", written)
    merged = markers.carried_items(once)
    assert merged is not None
    assert markers.carried("turn_aborted", [merged]) == markers.carried("turn_aborted", written)


@given(st.sampled_from(KINDS), BODIES.map("".join))
def test_a_body_never_closes_its_item(tag, body):
    written = markers.item(tag, body)
    assert written.count(f"[/{tag}]") == 1 and written.endswith(f"[/{tag}]")


@pytest.mark.parametrize("other", ["", "plain", "[turn_aborted]", markers.block("goal", "x"), "[turn_aborted]\nx"])
def test_other_texts_carry_nothing(other):
    assert markers.carried_items(other) is None


def test_a_block_is_the_whole_text_in_either_form():
    assert markers.is_block("[context_summary]\nx\n[/context_summary]", "context_summary")
    assert markers.is_block("<context_summary>x</context_summary>", "context_summary")
    assert not markers.is_block("so: [context_summary]x[/context_summary]", "context_summary")
    assert not markers.is_block("[context_summary]x[/context_summary] so", "context_summary")


def test_bodies_are_found_in_order_in_either_form():
    text = "[summary]\n one \n[/summary] and <summary>two</summary>[summary][/summary]"
    assert markers.bodies(text, "summary") == ["one", "two", ""]
    assert markers.bodies("none", "summary") == []
