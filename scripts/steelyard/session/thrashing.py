# SPDX-License-Identifier: Apache-2.0
"""Samples of a time -> which components thrash: they live at the memory limit of their containers, and do little else
than read from the disk what the kernel took from them a moment ago.

A container that may not swap holds its anonymous memory, and what goes when it is full is page cache: first files
that nobody reads again, then the program's own code, which a major fault reads back. The kernel sees no want of memory
in that, as pages can always be taken, so nothing is killed (admin-guide/cgroup-v2, Memory; Weiner: "psi: pressure
stall information", 2018, on thrashing). Pressure stall information would tell it by itself, and version 1 has none.
"""

from collections.abc import Iterable

from steelyard.measure.samples import Samples
from steelyard.results.spec import Component
from steelyard.units import MIB

FAULTS = 50.0
"""Major faults a second. A server in enough memory has none for minutes once its code has been read. On OpenJ9 with
half of what it needed one had 250 to 330, spent 81 to 95 % of its CPU in the kernel, and served 4 to 39 requests/s
where another served 627 (docs/jitserver.md)."""
AT_LIMIT = 0.99
"""Of the limit, from which on a container has reached it: the kernel takes pages back in batches."""


def thrashing(components: Iterable[Component], samples: Samples, start: float, end: float) -> list[str]:
    """One sentence for each component that thrashed from `start` to `end`, epoch seconds.

    Nothing is said here of a component without samples of the time, or of the container: `unwatched` does.
    """
    found = []
    for one in components:
        if one.memory_bytes is None or end <= start:
            continue
        faults, memory = _known(one, samples, start, end)
        if faults is None or memory is None:
            continue
        if faults / (end - start) >= FAULTS and memory >= AT_LIMIT * one.memory_bytes:
            found.append(
                f"{one.name} thrashed at its limit of {one.memory_bytes / MIB:.0f} MiB: it read its own memory back"
                f" from the disk {faults / (end - start):.0f} times a second"
            )
    return found


def unwatched(components: Iterable[Component], samples: Samples, start: float, end: float) -> list[str]:
    """One sentence for each component with a memory limit of which nobody can say whether it thrashed."""
    return [
        f"whether {one.name} thrashed at its limit of {one.memory_bytes / MIB:.0f} MiB was not measured"
        for one in components
        if one.memory_bytes is not None and None in _known(one, samples, start, end)
    ]


def _known(
    component: Component, samples: Samples, start: float, end: float
) -> tuple[float | None, float | None]:
    """Major faults over the time, and the most memory that the container had.

    By the kernel's own peak, which cgroup v2 has from Linux 5.19 on, else by the samples of each second: a server that
    thrashes stays at its limit.
    """
    is_covered = samples.group(component.name, "cpu_s").covers(start, end)
    peak = samples.group(component.name, "peak").at(end) if is_covered else None
    if peak is None:
        peak = samples.highest_memory(component.name, start, end)
    return samples.major_faults(component.name, start, end), peak
