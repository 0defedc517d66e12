# SPDX-License-Identifier: Apache-2.0
"""Settings asked for against what the servers say they run with (pure)."""

from collections.abc import Mapping
from typing import Any

from steelyard.experiment.schema import JvmSettings
from steelyard.results.schema import InstanceRecord
from steelyard.sampling.gclog import GcSettings
from steelyard.units import MIB

HEAP_TOLERANCE = 8 * MIB
"""Collectors round the heap to their own alignment (G1 regions up to 32 MiB only for heaps above 2 GiB)."""
_POLICIES = {
    "generational": ("gencon", "parallel"),
    "regional": ("balanced", "g1"),
    "serial": ("serial",),
}

_VARIABLES = {"EXECUTOR_THREADS": "executorThreads", "ACMEAIR_INDEXES": "indexes", "ACMEAIR_TODAY": "today"}
"""Settings that servers take from their environment, and their names in `/bench/info`."""


def differences(
    instance: InstanceRecord, settings: JvmSettings, gc: GcSettings | None, info: Mapping[str, Any]
) -> list[str]:
    """One sentence for each setting of a server that reads back otherwise than asked for.

    Args:
        instance: the server as planned.
        settings: the neutral settings of its arm.
        gc: what its GC log says; None without one.
        info: its `/bench/info`.
    """
    found = []
    processors = info.get("availableProcessors")
    if processors is not None and processors != len(instance.cpus):
        found.append(f"{instance.name} sees {processors} CPUs instead of {len(instance.cpus)}")
    said = info.get("settings") or {}
    for variable, name in _VARIABLES.items():
        asked = instance.environment.get(variable)
        if asked is not None and name in said and said[name] != asked:
            found.append(f"{instance.name} has {name} {said[name]} instead of {asked}")
    if gc is None:
        return found
    if instance.heap_bytes and gc.max_heap and abs(gc.max_heap - instance.heap_bytes) > HEAP_TOLERANCE:
        found.append(
            f"{instance.name} has a maximum heap of {gc.max_heap // MIB} MiB instead of"
            f" {instance.heap_bytes // MIB} MiB"
        )
    if settings.gc != "default" and gc.policy and not _is_policy(settings.gc, gc.policy):
        found.append(f"{instance.name} collects with {gc.policy} instead of gc: {settings.gc}")
    if settings.gc_threads != "default" and gc.gc_threads and gc.gc_threads != settings.gc_threads:
        found.append(f"{instance.name} has {gc.gc_threads} GC threads instead of {settings.gc_threads}")
    if settings.pages == "large" and gc.page_size and gc.page_size < 1 * MIB:
        found.append(
            f"{instance.name} has pages of {gc.page_size // 1024} KiB although pages: large was asked for"
        )
    return found


def _is_policy(wanted: str, policy: str) -> bool:
    return any(name in policy.lower() for name in _POLICIES[wanted])
