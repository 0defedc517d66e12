# SPDX-License-Identifier: Apache-2.0
"""What the hardware did: events that `perf stat` counted of each component, where the session counts them.

An event is a row of `COUNTERS`. Most go by the kernel's generic names, which each processor's driver turns into its
own: on POWER9 and POWER10 `dTLB-load-misses` is PM_DTLB_MISS, `iTLB-load-misses` PM_ITLB_MISS and `LLC-load-misses`
PM_DATA_FROM_L3MISS; on POWER9 `stalled-cycles-frontend` is PM_ICT_NOSLOT_CYC and `stalled-cycles-backend`
PM_CMPLU_STALL, which POWER10's driver lacks (Linux, arch/powerpc/perf/power9-pmu.c and power10-pmu.c). Others have a
name for each make of processor (Linux, tools/perf/pmu-events), of which the first that perf knows is taken. POWER and
arm64 are untested: no such machine was at hand.
"""

from dataclasses import dataclass
from functools import partial

from steelyard.measure.formulas import Metric, quotient, sum_of, summed_per_1k
from steelyard.measure.window import ComponentFigure, Unknown, Window
from steelyard.results.spec import MEASURED_ROLES, Component


@dataclass(frozen=True, kw_only=True)
class Counter:
    """Something that the kernel or the processor counts."""

    name: str
    label: str
    events: tuple[str, ...]
    """Names for perf; the first that this machine has is taken."""
    pitfalls: str
    hardware: bool = True
    """Whether the processor counts it; else the kernel does, without taking turns."""


CPU_TIME = Counter(
    name="counted_cpu",
    label="CPU time",
    events=("task-clock",),
    pitfalls="",
    hardware=False,
)
"""What perf saw of the component's CPU: held against what the kernel tells of its processes."""
CPU_MISSED = 0.05
"""Part of a component's CPU seconds that perf may not have seen."""
_LITTLE = 0.15
"""CPU seconds that perf may have missed in any window: the kernel tells ticks of 10 ms of each process, and the two
are read at moments of their own."""
_PREFETCH = "Prefetches may count, and what counts as a miss differs by make of processor: compare arms, not machines."
_WALKS = "On Intel of loads alone, on AMD of L2 TLB misses of data."
COUNTERS = (
    CPU_TIME,
    Counter(
        name="instructions",
        label="instructions",
        events=("instructions",),
        pitfalls="Loops that wait execute instructions and do no work.",
    ),
    Counter(
        name="cycles",
        label="cycles",
        events=("cycles",),
        pitfalls="Under SMT a thread's cycles run on while the other thread has the core.",
    ),
    Counter(
        name="branch_misses",
        label="mispredicted branches",
        events=("branch-misses",),
        pitfalls="Freshly compiled code mispredicts more.",
    ),
    Counter(
        name="l1d_misses",
        label="misses of the first data cache",
        events=("L1-dcache-load-misses",),
        pitfalls=_PREFETCH,
    ),
    Counter(
        name="llc_misses",
        label="misses of the last cache",
        events=("LLC-load-misses",),
        pitfalls=f"{_PREFETCH} AMD has no such event of a process.",
    ),
    Counter(
        name="dtlb_misses",
        label="data TLB misses",
        events=("dTLB-load-misses",),
        pitfalls="Of loads; on Intel and AMD those that needed a page walk.",
    ),
    Counter(
        name="itlb_misses",
        label="instruction TLB misses",
        events=("iTLB-load-misses",),
        pitfalls="The code cache has pages of its own: large pages for the heap alone leave them.",
    ),
    Counter(
        name="page_walks",
        label="page walks",
        events=("dtlb_load_misses.walk_completed", "ls_l1_d_tlb_miss.all_l2_miss", "dtlb_walk"),
        pitfalls=_WALKS,
    ),
    Counter(
        name="walk_cycles",
        label="cycles in page walks",
        events=("dtlb_load_misses.walk_active", "dtlb_load_misses.walk_duration"),
        pitfalls="Of loads, on Intel alone. The processor does other work meanwhile.",
    ),
    Counter(
        name="frontend_stalls",
        label="cycles without dispatch",
        events=("stalled-cycles-frontend", "pm_disp_stall_cyc"),
        pitfalls="On POWER the cycles in which nothing of the thread was dispatched; Intel has no such event.",
    ),
    Counter(
        name="backend_stalls",
        label="cycles in which execution waited",
        events=("stalled-cycles-backend", "pm_exec_stall"),
        pitfalls="On POWER the cycles in which the oldest instruction waited; Intel has no such event.",
    ),
    Counter(
        name="migrations",
        label="moves to another CPU",
        events=("cpu-migrations",),
        pitfalls="Within one core as well, from one thread of it to the other.",
        hardware=False,
    ),
    Counter(
        name="counted_switches",
        label="context switches counted by perf",
        events=("context-switches",),
        pitfalls="As switches_per_1k, with those of threads that ended.",
        hardware=False,
    ),
)
BY_NAME = {counter.name: counter for counter in COUNTERS}


def read_counter(counter: Counter, window: Window, component: Component) -> float | Unknown | None:
    """A count over the window; None where the session does not count it."""
    events, stat = window.counters, window.counted.get(component.name)
    event = events.get(counter.name)
    if event is None or component.role == "injector":
        return None
    if stat is None:
        return Unknown("perf left no file")
    if (reason := _reason_unseen(window, component)) is not None:
        return Unknown(reason)
    count = stat.growth(event, window.start, window.end)
    if isinstance(count, str):
        return Unknown(count)
    return count / 1000 if counter is CPU_TIME else count


def _reason_unseen(window: Window, component: Component) -> str | None:
    """That perf did not see all of a component: it attaches to the threads that it finds, and to what they start.

    It may see more than the kernel books: its task-clock runs on through interrupts and time that a hypervisor stole.
    """
    used = window.samples.cpu_seconds(component.name, window.start, window.end)
    seen = window.counted[component.name].growth(CPU_TIME.events[0], window.start, window.end)
    if isinstance(seen, str) or used is None:
        return seen if isinstance(seen, str) else "how much CPU it used is not known"
    if used - seen / 1000 > max(_LITTLE, CPU_MISSED * used):
        return f"perf saw {seen / 1000:.1f} of the {used:.1f} CPU seconds that it used"
    return None


COUNTS = tuple(
    ComponentFigure(
        name=counter.name,
        unit="CPU s" if counter is CPU_TIME else "count",
        says=f"{counter.label[:1].upper()}{counter.label[1:]}, by perf; None where the session does not count them.",
        read=partial(read_counter, counter),
    )
    for counter in COUNTERS
)


METRICS = (
    Metric(
        name="ipc",
        label="instructions per cycle",
        unit="1/cycle",
        digits=3,
        source="Instructions / cycles of servers and compilers in the window, by perf (`--counters`).",
        pitfalls="Higher is not faster: what executes fewer instructions for the same work may have less.",
        compute=quotient(sum_of("instructions"), sum_of("cycles")),
        better="neither",
        roles=MEASURED_ROLES,
        evidence=True,
    ),
    *(
        Metric(
            name=f"{counter.name}_per_1k",
            label=f"{counter.label} of the servers per 1,000 requests",
            unit="1/1k req",
            digits=1,
            source=f"Event {' or '.join(f'`{event}`' for event in counter.events)} of servers and compilers in the"
            " window, kernel included, by perf (`--counters`) / thousands of requests.",
            pitfalls=counter.pitfalls,
            **summed_per_1k(counter.name),
        )
        for counter in COUNTERS
        if counter is not CPU_TIME
    ),
)
