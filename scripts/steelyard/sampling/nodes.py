# SPDX-License-Identifier: Apache-2.0
"""What counts for a whole machine, put together from all observers on it: `samples/nodes.csv` and `nodes.json`.

An observer sees the CPU that its machine used and the CPU of its own component's processes; what is left of the one is
not yet others', for the trial's other components on that machine used some of it:

    others(t) = what the machine used(t) - the sum over its observers of what each watches(t)

Machines are told apart by their kernel (its boot id), not by the names that a cluster gives: several nodes on one
kernel, as in tests, share CPUs and clock, and the harness may run on one of them.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from steelyard.measure.samples import ClockOffset
from steelyard.sampling.columns import NODE_COLUMNS

SLEW = 5e-4
"""Seconds a second by which a clock that is set by NTP may run away from another; a step has a rule of its own."""


@dataclass
class MachineSamples:
    """One machine, as its observers tell of it."""

    nodes: set[str] = field(default_factory=set)
    """What the cluster calls it."""
    components: list[str] = field(default_factory=list)
    readings: list[tuple[float, ClockOffset]] = field(default_factory=list)
    """Of its one clock, through all its observers: when, epoch seconds, and what was known of it then."""
    observers: list[tuple[list[list[float]], list[tuple[float, float]]]] = field(default_factory=list)
    """Of each: rows of host.csv, and (time, CPU seconds of what it watches)."""

    @property
    def clock(self) -> ClockOffset | None:
        """Bounds of its clock over all readings; None without any.

        A reading on a busy machine is a wide one, and at most `SLEW` away from a close one before or after it.
        """
        known = [
            bound
            for at, _ in self.readings
            for bound in (
                max(clock.low - SLEW * abs(at - then) for then, clock in self.readings),
                min(clock.high + SLEW * abs(at - then) for then, clock in self.readings),
            )
        ]
        return ClockOffset(min(known), max(known)) if known else None

    @property
    def name(self) -> str:
        """Of all nodes that it is."""
        return "+".join(sorted(self.nodes))

    def rows(self) -> Iterable[str]:
        """Rows of nodes.csv: by the observer that saw most, for all see the same machine."""
        host, own = max(self.observers, key=lambda observer: len(observer[0]))
        if not host or not own:
            return
        t, monotonic, busy, steal, idle, other = np.array(host).T
        watched = [np.interp(t, *np.array(series).T) for _, series in self.observers if series]
        others = other + np.interp(t, *np.array(own).T) - np.sum(watched, axis=0)
        for row in zip(t, monotonic, busy, steal, idle, others - others[0], strict=True):
            first, *figures = row
            yield f"{first:.4f},{self.name},{','.join(f'{figure:.4f}' for figure in figures)}"


def write_nodes(folder: Path, machines: Iterable[MachineSamples]) -> None:
    """Write both files; machines that no component runs on do not matter."""
    observed = [machine for machine in machines if machine.components]
    lines = [NODE_COLUMNS, *(row for machine in observed for row in machine.rows())]
    (folder / "nodes.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    entries = [
        {
            "name": machine.name,
            "components": machine.components,
            "clock": machine.clock,
        }
        for machine in observed
    ]
    (folder / "nodes.json").write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
