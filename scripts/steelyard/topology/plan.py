# SPDX-License-Identifier: Apache-2.0
"""From an arm to what its trials deploy: server instances with CPUs, heap, ports and options; injectors."""

from collections.abc import Mapping, Sequence

from steelyard.errors import BadInput
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Deployment
from steelyard.jvm.options import jvm_options
from steelyard.results.schema import InstanceRecord, JvmIdentity, TopologyRecord
from steelyard.topology.split import Core, split_cores, split_heap
from steelyard.units import MIB

FIRST_PORT = 9080
AUTO_APART_FROM = 8
"""From this many cores on, `injector_cores: auto` keeps a quarter of them for the injectors."""
INSTANCE_FOLDER = "${INSTANCE}"
"""Stands for the folder of an instance in its options until the engine knows the folder."""


def plan_topology(
    arm: Arm, cores: Sequence[Core], jvm: JvmIdentity, min_heap: int, first_port: int = FIRST_PORT
) -> TopologyRecord:
    """What a trial of this arm deploys on a host with these cores.

    Args:
        arm: the arm.
        cores: physical cores that may be used, neighbours next to each other.
        jvm: the JVM of the servers.
        min_heap: smallest heap in bytes with which the workload is known to run.
        first_port: HTTP port of the first server; the others follow.

    Raises:
        BadInput: too few cores, a heap that is too small or does not split, a setting the JVM does not have.
    """
    deployment = arm.deployment
    server_cores, injector_cores = _cores(deployment, cores, arm.name)
    heap = deployment.jvm.heap
    if deployment.total_heap is not None:
        heap = split_heap(deployment.total_heap, deployment.jvms)
    if heap is not None and heap < min_heap:
        raise BadInput(
            f"arm {arm.name}: {heap // MIB} MiB of heap for each of {deployment.jvms} JVMs is below the"
            f" {min_heap // MIB} MiB that Liberty needs to start and serve: use fewer JVMs or a larger heap"
        )
    shares = split_cores(server_cores, deployment.jvms)
    options = jvm_options(deployment.jvm, heap, jvm, INSTANCE_FOLDER)
    instances = [
        InstanceRecord(
            name=f"server-{index + 1}",
            cpus=list(share.cpus),
            cpus_shared_with=share.shared_with,
            cores=share.cores,
            heap_bytes=heap,
            memory_bytes=deployment.memory,
            port=first_port + index,
            jvm_options=options,
        )
        for index, share in enumerate(shares)
    ]
    notes = []
    if deployment.jvms > len(server_cores):
        notes.append(
            f"{arm.name}: {deployment.jvms} JVMs on {_count(len(server_cores), 'core')} share them evenly,"
            f" {shares[0].cores:.3g} core each"
        )
    return TopologyRecord(
        engine=deployment.engine,
        instances=instances,
        injector_cpus=sorted(cpu for core in injector_cores for cpu in core),
        injectors=arm.load.injectors,
        injectors_share_cores=injector_cores == server_cores,
        server_cores=len(server_cores),
        notes=notes,
    )


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
