# SPDX-License-Identifier: Apache-2.0
"""A gate's looks: what its pairs say at fixed places, and whether it ends there (docs/method.md, "The gate").

Pure, over a session and its trials; the same for real, resumed and simulated ones. At each look pass and regression are
asked of one 98 % interval: wholly below the margin, wholly beyond zero. So three looks call an unchanged build worse in
at most 3 % of sessions, before it is confirmed, and pass one that is worse by the margin in at most 3 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from steelyard.analysis.estimates import estimate, values_of
from steelyard.analysis.figures import count, percent
from steelyard.analysis.metrics import metric
from steelyard.analysis.paired import Paired, detectable_in_sd, paired, sd_bound, t_quantile
from steelyard.analysis.rounds import seconds_of, unequal, valid_trials
from steelyard.gate.verdict import Better, Verdict, decide
from steelyard.results.analysis import Estimate
from steelyard.results.schema import Session, Trial
from steelyard.units import format_duration

LOOKS = (6, 10, 20)
"""Pairs after which a gate is looked at."""
LOOK_LEVEL = 0.02
"""Two-sided level of each look."""
FUTILE = 0.10
"""Chance of an answer at the last look below which going on is in vain."""
SEEN = 0.99
"""Power at the last look of a harm as large as the floor: with the confirmation 95 % of such harm is then found."""
LAST = "it was the last look"
OVERTIME = 1.1
"""What the expected end may lie beyond the time that was given."""


@dataclass(frozen=True, slots=True)
class Look:
    """What the pairs up to a look say."""

    blocks: int
    found: Estimate
    verdict: Verdict
    stops: str | None
    """Why there is no further one, a phrase; None: there is."""


def arms_of(session: Session) -> tuple[str, str]:
    """Baseline and candidate."""
    (baseline,) = (arm.name for arm in session.arms if arm.baseline)
    (candidate,) = (arm.name for arm in session.arms if not arm.baseline)
    return baseline, candidate


def floor_of(sd: float, known_from: int, looks: Sequence[int] = LOOKS) -> float:
    """Smallest harm, as a fraction, that a gate finds with probability SEEN at its last look.

    Args:
        sd: standard deviation of the log ratio of equal pairs.
        known_from: number of pairs that it was estimated from; its upper 95 % bound is taken.
        looks: of the gate.
    """
    change = detectable_in_sd(max(looks), SEEN, LOOK_LEVEL) * sd * sd_bound(known_from)
    return math.expm1(min(change, 100.0))


def ends_at(session: Session, trials: Sequence[Trial], blocks: int) -> bool:
    """Whether a session ends at a look whose blocks have all run."""
    return look_at(session, trials, blocks).stops is not None


def look_at(session: Session, trials: Sequence[Trial], blocks: int) -> Look:
    """What the first so many blocks say."""
    terms = session.gate
    if terms is None:
        raise ValueError(f"{session.id} is no gate")
    baseline, candidate = arms_of(session)
    name = str(session.experiment["metrics"]["primary"])
    own = [trial for trial in trials if trial.block <= blocks]
    figures = {arm: values_of(found, name) for arm, found in valid_trials(own).items()}
    why = unequal(own, candidate, baseline)
    found = estimate(name, candidate, figures.get(candidate, {}), figures.get(baseline, {}), why)
    better: Better = metric(name).better
    verdict = decide(found, better, terms.margin, terms.floor, LOOK_LEVEL, LOOK_LEVEL / 2)
    later = [look for look in terms.looks if look > blocks]
    calls = ("regression",) if terms.confirms is not None else ("pass", "regression")
    if verdict.outcome in calls:
        stops: str | None = "it is decided"
    elif not later:
        stops = LAST
    elif why is not None:
        stops = "no further pair cures that"
    elif 2 * found.n < blocks:
        stops = f"only {found.n} of {count(blocks, 'pair')} could be used, and more of the same would tell no more"
    else:
        stops = _too_long(own, later[0], terms.seconds) or _in_vain(found, better, terms.margin, later[-1])
    return Look(blocks, found, verdict, stops)


def out_of_time(session: Session, trials: Sequence[Trial]) -> bool:
    """Whether one pair more, first or repeated, would no longer end within the time of a gate's session, going by
    those that have ended; of a session that confirms its own."""
    seconds = session.gate.seconds if session.gate is not None else None
    pairs = {(trial.block, trial.attempt) for trial in trials}
    if seconds is None or not pairs:
        return False
    spent = seconds_of(trials)
    return spent + spent / len(pairs) > seconds * OVERTIME


def looks_of(session: Session, trials: Sequence[Trial]) -> list[Look]:
    """The looks of a session that has ended, in their order."""
    last = max((trial.block for trial in trials), default=0)
    places = session.gate.looks if session.gate is not None else []
    return [look_at(session, trials, place) for place in places if place <= last]


def _too_long(trials: Sequence[Trial], blocks: int, seconds: float | None) -> str | None:
    """Whether the pairs up to the next look would take longer than there is."""
    if seconds is None:
        return None
    expected = seconds_of(trials) / max(1, len({trial.block for trial in trials})) * blocks
    if expected <= seconds * OVERTIME:
        return None
    return (
        f"{count(blocks, 'pair')} would take {format_duration(expected)}, more than the time that was given"
    )


def _in_vain(found: Estimate, better: Better, margin: float, last: int) -> str | None:
    """Whether hardly anything can be decided at the last look any more, whatever of three is true: no harm, a harm as
    large as the margin, or what was seen."""
    core = paired([math.log(ratio) for ratio in found.ratios])
    if core is None or core.tied:
        return None
    sign = 1 if better == "lower" else -1
    limit = math.log1p(margin) if better == "lower" else -math.log1p(-margin)
    chance = max(_chance(core, sign, limit, last, truth) for truth in (0.0, limit, sign * core.mean))
    if chance >= FUTILE:
        return None
    return f"more pairs would decide it with a chance of {percent(chance, 0)} at most"


def _chance(core: Paired, sign: int, limit: float, last: int, truth: float) -> float:
    """Chance of a pass or a regression at the last look, given what was seen and its spread (conditional power: Lan,
    Simon and Halperin, Sequential Analysis, 1982)."""
    left = max(1, last - core.n)
    total = core.n + left
    half = t_quantile(1 - LOOK_LEVEL / 2, total - 1) * core.sd / math.sqrt(total)
    center = (core.n * sign * core.mean + left * truth) / total
    spread = core.sd * math.sqrt(left) / total
    passes = float(scipy.special.ndtr((limit - half - center) / spread))
    called = float(scipy.special.ndtr((center - max(half, limit / 2)) / spread))
    return passes + called
