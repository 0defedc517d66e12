# SPDX-License-Identifier: Apache-2.0
"""The HTML page: well-formed, self-contained, small, complete, and free of holes, for very different sessions."""

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
import sample

from steelyard.report import records, tables, write_report
from steelyard.report.html import to_html, typeset
from steelyard.report.view import View
from steelyard.results.analysis import Analysis

PLANS = {
    "study": sample.study_plan,
    "two-arms": sample.two_arm_plan,
    "two-factors": sample.two_factor_plan,
    "poor": sample.poor_plan,
}
VOID_TAGS = {"meta", "br"}


class Page(HTMLParser):
    """Text, identifiers, references and headings of a page; complains about tags that do not match."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.headings: list[int] = []
        self.images: list[dict[str, str | None]] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        assert len(found) == len(attrs), f"an attribute twice in <{tag}>"
        self.ids += [str(found["id"])] if "id" in found else []
        self.references += [str(found[key]) for key in ("href", "src", "xlink:href") if key in found]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "svg":
            self.images.append(found)
        if tag not in VOID_TAGS:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style":
            self.text.append(data)


@pytest.fixture(scope="module", params=sorted(PLANS))
def page(request: pytest.FixtureRequest) -> tuple[View, str]:
    view = View(*_ordered(PLANS[request.param]()))
    return view, to_html(view)


def _ordered(plan: sample.Plan) -> tuple:
    session, trials, analysis = sample.make(plan)
    return session, analysis, trials


def test_is_well_formed_and_names_each_thing_once(page: tuple[View, str]) -> None:
    found = Page(page[1])
    assert len(found.ids) == len(set(found.ids))
    targets = {reference[1:] for reference in found.references}
    assert targets <= set(found.ids)
    labelled = {part for image in found.images for part in str(image["aria-labelledby"]).split()}
    assert labelled <= set(found.ids)
    assert all(image["role"] == "img" for image in found.images)


def test_headings_skip_no_level(page: tuple[View, str]) -> None:
    headings = Page(page[1]).headings
    assert headings[0] == 1
    assert headings.count(1) == 1
    assert all(below <= above + 1 for above, below in pairwise(headings))


def test_needs_no_network_and_is_small(page: tuple[View, str]) -> None:
    html = page[1]
    assert all(reference.startswith("#") for reference in Page(html).references)
    assert not re.search(r"@import|url\((?!#)|<script|<link|<iframe|<img", html)
    assert len(html.encode()) < 2_000_000


def test_has_no_holes(page: tuple[View, str]) -> None:
    text = " ".join(Page(page[1]).text)
    assert not re.search(r"\b(nan|None|inf|undefined)\b", text, re.IGNORECASE)
    assert not re.search(r"\b(nan|inf)\b", " ".join(re.findall(r'd="([^"]+)"', page[1])))


def test_takes_all_chart_colours_from_the_page(page: tuple[View, str]) -> None:
    for svg in re.findall(r"<svg.*?</svg>", page[1], flags=re.DOTALL):
        assert not re.search(r"#[0-9a-f]{6}\b", svg)
        assert "font-family" not in svg
        for text in re.findall(r"<text[^>]*>", svg):
            assert "fill: var(--chart-" in text
    used = set(re.findall(r"var\((--[\w-]+)\)", page[1]))
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in _themes(page[1]))
    assert used <= light
    assert light == dark


def _themes(html: str) -> tuple[str, str]:
    light = re.search(r":root \{(.*?)\}", html, re.DOTALL)
    dark = re.search(r"prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", html, re.DOTALL)
    assert light
    assert dark
    return light[1], dark[1]


def test_shows_every_figure_of_the_headline_and_of_the_estimates(page: tuple[View, str]) -> None:
    view, html = page
    text = _plain(" ".join(Page(html).text))
    for table in (tables.headline(view), tables.estimates(view)):
        for cell in (cell for row in table.rows for cell in row):
            for line in (cell.text, *cell.notes):
                assert _plain(line) in text
    for sentence in (*view.answer, *view.caveats):
        assert _plain(sentence) in text


def _plain(text: str) -> str:
    return " ".join(typeset(text).replace("\N{NO-BREAK SPACE}", " ").split())


def test_never_says_no_difference_without_what_cannot_be_ruled_out(page: tuple[View, str]) -> None:
    for part in re.findall(r"<p>.*?</p>", page[1], flags=re.DOTALL):
        if "no difference" in part.lower():
            assert re.search(r"rule out|ruled out", part)


def test_lists_every_trial_and_every_failed_check(page: tuple[View, str]) -> None:
    view, html = page
    ledger = records.ledger(view)
    assert len(ledger.rows) == len(view.trials)
    assert sum(row.void for row in ledger.rows) == view.analysis.void_trials
    text = _plain(" ".join(Page(html).text))
    for check in (check for trial in view.trials for check in trial.checks if check.failed):
        assert _plain(check.detail) in text
    for trial in view.trials:
        assert trial.failure is None or trial.failure in text


def test_names_void_trials_in_the_charts() -> None:
    view = View(*_ordered(sample.study_plan()))
    svgs = re.findall(r"<svg.*?</svg>", to_html(view), flags=re.DOTALL)
    assert sum("void, block 3" in svg for svg in svgs) == 3  # one for each metric over the levels


def test_same_session_gives_same_bytes(tmp_path: Path) -> None:
    directory = sample.write(tmp_path, sample.two_factor_plan())
    first = [path.read_bytes() for path in write_report(directory)]
    assert [path.read_bytes() for path in write_report(directory)] == first


def test_a_session_without_any_trial_yet_can_be_reported() -> None:
    plan = sample.study_plan()
    session = sample.session_of(plan)
    analysis: Analysis = sample.analyse(session, [])
    html = to_html(View(session, analysis, []))
    text = " ".join(Page(html).text)
    assert text.count("not run") == len(session.schedule)
    assert "No trial has a figure to draw." in text


def test_text_from_outside_cannot_break_out() -> None:
    plan = sample.two_arm_plan()
    plan.title = 'A <script>alert("x")</script> & more'
    html = to_html(View(*_ordered(plan)))
    assert "<script" not in html
    assert "A &lt;script&gt;" in html


def test_large_sessions_stay_small() -> None:
    plan = sample.study_plan()
    plan.blocks = 41
    view = View(*_ordered(plan))
    assert len(view.trials) == 206
    html = to_html(view)
    assert len(html.encode()) < 2_000_000
    assert re.search(r"\d+ trials that passed every check are left out here", html)
