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
        if any(one.role == "server" for trial in trials.values() for one in trial.components)
    }
    servers = [one for arm in session.arms if arm.name in totals for one in arm.spec.servers]
    if not any(one.heap_bytes is None and one.artifact.jvm is not None for one in servers):
        return []
    unknown = [name for name, total in totals.items() if total is None]
    known = {name: total for name, total in totals.items() if total is not None}
    said = "Heaps were left to the JVMs"
    if known:
        taken = ", ".join(f"{format_size(total)} in {name}" for name, total in known.items())
        said += f", which could take in all {taken}"
    if unknown:
        return [
            f"{said}; in {', '.join(unknown)} it is not known: whether arms had equal memory is not known."
        ]
    if min(known.values()) < EQUAL * max(known.values()):
        return [f"{said}: the arms did not have equal memory, and that is a part of every difference."]
    if only := _only_some_have({arm.name: arm.spec for arm in session.arms if arm.name in totals}):
        unequal = f"The heaps were equal, but the arms did not have equal memory: {only}"
        return [f"{said}. {unequal}. That is a part of every difference."]
    return [f"{said}: the arms had equal memory."]


def _only_some_have(specs: Mapping[str, Spec]) -> str:
    """Components beside the servers that not every arm has alike (a JITServer, a proxy, a database); injectors are no
    part of what is compared."""
    beside = {
        arm: Counter(
            (one.kind, one.memory_bytes, one.heap_bytes)
            for one in spec.components
            if one.role not in ("server", "injector")
        )
        for arm, spec in specs.items()
    }
    shared = Counter[tuple[str, int | None, int | None]]()
    for number, own in enumerate(beside.values()):
        shared = own if number == 0 else shared & own
    told = {arm: ", ".join(map(_one, (own - shared).elements())) for arm, own in beside.items()}
    return "; ".join(f"beside its servers {arm} has {what}" for arm, what in told.items() if what)


def _one(component: tuple[str, int | None, int | None]) -> str:
    """A component with what is known of its memory."""
    kind, limit, heap = component
    told = {"limit": limit, "heap": heap}
    sizes = [f"{what} {format_size(size)}" for what, size in told.items() if size is not None]
    return f"{kind} ({', '.join(sizes) or 'no limit'})"


def _total(trials: Iterable[Trial]) -> float | None:
    """Largest heaps of all servers together, bytes, the mean over trials; None where one is not known."""
    totals = []
    for trial in trials:
        heaps = [one.read_back.get("heap") for one in trial.components if one.role == "server"]
        sizes = [heap for heap in heaps if isinstance(heap, int)]
        if not sizes or len(sizes) < len(heaps):
            return None
        totals.append(sum(sizes))
    return sum(totals) / len(totals)
