# SPDX-License-Identifier: Apache-2.0
"""What a plan gives pods, and what the nodes of a cluster have."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm
from fake_api import FakeApi, cluster
from planned import containers, question

from steelyard.engines.kubernetes.manifests import cpus_of, pod_requests
from steelyard.engines.kubernetes.nodes import read_room
from steelyard.engines.kubernetes.placement import NodeRoom, check_fits_nodes
from steelyard.engines.kubernetes.pods import CpusAndMemory, quantity
from steelyard.engines.kubernetes.roles import ROLE
from steelyard.errors import BadInput, FitsNoNode
from steelyard.experiment.matrix import expand
from steelyard.experiment.schema import DeploymentSettings
from steelyard.results.spec import Spec
from steelyard.session.runtimes import RuntimeResolver
from steelyard.session.specs import make_specs
from steelyard.spec.layout import FIRST_PORT, Runtime

Json = dict[str, Any]
APART = ("cores=12", "injector_cores=4")


def node(name: str, cpus: str, role: str | None = None, memory: str = "64Gi") -> Json:
    return {
        "metadata": {"name": name, "labels": {ROLE: role} if role else {}},
        "spec": {},
        "status": {
            "allocatable": {"cpu": cpus, "memory": memory},
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"architecture": "amd64"},
        },
    }


def workload(kind: str, name: str) -> Json:
    pod = {"containers": [{"name": name, "image": "any"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod}},
    }


WORKLOADS = (workload("StatefulSet", "server"), workload("Job", "load"))


class Resolver(RuntimeResolver):
    """A resolver that asks for no images."""

    def runtime(self, deployment: DeploymentSettings, *_settings: object) -> Runtime:
        """As many CPUs as the cluster has."""
        assert deployment.engine == "kubernetes"
        return containers("server", jvm=make_jvm("hotspot"), cpus=self.cluster_cpus())


def plan(folder: Path, nodes: Mapping[str, str], *settings: str) -> dict[str, Spec]:
    """The specs of one and of two JVMs on nodes: CPUs, and memory where that is little, by name and role."""
    found = question("jvm-count", "engine=kubernetes", "jvms=1,2", *settings, workload="ping")
    with cluster(WORKLOADS, folder) as (api, made):
        for name, size in nodes.items():
            cpus, _, memory = size.partition(" ")
            api.put("nodes", node(name, cpus, name.partition("-")[2] or None, memory or "64Gi"), "/api/v1")
        resolver = Resolver(found.workload, None, _cluster=made)
        return make_specs(expand(found.experiment, found.settings), found.experiment, resolver, FIRST_PORT)[0]


def given(spec: Spec) -> tuple[int, int]:
    """CPUs of all servers, and of the injectors."""
    return len(spec.server_cpus), len(spec.injectors[0].cpus)


@pytest.mark.parametrize(
    ("nodes", "servers", "injectors"),
    [
        ({"a": "2"}, 2, 2),  # all share them
        ({"a": "8"}, 4, 2),
        ({"a": "2", "b": "2", "c": "2"}, 2, 2),
        ({"a": "8", "b": "8"}, 6, 4),
        ({"a-server": "8", "b-injector": "8"}, 6, 4),
        ({"a": "32"}, 22, 8),
    ],
)
def test_a_division_by_default_fits_the_nodes(
    tmp_path: Path, nodes: Mapping[str, str], servers: int, injectors: int
) -> None:
    specs = plan(tmp_path, nodes)
    assert {given(spec) for spec in specs.values()} == {(servers, injectors)}
    largest = max(map(int, nodes.values()))
    for spec in specs.values():
        assert all(int(cpus_of(component)) <= largest for component in spec.components)
        if len(nodes) == 1:
            assert sum(pod_requests(spec, component).cpus for component in spec.components) <= largest
        unused = sum(map(int, nodes.values())) - len({cpu for one in spec.components for cpu in one.cpus})
        assert any(note.startswith(f"{unused} of the cluster's") for note in spec.notes) == (unused > 0)


@pytest.mark.parametrize(
    ("nodes", "settings", "said"),
    [
        (
            {"a": "8", "b": "8"},
            APART,
            r"server-1 may use 12 CPUs and no node has more than 8: choose fewer with --set cores=",
        ),
        (
            {"a": "8"},
            ("cores=6", "injector_cores=2"),
            r"injector-1 requests 2.25 CPUs with its observer, and no node has more than 1.75 free",
        ),
        (
            {"a-server": "8", "b-injector": "4"},
            ("cores=6", "injector_cores=4"),
            rf"injector-1 requests 4.25 .* no node labelled {ROLE}=injector has more than 4 free",
        ),
        ({"a": "2", "b": "2", "c": "2"}, ("cores=6", "injector_cores=shared"), "may use 6 CPUs"),
    ],
)
def test_what_fits_no_node_is_refused_before_the_first_trial(
    tmp_path: Path, nodes: Mapping[str, str], settings: tuple[str, ...], said: str
) -> None:
    with pytest.raises(FitsNoNode, match=said):
        plan(tmp_path, nodes, *settings)


def test_a_division_that_was_asked_for_is_kept_where_it_fits(tmp_path: Path) -> None:
    specs = plan(tmp_path, {"a-server": "8", "b-injector": "8"}, "cores=6", "injector_cores=6")
    assert {given(spec) for spec in specs.values()} == {(6, 6)}
    assert not any("unused" in note for spec in specs.values() for note in spec.notes)


def test_a_role_whose_nodes_take_no_pods(tmp_path: Path) -> None:
    (spec, _) = plan(tmp_path, {"a": "8"}).values()
    with pytest.raises(FitsNoNode, match=rf"no node labelled {ROLE}=injector is ready"):
        check_fits_nodes(spec, [room(8, 64, "server")], frozenset({"server", "injector"}))


def room(cpus: float, memory: float, role: str | None = None, taken: float = 0) -> NodeRoom:
    """A node with so much memory, GiB, of which pods of others request a part."""
    return NodeRoom(role, CpusAndMemory(cpus, memory * 2**30), CpusAndMemory(cpus, (memory - taken) * 2**30))


def test_memory_is_counted_as_the_manifests_request_it(tmp_path: Path) -> None:
    """Pods of 6 GiB on a node of 4 waited for room, and ended the first trial."""
    limited = ("total_memory=6g", "total_heap=2g", "cores=4", "injector_cores=2")
    with pytest.raises(
        BadInput,
        match=r"server-1 requests 6,272 MiB of memory with its observer, and no node has more than 4,096 MiB: choose",
    ) as refused:
        plan(tmp_path, {"a": "8 4Gi"}, *limited)
    assert not isinstance(refused.value, FitsNoNode), "fewer CPUs would not help"
    one, two = plan(tmp_path, {"a": "8 8Gi"}, *limited).values()
    assert pod_requests(one, one.servers[0]) == CpusAndMemory(4.25, 6272 * 2**20)
    assert pod_requests(one, one.injectors[0]) == CpusAndMemory(2.25, 128 * 2**20)
    check_fits_nodes(two, [room(4.5, 4), room(4.5, 4)], frozenset())
    with pytest.raises(
        FitsNoNode,
        match=r"requests 3,200 MiB of memory .* no node has more than 896 MiB free beside the other pods",
    ):
        check_fits_nodes(two, [room(16, 4)], frozenset())
    with pytest.raises(FitsNoNode, match=r"server-1 requests 6,272 MiB .* more than 6,144 MiB free"):
        check_fits_nodes(one, [room(16, 8, taken=2)], frozenset())
    with pytest.raises(FitsNoNode, match=r"4.25 CPUs and 6,272 MiB of memory .* has both free"):
        check_fits_nodes(one, [room(16, 8, taken=2), room(4, 8)], frozenset())


def test_sizes_as_clusters_write_them() -> None:
    """An autoscaler's recommendation has thousandths of a byte, and ended the plan."""
    assert (quantity("128974848000m"), quantity("1Pi"), quantity("2E")) == (128974848, 2**50, 2 * 10**18)


def test_what_pods_of_others_request_is_not_there() -> None:
    def pod(space: str, where: str, *cpus: str, **more: Any) -> Json:
        listed = [{"resources": {"requests": {"cpu": cpu, "memory": "512Mi"}}} for cpu in cpus]
        labels = {"steelyard.dev/session": "s-1"} if space == "trials" else {}
        metadata = {"namespace": space, "labels": labels}
        return {"metadata": metadata, "spec": {"nodeName": where, "containers": [*listed, {}], **more}}

    running = [
        pod("kube-system", "a", "250m", "100m"),
        pod("shop", "a", "1", initContainers=[{"resources": {"requests": {"cpu": "1500m"}}}]),
        pod("trials", "b", "3"),  # goes before the session begins
    ]
    with cluster() as (api, made):
        listed(api, running)
        free = [each.free for each in read_room(made).nodes]
        assert [each.cpus for each in free] == pytest.approx([4 - 0.35 - 1.5, 4])
        assert [each.memory / 2**30 for each in free] == [64 - 1.5, 64]
        api.answers["GET /api/v1/pods?"] = (403, json.dumps({"message": "no", "reason": "Forbidden"}))
        assert [each.free for each in read_room(made).nodes] == [CpusAndMemory(4, 64 * 2**30)] * 2


def listed(api: FakeApi, running: list[Json]) -> None:
    for name in ("a", "b"):
        api.put("nodes", node(name, "4"), "/api/v1")
    api.answers["GET /api/v1/pods?"] = (200, json.dumps({"items": running}))
