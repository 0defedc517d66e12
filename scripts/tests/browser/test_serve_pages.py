# SPDX-License-Identifier: Apache-2.0
"""The pages of all sessions as a person meets them: by keyboard, in the dark, on a phone."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import sample
from fake_site import serving
from kept_sessions import HOSTILE, write_copies, write_ended, write_history, write_running

from steelyard.host.lock import running_session
from steelyard.results.store import SessionDirectory, write_record
from steelyard.serve import index as index_module
from steelyard.serve.index import Index, SessionRow
from steelyard.serve.server import Server
from steelyard.serve.site import Site

from .browsing import PHONE, SCREEN, Visits, wait_on

pytestmark = pytest.mark.full
RUNNING = "/sessions/jvm-count-400/live"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    results = tmp_path / "results"
    small = replace(sample.two_arm_plan(), blocks=2)
    for number in (0, 1):
        write_ended(results, number, plan=replace(small, seed=number))
    write_ended(results, 2, plan=replace(small, name="other", title=HOSTILE), report=False)
    running = write_running(results, 3, time.time()).path
    write_history(tmp_path / "history")
    with running_session(running), serving(Server(Site(results, tmp_path / "history"), 0)) as made:
        yield made


def end_trial_void(results: Path) -> None:
    """What the running session's next trial comes to: void."""
    target = SessionDirectory(results / "jvm-count-400")
    entry = target.journal()[-1]
    place = {"block": entry.block, "arm": entry.arm, "attempt": entry.attempt}
    trial = next(trial for trial in target.trials() if trial.state == "valid")
    failed = trial.checks[0].model_copy(
        update={"passed": False, "voids": True, "applies": True, "detail": "a neighbour took the CPU"}
    )
    void = trial.model_copy(update={**place, "state": "void", "order": 3, "checks": [failed]})
    path = target.trial_path(**place) / "trial.json"  # type: ignore[arg-type]
    target.log(time.time(), "trial-end", state="void", digest=write_record(path, void), **place)


def test_a_person_finds_compares_reads_and_follows_sessions(server: Server, visits: Visits) -> None:
    page = visits.open(server.address)
    assert page.locator(".list tbody tr").count() == 4
    assert HOSTILE.split("\x1b")[0] in page.inner_text(".list")

    # By keyboard alone: to the search, two sessions chosen, compared.
    page.keyboard.press("/")
    page.keyboard.type("pages")
    page.keyboard.press("Enter")
    wait_on(
        page, lambda: "text=pages" in page.url and page.locator(".list tbody tr").count() == 2, "two rows"
    )
    boxes = page.locator(".list input")
    for number in (0, 1):
        boxes.nth(number).focus()
        page.keyboard.press("Space")
    page.get_by_role("button", name="Compare two sessions").focus()
    page.keyboard.press("Enter")
    wait_on(
        page, lambda: "/compare" in page.url and "Effects side by side" in page.content(), "the comparison"
    )

    # The report, its scripts and charts included, and back.
    page.get_by_role("link", name="pages-000").click()
    wait_on(page, lambda: page.url.endswith("report.html") and page.locator("svg").count() > 0, "the report")
    page.get_by_role("link", name="All sessions").click()
    wait_on(page, lambda: page.locator(".list tbody tr").count() == 4, "the list")
    page.get_by_role("link", name="History").click()
    wait_on(page, lambda: "is worse from gate-018 on" in page.content(), "the history")


def test_a_running_session_is_followed_until_it_ends(server: Server, visits: Visits) -> None:
    page = visits.open(server.address.rstrip("/") + RUNNING, size=PHONE, scheme="dark")
    assert "3 of 30" in page.inner_text(".big")
    assert page.locator(".plot .line").get_attribute("d")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert sum(int(part) for part in background.strip("rgb()").split(",")) < 3 * 64
    end_trial_void(server.site.index.folder)
    wait_on(page, lambda: "a neighbour took the CPU" in page.inner_text("main"), "the void trial")
    assert "4 of " in page.inner_text(".big")
    target = SessionDirectory(server.site.index.folder / "jvm-count-400")
    target.log(time.time(), "interrupted", detail="Ctrl-C, or a signal to end")
    wait_on(page, lambda: "Not running" in page.inner_text("main"), "the end")
    assert "./steelyard resume" in page.inner_text("main")
    for address in ("", "history", "compare?session=pages-000&session=pages-001"):
        page.goto(server.address + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0], address


def test_two_hundred_sessions_are_listed_without_reading_one_again(
    tmp_path: Path, visits: Visits, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, folder = tmp_path / "kept.json", write_copies(tmp_path / "results", 200)
    Index(folder, kept).rows()

    def read_row(path: Path) -> SessionRow:
        raise AssertionError(f"{path} is read again")

    monkeypatch.setattr(index_module, "read_row", read_row)
    with serving(Server(Site(folder, kept=kept), 0)) as server:
        for size in (SCREEN, PHONE):
            page = visits.open(server.address, size=size)
            assert page.locator(".list tbody tr").count() == 200
            assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
        visits.close()
