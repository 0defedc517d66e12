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

from steelyard.analysis.profiles import ProfileData, read_stacks
from steelyard.errors import BadInput
from steelyard.report import write_report
from steelyard.report.flame import flame_page
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


def rows_of(page: Path | str, name: str = "nodes") -> list[Any]:  # of JSON
    text = page if isinstance(page, str) else page.read_text(encoding="utf-8")
    script = re.search(rf"const {name} = (.*);", text)
    assert script is not None
    rows: list[Any] = json.loads(script[1])
    return rows


def test_a_report_links_flame_graphs_and_has_what_changed(directory: SessionDirectory) -> None:
    folders = [add_profile(directory, BASELINE, change=-0.02), add_profile(directory, OTHER, change=-0.2)]
    write_report(directory)
    page = (directory.path / "report.html").read_text(encoding="utf-8")
    assert f'href="profiles/{OTHER}/cpu/flame.html"' in page
    assert "Cart.total" in page
    assert "Sampling profiles from further trials after the last block, in no average." in page
    assert page.replace("\N{NO-BREAK SPACE}", " ").count("</a> (1 trial)") == 2
    # Two servers, 200 requests in a slice: 40 ms per 1,000 of the baseline, 90 of the other.
    assert re.search(r"<td[^>]*>\s*40\s*</td>\s*<td[^>]*>\s*90\s*</td>", page)
    assert page.count("the profiler slowed it") == 1
    assert "From 1 profiled trial, in no average." in (folders[0] / "flame.html").read_text(encoding="utf-8")
    assert rows_of(folders[0] / "flame.html")[0][1:3] == [pytest.approx(40, abs=0.1), 0.0]
    assert rows_of(folders[1] / "flame.html")[0][1:3] == [90.0, pytest.approx(40, abs=0.1)]


def test_no_name_of_a_frame_ends_the_script_of_the_page(directory: SessionDirectory) -> None:
    folder = add_profile(directory, BASELINE)
    (folder / "server-1" / "cpu-0.collapsed").write_text("a;</script><b>_[j] 9000000\n", encoding="utf-8")
    write_report(directory)
    text = (folder / "flame.html").read_text(encoding="utf-8")
    assert text.count("</script>") == 1
    assert "a" in [row[0] for row in rows_of(folder / "flame.html")]


def page_of_stacks(stacks: str) -> str:
    """The page of one slice."""
    return flame_page("arm", ProfileData("cpu", [read_stacks(stacks)], [1000.0]), None, "title", 1)


def test_what_many_callers_share_is_not_lost() -> None:
    """A method below 2,000 callers, each less than a frame that is shown: half of the profile."""
    callers = [f"run;Caller.c{number}_[j];Util.hot_[j];Util.inner_[j] 1000" for number in range(2000)]
    page = page_of_stacks("\n".join([*callers, "run;Other.own_[j] 2000000"]))
    nodes, narrow = rows_of(page), {row[0]: row[1:] for row in rows_of(page, "narrow")}
    whole = nodes[0][1]
    together = next(row for row in nodes if row[0] == "2,000 narrow frames")
    assert together[1] == pytest.approx(whole / 2)
    assert nodes[together[4]][0] == "run"
    assert narrow["Util.hot"] == narrow["Util.inner"] == pytest.approx([whole / 2, 0, whole / 2, 0])
    assert "Other.own" not in narrow
    assert "Frames below 0.1 % of the whole" in page


def test_a_name_that_has_a_row_in_a_stack_is_not_hidden_there() -> None:
    page = page_of_stacks("Util.hot_[j];a 1000000\nb;Util.hot_[j] 100\nUtil.hot_[j];b;Util.hot_[j] 100\n")
    whole = rows_of(page)[0][1]
    hot = next(row for row in rows_of(page, "narrow") if row[0] == "Util.hot")
    assert hot[1:] == pytest.approx([whole, 0, whole * 100 / 1000200, 0], rel=1e-4)


def test_a_deep_stack_has_its_page() -> None:
    """Deeper than Python's own stack may be."""
    stack = ";".join(f"Deep.f{depth}_[j]" for depth in range(3000))
    nodes = rows_of(page_of_stacks(f"{stack} 1000000"))
    assert len(nodes) == 3001
    assert {row[1] for row in nodes} == {nodes[0][1]}
    assert [row[4] for row in nodes] == list(range(-1, 3000))


def test_colours_are_printed() -> None:
    printed = page_of_stacks("a 1").partition("@media print")[2].partition("</style>")[0]
    assert re.search(
        r"#graph div \{[^}]*-webkit-print-color-adjust: exact; print-color-adjust: exact", printed
    )


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
    assert rows_of(directory.path / "profiles" / OTHER / "cpu" / "flame.html")[0][1] == 54.0
