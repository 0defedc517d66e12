# SPDX-License-Identifier: Apache-2.0
"""What a session directory holds of what was measured (docs/files.md; JSON Schemas from `steelyard schema`).

Times of day are seconds since the Unix epoch, durations are seconds, sizes are bytes, shares are fractions
of 1, latencies are milliseconds, unless a field says otherwise. Readers ignore unknown fields of the same
format version, so that a field can be added without a new version.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

FORMAT_VERSION = 1

Phase = Literal["prepare", "start", "ramp", "warmup", "measure", "stop", "collect"]
TrialState = Literal["valid", "void"]


class Record(BaseModel):
    """Base of every record: frozen, documented by attribute docstrings."""

    model_config = ConfigDict(extra="ignore", frozen=True, use_attribute_docstrings=True)


class ArmRecord(Record):
    """One combination of levels, resolved."""

    name: str
    """Usable as a file name, for example `jvms-4`."""
    levels: dict[str, str | int | float | bool]
    baseline: bool
    settings: dict[str, Any]
    """The resolved `deployment` and `load` sections of the experiment for this arm."""


class ScheduledTrial(Record):
    """A place in the schedule."""

    order: int
    block: int
    arm: str
    plot: int = 0
    """Number of the plot in its block, from 1: trials under one host state. 0: host states are not varied."""


class JvmIdentity(Record):
    """What a JVM says of itself (`java -XshowSettings:properties -version`)."""

    kind: Literal["hotspot", "openj9"]
    vm_name: str
    vm_version: str
    runtime_version: str
    java_version: str
    vendor: str
    home: str
    feature: int
    """Java feature release, for example 17."""
    architecture: str


class HostFacts(Record):
    """The host, as far as it can be asked. None: it could not be told."""

    hostname: str
    architecture: str
    cpu_model: str
    sockets: int
    cores: int
    """Physical cores online."""
    cpus: int
    """Logical CPUs online."""
    threads_per_core: int
    smt: str | None
    numa_nodes: int
    memory_bytes: int
    swap_bytes: int
    kernel: str
    os: str
    page_size: int
    governor: str | None
    turbo: str | None
    thp: str | None
    huge_pages: dict[str, int] = Field(default_factory=dict)
    """Reserved pages by size in kB, for example {"2048": 0}."""
    cgroup_version: int | None
    virtualization: str | None
    extra: dict[str, str] = Field(default_factory=dict)


class Session(Record):
    """session.json: everything that was decided before the first trial."""

    format_version: int = FORMAT_VERSION
    id: str
    created: float
    steelyard_version: str
    revision: str | None
    """Commit of the suite, with `+` when the work tree was changed."""
    fingerprint: str
    """Hash of the Java sources that the servers were built from."""
    experiment: dict[str, Any]
    """The experiment file as resolved (`Experiment.model_dump`)."""
    quick: bool
    command: str = ""
    """Command line that runs the same experiment again, with the same order of trials."""
    seed: int
    arms: list[ArmRecord]
    schedule: list[ScheduledTrial]
    host: HostFacts
    server_jvm: JvmIdentity
    injector_jvm: JvmIdentity
    engine_jvms: dict[str, JvmIdentity] = Field(default_factory=dict)
    """JVM of the servers by engine; `server_jvm` is that of the baseline arm's engine."""
    images: dict[str, str] = Field(default_factory=dict)
    """Container images by role (server, loadgen), pinned by digest where they have one; empty without containers."""
    versions: dict[str, str]
    """Versions of the parts: open-liberty, gatling, python, numpy, ..."""
    injectors_share_cores: bool
    first_port: int = 9080
    """HTTP port of the first server; the others follow."""
    notes: list[str]
    """Sentences that belong beside every figure of this session (CPU sharing and the like)."""
    doctor: list[str] = Field(default_factory=list)
    """What the preflight found that may disturb a measurement."""


class JournalEntry(Record):
    """One line of journal.jsonl: a change of state."""

    time: float
    event: Literal[
        "session-start", "session-resume", "trial-start", "phase", "trial-end", "interrupted", "session-end"
    ]
    block: int | None = None
    arm: str | None = None
    attempt: int | None = None
    phase: Phase | None = None
    state: TrialState | None = None
    detail: str | None = None


class InstanceRecord(Record):
    """One server JVM of a topology."""

    name: str
    service: str = "server"
    """The service of the bundle that it is one of."""
    server: str = ""
    """The Liberty server in the workload's package."""
    cpus: list[int]
    """Logical CPUs that it may use."""
    cpus_shared_with: int
    """Number of server JVMs that may use the same CPUs, itself included."""
    cores: float
    """Its share of physical cores."""
    heap_bytes: int | None
    memory_bytes: int | None = None
    """Memory limit of its container."""
    port: int
    jvm_options: list[str]
    environment: dict[str, str] = Field(default_factory=dict)
    """Settings of the server that are no options of its JVM."""


class BackingRecord(Record):
    """Something that the servers need beside them: a database, or the proxy before them."""

    name: str
    """As in the bundle."""
    kind: Literal["database", "proxy"]
    cpus: list[int]
    port: int
    """On this host; a database in a container is reached by the servers alone and opens none."""


class TopologyRecord(Record):
    """What a trial deployed."""

    engine: str
    topology: str = "single"
    """The workload's name for this way of deploying it."""
    instances: list[InstanceRecord]
    backing: list[BackingRecord] = Field(default_factory=list)
    """Databases first, then the proxy: the order in which they start."""
    customers: int | None = None
    """Size of the data set that is loaded; None where the workload has no data."""
    injector_cpus: list[int]
    injectors: int
    injectors_share_cores: bool
    server_cores: int
    notes: list[str]

    @property
    def ports(self) -> list[int]:
        """Ports on this host that it needs; a database in a container opens none."""
        opened = [one.port for one in self.backing if one.kind == "proxy" or self.engine == "process"]
        return [one.port for one in self.instances] + opened


class Check(Record):
    """One line of the validity ledger."""

    name: str
    """Stable identifier, for example `injector-cpu`."""
    passed: bool
    voids: bool
    """Whether failing it voids the trial; else it only marks it."""
    value: float | None
    limit: float | None
    unit: str
    detail: str
    """One sentence for people, with the figures."""


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
    """With page cache and kernel memory; pages of the large-page pool are not charged."""
    memory_peak: float | None
    """Since the container started."""
    working_set_mean: float | None
    """Memory without page cache that was not used lately."""
    oom_kills: int | None
    """Processes of the container that the kernel killed for want of memory, since it started."""


class InstanceResult(Record):
    """What one server JVM did in the measurement."""

    name: str
    requests: int
    errors: int
    throughput: float
    """Requests per second."""
    rss_mean: float
    rss_peak: float
    pss_mean: float | None
    cpu_seconds: float
    cpu_by_group: dict[str, float]
    """CPU seconds by thread group: request, jit, gc, network, other."""
    start_seconds: float
    """Process start to first successful response."""
    ready_message_seconds: float | None
    """Process start to the server's own ready message."""
    gc_count: int
    gc_pause_seconds: float
    gc_pause_max: float | None
    cgroup: CgroupResult | None = None
    """None outside of a container."""


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


class TrialMeasurement(Record):
    """What the ledger judges: raw figures of one trial's measurement window."""

    measure_seconds: float
    server_requests: int
    """By the servers' own counters, whole run of the injectors."""
    server_errors: int
    injector_requests: int
    """By the injectors' histograms, whole run, errors included."""
    injector_errors: int
    window_server_rate: float
    """Requests per second by the servers' counters, measurement window."""
    window_injector_rate: float
    """The same by the injectors' histograms."""
    injector_cpu_share: float
    """CPU used by the busiest injector / CPU it may use."""
    late_share: float
    """Late or dropped arrivals / intended arrivals; 0 for a closed model."""
    target_rate: float | None
    """Open model: the intended arrival rate."""
    mix_intended: dict[str, float]
    """Share of each operation."""
    mix_achieved: dict[str, float]
    ratios: list[RatioResult] = Field(default_factory=list)
    """What else shows whether the operations did what they should, by the injectors, measurement window."""
    throttled_seconds: float | None
    """CPU throttling by cgroups: of the servers' containers, else of the harness's own group; None: cannot be told."""
    steal_share: float
    other_cpu_share: float
    """CPU of processes that do not belong to the trial / CPU of the host."""
    restarts: list[str]
    """Servers that died, were restarted or OOM-killed."""
    wrong_builds: list[str]
    """Servers whose build fingerprint is not the expected one."""
    settings_differ: list[str]
    """Settings that read back otherwise than asked for, one sentence each."""
    clock_step_seconds: float
    """Change of (wall clock - monotonic clock) over the trial."""
    injector_failures: list[str]
    """Injectors that died or did not deliver."""
    steady: bool
    steady_detail: str
    jit_share: float | None
    """CPU of JIT compiler threads / CPU budget of the servers, over the measurement."""


class Trial(Record):
    """trial.json: one trial, complete."""

    format_version: int = FORMAT_VERSION
    block: int
    arm: str
    attempt: int
    """0 for the scheduled trial, 1.. for its repeats."""
    order: int
    """Place in time over the whole session, from 0."""
    state: TrialState
    started: float
    phases: dict[str, tuple[float, float]]
    """Start and end of each phase, epoch seconds."""
    topology: TopologyRecord
    measurement: TrialMeasurement | None
    """None when the trial failed before its measurement ended."""
    checks: list[Check]
    steady: bool
    metrics: dict[str, float]
    """Summary figures by metric name (docs/metrics.md); empty when there was no measurement."""
    latency: dict[str, Latency]
    instances: list[InstanceResult]
    trace: list[tuple[float, float]]
    """Server-side throughput per second from the end of the ramp: (seconds since then, requests/s)."""
    failure: str | None = None
    """What went wrong, one sentence, when the trial has no measurement."""
