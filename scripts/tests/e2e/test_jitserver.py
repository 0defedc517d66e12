# SPDX-License-Identifier: Apache-2.0
"""A real JITServer beside the real ping server: it compiles, its own figures are kept, and servers outlive it."""

from pathlib import Path

import pytest

from steelyard.results.schema import Trial

from .driver import openj9, start

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny
title: A JITServer that lives, at a distance, and one that is killed
question: Do its servers compile in it, and go on without it?
workload: ping
procedure: ramp-up
factors:
  jit:
    levels:
      lives: {jit: remote, jitserver.delay: 1ms}
      killed: {jit: remote, jitserver.killed_after: 4s}
deployment: {total_heap: 128m, jvm: {gc: generational}}
load: {users: 4, measure: 10s, request_timeout: 2m}
metrics: {primary: requests_lost}
design: {blocks: 6, repeats: 0}
"""


def came_up(trial: Trial) -> bool:
    """Whether a busy machine came so far within the measurement that requests were answered after the kill."""
    return sum(trial.curves.get("throughput", [])[6:]) > 0


def test_servers_compile_in_a_jitserver_and_outlive_it(tmp_path: Path, out: Path) -> None:
    jdk = openj9(jitserver=True)
    path = tmp_path / "tiny.yaml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    session = start(path, out, "--jdk", str(jdk))
    trials = {trial.arm: trial for trial in session.wait_for_undisturbed(2, came_up)}
    assert session.interrupt() == 130
    for trial in trials.values():
        components = {one.name: one for one in trial.components}
        assert components["server-1"].compiled["remote"] > 0
        assert (components["jitserver"].value("cpu_seconds") or 0) > 0
        assert len(trial.curves["cpu_compiler"]) == len(trial.curves["throughput"]) == 10
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
    lives, killed = trials["jit-lives"], trials["jit-killed"]
    told = next(one.told for one in lives.components if one.name == "jitserver")
    assert told["jitserver_connected_clients"] == pytest.approx(1, abs=0.5)
    assert lives.metrics["relay_delay"] >= 0.99
    assert sum(killed.curves["cpu_compiler"][6:]) == 0
