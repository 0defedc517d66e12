# SPDX-License-Identifier: Apache-2.0
"""A whole experiment in a cluster: the Job of k8s/experiments, from `kubectl apply` to a report that came home."""

import io
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from e2e.driver import EXPERIMENT, void_for_other_reasons_than_noise
from stages import NODE, NODE_STATE
from waiting import wait_until

from steelyard.archives import unpack
from steelyard.errors import Exit
from steelyard.results.store import SessionDirectory

from .node import Node, conditions, kustomization

pytestmark = pytest.mark.containers
NAMESPACE = "steelyard-jvm-count"
VOLUME = "steelyard-experiment-test"
HARNESS = "app.kubernetes.io/name=harness"
NOISE = {"clock-offset"}
"""Clocks that are read over a busy machine are read widely."""
PATCH = """
- {op: replace, path: /spec/template/spec/containers/0/args, value: [/experiment/tiny.yaml]}
- {op: add, path: /spec/template/spec/volumes/-, value: {name: experiment, configMap: {name: experiment}}}
- op: add
  path: /spec/template/spec/containers/0/volumeMounts/-
  value: {name: experiment, mountPath: /experiment}
"""
CLAIM = "- {op: add, path: /spec/storageClassName, value: by-hand}"
PERSISTENT = f"""
apiVersion: v1
kind: PersistentVolume
metadata: {{name: {VOLUME}}}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {{storage: 5Gi}}
  storageClassName: by-hand
  local: {{path: /tmp/hostpath_pv/{VOLUME}}}
  nodeAffinity:
    required: {{nodeSelectorTerms: [{{matchExpressions: [{{key: kubernetes.io/os, operator: Exists}}]}}]}}
"""
"""Of a kind that is given to the pods' group, as volumes of a cloud are; those of the local node's class are not."""


@pytest.fixture
def folder(node: Node, tmp_path: Path) -> Iterator[str]:
    """A person's own kustomization of the experiment, with another question and a volume made by hand."""
    (tmp_path / "tiny").mkdir()
    text = EXPERIMENT.replace("repeats: 1", "repeats: 0").replace("measure: 4s", "measure: 2s")
    (tmp_path / "tiny" / "tiny.yaml").write_text(text, encoding="utf-8")
    (NODE_STATE / "volumes" / VOLUME).mkdir()
    node.kubectl("create", "--filename", "-", text=PERSISTENT)
    made = kustomization(
        tmp_path / "tiny",
        ["experiments/jvm-count"],
        ["hotspot"],
        configMapGenerator=[{"name": "experiment", "namespace": NAMESPACE, "files": ["tiny.yaml"]}],
        generatorOptions={"disableNameSuffixHash": True},
        patches=[
            {"target": {"kind": "Job", "name": "harness"}, "patch": PATCH},
            {"target": {"kind": "PersistentVolumeClaim", "name": "results"}, "patch": CLAIM},
        ],
    )
    yield made
    node.kubectl("delete", "--ignore-not-found", "--wait=false", "--kustomize", made)
    node.wait_until_gone(f"namespace/{NAMESPACE}")
    node.kubectl("delete", "persistentvolume", VOLUME)
    shutil.rmtree(NODE_STATE / "volumes" / VOLUME)
    left = node.get("pods,jobs,persistentvolumes,clusterroles,clusterrolebindings", "--all-namespaces")[
        "items"
    ]
    assert [one["metadata"]["name"] for one in left if "steelyard-jvm-count" in str(one["metadata"])] == []


def test_a_job_that_loses_its_pod_leaves_a_report_that_is_brought_home(
    node: Node, folder: str, tmp_path: Path
) -> None:
    node.kubectl("apply", "--kustomize", folder)
    wait_for_line(node, "starting servers")
    refuses_and_allows(node)
    (lost,) = harnesses(node)
    node.kubectl("delete", "pod", lost, "--namespace", NAMESPACE, "--wait=false")
    node.wait_until_gone(f"pod/{lost}", "--namespace", NAMESPACE)
    story = finish(node)
    assert "trials are there already; /volume/results/tiny-" in story
    (directory,) = map(SessionDirectory, bring_home(tmp_path / "home").iterdir())
    events = [entry.event for entry in directory.journal()]
    assert (events[0], events[-1]) == ("session-start", "session-end")
    assert events.count("interrupted") == events.count("session-resume") == 1
    assert "<html" in (directory.path / "report.html").read_text(encoding="utf-8")
    trials = directory.trials()
    assert sorted(trial.arm for trial in trials) == ["jvms-1", "jvms-1", "jvms-2", "jvms-2"]
    reasons = void_for_other_reasons_than_noise(trials)
    assert [one for one in reasons if not any(f" {name}:" in one for name in NOISE)] == []
    for trial in trials:
        watched_with_the_harness(directory.trial_path(trial.block, trial.arm, trial.attempt) / "samples")


def refuses_and_allows(node: Node) -> None:
    """What the harness's account may do, in its namespace and outside."""
    account = f"--as=system:serviceaccount:{NAMESPACE}:harness"

    def may(*words: str, namespace: str = NAMESPACE) -> str:
        return node.ask("auth", "can-i", *words, "--namespace", namespace, account).stdout.strip()

    for words in (("create", "pods"), ("create", "pods/proxy"), ("delete", "jobs.batch"), ("list", "nodes")):
        assert may(*words) == "yes", words
    for words in (
        *(
            ("get", "secrets"),
            ("create", "serviceaccounts/token"),
            ("create", "rolebindings.rbac.authorization.k8s.io"),
        ),
        *(
            ("delete", "persistentvolumeclaims"),
            ("delete", "namespaces"),
            ("patch", "nodes"),
            ("get", "nodes/proxy"),
        ),
    ):
        assert may(*words) == "no", words
    assert may("create", "pods", namespace="default") == "no"
    assert may("list", "pods", namespace="kube-system") == "no"


def harnesses(node: Node) -> list[str]:
    """Names of the Job's pods that nobody has asked to end."""
    found = node.get("pods", "--namespace", NAMESPACE, "--selector", HARNESS)["items"]
    return [one["metadata"]["name"] for one in found if "deletionTimestamp" not in one["metadata"]]


def log(node: Node) -> str:
    """What the last of the Job's pods has printed; empty before it does."""
    return node.ask("logs", "--namespace", NAMESPACE, "job/harness").stdout


def ended(node: Node) -> set[str]:
    """How the Job has ended; empty while it goes on."""
    found = {one["type"] for one in conditions(node.get("job", "harness", "--namespace", NAMESPACE))}
    return found & {"Complete", "Failed"}


def wait_for_line(node: Node, text: str) -> None:
    wait_until(
        lambda: text in log(node),
        lambda: f"{text!r}: {node.story(NAMESPACE)}",
        lambda: "the Job has ended" if ended(node) else None,
    )


def finish(node: Node) -> str:
    """Wait until the Job has ended, with a report: its log. Failed where no trial was valid, as on busy machines."""
    wait_until(lambda: ended(node), lambda: f"the end of the Job: {node.story(NAMESPACE)}")
    told = log(node)
    assert "report: /volume/results/" in told
    if "Complete" not in ended(node):
        (pod,) = harnesses(node)
        status = node.get("pod", pod, "--namespace", NAMESPACE)["status"]["containerStatuses"][0]
        assert status["state"]["terminated"]["exitCode"] == Exit.INCOMPLETE, told
    return told


def bring_home(folder: Path) -> Path:
    """By the command of docs/how-to/harness-in-the-cluster.md: the folder of sessions."""
    command = [
        "exec",
        "deployment/results",
        "--namespace",
        NAMESPACE,
        "--",
        "tar",
        "-cC",
        "/volume",
        "results",
    ]
    packed = subprocess.run([*NODE, "kubectl", *command], capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        unpack(archive, folder)
    return folder / "results"


def watched_with_the_harness(samples: Path) -> None:
    """The harness shares the node with what it measures: its processes are watched, and count as nobody else's."""
    names = {
        line.split(",")[1] for line in (samples / "processes.csv").read_text(encoding="utf-8").splitlines()
    }
    assert {"harness", "sampler", "server-1"} <= names
    assert any(name.startswith("engine:") for name in names)
