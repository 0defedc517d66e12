# SPDX-License-Identifier: Apache-2.0
"""What each arm may use, by role and in all, and whether arms have equal resources (pure).

By the spec alone: what compilers, proxies, databases and services may use counts with the servers', injectors do not.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from steelyard.results.figures import count
from steelyard.results.spec import Component, Role, Spec
from steelyard.units import add_known, format_size

ROLES: Mapping[Role, str] = {
    "server": "servers",
    "compiler": "JITServer",
    "proxy": "proxy",
    "database": "databases",
    "service": "services",
}
"""Roles whose resources count, with what they are called."""
ALIKE = 0.99
"""Smallest share of the largest total that counts as equal, as in `spec/split.py`."""


class Resources(NamedTuple):
    """What components may use together."""

    components: int
    cpus: int
    """Logical CPUs, those that they share counted once."""
    heap: int | None
    """Maximum heaps, bytes; None: a JVM chooses its own, or none is a JVM whose heap is set."""
    memory: int | None
    """Memory limits, bytes; None: one of them has none."""
    quota: float | None = None
    """CPU quotas, CPUs; None: one of them has none."""


def resources_of(components: Sequence[Component]) -> Resources:
    """What some components may use together."""
    heaps = [
        component.heap_bytes
        for component in components
        if component.heap_bytes is not None or component.role == "server"
    ]
    return Resources(
        components=len(components),
        cpus=len({cpu for component in components for cpu in component.cpus}),
        heap=add_known(heaps),
        memory=add_known(component.memory_bytes for component in components),
        quota=_quota(components),
    )


def total_resources(spec: Spec) -> Resources:
    """What an arm may use in all."""
    return resources_of(spec.without_injectors)


def resource_text(resources: Resources) -> str:
    """The same for people; empty where there is no component."""
    if not resources.components:
        return ""
    sizes = {"heap": resources.heap, "limit": resources.memory}
    known = [f"{label} {format_size(size)}" for label, size in sizes.items() if size is not None]
    if resources.quota is not None:
        known.append(f"quota {resources.quota:g}")
    return ", ".join([f"{resources.components} on {count(resources.cpus, 'CPU')}", *known])


def resource_table(specs: Mapping[str, Spec]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows, one for each arm: what each role may use, of roles that some arm has, and all together."""
    roles = [role for role in ROLES if any(spec.of(role) for spec in specs.values())]
    rows = []
    for name, spec in specs.items():
        each = [resource_text(resources_of(spec.of(role))) or "none" for role in roles]
        rows.append([name, *each, resource_text(total_resources(spec))])
    return ["arm", *(ROLES[role] for role in roles), "in all"], rows


def compare_resources(specs: Mapping[str, Spec]) -> str:
    """Whether arms have equal resources, one sentence."""
    totals = {name: total_resources(spec) for name, spec in specs.items()}
    same, unlike = [], []
    for label, sizes in (
        ("CPUs", {name: total.cpus for name, total in totals.items()}),
        ("heap", {name: total.heap for name, total in totals.items()}),
        ("memory limit", _limits(specs, totals)),
    ):
        known = [size for size in sizes.values() if size is not None]
        if not known:
            continue
        if len(known) == len(sizes) and min(known) >= ALIKE * max(known):
            same.append(f"{_size(label, known[0])}")
            continue
        by_size: dict[int | None, list[str]] = {}
        for name, size in sizes.items():
            by_size.setdefault(size, []).append(name)
        each = ", ".join(f"{_size(label, size)} in {' and '.join(names)}" for size, names in by_size.items())
        unlike.append(each)
    unlike += _unlike_quotas(specs)
    unlike += _only_some_have(specs)
    if not unlike:
        return f"Equal resources: every arm has {', '.join(same)}."
    return f"Resources are not equal: {'; '.join(unlike)}. That is a part of every difference."


def _limits(specs: Mapping[str, Spec], totals: Mapping[str, Resources]) -> dict[str, int | None]:
    """Memory limits of arms, bytes; where none is known in all, as a database has none, those of all others."""
    if any(total.memory is not None for total in totals.values()):
        return {name: total.memory for name, total in totals.items()}
    known = {
        name: [part.memory_bytes for part in spec.without_injectors if part.memory_bytes is not None]
        for name, spec in specs.items()
    }
    return {name: sum(each) if each else None for name, each in known.items()}


def _unlike_quotas(specs: Mapping[str, Spec]) -> list[str]:
    """CPU quotas of servers where they are not the same in all arms."""
    by_quota: dict[float | None, list[str]] = {}
    for name, spec in specs.items():
        by_quota.setdefault(_quota(spec.servers), []).append(name)
    if len(by_quota) < 2:
        return []
    each = (
        ("no CPU quota" if quota is None else f"a CPU quota of {quota:g}") + f" in {' and '.join(names)}"
        for quota, names in by_quota.items()
    )
    return [", ".join(each)]


def _quota(components: Sequence[Component]) -> float | None:
    return add_known(component.cpu_quota for component in components)


def _size(label: str, size: int | None) -> str:
    if size is None:
        return f"no known {label}"
    return count(size, "CPU") if label == "CPUs" else f"{format_size(size)} of {label}"


def _only_some_have(specs: Mapping[str, Spec]) -> list[str]:
    """Components without a memory limit that some arms have beside their servers and others not."""
    unlimited = {
        name: Counter(
            component.kind
            for component in spec.without_injectors
            if component.role != "server" and component.memory_bytes is None
        )
        for name, spec in specs.items()
    }
    shared = Counter[str]()
    for number, own in enumerate(unlimited.values()):
        shared = own if number == 0 else shared & own
    return [
        f"{name} has {', '.join((own - shared).elements())} beside its servers, without a memory limit"
        for name, own in unlimited.items()
        if own - shared
    ]
