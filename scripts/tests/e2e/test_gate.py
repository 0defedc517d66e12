# SPDX-License-Identifier: Apache-2.0
"""One gate on real servers: it abstains without a certificate; with one it runs its pairs and answers."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import Exit
from steelyard.gate.certificate import Certificate, Noise
from steelyard.gate.conditions import conditions_of
from steelyard.results.store import SessionDirectory, write_record

from .driver import Running, call, free_port, processes_that_mention
from .noise import stood_still, void_for_other_reasons_than_noise

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("host")]

EXPERIMENT = """\
steelyard: 1
name: tiny-gate
title: A small gate on real servers
question: Is less memory seen as such?
workload: ping
procedure: start-up  # its trials are the shortest
factors:
  side: {levels: {one: {}, other: {}}}
deployment:
  total_heap: 256m
  # A heap that is touched when the JVM starts: what is asked for is what is used.
  jvm: {gc: generational, jvm_args: ["-XX:TieredStopAtLevel=1", "-XX:+AlwaysPreTouch"]}
load:
  users: 1
  request_timeout: 2m
metrics: {primary: start_rss}
design: {blocks: 6, repeats: 0, equal: true}
"""
PAIRS = 6
"""Pairs of the first look, the only one that there is time for."""
BASELINE, CANDIDATE = "initial_heap=256m", "initial_heap=32m"


def test_a_gate_passes_a_candidate_that_is_far_better(experiment: Path, out: Path) -> None:
    abstained = gate(experiment, out)
    assert abstained.returncode == Exit.INCONCLUSIVE, abstained.stderr
    document = json.loads(abstained.stdout)
    assert "no noise certificate" in document["sentence"] + " ".join(document["notes"])
    first = SessionDirectory(Path(document["directory"]))
    assert not first.trials()
    certify(first, out / "certificates")

    done = gate(experiment, out, "--time", "70s")
    assert done.returncode in (Exit.OK, Exit.INCONCLUSIVE), done.stderr
    document = json.loads(done.stdout)
    directory = SessionDirectory(Path(document["directory"]))
    assert directory.path != first.path
    if not directory.trials():
        begin_on_a_busy_host(directory)
        return
    trials = directory.trials()
    assert not void_for_other_reasons_than_noise(trials)
    assert not processes_that_mention(str(out))
    assert (directory.path / "gate.json").exists()
    valid = sum(trial.state == "valid" for trial in trials)
    if valid == len(trials) == 2 * PAIRS and not any(map(stood_still, trials)):
        assert document["outcome"] == "pass", done.stdout
        assert document["trials"] == 2 * PAIRS
    # Whatever noise does: half of the memory is no regression.
    assert done.returncode == (Exit.OK if document["outcome"] == "pass" else Exit.INCONCLUSIVE)


def gate(experiment: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return call(
        *("gate", str(experiment), "--baseline", BASELINE, "--candidate", CANDIDATE, "--margin", "20%"),
        *("--out", str(out), "--port", str(free_port()), "--seed", "3", "--json", *more),
    )


def certify(session: SessionDirectory, folder: Path) -> None:
    """What `certify` would write after an hour: a certificate that sees the margin."""
    decided = session.session()
    baseline = next(arm.spec for arm in decided.arms if arm.baseline)
    floors = dict.fromkeys((6, 10, 20), 0.1)
    figures: dict[str, Any] = {"pair_sd": 0.01, "start_sd": 0.007, "mean": 1.0, "p": 0.5, "drift": 0.0}
    noise = Noise(
        metric="start_rss", pairs=20, floor=0.1, floors=floors, drifts=False, groups=None, **figures
    )
    certificate = Certificate(
        steelyard_version="0",
        session="none",
        made=time.time(),
        expires=time.time() + 24 * 3600,
        conditions=conditions_of(decided.host, baseline),
        told="this host",
        blocks=20,
        pair_seconds=10.0,
        noise=[noise],
    )
    folder.mkdir()
    write_record(folder / certificate.name, certificate)


def begin_on_a_busy_host(directory: SessionDirectory) -> None:
    """A gate that abstains as the host is busy now; its session without that, until it has a pair."""
    session = directory.session()
    assert session.gate is not None
    assert "wait until this host is idle" in " ".join(session.gate.abstains)
    terms = session.gate.model_copy(update={"abstains": []})
    write_record(directory.path / "session.json", session.model_copy(update={"gate": terms}))
    running = Running("resume", str(directory.path), out=directory.path.parent)
    trials = running.wait_for_trials(2)
    # On a slow machine the time of the gate may be over by then.
    assert running.interrupt() in (130, Exit.INCONCLUSIVE, Exit.OK)
    assert {trial.arm for trial in trials[:2]} == {arm.name for arm in session.arms}
    assert not void_for_other_reasons_than_noise(directory.trials())
    assert not processes_that_mention(str(directory.path.parent))
