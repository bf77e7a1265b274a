"""Images for models that cannot see."""

import base64
import stat

import pytest

from agent_lsp.sessions.pictures import ScratchpadPictures

DATA = b"\x89PNG\r\n\x1a\n"
ENCODED = base64.b64encode(DATA).decode()


@pytest.fixture
def pad(tmp_path):
    return tmp_path / "scratchpad" / "session"


@pytest.fixture
def pictures(pad):
    return ScratchpadPictures(pad)


@pytest.mark.parametrize(("kind", "ending"), [("png", "png"), ("jpeg", "jpg"), ("svg+xml", "svg"), ("PNG", "png")])
def test_an_image_is_kept_as_a_file_that_only_the_user_may_read(pictures, pad, kind, ending):
    where = pictures.keep(f"data:image/{kind};base64,{ENCODED}")
    [file] = pad.iterdir()
    assert str(file) == where and file.read_bytes() == DATA and file.suffix == f".{ending}"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (file, pad, pad.parent)] == [0o600, 0o700, 0o700]


def test_the_same_image_is_kept_once(pictures, pad):
    assert pictures.keep(f"data:image/png;base64,{ENCODED}") == pictures.keep(f"data:image/png;base64,{ENCODED}")
    assert len(list(pad.iterdir())) == 1


def test_parameters_and_white_space_in_a_data_url_are_no_matter(pictures, pad):
    pictures.keep(f"data:image/png;name=a.png;base64,{ENCODED[:4]}\n {ENCODED[4:]}")
    assert [file.read_bytes() for file in pad.iterdir()] == [DATA]


def test_a_web_address_stays_what_it_is(pictures, pad):
    assert pictures.keep("https://example.org/a.png") == "https://example.org/a.png" and not pad.exists()


@pytest.mark.parametrize("url", ["data:image/png,raw", "data:image/png;base64,!!!!", "data:image/png;base64,abc"])
def test_what_is_no_image_is_named_as_such_and_its_bytes_are_not_put_into_the_context(pictures, pad, url):
    assert pictures.keep(url).startswith("it could not be kept (") and not list(pad.glob("*"))


def test_a_disk_that_takes_nothing_is_said_and_stops_nothing(tmp_path, caplog):
    (tmp_path / "taken").write_text("")
    where = ScratchpadPictures(tmp_path / "taken" / "pad").keep(f"data:image/png;base64,{ENCODED}")
    assert where.startswith("it could not be kept (") and "could not be kept" in caplog.text
