# SPDX-License-Identifier: Apache-2.0
"""Large pages of nodes, which Kubernetes deals out as a resource of pods (pure).

A node's kubelet tells what its kernel had reserved when the kubelet started; a pod gets what it asks for, of one size,
and no more (Kubernetes' documentation, Manage HugePages).
"""

from collections.abc import Iterable, Mapping

from steelyard.engines.kubernetes.api import Object
from steelyard.engines.kubernetes.pods import quantity
from steelyard.errors import MissingRequirement
from steelyard.host.preparing import pages_of
from steelyard.results.spec import Spec
from steelyard.units import MIB, format_size

_PREFIX = "hugepages-"
_UNITS = {"Gi": 1024 * MIB, "Mi": MIB, "Ki": 1024}


def resource_of(size: int) -> str:
    """The resource that is large pages of a size in bytes: `hugepages-2Mi`."""
    unit = next(name for name, bytes_ in _UNITS.items() if size % bytes_ == 0)
    return f"{_PREFIX}{size // _UNITS[unit]}{unit}"


def reserved_pages(nodes: Iterable[Object]) -> dict[int, int]:
    """What pods may have of large pages on the node that has most, by the size of a page; all in bytes."""
    largest: dict[int, int] = {}
    for node in nodes:
        for name, amount in node["status"]["allocatable"].items():
            if name.startswith(_PREFIX) and quantity(amount) > 0:
                size = quantity(name.removeprefix(_PREFIX))
                largest[size] = max(largest.get(size, 0), quantity(amount))
    return largest


def page_for(specs: Iterable[Spec], pages: Mapping[int, int]) -> int | None:
    """The size of large pages, bytes, that trials take: the smallest there is, which JVMs take unless told otherwise;
    None where no JVM asks for any.

    Args:
        specs: what is to be deployed.
        pages: what nodes have (`reserved`).

    Raises:
        MissingRequirement: no node has any, or enough of them for a JVM.
    """
    heaps = [
        (server.large_heap, spec.arm)
        for spec in specs
        for server in spec.servers
        if server.large_heap is not None
    ]
    if not heaps:
        return None
    heap, arm = max(heaps)
    if not pages:
        raise MissingRequirement(
            f"arm {arm} asks for large pages, and no node that takes pods has any: reserve some there"
            " (vm.nr_hugepages), and start its kubelet again, which counts them when it starts"
        )
    size = min(pages)
    needed = size * pages_of(heap, size)
    if needed > pages[size]:
        raise MissingRequirement(
            f"arm {arm} needs {format_size(needed)} of large pages for each JVM (heap, code, the collector's tables),"
            f" and no node has more than {format_size(pages[size])} ({resource_of(size)}): reserve more there"
            " (vm.nr_hugepages), and start its kubelet again"
        )
    return size
