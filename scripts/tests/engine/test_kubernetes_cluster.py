# SPDX-License-Identifier: Apache-2.0
"""What is asked of kubectl and what is made of its words; a script stands for it and answers as it does."""

import hashlib
import json
import os
import re
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fake_kubectl
import pytest
from builders import make_jvm
from planned import containers, specs

from steelyard.analysis.across import AUTHORITY as CLUSTER
from steelyard.engines.images import jvm_of
from steelyard.engines.kubernetes import cluster as asked
from steelyard.engines.kubernetes.cluster import RIGHTS, Cluster, KubectlFailed, error_line, find_cluster
from steelyard.engines.kubernetes.engine import KubernetesEngine, require_rights
from steelyard.engines.kubernetes.images import ClusterImages
from steelyard.engines.kubernetes.lock import take_lock
from steelyard.engines.kubernetes.nodes import examine, offered
from steelyard.errors import BadInput, Busy, MissingRequirement
from steelyard.processes import Children
from steelyard.session.runtimes import Runtimes
from steelyard.workload.loader import load_workload

JVM = (Path(__file__).parents[1] / "fixtures" / "jvm" / "hotspot.txt").read_text(encoding="utf-8")
VERSIONS = {"clientVersion": {"gitVersion": "v1.33.1"}, "serverVersion": {"gitVersion": "v1.31.4"}}
MISSING = 'Error from server (NotFound): namespaces "trials" not found'


def kubectl(folder: Path, answers: Mapping[str, str | tuple[int, str]]) -> Cluster:
    """A kubectl that answers by the first pattern of its arguments that fits; it keeps what it was asked."""
    client = fake_kubectl.install(folder)
    fake_kubectl.answer(folder, answers)
    return Cluster(client, "lab", "trials", "v1.31.4")


def found(folder: Path, versions: object = VERSIONS, **answers: str | tuple[int, str]) -> Cluster:
    kubectl(folder, {"current-context": "lab", "version": json.dumps(versions), **answers})
    return find_cluster(None, "trials", {"PATH": f"{folder}:/usr/bin:/bin"})


def test_a_cluster_that_answers(tmp_path: Path) -> None:
    cluster = found(tmp_path)
    assert (cluster.context, cluster.namespace, cluster.version) == ("lab", "trials", "v1.31.4")
    assert cluster.command[1:] == ["--context=lab", "--namespace=trials"]


AUTHORITY = json.dumps({"kind": "ConfigMap", "data": {"ca.crt": "-----BEGIN CERTIFICATE-----\nMII\n"}})


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (AUTHORITY, hashlib.sha256(b"-----BEGIN CERTIFICATE-----\nMII").hexdigest()[:16]),
        ((1, 'Error from server (NotFound): configmaps "kube-root-ca.crt" not found'), None),
        (json.dumps({"kind": "ConfigMap"}), None),
    ],
)
def test_a_cluster_is_known_by_its_certificate_authority(
    tmp_path: Path, answer: str | tuple[int, str], told: str | None
) -> None:
    assert kubectl(tmp_path, {"get configmaps kube-root-ca.crt": answer}).authority() == told


def test_a_session_goes_on_in_its_own_cluster_alone(tmp_path: Path) -> None:
    cluster = kubectl(tmp_path, {"kube-root-ca.crt": AUTHORITY})
    runtimes = Runtimes(load_workload("ping"), None, _cluster=cluster)
    versions = runtimes.versions()
    assert versions["kubernetes"] == "v1.31.4"
    runtimes.require_same_cluster(versions)
    for before, said in (
        ({**versions, CLUSTER: "c0ffee"}, r"authority is c0ffee, and that of context lab is "),
        ({"kubernetes": "v1.31.4"}, r"\(it is not known which, and that of context lab is "),
    ):
        with pytest.raises(BadInput, match=rf"^this session was begun in another cluster .*{said}"):
            runtimes.require_same_cluster(before)
    kubectl(tmp_path, {"kube-root-ca.crt": (1, "Error from server (NotFound): gone")})
    with pytest.raises(BadInput, match=r"context lab is not told\): name it with --context"):
        runtimes.require_same_cluster(versions)


def test_in_a_pod_kubectl_takes_the_account_of_the_pod(tmp_path: Path) -> None:
    cluster = found(tmp_path, **{"current-context": (1, "error: current-context is not set")})
    assert cluster.command[1:] == ["--namespace=trials"]
    assert all("context" not in line for line in fake_kubectl.asked_of(tmp_path) if "config" not in line)


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"version": (1, 'error: context "lab" does not exist')}, "kubectl has no context 'lab'"),
        ({"version": (1, "The connection to the server 10.0.0.1:6443 was refused")}, "'lab' does not answer"),
        ({"version": json.dumps({**VERSIONS, "serverVersion": {"gitVersion": "v1.19.0"}})}, "1.28 or newer"),
        ({"current-context": (1, "error: no"), "version": (1, "refused")}, "kubectl knows no cluster"),
    ],
)
def test_a_cluster_that_cannot_be_used(
    tmp_path: Path, answers: Mapping[str, str | tuple[int, str]], said: str
) -> None:
    kubectl(tmp_path, {"current-context": "lab", **answers})
    with pytest.raises(MissingRequirement, match=said):
        find_cluster(None, "trials", {"PATH": f"{tmp_path}:/usr/bin:/bin"})


def test_no_kubectl(tmp_path: Path) -> None:
    with pytest.raises(MissingRequirement, match="kubectl was not found"):
        find_cluster(environment={"PATH": str(tmp_path)})


def test_an_api_server_that_is_away_is_waited_for_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked, "_AGAIN", 0.01)
    monkeypatch.setattr(asked, "AWAY_LIMIT", 0.2)
    away = kubectl(tmp_path, {"get": (1, "Unable to connect to the server: dial tcp: i/o timeout")})
    with pytest.raises(KubectlFailed, match="i/o timeout") as failed:
        away.get("pods")
    assert failed.value.away
    tries = (tmp_path / "asked").read_text(encoding="utf-8").count("get")
    assert tries > 1
    with pytest.raises(KubectlFailed):
        away.run("get", "pods", patient=False)
    assert (tmp_path / "asked").read_text(encoding="utf-8").count("get") == tries + 1


def test_who_says_no_is_asked_once(tmp_path: Path) -> None:
    cluster = kubectl(tmp_path, {"get": (1, "Error from server (Forbidden): pods is forbidden")})
    with pytest.raises(KubectlFailed, match="pods is forbidden") as failed:
        cluster.get("pods")
    assert not failed.value.away
    assert (tmp_path / "asked").read_text(encoding="utf-8").count("get") == 1


def test_error_line() -> None:
    said = 'W0101 12:00:00 cache\nError from server (Forbidden): error when creating "STDIN": pods "x" is forbidden\n'
    assert error_line(said) == 'pods "x" is forbidden'


def test_rights_that_are_missing_are_all_named(tmp_path: Path) -> None:
    answers = ["true"] * len(RIGHTS)
    answers[RIGHTS.index(("", "pods/exec", "create"))] = "false"
    cluster = kubectl(tmp_path, {"jsonpath": "\n".join(answers)})
    with pytest.raises(MissingRequirement, match="may not create pods/exec in the namespace trials"):
        require_rights(cluster)


def test_a_namespace_that_is_not_there(tmp_path: Path) -> None:
    allowed = "\n".join(["true"] * len(RIGHTS))
    cluster = kubectl(tmp_path, {"jsonpath": allowed, "get": '{"items": []}', "--dry-run": (1, MISSING)})
    with pytest.raises(MissingRequirement, match="kubectl create namespace trials"):
        require_rights(cluster)


def held(**more: str) -> str:
    data = {"session": "other-1", "host": "elsewhere", "process": "1", "boot": "b"}
    return json.dumps({"items": [{"kind": "ConfigMap", "data": data | more}]})


EXISTS = (1, 'Error from server (AlreadyExists): configmaps "steelyard-session" already exists')


def test_two_sessions_in_one_namespace(tmp_path: Path) -> None:
    cluster = kubectl(tmp_path, {"create": EXISTS, "get": held()})
    with (
        Children() as children,
        pytest.raises(Busy, match="session other-1 of host elsewhere runs in the namespace"),
    ):
        take_lock(cluster, "mine-1", children)
    # What another holds is not removed at our end.
    assert "delete" not in (tmp_path / "asked").read_text(encoding="utf-8")


@dataclass(frozen=True)
class OneLock(Cluster):
    """A cluster whose API server keeps one ConfigMap, and changes it as a real one does."""

    kept: dict[str, Any] = field(default_factory=dict)
    meanwhile: list[Callable[[], None]] = field(default_factory=list)
    """What others do right after the lock was read, one for each reading."""

    def run(self, *arguments: str, given: str | None = None, **_: Any) -> str:
        verb = arguments[0]
        if verb == "create":
            if self.kept:
                raise KubectlFailed("kubectl create", EXISTS[1])
            self._keep(json.loads(given or ""))
        elif verb == "patch":
            change = json.loads(next(one for one in arguments if "--patch" in one).partition("=")[2])
            if not self.kept:
                raise KubectlFailed(
                    "kubectl patch", 'Error from server (NotFound): "steelyard-session" not found'
                )
            if change["metadata"].get("resourceVersion") != self.kept["metadata"]["resourceVersion"]:
                raise KubectlFailed(
                    "kubectl patch", "Error from server (Conflict): the object has been modified"
                )
            self._keep(change)
        elif verb == "get":
            answer = json.dumps({"items": [self.kept] if self.kept else []})
            if self.meanwhile:
                self.meanwhile.pop(0)()
            return answer
        return ""

    def _keep(self, new: dict[str, Any]) -> None:
        version = int(self.kept.get("metadata", {}).get("resourceVersion", "0")) + 1
        self.kept.update(new)
        self.kept["metadata"] = {
            "name": "steelyard-session",
            **new["metadata"],
            "resourceVersion": str(version),
        }


def lock_of(session: str, host: str = "elsewhere") -> dict[str, Any]:
    holder = {"session": session, "host": host, "process": "1", "boot": "of another start"}
    return {"metadata": {"name": "steelyard-session", "resourceVersion": "7"}, "data": holder}


def test_a_session_goes_on_where_it_had_lost_its_machine(tmp_path: Path) -> None:
    cluster = OneLock(tmp_path / "kubectl", "lab", kept=lock_of("mine-1"))
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert cluster.kept["data"]["process"] == str(os.getpid())


def test_of_two_sessions_that_find_a_dead_lock_one_takes_it(tmp_path: Path) -> None:
    cluster = OneLock(tmp_path / "kubectl", "lab", kept=lock_of("old-1", socket.gethostname()))
    with Children() as children:
        cluster.meanwhile.append(lambda: take_lock(cluster, "other-1", children))
        with pytest.raises(Busy, match=r"session other-1 of host .* runs in the namespace"):
            take_lock(cluster, "mine-1", children)
    assert cluster.kept["data"]["session"] == "other-1"


def test_a_lock_that_goes_while_it_is_looked_at_is_made(tmp_path: Path) -> None:
    cluster = OneLock(tmp_path / "kubectl", "lab", kept=lock_of("old-1", socket.gethostname()))
    cluster.meanwhile.append(cluster.kept.clear)
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert cluster.kept["data"]["session"] == "mine-1"


def test_a_lock_whose_answer_was_lost_is_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = OneLock(tmp_path / "kubectl", "lab")
    run = OneLock.run

    def lost(self: OneLock, *arguments: str, **more: Any) -> str:
        answer = run(self, *arguments, **more)
        if arguments[0] == "create":  # the client asked again when nobody answered, as it does
            run(self, *arguments, **more)
        return answer

    monkeypatch.setattr(OneLock, "run", lost)
    with Children() as children:
        take_lock(cluster, "mine-1", children)
    assert cluster.kept["data"]["session"] == "mine-1"


def test_the_lock_goes_with_the_session_and_never_anothers(tmp_path: Path) -> None:
    cluster = kubectl(tmp_path, {})
    with Children() as children:
        take_lock(cluster, "mine-1", children)
        assert "delete" not in (tmp_path / "asked").read_text(encoding="utf-8")
    asked = (tmp_path / "asked").read_text(encoding="utf-8")
    assert re.search(r"delete configmap --selector=steelyard.dev/holder=[0-9a-f]{16} ", asked)


def test_what_somebody_deployed_by_hand_is_not_taken_for_ours(tmp_path: Path) -> None:
    allowed = "\n".join(["true"] * len(RIGHTS))
    theirs = {"items": [{"kind": "StatefulSet", "metadata": {"name": "server"}}]}
    spec = specs(
        "jvm-count",
        "engine=kubernetes",
        runtime=containers("server", jvm=make_jvm("hotspot"), cpus=2),
        workload="ping",
    )["jvms-1"]
    text = "\n---\n".join(
        json.dumps(
            {
                "kind": kind,
                "apiVersion": "v1",
                "metadata": {"name": name},
                "spec": {"template": {"spec": {"containers": [{"name": name}]}}},
            }
        )
        for kind, name in (("StatefulSet", "server"), ("Job", "load"))
    )
    cluster = kubectl(
        tmp_path,
        {
            "jsonpath": allowed,
            "kustomize": text,
            "selector=!steelyard": json.dumps(theirs),
            "get": '{"items": []}',
        },
    )
    with Children() as children, pytest.raises(Busy, match="somebody has deployed statefulset/server"):
        KubernetesEngine(children, cluster, "s-1").check([spec])


def node(name: str, cpus: str, **more: object) -> dict[str, object]:
    return {
        "metadata": {"name": name, "labels": {}},
        "spec": more,
        "status": {
            "allocatable": {"cpu": cpus},
            "capacity": {"cpu": "4"},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64", "kernelVersion": "6.1"},
        },
    }


def test_whole_cpus_of_nodes_that_take_pods_are_offered(tmp_path: Path) -> None:
    taint = [{"key": "control-plane", "effect": "NoSchedule"}]
    nodes = [
        node("a", "3920m"),
        node("b", "4"),
        node("c", "8", taints=taint),
        node("d", "8", unschedulable=True),
    ]
    cluster = kubectl(tmp_path, {"get": json.dumps({"items": nodes})})
    count, (note,) = offered(cluster)
    assert count == 7
    assert "2 nodes with 7 CPUs" in note


def test_nodes_that_may_not_be_listed(tmp_path: Path) -> None:
    cluster = kubectl(tmp_path, {"get": (1, 'Error from server (Forbidden): nodes is forbidden: User "u"')})
    with pytest.raises(MissingRequirement, match="which you may not list"):
        offered(cluster)
    told = {one.topic: one.level for one in examine(cluster)}
    assert told["nodes"] == "warn"


def images_pod(phase: str, *statuses: Mapping[str, object]) -> str:
    return json.dumps(
        {
            "metadata": {"name": "x"},
            "spec": {},
            "status": {"phase": phase, "containerStatuses": list(statuses)},
        }
    )


def test_images_tell_of_themselves_in_the_cluster(tmp_path: Path) -> None:
    ran = images_pod(
        "Succeeded",
        {"name": "image-0", "imageID": "lab:5000/s/ping@sha256:12"},
        {"name": "image-1", "imageID": "sha256:34"},
    )
    told = f"{JVM}\ndev.steelyard: fingerprint=1cae40b1\ndev.steelyard: database=embedded"
    cluster = kubectl(tmp_path, {"logs": told, "get": ran})
    images = ClusterImages(cluster)
    ping, other = images.find({"lab:5000/s/ping:1": "", "localhost/other:1": ""}).values()
    # One that was brought to the node by hand is known by no digest of a registry.
    assert (ping.pinned, other.pinned) == ("lab:5000/s/ping@sha256:12", "localhost/other:1")
    assert ping.labels == {"dev.steelyard.fingerprint": "1cae40b1", "dev.steelyard.database": "embedded"}
    jvm = jvm_of(images, ping, required=True)
    assert jvm is not None
    assert jvm.kind == "hotspot"
    assert "delete pod steelyard-images-" in (tmp_path / "asked").read_text(encoding="utf-8")


def test_an_image_that_no_node_can_have(tmp_path: Path) -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "no such host"}
    pod = images_pod("Pending", {"name": "image-0", "image": "lab/ping:1", "state": {"waiting": waiting}})
    cluster = kubectl(tmp_path, {"get": pod})
    with pytest.raises(
        MissingRequirement, match=r"cannot be pulled \(lab/ping:1: no such host\).*: build it"
    ):
        ClusterImages(cluster).find({"lab/ping:1": "build it"})
    assert "delete pod" in (tmp_path / "asked").read_text(encoding="utf-8")
