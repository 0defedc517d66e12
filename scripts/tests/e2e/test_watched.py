# SPDX-License-Identifier: Apache-2.0
"""A real session as someone sees it who has `serve` open in a browser: from the list to what runs, its throughput
while it is measured, a trial that becomes void, and its end."""

import contextlib
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from browser.browsing import Visits, run_chromium, wait_on

from .driver import Running, command, environment, start

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: watched
title: A session that somebody watches
question: What does its page show?
workload: ping
factors:
  jvms: {levels: [1, 2]}
deployment: {total_heap: 256m, jvm: {jvm_args: ["-XX:TieredStopAtLevel=1"]}}
load: {users: 4, ramp: 500ms, warmup: {until: fixed, at_least: 1s}, measure: 20s, request_timeout: 2m}
design: {blocks: 2, repeats: 1}
"""
PLANNED = 4
"""Trials: two blocks of two arms."""
SHOWN = """() => ({
  line: document.querySelector(".plot .line")?.getAttribute("d"),
  progress: document.querySelector(".progress").innerText,
  running: document.querySelectorAll(".plan td.running").length,
  places: document.querySelectorAll(".plan td").length,
})"""


def start_pages(out: Path) -> tuple["subprocess.Popen[str]", str]:
    """`serve` on any port, and its address."""
    process = subprocess.Popen(
        command("serve", "--out", str(out), "--port", "0"),
        stdout=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert process.stdout is not None
    said = process.stdout.readline()
    address = re.search(r"http://\S+", said)
    assert address is not None, said
    return process, address[0]


def watch(session: Running, visits: Visits, address: str) -> None:
    directory = session.directory
    session.wait_until(lambda: "trial-start" in [entry.event for entry in directory.journal()], "a trial")
    page = visits.open(address)
    page.locator(".list").get_by_role("link", name=directory.path.name).or_(
        page.get_by_role("link", name="A session that somebody watches")
    ).first.click()
    wait_on(page, lambda: page.url.endswith("/live"), "the page of what runs")

    # Its throughput by the second, while it is measured. All is read at once: the page is made anew every other second.
    def looks_right() -> bool:
        shown = page.evaluate(SHOWN)
        return (
            bool(shown["line"])
            and re.search(r"[1-9][\d,.]*\s+req/s", shown["progress"]) is not None
            and "time left" in shown["progress"]
            and "measuring" in shown["progress"]
            and shown["running"] == 1
            and shown["places"] >= PLANNED  # repeats of void trials come to them
        )

    wait_on(page, looks_right, "throughput, time left and what runs")

    # A server dies while its page says that it is measured: the trial is void, and its reason stands there without
    # another visit. A trial that has ended meanwhile leaves nobody to kill: then it is the next one.
    def kill_one() -> bool:
        if "measuring" in page.evaluate(SHOWN)["progress"]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(session.running_pids("server")[0], signal.SIGKILL)
        return "server-1 ended" in page.inner_text("main")

    wait_on(page, kill_one, "a void trial with its reason")
    assert "server-1 ended" in page.inner_text(".voids-list")
    ended = len(directory.trials())
    wait_on(page, lambda: int(page.inner_text(".big dd").split()[0]) >= ended, "its end among the trials")

    session.interrupt()
    wait_on(page, lambda: "Not running" in page.inner_text("main"), "the end")
    assert "./steelyard resume" in page.inner_text("main")


def test_a_session_is_watched_from_its_first_trial_to_its_end(experiment: Path, out: Path) -> None:
    pages, address = start_pages(out)
    try:
        with run_chromium() as browser:
            visits = Visits(browser)
            watch(start(experiment, out), visits, address)
            visits.close()
            visits.check()
    finally:
        pages.terminate()
        pages.wait()
