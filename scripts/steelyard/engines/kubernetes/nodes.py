# SPDX-License-Identifier: Apache-2.0
"""The nodes of a cluster: what they offer, and what on them would disturb a measurement (for `doctor`)."""

import contextlib
import re
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import add, sub

from steelyard.engines.base import find_processes
from steelyard.engines.kubernetes import pods
from steelyard.engines.kubernetes.api import ApiError, Object
from steelyard.engines.kubernetes.cluster import Cluster
from steelyard.engines.kubernetes.placement import NodeRoom
from steelyard.engines.kubernetes.pods import CpusAndMemory
from steelyard.engines.kubernetes.roles import ROLE
from steelyard.errors import MissingRequirement
from steelyard.host.doctor import DoctorFinding

_DAEMONS = {
    *("kubelet", "kube-proxy", "coredns", "etcd"),
    *("kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    *("containerd", "containerd-shim-runc-v2", "crio", "conmon"),
    *("k3s-server", "k3s-agent", "kubelite"),  # k3s; MicroK8s
}
_PRESSURES = ("MemoryPressure", "DiskPressure", "PIDPressure")
_LEVEL = "pod-security.kubernetes.io/enforce"
CLOCK_LIMIT = 1.0
"""Seconds between this host's clock and the API server's; finer ones are measured in each trial."""


def daemons() -> list[int]:
    """Process ids of what of a cluster runs on this host."""
    return find_processes(_DAEMONS)


def usable(nodes: Sequence[Object]) -> list[Object]:
    """Nodes that are ready and take pods of sessions: of everybody, or by the one taint that these tolerate."""
    return [
        node
        for node in nodes
        if not node["spec"].get("unschedulable")
        and not any(
            taint["effect"] in ("NoSchedule", "NoExecute") and taint["key"] != ROLE
            for taint in node["spec"].get("taints", ())
        )
        and any(each["type"] == "Ready" and each["status"] == "True" for each in node["status"]["conditions"])
    ]


@dataclass(frozen=True)
class ClusterRoom:
    """What the nodes of a cluster offer to the pods of a session."""

    nodes: tuple[NodeRoom, ...]
    """Those that take pods."""
    roles: frozenset[str]
    """Values of the label `ROLE` of all nodes."""
    note: str
    """On the cluster, for people."""

    @property
    def cpus(self) -> int:
        """Whole CPUs that the nodes offer to pods, each node by itself."""
        return sum(node.whole_cpus for node in self.nodes)


def read_room(cluster: Cluster) -> ClusterRoom:
    """What the nodes offer, less what the pods of others request, where those may be listed.

    Raises:
        MissingRequirement: nodes may not be listed, or none takes pods.
    """
    try:
        everything = cluster.objects("nodes")
    except ApiError as error:
        raise MissingRequirement(
            f"a plan divides the CPUs of the cluster's nodes, which you may not list ({error.message}): have"
            " `list nodes` granted (k8s/base/experiment/nodes.yaml)"
        ) from error
    nodes = usable(everything)
    taken = _requests_of_others(cluster)
    rooms = []
    for node in nodes:
        allocatable = node["status"]["allocatable"]
        offered = CpusAndMemory(pods.cpus(allocatable["cpu"]), pods.quantity(allocatable["memory"]))
        requested = taken[node["metadata"]["name"]]
        role = node["metadata"].get("labels", {}).get(ROLE)
        rooms.append(NodeRoom(role, offered, CpusAndMemory(*map(sub, offered, requested))))
    count = sum(room.whole_cpus for room in rooms)
    if count < 1:
        raise MissingRequirement("no node of the cluster is ready and takes pods of sessions")
    shown = f"{len(nodes)} node{'' if len(nodes) == 1 else 's'} with {count} CPUs"
    models = Counter(node["status"]["nodeInfo"]["architecture"] for node in nodes)
    note = (
        f"The components were pods of Kubernetes {cluster.version} ({shown}, {', '.join(models)}); its CPUs are told"
        " apart by their number alone, and each counts as a core."
    )
    labels = (node["metadata"].get("labels", {}) for node in everything)
    return ClusterRoom(tuple(rooms), frozenset(each[ROLE] for each in labels if ROLE in each), note)


def _requests_of_others(cluster: Cluster) -> Mapping[str, CpusAndMemory]:
    """What pods request which are no session's of the namespace, by node; nothing where they may not be listed."""
    unfinished = "status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed"
    requested = defaultdict[str, CpusAndMemory](lambda: CpusAndMemory(0.0, 0.0))
    with contextlib.suppress(ApiError):
        for pod in cluster.get(f"/api/v1/pods?fieldSelector={unfinished}")["items"]:
            ours = pods.SESSION in pod["metadata"].get("labels", {})
            if not (ours and pod["metadata"]["namespace"] == cluster.namespace):
                name = pods.node(pod)
                requested[name] = CpusAndMemory(*map(add, requested[name], pods.requests_of(pod)))
    return requested


def examine(cluster: Cluster) -> list[DoctorFinding]:
    """What in a cluster would disturb a measurement, or keep a session from being made; nothing is changed."""
    findings = [_client(cluster), _rights(cluster), _level(cluster)]
    try:
        nodes = cluster.objects("nodes")
    except ApiError as error:
        why = "placement, CPU manager and neighbours decide what a figure means"
        return [*findings, DoctorFinding("nodes", why, f"may not be listed ({error.message})", "warn", None)]
    findings.append(_nodes(nodes))
    findings += [_cpu_manager(cluster, nodes), _neighbours(cluster), _clock(cluster)]
    return findings


def _client(cluster: Cluster) -> DoctorFinding:
    why = "what answers is what is measured on"
    state = f"context {cluster.context or '(this pod)'}, Kubernetes {cluster.version}, namespace {cluster.namespace}"
    return DoctorFinding("cluster", why, state, "ok", None)


def _rights(cluster: Cluster) -> DoctorFinding:
    why = "a session makes, watches and removes pods in its namespace"
    try:
        lacking = cluster.refusals()
    except ApiError as error:
        return DoctorFinding("rights", why, f"not told ({error.message})", "warn", None)
    if lacking:
        return DoctorFinding(
            "rights",
            why,
            f"you may not {', '.join(lacking)}",
            "warn",
            "k8s/base/experiment/rights.yaml is the role",
        )
    return DoctorFinding("rights", why, "enough for a session", "ok", None)


def _level(cluster: Cluster) -> DoctorFinding:
    why = "what a namespace forbids keeps pods from being made"
    try:
        space = cluster.get(cluster.path("namespaces", cluster.namespace))
        labels = space["metadata"].get("labels", {})
    except ApiError as error:
        make = f"kubectl create namespace {cluster.namespace}" if error.reason == "NotFound" else None
        return DoctorFinding("pod security", why, f"not told ({error.message})", "warn", make)
    return DoctorFinding(
        "pod security",
        why,
        f"level {labels.get(_LEVEL, 'not set')}; trials need no more than restricted",
        "ok",
        None,
    )


def _nodes(nodes: Sequence[Object]) -> DoctorFinding:
    why = "nodes of different kinds or under pressure make trials differ by where they ran"
    descriptions = []
    for node in nodes:
        status, labels = node["status"], node["metadata"].get("labels", {})
        bad = [
            each["type"]
            for each in status["conditions"]
            if each["type"] in _PRESSURES and each["status"] == "True"
        ]
        role = f", {labels[ROLE]}" if ROLE in labels else ""
        descriptions.append(
            f"{node['metadata']['name']} ({status['allocatable']['cpu']} CPUs of {status['capacity']['cpu']},"
            f" {status['nodeInfo']['architecture']}, Linux {status['nodeInfo']['kernelVersion']}{role}"
            f"{', ' + ', '.join(bad) if bad else ''})"
        )
    pressed = len(usable(nodes)) < len(nodes) or any("Pressure" in text for text in descriptions)
    kinds = {
        (node["status"]["nodeInfo"]["architecture"], node["status"]["capacity"]["cpu"]) for node in nodes
    }
    change = f"label nodes {ROLE}=server, injector and database, so that each role has nodes of one kind"
    state = "; ".join(descriptions[:8]) + (
        f"; and {len(descriptions) - 8} more" if len(descriptions) > 8 else ""
    )
    return DoctorFinding(
        "nodes", why, state, "warn" if pressed or len(kinds) > 1 else "ok", change if len(kinds) > 1 else None
    )


def _cpu_manager(cluster: Cluster, nodes: Sequence[Object]) -> DoctorFinding:
    why = "without the static policy no pod has CPUs for its own, and others run on them"
    policies: dict[str, list[str]] = {}
    for node in nodes[:8]:
        name = node["metadata"]["name"]
        try:
            settings = cluster.get(f"{cluster.path('nodes', name)}/proxy/configz", patient=False)
            policy = settings["kubeletconfig"].get("cpuManagerPolicy", "none")
        except (ApiError, KeyError):
            policy = "not told"
        policies.setdefault(policy, []).append(name)
    state = "; ".join(f"{policy}: {', '.join(names)}" for policy, names in policies.items())
    fine = set(policies) == {"static"}
    change = None if fine else "start kubelets with cpuManagerPolicy: static, and reserve a CPU for them"
    return DoctorFinding("CPU manager", why, state, "ok" if fine else "info", change)


def _neighbours(cluster: Cluster) -> DoctorFinding:
    why = "what else runs on the nodes takes CPU, caches and network from some trials more than from others"
    try:
        running = cluster.get("/api/v1/pods?fieldSelector=status.phase%3DRunning")["items"]
    except ApiError as error:
        return DoctorFinding("other pods", why, f"may not be listed ({error.message})", "warn", None)
    by_space = Counter(pod["metadata"]["namespace"] for pod in running)
    del by_space[cluster.namespace]
    foreign = {name: count for name, count in by_space.items() if not re.match(r"(kube|openshift)-", name)}
    state = ", ".join(f"{count} of {name}" for name, count in by_space.most_common(6)) or "none"
    alone = f"keep nodes for the measurement: kubectl taint node NODE {ROLE}=server:NoSchedule, or another cluster"
    return DoctorFinding("other pods", why, state, "warn" if foreign else "ok", alone if foreign else None)


def _clock(cluster: Cluster) -> DoctorFinding:
    """By the time that the API server writes on an object, in whole seconds."""
    why = "windows are cut by the clock: nodes and harness must agree"
    before = time.time()
    try:
        metadata = cluster.create("configmaps", _TOKEN, patient=False)["metadata"]
        created = datetime.fromisoformat(metadata["creationTimestamp"]).timestamp()
        cluster.delete("configmaps", metadata["name"])
    except (ApiError, ValueError, KeyError) as error:
        return DoctorFinding("clock", why, f"not told ({error})", "info", None)
    after = time.time()
    apart = max(created - after, before - created - 1.0, 0.0)
    fine = apart <= CLOCK_LIMIT
    state = (
        "agrees with the API server's to a second" if fine else f"{apart:.0f} s or more from the API server's"
    )
    return DoctorFinding(
        "clock", why, state, "ok" if fine else "warn", None if fine else "synchronise both by NTP"
    )


_TOKEN = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "steelyard-clock-"}}
