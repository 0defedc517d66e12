# SPDX-License-Identifier: Apache-2.0
"""Which figures moved together with an effect: in the same comparison, over the same blocks (pure).

A figure is named where its own change between the two arms is beyond noise: Student's t over the blocks of the effect,
at a level that is divided by the number of figures (Bonferroni), so that one of many figures that have nothing to do
with the arm is named in at most 5 % of all lists. Figures are in order of the part of the effect that they go along
with (`share`). That is no cause: what slows an arm moves many figures, and a third thing may move both.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from steelyard.analysis.carry_over import logs_by_place
from steelyard.analysis.estimates import arm_label, values_of
from steelyard.analysis.paired import LEVEL, PairedTest, paired_test, ratio_of
from steelyard.analysis.rounds import Place, valid_trials
from steelyard.analysis.wording import beyond_noise
from steelyard.measure.formulas import Metric
from steelyard.measure.registry import METRICS, metric_info
from steelyard.measure.requests import THROUGHPUT
from steelyard.results import figures
from steelyard.results.analysis import Analysis, Estimate
from steelyard.results.figures import count, percent
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Spec

_OF_ROLES = re.compile(r"of the (servers|databases|services|proxy)")
LEAST_BLOCKS = 2
NAMED = 3
"""Figures that a sentence names; the table of the report has more."""
Values = Mapping[Place, float]


@dataclass(frozen=True, kw_only=True)
class MovedFigure:
    """A figure that moved together with an effect."""

    metric: str
    label: str
    baseline: float
    """Mean over the blocks of the effect, here and in `arm`."""
    arm: float
    ratio: float | None
    """arm / baseline, as the effect's; None: it has zeros."""
    per_second: float | None
    """The same of the count per second, of a figure per 1,000 requests; None: it is none."""
    share: float
    """Part of the squares of the effect over its blocks that is in step with it: 1 where both changed by the same
    multiple of each other in every block, about 1 / blocks where one has nothing to do with the other."""
    p: float
    """Of no change, corrected for all figures that were looked at."""


@dataclass(frozen=True, kw_only=True)
class MovedTogether:
    """What moved together with the effect of an arm on a metric."""

    effect: Estimate
    tested: int
    """Figures that were looked at."""
    figures: Sequence[MovedFigure]
    """Those that moved, by share."""


@dataclass(frozen=True)
class _Candidate:
    """A figure that may have moved; `whose`: of the components of that kind alone."""

    metric: Metric
    whose: str | None

    @property
    def label(self) -> str:
        label = metric_info(self.metric.name).label
        return label if self.whose is None else _OF_ROLES.sub(f"of {self.whose}", label)

    def values(self, trials: Mapping[Place, Trial], spec: Spec) -> Values:
        """By block and round."""
        if self.whose is None:
            return values_of(trials, self.metric.name)
        own = {place: self.metric.add_up(self.whose, trial, spec) for place, trial in trials.items()}
        return {place: value for place, value in own.items() if value is not None}


@dataclass(frozen=True)
class _Tested:
    """A figure over the blocks of an effect."""

    candidate: _Candidate
    base: Sequence[float]
    mine: Sequence[float]
    is_ratio: bool
    changes: Sequence[float]
    """Log ratios of the blocks; of a figure with zeros, which has none, differences."""
    core: PairedTest


def find_moved(session: Session, analysis: Analysis, trials: Sequence[Trial]) -> list[MovedTogether]:
    """What moved with each effect beyond noise: on the primary metric first, then on what the experiment reports."""
    if analysis.searches:
        return []
    asked = session.experiment.metrics
    valid = valid_trials(trials)
    specs = {arm.name: arm.spec for arm in session.arms}
    candidates = list(_candidates(specs.values()))
    values = {
        arm: [candidate.values(valid.get(arm, {}), spec) for candidate in candidates]
        for arm, spec in specs.items()
    }

    def compare(effect: Estimate) -> MovedTogether:
        logs, served = (
            logs_by_place(
                *(_values_of_summary(analysis, name, arm) for arm in (effect.arm, analysis.baseline))
            )
            for name in (effect.metric, THROUGHPUT)
        )
        pairs = zip(candidates, values[effect.arm], values[analysis.baseline], strict=True)
        others = (pair for pair in pairs if pair[0].metric.name != effect.metric)
        tested = [result for pair in others if (result := _test(*pair, [*logs])) is not None]
        rates = [served[place] for place in logs if place in served]
        moved = (_describe(result, [*logs.values()], rates, len(tested)) for result in tested)
        by_share = sorted(filter(None, moved), key=lambda figure: (-figure.share, figure.label))
        return MovedTogether(effect=effect, tested=len(tested), figures=by_share)

    return [
        compare(estimate)
        for name in dict.fromkeys([asked.primary, *asked.report])
        for estimate in analysis.estimates.get(name, {}).values()
        if beyond_noise(estimate)
    ]


def _values_of_summary(analysis: Analysis, name: str, arm: str) -> Values:
    """As the analysis has them: some metrics need the trials of other arms and are in no trial."""
    summary = analysis.summaries.get(name, {}).get(arm)
    return summary.by_place if summary is not None else {}


def _candidates(specs: Collection[Spec]) -> Iterator[_Candidate]:
    for metric in METRICS:
        sorts = dict.fromkeys(part.kind for spec in specs for part in spec.of(*metric.roles))
        if metric.evidence and metric.each is not None and len(sorts) > 1:
            yield from (_Candidate(metric, whose) for whose in sorts)
        elif metric.evidence:
            yield _Candidate(metric, None)


def _test(candidate: _Candidate, mine: Values, base: Values, places: Sequence[Place]) -> _Tested | None:
    """None: it is not known in each of the blocks, or is the same in all."""
    if len(places) < LEAST_BLOCKS or any(place not in mine or place not in base for place in places):
        return None
    arm, baseline = ([values[place] for place in places] for values in (mine, base))
    is_ratio = min(*arm, *baseline) > 0
    pairs = zip(arm, baseline, strict=True)
    changes = [math.log(a / b) if is_ratio else a - b for a, b in pairs]
    core = paired_test(changes)
    if core is None or core.is_tied:
        return None
    return _Tested(candidate, baseline, arm, is_ratio, changes, core)


def _describe(
    figure: _Tested, effects: Sequence[float], rates: Sequence[float], tested: int
) -> MovedFigure | None:
    p = min(1.0, figure.core.p * tested)
    if p >= LEVEL:
        return None
    is_per_1k = figure.candidate.metric.each is not None and figure.is_ratio and len(rates) == len(effects)
    return MovedFigure(
        metric=figure.candidate.metric.name,
        label=figure.candidate.label,
        baseline=fmean(figure.base),
        arm=fmean(figure.mine),
        ratio=ratio_of(figure.core.mean) if figure.is_ratio else None,
        per_second=ratio_of(figure.core.mean + fmean(rates)) if is_per_1k else None,
        share=_share(effects, figure.changes),
        p=p,
    )


def _share(effects: Sequence[float], changes: Sequence[float]) -> float:
    """Squared cosine of the two: what a line through no change explains of the squares of the effect."""
    both = math.fsum(x * y for x, y in zip(effects, changes, strict=True))
    return both**2 / (math.fsum(x * x for x in effects) * math.fsum(y * y for y in changes))


def change_text(figure: MovedFigure) -> str:
    """How far a figure moved: `+12 %`, or from where to where if it has zeros."""
    if figure.ratio is not None:
        return figures.change(figure.ratio)
    info = metric_info(figure.metric)
    return f"{figures.value(info, figure.baseline)} to {figures.with_unit(info, figure.arm)}"


def moved_sentence(session: Session, moved: MovedTogether) -> str:
    """The figures that moved together with an effect, the first few by name."""
    effect = moved.effect
    subject = (
        f"{metric_info(effect.metric).label} of {arm_label(session, effect.arm)} ({figures.effect(effect)})"
    )
    if not moved.figures:
        return f"Moved together with {subject}: none of {count(moved.tested, 'figure')} beyond noise."
    named = [
        f"{figure.label} {change_text(figure)} ({percent(figure.share, 0)} in step)"
        for figure in moved.figures[:NAMED]
    ]
    more = f"; and {len(moved.figures) - NAMED} more" if len(moved.figures) > NAMED else ""
    return f"Moved together with {subject}, over {count(effect.n, 'block')}: {'; '.join(named)}{more}."
