# SPDX-License-Identifier: Apache-2.0
"""Sampled profiles in a report: flame graphs beside the slices, and what changed most."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from sample import study_plan, write

from steelyard.errors import BadInput
from steelyard.report import write_report
from steelyard.report.sampled import read_profiles
from steelyard.results.profile import RECORD, Profile
from steelyard.results.schema import Event
from steelyard.results.store import SessionDirectory, write_record

BASELINE, OTHER = "jvms-1", "jvms-2"
STACKS = {
    BASELINE: "java/lang/Thread.run_[0];shop/Cart.total_[j] 4000000\njava/lang/Thread.run_[0] 9\n",
    OTHER: "java/lang/Thread.run_[0];shop/Cart.total_[j] 9000000\n",
}


def add_profile(
    directory: SessionDirectory,
    arm: str,
    rate: float | None = 100.0,
    change: float | None = None,
    start: int = 1,
    event: Event = "cpu",
    stacks: str | None = None,
    slices: Sequence[int] = (3, 3),
    **more: Any,
) -> Path:
    """A profile of two servers, of so many slices each."""
    folder = directory.path / "profiles" / arm / (event if start == 1 else f"{event}-{start}")
    names = {
        server: [f"{event}-{number}.collapsed" for number in range(each)]
        for server, each in zip(("server-1", "server-2"), slices, strict=True)
    }
    for server, own in names.items():
        (folder / server).mkdir(parents=True)
        for name in own:
            text = STACKS[arm] if stacks is None else stacks
            (folder / server / name).write_text(text, encoding="utf-8")
    record = Profile(
        arm=arm,
        event=event,
        start=start,
        slice_seconds=2.0,
        slices=names,
        request_rate=rate,
        throughput_change=change,
        **more,
    )
    write_record(folder / RECORD, record)
    return folder


@pytest.fixture
def directory(tmp_path: Path) -> SessionDirectory:
    return write(tmp_path / "session", study_plan())


def tree_of(page: Path) -> list[Any]:  # of JSON
    found = re.search(r"const tree = (.*?), unit = ", page.read_text(encoding="utf-8"))
    assert found is not None
    tree: list[Any] = json.loads(found[1])
    return tree


def test_a_report_links_flame_graphs_and_has_what_changed(directory: SessionDirectory) -> None:
    folders = [add_profile(directory, BASELINE, change=-0.02), add_profile(directory, OTHER, change=-0.2)]
    write_report(directory)
    page = (directory.path / "report.html").read_text(encoding="utf-8")
    assert f'href="profiles/{OTHER}/cpu/flame.html"' in page
    assert "Cart.total" in page
    # Two servers, 200 requests in a slice: 40 ms per 1,000 of the baseline, 90 of the other.
    assert re.search(r"<td[^>]*>\s*40\s*</td>\s*<td[^>]*>\s*90\s*</td>", page)
    assert page.count("the profiler slowed it") == 1
    assert "From 1 profiled trial, in no average." in (folders[0] / "flame.html").read_text(encoding="utf-8")
    assert tree_of(folders[0] / "flame.html")[1:3] == [pytest.approx(40, abs=0.1), 0.0]
    assert tree_of(folders[1] / "flame.html")[1:3] == [90.0, pytest.approx(40, abs=0.1)]


def test_no_name_of_a_frame_ends_the_script_of_the_page(directory: SessionDirectory) -> None:
    folder = add_profile(directory, BASELINE)
    (folder / "server-1" / "cpu-0.collapsed").write_text("a;</script><b>_[j] 9000000\n", encoding="utf-8")
    write_report(directory)
    text = (folder / "flame.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 1
    names = [child[0] for child in tree_of(folder / "flame.html")[4]]
    assert "a" in names


def test_a_profile_without_requests_compares_nothing(directory: SessionDirectory) -> None:
    add_profile(directory, BASELINE, rate=None)
    assert read_profiles(directory.path) == []
    write_report(directory)
    assert "Where it goes" not in (directory.path / "report.html").read_text(encoding="utf-8")


def test_a_slice_that_is_gone_is_told(directory: SessionDirectory) -> None:
    folder = add_profile(directory, BASELINE)
    shutil.rmtree(folder / "server-2")
    with pytest.raises(BadInput, match="holds no slices"):
        write_report(directory)


def test_methods_are_named_over_starts(directory: SessionDirectory) -> None:
    for arm, starts in ((OTHER, 5), (BASELINE, 4)):
        for start in range(1, starts + 1):
            folder = add_profile(directory, arm, rate=100.0 + start, start=start)
    write_report(directory)
    page = (directory.path / "report.html").read_text(encoding="utf-8")
    # The test is one of means, over all starts of either arm.
    assert re.search(
        r"Different on average over starts \(4 and 5.starts; 5.% chance[^)]*\): Cart.total \(", page
    )
    # One flame graph for all starts, beside the slices of the first.
    flames = (directory.path / "profiles" / OTHER / "cpu" / "flame.html").read_text(encoding="utf-8")
    assert "From 5 profiled trials, in no average." in flames
    assert not (folder / "flame.html").exists()


def test_of_one_start_no_method_is_named(directory: SessionDirectory) -> None:
    add_profile(directory, BASELINE)
    add_profile(directory, OTHER)
    write_report(directory)
    page = (directory.path / "report.html").read_text(encoding="utf-8")
    assert re.search("is not known: 1 and 1.start of the two arms", page)
    assert "--profile-starts" in page


def page_of(directory: SessionDirectory) -> str:
    write_report(directory)
    return (directory.path / "report.html").read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


def test_a_profile_of_locks_for_which_no_thread_waited_says_so(directory: SessionDirectory) -> None:
    for arm in (BASELINE, OTHER):
        for start in range(1, 5):
            add_profile(directory, arm, start=start, event="lock", stacks="")
    page = page_of(directory)
    assert "Nothing was sampled in either arm: there is nothing to compare." in page
    assert page.count("nothing was sampled in 12 slices of 4 starts.") == 2


def test_of_locks_it_is_told_that_the_number_of_waits_is_not_known(directory: SessionDirectory) -> None:
    for arm in (BASELINE, OTHER):
        add_profile(directory, arm, event="lock")
    assert page_of(directory).count("it is known how long threads waited, and not how often; other") == 2


@pytest.mark.parametrize("slices", [(0, 0), (3, 0)])
def test_a_start_without_slices_of_every_server_is_left_out(
    directory: SessionDirectory, slices: tuple[int, int]
) -> None:
    """As versions before wrote it."""
    add_profile(directory, BASELINE)
    add_profile(directory, OTHER, slices=slices)
    page = page_of(directory)
    assert "1 profiled start without slices of every server, left out." in page
    assert f"profiles/{OTHER}/cpu/flame.html" not in page
    add_profile(directory, OTHER, start=2)
    assert f'href="profiles/{OTHER}/cpu-2/flame.html"' in page_of(directory)


@pytest.mark.parametrize(
    ("throughput", "cpu", "warned"),
    [(0.0, 0.3, True), (-0.2, 0.02, True), (-0.02, 0.05, False), (None, 0.3, True), (0.0, None, False)],
)
def test_a_profiler_that_takes_a_servers_cpu_is_told_where_the_load_sets_throughput(
    directory: SessionDirectory, throughput: float | None, cpu: float | None, warned: bool
) -> None:
    add_profile(directory, BASELINE, change=throughput, cpu_change=cpu, failed_checks=["other-load"])
    add_profile(directory, OTHER)
    page = page_of(directory)
    assert ("the profiler slowed it" in page) == warned
    assert ("highest CPU per request" in page) == (cpu is not None)
    assert page.count("It failed checks that void a trial: other-load.") == 1
    assert page.count("What the profiler cost is not known") == 1


def test_a_start_is_compared_by_the_start(directory: SessionDirectory) -> None:
    """Two servers, three slices each: 24 ms of the baseline's start, 54 of the other's, whatever was requested."""
    for arm in (BASELINE, OTHER):
        add_profile(directory, arm, rate=None, per="start", slices=(3, 3), cpu_change=0.2)
    page = page_of(directory)
    assert "in ms per start; no interval, for which it takes 4 starts of each arm" in page
    assert re.search(r"<td[^>]*>\s*24\s*</td>\s*<td[^>]*>\s*54\s*</td>", page)
    assert "highest CPU of a start +20 % (the profiler slowed it" in page
    flame = (directory.path / "profiles" / OTHER / "cpu" / "flame.html").read_text(encoding="utf-8")
    assert "ms per start" in flame
    assert "1,000 requests" not in flame
    assert tree_of(directory.path / "profiles" / OTHER / "cpu" / "flame.html")[1] == 54.0
