# SPDX-License-Identifier: Apache-2.0
"""From an arm to its spec: components with CPUs, heap, ports, options and environment; load; what is expected.

Through it go the arm (what is wanted), the workload (what it is made of), the host's cores and the runtime (what it
runs on). The proxy, services and compilers are part of what is measured and run on the servers' cores. Databases
stand on the other side of the wire, with the injectors: on their cores where those are apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment, ProcedureName
from steelyard.jvm.options import jvm_options, not_read_back
from steelyard.results.spec import (
    ORDER,
    Artifact,
    Component,
    Consistency,
    ContainerPlace,
    JvmIdentity,
    RatioLimit,
    Ready,
    Request,
    Spec,
)
from steelyard.spec.injectors import injector_components, intended_mix
from steelyard.spec.runtime import Runtime
from steelyard.spec.split import Core, CpuShare, cores_for, share_cores, split_cores, split_heap
from steelyard.spec.texts import fill
from steelyard.units import MIB
from steelyard.workload.loader import Found
from steelyard.workload.schema import Component as Kind
from steelyard.workload.schema import Topology, Workload
from steelyard.yamlfile import Scalar

FIRST_PORT = 9080
KEPT_CONNECTIONS = 1000
"""Idle connections that a proxy keeps to each kind of server (POWER9 study)."""
GIVEN_UP_FIRST = "keepalive_timeout 20s"
"""Liberty closes an idle connection after 30 s; one that both ends let go of at once would cost a request."""


@dataclass(frozen=True)
class _Places:
    """What a component is told of itself and of the others."""

    names: dict[str, list[str]]
    """Names of the components of each kind."""
    ports: dict[str, int]
    hosts: dict[str, str]
    inner: dict[str, int]
    """Port by kind, as other components reach it."""


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
    for kind, described in kinds.items():
        for index, component in enumerate(places.names[kind]):
            share = _share(
                described,
                shares,
                index + _before(topology, kind) * deployment.jvms,
                server_cores,
                injector_cores,
            )
            components.append(
                _component(
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


def _places(
    kinds: Mapping[str, Kind], topology: Topology, deployment: Deployment, first_port: int
) -> _Places:
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
    return _Places(names, ports, hosts, inner)


def _shares(topology: Topology, cores: Sequence[Core], jvms: int) -> list[CpuShare]:
    kinds = topology.kinds("server")
    replicas = sum(jvms if kind.replicas == "jvms" else 1 for kind in kinds.values())
    if len(kinds) == 1:
        return split_cores(cores, replicas)
    return share_cores(cores, replicas)


def _before(topology: Topology, kind: str) -> int:
    """Kinds of server before this one."""
    servers = list(topology.kinds("server"))
    return servers.index(kind) if kind in servers else 0


def _share(
    described: Kind,
    shares: Sequence[CpuShare],
    index: int,
    servers: Sequence[Core],
    injectors: Sequence[Core],
) -> CpuShare:
    if described.role == "server":
        return shares[min(index, len(shares) - 1)]
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


def _component(
    name: str,
    kind: str,
    described: Kind,
    arm: Arm,
    found: Found,
    runtime: Runtime,
    share: CpuShare,
    heap: int | None,
    places: _Places,
    settings: Mapping[str, Scalar],
) -> Component:
    deployment = arm.deployment
    contained = deployment.engine != "process"
    where = f"{found.workload.name}, {kind}"
    values: dict[str, object] = {**settings, "name": name, "host": places.hosts[kind]}
    values["port"] = places.inner[kind] if contained else places.ports[name]
    for other in places.names:
        values[f"{other}.host"], values[f"{other}.port"] = places.hosts[other], places.inner[other]
        values[f"{other}.url"] = f"http://{places.hosts[other]}:{places.inner[other]}"
    server = described.role == "server"
    jvm = _jvm(described, runtime, contained)
    artifact = _artifact(kind, described, found, runtime, jvm, values, where)
    options = [] if contained or described.process is None else described.process.options
    files: dict[str, str] = {}
    copies: dict[str, str] = {}
    environment = dict(described.environment)
    if contained and described.container is not None:
        environment.update(described.container.environment)
    elif described.process is not None:
        environment.update(described.process.environment)
        upstreams = {"upstreams": _upstreams(found.workload, deployment, places)}
        files = {
            key: fill(text, {**values, **upstreams}, where)
            for key, text in described.process.templates.items()
        }
        copies = described.process.files
    if server:
        environment.update(_threads(described, deployment, where))
        _refuse_without_options(described, deployment, heap, contained, jvm, where)
    filled = {key: fill(text, values, where) for key, text in environment.items()}
    container = described.container
    return Component(
        name=name,
        kind=kind,
        role=described.role,
        artifact=artifact,
        cpus=list(share.cpus),
        cpus_shared_with=share.shared_with,
        cores=share.cores,
        heap_bytes=heap,
        memory_bytes=deployment.memory if server else None,
        host=places.hosts[kind] if contained else "127.0.0.1",
        port=places.ports.get(name),
        jvm_settings=deployment.jvm if server and jvm is not None else None,
        jvm_options=[
            *(fill(option, values, where) for option in options),
            *(jvm_options(deployment.jvm, heap, jvm) if server and jvm is not None else []),
        ],
        environment=filled,
        files=files,
        copies=copies,
        ready=Ready(**described.ready.model_dump()),
        counters=described.counters,
        info=described.info,
        expected_info=_expected(described, found.workload, settings, deployment),
        started_in=_started_in(described, found, contained),
        port_taken=described.process.port_taken if described.process is not None and not contained else None,
        container=ContainerPlace(
            port=container.port,
            jvm_options=container.jvm_options,
            folder=container.folder,
            user=container.user,
        )
        if contained and container is not None
        else None,
    )


def _jvm(described: Kind, runtime: Runtime, contained: bool) -> JvmIdentity | None:
    """The JVM of a component; None where it is no JVM, or nobody told."""
    if contained:
        return runtime.server_jvm if described.role == "server" else None
    process = described.process
    assert process is not None
    if process.command is not None and "${jvm_options}" not in process.command:
        return None
    return runtime.server_jvm if process.jvm == "servers" else runtime.injector_jvm


def _artifact(
    kind: str,
    described: Kind,
    found: Found,
    runtime: Runtime,
    jvm: JvmIdentity | None,
    values: Mapping[str, object],
    where: str,
) -> Artifact:
    if kind in runtime.images:
        own = described.container is not None and described.container.repository is not None
        return Artifact(
            form="image", image=runtime.images[kind], jvm=jvm, build=runtime.build if own else None
        )
    process = described.process
    assert process is not None
    package = found.workload.packages[process.package] if process.package is not None else None
    later = frozenset({"folder", "package", "java", "cache", "jvm_options"})
    words = [process.liberty] if process.liberty is not None else (process.java or process.command or [])
    return Artifact(
        form="liberty" if process.liberty is not None else "java" if process.java is not None else "command",
        package=process.package,
        build=_build(described, runtime) if package is not None and package.maven else None,
        path=runtime.packages.get(process.package) if process.package is not None else None,
        words=[fill(word, values, where, later) for word in words],
        jvm=jvm,
    )


def _build(described: Kind, runtime: Runtime) -> str | None:
    """Another build is another build of the servers; what stands beside them is the checkout's."""
    return runtime.build if described.role == "server" else runtime.tools


def _started_in(described: Kind, found: Found, contained: bool) -> str | None:
    if contained or described.process is None or described.process.folder is None:
        return None
    return str((found.folder / described.process.folder).resolve())


def _threads(described: Kind, deployment: Deployment, where: str) -> dict[str, str]:
    if deployment.threads == "default":
        return {}
    if described.threads is None:
        raise BadInput(f"{where}: its thread pool cannot be set: leave `threads` out")
    return {described.threads: str(deployment.threads)}


def _refuse_without_options(
    described: Kind,
    deployment: Deployment,
    heap: int | None,
    contained: bool,
    jvm: JvmIdentity | None,
    where: str,
) -> None:
    """A server that takes no JVM options cannot have JVM settings."""
    takes = described.container is None or described.container.jvm_options is not None if contained else True
    if jvm is not None and takes:
        return
    given = [
        key
        for key in type(deployment.jvm).model_fields
        if getattr(deployment.jvm, key)
        != type(deployment.jvm).model_fields[key].get_default(call_default_factory=True)
        and key != "gc_log"
    ]
    if given or heap is not None:
        raise BadInput(
            f"{where}: {', '.join(given) or 'a heap'} cannot be set, because nothing takes the JVM's options: add"
            " `${jvm_options}` to its command, or `jvm_options` to its container"
        )


def _expected(
    described: Kind, workload: Workload, settings: Mapping[str, Scalar], deployment: Deployment
) -> dict[str, str]:
    """What `/bench/info` must say of settings, by the names that it has for them."""
    told = " ".join(described.environment.values())
    found = {
        setting.reads_back: str(settings[name])
        for name, setting in workload.settings.items()
        if setting.reads_back is not None and f"${{{name}}}" in told
    }
    if deployment.threads != "default" and described.threads is not None:
        found["executorThreads"] = str(deployment.threads)
    return found


def _upstreams(workload: Workload, deployment: Deployment, places: _Places) -> str:
    """The nginx `upstream` of each kind of server, with the JVMs of this trial."""
    _, topology = workload.topology(deployment.topology)
    lines = []
    for kind in topology.kinds("server"):
        servers = "".join(f" server 127.0.0.1:{places.ports[name]};" for name in places.names[kind])
        lines.append(f"upstream {kind} {{{servers} keepalive {KEPT_CONNECTIONS}; {GIVEN_UP_FIRST}; }}")
    return "\n".join([*lines, ""])


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
