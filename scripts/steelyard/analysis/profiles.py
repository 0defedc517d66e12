# SPDX-License-Identifier: Apache-2.0
"""Sampling profiles compared: what methods cost per 1,000 requests, and which changed most (pure).

A profile is a table of stacks by slice of time; costs are divided by the requests of the profiled window, so that arms
of different throughput can be compared. Intervals are of the bootstrap over slices (Efron, Annals of Statistics, 1979):
they say how sure the profile of one start is, and nothing of how starts differ.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from steelyard.results.schema import Event

Stack = tuple[str, ...]
"""Frames, the outermost first."""
RESAMPLES = 2000
LEVEL = 0.95
MOST = 400
"""Methods that are compared: those that cost most."""
_ANNOTATIONS = ("_[0]", "_[1]", "_[j]", "_[i]", "_[k]")
"""Of async-profiler: compiled by C1, by C2 or another compiler, inlined, interpreted or a type, of the kernel."""
_KERNEL = "_[k]"
_COMPILERS = ("C1 CompilerThre", "C2 CompilerThre", "JIT Compilation", "JIT IProfiler")
_COLLECTORS = ("GC Thread#", "GC Worker", "Concurrent Mark", "Dedicated GC")
"""Threads, with whose names stacks by perf begin: libraries without frame pointers cut what they called first."""
_AREAS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "JIT compiler",
        ("CompileBroker::", "CompilerThread", "C2Compiler::", "TR_", "TR::", "JITServer", *_COMPILERS),
    ),
    (
        "garbage collector",
        (
            *(
                "VM_GenCollect",
                "VM_Serial",
                "VM_ParallelGC",
                "VM_ParallelCollect",
                "VM_G1",
                "VM_Collect",
                "VM_Z",
                "VM_XOperation",
                "VM_Shenandoah",
                "GangWorker::",
            ),
            *("WorkerThread::", "G1", "PSPromotion", "PSScavenge", "PSParallel", "ParallelGC", "GCTask"),
            *("Shenandoah", "ZWorker", "ZDriver", "ZMark", "ZRelocate", "ConcurrentGCThread", "MM_", "GC_"),
            *_COLLECTORS,
            *("SerialFullGC::", "SerialHeap::collect", "SerialHeap::do_", "SerialHeap::try_collect"),
            *("GenMarkSweep::", "DefNewGeneration::collect", "DefNewGeneration::copy_to_survivor_space"),
        ),
    ),
    (
        "network",
        (
            *("sun/nio/ch/", "java/net/", "jdk/internal/net/", "io/netty/", "com/ibm/ws/tcpchannel/"),
            *("com/ibm/ws/http/channel/", "com/ibm/wsspi/http/channel/", "org/eclipse/jetty/io/"),
            *("org/apache/tomcat/util/net/", "io/undertow/server/protocol/", "org/xnio/"),
        ),
    ),
    (
        "server",
        (
            *(
                "com/ibm/",
                "io/openliberty/",
                "org/eclipse/jetty/",
                "org/apache/catalina/",
                "org/apache/coyote/",
            ),
            *("io/undertow/", "org/jboss/", "org/springframework/boot/web/"),
        ),
    ),
    ("", ("java/", "javax/", "jakarta/", "jdk/", "sun/", "com/sun/")),
)
"""Whose work a frame is, by its beginning; of none: whoever called it. The operations of HotSpot's Serial and Parallel
collectors have other names from release to release (OpenJDK, gc/serial/serialVMOperations.hpp and
gc/parallel/psVMOperations.hpp: `VM_GenCollectForAllocation` of 17 is `VM_SerialCollectForAllocation` of 25). A heap's
`mem_allocate` is left out: an application's thread runs it."""
_OWN_THREADS = ("JIT compiler", "garbage collector")
AREAS = ("application", *(name for name, _ in _AREAS if name), "kernel", "other")


class Change(NamedTuple):
    """What a method costs in an arm against the baseline, in the profile's unit per 1,000 requests."""

    method: str
    area: str
    baseline: float
    arm: float
    low: float
    high: float
    """Bounds of the difference, at `LEVEL`."""

    @property
    def difference(self) -> float:
        """Arm less baseline."""
        return self.arm - self.baseline


@dataclass(frozen=True)
class ProfileData:
    """The slices of one arm, of one start or of several."""

    event: Event
    slices: Sequence[Mapping[Stack, int]]
    requests: Sequence[float]
    """In each slice, on the average of its start; where a start itself is what is measured, 1,000 for each."""

    @property
    def per_thousand(self) -> float:
        """By what the cost of all slices together is multiplied to be that of 1,000 requests."""
        return 1000 / math.fsum(self.requests)

    @cached_property
    def methods(self) -> dict[Stack, tuple[str, str]]:
        """`own_method` of each stack, of which most are in many slices."""
        return {stack: own_method(self.event, stack) for stacks in self.slices for stack in stacks}


def pool(starts: Sequence[ProfileData]) -> ProfileData:
    """All slices of several starts (one at least)."""
    slices = [stacks for data in starts for stacks in data.slices]
    return ProfileData(starts[0].event, slices, [served for data in starts for served in data.requests])


def read_stacks(text: str) -> Counter[Stack]:
    """Parse async-profiler's collapsed format: frames with `;` between, a blank, a cost (raises ValueError)."""
    stacks: Counter[Stack] = Counter()
    for line in text.splitlines():
        frames, _, cost = line.rpartition(" ")
        stacks[tuple(frames.split(";"))] += int(cost)
    return stacks


def plain(frame: str) -> str:
    """A frame without async-profiler's annotation."""
    return frame[:-4] if frame.endswith(_ANNOTATIONS) else frame


def calls_of(event: Event, stack: Stack) -> Stack:
    """The calls of a stack: of `alloc` and `lock` the last frame is the type that was allocated or waited for."""
    return stack[:-1] if event in ("alloc", "lock") and len(stack) > 1 else stack


def area_of(calls: Stack) -> str:
    """Whose work the last of these calls is (one of `AREAS`)."""
    if calls[-1].endswith(_KERNEL):
        return "kernel"
    for frame in reversed(calls):
        area = next((area for area, beginnings in _AREAS if frame.startswith(beginnings)), None)
        if area is None and is_method(frame):
            return "application"
        if area:
            return area
    return "other"


def is_method(frame: str) -> bool:
    """Whether a frame is a Java method: of native functions only those of the kernel are annotated, C++ has `::`."""
    name = plain(frame)
    return name != frame and "." in name and "::" not in name and not frame.endswith(_KERNEL)


def own_method(event: Event, stack: Stack) -> tuple[str, str]:
    """The method that a cost is put to, and its area: the innermost Java method with all that it calls outside of Java;
    of a compiler's or a collector's threads their area alone, also while the kernel works for them."""
    calls = calls_of(event, stack)
    area = _area_outside_kernel(calls)
    if area in _OWN_THREADS:
        return area, area
    for end in range(len(calls), 0, -1):
        if is_method(calls[end - 1]):
            return plain(calls[end - 1]), area_of(calls[:end])
    return "JVM and native code", "other"


def _area_outside_kernel(calls: Stack) -> str | None:
    """Whose work the last call before the kernel's is; None: all are the kernel's."""
    end = len(calls)
    while end and calls[end - 1].endswith(_KERNEL):
        end -= 1
    return area_of(calls[:end]) if end else None


def changes(baseline: ProfileData, arm: ProfileData, most: int = 10, seed: int = 0) -> list[Change]:
    """The methods whose own cost differs most, the largest difference first.

    Args:
        baseline: its profile.
        arm: another arm's, of the same event.
        most: how many.
        seed: of the bootstrap.
    """
    sides = [list(own_costs(data)) for data in (baseline, arm)]
    totals: Counter[str] = Counter()
    for data, costs in zip((baseline, arm), sides, strict=True):
        for counted in costs:
            totals.update({name: cost * data.per_thousand for name, cost in counted.items()})
    names = [name for name, _ in totals.most_common(MOST)]
    areas: dict[str, str] = {}
    for data in (baseline, arm):
        areas |= dict(data.methods[stack] for stacks in data.slices for stack in stacks)
    generator = np.random.default_rng(seed)
    means, resampled = [], []
    for data, costs in zip((baseline, arm), sides, strict=True):
        matrix = np.array([[counted[name] for name in names] for counted in costs], dtype=float)
        matrix *= 1000 / np.asarray(data.requests)[:, None]
        means.append(matrix.mean(axis=0))
        drawn = generator.integers(0, len(costs), size=(RESAMPLES, len(costs)))
        resampled.append(_means_of(matrix, drawn))
    differences = resampled[1] - resampled[0]
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(differences, [tail, 1 - tail], axis=0)
    compared = [
        Change(name, areas[name], *map(float, (means[0][i], means[1][i], low[i], high[i])))
        for i, name in enumerate(names)
    ]
    return sorted(compared, key=lambda change: -abs(change.difference))[:most]


def _means_of(matrix: npt.NDArray[np.float64], drawn: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Mean over drawn slices: RESAMPLES x methods, by how often each slice was drawn."""
    weights = np.stack([np.bincount(row, minlength=len(matrix)) for row in drawn]) / len(matrix)
    means: npt.NDArray[np.float64] = weights @ matrix
    return means


def own_costs(data: ProfileData) -> Iterator[Counter[str]]:
    """Own cost of each method, by slice."""
    for stacks in data.slices:
        costs: Counter[str] = Counter()
        for stack, cost in stacks.items():
            costs[data.methods[stack][0]] += cost
        yield costs


def cost_by_area(data: ProfileData) -> dict[str, float]:
    """Cost per 1,000 requests by area."""
    costs: Counter[str] = Counter()
    for stacks in data.slices:
        for stack, cost in stacks.items():
            costs[area_of(calls_of(data.event, stack))] += cost
    return {area: costs[area] * data.per_thousand for area in AREAS if costs[area]}
