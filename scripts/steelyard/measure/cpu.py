# SPDX-License-Identifier: Apache-2.0
"""CPU of a component, of all its processes and by the purpose of its threads; and servers that get none."""

import itertools
from collections.abc import Sequence

import numpy as np

from steelyard.measure.formulas import (
    PART,
    SERVERS,
    Metric,
    Read,
    combine_known,
    per_1k,
    ratio,
    sum_of,
    summed_per_1k,
)
from steelyard.measure.histograms import Recorded
from steelyard.measure.rule import RESULT, SURVIVE, Finding, Rule, judge_figure
from steelyard.measure.samples import Samples
from steelyard.measure.series import total
from steelyard.measure.window import UNCOVERED, Unknown, Window, component_figure, known_or, trial_figure
from steelyard.results.measurement import ComponentResult, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import MEASURED_ROLES, Component, Role, Spec

STALLED = 0.05
"""Share of its mean CPU in a window below which a server does nothing."""
STALL_SHOWS = 0.2
"""CPU seconds that a server has to have left out for that to be said: 20 ticks of the kernel's clock."""
STALL_LIMIT, STALL_SHARE = 2.5, 0.1
"""Longest stall that passes: seconds, and as a share of the window."""
THREADS = {
    "request": ("request threads", "Threads are grouped by name; a renamed pool lands in `other`."),
    "jit": (
        "JIT threads",
        "Compilation in a JITServer is in it: its CPU counts with the servers it works for.",
    ),
    "gc": ("GC threads", "Allocation slow paths and barriers run in request threads and count there."),
    "network": ("network threads", "Kernel work in softirq is charged to no thread of the servers."),
    "other": ("other threads", "All threads that no rule names, and the rest up to the process total."),
}
"""Thread groups: what they are called, and what misleads in them."""
OTHER_ROLES: dict[Role, tuple[str, str]] = {
    "compiler": (
        "JITServer",
        "It is in cpu_per_1k already; JITServers also work for what was not requested.",
    ),
    "database": ("databases", "Grows with the data where the load adds to it."),
    "service": ("services", "Services that stand in for others do not cost what real ones cost."),
    "proxy": ("proxy", "Calls between services pass through it as well."),
}
"""What runs with the servers: the same."""


def cpu_by_group(window: Window, component: Component) -> dict[str, float]:
    """CPU seconds by thread group."""
    used = window.samples.cpu_by_group(component.name, window.start, window.end)
    # The remainder `other` is a difference of ticks read at different moments: barely below 0 is 0.
    return {group: max(0.0, seconds) for group, seconds in used.items()}


@component_figure("count")
def processes(window: Window, component: Component) -> float | None:
    """Processes that it had, mean over the window; None in sessions of versions that did not count them."""
    return window.samples.series(component.name, "processes").mean(window.start, window.end)


@component_figure("CPU s")
def cpu_seconds(window: Window, component: Component) -> float | Unknown:
    """User and system, of all its processes."""
    return known_or(window.samples.cpu_seconds(component.name, window.start, window.end), UNCOVERED)


@trial_figure("s", undisturbed=0.0)
def stall_seconds(window: Window) -> float | None:
    """Longest time in the window in which a server used no CPU, and requests waited.

    In a ramp-up of several services all of them together.
    """
    spec = window.spec
    names = [server.name for server in spec.servers]
    # A cold service is silent while it waits for another cold one: only all of them together stand still.
    together = spec.procedure == "ramp-up" and len({server.kind for server in spec.servers}) > 1
    groups = [names] if together else [[name] for name in names]
    stalls = (stall(window.samples, group, window.start, window.end, window.total) for group in groups)
    return combine_known(stalls, max)


def stall(
    samples: Samples, processes: Sequence[str], t0: float, t1: float, recorded: Recorded
) -> float | None:
    """Longest time over a window in which a server, or all of several together, used next to no CPU (`STALLED`) of what
    it used else, seconds.

    It was stopped, or what it waits for was. A collection is none: it uses CPU. A server that uses so little CPU
    that its silence is nothing (`STALL_SHOWS`) does not stall; one that uses none at all stalls all the time. Nor does
    one whom nobody asks, as a service may be for seconds of which users need little: others were answered, and no
    request was in flight through the second half of its silence.

    It stops and goes on between two samples: what the steps before and after lack of the CPU of an ordinary step was
    silence as well. (By whole steps alone, samples a second apart, a server that was stopped for 3 s stalled for 2 s.)
    """
    columns = itertools.product(processes, ("user_s", "system_s"))
    cpu = total([samples.series(process, column) for process, column in columns], t0, t1)
    if cpu is None:
        return None
    steps, grown = np.diff(cpu.t), np.diff(cpu.v)
    mean = grown.sum() / (t1 - t0)
    if mean <= 0:
        return t1 - t0
    silent = grown <= STALLED * mean * steps
    if silent.all():
        return t1 - t0
    ordinary = float(np.median(grown[~silent] / steps[~silent]))
    lacking = np.where(silent, steps, np.clip(steps - grown / ordinary, 0.0, steps))
    longest = 0.0
    for first in np.flatnonzero(silent & ~np.roll(silent, 1) | silent & (np.arange(len(silent)) == 0)):
        end = first + int(np.argmin(np.append(silent[first:], False)))
        begins, ends = float(cpu.t[first]), float(cpu.t[end])
        unasked = ends < t1 and recorded.in_flight((begins + ends) / 2, ends) is False
        if not unasked and (ends - begins) * mean >= STALL_SHOWS:
            longest = max(longest, float(lacking[max(0, first - 1) : end + 1].sum()))
    return longest


def judge_stall(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The longest stall against its limit, and against a tenth of the window: what it protects is the mean over it.

    Not of what has died or thrashed, where that is the result: it has been said.
    """
    dead = measurement.sentences("restarts") or measurement.sentences("thrashing")
    if spec.procedure == "survive" and dead:
        return Finding(None, "Not everything lived to the end.", applies=False)
    finding = _STALL(measurement, spec)
    return finding._replace(limit=min(STALL_LIMIT, STALL_SHARE * measurement.measure_seconds))


_STALL = judge_figure(
    "stall_seconds",
    "the longest time in which a server was waited for and used no CPU was {}",
    "{:.1f} s".format,
    "not known",
)


def cpu_share(trial: Trial, spec: Spec) -> float | None:
    """CPU time of servers and compilers in the measurement / time of all logical CPUs that they may use; None: not
    measured."""
    used = sum_of("cpu_seconds")(trial, spec)
    if trial.measurement is None:
        return None
    return ratio(used, trial.measurement.measure_seconds * spec.usable_cpus) or None


def system_cpu(trial: Trial, spec: Spec) -> float | None:
    """CPU seconds of everything but the injectors, where there is something beside the servers."""
    roles: tuple[Role, ...] = ("database", "service", "proxy")
    return sum_of("cpu_seconds", (*MEASURED_ROLES, *roles))(trial, spec) if spec.of(*roles) else None


def group_cpu(group: str) -> Read:
    """CPU seconds of a group of threads."""

    def read(component: ComponentResult) -> float | None:
        if not component.cpu_by_group:
            return None
        used = component.cpu_by_group.get(group, 0.0)
        # A server under load has threads that serve requests: no CPU in them means that no rule knows their names.
        return None if group == "request" and used == 0 and component.role == "server" else used

    return read


_CPU = Metric(
    name="cpu_per_1k",
    label="CPU of the servers per 1,000 requests",
    unit="CPU s",
    digits=3,
    source="User and system CPU seconds of all processes of servers and compilers in the window, those that ended"
    " included / thousands of requests.",
    pitfalls="Under SMT or a varying clock a CPU second is not a fixed amount of work.",
    **summed_per_1k("cpu_seconds"),
)

METRICS = (
    _CPU,
    Metric(
        name="server_cpu_share",
        label="CPU of the servers",
        unit="share",
        digits=4,
        source="User and system CPU seconds of servers and compilers in the window / time of the logical CPUs that"
        " they may use, or of their quotas where those are less.",
        pitfalls="Where injectors and databases share those CPUs, what they use is not in it; under SMT half of it"
        " may be all of the cores.",
        compute=cpu_share,
    ),
    *(
        Metric(
            name=f"cpu_per_1k_{group}",
            label=f"CPU of the servers per 1,000 requests, {who}",
            unit="CPU s",
            digits=4,
            source=f"CPU seconds of the {who} of servers and compilers in the window / thousands of requests.",
            pitfalls=pitfalls,
            **summed_per_1k(group_cpu(group)),
        )
        for group, (who, pitfalls) in THREADS.items()
    ),
    Metric(
        name="cpu_per_1k_jit_servers",
        label="CPU of the servers alone per 1,000 requests, JIT threads",
        unit="CPU s",
        digits=4,
        source="CPU seconds of the JIT threads of the server JVMs in the window / thousands of requests.",
        pitfalls=(
            "What a JITServer does for them is in cpu_per_1k_compiler: work that moves there does not vanish."
            f" {PART}"
        ),
        compute=per_1k(sum_of(group_cpu("jit"), SERVERS)),
        roles=SERVERS,
        only_with_compilers=True,
    ),
    _CPU.part(
        SERVERS,
        per_1k(sum_of("cpu_seconds", SERVERS)),
        source="User and system CPU seconds of the server JVMs in the window / thousands of requests.",
    ),
    *(
        Metric(
            name=f"cpu_per_1k_{role}",
            label=f"CPU of the {who} per 1,000 requests",
            unit="CPU s",
            digits=4,
            source=f"User and system CPU seconds of the {who} in the window / thousands of requests.",
            pitfalls=pitfalls,
            compute=per_1k(sum_of("cpu_seconds", (role,))),
            roles=(role,),
            part_of="cpu_per_1k" if role == "compiler" else "",
            evidence=role != "compiler",
            each=None if role == "compiler" else "cpu_seconds",
        )
        for role, (who, pitfalls) in OTHER_ROLES.items()
    ),
    Metric(
        name="cpu_per_1k_system",
        label="CPU of the whole system per 1,000 requests",
        unit="CPU s",
        digits=3,
        source="As cpu_per_1k, with databases, services and the proxy beside the servers.",
        pitfalls="Only for workloads that have them. An embedded database does not cost what a real one costs.",
        compute=per_1k(system_cpu),
    ),
)

RULES = (
    Rule(
        name="stalled",
        limit=STALL_LIMIT,
        unit="s",
        says="no server that is waited for without CPU for more than 2.5 s, or for more than a tenth of a window"
        f" shorter than 25 s; {RESULT}",
        judge=judge_stall,
        source="stopped, or waiting for what was stopped; collections use CPU",
        answers=SURVIVE,
    ),
)
