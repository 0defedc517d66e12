# SPDX-License-Identifier: Apache-2.0
"""What a session directory holds of what was measured (docs/files.md; JSON Schemas from `steelyard schema`).

Times of day are seconds since the Unix epoch, durations are seconds, sizes are bytes, shares are fractions
of 1, latencies are milliseconds, unless a field says otherwise. Readers ignore unknown fields of the same
format version, so that a field can be added without a new version.
"""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field

from steelyard.experiment.schema import Experiment
from steelyard.results.failure import Failure
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.spec import Record, Spec
from steelyard.workload.schema import Limits
from steelyard.yamlfile import Scalar

FORMAT_VERSION = 2

Phase = Literal["wash-out", "set-host", "prepare", "start", "ramp", "warmup", "measure", "stop", "collect"]
Event = Literal["cpu", "alloc", "lock", "wall"]
"""What a sampling profiler samples: CPU time, allocation, waiting for locks, or time of all threads, running or not."""
Profiler = Literal["jfr", "perf", "javacore", Event]
TrialState = Literal["valid", "void"]


class ArmRecord(Record):
    """One combination of levels, resolved."""

    name: str
    """Usable as a file name, for example `jvms-4`."""
    levels: dict[str, Scalar]
    baseline: bool
    settings: dict[str, Any]  # JSON, which is shown and compared, and never read for a decision
    """The resolved `deployment`, `load` and workload settings of this arm, as the experiment names them."""
    spec: Spec
    """What its trials deploy, do and expect."""
    second: Spec | None = None
    """The same on the second half of the cores; of a duet, whose sides swap halves."""


class ScheduledTrial(Record):
    """A place in the schedule."""

    order: int
    block: int
    arm: str
    plot: int = 0
    """Number of the plot in its block, from 1: trials under one host state. 0: host states are not varied."""


class Planned(ScheduledTrial):
    """A trial that is to run now; `order` is its place in time over the whole session, from 0."""

    attempt: int = 0
    """0 for the scheduled trial, 1.. for its repeats; in a search its place there."""
    value: float | None = None
    """In a search: what this trial tries."""

    @classmethod
    def at(cls, place: ScheduledTrial, order: int, attempt: int, value: float | None = None) -> Self:
        """The trial that takes its turn at a place of the schedule."""
        return cls(
            order=order, block=place.block, arm=place.arm, plot=place.plot, attempt=attempt, value=value
        )


class HostFacts(Record):
    """The host, as far as it can be asked. None: it could not be told; `none`: this host has no such thing."""

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


class GateTerms(Record):
    """What a session of `gate` is judged by (`gate/interim.py`)."""

    margin: float
    """Tolerated harm in the primary metric, as a fraction."""
    looks: list[int]
    """Blocks after which it is analysed, and may end."""
    levels: list[float] = Field(default_factory=list)
    """Two-sided level of the interval of each analysis; empty: 2 % each."""
    floor: float | None
    """Smallest harm that it finds almost surely by the host's noise certificate, as a fraction; None: there is none."""
    certificate: str | None = None
    """Name of that certificate's file."""
    network: str = ""
    """Which way requests went in the sessions of that certificate; empty: it does not tell."""
    seconds: float | None = None
    """Time that it may take; None: as long as its interim analyses want."""
    sides: dict[str, str]
    """What baseline and candidate were called on the command line."""
    abstains: list[str] = Field(default_factory=list)
    """Why nothing was run: sentences."""
    same: str | None = None
    """What both sides are, where they are the same: then there is nothing to measure."""
    notes: list[str] = Field(default_factory=list)
    """What belongs beside its answer: sentences."""
    confirms: str | None = None
    """The session whose regression this one confirms, or does not."""
    leaves_confirmation: bool = False
    """Whether a regression is left for another host, or for a later `resume`, to confirm."""


class CertificateTerms(Record):
    """What is made of a session of `certify` (`gate/certificate.py`)."""

    folder: str
    """Where its noise certificate is written."""
    days: float
    """How long that is valid."""
    pool: str | None = None
    """Name of the hosts that it holds for; None: of this host alone."""


class RecordedWorkload(Record):
    """What analyses ask of a workload file; the rest of it is kept as it was read."""

    model_config = ConfigDict(extra="allow")
    name: str
    version: str
    limits: Limits = Field(default_factory=Limits)


class Session(Record):
    """session.json: everything that was decided before the first trial."""

    format_version: int = FORMAT_VERSION
    id: str
    created: float
    steelyard_version: str
    revision: str | None
    """Commit of the suite, with `+` when the work tree was changed."""
    workload: RecordedWorkload
    """The workload file as read."""
    workload_path: str
    """Where it was read from."""
    experiment: Experiment
    """The experiment file as resolved."""
    quick: bool
    command: str = ""
    """Command line that runs the same experiment again, with the same order of trials."""
    seed: int
    arms: list[ArmRecord]
    schedule: list[ScheduledTrial]
    host: HostFacts
    boot: str = ""
    """Id of the kernel that ran when it began: another one after each restart of the host. Empty: not recorded."""
    versions: dict[str, str]
    """Versions of the parts: open-liberty, gatling, python, numpy, ..."""
    injectors_share_cores: bool
    first_port: int = 9080
    """HTTP port of the first server; the others follow."""
    notes: list[str]
    """Sentences that belong beside every figure of this session (CPU sharing and the like)."""
    profilers: list[Profiler] = Field(default_factory=list)
    """What profiles each arm in further trials after the last block (`profiles/ARM/`)."""
    profile_starts: int = 1
    """How many starts of each arm async-profiler watches."""
    counters: dict[str, str] = Field(default_factory=dict)
    """Events that perf counts of each component, by counter."""
    doctor_notes: list[str] = Field(default_factory=list)
    """What the doctor found that is not wrong and that a reader has to know (its level `info`)."""
    doctor: list[str] = Field(default_factory=list)
    """What the preflight found that may disturb a measurement."""
    gate: GateTerms | None = None
    """None: it runs its whole schedule."""
    certificate: CertificateTerms | None = None
    """None: no noise certificate is made of it."""

    def arm(self, name: str) -> ArmRecord:
        """The arm of this name (raises KeyError: there is none)."""
        return {arm.name: arm for arm in self.arms}[name]


class JournalEntry(Record):
    """One line of journal.jsonl: a change of state."""

    time: float
    event: Literal[
        "session-start",
        "session-resume",
        "populate",
        "load",
        "profile",
        "trial-start",
        "phase",
        "trial-end",
        "interrupted",
        "session-end",
    ]
    block: int | None = None
    arm: str | None = None
    attempt: int | None = None
    phase: Phase | None = None
    value: float | None = None
    state: TrialState | None = None
    detail: str | None = None
    digest: str | None = None
    """SHA-256 of session.json (of the first entry) or of the trial.json of a trial that ended."""
    after: str | None = None
    """SHA-256 of the line before; None of the first."""


class Check(Record):
    """One line of the validity ledger."""

    name: str
    """Stable identifier, for example `injector-cpu`."""
    passed: bool
    voids: bool
    """Whether failing it voids the trial; else it only marks it."""
    applies: bool = True
    """False: there is nothing to judge in such a trial, or nothing to judge it with (`detail` says why). Then it
    has not passed, has not failed, and voids nothing."""
    value: float | None
    limit: float | None
    unit: str
    detail: str
    """One sentence for people, with the figures."""

    @property
    def has_failed(self) -> bool:
        """Whether it was judged and did not pass."""
        return self.applies and not self.passed


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
    value: float | None = None
    """In a search: the users, the rate or the bytes of memory of this trial."""
    measurement: TrialMeasurement | None
    """None when the trial failed before its measurement ended."""
    checks: list[Check]
    steady: bool | None
    """None: the procedure does not ask for it."""
    metrics: dict[str, float]
    """Summary figures by metric name (docs/metrics.md); empty when there was no measurement."""
    latency: dict[str, Latency]
    """By operation; `all` has them merged."""
    components: list[ComponentResult]
    first_answers: dict[str, float] = Field(default_factory=dict)
    """Seconds from the start of the servers to the first successful answer of each operation; start-up trials."""
    curves: dict[str, list[float]] = Field(default_factory=dict)
    """Ramp-up trials: per-second series from the first second of load on; `throughput` (requests/s), `cpu_GROUP`
    (cores)."""
    survived: bool | None = None
    """Survive trials: whether everything lived to the end, and nothing thrashed."""
    trace: list[tuple[float, float]]
    """Server-side throughput per second from the end of the ramp: (seconds since then, requests/s)."""
    failure: Failure | None = None
    """What went wrong, when the trial has no measurement."""
    files: dict[str, str] = Field(default_factory=dict)
    """SHA-256 of each file that it was made from, by its path in the trial's folder."""
