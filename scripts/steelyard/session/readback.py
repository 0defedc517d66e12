# SPDX-License-Identifier: Apache-2.0
"""Settings asked for against what the servers say they run with (pure)."""

from collections.abc import Mapping
from typing import Any

from steelyard.experiment.schema import JvmSettings
from steelyard.results.spec import Component
from steelyard.sampling.gclog import GcSettings
from steelyard.units import MIB

HEAP_TOLERANCE = 8 * MIB
"""Collectors round the heap to their own alignment (G1 regions up to 32 MiB only for heaps above 2 GiB)."""
_POLICIES = {
    "generational": ("gencon", "parallel"),
    "regional": ("balanced", "g1"),
    "serial": ("serial",),
}


def differences(component: Component, gc: GcSettings | None, info: Mapping[str, Any]) -> list[str]:
    """One sentence for each setting of a server that reads back otherwise than asked for.

    Args:
        component: the server as planned.
        gc: what its GC log says; None without one.
        info: what it says of itself; empty where it says nothing.
    """
    found = []
    name, settings = component.name, component.jvm_settings
    processors = info.get("availableProcessors")
    if processors is not None and processors != len(component.cpus):
        found.append(f"{name} sees {processors} CPUs instead of {len(component.cpus)}")
    said = info.get("settings") or {}
    for key, asked in component.expected_info.items():
        if key not in said:
            found.append(f"{name} does not say its {key}, which should be {asked}")
        elif str(said[key]) != asked:
            found.append(f"{name} has {key} {said[key]} instead of {asked}")
    if settings is None:
        return found
    if gc is None:
        if settings.gc_log:
            found.append(f"{name} wrote no GC log, so heap, collector and GC threads are not known")
        return found
    return found + _collector_differences(component, settings, gc)


def _collector_differences(component: Component, settings: JvmSettings, gc: GcSettings) -> list[str]:
    """What the GC log says otherwise."""
    found = []
    if component.heap_bytes and gc.max_heap and abs(gc.max_heap - component.heap_bytes) > HEAP_TOLERANCE:
        found.append(
            f"{component.name} has a maximum heap of {gc.max_heap // MIB} MiB instead of"
            f" {component.heap_bytes // MIB} MiB"
        )
    if (
        settings.gc != "default"
        and gc.policy
        and not any(name in gc.policy.lower() for name in _POLICIES[settings.gc])
    ):
        found.append(f"{component.name} collects with {gc.policy} instead of gc: {settings.gc}")
    if settings.gc_threads != "default" and gc.gc_threads and gc.gc_threads != settings.gc_threads:
        found.append(f"{component.name} has {gc.gc_threads} GC threads instead of {settings.gc_threads}")
    if settings.pages == "large" and gc.page_size and gc.page_size < 1 * MIB:
        found.append(
            f"{component.name} has pages of {gc.page_size // 1024} KiB although pages: large was asked for"
        )
    return found
