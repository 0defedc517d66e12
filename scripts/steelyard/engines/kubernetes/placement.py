# SPDX-License-Identifier: Apache-2.0
"""Whether the pods of a trial fit the nodes of a cluster, by the CPUs that they request and may use (pure)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.engines.kubernetes.manifests import cpus_of, requested_cpus
from steelyard.engines.kubernetes.pods import cpus
from steelyard.engines.kubernetes.roles import ROLE, node_role
from steelyard.errors import FitsNoNode
from steelyard.results.spec import Component, Spec

_ROUNDING = 1e-6
"""CPUs: requests are sums of thousandths."""


@dataclass(frozen=True)
class NodeRoom:
    """What a node offers to the pods of a trial."""

    role: str | None
    """Its label `ROLE`."""
    allocatable: float
    """CPUs that it offers to pods."""
    free: float
    """CPUs of these that pods of others do not request."""

    @property
    def whole_cpus(self) -> int:
        """CPUs that a plan can divide."""
        return math.floor(self.allocatable)


def check_fits_nodes(spec: Spec, nodes: Sequence[NodeRoom], roles: frozenset[str]) -> None:
    """Refuse pods that the nodes cannot hold, each pod on one node, the largest requests first (first fit decreasing).

    Args:
        spec: what a trial deploys.
        nodes: that take pods.
        roles: values of `ROLE` that nodes of the cluster have, ready or not: their pods go to such nodes alone.

    Raises:
        FitsNoNode: a component finds no node.
    """
    left = [node.free for node in nodes]
    for component in sorted(spec.components, key=lambda each: -requested_cpus(spec, each)):
        role = node_role(component)
        numbers = [number for number, node in enumerate(nodes) if role not in roles or node.role == role]
        labelled = f" labelled {ROLE}={role}" if role in roles else ""
        if not numbers:
            raise FitsNoNode(
                f"{spec.arm}: no node{labelled} is ready and takes pods, as {component.name} needs: see"
                " `./steelyard doctor --engine kubernetes`"
            )
        limit, most = cpus(cpus_of(component)), max(nodes[number].whole_cpus for number in numbers)
        if limit > most + _ROUNDING:
            raise _refusal(
                spec, component, f"may use {limit:g} CPUs and no node{labelled} has more than {most}"
            )
        needed = requested_cpus(spec, component)
        holding = [number for number in numbers if left[number] + _ROUNDING >= needed]
        if not holding:
            most_left = max(left[number] for number in numbers)
            raise _refusal(
                spec,
                component,
                f"requests {needed:g} CPUs with its observer, and no node{labelled} has more than {most_left:g} free"
                " beside the other pods",
            )
        left[holding[0]] -= needed


def _refusal(spec: Spec, component: Component, why: str) -> FitsNoNode:
    return FitsNoNode(
        f"{spec.arm}: {component.name} {why}: choose fewer with --set cores=... and --set injector_cores=..., or add"
        " nodes"
    )
