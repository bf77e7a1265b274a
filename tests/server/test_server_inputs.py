"""From what a client sends as input to what the model is told."""

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.errors import InvalidParams
from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.policy.paths import PathRules
from agent_lsp.server.inputs import read_input, selection
from agent_lsp.server.shapes import ImagePart, Position, Range, ResourcePart, TextPart
from agent_lsp.server.uris import path_of, uri_of

PIXEL = "data:image/png;base64,iVBORw0KGgo="
ENCODINGS = ("utf-8", "utf-16", "utf-32")
WORDS = st.text(alphabet="aé€𝄞\n\r \t", max_size=40)


def between(line, character, to_line, to_character):
    return Range(start=Position(line=line, character=character), end=Position(line=to_line, character=to_character))


@pytest.fixture
def work(tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    return folder


@pytest.fixture
def read(work, tmp_path):
    paths = PathRules(work, data_dir=tmp_path / "data", deny=["*.secret"], homes=[tmp_path / "home"])

    def read(*parts, encoding="utf-16"):
        return read_input(list(parts), work, paths, encoding, mcp_servers=("files", "two words"))

    return read


def attached(read, path, range=None, encoding="utf-16"):
    [text] = read(ResourcePart(type="resource", uri=uri_of(path), range=range), encoding=encoding)
    assert text.role == "user"
    return text.text


def wrong_field(read, part):
    with pytest.raises(InvalidParams) as caught:
        read(TextPart(type="text", text="see"), part)
    [(field, why)] = caught.value.errors
    return field, why


def test_a_string_is_one_message_and_an_empty_one_is_none(work, tmp_path):
    paths = PathRules(work, data_dir=tmp_path / "data")
    assert read_input("go", work, paths, "utf-16") == (Text(role="user", text="go"),)
    assert read_input("", work, paths, "utf-16") == ()


def test_each_part_is_a_message_and_empty_texts_are_none(read):
    assert read(
        TextPart(type="text", text="a"),
        TextPart(type="text", text=""),
        ImagePart(type="image", data=PIXEL),
        ImagePart(type="image", url="https://example.org/a.png"),
    ) == (
        Text(role="user", text="a"),
        ImageUrl(image_url=PIXEL),
        ImageUrl(image_url="https://example.org/a.png"),
    )


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "url"),
        ({"url": ""}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": PIXEL}, "url"),
        ({"data": "https://example.org/a.png"}, "data"),
        ({"data": "data:text/html;base64,AAAA"}, "data"),
        ({"data": "data:image/png,raw"}, "data"),
        ({"data": "data:image/png;base64,<not base64>"}, "data"),
        ({"data": "", "url": "https://example.org/a.png"}, "data"),
    ],
)
def test_an_image_that_is_none_is_named(read, fields, name):
    assert wrong_field(read, ImagePart(type="image", **fields))[0] == f"input[1].{name}"


def test_a_file_is_attached_below_its_name_in_the_workspace(read, work):
    (work / "ä.txt").write_text("one\ntwo\n")
    assert attached(read, work / "ä.txt") == "[attached file: ä.txt]\none\ntwo\n"


def test_a_file_elsewhere_is_attached_below_its_whole_path(read, tmp_path):
    (tmp_path / "far.txt").write_text("far")
    assert attached(read, tmp_path / "far.txt") == f"[attached file: {tmp_path / 'far.txt'}]\nfar"


def test_a_selection_is_exact_and_says_its_lines(read, work):
    (work / "a.txt").write_text("one\ntwo\nthree\n")
    assert attached(read, work / "a.txt", between(1, 1, 2, 2)) == "[attached file: a.txt:2-3]\nwo\nth"


def test_a_byte_order_mark_is_no_part_of_a_line(read, work):
    (work / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo")
    assert attached(read, work / "a.txt", between(0, 0, 0, 1)).endswith("\no")


@pytest.mark.parametrize(("encoding", "units"), [("utf-8", 4), ("utf-16", 2), ("utf-32", 1)])
def test_positions_count_in_the_negotiated_encoding(read, work, encoding, units):
    (work / "a.txt").write_text("𝄞x𝄞\n")
    assert attached(read, work / "a.txt", between(0, units, 0, units + 1), encoding).endswith("]\nx")


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=WORDS, cuts=st.tuples(st.integers(0, 40), st.integers(0, 40)))
@settings(deadline=None)
def test_a_selection_between_two_characters_is_what_is_between_them(encoding, text, cuts):
    start, end = sorted(min(cut, len(text)) for cut in cuts)
    if any(text[cut - 1 : cut + 1] == "\r\n" for cut in (start, end) if cut):
        return  # there is no position inside of a line end
    assert (
        selection(text, between(*place(text, start, encoding), *place(text, end, encoding)), encoding)
        == text[start:end]
    )


def place(text, offset, encoding):
    """Line and character of an offset, counted the slow way."""
    lines = text[:offset].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding]
    return len(lines) - 1, len(lines[-1].encode(encoding if width == 1 else f"{encoding}-le")) // width


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_positions_beyond_an_end_mean_that_end(encoding):
    text = "one\r\ntwo"
    assert selection(text, between(0, 99, 1, 0), encoding) == "\r\n"
    assert selection(text, between(1, 1, 99, 0), encoding) == "wo"
    assert selection(text, between(7, 0, 9, 9), encoding) == ""
    assert selection("", between(0, 0, 0, 5), encoding) == ""


def test_a_position_inside_of_a_character_means_its_beginning():
    assert selection("𝄞x", between(0, 1, 0, 3), "utf-16") == "𝄞x"
    assert selection("𝄞x", between(0, 3, 0, 5), "utf-8") == "𝄞x"


def test_a_selection_that_ends_before_it_begins_is_empty():
    assert selection("one two", between(0, 5, 0, 2), "utf-16") == ""


@pytest.mark.parametrize(
    "uri", ["untitled:Untitled-1", "https://example.org/a", "file://elsewhere/a", "vscode-vfs://x/a"]
)
def test_a_resource_that_is_no_file_of_this_machine_is_named(read, uri):
    assert wrong_field(read, ResourcePart(type="resource", uri=uri))[0] == "input[1].uri"


def test_a_resource_that_cannot_be_read_is_named(read, work):
    (work / "picture").write_bytes(b"\x89PNG\0")
    (work / "huge").write_bytes(b"x" * (2**20 + 1))
    os.mkfifo(work / "pipe")
    for path in (work / "missing", work, work / "picture", work / "huge", work / "pipe", Path("/dev/zero")):
        assert wrong_field(read, ResourcePart(type="resource", uri=str(path)))[0] == "input[1].uri"
    assert wrong_field(read, ResourcePart(type="resource", uri="file:///a%00b"))[0] == "input[1].uri"


def test_a_file_of_exactly_the_limit_is_read(read, work):
    (work / "big").write_bytes(b"x" * 2**20)
    assert len(attached(read, work / "big")) > 2**20


@pytest.mark.parametrize("name", ["home/.ssh/id_rsa", "data/sessions/x", "a b/my.secret", "a b/link"])
def test_what_is_off_limits_is_off_limits_here_too(read, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "home/.ssh").mkdir(parents=True, exist_ok=True)
    (tmp_path / "home/.ssh/key").write_text("private")
    if name.endswith("link"):
        path.symlink_to(tmp_path / "home/.ssh/key")
    else:
        path.write_text("private")
    field, why = wrong_field(read, ResourcePart(type="resource", uri=uri_of(path)))
    assert (field, "off limits" in why, "private" in why) == ("input[1].uri", True, False)


@given(name=st.text(min_size=1, max_size=20).filter(lambda name: "/" not in name and "\0" not in name))
@settings(deadline=None)
def test_a_path_survives_its_uri(name):
    try:
        path = Path("/w") / name
        uri = uri_of(path)
    except UnicodeEncodeError:
        return
    assert path_of(uri, "uri") == path


def test_a_plain_path_is_taken_as_it_is():
    assert path_of("/a/%20b", "workspace") == Path("/a/%20b")
    assert path_of("file:///a/%20b", "workspace") == Path("/a/ b")
    assert path_of("file://localhost/a", "workspace") == Path("/a")


def test_a_resource_of_a_server_is_named_for_the_model_to_read(read):
    plain = ResourcePart(type="resource", uri="mcp://files/note%3A%2F%2Fone")
    spaced = ResourcePart(type="resource", uri="mcp://two%20words/note://one")
    assert [text.text for text in read(plain, spaced)] == [
        "[attached resource: note://one of the MCP server files]",
        "[attached resource: note://one of the MCP server two words]",
    ]


@pytest.mark.parametrize("uri", ["mcp://other/x", "mcp://files", "mcp://files/", "mcp://"])
def test_a_resource_of_no_server_is_refused(read, uri):
    assert wrong_field(read, ResourcePart(type="resource", uri=uri))[0] == "input[1].uri"
