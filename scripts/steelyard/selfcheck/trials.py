# SPDX-License-Identifier: Apache-2.0
"""Simulated trials: what a trial would have measured, judged by the real ledger and made to a real record.

Two ways in. `plain` begins where the figures of the window are known. `from_samples` begins before: with what a sampler
and an injector saw each second, over a warm-up that is followed by the real rule until it accepts; the real collection
cuts out the window.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.ledger import judge
from steelyard.analysis.warmup import judge_steady
from steelyard.experiment.schema import Load, Warmup
from steelyard.load.health import Health
from steelyard.load.histograms import Recorded
from steelyard.results.schema import ComponentResult, Latency, Planned, Trial, TrialMeasurement
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.sampling.read import Samples
from steelyard.sampling.series import Series
from steelyard.session.collect import Evidence, figures
from steelyard.session.flight import Flight
from steelyard.session.procedures import STEADY_CHECK_INTERVAL, STEADY_WINDOW
from steelyard.session.trial import record_of

SECONDS = 60.0
"""Length of the measurement."""
RATE = 10_000.0
"""Requests per second of the baseline arm on an average start."""
CPU = 4e-4
"""CPU seconds per request."""
MEMORY = 5e8
START = 5.0
DISTURBANCE = 0.2
"""Share of its throughput that a disturbed (void) trial loses."""

SPEC = Spec(
    arm="",
    engine="synthetic",
    workload="synthetic",
    workload_version="1",
    topology="synthetic",
    bundle="",
    procedure="steady",
    load=Load(users=48, warmup=Warmup(at_least=30.0, at_most=180.0), measure=SECONDS),
    components=[
        Component(
            name="server-1",
            kind="server",
            role="server",
            artifact=Artifact(form="liberty", build="simulated"),
            cpus=[0, 1, 2, 3],
            counters="/bench/counters",
        ),
        Component(
            name="injector-1",
            kind="injector",
            role="injector",
            artifact=Artifact(form="java", build="simulated"),
            cpus=[4],
        ),
    ],
    entry=["server"],
    mix={"request": 1.0},
    server_cores=4,
    injectors_share_cores=False,
)


@dataclass(frozen=True, slots=True)
class Truth:
    """What one simulated start does."""

    rate: float
    """Requests per second when warm."""
    cpu: float
    """CPU seconds per request."""
    memory: float
    start: float
    disturbed: Literal["", "steal", "unknown"] = ""
    """The hypervisor takes CPU and throughput suffers; `unknown`: the same, and its share was not sampled."""
    steady: bool = True
    cold: float = 0.0
    """Share of its throughput that it lacks when the load begins, less and less from there on."""
    warms: float = 10.0
    """Seconds in which what is lacking shrinks to its 2.7th part."""


def plain(planned: Planned, spec: Spec, truth: Truth) -> Trial:
    """A trial of which the figures of the window are given."""
    rate = truth.rate * (1 - DISTURBANCE if truth.disturbed else 1.0)
    requests = round(rate * SECONDS)
    measurement = TrialMeasurement(
        measure_seconds=SECONDS,
        server_requests=requests,
        server_errors=0,
        injector_requests=requests,
        injector_errors=0,
        window_server_rate=rate,
        window_injector_rate=rate,
        injector_cpu_share=0.5,
        late_share=0.0,
        target_rate=None,
        mix_intended=SPEC.mix,
        mix_achieved=SPEC.mix,
        throttled_seconds=0.0,
        steal_share={"": 0.0, "steal": 0.05, "unknown": None}[truth.disturbed],
        other_cpu_share=0.001,
        restarts=[],
        wrong_builds=[],
        settings_differ=[],
        clock_step_seconds=0.0,
        injector_failures=[],
        steady=truth.steady,
        steady_detail="By construction.",
        jit_share=0.001,
        memory_rss=truth.memory,
    )
    server = ComponentResult(
        name="server-1", role="server", cpu_seconds=truth.cpu * requests, start_seconds=truth.start
    )
    found = {
        "measurement": measurement,
        "checks": judge(measurement, spec),
        "steady": truth.steady,
        "latency": _latency(requests, rate),
        "components": [server],
        "trace": [],
    }
    return record_of(planned, spec, found, float(planned.order), {})


def _latency(requests: int, rate: float) -> dict[str, Latency]:
    """Little's law: every user of a closed model without think time waits for an answer."""
    users = SPEC.load.users or 0
    mean = 1000 * users / rate
    told = Latency(
        requests=requests, errors=0, mean=mean, p50=mean, p90=None, p99=None, p999=None, max=None
    )
    return {"all": told}


def warmed_up(rates: Sequence[float], warmup: Warmup) -> tuple[int, bool]:
    """When the warm-up ends by the real rule, which looks again and again, and whether it is steady then.

    Args:
        rates: throughput of each second from the end of the ramp.
        warmup: of the experiment.
    """
    second = warmup.at_least
    while True:
        judged = judge_steady(rates[: int(second)], None, STEADY_WINDOW)
        if judged.steady or second >= warmup.at_most:
            return int(second), judged.steady
        second = min(second + STEADY_CHECK_INTERVAL, warmup.at_most)


def rates_of(
    truth: Truth, seconds: int, noise: float, rng: np.random.Generator, rise: float = 0.0
) -> NDArray[np.float64]:
    """Throughput of each second of load: the warm-up curve, a steady rise (a share per minute), and noise."""
    t = np.arange(seconds)
    curve = 1 - truth.cold * np.exp(-t / truth.warms) + rise * t / 60
    return truth.rate * (curve + rng.normal(0.0, noise, seconds))


def from_samples(planned: Planned, spec: Spec, truth: Truth, rng: np.random.Generator) -> Trial:
    """A trial as its sampler and injectors saw it: warm-up, window and figures are the harness's own."""
    at_most = spec.load.warmup.at_most
    rates = rates_of(truth, int(at_most + SECONDS) + 5, 0.01, rng)
    warm, steady = warmed_up(rates[: int(at_most)].tolist(), spec.load.warmup)
    begin = 1e6 * planned.order
    window = (begin + warm, begin + warm + SECONDS)
    flight = SimpleNamespace(
        spec=spec,
        window=window,
        ramp_end=begin,
        throttled=0.0,
        restarts=[],
        injector_failures=[],
        inconsistent=[],
        steady=steady,
        steady_detail="By the rule.",
        survived=None,
    )
    counted = _Counted(round(float(rates[warm : warm + int(SECONDS)].sum())))
    everything = _Counted(round(float(rates.sum())))
    samples = _samples(begin, rates, truth)
    evidence = Evidence(cast(Flight, flight), {}, samples, {}, counted, everything, Health())
    return record_of(planned, spec, figures(evidence), begin, {"measure": window})


@dataclass
class _Counted(Recorded):
    """What the injectors recorded, without the histograms: those take longer to merge than all else together."""

    number: int = 0
    histograms: dict[str, Any] = field(default_factory=dict)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def counts(self) -> dict[str, int]:
        return {"request": self.number}

    def latency(self) -> dict[str, Latency]:
        return _latency(self.number, self.number / SECONDS)


def _samples(begin: float, rates: NDArray[np.float64], truth: Truth) -> Samples:
    """What a sampler writes once a second, from the end of the ramp on."""
    t = begin + np.arange(len(rates) + 1)
    requests = np.concatenate(([0.0], rates.cumsum()))
    level = np.ones_like(t)
    used = requests * truth.cpu

    def series(**columns: NDArray[np.float64]) -> dict[str, Series]:
        return {name: Series(t, values) for name, values in columns.items()}

    server = series(user_s=used, system_s=0 * used, rss=truth.memory * level)
    injector = series(user_s=0.5 * (t - begin), system_s=0 * t, rss=level)
    host = series(busy_s=used, steal_s=0 * t, idle_s=8 * (t - begin) - used, other_s=0 * t, monotonic=t)
    counted = series(requests=requests, errors=0 * t)
    return Samples(
        processes={
            (name, column): one
            for name, columns in (("server-1", server), ("injector-1", injector))
            for column, one in columns.items()
        },
        threads={("server-1", "request", "cpu_s"): Series(t, used), ("server-1", "jit", "cpu_s"): Series(t, 0 * t)},
        counters={("server-1", "request", column): one for column, one in counted.items()},
        host={(column,): one for column, one in host.items()},
    )


def start(rate: float, drawn: Sequence[float], arm_cpu: float, **more: Any) -> Truth:
    """A start with its own noise in what is measured beside throughput."""
    cpu, memory, seconds = (math.exp(value) for value in drawn)
    return Truth(rate, CPU * arm_cpu * cpu, MEMORY * memory, START * seconds, **more)
