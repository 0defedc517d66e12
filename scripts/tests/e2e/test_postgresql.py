# SPDX-License-Identifier: Apache-2.0
"""Small sessions on real PostgreSQL of the host's packages beside Derby's server: both applications, two JVMs each;
data loaded once for each database, the checks after the load."""

import subprocess
from pathlib import Path

import pytest

from steelyard.paths import ROOT

from .driver import block_on_two_topologies

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny-postgresql
title: A small session on two databases
question: Does the harness work with a database of the host?
workload: {workload}
factors:
  {workload}.database: {{label: database, levels: [derby, postgresql]}}
settings: {settings}
deployment:
  topology: shared
  jvms: 2
  total_heap: 768m
  jvm: {{gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}}
load:
  users: {users}
  ramp: 1s
  warmup: {{until: fixed, at_least: 8s}}
  measure: 15s
  request_timeout: 2m
design: {{blocks: 6, repeats: 0}}
"""
SETTINGS = {
    "daytrader7": ('{daytrader7.users: 100, daytrader7.quotes: 100, daytrader7.long_run: "false"}'),
    "olio": "{olio.scale: 25, olio.files: small}",
}


@pytest.mark.parametrize(("workload", "users"), [("daytrader7", 6), ("olio", 20)])
def test_a_session_on_derby_and_on_postgresql(workload: str, users: int, experiment: Path, out: Path) -> None:
    script = ROOT / "apps" / "databases" / "postgresql.sh"
    check = subprocess.run(["sh", str(script), "--check"], capture_output=True, text=True, check=False)
    if check.returncode != 0:
        pytest.skip(check.stderr.strip())
    text = EXPERIMENT.format(workload=workload, settings=SETTINGS[workload], users=users)
    servers = {f"{workload}.database-{name}": 2 for name in ("derby", "postgresql")}
    experiment.write_text(text, encoding="utf-8")
    for trial in block_on_two_topologies(experiment, out, servers):
        checks = {one.name: one for one in trial.checks}
        assert checks["consistency"].applies
        assert checks["settings"].applies, "the server told which database it has"
        assert trial.metrics["throughput"] > 0
