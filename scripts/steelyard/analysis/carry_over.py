# SPDX-License-Identifier: Apache-2.0
"""What trials leave to the trial after them, by the arm that ran before (pure).

A trial leaves files in the page cache, memory in pieces, a warm processor, a database's files. The schedule is balanced
for the predecessor (`session/schedule.py`), so that two arms of a block follow the same arm, or each arm equally often;
here the effect of the predecessor is estimated as a term of its own, and held against what the order leaves unbalanced.

Where a block begins with the arm that the block before ended with, two trials of one arm follow each other: the second
follows its own arm, the first another one. The log ratio of the two is what the own arm leaves more than the other,
and nothing else but noise. Jones and Kenward, Design and Analysis of Cross-Over Trials, 2014, chapter 5.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import scipy

from steelyard.analysis.findings import side_of
from steelyard.analysis.paired import CLEARLY, TIED, paired_test, ratio_of, t_quantile
from steelyard.analysis.rounds import Place, common
from steelyard.results.analysis import CarryOver, MetricInfo
from steelyard.results.figures import count, percent
from steelyard.results.schema import Session, Trial

FEWEST = 3
"""Degrees of freedom below which an interval of this term says nothing: with two arms those of five blocks."""
Predecessors = Mapping[tuple[str, Place], str]
"""The arm that ran before a trial, by its arm, block and round."""


def has_predecessors(session: Session) -> bool:
    """Whether one trial follows another under the same state of the host: not in a duet, a search, or between plots."""
    alone = all(arm.second is None for arm in session.arms)
    one_state = all(arm.spec.host_states == session.arms[0].spec.host_states for arm in session.arms)
    return alone and one_state and session.experiment.search is None


def predecessors(trials: Sequence[Trial]) -> dict[tuple[str, Place], str]:
    """The arm that ran before each trial, void ones included; the first of a session has none."""
    arms = {trial.order: trial.arm for trial in trials}
    return {
        (trial.arm, (trial.block, trial.attempt)): arms[trial.order - 1]
        for trial in trials
        if trial.order - 1 in arms
    }


def estimate_carry_over(
    trials: Sequence[Trial], name: str, arms: Sequence[str], baseline: str
) -> list[CarryOver]:
    """What trials of each arm leave to the next one, against what trials of the baseline leave.

    Least squares over neighbours of one arm whose predecessors differ; Student's t on what degrees of freedom are left.

    Args:
        trials: of a session, in any order; the figures of valid ones count.
        name: of a metric.
        arms: all of the session.
        baseline: one of them.

    Returns:
        One of each arm but the baseline; empty where too few neighbours tell.
    """
    by_order = {trial.order: trial for trial in trials}
    others = [arm for arm in arms if arm != baseline]
    rows, logs = [], []
    for order, first in by_order.items():
        before, second = by_order.get(order - 1), by_order.get(order + 1)
        if before is None or second is None or not first.arm == second.arm != before.arm:
            continue
        figures = [trial.metrics.get(name, 0.0) for trial in (first, second) if trial.state == "valid"]
        if len(figures) == 2 and min(figures) > 0 and math.isfinite(sum(figures)):
            rows.append([(arm == first.arm) - float(arm == before.arm) for arm in others])
            logs.append(math.log(figures[1] / figures[0]))
    free = len(rows) - len(others)
    # Trials that share an order did not run one after the other.
    if len(by_order) < len(trials) or free < FEWEST or np.linalg.matrix_rank(np.array(rows)) < len(others):
        return []
    design = np.array(rows)
    effects, *_ = np.linalg.lstsq(design, np.array(logs), rcond=None)
    left = np.array(logs) - design @ effects
    sd = math.sqrt(float(left @ left) / free)
    if sd <= TIED:
        return []
    errors = sd * np.sqrt(np.diag(np.linalg.inv(design.T @ design)))
    half = t_quantile(1 - CLEARLY / 2, free)
    return [
        CarryOver(
            arm=arm,
            n=len(rows),
            ratio=ratio_of(effect),
            low=ratio_of(effect - half * error),
            high=ratio_of(effect + half * error),
            p=2 * float(scipy.special.stdtr(free, -abs(effect) / error)),
        )
        for arm, effect, error in zip(others, effects.tolist(), errors.tolist(), strict=True)
    ]


def is_shown(carried: CarryOver) -> bool:
    """Whether an arm clearly leaves something else to the next trial than the baseline."""
    return carried.p < CLEARLY


def carry_over_note(
    carried: Sequence[CarryOver], info: MetricInfo, labels: Mapping[str, str], base: str
) -> str:
    """What is known of the effect of the predecessor, one sentence; nothing where it cannot be estimated."""
    if not carried:
        return ""

    def sentence(effect: CarryOver) -> str:
        size = f"{percent(effect.ratio - 1, sign=True)}"
        bounds = f"99 % CI {percent(effect.low - 1, sign=True)} to {percent(effect.high - 1, sign=True)}"
        return f"after {labels[effect.arm]} {size} ({bounds}) against after {base}"

    shown = [effect for effect in carried if is_shown(effect)]
    subject = f"Carry-over, by the arm that ran before, {info.label}"
    if shown:
        return f"{subject}: {'; '.join(map(sentence, shown))}; the order is balanced for it."
    widest = max(carried, key=lambda effect: max(effect.high - 1, 1 - effect.low))
    return f"{subject}: none beyond noise ({sentence(widest)}, {count(widest.n, 'neighbour')})."


def carry_over_reason(
    logs: Mapping[Place, float],
    arm: str,
    baseline: str,
    before: Predecessors,
    carried: Sequence[CarryOver],
) -> str | None:
    """Why a comparison shows nothing: what its arms followed was not the same, and without that it says another thing.

    Args:
        logs: log(arm / baseline) by place.
        arm: that is compared.
        baseline: with which.
        before: who ran before whom.
        carried: from `estimate_carry_over`.
    """
    left = {effect.arm: math.log(effect.ratio) for effect in carried}
    if not any(map(is_shown, carried)):
        return None

    def leaves(who: str, place: Place) -> float:
        return left.get(before.get((who, place), baseline), 0.0)

    unlike = {place: leaves(arm, place) - leaves(baseline, place) for place in logs}
    plain = paired_test([*logs.values()])
    freed = paired_test([log - unlike[place] for place, log in logs.items()])
    if plain is None or freed is None or side_of(plain.low, plain.high) == side_of(freed.low, freed.high):
        return None
    apart = sum(value != 0 for value in unlike.values())
    return (
        f"trials leave something to the next one, and in {apart} of {count(len(logs), 'block')} {arm} and {baseline}"
        f" did not follow the same arm: without that the change is {percent(ratio_of(freed.mean) - 1, sign=True)}"
        f" and not {percent(ratio_of(plain.mean) - 1, sign=True)}, which says another thing"
    )


def logs_by_place(arm: Mapping[Place, float], baseline: Mapping[Place, float]) -> dict[Place, float]:
    """log(arm / baseline) by block and round; empty where a figure is not positive."""
    places = common(arm, baseline)
    if any(arm[place] <= 0 or baseline[place] <= 0 for place in places):
        return {}
    return {place: math.log(arm[place] / baseline[place]) for place in places}
