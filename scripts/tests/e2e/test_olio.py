# SPDX-License-Identifier: Apache-2.0
"""A small session on real Olio servers: one JVM with its database, two that share one and a filestore; data and files
loaded once for each, a browser's requests, uploads, the checks of the published driver."""

from pathlib import Path

import pytest

from .driver import block_on_two_topologies

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny-olio
title: A small session on Olio
question: Does the harness work with a workload that keeps files, and whose operations are many requests?
workload: olio
factors:
  how:
    levels:
      alone: {topology: single}
      two: {topology: shared, jvms: 2}
settings: {olio.scale: 25, olio.files: small}
deployment:
  total_heap: 768m
  jvm: {gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}
load:
  users: 20
  ramp: 1s
  warmup: {until: fixed, at_least: 8s}
  measure: 15s
  request_timeout: 2m
design: {blocks: 6, repeats: 0}
"""


def test_a_session_on_one_jvm_and_on_two_that_share_their_data(experiment: Path, out: Path) -> None:
    for trial in block_on_two_topologies(experiment, out, {"how-alone": 1, "how-two": 2}):
        measured = trial.measurement
        assert measured is not None
        assert set(measured.mix_achieved) >= {"home-page", "tag-search", "event-detail"}
        assert measured.cycles["tag-search"].drawn > 0
        assert {one.operation for one in measured.response_times} == measured.mix_achieved.keys()
        assert trial.metrics["latency_p90_weighted"] > 0
        assert 0 < trial.metrics["server_cpu_share"] < 1
        checks = {one.name: one for one in trial.checks}
        assert checks["counts-exact"].applies
        assert checks["cycle-times"].applies
