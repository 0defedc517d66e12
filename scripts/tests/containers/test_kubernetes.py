# SPDX-License-Identifier: Apache-2.0
"""The bundles of k8s/ on a real Kubernetes node of this machine, as a person applies them."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from waiting import wait_until

from .bundle import PATIENT
from .node import Node, conditions, kustomization

pytestmark = pytest.mark.containers
QUICK = ("hotspot", "embedded-mongo")
ROW = re.compile(r"^  (\S+) +([\d,]+) +([\d,]+) ", re.MULTILINE)
"""An operation of a summary for people: its name, requests and errors."""


@pytest.fixture(scope="module")
def ping(node: Node, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The ping bundle on HotSpot, ready; its namespace."""
    folder = kustomization(tmp_path_factory.mktemp("ping"), ["overlays/small/ping"], QUICK)
    node.kubectl("apply", "--kustomize", folder)
    try:
        node.roll_out("steelyard-ping", "server")
        yield "steelyard-ping"
    finally:
        node.remove(folder, "steelyard-ping")


def under_load(node: Node, namespace: str, folder: str) -> dict[str, int]:
    """Let a bundle's load Job run to its end; requests by operation, as its summary of all injectors tells them."""
    node.kubectl("apply", "--kustomize", folder)
    node.finish(namespace, "load")
    found = node.get("pods", "--namespace", namespace, "--selector", "app.kubernetes.io/name=load")["items"]
    assert len(found) == 2
    first = next(pod["metadata"]["name"] for pod in found if pod["metadata"]["name"].startswith("load-0-"))
    log = node.kubectl("logs", first, "--namespace", namespace)
    _, told, rows = log.partition("All 2 injectors: ")
    assert told, log
    operations = ROW.findall(rows)
    assert operations, log
    assert {errors for _, _, errors in operations} == {"0"}, log
    return {name: int(requests.replace(",", "")) for name, requests, _ in operations}


def short(folder: Path, bundle: str, seconds: int) -> str:
    """A bundle's load, for a few seconds."""
    patch = [
        {
            "op": "replace",
            "path": "/spec/template/spec/containers/0/env/4/value",
            "value": f"{seconds}, {PATIENT}",
        }
    ]
    job = {"target": {"kind": "Job", "name": "load"}, "patch": json.dumps(patch)}
    return kustomization(folder / "load", [f"overlays/small/{bundle}/load"], patches=[job])


def test_ping_under_the_load_of_two_injectors(node: Node, ping: str, tmp_path: Path) -> None:
    assert node.path(ping, "server", "/ping").strip() == "pong"
    before = counted(node, ping)
    requests = under_load(node, ping, short(tmp_path, "ping", 5))
    assert requests["ping"] > 10
    assert counted(node, ping) - before == requests["ping"]


def counted(node: Node, namespace: str) -> int:
    """Requests that the server itself has counted."""
    counters = json.loads(node.path(namespace, "server", "/bench/counters"))
    return int(counters["operations"]["ping"]["requests"])


def test_a_namespace_takes_no_pod_with_more_rights_and_gives_its_pods_none(node: Node, ping: str) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "more", "namespace": ping},
        "spec": {
            "containers": [
                {"name": "more", "image": "localhost/none:1", "securityContext": {"privileged": True}}
            ]
        },
    }
    refused = node.ask("create", "--filename", "-", text=json.dumps(pod))
    assert refused.returncode != 0
    assert 'violates PodSecurity "restricted:latest"' in refused.stderr
    # Who runs in a pod may ask nothing of the cluster; the administrator may.
    account = f"--as=system:serviceaccount:{ping}:default"
    asked = ("auth", "can-i", "list", "pods", "--namespace", ping)
    assert node.ask(*asked, account).stdout.strip() == "no"
    assert node.ask(*asked).stdout.strip() == "yes"
    server = node.get("pod", "server-0", "--namespace", ping)["spec"]
    assert not any("token" in mount["name"] for one in server["containers"] for mount in one["volumeMounts"])


def test_acmeair_loads_its_data_and_serves(node: Node, tmp_path: Path) -> None:
    namespace = "steelyard-acmeair-monolith"
    folder = kustomization(tmp_path / "acmeair", ["overlays/small/acmeair-monolith"], QUICK)
    node.kubectl("apply", "--kustomize", folder)
    try:
        node.finish(namespace, "data")
        assert node.path(namespace, "server", "/rest/info/config/countCustomers").strip() == "200"
        # Data can be loaded anew, into servers that run on.
        node.kubectl("delete", "job", "data", "--namespace", namespace)
        node.kubectl("apply", "--kustomize", folder)
        node.finish(namespace, "data")
        requests = under_load(node, namespace, short(tmp_path, "acmeair-monolith", 5))
        assert requests["login"] > 0
        assert requests["query-flight"] > 0
    finally:
        node.remove(folder, namespace)


def test_full_size_overlays_find_their_places(node: Node, tmp_path: Path) -> None:
    """Twelve nodes of 32 CPUs, with no kubelet behind them: where the scheduler puts every pod is what is proven."""
    roles = ["server"] * 8 + ["database"] * 2 + ["injector"] * 2
    fakes = node.make_nodes(roles, cpus=32, memory="128Gi")
    namespace = "steelyard-acmeair-microservices"
    kinds = ("auth", "customer", "flight", "booking", "main")
    bundle = kustomization(
        tmp_path / "bundle",
        ["overlays/lab/acmeair-microservices", "overlays/lab/acmeair-microservices/load"],
        replicas=[{"name": kind, "count": 8} for kind in kinds],
    )
    try:
        node.kubectl("apply", "--kustomize", bundle)
        wanted = 5 * 8 + 3 + 1 + 1 + 1 + 2  # services, databases, proxy, data, password, injectors
        placed = wait_for_places(node, namespace, wanted)
        servers = Counter(place for role, place in placed if role == "server")
        assert set(servers.values()) == {5}  # 40 servers on 8 nodes
        for role, place in placed:
            assert role in ("data", "password") or place.endswith(f"-{ {'proxy': 'server'}.get(role, role) }")
    finally:
        clear_places(node, bundle, namespace, fakes)


def test_injectors_stand_on_another_node_than_what_they_load(node: Node, tmp_path: Path) -> None:
    """Two nodes for the scheduler alone, in the place of the real one; no overlay and no label says where."""
    namespace = "steelyard-acmeair-monolith"
    bundle = kustomization(
        tmp_path / "bundle",
        ["acmeair-monolith", "acmeair-monolith/load"],
        replicas=[{"name": "server", "count": 3}],
    )
    (real,) = (one["metadata"]["name"] for one in node.get("nodes")["items"])
    node.kubectl("cordon", real)
    fakes = node.make_nodes(["any", "any"], cpus=16, memory="64Gi")
    try:
        node.kubectl("apply", "--kustomize", bundle)
        placed = wait_for_places(
            node, namespace, 3 + 1 + 1 + 1 + 2
        )  # servers, database, data, password, injectors
        nodes = {wanted: {place for role, place in placed if role == wanted} for wanted, _ in placed}
        assert nodes["server"] == nodes["database"], placed
        assert len(nodes["server"]) == len(nodes["injector"]) == 1, placed
        assert nodes["server"] | nodes["injector"] == set(fakes)
    finally:
        clear_places(node, bundle, namespace, fakes)
        node.kubectl("uncordon", real)


def clear_places(node: Node, bundle: str, namespace: str, fakes: list[str]) -> None:
    """Delete a bundle whose pods never ran, and the nodes that it was placed on."""
    node.kubectl("delete", "--kustomize", bundle, "--wait=false")
    node.kubectl("delete", "pods", "--all", "--force", "--grace-period=0", "--namespace", namespace)
    node.kubectl("delete", "node", *fakes)
    node.wait_until_gone(f"namespace/{namespace}")


def wait_for_places(node: Node, namespace: str, wanted: int) -> list[tuple[str, str]]:
    """Role and node of every pod, as soon as there are as many as wanted and all have one."""

    def placed() -> list[tuple[str, str]]:
        return [
            (pod["metadata"]["labels"]["app.kubernetes.io/component"], pod["spec"]["nodeName"])
            for pod in node.get("pods", "--namespace", namespace)["items"]
            if any(one["type"] == "PodScheduled" for one in conditions(pod))
        ]

    return wait_until(
        lambda: found if len(found := placed()) == wanted else [],
        lambda: f"a place for {wanted} pods: {node.story(namespace)}",
    )
