# SPDX-License-Identifier: Apache-2.0
"""Whether the pods of a trial fit the nodes of a cluster, by the CPUs and the memory that they request (pure)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import sub

from steelyard.engines.kubernetes.manifests import cpus_of, pod_requests
from steelyard.engines.kubernetes.pods import CpusAndMemory, cpus
from steelyard.engines.kubernetes.roles import ROLE, node_role
from steelyard.errors import BadInput, FitsNoNode
from steelyard.results.spec import Component, Spec
from steelyard.units import format_size

_ROUNDING = 1e-6
"""CPUs: requests are sums of thousandths."""


@dataclass(frozen=True)
class NodeRoom:
    """What a node offers to the pods of a trial."""

    role: str | None
    """Its label `ROLE`."""
    allocatable: CpusAndMemory
    """What it offers to pods."""
    free: CpusAndMemory
    """The part of it that pods of others do not request."""

    @property
    def whole_cpus(self) -> int:
        """CPUs that a plan can divide."""
        return math.floor(self.allocatable.cpus)


def check_fits_nodes(spec: Spec, nodes: Sequence[NodeRoom], roles: frozenset[str]) -> None:
    """Refuse pods that the nodes cannot hold, each pod on one node, the largest requests first (first fit decreasing).
    The size of a request is the larger of its shares of the CPUs and of the memory of the largest node.

    Args:
        spec: what a trial deploys.
        nodes: that take pods.
        roles: values of `ROLE` that nodes of the cluster have, ready or not: their pods go to such nodes alone.

    Raises:
        FitsNoNode: a component finds no node.
        BadInput: it finds none however few CPUs it has, as no node has the memory.
    """
    left = [node.free for node in nodes]
    largest = [max((node.allocatable[number] for node in nodes), default=0.0) or 1.0 for number in range(2)]
    requests = {component.name: pod_requests(spec, component) for component in spec.components}

    def size(component: Component) -> float:
        return max(part / most for part, most in zip(requests[component.name], largest, strict=True))

    for component in sorted(spec.components, key=size, reverse=True):
        role, needed = node_role(component), requests[component.name]
        numbers = [number for number, node in enumerate(nodes) if role not in roles or node.role == role]
        labelled = f" labelled {ROLE}={role}" if role in roles else ""
        if not numbers:
            raise FitsNoNode(
                f"{spec.arm}: no node{labelled} is ready and takes pods, as {component.name} needs: see"
                " `./steelyard doctor --engine kubernetes`"
            )
        limit, most = cpus(cpus_of(component)), max(nodes[number].whole_cpus for number in numbers)
        if limit > most + _ROUNDING:
            raise FitsNoNode(
                f"{spec.arm}: {component.name} may use {limit:g} CPUs and no node{labelled} has more than {most}:"
                f" {_FEWER_CPUS}"
            )
        most_memory = max(nodes[number].allocatable.memory for number in numbers)
        if needed.memory > most_memory:
            raise BadInput(
                f"{spec.arm}: {component.name} requests {format_size(needed.memory)} of memory with its observer, and"
                f" no node{labelled} has more than {format_size(most_memory)}: {_LESS_MEMORY}"
            )
        holding = [number for number in numbers if _holds(left[number], needed)]
        if not holding:
            why = _shortage(needed, [left[number] for number in numbers], labelled)
            raise FitsNoNode(f"{spec.arm}: {component.name} requests {why}")
        left[holding[0]] = CpusAndMemory(*map(sub, left[holding[0]], needed))


_FEWER_CPUS = "choose fewer with --set cores=... and --set injector_cores=..., or add nodes"
_LESS_MEMORY = "choose less with memory, total_memory or jitserver.memory, or add nodes"


def _holds(left: CpusAndMemory, needed: CpusAndMemory) -> bool:
    return left.cpus + _ROUNDING >= needed.cpus and left.memory >= needed.memory


def _shortage(needed: CpusAndMemory, left: Sequence[CpusAndMemory], labelled: str) -> str:
    """What a pod requests and no node has free, and what to type."""
    most_cpus, most_memory = max(node.cpus for node in left), max(node.memory for node in left)
    memory = f"{format_size(needed.memory)} of memory"
    if needed.cpus > most_cpus + _ROUNDING:
        return (
            f"{needed.cpus:g} CPUs with its observer, and no node{labelled} has more than {most_cpus:g} free beside the"
            f" other pods: {_FEWER_CPUS}"
        )
    if needed.memory > most_memory:
        return (
            f"{memory} with its observer, and no node{labelled} has more than {format_size(max(most_memory, 0.0))} free"
            f" beside the other pods: {_LESS_MEMORY}"
        )
    return (
        f"{needed.cpus:g} CPUs and {memory} with its observer, and no node{labelled} has both free beside the other"
        f" pods: {_FEWER_CPUS}; or {_LESS_MEMORY}"
    )
