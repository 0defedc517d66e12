# SPDX-License-Identifier: Apache-2.0
"""Garbage collection, by the GC logs of the servers (`gc_log`): collections, pauses, allocation."""

from collections.abc import Callable

from steelyard.measure.formulas import SERVERS, Metric, per_1k, per_second, ratio, share_of_servers, sum_of
from steelyard.measure.gc_log import GcTotals
from steelyard.measure.window import Unknown, V, Window, component_figure
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Trial
from steelyard.results.spec import Component, Spec
from steelyard.units import MIB


def _total(window: Window, component: Component, read: Callable[[GcTotals], V | None]) -> V | Unknown | None:
    """What the GC log of a component tells of the window; None where there is no log, or nothing of the kind."""
    log = window.gc_logs.get(component.name)
    if log is None:
        return None
    return Unknown(log.unknown) if log.unknown is not None else read(log.totals(window.start, window.end))


@component_figure("count")
def gc_count(window: Window, component: Component) -> int | Unknown | None:
    """Collections whose first pause began in the window."""
    return _total(window, component, lambda totals: totals.collections)


@component_figure("s")
def gc_pause_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time that the application stood still for collections."""
    return _total(window, component, lambda totals: totals.pause_seconds)


@component_figure("s")
def gc_pause_max(window: Window, component: Component) -> float | Unknown | None:
    """Longest pause."""
    return _total(window, component, lambda totals: totals.pause_max)


@component_figure("thread-s")
def gc_stall_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time that threads of the application waited for ZGC to free memory, summed over them; None with other
    collectors."""
    return _total(window, component, lambda totals: totals.stall_seconds)


@component_figure("bytes")
def allocated(window: Window, component: Component) -> float | Unknown | None:
    """What it allocated, by its GC log; None without two collections between which it tells.

    The log knows what was allocated between the first and the last collection of the window. That is brought to the
    whole window by the requests that the component served, which is what it allocates for, else by time.
    """
    log = window.gc_logs.get(component.name)
    if log is None:
        return None
    allocation = log.allocation(window.start, window.end)
    if allocation is None:
        return Unknown(log.unknown) if log.unknown is not None else None
    inside, served = (
        window.samples.requests(component.name, *times)
        for times in ((allocation.begin, allocation.end), (window.start, window.end))
    )
    if inside is None or served is None:
        return ratio(allocation.size * window.seconds, allocation.end - allocation.begin)
    return ratio(allocation.size * served.requests, inside.requests)


def _allocated_mib(component: ComponentResult) -> float | None:
    size = component.value("allocated")
    return None if size is None else size / MIB


def longest_pause(trial: Trial, spec: Spec) -> float | None:
    """Milliseconds, of the servers; None where the log of one does not tell, or nothing paused."""
    if sum_of("gc_count", SERVERS)(trial, spec) is None:
        return None
    pauses = (component.value("gc_pause_max") for component in trial.components if component.role == "server")
    return max((1000 * seconds for seconds in pauses if seconds is not None), default=None)


METRICS = (
    Metric(
        name="gc_per_second",
        by_clock=True,
        label="collections",
        unit="1/s",
        digits=3,
        source="Collections in the GC logs of the servers whose first pause began in the window / its length. The"
        " pauses of one concurrent cycle (G1, ZGC, Shenandoah) are one collection.",
        pitfalls="Zero in a short window means none happened to fall into it; such a figure has no ratio.",
        compute=per_second(sum_of("gc_count", SERVERS)),
        evidence=True,
    ),
    Metric(
        name="gc_pause_share",
        by_clock=True,
        label="time in GC pauses",
        unit="share",
        digits=5,
        source="Pause time in the GC logs in the window / (length of the window x number of server JVMs).",
        pitfalls="Concurrent collectors move work out of pauses: read it with cpu_per_1k_gc. A thread that waits for"
        " ZGC to free memory is in no pause: gc_stall_share.",
        compute=share_of_servers("gc_pause_seconds"),
        evidence=True,
    ),
    Metric(
        name="gc_pause_max",
        by_clock=True,
        label="longest GC pause",
        unit="ms",
        digits=2,
        source="Longest single pause in the GC logs of the servers in the window.",
        pitfalls="A maximum grows with the length of the window and the number of JVMs.",
        compute=longest_pause,
    ),
    Metric(
        name="gc_stall_share",
        by_clock=True,
        label="time in allocation stalls",
        unit="share",
        digits=5,
        source="Allocation stalls in ZGC's logs in the window, summed over the threads that waited / (length of the"
        " window x number of server JVMs).",
        pitfalls="Above 1 where several threads wait at once. Only of ZGC: Shenandoah's pacing is in no line of its"
        " log, and other collectors free memory in pauses.",
        compute=share_of_servers("gc_stall_seconds"),
        evidence=True,
    ),
    Metric(
        name="allocated_per_1k",
        label="allocation per 1,000 requests",
        unit="MiB",
        digits=2,
        source="What the servers allocated by their GC logs from the first to the last collection of the window,"
        " brought to the whole window by the requests served meanwhile (of servers without counters by time) /"
        " thousands of requests.",
        pitfalls="Missing where a server collected less than twice in the window, and with collectors that free"
        " memory beside the application. HotSpot logs whole MiB, and unused ends of regions and thread-local buffers"
        " count; work in the background allocates as well. With G1 an object of half a region or more takes whole"
        " regions (a humongous one), and the log counts the regions and not the object: with many of them the figure"
        " was 42 % too large. Compare collectors or region sizes by it only where objects stay below half a region.",
        compute=per_1k(sum_of(_allocated_mib, SERVERS)),
        evidence=True,
    ),
)
