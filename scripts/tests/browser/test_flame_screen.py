# SPDX-License-Identifier: Apache-2.0
"""Flame graphs in a browser, as `serve` shows them: search, enlarging, keys, the baseline's widths, screen readers."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
import sample
from fake_site import serving
from kept_sessions import write_ended
from sample_profiles import TOTAL, add_profiles

from steelyard.report import write_report
from steelyard.serve.server import Server
from steelyard.serve.site import Site

from .browsing import PHONE, Visits, wait_on

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.full
SESSION = "pages-000"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Of a served session's folder with profiles of two arms."""
    results = tmp_path_factory.mktemp("flames") / "results"
    directory = write_ended(results, 0, plan=replace(sample.two_arm_plan(), blocks=2), report=False)
    add_profiles(directory)
    write_report(directory)
    with serving(Server(Site(results), 0)) as server:
        yield f"{server.address}sessions/{SESSION}/"


def open_flames(visits: Visits, address: str, arm: str = "pages-transparent", **how: Any) -> "Page":
    return visits.open(f"{address}profiles/{arm}/cpu/flame.html", **how)


def frame(page: "Page", name: str) -> "Locator":
    """The frame of a method; its first where it has several."""
    return page.locator(f'#graph [role=treeitem][aria-label^="{name}:"]').first


def width(page: "Page", name: str) -> float:
    """Of a frame, in CSS pixels."""
    box = frame(page, name).bounding_box()
    assert box is not None
    return box["width"]


def focused(page: "Page") -> str:
    """The method of the frame that has the focus."""
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''")).split(":")[0]


def test_the_report_leads_to_the_flame_graph_and_back(address: str, visits: Visits) -> None:
    page = visits.open(f"{address}report.html")
    page.locator("#profiles a", has_text="transparent").click()
    wait_on(page, lambda: frame(page, TOTAL).is_visible(), "the flame graph")
    page.get_by_role("link", name="The report").click()
    wait_on(page, lambda: page.url.endswith("/report.html"), "the report")


def test_a_search_marks_frames_and_says_their_share(address: str, visits: Visits) -> None:
    page = open_flames(visits, address)
    search, share = page.get_by_role("searchbox"), page.get_by_role("status")
    search.fill("cart.total")
    assert re.search(r"call: \S+ ms per 1,000 requests, (2\d|3\d)\.\d % of the whole", share.inner_text())
    assert page.locator("#graph .found").count() == 1
    of_arm = share.inner_text()
    # What the pointer rests on is told elsewhere, and the share stays.
    frame(page, "shop/Index.find").hover()
    assert "shop/Index.find: " in page.inner_text("#said")
    assert share.inner_text() == of_arm
    page.get_by_role("button", name="Widths of the baseline").click()
    assert "in the baseline: " in share.inner_text()
    search.fill("(")
    assert share.inner_text() == "This is no expression."
    assert page.locator("#graph .found").count() == 0
    search.press("Escape")
    assert search.input_value() == ""
    assert share.inner_text() == ""
    assert page.locator("#graph .caller").count() == 0, "Escape in the field is the field's own"


def test_keys_enlarge_a_frame_and_lead_back(address: str, visits: Visits) -> None:
    page = open_flames(visits, address)
    whole = width(page, "all")
    assert width(page, "shop/CartServlet.doGet") < whole / 2
    frame(page, "shop/CartServlet.doGet").focus()
    page.keyboard.press("Enter")
    assert width(page, "shop/CartServlet.doGet") == whole
    assert focused(page) == "shop/CartServlet.doGet"
    assert not frame(page, "shop/Index.find").is_visible()
    # Wherever the focus is: after a search and beside the graph as well.
    page.get_by_role("button", name="Widths of the baseline").focus()
    page.keyboard.press("Escape")
    assert focused(page) == "jakarta/servlet/http/HttpServlet.service"
    page.get_by_role("button", name="Whole profile").click()
    assert frame(page, "shop/Index.find").is_visible()
    assert page.locator("#graph .caller").count() == 0


def test_arrow_keys_go_to_callers_callees_and_neighbours(address: str, visits: Visits) -> None:
    page = open_flames(visits, address)
    frame(page, "all").focus()
    steps = {
        "ArrowDown": "java/lang/Thread.run",
        "ArrowRight": "start_thread",
        "ArrowLeft": "java/lang/Thread.run",
        "Alt+ArrowRight": "java/lang/Thread.run",
        "ArrowUp": "all",
    }
    for key, method in steps.items():
        page.keyboard.press(key)
        assert focused(page) == method, key
        assert page.inner_text("#said").startswith(f"{method}: ")
    for key in ("ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
    left = focused(page)
    # Tab leads back to where the focus was, and a change of the window keeps it.
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Tab")
    assert focused(page) == left
    page.set_viewport_size({"width": 900, "height": 700})
    wait_on(page, lambda: page.evaluate("document.getElementById('graph').clientWidth") < 900, "the width")
    assert focused(page) == left
    page.keyboard.press("Home")
    assert focused(page) == "all"


def test_a_screen_reader_is_told_where_in_the_tree_a_frame_is(address: str, visits: Visits) -> None:
    page = open_flames(visits, address)
    told = page.evaluate("""() => [...document.querySelectorAll('#graph [role=treeitem]')].map(box => [
        ...['level', 'posinset', 'setsize'].map(name => Number(box.getAttribute(`aria-${name}`))),
        box.getAttribute('aria-expanded')])""")
    assert told[0] == [1, 1, 1, "true"]
    assert told[1][:3] == [2, 1, 2]
    # In the order of the page each frame is one level below its caller at most, and what is drawn below it is told.
    for (level, place, size, expanded), (below, *_) in pairwise(told):
        assert 1 <= place <= size
        assert (expanded == "true") == (below == level + 1)
    assert told[-1][3] is None, "a frame that calls nothing is not expanded"
    assert page.locator("#graph [tabindex='0']").count() == 1


def test_widths_are_the_arms_or_the_baselines(address: str, visits: Visits) -> None:
    page = open_flames(visits, address)
    button = page.get_by_role("button", name="Widths of the baseline")
    assert not frame(page, "shop/Legacy.trim").is_visible(), "this arm never calls it"
    total = width(page, TOTAL)
    button.click()
    assert button.get_attribute("aria-pressed") == "true"
    assert frame(page, "shop/Legacy.trim").is_visible()
    assert width(page, TOTAL) < total / 2
    frame(page, "shop/Legacy.trim").click()
    button.click()
    # What has no width any more is not what is shown: its nearest caller that has one is.
    shown = page.locator("#graph div:not(.caller)").first.get_attribute("aria-label")
    assert shown is not None
    assert shown.startswith("shop/SearchServlet.doGet: ")
    baseline = open_flames(visits, address, "pages-small")
    assert baseline.get_by_role("button").all_inner_texts() == ["Whole profile"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_a_phone_and_names_can_be_read(
    address: str, visits: Visits, scheme: str
) -> None:
    page = open_flames(visits, address, size=PHONE, scheme=scheme)
    frame(page, "shop/CartServlet.doGet").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    contrasts = page.evaluate("""() => {
        const parts = text => text.match(/[\\d.]+/g).map(Number);
        const light = ([r, g, b]) => [r, g, b].map(part => part / 255)
            .map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
        const page = getComputedStyle(document.body).backgroundColor;
        return [...document.querySelectorAll('#graph div')].map(box => {
            const style = getComputedStyle(box), back = parts(style.backgroundColor);
            const behind = back.length === 4 && back[3] === 0 ? parts(page) : back;
            const [a, b] = [light(parts(style.color)), light(behind)].sort((x, y) => y - x);
            return Number(style.opacity) === 1 ? (a + 0.05) / (b + 0.05) : 0;
        });
    }""")
    assert page.locator("#graph .caller").count() > 0
    # Of text: WCAG 2.2, 1.4.3.
    assert min(contrasts) >= 4.5
