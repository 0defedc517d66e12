# SPDX-License-Identifier: Apache-2.0
"""What was measured in the window of one trial, with units as in `results/schema.py`."""

from typing import Literal

from pydantic import Field

from steelyard.results.spec import Record, Role


class Latency(Record):
    """Latency of one operation over the measurement, from merged histograms; milliseconds."""

    requests: int
    errors: int
    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    """None with fewer than 1,000 requests (METHOD, Estimates)."""
    p999: float | None
    """None with fewer than 10,000 requests."""
    max: float | None


class CgroupResult(Record):
    """What the container of a server was charged in the measurement; None where the kernel does not tell."""

    cpu_seconds: float
    """Everything in the container: health checks beside the server."""
    throttled_seconds: float | None
    """Summed over the CPUs on which it had to wait for its quota."""
    throttled_share: float | None
    """Periods of its CPU quota in which it was throttled / periods; 0 without a quota."""
    memory_mean: float | None
    """With page cache and kernel memory, without pages of the large-page pool."""
    memory_peak: float | None
    """Since the container started."""
    working_set_mean: float | None
    """Memory without page cache that was not used lately."""
    oom_kills: int | None
    """Processes of the container that the kernel killed for want of memory, since it started."""
    huge_mean: float | None = None
    """Pages of the large-page pool; None: the kernel does not account for them (controller `hugetlb`)."""
    huge_peak: float | None = None
    """In the measurement."""


class ComponentResult(Record):
    """What one component did in the measurement; None: it was not measured, or there is nothing of the kind."""

    name: str
    role: Role
    requests: int | None = None
    errors: int | None = None
    throughput: float | None = None
    """Requests per second by its own counters."""
    processes: float | None = None
    """Processes that it had, mean over the window; None in sessions of versions that did not count them."""
    rss_mean: float | None = None
    rss_peak: float | None = None
    pss_mean: float | None = None
    cpu_seconds: float | None = None
    cpu_by_group: dict[str, float] = Field(default_factory=dict)
    """CPU seconds by thread group: request, jit, gc, network, other; servers and compilers only."""
    start_seconds: float | None = None
    """Process start to first successful response."""
    ready_message_seconds: float | None = None
    """Process start to the server's own ready message."""
    start_cpu_seconds: float | None = None
    """CPU seconds that it had used when it had answered."""
    start_rss: float | None = None
    """Its resident memory at that moment."""
    faults: float | None = None
    """Page faults, minor and major."""
    switches: float | None = None
    """Context switches, voluntary and not."""
    gc_count: int | None = None
    gc_pause_seconds: float | None = None
    gc_pause_max: float | None = None
    """Longest pause; seconds."""
    gc_unknown: str | None = None
    """Why its GC log does not tell of its collections; None: it does, or there is none."""
    allocated: float | None = None
    """Bytes that it allocated, by its GC log; None without two collections between which it tells."""
    compiled: dict[str, int] = Field(default_factory=dict)
    """Of a server that compiles in a JITServer: methods that were compiled `remote` and `local`, since its
    start; `cached` are those of the remote ones that had been compiled before."""
    told: dict[str, float] = Field(default_factory=dict)
    """Means of the figures that it tells of itself (`metrics` of the workload file)."""
    cgroup: CgroupResult | None = None
    """None outside of a container."""
    read_back: dict[str, int | str] = Field(default_factory=dict)
    """Of a server: settings as the running JVM and the kernel tell them; sizes in bytes."""


class RatioResult(Record):
    """A ratio of counts of the injectors that shows whether the workload did what it should."""

    name: str
    value: float | None
    """None where there was nothing to divide by."""
    of: int
    """The divisor: how many could have."""
    low: float
    high: float
    """Limits between which it may lie, chance left out."""


class TimeResult(Record):
    """What the answers of an operation took, where the workload limits that."""

    operation: str
    quantile: Literal["p50", "p90", "p99"]
    value: float | None
    """Seconds; None: too few answers to tell."""
    limit: float


class CycleResult(Record):
    """Cycle times of an operation in a closed model, from its start to the start of the user's next."""

    count: int
    drawn: float
    """Mean of what was drawn, seconds."""
    actual: float
    """Mean of what came of it: longer where operations outlast their cycles."""


class MachineResult(Record):
    """What a machine of a cluster did in the window of a trial that ran there."""

    name: str
    """Of the node, or of the nodes that are one machine."""
    components: list[str]
    clock: tuple[float, float] | None
    """Between which bounds its clock ran ahead of the harness's, seconds; None, here and below: it was not measured."""
    other_cpu_share: float | None
    """CPU of all that is not the trial's / CPU time of the CPUs that the trial's components have there."""


class TrialMeasurement(Record):
    """What the ledger judges: raw figures of one trial's measurement window."""

    measure_seconds: float
    server_requests: int | None
    """By the servers' own counters, whole run of the injectors; None: they have none."""
    server_errors: int | None
    injector_requests: int
    """By the injectors' histograms, whole run, errors included."""
    injector_errors: int
    injector_messages: list[str] = Field(default_factory=list)
    """What failed requests were said to have failed for, the most frequent first."""
    window_server_rate: float | None
    """Requests per second by the servers' counters, measurement window; None: they have none."""
    window_counts_away: float | None = None
    """Time between the window's ends and the servers' counts nearest to them, seconds, both ends together."""
    window_injector_rate: float
    """The same by the injectors' histograms."""
    injector_cpu_share: float | None
    """CPU used by the injectors together / CPU that they may use; None, here and below: it was not measured."""
    injector_wait_share: float | None = None
    """Run-queue wait of the threads of the injector that waited most / (its wait + its CPU)."""
    users_in_flight: float | None = None
    """Closed model: users that waited for an answer or paused, on average: throughput x (latency + pause)."""
    late_share: float | None
    """Late or dropped arrivals / intended arrivals; 0 for a closed model."""
    target_rate: float | None
    """Open model: the intended arrival rate."""
    mix_intended: dict[str, float]
    """Share of each operation."""
    mix_achieved: dict[str, float]
    ratios: list[RatioResult] = Field(default_factory=list)
    """What else shows whether the operations did what they should, by the injectors, measurement window."""
    response_times: list[TimeResult] = Field(default_factory=list)
    """Of operations that have limits of their own and were asked for in the window."""
    cycles: dict[str, CycleResult] = Field(default_factory=dict)
    """By operation; empty where users have no cycle times."""
    throttled_seconds: float | None
    """CPU throttling by cgroups: of the servers' containers, else of the harness's own group; None: cannot be told."""
    steal_share: float | None
    other_cpu_share: float | None
    """CPU of all processes that do not belong to the trial / CPU time of the servers' CPUs; it may be above 1. In a
    cluster that of the machine where it is most, by `MachineResult.other_cpu_share`."""
    sample_gap: float | None = None
    """Longest time in the window, seconds, without a sample of the host or of a component, or without a word of an
    injector."""
    stall_seconds: float | None = None
    """Longest time in the window in which a server used no CPU, seconds."""
    restarts: list[str]
    """Servers that died, were restarted or OOM-killed."""
    thrashing: list[str] = Field(default_factory=list)
    """Survive trials: what lived at its memory limit and thrashed, one sentence each."""
    not_remote: list[str] = Field(default_factory=list)
    """Servers that should compile in a JITServer and did not, one sentence each."""
    wrong_builds: list[str]
    """Servers whose build fingerprint is not the expected one."""
    settings_differ: list[str]
    """Settings that read back otherwise than asked for, or not at all, one sentence each."""
    settings_read: str = ""
    """What the servers' JVMs were found to run with, for people; each server's in `ComponentResult.read_back`."""
    clock_step_seconds: float | None
    """Largest change of (wall clock - monotonic clock) over the trial, by the sampler and by the harness."""
    machines: list[MachineResult] = Field(default_factory=list)
    """Of a cluster; empty: the trial ran on the harness's own host."""
    inconsistent: list[str] = Field(default_factory=list)
    """What the application's data shows after the load and should not, one sentence each."""
    injector_failures: list[str]
    """Injectors that died or did not deliver."""
    steady: bool | None
    """None: the procedure does not ask for it."""
    steady_detail: str
    jit_share: float | None
    """CPU of JIT compiler threads / CPU budget of the servers, over the measurement."""
    memory_rss: float | None = None
    """Resident memory of all servers and compilers together, mean over the window; bytes, here and below."""
    memory_rss_peak: float | None = None
    """Largest per-second sum of it."""
    memory_pss: float | None = None
    service_calls: float | None = None
    """Requests that services counted as asked by each other; None with one kind of server."""
