# SPDX-License-Identifier: Apache-2.0
"""How threads spent the window, by the kernel: on a CPU, with work and waiting for a CPU, or asleep.

The kernel's scheduler keeps account of each thread since it began, whether anybody reads it or not
(/proc/PID/task/TID/schedstat; the kernel's scheduler/sched-stats.rst), so that two readings are enough, one at each end
of the window. What a thread did that ended between them is lost: how much that is shows in the CPU time, of which the
kernel also tells the sum with those that have ended.
"""

from collections.abc import Collection, Sequence

from steelyard.measure.formulas import SERVERS, Metric, combine_known, sum_of, summed_per_1k
from steelyard.measure.series import NOTHING_READ, Series
from steelyard.measure.thread_groups import GROUPS
from steelyard.measure.window import UNCOVERED, Unknown, Window, component_figure
from steelyard.results.spec import MEASURED_ROLES, Component

LOST_SHARE, BLUR = 0.05, 0.1
"""CPU time that threads may have had that ended unread: as a share of all, and the seconds that ticks of 10 ms blur."""
_NO_QUEUE = Unknown("the kernel does not tell how long its threads wait for a CPU (schedstat)")
_READ_AT_ENDS = (
    "Read near the ends of the window, and brought to the window by the CPU time meanwhile. Unknown where threads that"
    " ended meanwhile had more than 5 % of it."
)


def _wait(window: Window, component: Component, groups: Collection[str]) -> float | Unknown | None:
    """Seconds that threads of these groups waited for a CPU in the window; None of what has no such groups."""
    table = window.samples.threads
    sampled = [group for group in groups if (component.name, group, "cpu_s") in table]
    if not sampled:
        return None
    used, ran, waited = (
        [table.get((component.name, group, column), NOTHING_READ) for group in sampled]
        for column in ("cpu_s", "ran_s", "wait_s")
    )
    if not all(series.t.size for series in (*ran, *waited)):
        return _NO_QUEUE
    # Compilers are read each second, the others only there.
    seldom = min(ran, key=lambda series: series.t.size)
    if (readings := seldom.readings_at_ends(window.start, window.end)) is None:
        return UNCOVERED
    between = [_growth(column, *readings) for column in (used, ran, waited)]
    in_window = _growth(used, window.start, window.end)
    if in_window is None or None in between:
        return UNCOVERED
    cpu, seen, wait = (value or 0.0 for value in between)
    if cpu - seen > LOST_SHARE * cpu + BLUR:
        return Unknown(
            f"threads that ended in the window had more than {LOST_SHARE:.0%} of its CPU time, and how long they waited"
            " is lost"
        )
    return wait * in_window / cpu if cpu else wait


def _growth(columns: Sequence[Series], t0: float, t1: float) -> float | None:
    return combine_known((series.delta(t0, t1) for series in columns), sum)


@component_figure("s")
def cpu_wait_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time that threads had work and waited for a CPU, summed over all threads; of servers and compilers alone."""
    return _wait(window, component, GROUPS)


@component_figure("s")
def request_wait_seconds(window: Window, component: Component) -> float | Unknown | None:
    """The same of the threads that serve requests; None where no rule knows their names."""
    used = window.samples.cpu_by_group(component.name, window.start, window.end).get("request")
    return _wait(window, component, ("request",)) if used else None


@component_figure("count")
def threads_asleep(window: Window, component: Component) -> float | Unknown | None:
    """Threads that neither ran nor waited for a CPU, mean over the window; of servers and compilers alone."""
    waited = cpu_wait_seconds.read(window, component)
    if waited is None or isinstance(waited, Unknown):
        return waited
    threads = window.samples.series(component.name, "threads").mean(window.start, window.end)
    used = window.samples.cpu_seconds(component.name, window.start, window.end)
    if threads is None or used is None:
        return UNCOVERED
    return threads - (used + waited) / window.seconds


METRICS = (
    Metric(
        name="cpu_wait_per_1k",
        label="CPU wait of the servers per 1,000 requests",
        unit="s",
        digits=3,
        source="Time that threads of servers and compilers had work and waited for a CPU in the window, summed over"
        " threads, by the kernel's schedstat / thousands of requests.",
        pitfalls=f"Under a CPU quota the time in which it holds threads back counts too (throttled_time); what a"
        f" hypervisor takes does not (check `steal`). {_READ_AT_ENDS}",
        **summed_per_1k("cpu_wait_seconds"),
    ),
    Metric(
        name="cpu_wait_per_1k_request",
        label="CPU wait of the servers per 1,000 requests, request threads",
        unit="s",
        digits=3,
        source="The same of the request threads of the servers: time in which requests waited for a CPU.",
        pitfalls=f"Threads are grouped by name, as in cpu_per_1k_request; it is in cpu_wait_per_1k already."
        f" {_READ_AT_ENDS}",
        **summed_per_1k("request_wait_seconds", SERVERS),
    ),
    Metric(
        name="threads_asleep",
        label="sleeping threads of the servers",
        unit="threads",
        digits=1,
        better="neither",
        source="Threads of servers and compilers less those that had a CPU or waited for one, mean over the window.",
        pitfalls="One that has no work and one that waits for a lock, the network or the disk look alike: `--profile"
        " lock` and `--profile wall` tell them apart.",
        compute=sum_of("threads_asleep"),
        roles=MEASURED_ROLES,
    ),
)
