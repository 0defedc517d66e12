# SPDX-License-Identifier: Apache-2.0
"""Simulated trials: what a trial would have measured, judged by the real ledger and made to a real record.

Two ways in. `make_trial` begins where the figures of the window are known. `make_sampled_trial` begins before: with
what a sampler and an injector wrote each second, over a warm-up that is followed by the real rule until it accepts; the
real collection cuts out the window. Both take what they do not simulate from the registry of what is measured.
"""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Literal, cast

import numpy as np

from steelyard.analysis.warmup import warm_up_ends
from steelyard.experiment.schema import Load, Warmup
from steelyard.measure.hdr import HIGH, empty
from steelyard.measure.health import Health
from steelyard.measure.histograms import Recorded
from steelyard.measure.ledger import judge
from steelyard.measure.registry import undisturbed_figures
from steelyard.measure.samples import Samples, Table
from steelyard.measure.series import Array, Series
from steelyard.measure.window import Observations, Window
from steelyard.results.measurement import ComponentResult, Latency, TrialMeasurement
from steelyard.results.schema import Planned, Trial
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.sampling.columns import PROCESS_COLUMNS
from steelyard.session.evidence import TrialOutcome, measure_outcome
from steelyard.session.trial import trial_record

SECONDS = 60.0
"""Length of the measurement."""
WARMS = 10.0
NOISE = 0.01
"""From second to second."""
DISTURBANCE = 0.2
"""Share of its throughput that a disturbed (void) trial loses."""
Disturbance = Literal["", "steal", "unknown"]
"""The hypervisor takes CPU; `unknown`: the same, and its share was not sampled."""
STEAL: dict[Disturbance, float | None] = {"": 0.0, "steal": 0.05, "unknown": None}
"""Share of the CPU time that the hypervisor takes from a trial, by how it is disturbed."""
USERS = 48

SPEC = Spec(
    arm="",
    engine="synthetic",
    workload="synthetic",
    workload_version="1",
    topology="synthetic",
    bundle="",
    procedure="steady",
    load=Load(users=USERS, warmup=Warmup(at_least=30.0, at_most=180.0), measure=SECONDS),
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
    disturbed: Disturbance = ""
    """Throughput suffers as well."""
    steady: bool = True
    cold: float = 0.0
    """Share of its throughput that it lacks when the load begins; shrinks to its 2.7th part every WARMS seconds."""


def undisturbed_run(spec: Spec, window: tuple[float, float], **changes: object) -> Observations:
    """What the harness sees of a trial that nothing disturbs, its window in epoch seconds; for tests as well."""
    fields: dict[str, object] = {
        "spec": spec,
        "window": window,
        "ramp_end": window[0],
        "throttled": 0.0,
        "steady": True,
        "steady_detail": "By construction.",
        "survived": None,
        "thrashing": [],
        "unwatched": [],
        "killed": {},
        "network_path": "",
        "sentences_of": lambda _cause: [],
        "clock_step": lambda: 0.0,
        "injectors": SimpleNamespace(
            folders={},
            summaries=lambda: [{"abandonedRequests": 0} for _ in spec.injectors],
            messages=list,
        ),
    }
    return cast("Observations", SimpleNamespace(**(fields | changes)))


def make_trial(planned: Planned, spec: Spec, truth: Truth) -> Trial:
    """A trial of which the figures of the window are given."""
    rate = truth.rate * (1 - DISTURBANCE if truth.disturbed else 1.0)
    requests = round(rate * SECONDS)
    measurement = TrialMeasurement.model_validate(
        {
            **undisturbed_figures(),
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
            "users_in_flight": USERS,
            "steal_share": STEAL[truth.disturbed],
            "memory_rss": truth.memory,
        }
    )
    # Little's law: every user of a closed model without think time waits for an answer.
    mean = 1000 * USERS / rate
    latency = Latency(
        requests=requests, errors=0, mean=mean, p50=mean, p90=None, p99=None, p999=None, max=None
    )
    server = ComponentResult(
        name="server-1", role="server", cpu_seconds=truth.cpu * requests, start_seconds=truth.start
    )
    outcome = TrialOutcome(
        measurement=measurement,
        checks=judge(measurement, spec),
        steady=truth.steady,
        latency={"all": latency},
        components=[server],
    )
    return trial_record(planned, spec, outcome, float(planned.order), {})


def make_sampled_trial(planned: Planned, spec: Spec, truth: Truth, rng: np.random.Generator) -> Trial:
    """A trial as its sampler and injectors saw it: warm-up, window and figures are the harness's own."""
    warmup = spec.load.warmup
    passed = np.arange(warmup.at_most + SECONDS + 5)
    noise = rng.normal(0.0, NOISE, len(passed))
    rates = truth.rate * (1 - truth.cold * np.exp(-passed / WARMS) + noise)
    accepted = warm_up_ends(rates.tolist(), warmup.at_least, warmup.at_most)
    warm = int(warmup.at_most) if accepted is None else accepted
    begin = 1e6 * planned.order
    window = (begin + warm, begin + warm + SECONDS)
    window_rates = rates[warm : warm + int(SECONDS)]
    outcome = measure_outcome(
        Window(
            undisturbed_run(
                spec, window, ramp_end=begin, steady=accepted is not None, steady_detail="By the rule."
            ),
            {},
            make_samples(begin, rates, truth),
            {},
            _record_requests(window_rates),
            _record_requests(rates),
            Health(users=USERS, memory=0.1, gap=1.0),
        )
    )
    return trial_record(planned, spec, outcome, begin, {"measure": window})


def _record_requests(rates: Array) -> Recorded:
    """What injectors record of so many requests in each second, all as long as Little's law has it."""
    counts = empty()
    counts[np.searchsorted(HIGH, 1e9 * USERS / rates.mean())] = round(rates.sum())
    return Recorded({"request": counts})


def make_samples(begin: float, rates: Array, truth: Truth) -> Samples:
    """What a sampler writes once a second, from the end of the ramp on; what is not simulated here is 0."""
    passed = np.arange(len(rates) + 1.0)
    requests = np.concatenate(([0.0], rates.cumsum()))
    used, none = requests * truth.cpu, 0 * passed

    def table(*key: str, **columns: Array) -> Table:
        return {(*key, name): Series(begin + passed, values) for name, values in columns.items()}

    idle = dict.fromkeys(PROCESS_COLUMNS, none)
    return Samples(
        processes=table("server-1", **{**idle, "user_s": used, "rss": none + truth.memory})
        | table("injector-1", **{**idle, "user_s": passed / 2, "wait_s": passed / 20}),
        threads=table("server-1", "request", cpu_s=used, wait_s=none, ran_s=used)
        | table("server-1", "jit", cpu_s=none, wait_s=none, ran_s=none),
        counters=table("server-1", "request", requests=requests, errors=none),
        host=table(
            busy_s=used, steal_s=none, idle_s=8 * passed - used, other_s=none, monotonic=begin + passed
        ),
        cpus=table(
            "0", **dict.fromkeys(("user_s", "system_s", "irq_s", "softirq_s", "steal_s", "idle_s"), passed)
        ),
    )
