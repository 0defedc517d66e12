# SPDX-License-Identifier: Apache-2.0
"""Specs made by hand from the project's workload files, with figures that a test can tell apart."""

from collections.abc import Mapping
from typing import Any

from builders import make_container, make_spec

from steelyard.experiment.schema import Load
from steelyard.results.spec import Component, Spec
from steelyard.workload import schema
from steelyard.workload.loader import load_workload
from steelyard.workload.schema import ContainerPlace, DataRequest
from steelyard.yamlfile import Scalar

IMAGES = {
    "ping": "reg/ping@sha256:12",
    "acmeair": "reg/acmeair@sha256:12",
    "STEELYARD_MONGO_IMAGE": "reg/embedded-mongo@sha256:56",
    "STEELYARD_NGINX_IMAGE": "reg/nginx@sha256:78",
}
"""By repository or variable."""
LOADGEN = "reg/loadgen@sha256:34"


def described_component(
    kind: str, described: schema.ComponentDescription, name: str, **more: Any
) -> Component:
    """A component as the workload describes it: servers on CPUs 0 and 1, databases on 2 and 3."""
    place = described.container
    assert place is not None
    image = IMAGES.get(place.repository or place.variable or "", place.image)
    return make_container(
        described.role,
        image=image or "",
        name=name,
        kind=kind,
        container=ContainerPlace(
            port=place.port, jvm_options=place.jvm_options, folder=place.folder, user=place.user
        ),
        **{"cpus": [2, 3] if described.role == "database" else [0, 1], **more},
    )


def injector(number: int = 1, **more: Any) -> Component:
    """An injector on CPUs 2 and 3."""
    return make_container(
        "injector", number, image=LOADGEN, kind="load", **{"cpus": [2, 3], "settings": {"users": 8}, **more}
    )


def compose_spec(components: list[Component], workload: str = "test", **more: Any) -> Spec:
    """A spec of these components, on the bundle of own servers unless told."""
    common: dict[str, Any] = {
        "engine": "compose",
        "workload": workload,
        "topology": "t",
        "bundle": "server",
        "load": Load(users=8),
        "components": components,
        "entry": [],
        "mix": {},
        "server_cores": 2,
    }
    return make_spec("a", **{**common, **more})


def spec_of(
    workload: str,
    topology: str | None = None,
    jvms: int = 2,
    port: int = 9500,
    settings: Mapping[str, Scalar] | None = None,
) -> Spec:
    """A topology of one of the project's workloads with one injector; ports in order of the components."""
    loaded = load_workload(workload)
    if settings is not None:
        loaded = loaded.choose(topology, settings, in_containers=True)
    name, chosen = loaded.workload.topology(topology)
    found: list[Component] = []
    for kind, described in chosen.components.items():
        several = described.replicas == "jvms"
        for one in [f"{kind}-{number + 1}" for number in range(jvms)] if several else [kind]:
            published = described.container is not None and described.container.published
            taken = sum(earlier.port is not None for earlier in found)
            found.append(described_component(kind, described, one, port=port + taken if published else None))
    first = {one.kind: one.name for one in reversed(found)}
    data = [DataRequest(component=first[step.component], path=step.path) for step in chosen.data]
    return compose_spec([*found, injector()], workload, topology=name, bundle=chosen.bundle, data=data)
