from __future__ import annotations

import re
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.tools.archive import LIMIT_BYTES
from agent_lsp.tools.mask import Mask
from agent_lsp.tools.output import Output


def output(tmp_path, limit=10, *secrets):
    return Output(limit, tmp_path / "scratch", Mask(secrets))


def archive_of(text):
    return Path(re.search(r"\[output archived: (.+)\]", text)[1])


def test_an_output_is_never_empty(tmp_path):
    assert output(tmp_path).close() == "[no output]"


def test_a_note_stands_on_a_line_of_its_own(tmp_path):
    for body, whole in (("a", "a\n[n]"), ("a\n", "a\n[n]"), ("", "[n]")):
        one = output(tmp_path)
        assert one.feed(body) + one.close("[n]") == whole


def test_an_output_of_just_the_limit_is_whole(tmp_path):
    one = output(tmp_path)
    assert one.feed("0123456789") + one.close() == "0123456789"
    assert not (tmp_path / "scratch").exists()


def test_a_cut_output_keeps_its_head_and_its_note_and_names_a_private_archive(tmp_path):
    one = output(tmp_path)
    shown = one.feed("0123456") + one.feed("789abc") + one.feed("def") + one.close("[exit code: 4]")
    assert shown.startswith("0123456789\n[output truncated: exceeded 10 chars]\n[output archived: ")
    assert shown.endswith("]\n[exit code: 4]") and shown == one.text
    archive = archive_of(shown)
    assert archive.read_text() == "0123456789abcdef" and archive.stat().st_mode & 0o777 == 0o600
    assert archive.parent.stat().st_mode & 0o777 == 0o700


def test_a_secret_is_masked_in_the_archive_too(tmp_path):
    one = output(tmp_path, 3, "s3cr3t")
    shown = one.feed("look: s3c") + one.feed("r3t!") + one.close()
    assert "s3c" not in shown and archive_of(shown).read_text() == "look: ***!"


def test_what_the_disk_refuses_is_said(tmp_path):
    (tmp_path / "scratch").write_text("a file in the way")
    one = output(tmp_path, 3)
    assert "[output not archived: " in one.feed("too long") + one.close()


def test_an_archive_keeps_head_and_tail_in_bounded_memory(tmp_path):
    one = output(tmp_path)
    for _ in range(200):
        one.feed("x" * 2**16)
    one.feed("THE-END")
    data = archive_of(one.close()).read_bytes()
    assert LIMIT_BYTES < len(data) < LIMIT_BYTES + 100
    assert data.startswith(b"xxx") and data.endswith(b"THE-END") and b" bytes left out]\n" in data


@settings(deadline=None, max_examples=50)
@given(st.lists(st.text(max_size=12), max_size=6))
def test_what_is_shown_piece_by_piece_is_the_whole(tmp_path_factory, pieces):
    one = output(tmp_path_factory.getbasetemp(), 20)
    shown = "".join(map(one.feed, pieces)) + one.close("[end]")
    assert shown == one.text and shown.splitlines()[-1] == "[end]"
    whole = "".join(pieces)
    assert shown.startswith(whole[:20])


def test_lone_surrogates_become_replacement_characters(tmp_path):
    one = output(tmp_path)
    assert one.feed("a\udcffb") == "a\ufffdb"
