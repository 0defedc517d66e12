# SPDX-License-Identifier: Apache-2.0
"""From an arm to its spec: components with CPUs, heap, ports, options and environment; load; what is expected.

Through it go the arm (what is wanted), the workload (what it is made of), the host's cores and the runtime (what it
runs on). The proxy, services and compilers are part of what is measured and run on the servers' cores. Databases
stand on the other side of the wire, with the injectors: on their cores where those are apart.
"""

from collections.abc import Mapping, Sequence

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment, ProcedureName
from steelyard.jvm.options import not_read_back
from steelyard.results.spec import (
    ORDER,
    Consistency,
    RatioLimit,
    Request,
    Spec,
)
from steelyard.spec.components import Places, make_component
from steelyard.spec.injectors import injector_components, intended_mix
from steelyard.spec.runtime import Runtime
from steelyard.spec.split import Core, CpuShare, cores_for, share_cores, split_cores, split_heap
from steelyard.spec.texts import fill
from steelyard.units import MIB
from steelyard.workload.loader import Found
from steelyard.workload.schema import Component as Kind
from steelyard.workload.schema import Topology, Workload

FIRST_PORT = 9080


def make_spec(
    arm: Arm,
    procedure: ProcedureName,
    found: Found,
    cores: Sequence[Core],
    runtime: Runtime,
    first_port: int = FIRST_PORT,
) -> Spec:
    """The spec of an arm on a host with these cores.

    Args:
        arm: the arm.
        procedure: what its trials do.
        found: the workload.
        cores: physical cores that may be used, neighbours next to each other.
        runtime: what the components run on.
        first_port: port on this host that leads into the application; the others follow.

    Raises:
        BadInput: too few cores, a heap that is too small or does not split, a setting that the JVM or the workload does
            not have.
    """
    workload, deployment = found.workload, arm.deployment
    name, topology = _topology(workload, deployment.topology)
    values = workload.resolved(name, dict(arm.settings))
    server_cores, injector_cores = cores_for(deployment.cores, deployment.injector_cores, cores, arm.name)
    kinds = _in_order(topology)
    _refuse_engine(kinds, deployment, workload)
    places = _places(kinds, topology, deployment, first_port)
    shares = _shares(topology, server_cores, deployment.jvms)
    heaps = _heaps(topology, deployment, workload.min_heap, arm.name)
    components = []
    servers = 0
    for kind, described in kinds.items():
        for component in places.names[kind]:
            share = _share(described, shares, servers, server_cores, injector_cores)
            servers += described.role == "server"
            components.append(
                make_component(
                    component, kind, described, arm, found, runtime, share, heaps.get(kind), places, values
                )
            )
    entry = (
        places.names[topology.entry]
        if topology.entry
        else [one.name for one in components if one.role == "server"]
    )
    spec = Spec(
        arm=arm.name,
        engine=deployment.engine,
        workload=workload.name,
        workload_version=workload.version,
        topology=name,
        bundle=topology.bundle or "server",
        procedure=procedure,
        load=arm.load,
        components=components,
        entry=entry,
        data=[
            Request(component=places.names[step.component][0], path=fill(step.path, values, "data"))
            for step in topology.data
        ],
        consistency=[
            Consistency(
                component=places.names[check.component][0],
                path=fill(check.path, values, "consistency"),
                equals=fill(check.equals, values, "consistency") if check.equals is not None else None,
                matches=check.matches,
                about=check.about,
            )
            for check in topology.consistency
        ],
        mix=intended_mix(topology, arm.load, values),
        growing=topology.growing,
        ratios=[RatioLimit(**ratio.model_dump()) for ratio in topology.ratios],
        settings={f"{workload.name}.{key}": value for key, value in values.items()},
        host_states=dict(arm.host),
        class_cache=deployment.jvm.class_cache,
        server_cores=len(server_cores),
        injectors_share_cores=injector_cores == server_cores,
        embedded=[text for kind, text in workload.notes.items() if _stands_in(kind, kinds, runtime)],
        not_read_back=not_read_back(deployment.jvm, runtime.server_jvm),
        notes=_notes(topology, arm.name, deployment.jvms, len(server_cores)),
    )
    injectors = injector_components(
        spec, topology, values, runtime, sorted(cpu for core in injector_cores for cpu in core)
    )
    return spec.model_copy(update={"components": [*components, *injectors]})


def _topology(workload: Workload, name: str | None) -> tuple[str, Topology]:
    try:
        return workload.topology(name)
    except KeyError as error:
        raise BadInput(
            f"{workload.name} has no topology {name}: there is {', '.join(workload.topologies)}"
        ) from error


def _in_order(topology: Topology) -> dict[str, Kind]:
    """Kinds of component in the order in which they start."""
    return dict(sorted(topology.components.items(), key=lambda item: ORDER.index(item[1].role)))


def _refuse_engine(kinds: Mapping[str, Kind], deployment: Deployment, workload: Workload) -> None:
    for kind, described in kinds.items():
        how = described.process if deployment.engine == "process" else described.container
        if how is None:
            raise BadInput(
                f"{workload.name} does not say how its {kind} runs with the {deployment.engine} engine: add"
                f" {'process' if deployment.engine == 'process' else 'container'} to it, or choose another engine"
            )


def _places(kinds: Mapping[str, Kind], topology: Topology, deployment: Deployment, first_port: int) -> Places:
    """Names and ports: the entry takes the first port; servers follow, then all else that needs one."""
    names = {
        kind: [f"{kind}-{index + 1}" for index in range(deployment.jvms)]
        if described.replicas == "jvms"
        else [kind]
        for kind, described in kinds.items()
    }
    contained = deployment.engine != "process"
    wanted = [
        kind
        for kind, described in kinds.items()
        if not contained or (described.container is not None and described.container.published)
    ]
    wanted.sort(key=lambda kind: (kind != topology.entry, kinds[kind].role != "server"))
    ports: dict[str, int] = {}
    for kind in wanted:
        for name in names[kind]:
            ports[name] = first_port + len(ports)
    hosts = {kind: kind if contained else "127.0.0.1" for kind in kinds}
    inner = {}
    for kind, described in kinds.items():
        if contained and described.container is not None:
            inner[kind] = described.container.port
        else:
            inner[kind] = ports[names[kind][0]]
    return Places(names, ports, hosts, inner)


def _shares(topology: Topology, cores: Sequence[Core], jvms: int) -> list[CpuShare]:
    kinds = topology.kinds("server")
    replicas = sum(jvms if kind.replicas == "jvms" else 1 for kind in kinds.values())
    if len(kinds) == 1:
        return split_cores(cores, replicas)
    return share_cores(cores, replicas)


def _share(
    described: Kind,
    shares: Sequence[CpuShare],
    index: int,
    servers: Sequence[Core],
    injectors: Sequence[Core],
) -> CpuShare:
    if described.role == "server":
        return shares[index]
    side = described.cpus or ("injectors" if described.role == "database" else "servers")
    return share_cores(servers if side == "servers" else injectors, 1)[0]


def _heaps(topology: Topology, deployment: Deployment, min_heap: int, arm: str) -> dict[str, int | None]:
    """Maximum heap of each JVM by kind of server."""
    kinds = topology.kinds("server")
    each: dict[str, int | None] = dict.fromkeys(kinds, deployment.jvm.heap)
    if deployment.total_heap is not None:
        replicas = [
            name
            for name, kind in kinds.items()
            for _ in range(deployment.jvms if kind.replicas == "jvms" else 1)
        ]
        heaps = split_heap(deployment.total_heap, [kinds[name].heap_weight for name in replicas])
        each = dict(zip(replicas, heaps, strict=True))
    for heap in each.values():
        if heap is not None and heap < min_heap:
            raise BadInput(
                f"arm {arm}: {heap // MIB} MiB of heap for a server is below the {min_heap // MIB} MiB that it needs to"
                " start and serve: use fewer JVMs or a larger heap"
            )
    return each


def _stands_in(kind: str, kinds: Mapping[str, Kind], runtime: Runtime) -> bool:
    """Whether a note of the workload on a kind of component (or on a role) holds for what runs here."""
    return any(
        kind in (name, described.role) and (not runtime.images or name in runtime.embedded)
        for name, described in kinds.items()
    )


def _notes(topology: Topology, arm: str, jvms: int, cores: int) -> list[str]:
    kinds = topology.kinds("server")
    count = sum(jvms if kind.replicas == "jvms" else 1 for kind in kinds.values())
    if len(kinds) > 1:
        return [f"{arm}: {count} JVMs of {len(kinds)} services share all {_count(cores, 'core')}"]
    if count > cores:
        return [
            f"{arm}: {count} JVMs on {_count(cores, 'core')} share them evenly, {cores / count:.3g} core each"
        ]
    return []


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
