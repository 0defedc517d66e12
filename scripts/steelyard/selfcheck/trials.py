# SPDX-License-Identifier: Apache-2.0
"""Simulated trials: what a trial would have measured, judged by the real ledger and made to a real record.

Two ways in. `plain` begins where the figures of the window are known. `from_samples` begins before: with what a sampler
and an injector saw each second, over a warm-up that is followed by the real rule until it accepts; the real collection
cuts out the window.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, cast

import numpy as np

from steelyard.analysis.warmup import warm_up_ends
from steelyard.experiment.schema import Load, Warmup
from steelyard.measure.health import Health
from steelyard.measure.histograms import Recorded
from steelyard.measure.ledger import judge
from steelyard.measure.registry import undisturbed
from steelyard.measure.samples import Samples
from steelyard.measure.series import Array, Series
from steelyard.measure.window import Observations, Window
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.schema import Planned, Trial
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.session.collect import figures
from steelyard.session.trial import record_of

SECONDS = 60.0
"""Length of the measurement."""
WARMS = 10.0
NOISE = 0.01
"""From second to second."""
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
    """Share of its throughput that it lacks when the load begins; shrinks to its 2.7th part every WARMS seconds."""


def plain(planned: Planned, spec: Spec, truth: Truth) -> Trial:
    """A trial of which the figures of the window are given."""
    rate = truth.rate * (1 - DISTURBANCE if truth.disturbed else 1.0)
    requests = round(rate * SECONDS)
    measurement = TrialMeasurement.model_validate(
        {
            **undisturbed(),
            "measure_seconds": SECONDS,
            "injector_requests": requests,
            "injector_errors": 0,
            "window_injector_rate": rate,
            "mix_intended": SPEC.mix,
            "mix_achieved": SPEC.mix,
            "steady": truth.steady,
            "steady_detail": "By construction.",
            "server_requests": requests,
            "server_errors": 0,
            "window_server_rate": rate,
            "users_in_flight": SPEC.load.users,
            "steal_share": {"": 0.0, "steal": 0.05, "unknown": None}[truth.disturbed],
            "memory_rss": truth.memory,
        }
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
    told = Latency(requests=requests, errors=0, mean=mean, p50=mean, p90=None, p99=None, p999=None, max=None)
    return {"all": told}


def from_samples(planned: Planned, spec: Spec, truth: Truth, rng: np.random.Generator) -> Trial:
    """A trial as its sampler and injectors saw it: warm-up, window and figures are the harness's own."""
    warmup = spec.load.warmup
    passed = np.arange(warmup.at_most + SECONDS + 5)
    noise = rng.normal(0.0, NOISE, len(passed))
    rates = truth.rate * (1 - truth.cold * np.exp(-passed / WARMS) + noise)
    accepted = warm_up_ends(rates.tolist(), warmup.at_least, warmup.at_most)
    warm = int(warmup.at_most) if accepted is None else accepted
    begin = 1e6 * planned.order
    window = (begin + warm, begin + warm + SECONDS)
    flight = SimpleNamespace(
        spec=spec,
        window=window,
        ramp_end=begin,
        throttled=0.0,
        restarts=[],
        not_stopped=[],
        killed={},
        thrashing=[],
        unwatched=[],
        injector_failures=[],
        injectors=SimpleNamespace(messages=list),
        inconsistent=[],
        steady=accepted is not None,
        steady_detail="By the rule.",
        survived=None,
        clock_step=lambda: 0.0,
    )
    health = Health(users=spec.load.users, gap=1.0)
    counted = _Counted(rates[warm : warm + int(SECONDS)].sum())
    samples = _samples(begin, rates, truth)
    seen = Window(cast(Observations, flight), {}, samples, {}, counted, _Counted(rates.sum()), health)
    return record_of(planned, spec, figures(seen), begin, {"measure": window})


class _Counted(Recorded):
    """What the injectors recorded, without the histograms: those take longer to merge than all else together."""

    def __init__(self, number: float) -> None:
        super().__init__()
        self.number = round(number)

    def counts(self) -> dict[str, int]:
        return {"request": self.number}

    def latency(self) -> dict[str, Latency]:
        return _latency(self.number, self.number / SECONDS)


def _samples(begin: float, rates: Array, truth: Truth) -> Samples:
    """What a sampler writes once a second, from the end of the ramp on."""
    passed = np.arange(len(rates) + 1.0)
    requests = np.concatenate(([0.0], rates.cumsum()))
    used, none = requests * truth.cpu, 0 * passed

    def table(*key: str, **columns: Any) -> dict[tuple[str, ...], Series]:
        return {(*key, name): Series(begin + passed, values) for name, values in columns.items()}

    return Samples(
        processes=table("server-1", user_s=used, system_s=none, rss=none + truth.memory)
        | table("injector-1", user_s=passed / 2, system_s=none, wait_s=passed / 20, rss=none),
        threads=table("server-1", "request", cpu_s=used) | table("server-1", "jit", cpu_s=none),
        counters=table("server-1", "request", requests=requests, errors=none),
        host=table(
            busy_s=used, steal_s=none, idle_s=8 * passed - used, other_s=none, monotonic=begin + passed
        ),
    )
