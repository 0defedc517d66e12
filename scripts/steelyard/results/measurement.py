# SPDX-License-Identifier: Apache-2.0
"""What was measured in the window of one trial, with units as in `results/schema.py`.

Figures are named by the files of `steelyard.measure`, each with its unit and what it is: a record holds whatever
figures it was given, so that a new one needs no field here. `steelyard schema trial` lists those of this version.
"""

from typing import Literal

from pydantic import ConfigDict, Field

from steelyard.results.spec import Record, Role

Number = int | float


class Figures(Record):
    """Figures by name; one that is None, or not there, was not measured, or there is nothing of the kind.

    What another version has written, and is no figure, is kept and says nothing.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, object]

    def value(self, name: str) -> Number | None:
        """A figure; None where it is not known."""
        value = self.__pydantic_extra__.get(name)
        return value if isinstance(value, Number) and not isinstance(value, bool) else None


class Latency(Record):
    """Latency of one operation over the measurement, from merged histograms; milliseconds."""

    requests: int
    errors: int
    mean: float | None
    p50: float | None
    p90: float | None
    p99: float | None
    """None with fewer than 1,000 requests (docs/explanation/estimates.md)."""
    p999: float | None
    """None with fewer than 10,000 requests."""
    max: float | None


class CgroupResult(Figures):
    """What the container of a component was charged in the measurement; None where the kernel does not tell."""


class ComponentResult(Figures):
    """What one component did in the measurement."""

    name: str
    role: Role
    unknown: dict[str, str] = Field(default_factory=dict)
    """Why a figure that there should be is None, by its name."""
    cpu_by_group: dict[str, float] = Field(default_factory=dict)
    """CPU seconds by thread group: request, jit, gc, network, other; servers and compilers only."""
    compiled: dict[str, int] = Field(default_factory=dict)
    """Methods of a server since its start, where its JIT writes a log: by level, as its JVM calls them (`level 4`,
    `warm`); where it compiles in a JITServer those that were compiled `remote` and `local`, and `cached`, those of the
    remote ones that had been compiled before."""
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


class OperationCounts(Record):
    """What all injectors together counted of an operation, over the whole run; None: one of them did not tell."""

    requests: int | None
    """Those that ended, errors included."""
    errors: int | None
    unanswered: int | None
    """Errors whose connection ended before an answer began: a server may have served them or not."""
    abandoned: int | None
    """In flight when the injectors were cut off; they are in no other count."""
    late: int | None
    """Arrivals of an open model that started more than 10 ms after they were due."""


class MachineResult(Record):
    """What a machine of a cluster did in the window of a trial that ran there."""

    name: str
    """Of the node, or of the nodes that are one machine."""
    components: list[str]
    clock: tuple[float, float] | None
    """Between which bounds its clock ran ahead of the harness's, seconds; None, here and below: it was not measured."""
    other_cpu_share: float | None
    """CPU of all that is not the trial's / CPU time of the CPUs that the trial's components have there."""


class TrialMeasurement(Figures):
    """What the ledger judges: raw figures of one trial's window, and lists of sentences on what is wrong."""

    measure_seconds: float
    unknown: dict[str, str] = Field(default_factory=dict)
    """As `ComponentResult.unknown`."""
    injector_requests: int
    """By the injectors' histograms, whole run, errors included."""
    injector_errors: int
    injector_messages: list[str] = Field(default_factory=list)
    """What failed requests were said to have failed for, the most frequent first."""
    window_injector_rate: float
    """The same by the injectors' histograms."""
    mix_intended: dict[str, float]
    """Share of each operation."""
    mix_achieved: dict[str, float]
    ratios: list[RatioResult] = Field(default_factory=list)
    """What else shows whether the operations did what they should, by the injectors, measurement window."""
    response_times: list[TimeResult] = Field(default_factory=list)
    """Of operations that have limits of their own and were asked for in the window."""
    operations: dict[str, OperationCounts] = Field(default_factory=dict)
    """By operation; empty: an injector left no counts, or the record is older than they are."""
    cycles: dict[str, CycleResult] = Field(default_factory=dict)
    """By operation; empty where users have no cycle times."""
    settings_read: str = ""
    """What the servers' JVMs were found to run with, for people; each server's in `ComponentResult.read_back`."""
    network_path: str = ""
    """Which way requests went from injectors to servers (`host/network.py`); empty: it was not told."""
    machines: list[MachineResult] = Field(default_factory=list)
    """Of a cluster; empty: the trial ran on the harness's own host."""
    steady: bool | None
    """None: the procedure does not ask for it."""
    steady_detail: str

    @property
    def window_requests(self) -> float:
        """Requests in the window, by the injectors."""
        return self.window_injector_rate * self.measure_seconds

    def sentences(self, name: str) -> list[str] | None:
        """A list of sentences; None where it is not known."""
        listed = self.__pydantic_extra__.get(name)
        return list(map(str, listed)) if isinstance(listed, list) else None
