# SPDX-License-Identifier: Apache-2.0
"""Samples of a time -> which components thrash: they live at the memory limit of their containers, and do little else
than read from the disk what the kernel took from them a moment ago.

A container that may not swap holds its anonymous memory, and what goes when it is full is page cache: first files
that nobody reads again, then the program's own code, which a major fault reads back. The kernel sees no want of memory
in that, as pages can always be taken, so nothing is killed (admin-guide/cgroup-v2, Memory; Weiner: "psi: pressure
stall information", 2018, on thrashing). Pressure stall information would tell it by itself, and version 1 has none.
"""

from collections.abc import Iterable

from steelyard.results.spec import Component
from steelyard.sampling.read import Samples
from steelyard.units import MIB

FAULTS = 50.0
"""Major faults a second. A server in enough memory has none for minutes once its code has been read. On OpenJ9 with
half of what it needed one had 250 to 330, spent 81 to 95 % of its CPU in the kernel, and served 4 to 39 requests/s
where another served 627 (docs/jitserver.md)."""
AT_LIMIT = 0.99
"""Of the limit, from which on a container has reached it: the kernel takes pages back in batches."""


def thrashing(components: Iterable[Component], samples: Samples, start: float, end: float) -> list[str]:
    """One sentence for each component that thrashed from `start` to `end`, epoch seconds.

    Without samples of the time, or of the container, nothing is known of a component, and nothing is said of it.
    """
    found = []
    for one in components:
        if one.memory_bytes is None or end <= start:
            continue
        faults, group = samples.major_faults(one.name, start, end), samples.cgroup(one.name, start, end)
        if faults is None or group is None or group.memory_peak is None:
            continue
        if faults / (end - start) >= FAULTS and group.memory_peak >= AT_LIMIT * one.memory_bytes:
            found.append(
                f"{one.name} thrashed at its limit of {one.memory_bytes / MIB:.0f} MiB: it read its own memory back"
                f" from the disk {faults / (end - start):.0f} times a second"
            )
    return found
