# SPDX-License-Identifier: Apache-2.0
"""Sessions on servers that are more than one process, whoever starts them: each figure is that of all."""

import sys
from pathlib import Path

import pytest

from steelyard.results.schema import Trial

from .driver import DONE, call, processes_that_mention, start

pytestmark = [pytest.mark.e2e, pytest.mark.full, pytest.mark.xdist_group("host")]

MIB = 2**20
SERVERS = Path(__file__).parents[1] / "fixtures" / "servers"
EXPERIMENT = """\
steelyard: 1
name: several
title: A server that is more than one process
question: What is weighed?
workload: ping
factors: {users: {levels: [4, 8]}}
baseline: {users: 4}
deployment: {cores: all}
load: {model: closed, users: 8, injectors: 1, ramp: 1s, warmup: {until: fixed, at_least: 2s}, measure: 4s}
metrics: {primary: throughput, report: [memory_rss, cpu_per_1k]}
design: {blocks: 6, repeats: 1}
"""
WORKLOAD = """\
steelyard: 1
name: several
version: "1"
title: A server that is more than one process
packages: {{app: {{folder: .}}}}
topologies:
  one:
    about: one server
    components:
      server:
        role: server
        process: {{command: {command}, package: app}}
        ready: {{path: /}}
    journey:
      visits:
        look: {{steps: [{{operation: look, path: /, check: {{contains: ok}}}}]}}
"""
WORKERS = "${package}/workers.py"
PYTHON = sys.executable


def words(*command: str) -> str:
    return str(list(command)).replace("'", '"')


@pytest.mark.parametrize(
    ("command", "mib", "cpu"),
    [
        # The shell stays, and is the main process; its server has 64 MiB, which its worker shares.
        (words("sh", "-c", f"{PYTHON} $0 $1 1 0 64; true", WORKERS, "${port}"), 64, 0.1),
        (words(PYTHON, "${package}/launcher.py", PYTHON, WORKERS, "${port}", "2", "0", "64"), 64, 0.1),
        # The CPU of programs that live for milliseconds, started by workers that live for seconds.
        (words(PYTHON, WORKERS, "${port}", "2", "200", "64", "--program"), 64, 2.0),
    ],
    ids=["a script without exec", "a thread of a launcher", "workers that come and go"],
)
def test_a_component_is_all_its_processes(
    experiment: Path, out: Path, tmp_path: Path, command: str, mib: float, cpu: float
) -> None:
    folder = tmp_path / "server"
    folder.mkdir()
    for name in ("workers.py", "launcher.py"):
        (folder / name).write_bytes((SERVERS / name).read_bytes())
    workload = folder / "workload.yaml"
    workload.write_text(WORKLOAD.format(command=command), encoding="utf-8")
    session = start(experiment, out, "--workload", str(workload))
    (trial,) = session.wait_for_undisturbed(1)
    assert session.interrupt() in (*DONE, 130), session.errors.read_text(encoding="utf-8")
    _weighs_all(trial, mib, cpu)
    directory = session.directory
    assert call("report", str(directory.path)).returncode == 0
    if (
        trial.state == "valid"
    ):  # a trial that noise made void is judged above, and is in no report's sentences
        assert "share memory: their RSS adds up" in (directory.path / "report.md").read_text(encoding="utf-8")
    assert not processes_that_mention(str(out))


def _weighs_all(trial: Trial, mib: float, cpu: float) -> None:
    """The trial's own figures have all of the server: processes that share so much memory, and CPU per 1,000 requests
    of at least so much, far less than any machine needs for them and far more than the main process uses."""
    (server,) = (one for one in trial.components if one.role == "server")
    assert (server.value("processes") or 0) > 1.5
    assert mib * MIB < (server.value("pss_mean") or 0) < 0.9 * trial.metrics["memory_rss"]
    assert trial.metrics["memory_rss"] > 1.5 * mib * MIB
    assert trial.metrics["cpu_per_1k"] > cpu
