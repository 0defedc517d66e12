# SPDX-License-Identifier: Apache-2.0
"""A small session on real DayTrader7 servers: one JVM with its database by beans, two that share one by JDBC; data
loaded once for each, both front ends, the check after the load."""

from pathlib import Path

import pytest

from .driver import block_on_two_topologies

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

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
  request_timeout: 2m
design: {blocks: 6, repeats: 0}
"""


def test_a_session_by_beans_in_one_jvm_and_by_jdbc_in_two(experiment: Path, out: Path) -> None:
    for trial in block_on_two_topologies(experiment, out, {"by-beans": 1, "by-jdbc": 2}):
        assert trial.measurement is not None
        assert set(trial.measurement.mix_achieved) >= {"login", "quotes", "market-summary", "faces-quotes"}
