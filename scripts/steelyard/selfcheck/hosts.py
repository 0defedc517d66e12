# SPDX-License-Identifier: Apache-2.0
"""Simulated hosts: how throughput varies from trial to trial where no arm differs from another, and in a trial.

A trial's log throughput is: level of the session + drift + step + noise of its start + what its place in its block
adds.

Calibration. docs/explanation/design.md describes hosts in words ("a random walk of about 2 % over the session"). Here
that is a walk that ends a session with a standard deviation of 3.5 %: on average over the session it is then 1.9 % away
from where it began (3.5 % x sqrt(2/pi) x 2/3), and the page's false alarms of "all of A, then all of B" come out
within a point. A walk that ends with 2 % would give 34 / 49 / 63 % there. Sessions of another day differ in level by a
standard deviation of 2 % (3 % on the noisy host), which the page's figures for a stored baseline ask for.
"""

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.warmup import judge_steady, warm_up_ends
from steelyard.selfcheck.trials import SECONDS, SPEC


@dataclass(frozen=True, slots=True)
class HostModel:
    """How a simulated host varies; standard deviations of log throughput unless it says otherwise."""

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
    slope: float = 0.0
    """Linear drift over a session, log; not drawn."""
    tails: int | None = None
    """The noise has Student's t with so many degrees of freedom (times `noise`)."""
    slow_starts: float = 0.0
    """Share of starts that come up `slow` below the others."""
    slow: float = 0.0
    follows: float = 0.0
    """Correlation of a start's noise with that of the start before."""
    shift: float = 0.0
    """What each switch of the host brings by chance to all trials under it."""
    own: float = 0.0
    """What a start has by itself beside another that runs at the same time: all else they have in common."""
    first: float = 0.0
    """What the first trial of a block has more than the others, log; not drawn."""

    def spread(self, pairs: int) -> float:
        """Standard deviation of the log ratio of a pair, of noise, random walk and a switch between the two."""
        return math.sqrt(2 * self.noise**2 + 2 * self.shift**2 + self.drift**2 / (2 * pairs))

    def paths(
        self, rng: np.random.Generator, sessions: int, places: int, extra: int = 0
    ) -> NDArray[np.float64]:
        """Log level of every place in time of many sessions, noise included.

        Args:
            rng: source of chance.
            sessions: number of sessions.
            places: trials of a session, over which the drift is stated.
            extra: further places at the end, for repeats; the drift goes on through them.

        Returns:
            Array of shape (sessions, places + extra).
        """
        shape = (sessions, places + extra)
        path = self._noise(rng, shape)
        if self.level:
            path += rng.normal(0.0, self.level, (sessions, 1))
        if self.drift:
            path += rng.normal(0.0, self.drift / math.sqrt(places), shape).cumsum(axis=1)
        if self.step_share:
            size = rng.normal(0.0, self.step, (sessions, 1)) * (rng.random((sessions, 1)) < self.step_share)
            path += size * (np.arange(places + extra) >= rng.integers(1, places, (sessions, 1)))
        if self.slow_starts:
            path -= self.slow * (rng.random(shape) < self.slow_starts)
        return path + self.slope * np.arange(places + extra) / places

    def _noise(self, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
        drawn = rng.normal(0.0, 1.0, shape) if self.tails is None else rng.standard_t(self.tails, shape)
        if self.follows:
            fresh = math.sqrt(1 - self.follows**2)
            for place in range(1, shape[1]):
                drawn[:, place] = self.follows * drawn[:, place - 1] + fresh * drawn[:, place]
        return self.noise * drawn


QUIET = HostModel("quiet", noise=0.007)
DRIFTING = HostModel("drifting", noise=0.007, drift=0.035, level=0.02)
NOISY = HostModel("noisy", noise=0.013, drift=0.0525, level=0.03, step_share=0.3, step=0.05)
SLOPING = HostModel("5 % linear drift", noise=0.007, slope=-0.05)
HEAVY = HostModel("heavy tails", noise=0.007, tails=3)
BIMODAL = HostModel("bimodal starts", noise=0.007, slow_starts=0.3, slow=0.04)
FOLLOWING = HostModel("starts follow each other", noise=0.013, follows=0.7)
SWITCHED = HostModel("1 % shift per switch", noise=0.007, shift=0.01)
SHARED = HostModel("shared runner", noise=0.05, own=0.007)
FIRST = HostModel("first of a block 3 % faster", noise=0.007, first=0.03)

WARMS = 40.0
TOO_COLD = 0.02
"""A warm-up that ends with more of its throughput lacking has ended too early."""


@dataclass(frozen=True, slots=True)
class ThroughputModel:
    """Throughput second by second, as shares of its level."""

    noise: float
    rise: float = 0.0
    """A minute, all the time."""
    cold: float = 0.0
    """Share that is lacking at first; shrinks to its 2.7th part every WARMS seconds."""
    dip: int = 0
    """Every so many seconds one second lacks half of its requests, as by a full collection."""
    jump: float = 0.0
    """By so much throughput falls in the middle."""
    sag: float = 0.0
    """By so much it is lower in the middle third."""

    def draw(self, seconds: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """One series of that length."""
        t = np.arange(seconds)
        level = 1 + self.rise * t / 60 - self.cold * np.exp(-t / WARMS)
        level -= 0.5 * (t % self.dip == int(rng.integers(self.dip))) if self.dip else 0.0
        level -= self.jump * (t >= seconds // 2)
        level -= self.sag * (t >= seconds // 3) * (t < 2 * seconds // 3)
        return 1000 * (level + rng.normal(0.0, self.noise, seconds))


def run_warm_ups(model: ThroughputModel, series: int, rng: np.random.Generator) -> Counter[str]:
    """How many are accepted before the cap, and how many of those too early."""
    warmup = SPEC.load.warmup
    tally = Counter(sessions=series)
    for _ in range(series):
        rates = model.draw(int(warmup.at_most), rng)
        end = warm_up_ends(rates.tolist(), warmup.at_least, warmup.at_most)
        tally["accepted"] += end is not None
        tally["too early"] += end is not None and model.cold * math.exp(-end / WARMS) > TOO_COLD
    return tally


def run_windows(model: ThroughputModel, series: int, rng: np.random.Generator) -> Counter[str]:
    """How many measurement windows are judged steady."""
    steady = sum(judge_steady(model.draw(int(SECONDS), rng).tolist(), None).steady for _ in range(series))
    return Counter(sessions=series, steady=steady)
