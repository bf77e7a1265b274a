import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_lsp.messages.content import ImageUrl, Text
from agent_lsp.messages.events import SessionUpdate
from agent_lsp.trace.view.html import render
from agent_lsp.trace.view.markup import LONGEST_BODY, block, diff, picture, text
from agent_lsp.trace.view.scale import Scale
from agent_lsp.trace.view.timeline import read_timeline
from tests.trace.trace_view_samples import PIXEL, Teller, rich, simple

HOSTILE = "</pre></summary><script>alert(1)</script><img src=x onerror=alert(1)>\" onload='x' \x1b[31m\u202e &amp;"
VOID = {"meta", "input", "img"}


class Page(HTMLParser):
    """Reads a page: its elements, and whether all of them are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.stack, self.elements, self.words = [], [], []
        self.feed(page)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if self.stack and self.stack[-1] not in ("script", "style"):
            self.words.append(data)

    def of(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def said(self):
        return "".join(self.words)


def nobody_knows(*_):
    return None


def page_of(told, tmp_path, cost=nobody_knows):
    return render(read_timeline([told.save(tmp_path)]), cost)


@pytest.mark.parametrize(("requests", "columns"), [(3, 0), (4, 4), (120, 120), (121, 61), (2600, 119)])
def test_the_chart_of_the_context_has_columns_that_can_be_seen(tmp_path, requests, columns):
    told = Teller().run(1, "go")
    for number in range(requests):
        told.ask().write(1, "x").done(0.1, new=10 if number != requests - 2 else 500, out=1)
    page = page_of(told, tmp_path)
    assert len(re.findall(r'<i title="request \d+: ', page)) == columns
    assert (f'<i title="request {requests - 1}: 0 cached, 500 new, 1 out">' in page) is bool(columns)


def hostile():
    told = Teller(workspace=HOSTILE, system_prompt=HOSTILE, model_id=HOSTILE).run(1, HOSTILE, tools=[HOSTILE])
    told.say(
        ImageUrl(image_url='data:image/png;base64,AA"onerror=alert(1)'),
        ImageUrl(image_url="https://evil.example/x.png"),
    )
    told.ask().think(1, HOSTILE).write(1, HOSTILE)
    told.call(1, HOSTILE, HOSTILE, **{"file_path": HOSTILE, "old_string": HOSTILE, "new_string": "x"})
    told.decide(1, HOSTILE, rule=HOSTILE, by="rule").answer(1, HOSTILE, f"@@ -1 +1 @@\n-{HOSTILE}\n+x")
    told.done(1).say(SessionUpdate(title=HOSTILE)).ask().fail(1, "failed", HOSTILE)
    return told


def test_the_page_needs_nothing_from_anywhere(tmp_path):
    page = Page(page_of(rich(), tmp_path))

    assert not page.of("link") and not page.of("iframe") and not page.of("object")
    assert [
        one for tag in ("script", "img", "a") for one in page.of(tag) if re.match("https?:", one.get("src") or "")
    ] == []
    assert all(one["href"].startswith("#") for one in page.of("a"))
    assert [one["src"] for one in page.of("img")] == [PIXEL]


def test_only_its_own_script_may_run(tmp_path):
    page = page_of(hostile(), tmp_path)

    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == len(Page(page).of("script")) == 1
    digest = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    policy = next(one["content"] for one in Page(page).of("meta") if one.get("http-equiv"))
    assert policy == f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def test_hostile_words_are_words(tmp_path):
    page = Page(page_of(hostile(), tmp_path))

    assert not [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    assert page.of("img") == []
    assert "<script>alert(1)</script>" in page.said
    assert "\x1b" not in page.said and "\u202e" not in page.said and "\\x1b[31m\\u202e" in page.said


@given(st.text(), st.text())
def test_whatever_is_said_a_page_stays_well_formed(words, more):
    for made in (text(words), block(words), diff(f"@@ {more}\n+{words}"), picture(words)):
        page = Page(f"<div>{made}</div>")
        assert {tag for tag, _ in page.elements} <= {"div", "pre", "span", "p"}
        assert not [name for _, attributes in page.elements for name in attributes if name != "class"]


def test_everything_that_happened_is_on_the_page(tmp_path):
    page = Page(page_of(rich(), tmp_path)).said

    for words in (
        "Fix the greeting",
        "anthropic/claude-sonnet-4-5",
        "attempt 3",
        "HTTP 529: overloaded",
        "allow · user · 6 m 52 s",
        "deny · user",
        "the README is written by hand",
        "Also mention it in the README.",
        "+    if not name:",
        "Compaction",
        "Summary request",
        "aborted by user",
        "HTTP 401: invalid x-api-key",
        "6 m 56 s of it waiting for decisions",
        "83 % of the input from the cache",
    ):
        assert words in page, words


def test_costs_are_shown_where_they_are_known(tmp_path):
    asked = []

    def cost(provider, model, tokens, ts):
        asked.append((provider, model, ts))
        return tokens.total / 100

    page = Page(page_of(simple(), tmp_path, cost)).said
    assert "$0.5100" in page
    assert asked[0][:2] == ("anthropic", "claude-sonnet-4-5")
    assert "2 requests without a price" in Page(page_of(simple(), tmp_path)).said


def test_a_request_is_priced_by_the_model_it_was_made_to(tmp_path):
    told = simple().say(SessionUpdate(model="openai/gpt-5")).run(2, "again").ask().write(1, "x").done(0)

    assert [one.model for one in read_timeline([told.save(tmp_path)]).requests] == [
        "anthropic/claude-sonnet-4-5",
        "anthropic/claude-sonnet-4-5",
        "openai/gpt-5",
    ]


def test_a_long_body_is_cut_and_says_so():
    made = block("x" * (LONGEST_BODY + 1234))

    assert len(made) < LONGEST_BODY + 200
    assert "1,234 more characters" in made


@pytest.mark.parametrize("cut", range(0, 76, 5))
def test_a_trace_that_ends_anywhere_is_a_page_all_the_same(tmp_path, cut):
    told = rich()
    told.lines = told.lines[:cut]
    path = told.save(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"timestamp": "2026-')

    Page(render(read_timeline([path]), nobody_knows))


def test_lines_that_are_no_message_are_told_of(tmp_path):
    path = simple().save(tmp_path)
    path.write_bytes(path.read_bytes() + b"nonsense\n")

    assert "1 line of the trace could not be read" in Page(render(read_timeline([path]), nobody_knows)).said


def test_files_of_one_session_are_one_page(tmp_path):
    first, second = simple().save(tmp_path, 1), simple().run(2, "and now").save(tmp_path, 2)
    timeline = read_timeline([first, second])

    assert timeline.contexts == 2
    assert [run.prompt for run in timeline.runs] == ["look", "look", "and now"]


# --- the time axis ---


def test_an_axis_without_long_waits_is_true_to_the_clock():
    scale = Scale(100, 110, [(100, 104), (104.1, 110)])

    assert [scale.at(moment) for moment in (90, 100, 102.5, 110, 200)] == pytest.approx([0, 0, 25, 100, 100])
    assert scale.cuts() == []


def test_a_long_wait_is_short_on_the_axis_and_is_marked():
    scale = Scale(0, 3610, [(0, 5), (3605, 3610)])

    (cut,) = scale.cuts()
    assert cut.seconds == 3600
    assert cut.at == pytest.approx(50)
    assert scale.at(3605) - scale.at(5) == pytest.approx(100 * 1.2 / 11.2)


@given(
    st.floats(0, 1e6),
    st.lists(st.tuples(st.floats(0, 1e6), st.floats(0, 1e6)), max_size=8),
    st.lists(st.floats(-1e6, 2e6), max_size=8),
)
def test_an_axis_keeps_the_order_of_moments_and_stays_within_its_ends(length, busy, moments):
    scale = Scale(0, length, busy)
    places = [scale.at(moment) for moment in sorted(moments)]

    assert places == sorted(places)
    assert all(0 <= place <= 100 for place in places)
    ticks = list(scale.ticks())
    assert len(ticks) < 20
    assert [place for _, place in ticks] == sorted(place for _, place in ticks)
    assert all(0 < cut.at < 100 for cut in scale.cuts())


def test_an_unfinished_call_lasts_to_the_end(tmp_path):
    told = Teller().run(1, "go").ask().call(1, "c", "exec_command", cmd="sleep").decide(0, "c").done(0)
    told.after(9, Text(role="user", text="[user_steering]\nwell?\n[/user_steering]"))

    assert "bar tool open" in page_of(told, tmp_path)
