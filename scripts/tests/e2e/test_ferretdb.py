# SPDX-License-Identifier: Apache-2.0
"""A session of AcmeAir on FerretDB, a second server of MongoDB's protocol, by a copy of its workload file."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from steelyard.paths import ROOT
from steelyard.results.schema import Trial

from .driver import processes_that_mention, start

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

SCRIPT = ROOT / "apps" / "testkit" / "ferretdb" / "ferretdb.sh"
# Each query of flights reads the whole table of segments: few users, and long windows.
EXPERIMENT = """\
steelyard: 1
name: tiny-ferretdb
title: A small session on FerretDB
question: Does AcmeAir work on a database that is not ours?
workload: {workload}
factors:
  jvms: {{levels: [1, 2]}}
settings: {{acmeair.customers: 20}}
deployment:
  total_heap: 512m
  jvm: {{gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1"]}}
load:
  users: 2
  ramp: 1s
  warmup: {{until: fixed, at_least: 5s}}
  measure: 30s
  request_timeout: 2m
design: {{blocks: 6, repeats: 0}}
"""


def copy_with_another_database(to: Path) -> Path:
    """AcmeAir's monolith with FerretDB in the place of the embedded database."""
    source = ROOT / "apps" / "acmeair"
    workload: dict[str, Any] = yaml.safe_load((source / "workload.yaml").read_text(encoding="utf-8"))
    for package in workload["packages"].values():
        for key in ("archive", "folder"):
            if key in package:
                package[key] = str((source / package[key]).resolve())
    del workload["topologies"]["microservices"]
    workload["topologies"]["monolith"]["components"]["database"]["process"] = {
        "command": ["sh", str(SCRIPT), "${host}", "${port}", "${folder}/data"]
    }
    path = to / "workload.yaml"
    path.write_text(yaml.safe_dump(workload, sort_keys=False), encoding="utf-8")
    return path


def has_read_and_written(trial: Trial) -> bool:
    """Whether users logged in, which writes, and looked for flights; few operations fit into a window here."""
    return trial.measurement is not None and {"login", "query-flight"} <= set(trial.measurement.mix_achieved)


def test_a_session_on_ferretdb(experiment: Path, tmp_path: Path, out: Path) -> None:
    build = subprocess.run(["sh", str(SCRIPT), "--build"], capture_output=True, text=True, check=False)
    if build.returncode == 6:  # what is missing, as of apps/databases/postgresql.sh
        pytest.skip(build.stderr.strip())
    assert build.returncode == 0, build.stderr
    workload = copy_with_another_database(tmp_path)
    experiment.write_text(EXPERIMENT.format(workload=workload), encoding="utf-8")
    session = start(experiment, out, "--trust")
    (trial,) = session.wait_for_undisturbed(enough=has_read_and_written)
    session.interrupt()
    assert trial.measurement is not None
    assert trial.measurement.injector_errors == 0
    checks = {one.name: one for one in trial.checks}
    assert checks["consistency"].passed
    assert trial.metrics["cpu_per_1k_database"] > 0
    assert not processes_that_mention(str(out))
