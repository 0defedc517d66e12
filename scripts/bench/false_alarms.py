# SPDX-License-Identifier: Apache-2.0
"""How often equal builds look different, by the design of the comparison, on the self-check's drifting host.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/false_alarms.py > docs/results/false-alarms.json

Three designs over the same simulated host (`selfcheck/hosts.py`, DRIFTING), each tested at 5 %, both sides equal:
all runs of A, then all runs of B, by Welch's t test; B against runs of A that were stored on another day, by the same
test; pairs in random order, half of them each way, by the harness's own paired test. Seconds on one core.
"""

import json
import sys
from collections.abc import Callable

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.paired import LEVEL, paired_test
from steelyard.selfcheck.hosts import DRIFTING

SESSIONS = 3_000
RUNS = (6, 10, 20)
SEED = 20_261_126

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


def run_in_pairs(rng: np.random.Generator, runs: int) -> float:
    """Pairs, half of them in each order, the orders drawn."""
    levels = DRIFTING.paths(rng, SESSIONS, 2 * runs).reshape(SESSIONS, runs, 2)
    signs = rng.permuted(np.tile(np.resize([1.0, -1.0], runs), (SESSIONS, 1)), axis=1)
    tests = [paired_test(logs) for logs in (signs * (levels[:, :, 1] - levels[:, :, 0])).tolist()]
    return sum(test is not None and test.p < LEVEL for test in tests) / SESSIONS


DESIGNS: dict[str, Design] = {
    "all of A, then all of B": run_in_a_row,
    "B today, A on another day": run_on_two_days,
    "random pairs, as Steelyard runs them": run_in_pairs,
}


def simulate_designs(seed: int = SEED) -> dict[str, object]:
    """False alarms of each design, by the number of runs a side."""
    rng = np.random.default_rng(seed)
    shares = {name: [run(rng, runs) for runs in RUNS] for name, run in DESIGNS.items()}
    return {
        "made_by": "scripts/bench/false_alarms.py",
        "host": DRIFTING.name,
        "sessions": SESSIONS,
        "seed": seed,
        "runs": list(RUNS),
        "designs": [{"name": name, "false_alarms": alarms} for name, alarms in shares.items()],
    }


if __name__ == "__main__":
    json.dump(simulate_designs(), sys.stdout, indent=1)
    sys.stdout.write("\n")
