# SPDX-License-Identifier: Apache-2.0
"""Loads the data of a trial through the application's own loader, before anything is measured."""

from steelyard.engines.readiness import get
from steelyard.errors import ServerFailed
from steelyard.experiment.workloads import Kind
from steelyard.results.schema import TopologyRecord

LOAD_TIMEOUT = 300.0
"""Seconds for one loader; 100,000 customers take a fraction of it (apps/README.md)."""


def prepare_data(kind: Kind, topology: TopologyRecord) -> None:
    """Send every preparing request to the first server of its service, in order.

    The servers must be ready and reached on their ports of this host.

    Raises:
        ServerFailed: a loader did not answer, or said no; its own words are passed on.
    """
    for request in kind.prepare:
        instance = next(one for one in topology.instances if one.service == request.service)
        path = request.path.format(customers=topology.customers)
        answer = get(instance.port, path, LOAD_TIMEOUT)
        if answer is None:
            raise ServerFailed(f"{instance.name} did not answer when its data was to be loaded ({path})")
        status, body = answer
        if status != 200:
            said = body.decode("utf-8", errors="replace").strip().partition("\n")[0][:200]
            raise ServerFailed(
                f"{instance.name} could not load its data ({path}): status {status}, it said: {said}"
            )
