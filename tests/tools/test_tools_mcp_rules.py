"""What tools of servers are called, what their arguments have to be, and what is made of their results."""

from __future__ import annotations

import mcp_types as types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.config.sections import McpServer
from agent_lsp.tools.mcp.arguments import McpArguments, is_usable, parser
from agent_lsp.tools.mcp.content import answer, resource_answer
from agent_lsp.tools.mcp.names import long_names, server_slugs
from agent_lsp.tools.mcp.servers import secrets

PIXEL = "iVBORw0KGgo="
NAMES = st.lists(st.text(max_size=80), max_size=6, unique=True)


# --- names ------------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(NAMES, NAMES)
def test_all_names_differ_and_every_provider_takes_them(servers, tools):
    slugs = server_slugs(servers)
    names = [name for slug in slugs.values() for name in long_names(slug, tools).values()]
    assert len(set(names)) == len(names) == len(servers) * len(tools)
    assert all(
        len(name) <= 64 and name.replace("-", "").replace("_", "").isalnum() and name.isascii() for name in names
    )


@settings(deadline=None)
@given(NAMES, st.randoms())
def test_a_tool_keeps_its_name_whatever_order_the_tools_come_in(tools, random):
    shuffled = random.sample(tools, len(tools))
    assert long_names("s", tools) == long_names("s", shuffled)


def test_plain_names_stay_as_they_are():
    assert server_slugs(["github"]) == {"github": "github"}
    assert long_names("github", ["create_issue"]) == {"create_issue": "mcp__github__create_issue"}


def test_a_server_cannot_take_the_name_of_anothers_tool():
    slugs = server_slugs(["a", "a__b", "a_"])
    assert len({*long_names(slugs["a"], ["b__c", "_c"]).values(), *long_names(slugs["a__b"], ["c"]).values()}) == 3
    assert slugs["a_"] != slugs["a"]


def test_an_odd_name_gives_way_to_the_plain_one_it_would_be_taken_for():
    names = long_names("s", ["a.b", "a_b"])
    assert names["a_b"] == "mcp__s__a_b" and names["a.b"].startswith("mcp__s__a_b_")


# --- arguments --------------------------------------------------------------------------------------------------------

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "loud": {"type": "boolean"},
        "inner": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]},
        "either": {"type": ["string", "null"]},
    },
    "required": ["text"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ('{"text": "a"}', {"text": "a"}),
        ('{"text": "a", "count": "5", "loud": "true"}', {"text": "a", "count": 5, "loud": True}),
        ('{"text": "5"}', {"text": "5"}),
        ('{"text": "a", "count": null, "either": null}', {"text": "a", "either": None}),
    ],
)
def test_arguments_are_read_leniently(given, read):
    assert parser(SCHEMA)(given) == McpArguments(read)


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ("{}", "- text: 'text' is a required property"),
        ('{"text": 1}', "- text: 1 is not of type 'string'"),
        ('{"text": null}', "- text: None is not of type 'string'"),
        ('{"text": "a", "count": "many"}', "- count: 'many' is not of type 'integer'"),
        ('{"text": "a", "inner": {}}', "- inner.x: 'x' is a required property"),
        ('{"text": "a", "more": 1}', "- arguments: Additional properties are not allowed ('more' was unexpected)"),
        ("[1]", "- arguments: must be an object"),
        ('{"text": ', "- arguments: Expecting value"),
    ],
)
def test_arguments_that_do_not_fit_are_named(given, place):
    told = parser(SCHEMA)(given)
    assert isinstance(told, str) and told.startswith(place)


def explosive(depth=40):
    last = {"anyOf": [{"$ref": f"#/$defs/a{depth - 1}"}] * 2}
    between = {f"a{n}": {"anyOf": [{"$ref": f"#/$defs/a{n - 1}"}] * 2} for n in range(1, depth)}
    return {"$defs": {"a0": {"type": "string"}, **between}, "properties": {"x": last}}


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"$ref": "#"}]},
        {"properties": {"x": {"pattern": "^(a+)+$"}}},
        {"patternProperties": {"^(x+)+$": {}}, "additionalProperties": False},
        {"properties": {"x": {"$ref": "https://example.com/schema"}}},
        {"properties": {"x": {"$ref": "#/nowhere"}}},
        {"properties": 5},
        {"required": 5},
        {"type": "nonsense"},
        {"properties": {"x": {"minLength": "many"}}},
        explosive(),
    ],
)
def test_a_broken_or_hostile_schema_is_left_to_its_server(schema):
    assert parser(schema)('{"x": "%s!"}' % ("a" * 60)) == McpArguments({"x": "a" * 60 + "!"})


@settings(deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(["type", "properties", "required", "items", "anyOf", "enum", "const", "not", "if", "$ref"]),
        st.recursive(st.none() | st.text(max_size=5) | st.integers(), lambda inner: st.lists(inner, max_size=3)),
        max_size=4,
    )
)
def test_no_schema_makes_the_check_fail_inside(schema):
    assert isinstance(parser(schema)('{"x": [1, {"y": "z"}]}'), McpArguments | str)


def test_schemas_of_a_size_that_nobody_could_send_are_not_usable():
    assert is_usable({"type": "object"}) and is_usable({})
    assert not is_usable({"type": "array"}) and not is_usable({"description": "x" * 100_000})


# --- results ----------------------------------------------------------------------------------------------------------


def result(*blocks, **more):
    return types.CallToolResult(content=list(blocks), **more)


def test_every_kind_of_content_has_a_form():
    text = types.TextContent(text="one")
    picture = types.ImageContent(data=PIXEL, mime_type="image/png")
    drawing = types.ImageContent(data="PHN2Zz4=", mime_type="image/svg+xml")
    sound = types.AudioContent(data="AAAA", mime_type="audio/wav")
    link = types.ResourceLink(uri="file:///a.txt", name="a")
    note = types.EmbeddedResource(resource=types.TextResourceContents(uri="note://1", text="a note"))
    given = answer(result(text, picture, drawing, sound, link, note))
    assert given.images == (f"data:image/png;base64,{PIXEL}",)
    assert given.text.split("\n") == [
        *["one", "[image/svg+xml left out]", "[audio/wav left out]"],
        *["[resource: file:///a.txt] a", "[resource: note://1]", "a note"],
    ]


def test_an_image_that_is_no_base64_is_left_out():
    given = answer(result(types.ImageContent(data='"><script>', mime_type="image/png")))
    assert given.images == () and given.text == "[image/png left out]"


def test_structured_content_counts_where_there_is_no_other():
    assert answer(result(structured_content={"a": 1})).text == '{\n  "a": 1\n}'
    assert answer(result(types.TextContent(text="t"), structured_content={"a": 1})).text == "t"


@pytest.mark.parametrize(("meta", "asks"), [({"agent/needsInput": True}, True), ({"agent/needsInput": 1}, False)])
def test_only_the_typed_mark_asks_for_input(meta, asks):
    assert answer(result(_meta=meta)).needs_input is asks


def test_a_resource_may_be_an_image():
    contents = types.BlobResourceContents(uri="x://1", blob=PIXEL, mime_type="image/png")
    assert resource_answer(types.ReadResourceResult(contents=[contents])).images


# --- secrets ----------------------------------------------------------------------------------------------------------


def test_headers_and_variables_with_telling_names_are_secret():
    http = McpServer(url="https://x", headers={"Authorization": "Bearer abc-123"})
    child = McpServer(command="x", env={"GITHUB_TOKEN": "tok-1", "ROOT": "/home"})
    assert secrets([http, child]) == {"Bearer abc-123", "abc-123", "tok-1"}
