# SPDX-License-Identifier: Apache-2.0
"""What belongs beside every figure of an arm: what this host cannot give it, or what does not come out even on it."""

import math
from collections.abc import Mapping, Sequence

from steelyard.experiment.schema import ProcedureName
from steelyard.jvm.options import default_gc_threads
from steelyard.jvm.settings import JvmSettings
from steelyard.results.spec import Component
from steelyard.spec.agreement import counted_processors
from steelyard.spec.layout import Layout
from steelyard.spec.split import Core

GC_THREADS_PER_CPU = 4
USERS_PER_CPU = 2
"""A request is about half of its time elsewhere: on its way, in the injector, in a database. Our own choice."""


def notes_of(
    layout: Layout,
    procedure: ProcedureName,
    components: Sequence[Component],
    cores: Sequence[Core],
    nodes: Mapping[int, int],
) -> list[str]:
    """The sentences of an arm.

    Args:
        layout: what it is made of.
        procedure: of its trials.
        components: all but the injectors.
        cores: of servers, proxies, services and compilers together.
        nodes: NUMA node of each logical CPU; empty: one.
    """
    cpus = sum(map(len, cores))
    servers = [component for component in components if component.role == "server"]
    return [
        *_compiler_notes(layout, len(cores)),
        *_sharing_notes(layout, servers, len(cores)),
        *_thread_notes(layout, servers),
        *_node_notes(layout, servers, nodes),
        *_load_notes(layout, procedure, cpus),
        *_gc_notes(layout, servers, cpus),
        *_foreground_notes(layout),
        *_left_heap(servers),
        *_checkpoint_notes(layout.arm.name, servers),
    ]


def _checkpoint_notes(arm: str, servers: Sequence[Component]) -> list[str]:
    """Before it is restored a process sees no variables but those that may never change (OpenJ9's documentation of
    -XX:[+|-]EnableCRIUSupport), so that secrets are in no checkpoint; AcmeAir took the default address of its database
    for that reason."""
    names = {
        name for server in servers if server.checkpoint == "after_app_start" for name in server.environment
    }
    if not names:
        return []
    note = (
        f"{arm}: before a checkpoint OpenJ9 shows no environment variables: applications that read"
        f" {', '.join(sorted(names))} as they start have their defaults; choose before_app_start for those"
    )
    return [note]


def _load_notes(layout: Layout, procedure: ProcedureName, cpus: int) -> list[str]:
    """Users who never pause have at most one request each in flight: fewer than CPUs leave some of these idle."""
    load, journey, quota = layout.arm.load, layout.topology.journey, layout.arm.deployment.cpus
    pauses = load.think_time > 0 or layout.loaded.workload.limits.cycle_time is not None
    if journey is not None:
        pauses |= any(step.pause for visit in journey.visits.values() for step in visit.flat())
    if quota is not None:
        cpus = min(cpus, math.ceil(quota * len(layout.servers)))
    if procedure != "steady" or load.users is None or pauses or load.users >= USERS_PER_CPU * cpus:
        return []
    note = (
        f"{load.users} users without think time are at most {load.users} requests at a time, and the servers have"
        f" {cpus} CPUs, some of which can stay idle: raise users to {USERS_PER_CPU * cpus} or more"
    )
    return [note]


def _foreground_notes(layout: Layout) -> list[str]:
    """Measured: docs/lab-notes/2026-11-27-quick-forms.md, "On OpenJ9"."""
    jvm, compile_mode = layout.runtime.server_jvm, layout.arm.deployment.jvm.compile
    if jvm is None or jvm.kind != "openj9" or compile_mode == "background":
        return []
    note = (
        "Requests of an OpenJ9 stand still while it compiles in the foreground, which warms HotSpot in seconds:"
        " --set compile=background"
    )
    return [note]


def _gc_notes(layout: Layout, servers: Sequence[Component], cpus: int) -> list[str]:
    """The POWER9 study's rule: all GC threads together are at most four times the hardware threads. And what the memory
    of a ZGC without generations looks like (JEP 439: multi-mapped memory)."""
    jvm, settings, jvms = layout.runtime.server_jvm, layout.arm.deployment.jvm, len(servers)
    each, by_default, notes = settings.gc_threads, "", []
    if each == "default":
        each, by_default = _gc_threads_by_default(servers[0]), " by default"
    if each * jvms > GC_THREADS_PER_CPU * cpus:
        notes.append(
            f"{layout.arm.name}: {jvms} JVMs with {each} GC threads{by_default} are {each * jvms} GC threads, more than"
            f" {GC_THREADS_PER_CPU} for each of {cpus} hardware threads"
        )
    generational = jvm is not None and (jvm.feature >= 23 or "-XX:+ZGenerational" in settings.jvm_args)
    if settings.gc == "z" and not generational:
        notes.append(
            f"{layout.arm.name}: ZGC without generations maps its heap three times, and resident memory (RSS) counts it"
            " up to three times: compare memory_pss"
        )
    return notes


def _gc_threads_by_default(server: Component) -> int:
    """What its JVM will choose; 0: not known, or one, of which nobody can have fewer."""
    settings, jvm = server.jvm_settings or JvmSettings(), server.artifact.jvm
    processors = counted_processors(server, settings)
    if jvm is None or processors is None:
        return 0
    threads = default_gc_threads(jvm, settings.gc, processors) or 0
    return threads if threads > 1 else 0


def _compiler_notes(layout: Layout, cores: int) -> list[str]:
    deployment = layout.arm.deployment
    own, killed = deployment.jitserver.cores, deployment.jitserver.killed_after
    if not layout.compilers:
        return []
    where = "shares the servers' cores" if own == "shared" else f"has {own} of the {cores} cores for its own"
    notes = [f"{layout.arm.name}: the JITServer {where}"]
    if killed is not None:
        notes.append(
            f"{layout.arm.name}: the JITServer is killed on purpose after {killed:g} s of the measurement"
        )
    return notes


def _sharing_notes(layout: Layout, servers: Sequence[Component], cores: int) -> list[str]:
    name, kinds, count = layout.arm.name, len(layout.topology.kinds("server")), len(servers)
    shown = f"{cores} core" + ("" if cores == 1 else "s")
    if kinds > 1:
        return [f"{name}: {count} JVMs of {kinds} services share all {shown}"]
    if count > cores:
        return [f"{name}: {count} JVMs on {shown} share them evenly, {cores / count:.3g} core each"]
    together = servers[0].cpus_shared_with
    if together == 1:
        return []
    note = (
        f"{name}: {count} JVMs are not pinned apart, as {shown} do not split evenly: {together} share"
        f" {round(together * servers[0].cores)} cores, and each sizes its GC and JIT for all of these"
    )
    return [note]


def _thread_notes(layout: Layout, servers: Sequence[Component]) -> list[str]:
    sizes = {len(server.cpus) for server in servers}
    if len(sizes) < 2:
        return []
    note = (
        f"{layout.arm.name}: JVMs of {servers[0].cores:.3g} cores each have {min(sizes)} to {max(sizes)} CPUs, as not"
        " all cores have the same number of threads online and allowed"
    )
    return [note]


def _node_notes(layout: Layout, servers: Sequence[Component], nodes: Mapping[int, int]) -> list[str]:
    # Services of one topology share all cores, which their own note says.
    across = [server for server in servers if len({nodes.get(cpu, 0) for cpu in server.cpus}) > 1]
    if not across or layout.arm.deployment.numa == "spread" or len(layout.topology.kinds("server")) > 1:
        return []
    return [f"{layout.arm.name}: {len(across)} of {len(servers)} JVMs have cores of several NUMA nodes"]


def _left_heap(servers: Sequence[Component]) -> list[str]:
    left = any(server.heap_bytes is None and "heap" in server.read_back for server in servers)
    said = "Heaps that are left to the JVMs are unknown before they run: the report says what they took"
    return [said] if left else []
