"""What the client holds open, told change by change."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from agent_lsp.server.documents.document import Document
from agent_lsp.server.documents.params import Change, ChangeParams, OpenParams, SaveParams
from agent_lsp.server.documents.positions import Places, column_to_index, index_to_column, lines_of
from agent_lsp.server.documents.store import Documents, file_of
from agent_lsp.server.shapes import Position, Range

ENCODINGS = ("utf-8", "utf-16", "utf-32")
TEXTS = st.text(alphabet="a😀é\r\n\x0c\u2028", max_size=20)


@pytest.fixture
def documents() -> Documents:
    return Documents("utf-16")


def opened(documents: Documents, path: Path, text: str, **more) -> Document:
    uri = more.pop("uri", path.as_uri())
    documents.opened(OpenParams.model_validate({"textDocument": {"uri": uri, "version": 1, "text": text}}))
    found = documents.by_uri(uri)
    assert found
    return found


def typed(documents: Documents, uri: str, text: str, version: int = 2) -> None:
    body = {"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}
    documents.changed(ChangeParams.model_validate(body))


# --- positions --------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(TEXTS)
def test_lines_end_at_cr_lf_and_crlf_and_nowhere_else(text):
    lines = lines_of(text)
    assert "".join(lines) == text
    assert len(lines) == 1 + text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@settings(deadline=None)
@given(TEXTS, st.sampled_from(ENCODINGS))
def test_a_position_and_its_index_are_inverse(text, encoding):
    places, lines = Places(text, encoding), lines_of(text)
    for index in range(len(text) + 1):
        if text[index - 1 : index + 1] != "\r\n" or not index:
            found = places.position(index)
            before = sum(map(len, lines[: found.line]))
            assert before + column_to_index(lines[found.line], found.character, encoding) == index


def test_a_column_inside_a_character_is_its_beginning_and_one_beyond_the_line_its_end():
    assert column_to_index("a😀b\r\n", 2, "utf-16") == 1
    assert column_to_index("a😀b\r\n", 99, "utf-16") == 3
    assert index_to_column("a😀b", 2, "utf-16") == 3 and index_to_column("a😀b", 2, "utf-8") == 5


# --- changes ----------------------------------------------------------------------------------------------------------

EDITS = st.lists(st.tuples(st.integers(0, 25), st.integers(0, 6), TEXTS), max_size=8)


@settings(deadline=None)
@given(TEXTS, EDITS, st.sampled_from(ENCODINGS))
def test_incremental_changes_come_to_the_text_of_the_editor(text, edits, encoding):
    document = Document("untitled:1", None, 1, text)
    for version, (start, length, new) in enumerate(edits, 2):
        begin = min(start, len(text))
        end = min(begin + length, len(text))
        if any(text[at - 1 : at + 1] == "\r\n" for at in (begin, end) if at):
            continue
        change = Change(text=new, range=Places(text, encoding).range(begin, end))
        document.change([change], version, encoding)
        text = text[:begin] + new + text[end:]
        assert document.text == text and document._lines == lines_of(text)


def test_several_changes_of_one_notification_build_on_each_other():
    document = Document("untitled:1", None, 1, "ab")
    at = Range(start=Position(line=0, character=0), end=Position(line=0, character=1))
    document.change([Change(text="x", range=at), Change(text="y", range=at)], 2, "utf-16")
    assert document.text == "yb" and document.version == 2


@settings(deadline=None)
@given(TEXTS, *[st.integers(0, 2**31)] * 4, TEXTS)
def test_no_position_is_too_far(text, a, b, c, d, new):
    document = Document("untitled:1", None, 1, text)
    span = Range(start=Position(line=a, character=b), end=Position(line=c, character=d))
    document.change([Change(text=new, range=span)], 2, "utf-16")
    assert new in document.text


# --- which document ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", ["a b.txt", "a%20b.txt", "%61%20b.txt", "./a%20b.txt", "x/../a%20b.txt"])
def test_a_file_is_one_file_however_its_uri_is_written(documents, tmp_path, spelling):
    (tmp_path / "x").mkdir()
    (tmp_path / "a b.txt").write_text("x\n")
    document = opened(documents, tmp_path, "mine\n", uri=f"{tmp_path.as_uri()}/{spelling}")
    assert documents.find(tmp_path / "a b.txt") is document


def test_links_lead_to_the_document_of_the_file(documents, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_text("x")
    (tmp_path / "link").symlink_to("real")
    document = opened(documents, tmp_path / "link" / "a", "x")
    assert documents.find(tmp_path / "real" / "a") is document


def test_drive_letters_have_no_case():
    assert file_of("file:///c%3A/Users/x") == file_of("file:///C:/Users/x") is not None


@pytest.mark.parametrize(
    "uri",
    ["", "a b", "file:", "file://server/x", "untitled:1", "git:/a?%7B", "file:///a%00b", "http://[x", "file:x", "::"],
)
def test_what_is_no_file_here_is_a_document_all_the_same(documents, uri):
    documents.saved(SaveParams.model_validate({"textDocument": {"uri": uri}}))
    typed(documents, uri, "nobody listens")
    document = opened(documents, Path("/"), "text", uri=uri)
    typed(documents, uri, "more")
    assert document.text == "more" and document.standing() == "dirty"
    documents.closed(OpenParams.model_validate({"textDocument": {"uri": uri}}))
    assert documents.by_uri(uri) is None


def test_of_two_documents_of_one_file_the_dirty_one_counts(documents, tmp_path):
    (tmp_path / "a").write_text("x")
    (tmp_path / "link").symlink_to("a")
    first = opened(documents, tmp_path / "a", "x")
    second = opened(documents, tmp_path / "link", "x")
    assert documents.find(tmp_path / "a") is second
    typed(documents, first.uri, "typed")
    assert documents.find(tmp_path / "a") is first


# --- how it stands to the disk ----------------------------------------------------------------------------------------


def test_a_text_that_differs_from_the_disk_when_opened_is_dirty(documents, tmp_path):
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfx\r\n")
    assert opened(documents, tmp_path / "a", "x\r\n").standing() == "clean"
    assert opened(documents, tmp_path / "a", "x\n").standing() == "dirty"


def test_typing_makes_dirty_and_taking_it_back_makes_clean(documents, tmp_path):
    (tmp_path / "a").write_text("x")
    document = opened(documents, tmp_path / "a", "x")
    typed(documents, document.uri, "xy")
    assert document.standing() == "dirty"
    typed(documents, document.uri, "x")
    assert document.standing() == "clean"


def test_saving_makes_clean(documents, tmp_path):
    (tmp_path / "a").write_text("x")
    document = opened(documents, tmp_path / "a", "x")
    typed(documents, document.uri, "xy")
    (tmp_path / "a").write_text("xy")
    documents.saved(SaveParams.model_validate({"textDocument": {"uri": document.uri}}))
    assert document.standing() == "clean"


def test_a_clean_text_is_behind_when_the_disk_has_another(documents, tmp_path):
    (tmp_path / "a").write_text("x")
    document = opened(documents, tmp_path / "a", "x")
    (tmp_path / "a").write_text("by a command")
    assert document.standing() == "behind"
    typed(documents, document.uri, "by a command")
    assert document.standing() == "clean", "the editor has read it again"


def test_a_dirty_text_stays_dirty_whatever_the_disk_does(documents, tmp_path):
    (tmp_path / "a").write_text("x")
    document = opened(documents, tmp_path / "a", "mine")
    (tmp_path / "a").write_text("by a command")
    assert document.standing() == "dirty"
    (tmp_path / "a").unlink()
    assert document.standing() == "dirty"


def test_an_empty_document_of_no_file_holds_nothing_unsaved(documents, tmp_path):
    document = opened(documents, tmp_path / "new", "")
    assert document.standing() == "clean"
    typed(documents, document.uri, "x")
    assert document.standing() == "dirty"


# --- waiting for a text -----------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_an_expected_text_is_seen_though_another_follows_at_once(documents, tmp_path):
    document = opened(documents, tmp_path / "a", "x")
    seen = document.expect("xy")
    typed(documents, document.uri, "xy")
    typed(documents, document.uri, "xyz", 3)
    assert await seen


@pytest.mark.asyncio
async def test_a_document_that_is_closed_never_shows_it(documents, tmp_path):
    document = opened(documents, tmp_path / "a", "x")
    seen = document.expect("xy")
    documents.closed(OpenParams.model_validate({"textDocument": {"uri": document.uri}}))
    assert not await asyncio.wait_for(seen, 1)


def test_documents_cost_no_import_of_lsprotocol():
    script = "import sys, agent_lsp.app; sys.exit(len({'lsprotocol', 'pygls', 'cattrs'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0


ANYTHING = st.recursive(
    st.none()
    | st.integers()
    | st.booleans()
    | st.sampled_from(["", "x", "file:///", "file:///%00", "untitled:1", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["uri", "text", "version", "range", "start", "end", "line", "character"]), inner
        )
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["didOpen", "didChange", "didSave", "didClose"]), ANYTHING, ANYTHING)))
def test_nothing_that_a_client_says_of_documents_raises_but_for_its_shape(story):
    documents = Documents("utf-16")
    observers = documents.notifications()
    for name, document, changes in story:
        observer = observers[f"textDocument/{name}"]
        try:
            params = observer.params.model_validate({"textDocument": document, "contentChanges": changes})
        except ValidationError:
            continue
        observer.handler(params)
    assert all(isinstance(one.text, str) for one in documents)
