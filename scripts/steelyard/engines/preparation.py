# SPDX-License-Identifier: Apache-2.0
"""Data of a trial: what holds it, and the application's own loader, which fills it before anything is measured."""

from collections.abc import Iterator

from steelyard.engines.readiness import get
from steelyard.errors import ServerFailed
from steelyard.experiment.workloads import Kind
from steelyard.results.schema import InstanceRecord, TopologyRecord

LOAD_TIMEOUT = 300.0
"""Seconds for one loader; 100,000 customers take a fraction of it (apps/README.md)."""
_SMALL_DATA = 10_000
"""Customers that fit a database of 1 GiB with room for their bookings."""


def database_heap(customers: int | None) -> str:
    """Heap of an embedded database that holds so many customers with their bookings."""
    return "1g" if (customers or 0) <= _SMALL_DATA else "4g"


def loader_requests(kind: Kind, topology: TopologyRecord) -> Iterator[tuple[InstanceRecord, str]]:
    """Who is asked to load data, and the path: the first server of each service that has a loader, in order."""
    for request in kind.prepare:
        instance = next(one for one in topology.instances if one.service == request.service)
        yield instance, request.path.format(customers=topology.customers)


def prepare_data(kind: Kind, topology: TopologyRecord) -> None:
    """Send every loader's request, in order.

    The servers must be ready and reached on their ports of this host.

    Raises:
        ServerFailed: a loader did not answer, or said no; its own words are passed on.
    """
    for instance, path in loader_requests(kind, topology):
        answer = get(instance.port, path, LOAD_TIMEOUT)
        if answer is None:
            raise ServerFailed(f"{instance.name} did not answer when its data was to be loaded ({path})")
        status, body = answer
        if status != 200:
            said = body.decode("utf-8", errors="replace").strip().partition("\n")[0][:200]
            raise ServerFailed(
                f"{instance.name} could not load its data ({path}): status {status}, it said: {said}"
            )
