# SPDX-License-Identifier: Apache-2.0
"""Simulated hosts with a known true effect: what the harness is proved with.

A trial's log throughput is: level of the session + random walk + step + effect of its arm + noise of its start.
It becomes a whole measurement, is judged by the real ledger and is handed on as a real `Trial`. The designs that METHOD
warns of are no part of the harness: on the levels of the same hosts they call differences that are not there.

Calibration. METHOD describes its hosts by words ("a random walk of about 2 % over the session"). Here that is a walk
that ends a session with a standard deviation of 3.5 %: on average over the session it is then 1.9 % away from
where it began (3.5 % x sqrt(2/pi) x 2/3), and METHOD's false alarms of "all of A, then all of B" come out within a
point. A walk that ends with 2 % would give 34 / 49 / 63 % there. Sessions of another day differ in level by a
standard deviation of 2 % (3 % on the noisy host), which METHOD's figures for a stored baseline ask for.
"""

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.ledger import is_void, judge
from steelyard.analysis.paired import LEVEL
from steelyard.analysis.warmup import judge_steady
from steelyard.experiment.schema import Load
from steelyard.results.schema import Planned, Trial, TrialMeasurement
from steelyard.results.spec import Artifact, Component, Spec

MEASURE_SECONDS = 60.0
BASE_RATE = 10_000.0
"""Requests per second of the baseline arm at a level of 1."""
DISTURBANCE = 0.2
"""Share of its throughput that a disturbed (void) trial loses."""
STEADY_SECONDS = 60
"""When the warm-up rule looks, once."""


@dataclass(frozen=True, slots=True)
class HostModel:
    """How a simulated host varies; standard deviations of log throughput."""

    name: str
    noise: float
    """From start to start."""
    drift: float = 0.0
    """Random walk: at the end of a session."""
    level: float = 0.0
    """Between sessions."""
    step_share: float = 0.0
    """Share of sessions with one step at a random place."""
    step: float = 0.0

    def paths(
        self, rng: np.random.Generator, sessions: int, places: int, extra: int = 0
    ) -> NDArray[np.float64]:
        """Log level of every place in time of many sessions, noise included.

        Args:
            rng: source of chance.
            sessions: number of sessions.
            places: trials of a session, over which the drift is stated.
            extra: further places at the end, for repeats; the walk goes on through them.

        Returns:
            Array of shape (sessions, places + extra).
        """
        shape = (sessions, places + extra)
        path = rng.normal(0.0, self.noise, shape)
        if self.level:
            path += rng.normal(0.0, self.level, (sessions, 1))
        if self.drift:
            path += rng.normal(0.0, self.drift / math.sqrt(places), shape).cumsum(axis=1)
        if self.step_share:
            size = rng.normal(0.0, self.step, (sessions, 1)) * (rng.random((sessions, 1)) < self.step_share)
            path += size * (np.arange(places + extra) >= rng.integers(1, places, (sessions, 1)))
        return path


QUIET = HostModel("quiet", noise=0.007)
DRIFTING = HostModel("drifting", noise=0.007, drift=0.035, level=0.02)
NOISY = HostModel("noisy", noise=0.013, drift=0.0525, level=0.03, step_share=0.3, step=0.05)

_SPEC = Spec(
    arm="synthetic",
    engine="synthetic",
    workload="synthetic",
    workload_version="1",
    topology="synthetic",
    bundle="",
    procedure="steady",
    load=Load(users=48),
    components=[
        Component(
            name="server-1",
            kind="server",
            role="server",
            artifact=Artifact(form="liberty", build="simulated"),
            cpus=[0],
            counters="/bench/counters",
        )
    ],
    entry=["server"],
    mix={"request": 1.0},
    server_cores=1,
    injectors_share_cores=False,
)


def run_trial(planned: Planned, level: float, *, disturbed: bool) -> Trial:
    """Run one trial: measure, judge, record.

    Args:
        planned: which.
        level: log of its throughput, as a share of BASE_RATE.
        disturbed: the hypervisor steals CPU and throughput suffers, which the ledger has to notice.
    """
    rate = BASE_RATE * math.exp(level) * (1 - DISTURBANCE if disturbed else 1.0)
    requests = round(rate * MEASURE_SECONDS)
    measurement = TrialMeasurement(
        measure_seconds=MEASURE_SECONDS,
        server_requests=requests,
        server_errors=0,
        injector_requests=requests,
        injector_errors=0,
        window_server_rate=rate,
        window_injector_rate=rate,
        injector_cpu_share=0.5,
        late_share=0.0,
        target_rate=None,
        mix_intended=_SPEC.mix,
        mix_achieved=_SPEC.mix,
        throttled_seconds=0.0,
        steal_share=0.05 if disturbed else 0.0,
        other_cpu_share=0.001,
        injector_wait_share=0.1,
        users_in_flight=_SPEC.load.users,
        sample_gap=1.0,
        stall_seconds=0.0,
        restarts=[],
        wrong_builds=[],
        settings_differ=[],
        clock_step_seconds=0.0,
        injector_failures=[],
        steady=True,
        steady_detail="Steady by construction.",
        jit_share=0.001,
    )
    checks = judge(measurement, _SPEC)
    return Trial(
        **dict(planned),
        state="void" if is_void(checks) else "valid",
        started=float(planned.order),
        phases={},
        measurement=measurement,
        checks=checks,
        steady=True,
        metrics={"throughput": rate},
        latency={},
        components=[],
        trace=[],
    )


def all_a_then_all_b(host: HostModel, runs: int, sessions: int, seed: np.random.SeedSequence) -> int:
    """False alarms of Welch's t when all runs of A come first, then all of B, in one session."""
    path = host.paths(np.random.default_rng(seed), sessions, 2 * runs)
    return _alarms(path[:, :runs], path[:, runs:])


def stored_baseline(host: HostModel, runs: int, sessions: int, seed: np.random.SeedSequence) -> int:
    """False alarms of Welch's t when B is compared with A's figures from another session.

    Both are taken from the first half of a session, so that the drift within them is that of the design above.
    """
    path = host.paths(np.random.default_rng(seed), 2 * sessions, 2 * runs)[:, :runs]
    return _alarms(path[:sessions], path[sessions:])


def _alarms(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    return int((scipy.stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < LEVEL).sum())


def judged_steady(ramp: float, noise: float, series: int, seed: np.random.SeedSequence) -> int:
    """Number of series whose truth is known that the warm-up rule judges steady.

    Args:
        ramp: true rise per minute as a share of the level.
        noise: standard deviation from second to second as a share of the level.
        series: number of series.
        seed: source of chance.
    """
    rng = np.random.default_rng(seed)
    level = 1 + ramp * np.arange(STEADY_SECONDS) / 60
    drawn = 1000 * (level + rng.normal(0.0, noise, (series, STEADY_SECONDS)))
    return sum(judge_steady(rates.tolist(), None).steady for rates in drawn)
