# SPDX-License-Identifier: Apache-2.0
"""What the formulas of metrics are made of: sums over components by role, rates, shares of a thousand requests (pure).

A figure that is missing in one of the components makes the sum missing, never smaller.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypedDict

from steelyard.experiment.schema import ProcedureName
from steelyard.results.analysis import MetricInfo
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import MEASURED_ROLES, Role, Spec

OVERALL = "all"
"""Key of `Trial.latency` under which the histograms of all operations are merged."""
LOAD: tuple[ProcedureName, ...] = ("steady", "ramp-up", "survive")
EVERY: tuple[ProcedureName, ...] = (*LOAD, "start-up")
SERVERS: tuple[Role, ...] = ("server",)
COMPILERS: tuple[Role, ...] = ("compiler",)
PART = "Only told where some arm has a JITServer: elsewhere it is the sum."
"""Pitfall of a metric of the servers alone, or of the compilers alone."""
Compute = Callable[[Trial, Spec], float | None]
Read = Callable[[ComponentResult], float | None]


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A summary figure of a trial: what it is, how it is computed, and how it misleads."""

    name: str
    label: str
    unit: str
    source: str
    """Where the figure comes from and how it is made."""
    pitfalls: str
    compute: Compute | None
    """From one trial; None: it needs the other arms' trials as well (`analysis.best`)."""
    digits: int = 0
    better: Literal["higher", "lower", "neither"] = "lower"
    procedures: tuple[ProcedureName, ...] = LOAD
    """Of which procedures it is told."""
    roles: tuple[Role, ...] = ()
    """Whose memory, CPU or work it is, where it is a sum over components of these roles."""
    part_of: str = ""
    """The metric of the sum that it is a part of, by its role."""
    only_with_compilers: bool = False
    """Whether it says nothing of its own in a session without compilers."""
    by_clock: bool = False
    """Whether its time goes on while a side of a duet is frozen, of which it would tell nothing."""
    evidence: bool = False
    """Whether it is named where it moved together with an effect (`analysis.moved`)."""
    each: "str | Read | None" = None
    """What it adds up over components of its roles, per 1,000 requests: named of each kind of component by itself."""

    def part(self, roles: tuple[Role, ...], compute: Compute, source: str, but: str = "") -> "Metric":
        """The part of this sum that is of the servers alone, or of the compilers; `but`: what else misleads in it."""
        of_servers = roles == SERVERS
        whose = "of the servers alone" if of_servers else "of the JITServer"
        known = f"It is in {self.name} already{but and '; '}{but}."
        return replace(
            self,
            name=f"{self.name}_{'servers' if of_servers else 'compiler'}",
            label=self.label.replace("of the servers", whose),
            source=source,
            pitfalls=f"{known} {PART}" if of_servers else known,
            compute=compute,
            roles=roles,
            part_of=self.name,
            only_with_compilers=of_servers,
            evidence=False,
            each=None,
        )

    def add_up(self, whose: str, trial: Trial, spec: Spec) -> float | None:
        """What the components of a kind (`whose`) add to it; None where there are none, or one of them lacks it."""
        if self.each is None:
            return None
        read = _by_name(self.each) if isinstance(self.each, str) else self.each
        results = {component.name: component for component in trial.components}
        values = (
            read(results[named.name]) if named.name in results else None
            for named in spec.of(*self.roles)
            if named.kind == whose
        )
        return ratio(combine_known(values, math.fsum), _thousands(trial, spec))

    @property
    def info(self) -> MetricInfo:
        """As analysis.json describes it."""
        return MetricInfo(
            name=self.name,
            label=self.label,
            unit=self.unit,
            better=self.better,
            source=self.source,
            digits=self.digits,
            pitfalls=self.pitfalls,
        )


def combine_known(values: Iterable[float | None], combine: Callable[[list[float]], float]) -> float | None:
    """Values combined (a sum, the largest); None when there is none, or when one of them is not known."""
    listed = list(values)
    known = [value for value in listed if value is not None]
    return combine(known) if known and len(known) == len(listed) else None


def ratio(value: float | None, divisor: float | None) -> float | None:
    """The quotient; None where either is not known or there is nothing to divide by."""
    return value / divisor if value is not None and divisor else None


def quotient(value: Compute, divisor: Compute) -> Compute:
    """One figure of a trial / another."""
    return lambda trial, spec: ratio(value(trial, spec), divisor(trial, spec))


def request_rate(trial: Trial, spec: Spec) -> float | None:
    """Requests per second in the window: by the servers, or by the injectors where not all of them tell."""
    if trial.measurement is None:
        return None
    if spec.servers_tell_rates:
        return trial.measurement.value("window_server_rate")
    return trial.measurement.window_injector_rate


def _thousands(trial: Trial, spec: Spec) -> float | None:
    requests = request_rate(trial, spec)
    return requests * trial.measurement.measure_seconds / 1000 if trial.measurement and requests else None


def of_measurement(read: Callable[[TrialMeasurement], float | None]) -> Compute:
    """What is read from the measurement."""
    return lambda trial, _spec: read(trial.measurement) if trial.measurement is not None else None


def of_trial(name: str) -> Compute:
    """A figure of the trial as a whole, by its name."""
    return of_measurement(lambda measurement: measurement.value(name))


def of_latency(read: Callable[[Latency], float | None]) -> Compute:
    """A figure of the latency over all operations."""
    return lambda trial, _spec: read(trial.latency[OVERALL]) if OVERALL in trial.latency else None


def of_components(
    read: str | Read, roles: tuple[Role, ...], combine: Callable[[list[float]], float]
) -> Compute:
    """A figure (its name, or what is made of others) of every component of these roles that the spec names; None where
    the trial has no record of one."""
    get = _by_name(read) if isinstance(read, str) else read

    def compute(trial: Trial, spec: Spec) -> float | None:
        # Not by `combine_known`: of most figures there is none at the first component, and each trial is asked this.
        values = []
        for named in spec.of(*roles):
            result = next((c for c in trial.components if c.name == named.name), None)
            value = None if result is None else get(result)
            if value is None:
                return None
            values.append(value)
        return combine(values) if values else None

    return compute


def _by_name(name: str) -> Read:
    return lambda component: component.value(name)


def sum_of(read: str | Read, roles: tuple[Role, ...] = MEASURED_ROLES) -> Compute:
    """A figure of components, added up over roles."""
    return of_components(read, roles, math.fsum)


def slowest(name: str) -> Compute:
    """The largest figure of any server."""
    return of_components(name, SERVERS, max)


def per_1k(compute: Compute) -> Compute:
    """The same per thousand requests; None when none was counted."""
    return quotient(compute, _thousands)


class Per1k(TypedDict):
    """The fields of a metric that adds up a figure per thousand requests."""

    compute: Compute
    roles: tuple[Role, ...]
    evidence: bool
    each: str | Read


def summed_per_1k(figure: str | Read, roles: tuple[Role, ...] = MEASURED_ROLES) -> Per1k:
    """A figure of components, added up over roles, per thousand requests: `Metric(**summed_per_1k(...), ...)`."""
    return {"compute": per_1k(sum_of(figure, roles)), "roles": roles, "evidence": True, "each": figure}


def per_second(compute: Compute) -> Compute:
    """The same per second of the window."""
    return quotient(compute, of_measurement(lambda measurement: measurement.measure_seconds))


def share_of_servers(name: str) -> Compute:
    """A time of the server JVMs together / (length of the window x number of server JVMs)."""
    return quotient(per_second(sum_of(name, SERVERS)), lambda _trial, spec: len(spec.servers))


def of_curve(read: Callable[[list[float]], float | None]) -> Compute:
    """A figure of throughput, second by second from the first second of load."""
    return lambda trial, _spec: read(trial.curves.get("throughput", []))
