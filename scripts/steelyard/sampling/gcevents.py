# SPDX-License-Identifier: Apache-2.0
"""What a GC log says, whichever JVM wrote it."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

Kind = Literal["young", "full", "concurrent"]


class GcEvent(NamedTuple):
    """One stop-the-world pause, or the start of work that a collector does beside the application."""

    epoch: float
    """Start, seconds since the Unix epoch."""
    kind: Kind
    """`young`: a part of the heap; `full`: all of it; `concurrent`: belongs to a concurrent cycle."""
    pause: float
    """Seconds for which the application stood still; 0 for work beside it."""


class GcTotals(NamedTuple):
    """GC over a window."""

    pauses: int
    young: int
    """Young pauses."""
    full: int
    """Full pauses."""
    concurrent: int
    """Pauses and phases of concurrent cycles."""
    pause_seconds: float
    """Time stood still inside the window."""
    pause_max: float | None
    """Longest pause that began in the window; None without one."""


@dataclass(frozen=True)
class GcSettings:
    """Settings read back from the log; None where the JVM does not log them. Sizes are bytes."""

    policy: str | None = None
    """As the JVM calls it: `-Xgcpolicy:gencon`, `G1`, `Parallel`, `Serial`."""
    max_heap: int | None = None
    initial_heap: int | None = None
    page_size: int | None = None
    """Page size of the heap (OpenJ9)."""
    requested_page_size: int | None = None
    """OpenJ9."""
    large_pages: str | None = None
    """HotSpot's own words: `Disabled`, `Enabled (Transparent)`, `Enabled (Explicit)`."""
    gc_threads: int | None = None
    """Threads that collect in parallel."""
    cpus: int | None = None
    """CPUs that the JVM may use, by its own account."""
    memory_limited: bool | None = None
    """Whether the JVM saw a container memory limit (OpenJ9)."""
    vm_args: tuple[str, ...] = ()
    """Arguments of the JVM (OpenJ9)."""


@dataclass(frozen=True)
class GcLog:
    """One JVM's GC log, all its files."""

    events: tuple[GcEvent, ...] = ()
    """In order of time."""
    settings: GcSettings = GcSettings()

    def totals(self, t0: float, t1: float) -> GcTotals:
        """Counts of what began in the window, and the time stood still in it (epoch seconds)."""
        inside = [event for event in self.events if t0 <= event.epoch < t1]
        pauses = [event for event in inside if event.pause > 0]
        stood = sum(
            max(0.0, min(event.epoch + event.pause, t1) - max(event.epoch, t0)) for event in self.events
        )
        return GcTotals(
            len(pauses),
            sum(event.kind == "young" for event in pauses),
            sum(event.kind == "full" for event in pauses),
            sum(event.kind == "concurrent" for event in inside),
            stood,
            max((event.pause for event in pauses), default=None),
        )
