# SPDX-License-Identifier: Apache-2.0
"""The registry of metrics: what each summary figure of a trial is, how it is computed, and how it misleads.

Each metric stands here once, with its formula over the raw figures of a trial, its source and its pitfalls; the table
of docs/metrics.md is written from here. "The window" is the measurement window; "the servers" are all server JVMs of
the trial and the compilers that work for them (a JITServer's CPU and memory count: DESIGN, resources are conserved).
"""

import math
from operator import attrgetter

from steelyard.analysis import readings
from steelyard.analysis.curves import SHARES, steady_level
from steelyard.analysis.formulas import (
    EVERY,
    Metric,
    cpu_share,
    define,
    group_memory,
    in_groups,
    latency,
    measured,
    of_curve,
    over,
    per_1k,
    per_second,
    rate,
    slowest,
    sum_of,
)
from steelyard.experiment.schema import ProcedureName
from steelyard.results.analysis import MetricInfo
from steelyard.results.schema import Trial
from steelyard.results.spec import WEIGHED, Role, Spec

THROUGHPUT = "throughput"
RAMP: tuple[ProcedureName, ...] = ("ramp-up",)

_THREADS = {
    "request": ("request threads", "Threads are grouped by name; a renamed pool lands in `other`."),
    "jit": (
        "JIT threads",
        "Compilation in a JITServer is in it: its CPU counts with the servers it works for.",
    ),
    "gc": ("GC threads", "Allocation slow paths and barriers run in request threads and count there."),
    "network": ("network threads", "Kernel work in softirq is charged to no thread of the servers."),
    "other": ("other threads", "Holds every thread that no rule names, and the rest to the process total."),
}
_BESIDE: dict[Role, tuple[str, str]] = {
    "compiler": (
        "JITServer",
        "It is in cpu_per_1k already; JITServers also work for what was not requested.",
    ),
    "database": ("databases", "Grows with the data where the load adds to it."),
    "service": ("services", "Services that stand in for others do not cost what real ones cost."),
    "proxy": ("proxy", "Calls between services pass through it as well."),
}
_SERVERS: tuple[Role, ...] = ("server",)
_COMPILER: tuple[Role, ...] = ("compiler",)
_PART = "Only told where some arm has a JITServer: elsewhere it is the sum."


def _ramp_up_account(group: str) -> tuple[Role, str]:
    """Whose CPU a curve of a ramp-up is."""
    if group == "compiler":
        return "compiler", _BESIDE["compiler"][0]
    return "server", f"{_THREADS[group][0]} of the servers"


REGISTRY: tuple[Metric, ...] = (
    define(THROUGHPUT, "req/s", 0, rate, better="higher")(
        "throughput",
        "Requests that the servers counted in the window / length of the window; by the injectors'"
        " count where not every server counts.",
        "With an open model it is the arrival rate, not the capacity of the servers.",
    ),
    define("memory_rss", "bytes", 0, measured(lambda m: m.memory_rss), roles=WEIGHED)(
        "memory (RSS) of the servers",
        "Resident set size summed over all processes of the servers each second, pages of the large-page pool included,"
        " mean over the window.",
        "Counts pages that processes share (class cache, libraries, what workers have of their parent) once for each.",
    ),
    define("memory_pss", "bytes", 0, measured(lambda m: m.memory_pss), roles=WEIGHED)(
        "memory (PSS) of the servers",
        "Proportional set size summed over the servers, mean of what was read at both ends of the window.",
        "A shared page is split over its users, also over processes outside the trial. What memory does between the"
        " ends is not seen: memory_rss is read each second.",
    ),
    define("memory_rss_peak", "bytes", 0, measured(lambda m: m.memory_rss_peak), roles=WEIGHED)(
        "peak memory (RSS) of the servers",
        "Largest of the per-second sums of resident set sizes over the servers in the window.",
        "A maximum grows with the length of the window; a peak before the window is not in it.",
    ),
    define("memory_rss_servers", "bytes", 0, sum_of(lambda c: c.rss_mean, _SERVERS), roles=_SERVERS)(
        "memory (RSS) of the servers alone",
        "Resident set size of the server JVMs each second, mean over the window.",
        f"It is in memory_rss already. {_PART}",
    ),
    define("memory_rss_compiler", "bytes", 0, sum_of(lambda c: c.rss_mean, _COMPILER), roles=_COMPILER)(
        "memory (RSS) of the JITServer",
        "Resident set size of the compilers each second, mean over the window.",
        "It is in memory_rss already; of a JITServer killed on purpose it counts as 0 from then on.",
    ),
    define("memory_pss_servers", "bytes", 0, sum_of(lambda c: c.pss_mean, _SERVERS), roles=_SERVERS)(
        "memory (PSS) of the servers alone",
        "Proportional set size of the server JVMs, mean of the readings in the window.",
        f"It is in memory_pss already. {_PART}",
    ),
    define("memory_pss_compiler", "bytes", 0, sum_of(lambda c: c.pss_mean, _COMPILER), roles=_COMPILER)(
        "memory (PSS) of the JITServer",
        "Proportional set size of the compilers, mean of the readings in the window.",
        "It is in memory_pss already.",
    ),
    define("cpu_per_1k", "CPU s", 3, per_1k(sum_of(readings.cpu)), roles=WEIGHED)(
        "CPU of the servers per 1,000 requests",
        "User and system CPU seconds of all processes of the servers in the window, those that ended included /"
        " thousands of requests.",
        "Under SMT or a varying clock a CPU second is not a fixed amount of work.",
    ),
    define("server_cpu_share", "share", 4, cpu_share)(
        "CPU of the servers",
        "User and system CPU seconds of servers and compilers in the window / time of the logical CPUs that they may"
        " use.",
        "Where injectors and databases share those CPUs, what they use is not in it; under SMT half of it may be all of"
        " the cores.",
    ),
    *(
        define(f"cpu_per_1k_{group}", "CPU s", 4, per_1k(sum_of(readings.group_cpu(group))), roles=WEIGHED)(
            f"CPU of the servers per 1,000 requests, {who}",
            f"CPU seconds of the {who} of the servers in the window / thousands of requests.",
            pitfalls,
        )
        for group, (who, pitfalls) in _THREADS.items()
    ),
    define(
        "cpu_per_1k_jit_servers",
        "CPU s",
        4,
        per_1k(sum_of(readings.group_cpu("jit"), _SERVERS)),
        roles=_SERVERS,
    )(
        "CPU of the servers alone per 1,000 requests, JIT threads",
        "CPU seconds of the JIT threads of the server JVMs in the window / thousands of requests.",
        "What a JITServer does for them is in cpu_per_1k_compiler: work that moves there does not vanish."
        f" {_PART}",
    ),
    define("cpu_per_1k_servers", "CPU s", 3, per_1k(sum_of(readings.cpu, _SERVERS)), roles=_SERVERS)(
        "CPU of the servers alone per 1,000 requests",
        "User and system CPU seconds of the server JVMs in the window / thousands of requests.",
        f"It is in cpu_per_1k already. {_PART}",
    ),
    *(
        define(f"cpu_per_1k_{role}", "CPU s", 4, per_1k(sum_of(readings.cpu, (role,))), roles=(role,))(
            f"CPU of the {who} per 1,000 requests",
            f"User and system CPU seconds of the {who} in the window / thousands of requests.",
            pitfalls,
        )
        for role, (who, pitfalls) in _BESIDE.items()
    ),
    define("cpu_per_1k_system", "CPU s", 3, per_1k(readings.system_cpu))(
        "CPU of the whole system per 1,000 requests",
        "As cpu_per_1k, with databases, services and the proxy beside the servers.",
        "Only for workloads that have them. An embedded database does not cost what a real one costs.",
    ),
    define("service_calls_per_1k", "calls", 1, per_1k(measured(lambda m: m.service_calls)), better="neither")(
        "calls between services per 1,000 requests",
        "Requests that services counted as asked by each other in the window / thousands of requests.",
        "Retries count; only for topologies of several services.",
    ),
    define("requests_per_core_second", "req/core-s", 0, readings.per_core_second, better="higher")(
        "requests per core-second",
        "Throughput / physical cores that the servers were given together.",
        "Cores given, not cores used: idle cores count; for cores used read cpu_per_1k.",
    ),
    define("requests_per_gib", "req/s/GiB", 0, readings.per_gib, better="higher", roles=WEIGHED)(
        "requests per second per GiB of the servers",
        "Throughput / memory_rss in GiB.",
        "Inherits the double counting of shared pages from RSS.",
    ),
    define("latency_mean", "ms", 3, latency(lambda x: x.mean))(
        "mean latency",
        "Mean of the injectors' merged histograms of successful requests over all operations in the window.",
        "In a closed model without think time it is users / throughput and says nothing new.",
    ),
    *(
        define(f"latency_p{q}", "ms", 3, latency(attrgetter(f"p{q}")))(
            f"latency p{q}",
            f"{q} % quantile of the injectors' merged histograms of successful requests over all operations in the"
            " window.",
            "From a saturated closed model it shows queueing at the injectors' number of users."
            if q < 99
            else "Missing with fewer than 1,000 requests; steady only from about 10,000.",
        )
        for q in (50, 90, 99)
    ),
    define("latency_p90_weighted", "ms", 3, readings.weighted_p90)(
        "p90 of the operations, weighted",
        "90 % quantile of each operation, mean over the operations weighted by their measured shares; of means the same"
        " is latency_mean.",
        "No quantile of anything: a figure of studies that state one, to compare with theirs.",
    ),
    define("gc_per_second", "1/s", 3, per_second(sum_of(lambda c: c.gc_count, ("server",))))(
        "collections",
        "Collections in the GC logs of the servers whose first pause began in the window / its length. The pauses of"
        " one concurrent cycle (G1, ZGC, Shenandoah) are one collection.",
        "Zero in a short window means none happened to fall into it; such a figure has no ratio.",
    ),
    define("gc_pause_share", "share", 5, readings.pause_share)(
        "time in GC pauses",
        "Pause time in the GC logs in the window / (length of the window x number of server JVMs).",
        "Concurrent collectors move work out of pauses: read it with cpu_per_1k_gc.",
    ),
    define("gc_pause_max", "ms", 2, readings.longest_pause)(
        "longest GC pause",
        "Longest single pause in the GC logs of the servers in the window.",
        "A maximum grows with the length of the window and the number of JVMs.",
    ),
    define("allocated_per_1k", "MiB", 2, per_1k(sum_of(readings.allocated_mib, ("server",))))(
        "allocation per 1,000 requests",
        "What the servers allocated by their GC logs from the first to the last collection of the window, brought to"
        " the whole window by the requests served meanwhile (of servers without counters by time) / thousands of"
        " requests.",
        "Missing where a server collected less than twice in the window, and with collectors that free memory beside"
        " the application. HotSpot logs whole MiB, and unused ends of regions and thread-local buffers count; work in"
        " the background allocates as well. With G1 an object of half a region or more takes whole regions (a humongous"
        " one), and the log counts the regions and not the object: with many of them the figure was 42 % too large."
        " Compare collectors or region sizes by it only where objects stay below half a region.",
    ),
    define("start_time", "s", 2, slowest(lambda c: c.start_seconds), EVERY)(
        "start-up",
        "Process start to first successful response, of the slowest server JVM.",
        "JVMs that start together compete for CPUs, in `steady` and `survive` with injectors that start beside them"
        " as well: starts are compared by `start-up`.",
    ),
    define("ready_message_time", "s", 2, slowest(lambda c: c.ready_message_seconds), EVERY)(
        "time to the ready message",
        "Process start to the server's own ready message, of the slowest server JVM.",
        "Said before the first request was answered: what is loaded on first use is not in it.",
    ),
    define("first_answers_time", "s", 2, readings.first_answers, ("start-up",))(
        "time to the first answer of every operation",
        "Start of the servers to the moment at which each operation had been answered successfully once.",
        "Operations are asked one after another: an early one warms up what a later one needs.",
    ),
    define("start_cpu", "CPU s", 2, sum_of(lambda c: c.start_cpu_seconds), EVERY, roles=WEIGHED)(
        "start-up CPU of the servers",
        "CPU seconds that the servers had used when each had answered for the first time, and what compilers used"
        " for them until then.",
        "Background work that goes on after the first answer (compilation, class loading) is not in it.",
    ),
    define(
        "start_cpu_servers",
        "CPU s",
        2,
        sum_of(lambda c: c.start_cpu_seconds, _SERVERS),
        EVERY,
        roles=_SERVERS,
    )(
        "start-up CPU of the servers alone",
        "CPU seconds that the server JVMs had used when each had answered for the first time.",
        f"It is in start_cpu already. {_PART}",
    ),
    define(
        "start_cpu_compiler",
        "CPU s",
        2,
        sum_of(lambda c: c.start_cpu_seconds, _COMPILER),
        EVERY,
        roles=_COMPILER,
    )(
        "start-up CPU of the JITServer",
        "CPU seconds that the compilers used from when they were ready to when each server had answered.",
        "It is in start_cpu already; the compilers' own start is not, as they serve many starts.",
    ),
    define("start_rss", "bytes", 0, sum_of(lambda c: c.start_rss), EVERY, roles=WEIGHED)(
        "memory (RSS) of the servers after the start",
        "Resident set size of servers and compilers, pages of the large-page pool included, when each server had"
        " answered for the first time, summed.",
        "The heap has hardly been used yet: memory under load is another figure.",
    ),
    define("start_rss_servers", "bytes", 0, sum_of(lambda c: c.start_rss, _SERVERS), EVERY, roles=_SERVERS)(
        "memory (RSS) of the servers alone after the start",
        "Resident set size of the server JVMs when each had answered for the first time, summed.",
        f"It is in start_rss already. {_PART}",
    ),
    define(
        "start_rss_compiler", "bytes", 0, sum_of(lambda c: c.start_rss, _COMPILER), EVERY, roles=_COMPILER
    )(
        "memory (RSS) of the JITServer after the start",
        "Resident set size of the compilers when each server had answered for the first time, summed.",
        "It is in start_rss already; one JITServer may serve many starts.",
    ),
    define("steady_level", "req/s", 0, of_curve(steady_level), RAMP, "higher")(
        "throughput at the end of the ramp-up",
        "Median of per-second throughput over the last quarter of the load.",
        "Too low where throughput still rises at the end; the notes of the analysis say where it does.",
    ),
    *(
        define(f"time_to_{share}", "s", 2, readings.time_to_share(share), RAMP)(
            f"time to {share} % of its own level",
            f"Start of the load to the moment at which the running median (5 s) of throughput comes up to {share} % of"
            " steady_level.",
            "An arm with a low level of its own reaches it sooner; the start of the servers is not in it.",
        )
        for share in SHARES
    ),
    *(
        define(f"time_to_{share}_of_best", "s", 2, None, RAMP)(
            f"time to {share} % of the best arm's level",
            f"As time_to_{share}, against the steady_level, in the same block, of the arm whose mean level is highest.",
            "Told of an arm only if every valid trial of it came up to that level: leaving out those that did not"
            " would keep the fast ones.",
        )
        for share in SHARES
    ),
    define("requests_lost", "requests", 0, readings.lost, RAMP)(
        "requests lost to the ramp-up",
        "steady_level x seconds of load, less the requests that were served.",
        "Grows with the level: an arm that ends higher loses more on the same curve. About zero"
        " where there is no ramp.",
    ),
    define("requests_lost_to_best", "requests", 0, None, RAMP)(
        "requests lost against the best arm's level",
        "As requests_lost, against the steady_level, in the same block, of the arm whose mean level is highest.",
        "Grows with the length of the load where an arm never comes up to that level.",
    ),
    *(
        define(f"cpu_{group}", "CPU s", 1, readings.curve_cpu(f"cpu_{group}"), RAMP, roles=(whose,))(
            f"ramp-up CPU of the {who}",
            f"CPU seconds of the {who}, from the first second of the load to its end.",
            "A sum over a fixed time, not over a fixed amount of work: read it with steady_level.",
        )
        for group in ("request", "network", "other", "jit", "gc", "compiler")
        for whose, who in [_ramp_up_account(group)]
    ),
    define("cpu_compilation", "CPU s", 1, readings.compiling, RAMP)(
        "ramp-up CPU of the JIT threads of the servers and of the JITServer",
        "cpu_jit and, where there is a JITServer, cpu_compiler.",
        "What a JITServer does beside compiling is in it. Only told where some arm has a JITServer: elsewhere it is"
        " cpu_jit.",
    ),
    define("survived", "share", 2, readings.survived, ("survive",), "higher")(
        "trials survived",
        "1 if everything lived and answered to the end of the load (the checks `errors`, `late-arrivals` and `stalled`)"
        " and nothing thrashed at its memory limit, else 0, also where there was too little memory to start with; the"
        " mean is the share of trials.",
        "A few trials that all survived leave much room: read the interval that the answer gives.",
    ),
    define("restarts", "count", 0, measured(lambda m: len(m.restarts)), ("survive",))(
        "components that died",
        "Components that died while the load ran, and containers in which the kernel killed a process for want of"
        " memory meanwhile.",
        "The first death ends the load, so more than one is a matter of moments.",
    ),
    define("faults_per_1k", "1/1k req", 2, per_1k(sum_of(lambda c: c.faults)), roles=WEIGHED)(
        "page faults of the servers per 1,000 requests",
        "Minor and major page faults of the servers in the window / thousands of requests.",
        "Large while the heap still grows into new pages.",
    ),
    define("switches_per_1k", "1/1k req", 1, per_1k(sum_of(lambda c: c.switches)), roles=WEIGHED)(
        "context switches of the servers per 1,000 requests",
        "Voluntary and involuntary context switches of the servers in the window / thousands of requests.",
        "Threads that ended between two readings are missing; there is none where a process of a server ended.",
    ),
    define(
        "cgroup_cpu_per_1k", "CPU s", 3, per_1k(sum_of(in_groups(lambda g: g.cpu_seconds))), roles=WEIGHED
    )(
        "CPU of the servers per 1,000 requests, containers",
        "CPU seconds of the servers' control groups in the window / thousands of requests.",
        "Only of servers in containers; health checks and whatever else runs in a container are in it.",
    ),
    define(
        "cgroup_memory",
        "bytes",
        0,
        sum_of(group_memory(lambda g: g.memory_mean, lambda g: g.huge_mean)),
        roles=WEIGHED,
    )(
        "memory (containers) of the servers",
        "Memory charged to the servers' control groups, pages of the large-page pool included, summed over the servers,"
        " mean over the window.",
        "With page cache and kernel memory; a shared page is charged to whoever touched it first. Missing where a"
        " server has large pages and the kernel does not account for them (controller hugetlb).",
    ),
    define(
        "cgroup_memory_peak",
        "bytes",
        0,
        sum_of(group_memory(lambda g: g.memory_peak, lambda g: g.huge_peak)),
        roles=WEIGHED,
    )(
        "peak memory (containers) of the servers",
        "Highest memory of each server's control group since it was made, as the kernel keeps it, and its most pages of"
        " the large-page pool in the window, summed over the servers.",
        "Start-up and page cache are in it, and peaks of different moments are summed; missing with cgroup v2"
        " before Linux 5.19.",
    ),
    define("relay_delay", "ms", 3, readings.relay_delay, better="neither", roles=_COMPILER)(
        "delay before the JITServer",
        "Median time for which the relay held what servers and JITServer sent each other, by its own clock, mean over"
        " the window.",
        "On a busy host it is more than was asked for, as the relay waits for a CPU like anyone else; what the kernel"
        " does, some microseconds, is not in it.",
    ),
    define("compiled_remotely", "share", 3, readings.compiled_remotely, EVERY, "neither", _COMPILER)(
        "methods compiled in the JITServer",
        "Compilations in the JITServer / all compilations in the JIT logs of the servers, since their start.",
        "A count of methods: which are dear to compile is another matter. Only where servers have `jit: remote`.",
    ),
    define("throttled_share", "share", 5, readings.throttled)(
        "throttled periods",
        "Periods in which a server's control group used up its CPU quota / periods, of the worst server, in the"
        " window.",
        "Zero without a quota (a cpuset does not throttle) and so without a ratio; any throttling voids the trial,"
        " but in a cluster, where a limit is how an arm's pods get their CPUs.",
    ),
    define("error_share", "share", 5, latency(lambda x: over(x.errors, x.requests + x.errors)))(
        "errors",
        "Failed requests / all requests of the injectors in the window.",
        "Zero, as it should be, has no ratio; above 0.1 % the trial is void (of `survive`: it did not survive).",
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


ROLES = {one.info.name: one.roles for one in REGISTRY}
"""Whose memory, CPU or work a metric is, by name; nothing: it is no sum over components."""
PARTS: dict[str, dict[Role, str]] = {
    **{
        name: {"server": f"{name}_servers", "compiler": f"{name}_compiler"}
        for name in ("memory_rss", "memory_pss", "cpu_per_1k", "start_cpu", "start_rss")
    },
    "cpu_compilation": {"server": "cpu_jit", "compiler": "cpu_compiler"},
}
"""Of what a sum is made: by role, the metric of that part."""
BESIDE_COMPILERS = frozenset(
    ("cpu_compilation", "cpu_per_1k_jit_servers", *(of["server"] for of in PARTS.values()))
) - {"cpu_jit"}
"""Metrics that say nothing of their own in a session without compilers."""

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
