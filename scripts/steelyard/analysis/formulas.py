# SPDX-License-Identifier: Apache-2.0
"""What the formulas of metrics are made of: sums over components by role, rates, shares of a thousand requests (pure).

A figure that is missing in one of the components makes the sum missing, never smaller.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from steelyard.experiment.schema import ProcedureName
from steelyard.results.analysis import MetricInfo
from steelyard.results.measurement import CgroupResult, ComponentResult, Latency, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import WEIGHED, Role, Spec

OVERALL = "all"
"""Key of `Trial.latency` under which the histograms of all operations are merged."""
LOAD: tuple[ProcedureName, ...] = ("steady", "ramp-up", "survive")
EVERY: tuple[ProcedureName, ...] = (*LOAD, "start-up")
Compute = Callable[[Trial, Spec], float | None]
Read = Callable[[ComponentResult], float | None]


@dataclass(frozen=True)
class Metric:
    """One metric."""

    info: MetricInfo
    procedures: tuple[ProcedureName, ...]
    """Of which procedures it is told."""
    compute: Compute | None
    """From one trial; None: it needs the other arms' trials as well (`analysis.best`)."""
    roles: tuple[Role, ...] = ()
    """Whose memory, CPU or work it is, where it is a sum over components of these roles."""


def define(
    name: str,
    unit: str,
    digits: int,
    compute: Compute | None,
    procedures: tuple[ProcedureName, ...] = LOAD,
    better: Literal["higher", "lower", "neither"] = "lower",
    roles: tuple[Role, ...] = (),
) -> Callable[[str, str, str], Metric]:
    """A metric of the registry, once its label, its source and its pitfalls are told."""

    def told(label: str, source: str, pitfalls: str) -> Metric:
        info = MetricInfo(
            name=name, label=label, unit=unit, better=better, source=source, digits=digits, pitfalls=pitfalls
        )
        return Metric(info, procedures, compute, roles)

    return told


def whole(values: Iterable[float | None], combine: Callable[[list[float]], float]) -> float | None:
    """Values combined (a sum, the largest); None when there is none, or when one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return combine(known) if known and len(known) == len(listed) else None


def over(value: float | None, divisor: float | None) -> float | None:
    """The quotient; None where either is not known or there is nothing to divide by."""
    return value / divisor if value is not None and divisor else None


def quotient(value: Compute, divisor: Compute) -> Compute:
    """One figure of a trial / another."""
    return lambda trial, spec: over(value(trial, spec), divisor(trial, spec))


def rate(trial: Trial, spec: Spec) -> float | None:
    """Requests per second in the window: by the servers, or by the injectors where not every server counts."""
    if trial.measurement is None:
        return None
    if all(server.counters for server in spec.servers):
        return trial.measurement.window_server_rate
    return trial.measurement.window_injector_rate


def _thousands(trial: Trial, spec: Spec) -> float | None:
    requests = rate(trial, spec)
    return requests * trial.measurement.measure_seconds / 1000 if trial.measurement and requests else None


def measured(read: Callable[[TrialMeasurement], float | None]) -> Compute:
    """A figure of the measurement."""
    return lambda trial, _spec: read(trial.measurement) if trial.measurement is not None else None


def latency(read: Callable[[Latency], float | None]) -> Compute:
    """A figure of the latency over all operations."""
    return lambda trial, _spec: read(trial.latency[OVERALL]) if OVERALL in trial.latency else None


def of_components(read: Read, roles: tuple[Role, ...], combine: Callable[[list[float]], float]) -> Compute:
    """A figure of every component of these roles that the spec names; None where the trial has no record of one."""

    def compute(trial: Trial, spec: Spec) -> float | None:
        # Not by `whole`: of most figures there is none at the first component, and this is asked of each trial.
        values = []
        for named in spec.of(*roles):
            result = next((c for c in trial.components if c.name == named.name), None)
            value = None if result is None else read(result)
            if value is None:
                return None
            values.append(value)
        return combine(values) if values else None

    return compute


def sum_of(read: Read, roles: tuple[Role, ...] = WEIGHED) -> Compute:
    """A figure of components, added up over roles."""
    return of_components(read, roles, math.fsum)


def slowest(read: Read) -> Compute:
    """The largest figure of any server."""
    return of_components(read, ("server",), max)


def cpu_share(trial: Trial, spec: Spec) -> float | None:
    """CPU time of the servers in the measurement / time of all logical CPUs that they may use; None: not measured."""
    used = sum_of(lambda c: c.cpu_seconds, ("server",))(trial, spec)
    if trial.measurement is None:
        return None
    return over(used, trial.measurement.measure_seconds * len(spec.server_cpus)) or None


def in_groups(read: Callable[[CgroupResult], float | None]) -> Read:
    """A figure of a component's control group."""
    return lambda c: read(c.cgroup) if c.cgroup is not None else None


def group_memory(
    memory: Callable[[CgroupResult], float | None], huge: Callable[[CgroupResult], float | None]
) -> Read:
    """Memory of a component's control group with its pages of the large-page pool, which are charged apart.

    None where it has such pages, and the kernel does not account for them.
    """

    def read(c: ComponentResult) -> float | None:
        if c.cgroup is None:
            return None
        if huge(c.cgroup) is None and c.read_back.get("pages") != "large":
            return memory(c.cgroup)
        return whole([memory(c.cgroup), huge(c.cgroup)], sum)

    return read


def per_1k(compute: Compute) -> Compute:
    """The same per thousand requests; None when none was counted."""
    return quotient(compute, _thousands)


def per_second(compute: Compute) -> Compute:
    """The same per second of the window."""
    return quotient(compute, measured(lambda m: m.measure_seconds))


def of_curve(read: Callable[[list[float]], float | None]) -> Compute:
    """A figure of throughput, second by second from the first second of load."""
    return lambda trial, _spec: read(trial.curves.get("throughput", []))
