# SPDX-License-Identifier: Apache-2.0
"""What the rules of the ledger are made of: a figure of the trial in its sentence, held against a limit (pure).

What is not known has failed: a figure that is missing or not a number fails its rule. A rule that has nothing to judge
in such a trial (an arrival rate in a closed model, a window in a start-up trial, totals of servers without counters)
does not apply; that is no pass.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from steelyard.experiment.schema import ProcedureName
from steelyard.measure.chance import FALSE_ALARM
from steelyard.measure.formulas import LOAD
from steelyard.results.figures import capital, percent
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.schema import Check
from steelyard.results.spec import Spec

STEADY: tuple[ProcedureName, ...] = ("steady",)
LIVING: tuple[ProcedureName, ...] = ("steady", "ramp-up")
"""Procedures with load in which a death is a fault; in a survive trial it is the result."""
SURVIVE: tuple[ProcedureName, ...] = ("survive",)
RATE_LIMIT = 0.01
"""Largest distance of a rate from another, as a share of that, beyond what chance allows."""
CHANCE = f"{100 * (1 - FALSE_ALARM):g} % CI"
"""What the interval is that chance is given."""
RESULT = "in a `survive` trial more of them are its result: it did not survive"
VOIDS = "explanation/validity.md"
WARM_UP = "explanation/warm-up.md"


class Finding(NamedTuple):
    """What a rule sees: a figure and a sentence."""

    value: float | None
    """None: it should be known and was not measured."""
    detail: str
    limit: float | None = None
    """Where the limit depends on the trial (the mix); else the rule's own."""
    applies: bool = True
    """False: there is nothing to judge in such a trial, or nothing to judge it with."""


Judge = Callable[[TrialMeasurement, Spec], Finding]
Unless = Callable[[Spec], str | None]
"""Why such a trial has nothing to judge; None: it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule of the ledger."""

    name: str
    limit: float
    unit: str
    says: str
    """What passes, for people."""
    judge: Judge
    source: str = VOIDS
    procedures: tuple[ProcedureName, ...] = LOAD
    """To which procedures it applies."""
    voids: bool = True
    answers: tuple[ProcedureName, ...] = ()
    """Procedures of which a figure above the limit is the answer and voids nothing; one that is not known voids."""
    unless: Unless = lambda _spec: None

    def check(self, measurement: TrialMeasurement, spec: Spec) -> Check:
        """Apply the rule. A figure passes up to and including its limit; one that is not known fails."""
        foreign = f"This is no check of {spec.procedure} trials."
        idle = self.unless(spec) if spec.procedure in self.procedures else foreign
        if idle is not None:
            return _not_applicable(self.name, self.limit, self.unit, idle)
        finding = self.judge(measurement, spec)
        limit = self.limit if finding.limit is None else finding.limit
        return Check(
            name=self.name,
            passed=finding.value is not None and finding.value <= limit,
            voids=self.voids
            and finding.applies
            and (finding.value is None or spec.procedure not in self.answers),
            applies=finding.applies,
            value=finding.value,
            limit=limit,
            unit=self.unit,
            detail=finding.detail,
        )


@cache
def _not_applicable(name: str, limit: float, unit: str, detail: str) -> Check:
    """Most rules do not apply to most trials: these checks are equal, and made once."""
    return Check(
        name=name,
        passed=False,
        voids=False,
        applies=False,
        value=None,
        limit=limit,
        unit=unit,
        detail=detail,
    )


def judge_figure(name: str, sentence: str, show: Callable[[float], str], unknown: str) -> Judge:
    """A figure in its sentence as `show` writes it; where it is missing, `unknown` and that it was not measured."""

    def judge(measurement: TrialMeasurement, _: Spec) -> Finding:
        value = measurement.value(name)
        said = capital(sentence.format(unknown if value is None else show(value)))
        return Finding(value, f"{said}: it was not measured." if value is None else f"{said}.")

    return judge


def judge_share(name: str, sentence: str, digits: int = 2) -> Judge:
    """The same for a share, shown as per cent."""
    return judge_figure(name, sentence, lambda value: percent(value, digits), "an unknown share")


def judge_none(name: str, good: str, bad: str) -> Judge:
    """A list of sentences that has to be empty."""

    def judge(measurement: TrialMeasurement, _: Spec) -> Finding:
        sentences = measurement.sentences(name)
        if sentences is None:
            return Finding(None, f"{bad}: that was not recorded.")
        return Finding(float(len(sentences)), f"{bad}: {'; '.join(sentences)}." if sentences else f"{good}.")

    return judge


def in_duet(limit: float, judge: Judge) -> Judge:
    """The same, with another limit where two arms run at once."""

    def judge_duet(measurement: TrialMeasurement, spec: Spec) -> Finding:
        finding = judge(measurement, spec)
        return finding._replace(limit=limit) if spec.duet else finding

    return judge_duet


def require_watched(judge: Judge) -> Judge:
    """The same, unless something was not watched: then a figure within the limit would not be one, and is unknown."""

    def judge_watched(measurement: TrialMeasurement, spec: Spec) -> Finding:
        finding, unwatched = judge(measurement, spec), measurement.sentences("unwatched")
        if not unwatched or finding.value:
            return finding
        return Finding(None, f"{capital('; '.join(unwatched))}.")

    return judge_watched


def judge_distance(
    read: Callable[[TrialMeasurement], tuple[float | None, float | None]], sentence: str, missing: str
) -> Judge:
    """Relative distance of a figure from another; 1 (all of it) where one of the two counted nothing."""

    def judge(measurement: TrialMeasurement, _: Spec) -> Finding:
        value, reference = read(measurement)
        if value is None or reference is None:
            return Finding(None, missing)
        distance = abs(value - reference) / reference if reference else float(value != 0)
        return Finding(distance, sentence.format(value, reference))

    return judge


def needs(has: Callable[[Spec], object], sentence: str) -> Unless:
    """Nothing to judge, as the sentence says, where the spec has not what is needed for it."""
    return lambda spec: None if has(spec) else sentence
