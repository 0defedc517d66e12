# SPDX-License-Identifier: Apache-2.0
"""What the container of a component was charged, by its control group."""

from collections.abc import Callable

from steelyard.measure.formulas import Metric, Read, combine_known, per_1k, sum_of
from steelyard.measure.series import Series
from steelyard.measure.window import ComponentFigure, Window
from steelyard.results.measurement import ComponentResult
from steelyard.results.spec import MEASURED_ROLES, Component


def of_group(name: str) -> Read:
    """A figure of a component's control group."""
    return lambda component: component.cgroup.value(name) if component.cgroup is not None else None


def group_memory(memory: str, huge: str) -> Read:
    """Memory of a component's control group with its pages of the large-page pool, which are charged apart.

    None where it has such pages, and the kernel does not account for them.
    """

    def read(component: ComponentResult) -> float | None:
        pages, rest = of_group(huge)(component), of_group(memory)(component)
        if pages is None and component.read_back.get("pages") != "large":
            return rest
        return combine_known([rest, pages], sum)

    return read


def _reduction(
    column: str, reduce: Callable[[Series, float, float], float | None]
) -> Callable[[Window, Component], float | None]:
    """What is made of a column of the group's samples over the window."""

    def read(window: Window, component: Component) -> float | None:
        return reduce(window.samples.group(component.name, column), window.start, window.end)

    return read


def _throttled_share(window: Window, component: Component) -> float | None:
    periods, throttled = (
        _reduction(column, Series.delta)(window, component) for column in ("periods", "throttled_periods")
    )
    if periods is None or throttled is None:
        return None
    return throttled / periods if periods else 0.0


def _oom_kills(window: Window, component: Component) -> int | None:
    """By the last reading; that there was none is known only where it was read to the end of the window."""
    kills = window.samples.group(component.name, "oom_kills")
    if not kills.v.size or (kills.v[-1] == 0 and not kills.covers(window.start, window.end)):
        return None
    return int(kills.v[-1])


COMPONENT_FIGURES = tuple(
    ComponentFigure(name=name, unit=unit, says=says, read=read, in_group=True)
    for name, unit, says, read in (
        (
            "cpu_seconds",
            "CPU s",
            "everything in the container: health checks beside the server",
            _reduction("cpu_s", Series.delta),
        ),
        (
            "throttled_seconds",
            "s",
            "summed over the CPUs on which it had to wait for its quota, or for that of a group above it",
            _reduction("throttled_s", Series.delta),
        ),
        (
            "throttled_share",
            "share",
            "periods of its CPU quota in which it was throttled / periods; 0 without a quota",
            _throttled_share,
        ),
        (
            "memory_mean",
            "bytes",
            "with page cache and kernel memory, without pages of the large-page pool",
            _reduction("memory", Series.mean),
        ),
        (
            "memory_peak",
            "bytes",
            "since the container started",
            lambda window, component: window.samples.group(component.name, "peak").at(window.end),
        ),
        (
            "working_set_mean",
            "bytes",
            "memory without page cache that was not used lately",
            _reduction("working_set", Series.mean),
        ),
        (
            "oom_kills",
            "count",
            "processes of the container that the kernel killed because memory ran out, since it started",
            _oom_kills,
        ),
        (
            "huge_mean",
            "bytes",
            "pages of the large-page pool; None: the kernel does not account for them (controller `hugetlb`)",
            _reduction("huge", Series.mean),
        ),
        (
            "huge_peak",
            "bytes",
            "most of them in the measurement",
            _reduction("huge", Series.peak),
        ),
    )
)

METRICS = (
    Metric(
        name="cgroup_cpu_per_1k",
        label="CPU of the servers per 1,000 requests, containers",
        unit="CPU s",
        digits=3,
        source="CPU seconds of the control groups of servers and compilers in the window / thousands of requests.",
        pitfalls="Only of servers in containers; health checks and whatever else runs in a container are in it.",
        compute=per_1k(sum_of(of_group("cpu_seconds"))),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="cgroup_memory",
        label="memory (containers) of the servers",
        unit="bytes",
        source="Memory charged to the control groups of servers and compilers, pages of the large-page pool included,"
        " mean over the window, summed over them.",
        pitfalls="With page cache and kernel memory; a shared page is charged to whoever touched it first. Missing"
        " where a server has large pages and the kernel does not account for them (controller hugetlb).",
        compute=sum_of(group_memory("memory_mean", "huge_mean")),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="cgroup_memory_peak",
        label="peak memory (containers) of the servers",
        unit="bytes",
        source="Highest memory of the control group of each server and compiler since it was made, as the kernel keeps"
        " it, and its most pages of the large-page pool in the window, summed over them.",
        pitfalls="Start-up and page cache are in it, and peaks of different moments are summed; missing with cgroup"
        " v2 before Linux 5.19.",
        compute=sum_of(group_memory("memory_peak", "huge_peak")),
        roles=MEASURED_ROLES,
    ),
)
