# SPDX-License-Identifier: Apache-2.0
"""What would make a gate sharper in the same time: other interim analyses, and counters of the host as a covariate.

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/sharper_gate.py         # simulated, a minute
    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/sharper_gate.py DIR...  # of sessions of two arms

*Interim analyses.* Pairs of equal spread; at each place one interval of Student's t. A plan's levels hold the truth at
all of its places together, by simulation; then what it decides, and after how many pairs (Jennison and Turnbull, Group
Sequential Methods, 2000, chapter 2).

*A covariate.* CPU time that other processes and the hypervisor took, in shares: its difference d between the two trials
of a pair. log ratio = change + slope d, by least squares, the change at d = 0, n - 2 degrees of freedom (Cochran,
Biometrics, 1957, on such adjustment). At the mean of d the change would be the plain mean, with an interval that is
too narrow. It costs a degree of freedom and the leverage of d = 0, and pays by R2, the share of the variance that d
explains.
"""

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from steelyard.analysis.paired import detectable_in_sd
from steelyard.analysis.rounds import valid_trials
from steelyard.gate.interim import (
    FLOOR_POWER,
    INTERIM_LEVEL,
    INTERIM_PAIRS,
    LASTS,
    arms_of,
    interims_until,
    levels_of,
)
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory

SESSIONS = 20_000
SEED = 20_261_126
LEVEL = 0.05
"""At which all intervals of a gate hold its truth together, 1 - LEVEL of gates."""
SPREADS = (0.5, 0.7, 1.0, 1.5)
"""Standard deviation of a pair's log ratio, in margins."""
SHARES = (0.0, 0.1, 0.2, 0.3, 0.5, 0.7)
"""R2 of the covariate."""

Floats = NDArray[np.float64]


class Plan(NamedTuple):
    """Places of interim analyses, in pairs, with the two-sided level of each."""

    name: str
    places: tuple[int, ...]
    levels: tuple[float, ...]


def statistics_of(logs: Floats, places: Sequence[int]) -> tuple[Floats, Floats]:
    """Mean and its standard error at each place, arrays of shape (sessions, places)."""
    means = np.stack([logs[:, :n].mean(axis=1) for n in places], axis=1)
    errors = np.stack([logs[:, :n].std(axis=1, ddof=1) / math.sqrt(n) for n in places], axis=1)
    return means, errors


def least_p(logs: Floats, places: Sequence[int]) -> Floats:
    """Smallest p of the truth (0) over the places, by session."""
    means, errors = statistics_of(logs, places)
    p = 2 * scipy.special.stdtr(np.array(places) - 1, -np.abs(means) / errors)
    smallest: Floats = p.min(axis=1)
    return smallest


def plans(rng: np.random.Generator) -> list[Plan]:
    """The gate's own, and others that hold the truth at all places together in 95 % of sessions."""
    every = tuple(range(INTERIM_PAIRS[0], INTERIM_PAIRS[-1] + 1))
    each = float(np.quantile(least_p(rng.normal(size=(SESSIONS, every[-1])), every), LEVEL))
    return [
        Plan("after 6, 10 and 20 pairs, 2 % each (the gate's)", INTERIM_PAIRS, (INTERIM_LEVEL,) * 3),
        Plan("after 6, 10 and 20, most of it kept for the last", INTERIM_PAIRS, (0.003, 0.01, 0.043)),
        Plan(f"after each pair from the 6th on, {percent(each)} each", every, (each,) * len(every)),
        Plan("after 20 pairs alone, 5 %", INTERIM_PAIRS[-1:], (LEVEL,)),
    ]


def held(plan: Plan, logs: Floats) -> float:
    """Share of sessions whose intervals hold the truth (0) at every place."""
    means, errors = statistics_of(logs, plan.places)
    return float((np.abs(means) <= _halves(plan) * errors).all(axis=1).mean())


def _halves(plan: Plan) -> Floats:
    places = np.array(plan.places)
    quantiles: Floats = scipy.special.stdtrit(places - 1, 1 - np.array(plan.levels) / 2)
    return quantiles


def decide(plan: Plan, logs: Floats, margin: float) -> tuple[Any, Any, Any]:
    """By session: whether it passes, whether it is a regression, and after how many pairs it ended. Harm is positive.

    By Student's t alone: a permutation of signs, voids and futility are left out.
    """
    means, errors = statistics_of(logs, plan.places)
    half = _halves(plan) * errors
    good = means + half < margin
    bad = (means - half > 0) & ~good
    decided = good | bad
    first = np.where(decided.any(axis=1), decided.argmax(axis=1), len(plan.places) - 1)
    rows = np.arange(len(logs))
    return good[rows, first], bad[rows, first], np.array(plan.places)[first]


def interim_table(rng: np.random.Generator) -> list[str]:
    """What each plan decides, by the spread of a pair."""
    lines = [
        "| interim analyses | all hold the truth | spread (margins) | unchanged passes | pairs | harm found | pairs |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for plan in plans(rng):
        normal = rng.normal(size=(SESSIONS, INTERIM_PAIRS[-1]))
        covered = held(plan, normal)
        for spread in SPREADS:
            passes, _, pairs = decide(plan, spread * normal, 1.0)
            _, found, longer = decide(plan, 1.0 + spread * normal, 1.0)
            figures = (passes.mean(), pairs.mean(), found.mean(), longer.mean())
            cells = (
                plan.name,
                percent(covered),
                f"{spread:g}",
                percent(float(figures[0])),
                f"{figures[1]:.1f}",
                percent(float(figures[2])),
                f"{figures[3]:.1f}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def time_table(rng: np.random.Generator) -> list[str]:
    """What gates decide that have time for 8 to 18 pairs, if the last analysis is at a fixed place or uses the time
    up; the floors of both, in standard deviations of a pair that is well known."""
    lines = [
        "| time for | last | all hold the truth | spread (margins) | unchanged passes | harm found | pairs | floor |",
        "| --- " * 8 + "|",
    ]
    for most in (pairs for pairs in LASTS if pairs not in INTERIM_PAIRS):
        fixed = [place for place in INTERIM_PAIRS if place <= most]
        normal = rng.normal(size=(SESSIONS, most))
        for interims in (fixed, interims_until(most)):
            levels = levels_of(interims)
            plan = Plan("", tuple(interims), tuple(levels))
            floor, covered = detectable_in_sd(interims[-1], FLOOR_POWER, levels[-1]), held(plan, normal)
            for spread in (0.5, 0.7, 1.0):
                passes, _, _ = decide(plan, spread * normal, 1.0)
                _, found, pairs = decide(plan, 1.0 + spread * normal, 1.0)
                cells = (
                    f"{most} pairs",
                    f"{interims[-1]}",
                    percent(covered),
                    f"{spread:g}",
                    percent(float(passes.mean())),
                    percent(float(found.mean())),
                    f"{float(pairs.mean()):.1f}",
                    f"{floor:.2f}",
                )
                lines.append(f"| {' | '.join(cells)} |")
    return lines


def adjusted(logs: Floats, differences: Floats) -> tuple[Floats, Floats, int]:
    """The change at no difference of the covariate, its standard error, and the degrees of freedom.

    Args:
        logs: log ratios, shape (..., pairs).
        differences: of the covariate, candidate less baseline, of the same shape.
    """
    n = logs.shape[-1]
    centred = differences - differences.mean(axis=-1, keepdims=True)
    squares = (centred**2).sum(axis=-1)
    slope = (centred * logs).sum(axis=-1) / squares
    change = logs.mean(axis=-1) - slope * differences.mean(axis=-1)
    left = logs - change[..., None] - slope[..., None] * differences
    variance = (left**2).sum(axis=-1) / (n - 2)
    return change, np.sqrt(variance * (1 / n + differences.mean(axis=-1) ** 2 / squares)), n - 2


def covariate_table(rng: np.random.Generator) -> list[str]:
    """Coverage of the adjusted interval, and its width as a multiple of the plain one's, at the gate's level."""
    lines = [
        "| pairs | R2 | adjusted interval holds the truth | plain one | mean width, adjusted / plain |",
        "| --- | --- | --- | --- | --- |",
    ]
    for pairs in INTERIM_PAIRS:
        for share in SHARES:
            # Shares of CPU time that others take are skewed: exponential in each trial.
            taken = rng.exponential(size=(SESSIONS, pairs, 2))
            differences = (taken[..., 0] - taken[..., 1]) / math.sqrt(2)
            logs = math.sqrt(share) * differences + math.sqrt(1 - share) * rng.normal(size=(SESSIONS, pairs))
            change, error, freedom = adjusted(logs, differences)
            half = scipy.special.stdtrit(freedom, 1 - INTERIM_LEVEL / 2) * error
            means, errors = statistics_of(logs, [pairs])
            plain = scipy.special.stdtrit(pairs - 1, 1 - INTERIM_LEVEL / 2) * errors[:, 0]
            cells = (
                f"{pairs}",
                percent(share, 0),
                percent(float((np.abs(change) <= half).mean())),
                percent(float((np.abs(means[:, 0]) <= plain).mean())),
                f"{half.mean() / plain.mean():.2f}",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def session_rows(path: str) -> list[str]:
    """What the covariate would do to the interval of each metric of a session: R2, and its width."""
    directory = SessionDirectory(Path(path))
    session, trials = directory.session(), valid_trials(directory.trials())
    baseline, other = arms_of(session)
    names = dict.fromkeys((session.experiment.metrics.primary, "throughput", "cpu_per_1k"))
    rows = []
    for name in names:
        pairs = [
            (trials[other][block], trials[baseline][block])
            for block in sorted(set(trials.get(other, {})) & set(trials.get(baseline, {})))
            if all(trials[arm][block].metrics.get(name) for arm in (other, baseline))
        ]
        taken = [(_taken(mine), _taken(base)) for mine, base in pairs]
        differences = np.array([mine - base for mine, base in taken if mine is not None and base is not None])
        if len(differences) != len(pairs) or len(pairs) < 4 or np.ptp(differences) == 0:
            rows.append(f"| {session.id} | {name} | {len(pairs)} | | | not known |")
            continue
        logs = np.array([math.log(mine.metrics[name] / base.metrics[name]) for mine, base in pairs])
        _, error, freedom = adjusted(logs, differences)
        half = float(scipy.special.stdtrit(freedom, 1 - INTERIM_LEVEL / 2) * error)
        plain = scipy.special.stdtrit(len(logs) - 1, 1 - INTERIM_LEVEL / 2) * logs.std(ddof=1)
        share = float(np.corrcoef(logs, differences)[0, 1] ** 2)
        cells = (
            session.id,
            name,
            f"{len(logs)}",
            percent(float(differences.std(ddof=1))),
            percent(share, 0),
            f"{half / (plain / math.sqrt(len(logs))):.2f}",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _taken(trial: Any) -> float | None:
    """Share of the CPU time that others took during a trial's window."""
    if trial.measurement is None:
        return None
    shares = [trial.measurement.value(name) for name in ("steal_share", "other_cpu_share")]
    return math.fsum(shares) if None not in shares else None


def main() -> None:
    """Print the tables."""
    if sys.argv[1:]:
        head = [
            "| session | metric | pairs | spread of d | R2 | width, adjusted / plain |",
            "| --- " * 6 + "|",
        ]
        lines = [*head, *(row for path in sys.argv[1:] for row in session_rows(path))]
    else:
        rng = np.random.default_rng(SEED)
        lines = [*interim_table(rng), "", *covariate_table(rng), "", *time_table(rng)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
