# SPDX-License-Identifier: Apache-2.0
"""The overlay that makes a hand-written bundle of `k8s/` deploy one trial (pure).

The objects of a bundle, as kustomize renders them -> those that the trial needs (`bundle.yaml`), a patch for each kind
of component (`KIND.yaml`), names for components that are one of several (`names.yaml`) -> `kustomization.yaml`. They
lie in the trial's `replay/`, where `kubectl apply -k .` repeats the trial by hand.

A kind of component is a StatefulSet, or a Deployment where there is one pod; injectors are an Indexed Job. Component
`server-2` is pod `server-1`. Each pod gets an observer beside the component (sampling/observe.py).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import yaml

from steelyard.engines.container import (
    CACHE_FOLDER,
    LOAD_FOLDER,
    container_folder,
    environment,
    uses_cache,
)
from steelyard.engines.kubernetes.api import Object
from steelyard.engines.kubernetes.large_pages import resource_of
from steelyard.engines.kubernetes.password import secret_of, stand_in, with_passwords
from steelyard.engines.kubernetes.pods import NAME, SESSION, TRIAL, CpusAndMemory, requests_of
from steelyard.engines.kubernetes.roles import ROLE, TOLERATION, node_role
from steelyard.errors import BadInput
from steelyard.host.preparing import pages_of
from steelyard.results.spec import MEASURED_ROLES, Component, Role, Spec
from steelyard.sampling.config import MARKER, SETTINGS

OBSERVER = "observer"
_WORKLOADS = ("StatefulSet", "Deployment", "Job")
_BESIDE = ("Service", "ConfigMap")
_INDEX = "JOB_COMPLETION_INDEX"
_OBSERVED = "observed"
_SAMPLED_AS: Mapping[Role, str] = {"server": "server", "compiler": "server", "injector": "injector"}
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_USERS = ("runAsUser", "runAsGroup", "fsGroup")
_SHARE = "100m"
"""CPU that is requested for what shares its CPUs with others: what it may use is its limit."""
_OBSERVER = {"cpu": "250m", "memory": "128Mi"}
"""What an observer is given in a pod that has CPUs of its own."""
_OBSERVER_SHARE = {"cpu": "50m", "memory": "64Mi"}


@dataclass(frozen=True)
class Marks:
    """Whose objects they are, and where."""

    namespace: str
    session: str
    trial: str
    observer: str
    """Image of the observers."""
    token: str
    """What they are asked with: whoever runs in the cluster may reach them."""
    roles: frozenset[str] = field(default_factory=frozenset)
    """Values of the label `ROLE` that nodes of the cluster have."""
    large_page: int | None = None
    """Bytes of the large pages that nodes have reserved; None: they have none."""
    chooses_users: bool = False
    """Whether the cluster gives pods their users and refuses those that name one (OpenShift)."""


def kinds(spec: Spec) -> dict[str, list[Component]]:
    """The components of a spec by their kind."""
    by_kind: dict[str, list[Component]] = {}
    for component in spec.components:
        by_kind.setdefault(component.kind, []).append(component)
    return by_kind


def check_uniform(spec: Spec) -> None:
    """Refuse components of a kind that differ: one template makes all pods of a kind (raises BadInput)."""
    for component_kind, components in kinds(spec).items():
        made = [
            (
                component.artifact.image,
                len(component.cpus),
                component.cpu_quota,
                component.memory_bytes,
                _environment(component) if component.role != "injector" else {},
            )
            for component in components
        ]
        if any(other != made[0] for other in made):
            raise BadInput(
                f"{spec.arm}: the {component_kind}s differ in what they are given, and pods of one kind are alike in a"
                " cluster: choose as many CPUs as divide evenly, or --engine process or compose"
            )


def require_possible(spec: Spec) -> None:
    """Refuse what an arm asks for and trials in a cluster do not have (raises BadInput)."""
    check_uniform(spec)
    lacking = {
        "class_cache: warm": spec.caches("warm"),
        # Seen: servers took none of the code that the JITServer of their first start had kept.
        "jitserver.aot_cache: warm": spec.keeps_compilers,
        "settings of the host": spec.host_states,
        "pages: large for a heap whose size is left to the JVM": any(
            server.jvm_settings is not None
            and server.jvm_settings.pages == "large"
            and server.large_heap is None
            for server in spec.servers
        ),
    }
    for setting, asked in lacking.items():
        if asked:
            raise BadInput(
                f"{spec.arm}: {setting} is not supported in a cluster: choose --engine process or compose"
            )


def notes(spec: Spec) -> list[str]:
    """What belongs beside every figure of trials in a cluster."""
    apart = [server.name for server in spec.servers if not _shares(spec, server)]
    said = []
    if not apart:
        said.append(
            "Pods that share CPUs are held apart by no pinning, as processes are: each may use as many as"
            " it was given (a limit), on whichever CPUs the node has. A limit stops a JVM whose threads have used it"
            " up for the rest of 0.1 s: `throttled_share`."
        )
    elif any(server.memory_bytes is None for server in spec.servers):
        said.append(
            f"{spec.arm}: servers without a memory limit get their CPUs as a share of time and not for their own: give"
            " `memory` or `total_memory`."
        )
    if spec.through == "service" and len(spec.servers) > 1:
        said.append(
            f"{spec.arm}: the Service deals out connections by chance, and a user keeps his: servers have more or fewer"
            " users than their share."
        )
    return said


def select_objects(spec: Spec, objects: Iterable[Object]) -> list[Object]:
    """What a trial takes of a bundle, each once: its workloads, and what they need beside them.

    Raises:
        BadInput: the bundle does not have a kind, or has it share a volume, which nobody would make and remove.
    """
    wanted = kinds(spec)
    selected: dict[tuple[str, str], Object] = {}
    for thing in objects:
        name, type_name = thing["metadata"]["name"], thing["kind"]
        part = thing["metadata"].get("labels", {}).get(NAME)
        if secret := secret_of(thing):
            selected["ConfigMap", secret] = stand_in(secret)
        if (type_name in _WORKLOADS and name in wanted) or (type_name in _BESIDE and part in (None, *wanted)):
            selected[type_name, name] = thing
    for name in wanted:
        pod = _workload(name, selected.values(), spec.bundle)["spec"]["template"]["spec"]
        for volume in pod.get("volumes", ()):
            if "persistentVolumeClaim" in volume:
                raise BadInput(
                    f"k8s/{spec.bundle}: {name} has a volume that outlives its pods, {volume['name']}, which trials"
                    " in a cluster do not have: choose another topology, or --engine process or compose"
                )
    return list(selected.values())


def overlay(spec: Spec, objects: Sequence[Object], marks: Marks) -> dict[str, str]:
    """The files of a trial's kustomization, by name.

    Args:
        spec: what the trial deploys.
        objects: what it takes of the bundle (`needed`).
        marks: whose objects they become, and where.
    """
    objects = with_passwords(objects, marks.token)
    patches = {
        f"{component_kind}.yaml": _patch(
            spec, components, _workload(component_kind, objects, spec.bundle), marks
        )
        for component_kind, components in kinds(spec).items()
    }
    names = name_services(spec)
    kustomization = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "namespace": marks.namespace,
        "resources": ["bundle.yaml", *(["names.yaml"] if names else [])],
        "labels": [{"pairs": {SESSION: marks.session, TRIAL: marks.trial}, "includeTemplates": True}],
        "patches": [{"path": name} for name in patches],
    }
    # The namespace is the user's choice.
    bundle = [{**thing, "metadata": _without(thing["metadata"], "namespace")} for thing in objects]
    files = {"kustomization.yaml": _head(spec) + _dump(kustomization)}
    files["bundle.yaml"] = _LICENSE + _dump(*bundle)
    if names:
        files["names.yaml"] = _LICENSE + _dump(*names)
    return files | {name: _LICENSE + _dump(patch) for name, patch in patches.items()}


_LICENSE = "# SPDX-License-Identifier: Apache-2.0\n"


def _head(spec: Spec) -> str:
    lines = [
        "# One trial, on top of bundle.yaml beside it. By hand: kubectl apply -k . ; injectors wait for their start:",
        "# kubectl exec POD -c load -- touch /load/start ; touch /load/stop ends the load.",
    ]
    for request in spec.data:
        place = spec.component(request.component).container
        if place is not None:
            url = f"http://{request.component}:{place.port}{request.path}"
            lines.append(
                f"# Data, before the load and once the servers answer, from a pod beside them: {url}"
            )
    return _LICENSE + "\n".join(lines) + "\n"


def _workload(name: str, objects: Iterable[Object], bundle: str) -> Object:
    for thing in objects:
        if thing["kind"] in _WORKLOADS and thing["metadata"]["name"] == name:
            main = thing["spec"]["template"]["spec"]["containers"][0]["name"]
            if main != name:
                raise BadInput(
                    f"k8s/{bundle}: the first container of {name} is called {main!r}: call it {name!r}"
                )
            return thing
    raise BadInput(
        f"the bundle k8s/{bundle} has no {name}: choose another workload or topology, or --engine process or compose"
    )


def _patch(spec: Spec, components: Sequence[Component], base: Object, marks: Marks) -> Object:
    first, name = components[0], components[0].kind
    template = base["spec"]["template"]["spec"]
    main = template["containers"][0]
    apart = not _shares(spec, first)
    resources = _resources(first, apart, marks.large_page)
    changed: dict[str, Any] = {
        "name": name,
        "image": first.artifact.image,
        "imagePullPolicy": "IfNotPresent",
        "env": _variables(components),
        "resources": resources,
        **dict.fromkeys((probe for probe in _PROBES if probe in main), None),
    }
    volumes = [{"name": _OBSERVED, "emptyDir": {}}, {"name": "observer-tmp", "emptyDir": {}}]
    if mounts := _mounts(first):
        changed["volumeMounts"] = mounts
        volumes += [{"name": mount["name"], "emptyDir": {}} for mount in mounts if mount["name"] != _OBSERVED]
    pod: dict[str, Any] = {
        "shareProcessNamespace": True,
        "tolerations": [TOLERATION],
        "containers": [_observer(first, main, marks, apart), changed],
        "volumes": volumes,
    }
    # What prepares a pod does it with the component's own image.
    inits = [
        {"name": init["name"], "resources": resources}
        | ({"image": first.artifact.image} if init["image"] == main["image"] else {})
        for init in template.get("initContainers", ())
    ]
    if inits:
        pod["initContainers"] = inits
    if (role := node_role(first)) in marks.roles:
        pod["nodeSelector"] = {ROLE: role}
    if marks.chooses_users:  # as components/openshift does
        pod["securityContext"] = {key: None for key in _USERS if key in template.get("securityContext", {})}
    count = len(components)
    scale = {"replicas": count} if base["kind"] != "Job" else {"completions": count, "parallelism": count}
    return {
        "apiVersion": base["apiVersion"],
        "kind": base["kind"],
        "metadata": {"name": name},
        "spec": {**scale, "template": {"spec": pod}},
    }


def _observer(component: Component, main: Mapping[str, Any], marks: Marks, apart: bool) -> dict[str, Any]:
    place = component.container
    at = f"http://127.0.0.1:{(place.status or place.port) if place is not None else 0}"
    settings = {
        "token": marks.token,
        "role": _SAMPLED_AS.get(component.role, "backing"),
        "counters_url": f"{at}{component.counters}" if component.counters else None,
        "metrics_url": f"{at}{component.metrics}" if component.metrics else None,
        "cgroup": component.role in MEASURED_ROLES,
    }
    return {
        "name": OBSERVER,
        "image": marks.observer,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-m", "steelyard.sampling.observe"],
        "env": [{"name": SETTINGS, "value": json.dumps(settings)}],
        # Only where every container has limits does a pod get CPUs of its own.
        "resources": {"requests": _OBSERVER, "limits": _OBSERVER} if apart else {"requests": _OBSERVER_SHARE},
        # The component's user: it may read of its own processes alone.
        "securityContext": {**main.get("securityContext", {}), "readOnlyRootFilesystem": True},
        "volumeMounts": [
            {"name": _OBSERVED, "mountPath": "/observed"},
            {"name": "observer-tmp", "mountPath": "/tmp"},
        ],
    }


def _shares(spec: Spec, component: Component) -> bool:
    """Whether other components may run on its CPUs."""
    own = set(component.cpus)
    return any(own.intersection(other.cpus) for other in spec.components if other.name != component.name)


def cpus_of(component: Component) -> str:
    """The CPU limit of a component, as Kubernetes writes it: it knows thousandths of a CPU."""
    quota = component.cpu_quota
    return str(len(component.cpus)) if quota is None else f"{round(quota * 1000)}m"


def pod_requests(spec: Spec, component: Component) -> CpusAndMemory:
    """What the pod of a component takes of its node, its observer included."""
    apart = not _shares(spec, component)
    resources = [_resources(component, apart, None), {"requests": _OBSERVER if apart else _OBSERVER_SHARE}]
    return requests_of({"spec": {"containers": [{"resources": each} for each in resources]}})


def _resources(component: Component, apart: bool, page: int | None) -> dict[str, Any]:
    limit, memory = cpus_of(component), component.memory_bytes
    size = str(memory) if memory is not None else None
    pool = {}
    if component.large_heap is not None and page is not None:
        pool[resource_of(page)] = str(page * pages_of(component.large_heap, page))
    return {
        "requests": {"cpu": limit if apart else _SHARE, "memory": size, **pool},
        "limits": {"cpu": limit, "memory": size, **pool},
    }


def _environment(component: Component) -> dict[str, str]:
    """What a component is told, as Kubernetes has it: a dollar sign begins a variable."""
    return {name: text.replace("$", "$$") for name, text in environment(component).items()}


def _variables(components: Sequence[Component]) -> list[dict[str, Any]]:
    first = components[0]
    variables: list[dict[str, Any]] = [{"name": MARKER, "value": first.kind}]
    if first.role != "injector":
        return variables + [{"name": name, "value": text} for name, text in _environment(first).items()]
    field_of = {
        "fieldPath": f"metadata.annotations['batch.kubernetes.io/{_INDEX.lower().replace('_', '-')}']"
    }
    settings = json.dumps({**first.settings, "output": LOAD_FOLDER, "injector": _INDEX}).replace("$", "$$")
    return [
        *variables,
        {"name": _INDEX, "valueFrom": {"fieldRef": field_of}},
        {"name": "LOADGEN_SETTINGS", "value": settings.replace(f'"{_INDEX}"', f"$({_INDEX})")},
    ]


def _mounts(component: Component) -> list[dict[str, str]]:
    if component.role == "injector":
        return [{"name": _OBSERVED, "mountPath": LOAD_FOLDER}]
    mounts = []
    if component.container is not None and component.container.folder is not None:
        mounts.append({"name": _OBSERVED, "mountPath": f"{container_folder(component)}/logs"})
    if uses_cache(component):
        mounts.append({"name": "class-cache", "mountPath": CACHE_FOLDER})
    return mounts


def name_services(spec: Spec) -> list[Object]:
    """The Services by which components are reached that are one of several."""
    return [
        _name(component, number)
        for component_kind, components in kinds(spec).items()
        for number, component in enumerate(components)
        if component.role != "injector" and component.name != component_kind
    ]


def _name(component: Component, number: int) -> Object:
    """The name of a component, at which it is reached from its start on."""
    port = component.container.port if component.container is not None else 0
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": component.name, "labels": {NAME: component.kind}},
        "spec": {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"statefulset.kubernetes.io/pod-name": f"{component.kind}-{number}"},
            "ports": [{"name": "main", "port": port}],
        },
    }


def _without(values: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != name}


class _PlainDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - the signature is the library's
        """Everything is written out: a person reads these files."""
        return True


def _dump(*documents: Object) -> str:
    return yaml.dump_all(
        [dict(document) for document in documents], Dumper=_PlainDumper, sort_keys=False, width=10_000
    )
