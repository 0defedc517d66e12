# SPDX-License-Identifier: Apache-2.0
"""The kubernetes engine: base bundle and per-trial overlay, rendered by `kubectl`, applied in one namespace.

A trial's directory gets `replay/` (the bundle as rendered, and the overlay), and a folder for each component with what
was brought home from its pod: `servers/NAME/logs`, `load/NAME` of an injector. `logs/pods.json` keeps what the API
server last told of every pod, its node among it.
"""

import contextlib
import functools
import re
import secrets
from collections.abc import Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from steelyard.engines.images import image_reference
from steelyard.engines.kubernetes.api import ApiError, Object
from steelyard.engines.kubernetes.cluster import MADE, OURS, Cluster, api_resource
from steelyard.engines.kubernetes.deployment import KubernetesDeployment
from steelyard.engines.kubernetes.large_pages import page_for, reserved_pages
from steelyard.engines.kubernetes.lock import take_lock
from steelyard.engines.kubernetes.manifests import (
    Marks,
    kinds,
    name_services,
    overlay,
    require_possible,
    select_objects,
)
from steelyard.engines.kubernetes.nodes import daemons, usable
from steelyard.engines.kubernetes.pods import SESSION
from steelyard.engines.kubernetes.roles import ROLE
from steelyard.errors import Busy, MissingRequirement
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.results.store import write_atomic
from steelyard.workload.schema import ContainerDescription

BUNDLES = ROOT / "k8s"
SWEEP_LIMIT = 300.0
"""Seconds that what an earlier session left may take to be gone."""
_CONSTRAINTS = "security.openshift.io"
"""Where a cluster has this group, its constraint `restricted-v2` gives each namespace users of its own."""
HARNESS = ContainerDescription(repository="harness", flavoured=False)
"""The image of the observers."""


@dataclass(frozen=True)
class KubernetesEngine:
    """Runs the components of specs as pods in one namespace of a cluster."""

    children: Children
    cluster: Cluster
    session: str

    def check(self, specs: Sequence[Spec]) -> None:
        """Take the namespace for this session, and remove what others left in it; refuse what cannot work there.

        Raises:
            MissingRequirement: rights, a bundle, large pages of the nodes.
            BadInput: a spec that cannot be had in a cluster.
            Busy: another session runs in the namespace, or somebody else's objects bear names of ours.
        """
        made = set[tuple[str, str]]()
        for spec in specs:
            require_possible(spec)
            made |= {(resource, name) for resource in MADE for name in kinds(spec)}
            objects = (*bundle_objects(self.cluster, spec), *name_services(spec))
            made |= {(api_resource(thing), thing["metadata"]["name"]) for thing in objects}
        _page(self.cluster, specs)
        require_rights(self.cluster)
        take_lock(self.cluster, self.session, self.children)
        sweep(self.cluster)
        self.children.on_crash(
            "kubernetes", self.cluster.removal_of(f"{SESSION}={label_value(self.session)}")
        )
        _refuse_strangers(self.cluster, made)

    def daemons(self) -> list[int]:
        """What of the cluster runs on this host."""
        return daemons()

    def open(self, spec: Spec, directory: Path) -> KubernetesDeployment:
        """Write `replay/`: the bundle with the overlay of this trial."""
        trial = label_value(f"{directory.parent.parent.name}-{directory.name}")
        marks = Marks(
            namespace=self.cluster.namespace,
            session=label_value(self.session),
            trial=trial,
            observer=image_reference(HARNESS),
            token=secrets.token_hex(16),
            roles=_roles(self.cluster),
            large_page=_page(self.cluster, [spec]),
            chooses_users=self.cluster.has_api(_CONSTRAINTS),
        )

        def write(varied: Spec, folder: Path) -> None:
            for name, text in overlay(varied, bundle_objects(self.cluster, varied), marks).items():
                write_atomic(folder / name, text)

        write(spec, directory / "replay")
        return KubernetesDeployment(self.cluster, spec, directory, trial, marks.token, write)


def label_value(text: str) -> str:
    """A text such that it may be the value of a label, its end kept: that tells trials apart."""
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", re.sub(r"[^A-Za-z0-9_.-]", "-", text)[-63:])


def require_rights(cluster: Cluster) -> None:
    """Refuse a namespace that is not there, or in which the user may not do what a session does (raises
    MissingRequirement)."""
    try:
        lacking = cluster.refusals()
        if not lacking:
            # A namespace that is not there has no objects, and nobody may be told so.
            cluster.create("configmaps", _PROBE, dry_run=True)
    except ApiError as error:
        if error.reason == "NotFound":
            name = cluster.namespace
            raise MissingRequirement(
                f"there is no namespace {name} in {cluster.context or 'this cluster'}: make one with"
                f" `kubectl create namespace {name}`, or name another with --namespace"
            ) from error
        raise MissingRequirement(f"the cluster does not let a session be made ({error})") from error
    if lacking:
        raise MissingRequirement(
            f"you may not {', '.join(lacking)} in the namespace {cluster.namespace}: have somebody grant it"
            " (k8s/base/experiment/rights.yaml is the role), or name another namespace with --namespace"
        )


_PROBE = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "steelyard-probe"}}


def sweep(cluster: Cluster) -> None:
    """Remove what sessions left that ended without it. The lock of the namespace has to be held: then it is nobody's.

    Raises:
        MissingRequirement: it cannot be removed.
    """
    try:
        cluster.remove(OURS, SESSION)
        cluster.wait_until_gone(OURS, SESSION, within=SWEEP_LIMIT)
    except ApiError as error:
        raise MissingRequirement(f"what an earlier session left cannot be removed ({error})") from error


def bundle_objects(cluster: Cluster, spec: Spec) -> list[Object]:
    """What a trial takes of its bundle, of the bundle's load and of compilers, as kustomize renders them.

    Raises:
        MissingRequirement: there is no such bundle, or it cannot be rendered.
        BadInput: it lacks a kind of component.
    """
    folder = BUNDLES / spec.bundle
    if not (folder / "kustomization.yaml").exists():
        raise MissingRequirement(
            f"there is no bundle k8s/{spec.bundle} for {spec.workload}: choose another workload, or --engine process or"
            " compose"
        )
    # A JITServer is of no workload: it is there for any.
    parts = [
        folder,
        folder / "database",  # where it has a namespace of its own; a trial has all in one
        folder / "load",
        *(BUNDLES / "base" / component.kind for component in spec.of("compiler")),
    ]
    try:
        return select_objects(
            spec, [thing for part in parts if part.exists() for thing in _render(cluster, part)]
        )
    except ApiError as error:
        raise MissingRequirement(
            f"the bundle k8s/{spec.bundle} cannot be rendered ({error.message})"
        ) from error


@functools.cache
def _render(cluster: Cluster, folder: Path) -> Sequence[Object]:
    return cluster.render(folder)


def _refuse_strangers(cluster: Cluster, made: Set[tuple[str, str]]) -> None:
    """Somebody may have deployed the same bundle by hand, or other objects whose names trials give to theirs (`made`:
    resource and name): a trial would write over them, and remove them at its end (raises Busy)."""
    taken = sorted(
        f"{resource.removesuffix('s')}/{thing['metadata']['name']}"
        for resource in sorted({resource for resource, _ in made})
        for thing in cluster.objects(resource, f"!{SESSION}")
        if (resource, thing["metadata"]["name"]) in made
    )
    if taken:
        raise Busy(
            f"somebody has deployed {', '.join(taken)} in the namespace {cluster.namespace}: remove that, or name"
            " another namespace with --namespace"
        )


def _roles(cluster: Cluster) -> frozenset[str]:
    """Roles for which the cluster has nodes of their own; none where nodes may not be listed."""
    nodes: list[Object] = []
    with contextlib.suppress(ApiError):
        nodes = cluster.objects("nodes", ROLE)
    return frozenset(node["metadata"]["labels"][ROLE] for node in nodes)


def _page(cluster: Cluster, specs: Sequence[Spec]) -> int | None:
    """As `page_for` of the nodes that take pods (raises MissingRequirement)."""
    if not any(server.large_heap for spec in specs for server in spec.servers):
        return None
    try:
        return page_for(specs, reserved_pages(usable(cluster.objects("nodes"))))
    except ApiError as error:
        raise MissingRequirement(
            f"which large pages the nodes have is not told, as they may not be listed ({error.message}): have"
            " `list nodes` granted (k8s/base/experiment/nodes.yaml)"
        ) from error
