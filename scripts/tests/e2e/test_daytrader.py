# SPDX-License-Identifier: Apache-2.0
"""A small session on the real DayTrader7 server: data loaded once, both front ends, the check after the load."""

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
  mode:
    levels:
      ejb: {daytrader7.mode: ejb, daytrader7.orders: sync}
      direct: {daytrader7.mode: direct, daytrader7.orders: 2-phase}
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


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """DayTrader7's small experiment, in place of the one on ping."""
    path = tmp_path / "tiny.yaml"
    path.write_text(EXPERIMENT, encoding="utf-8")
    return path


def test_a_session_by_beans_and_by_jdbc(experiment: Path, out: Path) -> None:
    session = start(experiment, out)
    trials = session.wait_for_trials(2)
    session.interrupt()
    directory = session.directory
    assert session.process.returncode in (*DONE, 130, -2)
    assert {trial.arm.removeprefix("mode-") for trial in trials} == {"ejb", "direct"}
    assert not void_for_other_reasons_than_noise(trials)
    for trial in trials:
        assert trial.measurement is not None
        assert trial.measurement.injector_errors == 0
        assert set(trial.measurement.mix_achieved) >= {"login", "quotes", "market-summary", "faces-quotes"}
        # None is not consistent, and the check has been made.
        assert next(one for one in trial.checks if one.name == "consistency").passed
    assert [entry.event for entry in directory.journal()].count("load") == 2, "one for each mode"
    assert not list(directory.path.glob("trials/*/servers/*/data"))
    assert not processes_that_mention(str(out))
