# SPDX-License-Identifier: Apache-2.0
"""The registry of metrics: what each summary figure of a trial is, where it comes from and how it misleads.

The session layer fills `Trial.metrics` under these names. docs/metrics.md is written from this registry. "The
window" is the measurement window; "the servers" are all server JVMs of the trial together.
"""

from steelyard.results.analysis import MetricInfo

THROUGHPUT = "throughput"

METRICS: tuple[MetricInfo, ...] = (
    MetricInfo(
        name=THROUGHPUT,
        label="throughput",
        unit="req/s",
        better="higher",
        source="Requests that the servers counted in the window / length of the window.",
        pitfalls="With an open model it is the arrival rate, not the capacity of the servers.",
    ),
    MetricInfo(
        name="memory_rss",
        label="memory (RSS)",
        unit="bytes",
        better="lower",
        source="Resident set size summed over the servers each second, mean over the window.",
        pitfalls="Counts pages that JVMs share (class cache, libraries) once for each JVM.",
    ),
    MetricInfo(
        name="memory_pss",
        label="memory (PSS)",
        unit="bytes",
        better="lower",
        source="Proportional set size summed over the servers, mean of the readings in the window.",
        pitfalls="A shared page is split over its users, also over processes outside the trial; read less often.",
    ),
    MetricInfo(
        name="memory_rss_peak",
        label="peak memory (RSS)",
        unit="bytes",
        better="lower",
        source="Largest of the per-second sums of resident set sizes over the servers in the window.",
        pitfalls="A maximum grows with the length of the window; a peak before the window is not in it.",
    ),
    MetricInfo(
        name="cpu_per_1k",
        label="CPU per 1,000 requests",
        unit="CPU s",
        better="lower",
        source="User and system CPU seconds of the servers in the window / thousands of requests they counted.",
        pitfalls="Under SMT or a varying clock a CPU second is not a fixed amount of work.",
        digits=3,
    ),
    *(
        MetricInfo(
            name=f"cpu_per_1k_{group}",
            label=f"CPU per 1,000 requests, {threads}",
            unit="CPU s",
            better="lower",
            source=f"CPU seconds of the {threads} of the servers in the window / thousands of requests.",
            pitfalls=pitfalls,
            digits=4,
        )
        for group, threads, pitfalls in (
            ("request", "request threads", "Threads are grouped by name; a renamed pool lands in `other`."),
            (
                "jit",
                "JIT threads",
                "Compilation in a JITServer is not in it: the CPU moves, it does not vanish.",
            ),
            (
                "gc",
                "GC threads",
                "Allocation slow paths and barriers run in request threads and count there.",
            ),
            ("network", "network threads", "Kernel work in softirq is charged to no thread of the servers."),
            (
                "other",
                "other threads",
                "Holds every thread that no rule names, and the rest to the process total.",
            ),
        )
    ),
    MetricInfo(
        name="cpu_per_1k_system",
        label="CPU per 1,000 requests, whole system",
        unit="CPU s",
        better="lower",
        source="As cpu_per_1k, with the databases and the proxy beside the servers.",
        pitfalls="Only for workloads that have them. An embedded database does not cost what a real one costs.",
        digits=3,
    ),
    MetricInfo(
        name="cpu_per_1k_database",
        label="CPU per 1,000 requests, databases",
        unit="CPU s",
        better="lower",
        source="User and system CPU seconds of the database processes in the window / thousands of requests.",
        pitfalls="Grows with the data: bookings pile up until as many are cancelled as made.",
        digits=4,
    ),
    MetricInfo(
        name="cpu_per_1k_proxy",
        label="CPU per 1,000 requests, proxy",
        unit="CPU s",
        better="lower",
        source="User and system CPU seconds of the proxy's processes in the window / thousands of requests.",
        pitfalls="Calls between services pass through it as well.",
        digits=4,
    ),
    MetricInfo(
        name="service_calls_per_1k",
        label="calls between services per 1,000 requests",
        unit="calls",
        better="neither",
        source="Requests that services counted as asked by each other in the window / thousands of requests.",
        pitfalls="Retries count; only for topologies of several services.",
        digits=1,
    ),
    MetricInfo(
        name="requests_per_core_second",
        label="requests per core-second",
        unit="req/core-s",
        better="higher",
        source="Throughput / physical cores that the servers were given together.",
        pitfalls="Cores given, not cores used: idle cores count; for cores used read cpu_per_1k.",
    ),
    MetricInfo(
        name="requests_per_gib",
        label="requests per second per GiB",
        unit="req/s/GiB",
        better="higher",
        source="Throughput / memory_rss in GiB.",
        pitfalls="Inherits the double counting of shared pages from RSS.",
    ),
    MetricInfo(
        name="latency_mean",
        label="mean latency",
        unit="ms",
        better="lower",
        source="Mean of the injectors' merged histograms over all operations in the window.",
        pitfalls="In a closed model without think time it is users / throughput and says nothing new.",
        digits=3,
    ),
    *(
        MetricInfo(
            name=f"latency_p{quantile}",
            label=f"latency p{quantile}",
            unit="ms",
            better="lower",
            source=f"{quantile} % quantile of the injectors' merged histograms over all operations in the window.",
            pitfalls=pitfalls,
            digits=3,
        )
        for quantile, pitfalls in (
            (50, "From a saturated closed model it shows queueing at the injectors' number of users."),
            (90, "From a saturated closed model it shows queueing at the injectors' number of users."),
            (99, "Missing with fewer than 1,000 requests; steady only from about 10,000."),
        )
    ),
    MetricInfo(
        name="start_time",
        label="start-up",
        unit="s",
        better="lower",
        source="Process start to first successful response, of the slowest server JVM.",
        pitfalls="JVMs that start together compete for CPUs: it is the time to have all of them.",
        digits=2,
    ),
    MetricInfo(
        name="gc_per_second",
        label="collections",
        unit="1/s",
        better="lower",
        source="Stop-the-world collections in the GC logs of the servers in the window / its length.",
        pitfalls="Zero in a short window means none happened to fall into it; such a figure has no ratio.",
        digits=3,
    ),
    MetricInfo(
        name="gc_pause_share",
        label="time in GC pauses",
        unit="share",
        better="lower",
        source="Pause time in the GC logs in the window / (length of the window x number of server JVMs).",
        pitfalls="Concurrent collectors move work out of pauses: read it with cpu_per_1k_gc.",
        digits=5,
    ),
    MetricInfo(
        name="gc_pause_max",
        label="longest GC pause",
        unit="ms",
        better="lower",
        source="Longest single pause in the GC logs of the servers in the window.",
        pitfalls="A maximum grows with the length of the window and the number of JVMs.",
        digits=2,
    ),
    MetricInfo(
        name="faults_per_1k",
        label="page faults per 1,000 requests",
        unit="1/1k req",
        better="lower",
        source="Minor and major page faults of the servers in the window / thousands of requests.",
        pitfalls="Large while the heap still grows into new pages.",
        digits=2,
    ),
    MetricInfo(
        name="switches_per_1k",
        label="context switches per 1,000 requests",
        unit="1/1k req",
        better="lower",
        source="Voluntary and involuntary context switches of the servers in the window / thousands of requests.",
        pitfalls="Threads that ended between two readings are missing.",
        digits=1,
    ),
    MetricInfo(
        name="cgroup_cpu_per_1k",
        label="CPU per 1,000 requests, containers",
        unit="CPU s",
        better="lower",
        source="CPU seconds of the servers' control groups in the window / thousands of requests they counted.",
        pitfalls="Only of servers in containers; health checks and whatever else runs in a container are in it.",
        digits=3,
    ),
    MetricInfo(
        name="cgroup_memory",
        label="memory (containers)",
        unit="bytes",
        better="lower",
        source="Memory charged to the servers' control groups, summed over the servers, mean over the window.",
        pitfalls="With page cache and kernel memory; a shared page is charged to whoever touched it first, one of the"
        " large-page pool to nobody.",
    ),
    MetricInfo(
        name="cgroup_memory_peak",
        label="peak memory (containers)",
        unit="bytes",
        better="lower",
        source="Highest memory of each server's control group since it was made, as the kernel keeps it, summed over"
        " the servers.",
        pitfalls="Start-up and page cache are in it, and peaks of different moments are summed; missing with cgroup v2"
        " before Linux 5.19.",
    ),
    MetricInfo(
        name="throttled_share",
        label="throttled periods",
        unit="share",
        better="lower",
        source="Periods in which a server's control group used up its CPU quota / periods, of the worst server, in the"
        " window.",
        pitfalls="Zero without a quota (a cpuset does not throttle) and so without a ratio; any throttling voids the"
        " trial.",
        digits=5,
    ),
    MetricInfo(
        name="error_share",
        label="errors",
        unit="share",
        better="lower",
        source="Failed requests / all requests of the injectors in the window.",
        pitfalls="Zero, as it should be, has no ratio; above 0.1 % the trial is void.",
        digits=5,
    ),
)

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
