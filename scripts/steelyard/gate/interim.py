# SPDX-License-Identifier: Apache-2.0
"""Interim analyses of a gate: what its pairs say at fixed places, and whether it ends there.

Method: docs/explanation/gate.md.

Pure, over a session and its trials; the same for real, resumed and simulated ones. Each analysis asks pass and
regression of one interval (`levels_of`): wholly below the margin, wholly beyond zero. So they call an unchanged build
worse in at most 3 % of sessions, before it is confirmed, and pass one that is worse by the margin in at most 3 %.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import scipy

from steelyard.analysis.carry_over import carry_over_reason, logs_by_place, predecessors
from steelyard.analysis.estimates import carry_over_of, estimate, values_of
from steelyard.analysis.paired import (
    PairedTest,
    detectable_in_sd,
    fraction_of,
    paired_test,
    sd_bound,
    t_quantile,
)
from steelyard.analysis.rounds import ratios_left_in, seconds_of, trials_left_in, unequal, valid_trials
from steelyard.gate.verdict import Better, Verdict, decide
from steelyard.measure.registry import metric_info
from steelyard.results.analysis import Estimate
from steelyard.results.figures import count, percent
from steelyard.results.schema import GateTerms, Session, Trial
from steelyard.session.schedule import OVERTIME
from steelyard.units import format_duration

INTERIM_PAIRS = (6, 10, 20)
"""Pairs after which a gate is analysed, and may end."""
CLOSEST = 4
"""Pairs between the last analysis and the one before it, at least: an analysis two pairs before the end would save less
than it costs, as the level of both is shared."""
LASTS = range(INTERIM_PAIRS[0], INTERIM_PAIRS[-1] + 1, 2)
"""Pairs after which the last interim analysis may be."""
INTERIM_LEVEL = 0.02
"""Two-sided level of each of three analyses, and of one that is followed by another."""
GATE_LEVEL = 0.05
"""Two-sided level of all analyses of a gate that has one or two."""
FUTILE = 0.10
"""Chance of an answer at the last analysis below which going on is futile."""
FLOOR_POWER = 0.99
"""Power at the last analysis for harm as large as the floor: with the confirmation 95 % of such harm is then found."""
DECIDED = "it is decided"
LAST = "it was the last interim analysis"


@dataclass(frozen=True, slots=True)
class InterimAnalysis:
    """What the pairs so far say."""

    blocks: int
    estimate: Estimate
    verdict: Verdict
    stops: str | None
    """Why there is no further one, a phrase; None: there is."""
    level: float
    """Two-sided level of its interval."""


def arms_of(session: Session) -> tuple[str, str]:
    """Baseline and candidate."""
    (baseline,) = (arm.name for arm in session.arms if arm.baseline)
    (candidate,) = (arm.name for arm in session.arms if not arm.baseline)
    return baseline, candidate


def levels_of(interims: Sequence[int]) -> list[float]:
    """Two-sided level of the interval of each interim analysis.

    The last of one or two has what the first leaves of GATE_LEVEL (Bonferroni): 5 %, or 3 % after 2 %. Three have 2 %
    each: they share pairs, so that all hold the truth together in 95 % of gates (simulated: self-check, and
    `bench/sharper_gate.py`; Pocock, Biometrika, 1977).
    """
    before = len(interims) - 1
    return [INTERIM_LEVEL] * before + [max(INTERIM_LEVEL, round(GATE_LEVEL - before * INTERIM_LEVEL, 6))]


def interims_until(pairs: int) -> list[int]:
    """The interim analyses of a gate that has time for so many pairs; none: for too few of them.

    The last one uses the time up, after an even number of pairs (half of them run in each order) and after
    INTERIM_PAIRS[-1] at most.
    """
    last = min(pairs - pairs % 2, INTERIM_PAIRS[-1])
    if last < INTERIM_PAIRS[0]:
        return []
    return [*(place for place in INTERIM_PAIRS if place <= last - CLOSEST), last]


def level_at(terms: GateTerms, blocks: int) -> float:
    """Two-sided level of the analysis after so many blocks."""
    return dict(zip(terms.looks, terms.levels, strict=False)).get(blocks, INTERIM_LEVEL)


def floor_of(sd: float, known_from: int, interims: Sequence[int] = INTERIM_PAIRS) -> float:
    """Smallest harm, as a fraction, that a gate finds with probability FLOOR_POWER at its last interim analysis.

    Args:
        sd: standard deviation of the log ratio of equal pairs.
        known_from: number of pairs that it was estimated from; its upper 95 % bound is taken.
        interims: pairs after which the gate is analysed.
    """
    level = levels_of(interims)[-1]
    change = detectable_in_sd(max(interims), FLOOR_POWER, level) * sd * sd_bound(known_from)
    return fraction_of(change)


def ends_at(session: Session, trials: Sequence[Trial], blocks: int) -> bool:
    """Whether a session ends at the interim analysis after so many blocks, which have all run."""
    return analyse_interim(session, trials, blocks).stops is not None


def analyse_interim(session: Session, trials: Sequence[Trial], blocks: int) -> InterimAnalysis:
    """What the first so many blocks say."""
    terms = session.gate
    if terms is None:
        raise ValueError(f"{session.id} is no gate")
    baseline, candidate = arms_of(session)
    name = session.experiment.metrics.primary
    own = [trial for trial in trials if trial.block <= blocks]
    values = {arm: values_of(valid, name) for arm, valid in valid_trials(own).items()}
    mine, base = values.get(candidate, {}), values.get(baseline, {})
    why = unequal(own, candidate, baseline)
    carried = carry_over_reason(
        logs_by_place(mine, base), candidate, baseline, predecessors(own), carry_over_of(session, own)
    )
    everything = trials_left_in(own, baseline)
    unselected = {side: values_of(everything.get(side, {}), name) for side in (candidate, baseline)}
    left_in = ratios_left_in(unselected[candidate], unselected[baseline], mine, base)
    effect = estimate(name, candidate, mine, base, why or carried, left_in=left_in)
    better: Better = metric_info(name).better
    level = level_at(terms, blocks)
    verdict = decide(effect, better, terms.margin, level, level / 2)
    later = [pairs for pairs in terms.looks if pairs > blocks]
    calls = ("regression",) if terms.confirms is not None else ("pass", "regression")
    if verdict.outcome in calls:
        stops: str | None = DECIDED
    elif not later:
        stops = LAST
    elif why is not None or left_in is None:
        stops = "no further pair cures that"
    elif 2 * effect.n < blocks:
        stops = f"only {effect.n} of {count(blocks, 'pair')} could be used, and more of the same would tell no more"
    else:
        stops = _too_long(own, later[0], terms.seconds) or _futile(effect, better, terms, later[-1])
    return InterimAnalysis(blocks, effect, verdict, stops, level)


def interim_analyses(session: Session, trials: Sequence[Trial]) -> list[InterimAnalysis]:
    """The interim analyses of a session that has ended, in their order."""
    last = max((trial.block for trial in trials), default=0)
    places = session.gate.looks if session.gate is not None else []
    return [analyse_interim(session, trials, place) for place in places if place <= last]


def _too_long(trials: Sequence[Trial], blocks: int, seconds: float | None) -> str | None:
    """Why the pairs up to the next analysis would take longer than there is."""
    if seconds is None:
        return None
    expected = seconds_of(trials) / max(1, len({trial.block for trial in trials})) * blocks
    if expected <= seconds * OVERTIME:
        return None
    return (
        f"{count(blocks, 'pair')} would take {format_duration(expected)}, more than the time that was given"
    )


def _futile(effect: Estimate, better: Better, terms: GateTerms, last: int) -> str | None:
    """Why hardly anything can be decided at the last analysis any more, whatever of three is true: no harm, a harm as
    large as the margin, or what was seen."""
    core = paired_test([math.log(ratio) for ratio in effect.ratios])
    if core is None or core.is_tied:
        return None
    sign, margin, level = 1 if better == "lower" else -1, terms.margin, level_at(terms, last)
    limit = math.log1p(margin) if better == "lower" else -math.log1p(-margin)
    truths = (0.0, limit, sign * core.mean)
    chance = max(_chance(core, sign, limit, last, level, truth) for truth in truths)
    if chance >= FUTILE:
        return None
    return f"more pairs would decide it with a chance of {percent(chance, 0)} at most"


def _chance(core: PairedTest, sign: int, limit: float, last: int, level: float, truth: float) -> float:
    """Chance of a pass or a regression at the last analysis, given the pairs so far and their spread.

    Conditional power: Lan, Simon and Halperin, Sequential Analysis, 1982.
    """
    left = max(1, last - core.n)
    total = core.n + left
    half = t_quantile(1 - level / 2, total - 1) * core.sd / math.sqrt(total)
    center = (core.n * sign * core.mean + left * truth) / total
    spread = core.sd * math.sqrt(left) / total
    passes = float(scipy.special.ndtr((limit - half - center) / spread))
    called = float(scipy.special.ndtr((center - max(half, limit / 2)) / spread))
    return passes + called
