# SPDX-License-Identifier: Apache-2.0
"""From an arm to its spec: components with CPUs, heap, ports, options and environment; load; what is expected.

The proxy, services and compilers are part of what is measured and run on the servers' cores, unless the workload says
otherwise; a JITServer may be given some of them for its own, as it may be given a part of a total memory limit.
Databases stand on the other side of the wire, with the injectors: on their cores where those are apart. Variants of a
spec bring caches into their declared state: they are run, labelled, and never averaged in.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import ProcedureName
from steelyard.jvm.options import jvm_options
from steelyard.results.spec import Component, Role, Spec
from steelyard.spec.agreement import not_read_back
from steelyard.spec.components import make_component
from steelyard.spec.injectors import injector_components, intended_mix, mix_parts
from steelyard.spec.layout import FIRST_PORT, LOOPBACK, Layout, Runtime, fill
from steelyard.spec.notes import notes_of
from steelyard.spec.split import Core, cores_for, dealt_out, split_cores, split_total
from steelyard.units import MIB
from steelyard.workload.loader import LoadedWorkload
from steelyard.workload.schema import ComponentRequest

R = TypeVar("R", bound=ComponentRequest)
POPULATING_USERS = 8
"""Users of a populating run where the trials themselves have none."""


def make_spec(
    arm: Arm,
    procedure: ProcedureName,
    loaded: LoadedWorkload,
    cores: Sequence[Core],
    runtime: Runtime,
    first_port: int = FIRST_PORT,
    listen: str = LOOPBACK,
    *,
    nodes: Mapping[int, int] = MappingProxyType({}),
) -> Spec:
    """The spec of an arm on a host that offers these physical cores, neighbours next to each other; `nodes`: the NUMA
    node of each logical CPU, empty where they lie on one.

    Raises:
        BadInput: too few cores, a heap that is too small or does not split, a setting that the JVM or the workload does
            not have.
    """
    in_containers = arm.deployment.engine != "process"
    loaded = loaded.choose(arm.deployment.topology, dict(arm.settings), in_containers=in_containers)
    layout = Layout(arm, loaded, runtime, first_port, listen)
    workload, deployment, topology, values = (
        loaded.workload,
        arm.deployment,
        layout.topology,
        layout.substitutes,
    )
    _refuse_foreign(arm, procedure)
    if deployment.jvm.class_cache == "baked" and deployment.engine == "process":
        raise BadInput(
            f"arm {arm.name}: class_cache: baked is a cache that comes in the image (images/README.md): choose --engine"
            " compose or kubernetes, or class_cache: warm"
        )
    servers, injectors = cores_for(arm, cores, nodes)
    components = _components(layout, servers, injectors)
    parts = mix_parts(topology, arm.load, values)
    spec = Spec(
        arm=arm.name,
        engine=deployment.engine,
        workload=workload.name,
        workload_version=workload.version,
        topology=layout.named_topology[0],
        bundle=topology.bundle or "server",
        remote=not runtime.here,
        procedure=procedure,
        load=arm.load,
        components=components,
        entry=layout.names[topology.entry]
        if topology.entry
        else [component.name for component in components if component.role == "server"],
        through=deployment.through,
        numa=deployment.numa,
        data=[_fill_request(layout, step, "data") for step in topology.data],
        consistency=[_fill_request(layout, check, "consistency") for check in topology.consistency],
        parts=parts,
        mix=intended_mix(parts),
        varying=sorted(topology.journey.unforeseen_operations()) if topology.journey is not None else [],
        growing=topology.growing,
        ratios=topology.ratios,
        limits=workload.limits,
        settings={f"{workload.name}.{key}": value for key, value in layout.settings.items()},
        host_states=dict(arm.host),
        server_cores=len(servers),
        injectors_share_cores=injectors == servers,
        embedded=[text for component, text in workload.notes.items() if _stands_in(layout, component)],
        not_read_back=not_read_back(
            [component for component in components if component.role == "server"], deployment.jvm
        ),
        notes=[
            *notes_of(layout, procedure, components, servers, nodes),
            *runtime.notes,
        ],
    )
    cpus = split_cores(injectors, 1)[0].cpus
    more = injector_components(spec, topology, values, runtime, cpus)
    return spec.model_copy(update={"components": [*components, *more]})


def _components(layout: Layout, servers: Sequence[Core], injectors: Sequence[Core]) -> list[Component]:
    """All but the injectors, in the order in which they start."""
    deployment = layout.arm.deployment
    # Services that take unequal parts in each request cannot be given equal cores: they share all.
    one_kind = len(layout.topology.kinds("server")) == 1
    servers, compilers = _compiler_cores(layout, servers)
    if deployment.numa == "spread":
        servers = dealt_out(servers, len(layout.servers))
    shares = iter(split_cores(servers, len(layout.servers), apart=one_kind))
    heaps = _sizes(layout, deployment.total_heap, deployment.jvm.heap, "total_heap")
    memory = _memory(layout)
    _refuse_small(layout, heaps)
    components = []
    for component, described in layout.kinds.items():
        side = described.cpus or ("injectors" if described.role == "database" else "servers")
        there = compilers if described.role == "compiler" else servers
        share_of_all = split_cores(there if side == "servers" else injectors, 1)[0]
        for name in layout.names[component]:
            share = next(shares) if described.role == "server" else share_of_all
            components.append(
                make_component(layout, component, name, share, heaps.get(component), memory.get(component))
            )
    return components


def _refuse_foreign(arm: Arm, procedure: ProcedureName) -> None:
    """Settings that mean nothing to trials of a procedure: a checkpoint, and those of a JITServer."""
    if arm.deployment.checkpoint != "none" and procedure not in ("start-up", "ramp-up"):
        raise BadInput(
            f"arm {arm.name}: checkpoint is for start-up and ramp-up trials, this one is {procedure}: choose one of"
            " those or leave it out"
        )
    after = arm.deployment.jitserver.killed_after
    if arm.deployment.jvm.jit == "local":
        return
    if arm.deployment.jitserver.aot_cache == "warm" and procedure not in ("start-up", "ramp-up"):
        raise BadInput(
            f"arm {arm.name}: jitserver.aot_cache: warm is for start-up and ramp-up trials, this one is {procedure}"
        )
    if after is None:
        return
    if procedure not in ("steady", "ramp-up"):
        raise BadInput(f"arm {arm.name}: jitserver.killed_after means nothing to a {procedure} trial")
    if after >= arm.load.measure:
        raise BadInput(
            f"arm {arm.name}: jitserver.killed_after ({after:g} s) is not within the measurement of"
            f" {arm.load.measure:g} s"
        )


def _compiler_cores(layout: Layout, servers: Sequence[Core]) -> tuple[Sequence[Core], Sequence[Core]]:
    """Cores of the servers and of the compilers, which may have some of their own: those that come last."""
    own = layout.arm.deployment.jitserver.cores
    if own == "shared" or not layout.compilers:
        return servers, servers
    if own >= len(servers):
        raise BadInput(
            f"arm {layout.arm.name}: a JITServer with {own} cores of its own leaves none of {len(servers)} to the"
            " servers: lower jitserver.cores, or raise cores"
        )
    return servers[:-own], servers[-own:]


def _memory(layout: Layout) -> dict[str, int | None]:
    """Memory limits by kind; what a JITServer has is no longer there to be split over the servers."""
    deployment, own = layout.arm.deployment, layout.arm.deployment.jitserver.memory
    total = deployment.total_memory
    if layout.compilers and total is not None:
        if own is None or own >= total:
            raise BadInput(
                f"arm {layout.arm.name}: of total_memory ({total // MIB} MiB) the JITServer takes a part: say how much"
                " with jitserver.memory"
            )
        total -= own
    return _sizes(layout, total, deployment.memory, "total_memory") | dict.fromkeys(layout.compilers, own)


def _fill_request(layout: Layout, request: R, where: str) -> R:
    """A request of the workload file, to the first component of its kind."""
    texts = {key: getattr(request, key, None) for key in ("path", "equals")}
    filled = {key: fill(text, layout.substitutes, where) for key, text in texts.items() if text is not None}
    return request.model_copy(update={"component": layout.names[request.component][0], **filled})


def _sizes(layout: Layout, total: int | None, each: int | None, setting: str) -> dict[str, int | None]:
    """Bytes of each server by its kind: its part of a total by weight, or what each is given."""
    kinds = layout.topology.kinds("server")
    if total is None:
        return dict.fromkeys(kinds, each)
    parts = split_total(total, [kinds[component].heap_weight for component in layout.servers], setting)
    return dict(zip(layout.servers, parts, strict=True))


def _refuse_small(layout: Layout, heaps: dict[str, int | None]) -> None:
    least = layout.loaded.workload.min_heap
    for heap in heaps.values():
        if heap is not None and heap < least:
            raise BadInput(
                f"arm {layout.arm.name}: {heap // MIB} MiB of heap for a server is below the {least // MIB} MiB that it"
                " needs to start and serve: use fewer JVMs or a larger heap"
            )
        jvm = layout.arm.deployment.jvm
        for setting, part in (("nursery", jvm.nursery), ("initial_heap", jvm.initial_heap)):
            if heap is not None and isinstance(part, int) and part >= heap + (setting == "initial_heap"):
                raise BadInput(
                    f"arm {layout.arm.name}: {setting} of {part // MIB} MiB does not fit a heap of {heap // MIB} MiB"
                )


def _stands_in(layout: Layout, noted: str) -> bool:
    """Whether a note of the workload on a kind of component (or on a role) holds for what runs here.

    In containers a database is a real one unless its image says that it stands in for one. A note on servers is about
    the database inside them, where none is deployed beside them; and a service is an emulator wherever it runs.
    """
    has_database = any(described.role == "database" for described in layout.kinds.values())

    def stands_in(name: str, role: Role) -> bool:
        if role == "server":
            return not has_database
        return not layout.in_containers or name in layout.runtime.embedded or role == "service"

    return any(
        noted in (name, described.role) and stands_in(name, described.role)
        for name, described in layout.kinds.items()
    )


def populating_spec(spec: Spec) -> Spec:
    """The run that fills the class caches for `class_cache: warm`: one JVM of each kind writes them.

    A HotSpot archive has one writer; OpenJ9's cache is shared by all, and one is enough. Start-up trials ask for each
    operation once, which leaves much code untouched: here the injectors offer real load.
    """
    first = {server.kind: server.name for server in reversed(spec.servers)}
    filled = spec.with_changes(
        "server", lambda server: _options(server, "none", writes=first[server.kind] == server.name)
    )
    load = {"model": "closed", "users": POPULATING_USERS}
    return filled.with_changes(
        "injector",
        lambda injector: {
            "settings": injector.settings | (load if injector.settings.get("model") == "probe" else {})
        },
        procedure="steady",
    )


def without_caches(spec: Spec) -> Spec:
    """The run before a measured start that only loads the data: it must not touch the class caches.

    Servers ask a JITServer to keep code, or for such code, only where they have some class cache.
    """
    without = "apart" if spec.keeps_compilers else "none"
    return spec.with_changes("server", lambda server: _options(server, without))


def _options(component: Component, without: str, *, writes: bool = False) -> dict[str, Any]:
    """The same options with a class cache that is written; or with none (OpenJ9: `without`) that a later start could
    find."""
    settings, jvm, heap = component.jvm_settings, component.artifact.jvm, component.heap_bytes
    if settings is None or jvm is None:
        return {}
    own = component.jvm_options[: len(component.jvm_options) - len(jvm_options(settings, heap, jvm))]
    state = "warm"
    if not writes:
        state = without if jvm.kind == "openj9" else "default"
    changed = settings.model_copy(update={"class_cache": state})
    return {"jvm_options": [*own, *jvm_options(changed, heap, jvm, populates=writes)]}
