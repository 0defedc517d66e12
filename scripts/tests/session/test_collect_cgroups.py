# SPDX-License-Identifier: Apache-2.0
"""What the servers' containers were charged, from the samples to the figures of a trial."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from steelyard.analysis.ledger import is_void, judge
from steelyard.experiment.matrix import Arm
from steelyard.load.histograms import Recorded
from steelyard.results.schema import InstanceResult, Latency, TopologyRecord, TrialMeasurement
from steelyard.sampling.output import COLUMNS
from steelyard.sampling.read import Samples
from steelyard.session.collect import Evidence, instance_results, measure, metrics

T = 1_700_000_000.0
SECONDS = 10
RATE = 100
OVERALL = Latency(requests=1, errors=0, mean=1, p50=1, p90=1, p99=None, p999=None, max=1)
CGROUP_METRICS = {"cgroup_cpu_per_1k", "cgroup_memory", "cgroup_memory_peak", "throttled_share"}


def group_rows(
    name: str, throttled: float = 0.0, periods: int = 0, peak: str = "2000", kills: int = 0
) -> list[str]:
    """0.5 CPU seconds a second, 1000 bytes; per second so much throttled, so often, in half of the periods."""
    return [
        f"{T + s},{name},{0.5 * s},{throttled * s},{2 * periods * s},{periods * s},1000,800,{peak},{kills}"
        for s in range(SECONDS + 1)
    ]


def evidence(folder: Path, *groups: list[str], throttled: float | None = 0.0) -> Evidence:
    """Two servers with 100 requests/s each, and these rows of cgroups.csv."""
    counters = [
        f"{T + s},{name},ping,{RATE * s},0,{0.001 * s}"
        for name in ("server-1", "server-2")
        for s in range(SECONDS + 1)
    ]
    host = [f"{T + s},{s},0,0,{s},0" for s in range(SECONDS + 1)]
    for name, rows in (
        ("counters", counters),
        ("host", host),
        ("cgroups", [row for group in groups for row in group]),
    ):
        (folder / f"{name}.csv").write_text("\n".join([COLUMNS[name], *rows]) + "\n", encoding="utf-8")
    servers = [
        SimpleNamespace(name=name, start_seconds=3.0, ready_message_seconds=None, info={"build": "b"})
        for name in ("server-1", "server-2")
    ]
    load = SimpleNamespace(rate=None, mix=None, visits_per_login=None)
    return Evidence(
        arm=cast("Arm", SimpleNamespace(load=load)),
        workload="ping",
        topology=TopologyRecord(
            engine="compose",
            topology="single",
            instances=[],
            injector_cpus=[1],
            injectors=1,
            injectors_share_cores=False,
            server_cores=1,
            notes=[],
        ),
        servers=cast("Any", servers),
        backing=[],
        samples=Samples.load(folder),
        gc_logs={},
        injector_folders=[folder],
        start=T,
        end=T + SECONDS,
        ramp_end=T,
        expected_build="b",
        restarts=[],
        injector_failures=[],
        throttled=throttled,
        steady=True,
        steady_detail="",
    )


def figures(found: Evidence) -> tuple[list[InstanceResult], TrialMeasurement, dict[str, float]]:
    instances = instance_results(found)
    measured = measure(found, Recorded({}, {}), instances)
    return instances, measured, metrics(found, measured, instances, OVERALL)


def voided_by_throttling(measured: TrialMeasurement) -> bool:
    return is_void(check for check in judge(measured) if check.name == "throttling")


def test_containers_are_summed(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", peak="2500"))
    instances, measured, summary = figures(found)
    assert [instance.cgroup.cpu_seconds for instance in instances if instance.cgroup] == [5.0, 5.0]
    assert summary["cgroup_cpu_per_1k"] == pytest.approx(10.0 / 2.0)
    assert summary["cgroup_memory"] == 2000
    assert summary["cgroup_memory_peak"] == 4500
    assert summary["throttled_share"] == 0
    assert measured.throttled_seconds == 0
    assert not voided_by_throttling(measured)


def test_throttling_of_one_container_voids(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", throttled=0.02, periods=5))
    _, measured, summary = figures(found)
    assert measured.throttled_seconds == pytest.approx(0.2)
    assert summary["throttled_share"] == pytest.approx(0.5)
    assert voided_by_throttling(measured)


def test_what_one_container_does_not_tell_is_left_out(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", peak=""))
    assert set(figures(found)[2]) & CGROUP_METRICS == CGROUP_METRICS - {"cgroup_memory_peak"}


def test_throttling_that_one_container_does_not_tell_is_not_known(tmp_path: Path) -> None:
    silent = [f"{T + s},server-2,{0.5 * s},,,,,,," for s in range(SECONDS + 1)]
    _, measured, summary = figures(evidence(tmp_path, group_rows("server-1"), silent))
    assert measured.throttled_seconds is None
    assert set(summary) & CGROUP_METRICS == {"cgroup_cpu_per_1k"}


@pytest.mark.parametrize("throttled", [None, 0.0, 1.5])
def test_without_containers_it_is_the_harness_own_group(tmp_path: Path, throttled: float | None) -> None:
    instances, measured, summary = figures(evidence(tmp_path, throttled=throttled))
    assert [instance.cgroup for instance in instances] == [None, None]
    assert measured.throttled_seconds == throttled
    assert not set(summary) & CGROUP_METRICS


def test_one_server_without_a_container_leaves_no_sum(tmp_path: Path) -> None:
    assert not set(figures(evidence(tmp_path, group_rows("server-1")))[2]) & CGROUP_METRICS


def test_a_process_killed_for_memory_counts_as_a_restart(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", kills=1))
    _, measured, _ = figures(found)
    assert measured.restarts == [
        "the kernel killed a process in the container of server-2 for want of memory"
    ]
