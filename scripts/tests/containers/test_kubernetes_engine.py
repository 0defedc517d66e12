# SPDX-License-Identifier: Apache-2.0
"""A session on the kubernetes engine, on a real node: pods under load, what can go wrong with them, what is left."""

import json
import time
from pathlib import Path

import pytest
from e2e.driver import DONE, EXPERIMENT, Running, call, void_for_other_reasons_than_noise
from stages import NODE

from steelyard.engines.kubernetes.lock import LOCK
from steelyard.results.store import SessionDirectory

from .node import Node

pytestmark = pytest.mark.containers
RUN = [*NODE, "run"]
NOISE = {"clock-offset"}
"""Clocks that are read over a busy machine are read widely."""


@pytest.fixture
def out(tmp_path: Path) -> Path:
    path = tmp_path / "results"
    path.mkdir()
    return path


def begun(*words: str, out: Path, namespace: str) -> Running:
    return Running(*words, "--namespace", namespace, out=out, through=RUN)


def test_a_session_of_pods_that_loses_one_and_is_interrupted(
    node: Node, namespace: str, tmp_path: Path, out: Path
) -> None:
    experiment = tmp_path / "tiny.yaml"
    deployment = "deployment:\n  engine: kubernetes\n  through: service\n"
    text = EXPERIMENT.replace("deployment:\n", deployment).replace("repeats: 1", "repeats: 0")
    experiment.write_text(text, encoding="utf-8")
    refuse_another(node, namespace, experiment)

    began = time.time()
    session = begun("run", str(experiment), "--out", out.name, "--seed", "7", out=out, namespace=namespace)
    directory = session.directory
    session.wait_for_phase("measure", began)
    node.kubectl("delete", "pod", "server-0", "--namespace", namespace, "--wait=false")
    (lost,) = session.wait_for_trials(1)
    assert lost.state == "void"
    assert str(lost.failure) == "server-1 ended because somebody deleted its pod server-0"

    session.wait_for_phase("warmup", lost.started + 1.0)
    assert session.interrupt() == 130
    assert node.held(namespace) == []

    session = begun("resume", str(directory.path), out=out, namespace=namespace)
    session.wait_for_trials(4)
    assert session.end() in DONE, session.errors.read_text(encoding="utf-8")
    trials = directory.trials()[1:]
    reasons = void_for_other_reasons_than_noise(trials)
    assert [one for one in reasons if not any(f" {name}:" in one for name in NOISE)] == []
    for trial in trials:
        assert trial.measurement is not None
        assert trial.measurement.injector_requests > 0
        if trial.state == "valid":  # a stall of the machine at a window's edge voids a trial
            assert trial.measurement.value("server_requests") == trial.measurement.injector_requests
        folder = directory.trial_path(trial.block, trial.arm, trial.attempt)
        for one in (one for one in trial.components if one.role == "server"):
            assert (one.value("start_seconds") or 0) > 0
            assert one.read_back["processors"] == (2 if trial.arm == "jvms-1" else 1)
            assert {"console.log", "gc.log", "messages.log"} <= files(folder / "servers" / one.name / "logs")
    placed_and_repeatable(node, namespace, directory)
    assert node.held(namespace) == []


def refuse_another(node: Node, namespace: str, experiment: Path) -> None:
    """A session of another host holds the namespace: nothing is made beside it."""
    data = [f"--from-literal={name}={text}" for name, text in (("session", "theirs"), ("host", "elsewhere"))]
    node.kubectl("create", "configmap", LOCK, "--namespace", namespace, *data)
    out = experiment.parent / "refused"
    refused = call("run", str(experiment), "--out", str(out), "--namespace", namespace, through=RUN)
    assert refused.returncode == 6, refused.stderr
    assert "session theirs of host elsewhere runs in the namespace" in refused.stderr
    assert node.held(namespace) == [f"ConfigMap/{LOCK}"]
    node.kubectl("delete", "configmap", LOCK, "--namespace", namespace)


def placed_and_repeatable(node: Node, namespace: str, directory: SessionDirectory) -> None:
    """Where the pods ran is written down, and the API server takes what repeats a trial."""
    folder = directory.trial_path(2, "jvms-2", 0)
    pods = json.loads((folder / "logs" / "pods.json").read_text(encoding="utf-8"))
    assert {one["spec"]["nodeName"] for one in pods} == {"node1"}
    assert len(pods) == 3
    told = node.kubectl("apply", "--dry-run=server", "--kustomize", str(folder / "replay"))
    assert "statefulset.apps/server created (server dry run)" in told
    assert "http://server:9080" in (folder / "replay" / "load.yaml").read_text(encoding="utf-8")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}
