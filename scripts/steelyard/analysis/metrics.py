# SPDX-License-Identifier: Apache-2.0
"""The registry of metrics: what each summary figure of a trial is, how it is computed, and how it misleads.

Each metric stands here once (those of starts, ramp-ups and survival in `analysis.procedures`), with its formula over
the raw figures of a trial; docs/metrics.md is written from here. "The window" is the measurement window; "the
servers" are all server JVMs of the trial and the compilers that work for them (a JITServer's CPU and memory count:
DESIGN, resources are conserved).
"""

import math
from collections.abc import Iterable

from steelyard.analysis.formulas import (
    WEIGHED,
    Compute,
    Metric,
    define,
    each,
    in_groups,
    latency,
    measured,
    most,
    over,
    per_1k,
    per_second,
    rate,
    sum_of,
    total,
)
from steelyard.analysis.procedures import PROCEDURE_METRICS
from steelyard.results.analysis import MetricInfo
from steelyard.results.schema import ComponentResult, Trial
from steelyard.results.spec import Role, Spec

THROUGHPUT = "throughput"


def _system_cpu(trial: Trial, spec: Spec) -> float | None:
    """Of everything but the injectors, where there is something beside the servers."""
    roles: tuple[Role, ...] = ("database", "service", "proxy")
    if not spec.of(*roles):
        return None
    return total(each(trial, spec, (*WEIGHED, *roles), lambda one: one.cpu_seconds))


def _group_cpu(group: str) -> Compute:
    def read(one: ComponentResult) -> float | None:
        if not one.cpu_by_group:
            return None
        used = one.cpu_by_group.get(group, 0.0)
        # A server under load has threads that serve requests: no CPU in them means that no rule knows their names.
        return None if group == "request" and used == 0 else used

    return sum_of(read)


def _requests_per_gib(trial: Trial, spec: Spec) -> float | None:
    memory = trial.measurement.memory_rss if trial.measurement else None
    return over(rate(trial, spec), memory and memory / 2**30)


def _cpu_shares() -> Iterable[Metric]:
    """CPU per request by thread group, and of what stands beside the servers."""
    groups = {
        "request": ("request threads", "Threads are grouped by name; a renamed pool lands in `other`."),
        "jit": (
            "JIT threads",
            "Compilation in a JITServer is in it: its CPU counts with the servers it works for.",
        ),
        "gc": ("GC threads", "Allocation slow paths and barriers run in request threads and count there."),
        "network": (
            "network threads",
            "Kernel work in softirq is charged to no thread of the servers.",
        ),
        "other": (
            "other threads",
            "Holds every thread that no rule names, and the rest to the process total.",
        ),
    }
    for group, (threads, pitfalls) in groups.items():
        yield define(
            f"cpu_per_1k_{group}",
            f"CPU per 1,000 requests, {threads}",
            "CPU s",
            "lower",
            per_1k(_group_cpu(group)),
            digits=4,
        )(
            f"CPU seconds of the {threads} of the servers in the window / thousands of requests.",
            pitfalls,
        )
    roles: dict[Role, tuple[str, str]] = {
        "compiler": (
            "compilers",
            "It is in cpu_per_1k already; compilers also work for what was not requested.",
        ),
        "database": ("databases", "Grows with the data where the load adds to it."),
        "service": ("services", "Services that stand in for others do not cost what real ones cost."),
        "proxy": ("proxy", "Calls between services pass through it as well."),
    }
    for role, (who, pitfalls) in roles.items():
        yield define(
            f"cpu_per_1k_{role}",
            f"CPU per 1,000 requests, {who}",
            "CPU s",
            "lower",
            per_1k(sum_of(lambda one: one.cpu_seconds, (role,))),
            digits=4,
        )(
            f"User and system CPU seconds of the {who} in the window / thousands of requests.",
            pitfalls,
        )


def _quantiles() -> Iterable[Metric]:
    saturated = "From a saturated closed model it shows queueing at the injectors' number of users."
    few = "Missing with fewer than 1,000 requests; steady only from about 10,000."
    computes = {50: latency(lambda x: x.p50), 90: latency(lambda x: x.p90), 99: latency(lambda x: x.p99)}
    for q, compute in computes.items():
        source = f"{q} % quantile of the injectors' merged histograms over all operations in the window."
        pitfalls = few if q == 99 else saturated
        yield define(f"latency_p{q}", f"latency p{q}", "ms", "lower", compute, digits=3)(
            source,
            pitfalls,
        )


REGISTRY: tuple[Metric, ...] = (
    define(THROUGHPUT, "throughput", "req/s", "higher", rate)(
        "Requests that the servers counted in the window / length of the window; by the injectors'"
        " count where not every server counts.",
        "With an open model it is the arrival rate, not the capacity of the servers.",
    ),
    define("memory_rss", "memory (RSS)", "bytes", "lower", measured(lambda m: m.memory_rss))(
        "Resident set size summed over the servers each second, mean over the window.",
        "Counts pages that JVMs share (class cache, libraries) once for each JVM.",
    ),
    define("memory_pss", "memory (PSS)", "bytes", "lower", measured(lambda m: m.memory_pss))(
        "Proportional set size summed over the servers, mean of the readings in the window.",
        "A shared page is split over its users, also over processes outside the trial; read less often.",
    ),
    define("memory_rss_peak", "peak memory (RSS)", "bytes", "lower", measured(lambda m: m.memory_rss_peak))(
        "Largest of the per-second sums of resident set sizes over the servers in the window.",
        "A maximum grows with the length of the window; a peak before the window is not in it.",
    ),
    define(
        "cpu_per_1k",
        "CPU per 1,000 requests",
        "CPU s",
        "lower",
        per_1k(sum_of(lambda one: one.cpu_seconds)),
        digits=3,
    )(
        "User and system CPU seconds of the servers in the window / thousands of requests.",
        "Under SMT or a varying clock a CPU second is not a fixed amount of work.",
    ),
    *_cpu_shares(),
    define(
        "cpu_per_1k_system",
        "CPU per 1,000 requests, whole system",
        "CPU s",
        "lower",
        per_1k(_system_cpu),
        digits=3,
    )(
        "As cpu_per_1k, with databases, services and the proxy beside the servers.",
        "Only for workloads that have them. An embedded database does not cost what a real one costs.",
    ),
    define(
        "service_calls_per_1k",
        "calls between services per 1,000 requests",
        "calls",
        "neither",
        per_1k(measured(lambda m: m.service_calls)),
        digits=1,
    )(
        "Requests that services counted as asked by each other in the window / thousands of requests.",
        "Retries count; only for topologies of several services.",
    ),
    define(
        "requests_per_core_second",
        "requests per core-second",
        "req/core-s",
        "higher",
        lambda trial, spec: over(rate(trial, spec), spec.server_cores),
    )(
        "Throughput / physical cores that the servers were given together.",
        "Cores given, not cores used: idle cores count; for cores used read cpu_per_1k.",
    ),
    define("requests_per_gib", "requests per second per GiB", "req/s/GiB", "higher", _requests_per_gib)(
        "Throughput / memory_rss in GiB.",
        "Inherits the double counting of shared pages from RSS.",
    ),
    define("latency_mean", "mean latency", "ms", "lower", latency(lambda x: x.mean), digits=3)(
        "Mean of the injectors' merged histograms over all operations in the window.",
        "In a closed model without think time it is users / throughput and says nothing new.",
    ),
    *_quantiles(),
    define(
        "gc_per_second",
        "collections",
        "1/s",
        "lower",
        per_second(sum_of(lambda one: one.gc_count, ("server",))),
        digits=3,
    )(
        "Stop-the-world collections in the GC logs of the servers in the window / its length.",
        "Zero in a short window means none happened to fall into it; such a figure has no ratio.",
    ),
    define(
        "gc_pause_share",
        "time in GC pauses",
        "share",
        "lower",
        lambda t, s: over(
            per_second(sum_of(lambda one: one.gc_pause_seconds, ("server",)))(t, s), len(s.servers)
        ),
        digits=5,
    )(
        "Pause time in the GC logs in the window / (length of the window x number of server JVMs).",
        "Concurrent collectors move work out of pauses: read it with cpu_per_1k_gc.",
    ),
    define(
        "gc_pause_max",
        "longest GC pause",
        "ms",
        "lower",
        lambda trial, _spec: max(
            (1000 * one.gc_pause_max for one in trial.components if one.gc_pause_max is not None),
            default=None,
        ),
        digits=2,
    )(
        "Longest single pause in the GC logs of the servers in the window.",
        "A maximum grows with the length of the window and the number of JVMs.",
    ),
    *PROCEDURE_METRICS,
    define(
        "faults_per_1k",
        "page faults per 1,000 requests",
        "1/1k req",
        "lower",
        per_1k(sum_of(lambda one: one.faults)),
        digits=2,
    )(
        "Minor and major page faults of the servers in the window / thousands of requests.",
        "Large while the heap still grows into new pages.",
    ),
    define(
        "switches_per_1k",
        "context switches per 1,000 requests",
        "1/1k req",
        "lower",
        per_1k(sum_of(lambda one: one.switches)),
        digits=1,
    )(
        "Voluntary and involuntary context switches of the servers in the window / thousands of requests.",
        "Threads that ended between two readings are missing.",
    ),
    define(
        "cgroup_cpu_per_1k",
        "CPU per 1,000 requests, containers",
        "CPU s",
        "lower",
        per_1k(sum_of(in_groups(lambda group: group.cpu_seconds))),
        digits=3,
    )(
        "CPU seconds of the servers' control groups in the window / thousands of requests.",
        "Only of servers in containers; health checks and whatever else runs in a container are in it.",
    ),
    define(
        "cgroup_memory",
        "memory (containers)",
        "bytes",
        "lower",
        sum_of(in_groups(lambda group: group.memory_mean)),
    )(
        "Memory charged to the servers' control groups, summed over the servers, mean over the window.",
        "With page cache and kernel memory; a shared page is charged to whoever touched it first, one of the"
        " large-page pool to nobody.",
    ),
    define(
        "cgroup_memory_peak",
        "peak memory (containers)",
        "bytes",
        "lower",
        sum_of(in_groups(lambda group: group.memory_peak)),
    )(
        "Highest memory of each server's control group since it was made, as the kernel keeps it, summed over"
        " the servers.",
        "Start-up and page cache are in it, and peaks of different moments are summed; missing with cgroup v2"
        " before Linux 5.19.",
    ),
    define(
        "throttled_share",
        "throttled periods",
        "share",
        "lower",
        lambda t, s: most(each(t, s, WEIGHED, in_groups(lambda group: group.throttled_share))),
        digits=5,
    )(
        "Periods in which a server's control group used up its CPU quota / periods, of the worst server, in the"
        " window.",
        "Zero without a quota (a cpuset does not throttle) and so without a ratio; any throttling voids the"
        " trial.",
    ),
    define(
        "error_share",
        "errors",
        "share",
        "lower",
        latency(lambda x: over(x.errors, x.requests + x.errors)),
        digits=5,
    )(
        "Failed requests / all requests of the injectors in the window.",
        "Zero, as it should be, has no ratio; above 0.1 % the trial is void.",
    ),
)


def metrics_of(trial: Trial, spec: Spec) -> dict[str, float]:
    """Every metric of a trial that there is; what was not measured is left out."""
    found = {
        one.info.name: one.compute(trial, spec)
        for one in REGISTRY
        if one.compute is not None and spec.procedure in one.procedures
    }
    return {name: float(value) for name, value in found.items() if value is not None and math.isfinite(value)}


METRICS: tuple[MetricInfo, ...] = tuple(one.info for one in REGISTRY)
_BY_NAME = {info.name: info for info in METRICS}


def metric(name: str) -> MetricInfo:
    """What a metric is; a name that this version does not know is kept and described as unknown."""
    return _BY_NAME.get(name) or MetricInfo(
        name=name,
        label=name.replace("_", " "),
        unit="",
        better="neither",
        source="Not in the registry of this version: written by another version of Steelyard.",
        digits=3,
    )


def known(name: str) -> bool:
    """Whether the registry has a metric of that name (experiments may only ask for those)."""
    return name in _BY_NAME
