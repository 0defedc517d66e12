# SPDX-License-Identifier: Apache-2.0
"""The report in a browser: its first screen, what its script adds, and that nothing is cut on screen or paper."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import sample
import sample_procedures
from sample_gate import gate_view
from waiting import wait_until

from steelyard.report.pages import to_html
from steelyard.report.view import View

from .browsing import PHONE, SCREEN, Visits

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.full


def search() -> View:
    session, trials, analysis = sample_procedures.capacity()
    return View(session, analysis, trials)


SESSIONS: dict[str, Callable[[], View]] = {
    "study": lambda: sample.make_view(sample.study_plan()),
    "two-factors": lambda: sample.make_view(sample.two_factor_plan()),
    "ramp-up": lambda: sample.make_view(sample_procedures.ramp_up_plan()),
    "start-up": lambda: sample.make_view(sample_procedures.start_up_plan()),
    "capacity": search,
    "survive": lambda: sample.make_view(sample_procedures.survive_plan()),
    "gate": lambda: gate_view(0.9),
}
CUT = """() => [...document.querySelectorAll('.scroll')].filter(box => box.scrollWidth > box.clientWidth + 1)
    .map(box => `${box.getAttribute('aria-label')}: ${box.scrollWidth} > ${box.clientWidth}`)"""
BOTTOM = "selector => document.querySelector(selector).getBoundingClientRect().bottom"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("reports")
    paths = {name: folder / f"{name}.html" for name in SESSIONS}
    for name, make in SESSIONS.items():
        paths[name].write_text(to_html(make()), encoding="utf-8")
    return paths


@pytest.mark.parametrize("name", SESSIONS)
def test_the_first_screen_holds_question_answer_chart_and_caveats(
    reports: dict[str, Path], visits: Visits, name: str
) -> None:
    page = visits.open(reports[name])
    for part in ("h1", ".question", ".lead", ".belief", ".shown svg", ".caveats"):
        assert page.evaluate(BOTTOM, part) <= SCREEN[1], f"{part} is below the first screen"
    assert page.evaluate("document.querySelectorAll('.caveats > ul > li').length") <= 3


@pytest.mark.parametrize("name", SESSIONS)
def test_no_table_is_cut_and_nothing_is_wider_than_the_window(
    reports: dict[str, Path], visits: Visits, name: str
) -> None:
    for width, table_may_scroll in ((1200, False), (PHONE[0], True)):
        page = visits.open(reports[name], size=(width, 800))
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert table_may_scroll or page.evaluate(CUT) == []


@pytest.mark.parametrize("name", SESSIONS)
def test_on_a_phone_the_first_chart_is_whole_and_can_be_read(
    reports: dict[str, Path], visits: Visits, name: str
) -> None:
    page = visits.open(reports[name], size=PHONE)
    right, scale = page.evaluate("""() => {
        const svg = document.querySelector('.shown svg'), box = svg.getBoundingClientRect();
        return [box.right, box.width / svg.viewBox.baseVal.width];
    }""")
    assert right <= PHONE[0]
    # Text of a chart has 12 pixels; with fewer than 8 it is a line of dots.
    assert 12 * scale >= 8
    assert page.evaluate(
        "[...document.querySelectorAll('.shown')].every(box => box.scrollWidth <= box.clientWidth)"
    )


def test_figures_are_not_broken_before_their_unit(reports: dict[str, Path], visits: Visits) -> None:
    page = visits.open(reports["study"])
    lines = page.evaluate("""() => [...document.querySelectorAll('table.words td.n')].map(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
    })""")
    assert lines
    assert set(lines) == {1}


def test_a_value_stands_where_the_pointer_rests(reports: dict[str, Path], visits: Visits) -> None:
    page = visits.open(reports["ramp-up"])
    page.hover(".shown svg", position={"x": 300, "y": 120})
    tip = page.locator(".tip")
    text = wait_until(lambda: tip.inner_text() if tip.is_visible() else "", "the values of the curves")
    assert re.match(r"\d+ s, req/s, median over trials", text)
    assert len(text.splitlines()) == 4, "a line for each arm"
    page = visits.open(reports["study"])
    page.locator(".shown svg [data-tip]").last.hover()  # which no other point lies upon
    assert re.search(r"JVMs = \d+: \S\d+ %, 95 % CI", page.locator(".tip").inner_text())


def test_arms_are_switched_off_in_every_chart_by_the_keyboard(
    reports: dict[str, Path], visits: Visits
) -> None:
    page = visits.open(reports["ramp-up"])
    button = page.locator(".arms button").nth(1)
    drawn = "document.querySelectorAll('svg .arm-1').length"
    seen = (
        "[...document.querySelectorAll('svg .arm-1')].filter(one => one.getBoundingClientRect().width).length"
    )
    assert page.evaluate(drawn) > page.evaluate("document.querySelectorAll('.shown svg .arm-1').length")
    button.focus()
    page.keyboard.press("Enter")
    assert button.get_attribute("aria-pressed") == "false"
    assert page.evaluate(seen) == 0
    page.keyboard.press("Enter")
    assert page.evaluate(seen) > 0


def test_the_curve_of_each_trial_is_drawn_when_it_is_asked_for(
    reports: dict[str, Path], visits: Visits
) -> None:
    page = visits.open(reports["ramp-up"])
    assert page.locator(".trials path").count() == 0
    page.get_by_role("button", name="Each trial").click()
    valid = sum(trial.state == "valid" for trial in SESSIONS["ramp-up"]().trials)
    assert page.locator(".trials path").count() == valid
    page.get_by_role("button", name="Each trial").click()
    assert page.locator(".trials path").count() == 0


def test_arrow_keys_go_from_value_to_value(reports: dict[str, Path], visits: Visits) -> None:
    page = visits.open(reports["ramp-up"])
    page.locator(".shown figure").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert page.locator(".shown .said").inner_text().startswith("3 s, req/s")
    page = visits.open(reports["study"])
    page.locator(".shown figure").focus()
    page.keyboard.press("ArrowRight")
    assert "JVMs = 2, block 1" in page.locator(".shown .said").inner_text()


def column(page: "Page", table: str, index: int) -> list[str]:
    """First lines of a column of cells."""
    lines = page.locator(f"{table} tbody tr:not(.group)").all()
    return [line.locator("th, td").nth(index).inner_text().splitlines()[0] for line in lines]


def test_tables_are_sorted_by_a_click_and_rows_stay_below_their_heading(
    reports: dict[str, Path], visits: Visits
) -> None:
    page = visits.open(reports["study"])
    before = column(page, ".headline", 3)
    head = page.locator(".headline thead th").nth(3)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    figures = [float(text.replace(",", "")) for text in column(page, ".headline", 3)]
    assert figures == sorted(figures)
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert column(page, ".headline", 3)[0] == max(before, key=lambda text: float(text.replace(",", "")))
    groups = page.locator(".long .group").all_inner_texts()
    page.locator(".long thead th").nth(2).get_by_role("button").click()
    assert page.locator(".long .group").all_inner_texts() == groups


def test_what_is_folded_is_printed(reports: dict[str, Path], visits: Visits) -> None:
    view = SESSIONS["two-factors"]()
    html = to_html(view).replace(
        "</aside>", "<details><summary>folded</summary><p>inside</p></details></aside>", 1
    )
    path = reports["study"].with_name("folded.html")
    path.write_text(html, encoding="utf-8")
    page = visits.open(path)
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_text("inside", exact=True).is_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.querySelectorAll('details[open]').length") == 0


@pytest.mark.parametrize("name", SESSIONS)
def test_on_paper_nothing_is_wider_than_the_page(reports: dict[str, Path], visits: Visits, name: str) -> None:
    # A4 with 14 mm on either side is 688 CSS pixels.
    page = visits.open(reports[name], size=(688, 1000))
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 688
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_dark_colours_are_those_of_the_user(reports: dict[str, Path], visits: Visits) -> None:
    shade = "getComputedStyle(document.body).backgroundColor"
    light, dark = (
        visits.open(reports["study"], scheme=scheme).evaluate(shade) for scheme in ("light", "dark")
    )
    assert light == "rgb(253, 253, 252)"
    assert dark == "rgb(21, 23, 26)"
