# SPDX-License-Identifier: Apache-2.0
"""A small session on real DayTrader7 servers: one JVM with its database by beans, two that share one by JDBC; data
loaded once for each, both front ends, the check after the load."""

from pathlib import Path

import pytest

from .driver import DONE, processes_that_mention, start, void_for_other_reasons_than_noise

pytestmark = pytest.mark.e2e

EXPERIMENT = """\
steelyard: 1
name: tiny-daytrader
title: A small session on DayTrader7
question: Does the harness work with a workload that keeps its data in a folder?
workload: daytrader7
factors:
  by:
    levels:
      beans: {daytrader7.mode: ejb, daytrader7.orders: sync}
      jdbc: {topology: shared, jvms: 2, daytrader7.mode: direct, daytrader7.orders: 2-phase}
settings: {daytrader7.users: 100, daytrader7.quotes: 100, daytrader7.long_run: "false", daytrader7.faces_sessions: 45}
deployment:
  total_heap: 512m
  jvm: {gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}
load:
  users: 6
  ramp: 500ms
  warmup: {until: fixed, at_least: 3s}
  measure: 8s
design: {blocks: 2, repeats: 0}
"""


def test_a_session_by_beans_in_one_jvm_and_by_jdbc_in_two(experiment: Path, out: Path) -> None:
    session = start(experiment, out)
    trials = session.wait_for_trials(2)
    session.interrupt()
    directory = session.directory
    assert session.process.returncode in (*DONE, 130, -2)
    assert {trial.arm for trial in trials} == {"by-beans", "by-jdbc"}
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        served = [one.requests for one in trial.components if one.role == "server"]
        assert len(served) == (2 if trial.arm == "by-jdbc" else 1)
        assert all(served), "every JVM had its part"
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
        assert set(trial.measurement.mix_achieved) >= {"login", "quotes", "market-summary", "faces-quotes"}
        # None is not consistent, and the check has been made.
        assert next(one for one in trial.checks if one.name == "consistency").passed
    assert [entry.event for entry in directory.journal()].count("load") == 2, "one for each topology"
    assert not list(directory.path.glob("trials/*/servers/*/data"))
    assert not processes_that_mention(str(out))
