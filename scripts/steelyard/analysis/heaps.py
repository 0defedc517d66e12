# SPDX-License-Identifier: Apache-2.0
"""Heaps that are left to the JVMs: what the JVMs took, over all of an arm, and whether arms had equal memory (pure)."""

from collections import Counter
from collections.abc import Iterable, Mapping

from steelyard.analysis.rounds import Place
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Spec
from steelyard.units import format_size

EQUAL = 0.99
"""Smallest share of the largest total that counts as equal, as when totals are planned (`spec/split.py`)."""


def left_heaps(session: Session, chosen: Mapping[str, Mapping[Place, Trial]]) -> list[str]:
    """What has to be said where some arm's heap is left to its JVMs; nothing where every heap was set."""
    totals = {
        arm: _total(trials.values())
        for arm, trials in chosen.items()
        if any(component.role == "server" for trial in trials.values() for component in trial.components)
    }
    servers = [component for arm in session.arms if arm.name in totals for component in arm.spec.servers]
    if not any(component.heap_bytes is None and component.artifact.jvm is not None for component in servers):
        return []
    unknown = [name for name, total in totals.items() if total is None]
    known = {name: total for name, total in totals.items() if total is not None}
    start = "Heaps were left to the JVMs"
    if known:
        taken = ", ".join(f"{format_size(total)} in {name}" for name, total in known.items())
        start += f", which could take in all {taken}"
    if unknown:
        return [
            f"{start}; in {', '.join(unknown)} it is not known: whether arms had equal memory is not known."
        ]
    if min(known.values()) < EQUAL * max(known.values()):
        return [f"{start}: the arms did not have equal memory, and that is a part of every difference."]
    if only := _only_some_have({arm.name: arm.spec for arm in session.arms if arm.name in totals}):
        unequal = f"The heaps were equal, but the arms did not have equal memory: {only}"
        return [f"{start}. {unequal}. That is a part of every difference."]
    return [f"{start}: the arms had equal memory."]


def _only_some_have(specs: Mapping[str, Spec]) -> str:
    """Components beside the servers that not every arm has alike (a JITServer, a proxy, a database); injectors are no
    part of what is compared."""
    extras = {
        arm: Counter(
            (component.kind, component.memory_bytes, component.heap_bytes)
            for component in spec.components
            if component.role not in ("server", "injector")
        )
        for arm, spec in specs.items()
    }
    shared = Counter[tuple[str, int | None, int | None]]()
    for number, own in enumerate(extras.values()):
        shared = own if number == 0 else shared & own
    differing = {
        arm: ", ".join(map(_component_text, (own - shared).elements())) for arm, own in extras.items()
    }
    return "; ".join(
        f"beside its servers {arm} has {components}" for arm, components in differing.items() if components
    )


def _component_text(component: tuple[str, int | None, int | None]) -> str:
    """A component with what is known of its memory."""
    component_kind, limit, heap = component
    sizes_known = {"limit": limit, "heap": heap}
    sizes = [f"{label} {format_size(size)}" for label, size in sizes_known.items() if size is not None]
    return f"{component_kind} ({', '.join(sizes) or 'no limit'})"


def _total(trials: Iterable[Trial]) -> float | None:
    """Largest heaps of all servers together, bytes, the mean over trials; None where one is not known."""
    totals = []
    for trial in trials:
        heaps = [
            component.read_back.get("heap") for component in trial.components if component.role == "server"
        ]
        sizes = [heap for heap in heaps if isinstance(heap, int)]
        if not sizes or len(sizes) < len(heaps):
            return None
        totals.append(sum(sizes))
    return sum(totals) / len(totals)
