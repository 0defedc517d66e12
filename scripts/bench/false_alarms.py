# SPDX-License-Identifier: Apache-2.0
"""How often equal builds look different, by the design of the comparison, on simulated hosts (`selfcheck/hosts.py`).

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/false_alarms.py > docs/results/false-alarms.json

Three designs over the drifting host, each tested at 5 %, both sides equal: all runs of A, then all runs of B, by
Welch's t test; B against runs of A that were stored on another day, by the same test; pairs in random order, half of
them each way, by the harness's own paired test. Beside them, each with its own numbers of runs a side: how often pairs
find a true change, false alarms where an arm leaves something to the next trial and where the host is switched, and how
often intervals contain the truth. docs/explanation says these figures, held by a test. Seconds on one core.
"""

import json
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.paired import LEVEL, paired_test
from steelyard.selfcheck.hosts import DRIFTING, QUIET, SWITCHED, HostModel

SESSIONS = 3_000
RUNS = (6, 10, 20)
SEED = 20_261_126
CHANGE = np.log(0.97)
"""A true change of -3 %."""
CARRIED = 0.03
"""What the candidate leaves to the trial after it, of either arm; log."""
SWITCHES = 6
"""To each state of the host."""
RESAMPLES = 1_000

Floats = NDArray[np.float64]
Design = Callable[[np.random.Generator, int], float]


def welch_alarms(a: Floats, b: Floats) -> float:
    """Share of sessions in which Welch's t test tells the two sides apart."""
    return float(np.mean(scipy.stats.ttest_ind(a, b, axis=1, equal_var=False).pvalue < LEVEL))


def run_in_a_row(rng: np.random.Generator, runs: int) -> float:
    """All of A, then all of B."""
    levels = DRIFTING.paths(rng, SESSIONS, 2 * runs)
    return welch_alarms(levels[:, :runs], levels[:, runs:])


def run_on_two_days(rng: np.random.Generator, runs: int) -> float:
    """Each side in a session of its own."""
    return welch_alarms(DRIFTING.paths(rng, SESSIONS, runs), DRIFTING.paths(rng, SESSIONS, runs))


def paired_alarms(logs: Floats) -> float:
    """Share of sessions whose log ratios, one row each, the harness tells from none."""
    tests = [paired_test(row) for row in logs.tolist()]
    return sum(test is not None and test.p < LEVEL for test in tests) / len(tests)


def draw_pairs(rng: np.random.Generator, host: HostModel, runs: int, carried: float = 0.0) -> Floats:
    """Log ratios of pairs of equal arms, half of them in each order, the orders drawn."""
    second_is_b = rng.permuted(np.tile(np.resize([True, False], runs), (SESSIONS, 1)), axis=1)
    is_b = np.stack([~second_is_b, second_is_b], axis=2)
    levels = host.paths(rng, SESSIONS, 2 * runs)
    levels[:, 1:] += carried * is_b.reshape(SESSIONS, 2 * runs)[:, :-1]
    first, second = np.moveaxis(levels.reshape(SESSIONS, runs, 2), 2, 0)
    return np.where(second_is_b, second - first, first - second)


def run_in_pairs(rng: np.random.Generator, runs: int) -> float:
    """Pairs, half of them in each order, the orders drawn."""
    return paired_alarms(draw_pairs(rng, DRIFTING, runs))


def find_change(rng: np.random.Generator, runs: int) -> float:
    """The same, where the candidate is truly slower."""
    return paired_alarms(draw_pairs(rng, DRIFTING, runs) + CHANGE)


def run_after_another(rng: np.random.Generator, runs: int) -> float:
    """Pairs in random order, where the candidate leaves something to the trial after it."""
    return paired_alarms(draw_pairs(rng, QUIET, runs, CARRIED))


def run_after_one_switch(rng: np.random.Generator, runs: int) -> float:
    """Each run counts for itself, though all of a side share what one switch of the host brought."""
    levels = SWITCHED.paths(rng, SESSIONS, 2 * runs).reshape(SESSIONS, 2, runs)
    levels += rng.normal(0.0, SWITCHED.shift, (SESSIONS, 2, 1))
    return welch_alarms(levels[:, 0], levels[:, 1])


def run_after_switches(rng: np.random.Generator, runs: int) -> float:
    """As many runs, after several switches to each state: the runs after a switch count as one."""
    levels = (
        SWITCHED.paths(rng, SESSIONS, 2 * runs).reshape(SESSIONS, SWITCHES, 2, runs // SWITCHES).mean(axis=3)
    )
    levels += rng.normal(0.0, SWITCHED.shift, levels.shape)
    return paired_alarms(levels[:, :, 1] - levels[:, :, 0])


def cover_by_bootstrap(rng: np.random.Generator, runs: int) -> float:
    """Share of 95 % intervals by the percentile bootstrap of the mean that contain the truth."""
    covered = 0
    for row in rng.normal(0.0, 1.0, (SESSIONS, runs)):
        means = row[rng.integers(runs, size=(RESAMPLES, runs))].mean(axis=1)
        low, high = np.quantile(means, [LEVEL / 2, 1 - LEVEL / 2])
        covered += bool(low <= 0.0 <= high)
    return covered / SESSIONS


def cover_by_student(rng: np.random.Generator, runs: int) -> float:
    """The same of the harness's intervals."""
    return 1 - paired_alarms(rng.normal(0.0, 1.0, (SESSIONS, runs)))


DESIGNS: dict[str, Design] = {
    "all of A, then all of B": run_in_a_row,
    "B today, A on another day": run_on_two_days,
    "random pairs, as Steelyard runs them": run_in_pairs,
}

OTHERS: dict[str, tuple[Design, tuple[int, ...]]] = {
    "a true change of -3 % found in random pairs": (find_change, RUNS),
    "false alarms of random pairs, 3 % carried over": (run_after_another, (6, 20)),
    "false alarms of one switch, each run for itself": (run_after_one_switch, (12,)),
    "false alarms of six switches a side, paired": (run_after_switches, (12,)),
    "95 % intervals by the percentile bootstrap contain the truth": (cover_by_bootstrap, (3, 5, 10, 30)),
    "95 % intervals by Student's t contain the truth": (cover_by_student, (3, 5, 10, 30)),
}
"""Each with its numbers of runs a side (of blocks)."""


def simulate_designs(seed: int = SEED) -> dict[str, Any]:
    """False alarms of each design, by the number of runs a side, and the other shares."""
    rng = np.random.default_rng(seed)
    shares = {name: [run(rng, runs) for runs in RUNS] for name, run in DESIGNS.items()}
    return {
        "made_by": "scripts/bench/false_alarms.py",
        "host": DRIFTING.name,
        "sessions": SESSIONS,
        "seed": seed,
        "runs": list(RUNS),
        "designs": [{"name": name, "false_alarms": alarms} for name, alarms in shares.items()],
        "others": [
            {"name": name, "runs": list(numbers), "shares": [run(rng, runs) for runs in numbers]}
            for name, (run, numbers) in OTHERS.items()
        ],
    }


if __name__ == "__main__":
    json.dump(simulate_designs(), sys.stdout, indent=1)
    sys.stdout.write("\n")
