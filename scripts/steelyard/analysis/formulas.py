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
from steelyard.results.schema import CgroupResult, ComponentResult, Latency, Trial, TrialMeasurement
from steelyard.results.spec import Role, Spec

OVERALL = "all"
"""Key of `Trial.latency` under which the histograms of all operations are merged."""
LOAD: tuple[ProcedureName, ...] = ("steady", "ramp-up", "survive")
EVERY: tuple[ProcedureName, ...] = (*LOAD, "start-up")
WEIGHED: tuple[Role, ...] = ("server", "compiler")
"""Roles whose CPU and memory are what is weighed."""
Compute = Callable[[Trial, Spec], float | None]


@dataclass(frozen=True)
class Metric:
    """One metric."""

    info: MetricInfo
    procedures: tuple[ProcedureName, ...]
    """Of which procedures it is told."""
    compute: Compute | None
    """From one trial; None: it needs the other arms' trials as well (`analysis.best`)."""


def define(
    name: str,
    label: str,
    unit: str,
    better: Literal["higher", "lower", "neither"],
    compute: Compute | None,
    digits: int = 0,
    procedures: tuple[ProcedureName, ...] = LOAD,
) -> Callable[[str, str], Metric]:
    """A metric of the registry, once its source and its pitfalls are told."""

    def told(source: str, pitfalls: str) -> Metric:
        info = MetricInfo(
            name=name, label=label, unit=unit, better=better, source=source, digits=digits, pitfalls=pitfalls
        )
        return Metric(info, procedures, compute)

    return told


def total(values: Iterable[float | None]) -> float | None:
    """The sum; None when there is nothing to add, or when one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return math.fsum(known) if known and len(known) == len(listed) else None


def most(values: Iterable[float | None]) -> float | None:
    """The largest; None when there is nothing to compare, or when one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return max(known) if known and len(known) == len(listed) else None


def over(value: float | None, divisor: float | None) -> float | None:
    """The quotient; None where either is not known or there is nothing to divide by."""
    return value / divisor if value is not None and divisor else None


def each(
    trial: Trial, spec: Spec, roles: tuple[Role, ...], read: Callable[[ComponentResult], float | None]
) -> list[float | None]:
    """A figure of every component of these roles that the spec names; None where the trial has no record of it."""
    results = {one.name: one for one in trial.components}
    return [read(results[one.name]) if one.name in results else None for one in spec.of(*roles)]


def rate(trial: Trial, spec: Spec) -> float | None:
    """Requests per second in the window: by the servers, or by the injectors where not every server counts."""
    if trial.measurement is None:
        return None
    if all(server.counters for server in spec.servers):
        return trial.measurement.window_server_rate
    return trial.measurement.window_injector_rate


def thousands(trial: Trial, spec: Spec) -> float | None:
    """Thousands of requests in the window; None when none was counted."""
    requests = rate(trial, spec)
    return requests * trial.measurement.measure_seconds / 1000 if trial.measurement and requests else None


def measured(read: Callable[[TrialMeasurement], float | None]) -> Compute:
    """A figure of the measurement."""
    return lambda trial, _spec: read(trial.measurement) if trial.measurement is not None else None


def latency(read: Callable[[Latency], float | None]) -> Compute:
    """A figure of the latency over all operations."""
    return lambda trial, _spec: read(trial.latency[OVERALL]) if OVERALL in trial.latency else None


def sum_of(read: Callable[[ComponentResult], float | None], roles: tuple[Role, ...] = WEIGHED) -> Compute:
    """A figure of components, added up over roles."""
    return lambda trial, spec: total(each(trial, spec, roles, read))


def slowest(read: Callable[[ComponentResult], float | None]) -> Compute:
    """The largest figure of any server."""
    return lambda trial, spec: most(each(trial, spec, ("server",), read))


def in_groups(read: Callable[[CgroupResult], float | None]) -> Callable[[ComponentResult], float | None]:
    """A figure of a component's control group."""
    return lambda one: read(one.cgroup) if one.cgroup is not None else None


def per_1k(compute: Compute) -> Compute:
    """The same per thousand requests."""
    return lambda trial, spec: over(compute(trial, spec), thousands(trial, spec))


def per_second(compute: Compute) -> Compute:
    """The same per second of the window."""
    return lambda t, s: over(compute(t, s), t.measurement.measure_seconds if t.measurement else None)
