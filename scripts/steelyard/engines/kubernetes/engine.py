# SPDX-License-Identifier: Apache-2.0
"""The kubernetes engine: base bundle and per-trial overlay, applied by `kubectl` in one namespace.

A trial's directory gets `replay/` (the bundle as rendered, and the overlay), and a folder for each component with what
was brought home from its pod: `servers/NAME/logs`, `load/NAME` of an injector. `logs/pods.json` keeps what the API
server last told of every pod, its node among it.
"""

import contextlib
import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from steelyard.engines.images import image_reference
from steelyard.engines.kubernetes.cluster import Cluster, KubectlFailed
from steelyard.engines.kubernetes.deployment import KubernetesDeployment
from steelyard.engines.kubernetes.large_pages import page_for, reserved
from steelyard.engines.kubernetes.lock import take_lock
from steelyard.engines.kubernetes.manifests import (
    ROLE,
    Marks,
    Object,
    kinds,
    needed,
    overlay,
    require_possible,
)
from steelyard.engines.kubernetes.nodes import daemons, usable
from steelyard.engines.kubernetes.pods import SESSION
from steelyard.engines.kubernetes.removal import MADE, removal_of
from steelyard.errors import Busy, MissingRequirement
from steelyard.paths import ROOT
from steelyard.processes import Children
from steelyard.results.spec import Spec
from steelyard.results.store import write_atomic
from steelyard.workload.schema import Container

BUNDLES = ROOT / "k8s"
HARNESS = Container(repository="harness", flavoured=False)
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
        for spec in specs:
            require_possible(spec)
            bundle_objects(self.cluster, spec)
        _page(self.cluster, specs)
        require_rights(self.cluster)
        take_lock(self.cluster, self.session, self.children)
        sweep(self.cluster)
        self.children.on_crash(
            "kubernetes", [*self.cluster.command, *removal_of(f"{SESSION}={label_value(self.session)}")]
        )
        _refuse_strangers(self.cluster, {kind for spec in specs for kind in kinds(spec)})

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
            roles=_roles(self.cluster),
            large_page=_page(self.cluster, [spec]),
        )

        def write(varied: Spec, folder: Path) -> None:
            for name, text in overlay(varied, bundle_objects(self.cluster, varied), marks).items():
                write_atomic(folder / name, text)

        write(spec, directory / "replay")
        return KubernetesDeployment(self.cluster, self.children, spec, directory, trial, write)


def label_value(text: str) -> str:
    """A text such that it may be the value of a label, its end kept: that tells trials apart."""
    return re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", re.sub(r"[^A-Za-z0-9_.-]", "-", text)[-63:])


def require_rights(cluster: Cluster) -> None:
    """Refuse a namespace that is not there, or in which the user may not do what a session does (raises
    MissingRequirement)."""
    try:
        lacking = cluster.refusals()
        if not lacking:
            cluster.get("pods", f"--selector={SESSION}")
            # A namespace that is not there has no objects, and nobody may be told so.
            cluster.run("create", "--dry-run=server", "--filename=-", given=json.dumps(_PROBE))
    except KubectlFailed as error:
        missing = re.search(r'namespaces "([^"]+)" not found', error.said)
        if missing is not None:
            raise MissingRequirement(
                f"there is no namespace {missing[1]} in {cluster.context or 'this cluster'}: make one with"
                f" `kubectl create namespace {missing[1]}`, or name another with --namespace"
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
        cluster.run(*removal_of(SESSION), whole=True)
        # The pods alone may be watched, and all else is gone at once.
        cluster.run(
            "wait",
            "--for=delete",
            "pods",
            f"--selector={SESSION}",
            "--timeout=300s",
            timeout=310.0,
            whole=True,
        )
    except KubectlFailed as error:
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
    parts = [folder, folder / "load", *(BUNDLES / "base" / one.kind for one in spec.of("compiler"))]
    try:
        texts = [_rendered(cluster, one) for one in parts if one.exists()]
    except KubectlFailed as error:
        raise MissingRequirement(f"the bundle k8s/{spec.bundle} cannot be rendered ({error.said})") from error
    return needed(spec, [one for text in texts for one in yaml.safe_load_all(text) if one])


@functools.cache
def _rendered(cluster: Cluster, folder: Path) -> str:
    return cluster.run("kustomize", str(folder))


def _refuse_strangers(cluster: Cluster, names: set[str]) -> None:
    """Somebody may have deployed the same bundle by hand: its objects must not be taken for ours (raises Busy)."""
    listed = cluster.get(MADE, f"--selector=!{SESSION}")
    taken = sorted(
        f"{one['kind'].lower()}/{one['metadata']['name']}"
        for one in listed
        if one["metadata"]["name"] in names
    )
    if taken:
        raise Busy(
            f"somebody has deployed {', '.join(taken)} in the namespace {cluster.namespace}: remove that, or name"
            " another namespace with --namespace"
        )


def _roles(cluster: Cluster) -> frozenset[str]:
    """Roles for which the cluster has nodes of their own; none where nodes may not be listed."""
    nodes: list[dict[str, Any]] = []
    with contextlib.suppress(KubectlFailed):
        nodes = cluster.get("nodes", f"--selector={ROLE}")
    return frozenset(one["metadata"]["labels"][ROLE] for one in nodes)


def _page(cluster: Cluster, specs: Sequence[Spec]) -> int | None:
    """As `page_for` of the nodes that take pods (raises MissingRequirement)."""
    if not any(one.large_heap for spec in specs for one in spec.servers):
        return None
    try:
        return page_for(specs, reserved(usable(cluster.get("nodes"))))
    except KubectlFailed as error:
        raise MissingRequirement(
            f"which large pages the nodes have is not told, as they may not be listed ({error.said}): have `list nodes`"
            " granted (k8s/base/experiment/nodes.yaml)"
        ) from error
