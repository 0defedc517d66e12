# SPDX-License-Identifier: Apache-2.0
"""Simulated sessions through the real scheduler, ledger, analysis and gate, and what came out, counted."""

import math
from dataclasses import astuple, dataclass

import numpy as np

from steelyard.analysis.estimates import estimate, values_of
from steelyard.analysis.metrics import THROUGHPUT
from steelyard.analysis.paired import LEVEL
from steelyard.analysis.rounds import valid_trials
from steelyard.gate.verdict import decide
from steelyard.results.analysis import Estimate
from steelyard.results.schema import Trial
from steelyard.selfcheck.hosts import HostModel, run_trial
from steelyard.session.schedule import make_schedule, next_trial

BASELINE, CANDIDATE = "a", "b"
REPEATS = 2


@dataclass(frozen=True, slots=True)
class Cell:
    """Sessions of one kind."""

    host: HostModel
    pairs: int
    effect: float = 0.0
    """True effect of the candidate on throughput, as a fraction."""
    void_share: float = 0.0
    margin: float = 0.03
    """Margin of the gate."""

    @property
    def name(self) -> str:
        """Of its figures."""
        return f"{self.host.name} host, {self.pairs} pairs"


@dataclass(slots=True)
class Tally:
    """What came out of the sessions of a cell."""

    sessions: int = 0
    alarms: int = 0
    """A difference was called (p < 5 %)."""
    found: int = 0
    """The same, in the direction of the true effect."""
    covered: int = 0
    """The interval holds the true ratio."""
    passes: int = 0
    regressions: int = 0
    bias: float = 0.0
    """Sum of (estimated - true) log ratio."""
    squares: float = 0.0
    """Sum of its squares."""
    trials: int = 0
    voids: int = 0
    most_repeats: int = 0
    """Most rounds of repeats of a block, over all sessions."""
    incomplete: int = 0
    """Sessions that ended with a block without its pair."""

    def __add__(self, other: "Tally") -> "Tally":
        merged = Tally(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other), strict=True)))
        merged.most_repeats = max(self.most_repeats, other.most_repeats)
        return merged


def simulate(cell: Cell, sessions: int, seed: np.random.SeedSequence) -> Tally:
    """Run sessions of a cell. The same seed gives the same tally, wherever it runs."""
    rng = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(sessions):
        trials = run_session(cell, rng)
        _count(tally, cell, trials, pair_estimate(trials))
    return tally


def run_session(cell: Cell, rng: np.random.Generator) -> list[Trial]:
    """One simulated session; the session layer's own rule says which trial is next."""
    seed = int(rng.integers(2**63))
    schedule = make_schedule([BASELINE, CANDIDATE], cell.pairs, seed)
    levels = cell.host.paths(rng, 1, len(schedule), REPEATS * len(schedule))[0].tolist()
    disturbed = rng.random(len(levels)) < cell.void_share
    effects = {BASELINE: 0.0, CANDIDATE: math.log1p(cell.effect)}
    trials: list[Trial] = []
    while (planned := next_trial(schedule, trials, REPEATS, seed, BASELINE)) is not None:
        level = levels[planned.order] + effects[planned.arm]
        trials.append(run_trial(planned, level, disturbed=bool(disturbed[planned.order])))
    return trials


def pair_estimate(trials: list[Trial]) -> Estimate:
    """The analysis layer's estimate of candidate against baseline."""
    chosen = valid_trials(trials)
    baseline, candidate = (values_of(chosen.get(arm, {}), THROUGHPUT) for arm in (BASELINE, CANDIDATE))
    return estimate(THROUGHPUT, CANDIDATE, candidate, baseline)


def _count(tally: Tally, cell: Cell, trials: list[Trial], seen: Estimate) -> None:
    tally.sessions += 1
    tally.trials += len(trials)
    tally.voids += sum(trial.state == "void" for trial in trials)
    tally.most_repeats = max(tally.most_repeats, *(trial.attempt for trial in trials))
    tally.incomplete += seen.n < cell.pairs
    if seen.ratio is None or seen.low is None or seen.high is None or seen.p is None:
        return
    alarm = seen.p < LEVEL
    tally.alarms += alarm
    tally.found += alarm and (seen.ratio - 1) * cell.effect > 0
    tally.covered += seen.low <= 1 + cell.effect <= seen.high
    off = math.log(seen.ratio) - math.log1p(cell.effect)
    tally.bias += off
    tally.squares += off * off
    outcome = decide(seen, "higher", cell.margin).outcome
    tally.passes += outcome == "pass"
    tally.regressions += outcome == "regression"
