from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from agent_lsp.tools.mask import Mask

SECRETS = ("abcabd", "abcabdef", "zzzz", "s3cr3t")
texts = st.lists(st.sampled_from([*SECRETS, "a", "ab", "abc", "z", "zz", "s3", " ", "x"])).map("".join)


@settings(deadline=None)
@given(texts, st.lists(st.integers(0, 60), max_size=8))
def test_no_secret_gets_through_wherever_the_text_is_cut(text, cuts):
    stream, at, shown = Mask(SECRETS).stream(), 0, ""
    for cut in [*sorted(min(cut, len(text)) for cut in cuts), len(text)]:
        shown += stream.feed(text[at:cut])
        at = cut
    shown += stream.close()
    assert not [secret for secret in SECRETS if secret in shown]
    assert shown == Mask(SECRETS)(text)


def test_only_what_may_be_the_beginning_of_a_secret_is_held_back():
    stream = Mask(("s3cr3t",)).stream()
    assert stream.feed("all is s3") == "all is "
    assert stream.feed(" well") == "s3 well"


def test_words_too_short_to_be_secrets_stay():
    assert Mask(("", "a", "abc"))("abc a") == "abc a"


def test_without_secrets_everything_passes_at_once():
    assert Mask(()).stream().feed("x") == "x"
