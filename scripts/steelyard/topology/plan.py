# SPDX-License-Identifier: Apache-2.0
"""From an arm to what its trials deploy: server instances with CPUs, heap, ports and options; injectors."""

from collections.abc import Mapping, Sequence

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment
from steelyard.experiment.workloads import DEFAULT_CUSTOMERS, REFERENCE_DATE, Kind, Service, Workload
from steelyard.jvm.options import jvm_options
from steelyard.results.schema import BackingRecord, InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.topology.split import Core, CpuShare, share_cores, split_cores, split_heap
from steelyard.units import MIB

FIRST_PORT = 9080
AUTO_APART_FROM = 8
"""From this many cores on, `injector_cores: auto` keeps a quarter of them for the injectors."""
INSTANCE_FOLDER = "${INSTANCE}"
"""Stands for the folder of an instance in its options until the engine knows the folder."""


def plan_topology(
    arm: Arm,
    cores: Sequence[Core],
    jvm: JvmIdentity,
    workload: Workload,
    first_port: int = FIRST_PORT,
    today: str = REFERENCE_DATE,
) -> TopologyRecord:
    """What a trial of this arm deploys on a host with these cores.

    The proxy is part of what is measured and runs on the servers' cores. Databases stand on the other side of the
    wire, with the injectors: on their cores where those are apart.

    Args:
        arm: the arm.
        cores: physical cores that may be used, neighbours next to each other.
        jvm: the JVM of the servers.
        workload: the application.
        first_port: port on this host that leads into the application; the others follow.
        today: the day that servers with data take for today, or `system` for their own clock's.

    Raises:
        BadInput: too few cores, a heap that is too small or does not split, a setting the JVM does not have.
    """
    deployment = arm.deployment
    kind = workload.kind(deployment.topology)
    server_cores, injector_cores = _cores(deployment, cores, arm.name)
    services = [service for service in kind.services for _ in range(deployment.jvms)]
    shares = _cpu_shares(kind, server_cores, deployment.jvms)
    heaps = _heaps(deployment, services, workload.min_heap, arm.name)
    port = first_port + kind.proxied
    instances = [
        InstanceRecord(
            name=f"{service.name}-{index % deployment.jvms + 1}",
            service=service.name,
            server=service.server,
            cpus=list(share.cpus),
            cpus_shared_with=share.shared_with,
            cores=share.cores,
            heap_bytes=heap,
            memory_bytes=deployment.memory,
            port=port + index,
            jvm_options=jvm_options(deployment.jvm, heap, jvm, INSTANCE_FOLDER),
            environment=_environment(deployment, kind, service, today),
        )
        for index, (service, share, heap) in enumerate(zip(services, shares, heaps, strict=True))
    ]
    cpus_of_servers = sorted(cpu for core in server_cores for cpu in core)
    injector_cpus = sorted(cpu for core in injector_cores for cpu in core)
    backing = [
        BackingRecord(name=name, kind="database", cpus=injector_cpus, port=port + len(instances) + index)
        for index, name in enumerate(kind.databases)
    ]
    if kind.proxied:
        backing.append(BackingRecord(name="proxy", kind="proxy", cpus=cpus_of_servers, port=first_port))
    return TopologyRecord(
        engine=deployment.engine,
        topology=next(name for name, known in workload.kinds.items() if known is kind),
        instances=instances,
        backing=backing,
        customers=(arm.load.customers or DEFAULT_CUSTOMERS) if kind.prepare else None,
        injector_cpus=injector_cpus,
        injectors=arm.load.injectors,
        injectors_share_cores=injector_cores == server_cores,
        server_cores=len(server_cores),
        notes=_notes(kind, arm.name, len(instances), len(server_cores)),
    )


def _cpu_shares(kind: Kind, cores: Sequence[Core], jvms: int) -> list[CpuShare]:
    if len(kind.services) == 1:
        return split_cores(cores, jvms)
    return share_cores(cores, jvms * len(kind.services))


def _heaps(deployment: Deployment, services: Sequence[Service], min_heap: int, arm: str) -> list[int | None]:
    heaps: list[int | None] = [deployment.jvm.heap] * len(services)
    if deployment.total_heap is not None:
        heaps = [*split_heap(deployment.total_heap, [service.heap_weight for service in services])]
    smallest = min((heap for heap in heaps if heap is not None), default=min_heap)
    if smallest < min_heap:
        raise BadInput(
            f"arm {arm}: {smallest // MIB} MiB of heap for one of {len(services)} JVMs is below the"
            f" {min_heap // MIB} MiB that Liberty needs to start and serve: use fewer JVMs or a larger heap"
        )
    return heaps


def _environment(deployment: Deployment, kind: Kind, service: Service, today: str) -> dict[str, str]:
    """Settings of a server that are no options of its JVM."""
    found = dict(service.environment)
    if deployment.threads != "default":
        found["EXECUTOR_THREADS"] = str(deployment.threads)
    if kind.prepare:
        # Without a database too: the pages suggest dates around it.
        found["ACMEAIR_TODAY"] = today
    if service.database is not None:
        found["ACMEAIR_INDEXES"] = deployment.indexes
    return found


def _notes(kind: Kind, arm: str, jvms: int, cores: int) -> list[str]:
    if len(kind.services) > 1:
        return [f"{arm}: {jvms} JVMs of {len(kind.services)} services share all {_count(cores, 'core')}"]
    if jvms > cores:
        return [
            f"{arm}: {jvms} JVMs on {_count(cores, 'core')} share them evenly, {cores / jvms:.3g} core each"
        ]
    return []


def check_conserved(topologies: Mapping[str, TopologyRecord], factors: Sequence[str]) -> None:
    """Refuse an experiment whose arms do not have the same total cores and heap, unless that is its question.

    Raises:
        BadInput: naming the arms and the totals.
    """
    if not {"cores", "injector_cores"} & set(factors):
        _same({name: float(t.server_cores) for name, t in topologies.items()}, "server cores", "")
    if not {"heap", "total_heap"} & set(factors):
        heaps = {
            name: sum(instance.heap_bytes or 0 for instance in t.instances) / MIB
            for name, t in topologies.items()
        }
        _same(heaps, "total heap", " MiB")


def _same(totals: Mapping[str, float], what: str, unit: str) -> None:
    low, high = min(totals, key=lambda name: totals[name]), max(totals, key=lambda name: totals[name])
    if totals[low] < 0.99 * totals[high]:
        raise BadInput(
            f"arms do not have equal resources: {what} is {totals[low]:g}{unit} in {low} and"
            f" {totals[high]:g}{unit} in {high}: set a total that is split, or make it a factor"
        )


def _cores(deployment: Deployment, cores: Sequence[Core], arm: str) -> tuple[list[Core], list[Core]]:
    """Cores of the servers and of the injectors; the same list when they are shared."""
    available = list(cores)
    wanted = len(available) if deployment.cores == "all" else deployment.cores
    if wanted > len(available):
        raise BadInput(f"arm {arm} needs {wanted} cores, this host offers {len(available)}: lower cores")
    apart = deployment.injector_cores
    if apart == "auto":
        spare = len(available) - wanted
        apart = spare or (len(available) // 4 if len(available) >= AUTO_APART_FROM else "shared")
    if apart == "shared":
        return available[:wanted], available[:wanted]
    if deployment.cores == "all":
        wanted -= apart
    if wanted < 1 or wanted + apart > len(available):
        raise BadInput(
            f"arm {arm} needs {max(wanted, 1)} cores for servers and {apart} for injectors, this host offers"
            f" {len(available)}: lower cores or use injector_cores: shared"
        )
    return available[:wanted], available[wanted : wanted + apart]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
