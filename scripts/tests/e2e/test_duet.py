# SPDX-License-Identifier: Apache-2.0
"""Two arms at once on real servers."""

import os
import re
from pathlib import Path

import pytest

from steelyard.errors import MissingRequirement
from steelyard.host.perf import event_of
from steelyard.measure.counted import BY_NAME
from steelyard.measure.registry import BY_CLOCK
from steelyard.results.store import SessionDirectory
from steelyard.session.counting import counts_path

from .driver import DONE, EXPERIMENT, Running, processes_that_mention, start
from .noise import is_undisturbed, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]
ARMS = {"nursery-6m", "nursery-8m"}


def write_experiment(folder: Path, duet: str) -> Path:
    text = EXPERIMENT.replace("jvms: {levels: [1, 2]}", "nursery: {levels: [6m, 8m]}")
    text = text.replace(" nursery: 8m,", "").replace("repeats: 1}", f"repeats: 1, duet: {duet}}}")
    experiment = folder / "duet.yaml"
    experiment.write_text(text, encoding="utf-8")
    return experiment


def test_two_arms_run_in_turns_on_all_cores(tmp_path: Path, out: Path) -> None:
    session = start(write_experiment(tmp_path, "in-turns"), out)
    directory = session.directory
    session.wait_for_phase("measure", 0.0)
    assert session.interrupt() == 130
    assert not processes_that_mention(str(out)), "what was frozen has ended as well"

    session = Running("resume", str(directory.path), out=out)
    assert session.end() in DONE, session.errors.read_text(encoding="utf-8")
    measured = [one for one in directory.trials() if one.measurement is not None]
    assert {one.arm for one in measured} == ARMS
    reasons = void_for_other_reasons_than_noise(measured)
    assert [reason for reason in reasons if " partner: " not in reason] == []
    for one in measured:
        assert one.metrics["cpu_per_1k"] > 0
        assert one.metrics["throughput"] > 0
        assert not one.latency
        assert not BY_CLOCK & one.metrics.keys()
    cpus = [arm.spec.server_cpus for arm in directory.session().arms]
    assert cpus[0] == cpus[1]
    assert not processes_that_mention(str(out))


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a duet needs two cores")
def test_two_arms_run_at_once_and_one_that_dies_takes_the_other_with_it(tmp_path: Path, out: Path) -> None:
    experiment = write_experiment(tmp_path, "true")
    # perf beside both sides, where it can count what the kernel does.
    counted = ["--counters", "counted_switches"] if _is_counted("task-clock") else []
    session = start(experiment, out, *counted)
    directory = session.directory
    killed = session.kill_in_a_trial("server", at_once=2)
    assert {one.arm for one in killed} == ARMS
    for one in killed:
        assert one.state == "void"
        assert re.match(r"nursery-[68]m/server-1 ended ", str(one.failure or ""))
    # The dead one by itself, the other for what ran beside it.
    assert [
        sorted(check.name for check in one.checks if check.has_failed) for one in killed if one.checks
    ] in (
        [["restarts"], ["partner"]],
        [["partner"], ["restarts"]],
    )
    session.wait_for_phase("warmup", killed[0].started + 1.0)
    assert session.interrupt() == 130
    assert not processes_that_mention(str(out))

    session = Running("resume", str(directory.path), out=out)
    assert session.end() in DONE, session.errors.read_text(encoding="utf-8")
    assert_run_at_once(directory, killed[0].block)
    if counted:
        assert_each_side_is_counted(directory)
    assert not processes_that_mention(str(out))


def _is_counted(event: str) -> bool:
    try:
        return event_of(BY_NAME["counted_cpu"]) == event
    except MissingRequirement:
        return False


def assert_each_side_is_counted(directory: SessionDirectory) -> None:
    """Its own server's switches, or why they are not known, as on a machine that stood still."""
    for one in directory.trials():
        if one.measurement is not None:
            folder = directory.trial_path(one.block, one.arm, one.attempt)
            assert counts_path(folder, "server-1").exists()
            (server,) = (found for found in one.components if found.role == "server")
            assert server.value("counted_switches") or "counted_switches" in server.unknown


def assert_run_at_once(directory: SessionDirectory, lost: int) -> None:
    """Both arms of each block, in one window, each on its half of the cores and with its own figures."""
    trials = directory.trials()
    pairs: dict[tuple[int, int], set[str]] = {}
    halves: dict[str, set[str]] = {}
    for one in trials:
        pairs.setdefault((one.block, one.attempt), set()).add(one.arm)
        folder = directory.trial_path(one.block, one.arm, one.attempt)
        deployed = (folder / "replay" / "deployment.sh").read_text(encoding="utf-8")
        if one.attempt == 0:
            halves.setdefault(one.arm, set()).update(re.findall(r"taskset -c (\S+)", deployed))
    assert all(arms == ARMS for arms in pairs.values())
    assert {(1, 0), (2, 0)} <= pairs.keys()
    assert (lost, 1) in pairs, "the killed pair is repeated"
    assert all(len(cpus) == 2 for cpus in halves.values()), "each arm had either half"
    measured = [one for one in trials if one.measurement is not None]
    assert len(measured) >= 4
    reasons = void_for_other_reasons_than_noise(measured)
    assert [reason for reason in reasons if " partner: " not in reason] == []
    for one in measured:
        if is_undisturbed(one):
            assert one.measurement is not None
            assert one.measurement.value("server_requests") == one.measurement.injector_requests > 0
        assert {found.name for found in one.components} == {"server-1", "injector-1"}
        (other,) = (
            two for two in measured if (two.block, two.attempt) == (one.block, one.attempt) and two != one
        )
        assert one.phases["measure"] == other.phases["measure"]
        assert one.state == other.state
