# SPDX-License-Identifier: Apache-2.0
"""Time of the kernel on the servers' CPUs, programs that forward packets, and compilers that wait, of what a sampler
wrote."""

from pathlib import Path

import pytest
from builders import make_measurement, make_trial
from test_record import evidence, figures, planned

from steelyard.measure.ledger import judge
from steelyard.measure.network import network_of
from steelyard.measure.series import Series
from steelyard.measure.window import Window
from steelyard.results.schema import Check


def check(found: Window, name: str) -> Check:
    (judged,) = [one for one in judge(figures(found)[1], found.spec) if one.name == name]
    return judged


def test_time_of_the_kernel_is_that_of_the_servers_cpus(tmp_path: Path) -> None:
    """0.2 of each CPU is in the kernel; soft interrupts take 0.1 of the first two alone, of which servers have both."""
    found = evidence(tmp_path)
    servers = found.spec.server_cpus
    assert {0, 1} <= servers
    measured = figures(found)[1]
    busy = 0.5 + 0.2 + 0.3
    assert measured.value("kernel_share") == pytest.approx(0.2 / busy)
    assert measured.value("softirq_share") == pytest.approx(0.1 * 2 / (busy * len(servers)))


@pytest.mark.parametrize("left_out", ["cpus", "cpus:1"])
def test_a_cpu_that_was_not_read_makes_it_unknown(tmp_path: Path, left_out: str) -> None:
    measured = figures(evidence(tmp_path, left_out=(left_out,)))[1]
    assert measured.value("kernel_share") is None
    assert "not read at both ends" in measured.unknown["softirq_share"]


def test_a_reading_long_before_the_window_is_none_of_where_it_begins(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    for key, series in found.samples.cpus.items():
        found.samples.cpus[key] = Series(series.t - [3, 0], series.v)
    assert "not read at both ends" in figures(found)[1].unknown["kernel_share"]


def test_cpus_of_other_machines_are_unknown_with_the_reason(tmp_path: Path) -> None:
    found = evidence(tmp_path, spec=planned(remote=True))
    assert "other machines" in figures(found)[1].unknown["kernel_share"]
    assert not check(found, "forwarder").applies


def test_a_program_that_forwards_and_takes_most_of_a_cpu_is_named(tmp_path: Path) -> None:
    busy = check(evidence(tmp_path, forwarded=0.97), "forwarder")
    assert busy.has_failed
    assert not busy.voids
    assert "pasta.avx2 (process 4711) used 97 % of a CPU" in busy.detail


def test_one_that_idles_and_none_at_all_pass(tmp_path: Path) -> None:
    assert check(evidence(tmp_path, forwarded=0.5), "forwarder").passed
    assert check(evidence(tmp_path, left_out=("forwarders",)), "forwarder").passed


def test_whether_one_ran_is_not_known_where_nobody_looked(tmp_path: Path) -> None:
    unread = check(evidence(tmp_path, left_out=("forwarders", "cpus")), "forwarder")
    assert unread.has_failed
    assert unread.value is None


def test_compilers_that_wait_for_a_cpu_are_not_warm(tmp_path: Path) -> None:
    """They run 0.05 s a second in each server and wait for 0.2 s: 80 % of the time that they had work."""
    starved = check(evidence(tmp_path, waits=0.2), "jit-wait")
    assert starved.has_failed
    assert not starved.voids
    assert starved.value == pytest.approx(0.8)
    assert "80 % of the time that they had work: not warm." in starved.detail


def test_compilers_that_hardly_work_may_wait(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    for demand, applies in ((0.0175, False), (0.021, True)):
        measured = make_measurement(compiler_wait=0.3, compiler_demand=demand)
        (calm,) = [one for one in judge(measured, found.spec) if one.name == "jit-wait"]
        assert calm.has_failed == calm.applies == applies
        assert ("asked for at most 2 % of the servers' CPU budget" in calm.detail) != applies


def test_a_kernel_that_does_not_tell_of_waits_leaves_it_unknown(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    del found.samples.threads["server-2", "jit", "wait_s"]
    untold = check(found, "jit-wait")
    assert untold.has_failed
    assert untold.value is None
    assert "schedstat" in figures(found)[1].unknown["compiler_wait"]


def test_the_network_path_is_that_of_all_trials_that_tell() -> None:
    trials = [
        make_trial(measurement=make_measurement(network_path=path)) for path in ("", "host", "bridge", "host")
    ]
    assert network_of(trials) == "bridge, host"
    assert network_of(trials[:1]) == ""
