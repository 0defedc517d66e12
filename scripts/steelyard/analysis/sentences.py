# SPDX-License-Identifier: Apache-2.0
"""The wording of honest statements, shared by report and terminal. Pure functions of numbers.

Two rules hold throughout: a ratio never stands without its interval, and "no difference" never without what
could not be ruled out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from steelyard.analysis import figures
from steelyard.analysis.estimates import estimate
from steelyard.analysis.figures import capital, percent
from steelyard.analysis.metrics import metric
from steelyard.analysis.paired import LEVEL, share_interval
from steelyard.experiment.schema import Metrics
from steelyard.results.analysis import Analysis, Estimate, MetricInfo, Summary
from steelyard.results.schema import Session

SURVIVED = "survived"
"""Metric whose mean is a share of trials: counted, not compared by ratios."""


def arm_label(session: Session, arm: str) -> str:
    """An arm in the experiment's words: `JVMs = 4, pages = large`."""
    factors = session.experiment.get("factors", {})
    record = next(one for one in session.arms if one.name == arm)
    told = ((factors.get(name, {}).get("label") or name, level) for name, level in record.levels.items())
    return ", ".join(f"{label} = {level}" for label, level in told)


def beyond_noise(found: Estimate) -> bool:
    """Whether "no difference" is rejected at 5 %, after Holm's correction where the estimate is one of several.

    Never where the trials of the two are void, or not steady, unequally often.
    """
    p = found.p if found.p_holm is None else found.p_holm
    return found.unequal is None and p is not None and p < LEVEL


def weight(found: Estimate) -> str:
    """How much an estimate weighs: `beyond noise`, or `within noise` with what it cannot rule out."""
    if beyond_noise(found):
        return "beyond noise"
    if found.unequal is not None:
        return "inconclusive for its void or unsteady trials"
    if found.cannot_rule_out is None:
        return "too few blocks to say anything"
    limit = f"cannot rule out a difference of up to {percent(found.cannot_rule_out)}"
    if found.p is not None and found.p < LEVEL:
        return f"not beyond noise once all comparisons are counted: {limit}"
    return f"within noise: {limit}"


def effect(found: Estimate, against: str = "") -> str:
    """The change (against a label, where given) with its interval, number of blocks and weight."""
    if found.ratio is None:
        few = f"{figures.count(found.n, 'block')} in common"
        return f"no ratio: {'figures that are not above zero have none' if found.n >= 2 else few}"
    return (
        f"{figures.effect(found)}{against and f' against {against}'}"
        f" (95 % interval {figures.bounds(found)}, {found.n} blocks), {weight(found)}"
    )


def brief(found: Estimate) -> str:
    """The change with its interval alone, where there is one: `+4.6 % (+3.1 to +6.2 %)`."""
    return f"{figures.effect(found)} ({figures.bounds(found)})"


def answer(session: Session, analysis: Analysis) -> list[str]:
    """The answer of a session in two or three sentences made from its numbers.

    First the primary metric: the best arm against the baseline and, over a numeric factor, where it stops
    paying; then the first further metric that the experiment reports; last how far to believe it. A search answers
    with what it found, trials that were to survive with how many did. Before all that: which comparisons show nothing,
    for their trials are void, or not steady, unequally often.
    """
    compared = analysis.estimates.get(analysis.primary, {}).values()
    uneven = [f"Inconclusive: {found.unequal}." for found in compared if found.unequal]
    return [*uneven, *_answer(session, analysis)]


def _answer(session: Session, analysis: Analysis) -> list[str]:
    reader = _Reader(session, analysis)
    if analysis.searches:
        return [*(text for result in analysis.searches for text in result.sentences), reader.belief()]
    if SURVIVED in analysis.summaries:
        return [*reader.survival(), reader.belief()]
    first, arms = reader.primary()
    return [first, *reader.secondary(arms), reader.belief()]


@dataclass(frozen=True)
class _Reader:
    session: Session
    analysis: Analysis

    def primary(self) -> tuple[str, list[str]]:
        """The sentence on the primary metric, and the arms it speaks of."""
        info = metric(self.analysis.primary)
        base = self._label(self.analysis.baseline)
        compared = self.analysis.estimates.get(info.name, {})
        found = {arm: one for arm, one in compared.items() if one.ratio is not None}
        if not found:
            why = f"no arm has two blocks with {info.label} in common with the baseline {base}"
            if any(one.n >= 2 for one in compared.values()):
                why = f"{info.label} has figures that are not above zero, and those have no ratio"
            return f"No answer: {why}.", []
        best = max(found, key=lambda arm: _gain(info, found[arm]))
        name, rank = self._label(best), "lowest" if info.better == "lower" else "highest"
        if _gain(info, found[best]) > 0 and beyond_noise(found[best]):
            turn, arms = self._turn(info, best)
            shown = f"{self._mean(info, best)}, {effect(found[best], base)}{turn}"
            return f"{capital(info.label)} was {rank} with {name}: {shown}.", arms
        worse = [arm for arm, one in found.items() if beyond_noise(one)]
        if worse:
            least = min(worse, key=lambda arm: _gain(info, found[arm]))
            nearest = "" if best == least else f" the nearest, {name}, is at {effect(found[best])};"
            text = (
                f"Nothing was better than {base} in {info.label} beyond noise:{nearest} {self._label(least)} is"
                f" at {effect(found[least])}."
            )
            return text, list(dict.fromkeys([best, least]))
        if len(found) == 1:
            text = f"No difference in {info.label} was beyond noise: {name} against {base} is {effect(found[best])}."
            return text, [best]
        limit = max(one.cannot_rule_out or 0.0 for one in found.values())
        text = (
            f"No difference in {info.label} against {base} was beyond noise: the {rank}, {name}, is"
            f" {brief(found[best])}, and over the {len(found)} comparisons the session cannot rule out"
            f" differences of up to {percent(limit)}."
        )
        return text, [best]

    def survival(self) -> list[str]:
        """How many trials of each arm lived to the end, and what share of all such trials that speaks for."""
        told = []
        for arm, found in self.analysis.summaries[SURVIVED].items():
            lived = round(found.mean * found.n)
            low, high = share_interval(lived, found.n)
            told.append(
                f"With {self._label(arm)}, {lived} of {found.n} trials lived to the end: between {percent(low, 0)} and"
                f" {percent(high, 0)} of all such trials would (exact 95 % interval)."
            )
        return told

    def secondary(self, arms: Sequence[str]) -> list[str]:
        """The sentence on the first further metric that those arms have a ratio of."""
        asked = Metrics.model_validate(self.session.experiment.get("metrics", {}))
        for name in asked.report:
            estimates = self.analysis.estimates.get(name, {})
            shown = [arm for arm in arms if arm in estimates and estimates[arm].ratio is not None]
            if name == self.analysis.primary or not shown:
                continue
            info, base = metric(name), self.analysis.baseline
            first, *others = (f"{self._mean(info, arm)} with {self._label(arm)}" for arm in (base, *shown))
            parts = [f"{told}, {effect(estimates[arm])}" for arm, told in zip(shown, others, strict=True)]
            return [f"{capital(info.label)} was {first}; {'; '.join(parts)}."]
        return []

    def belief(self) -> str:
        """How far to believe the answer."""
        analysis = self.analysis
        parts = [f"{analysis.blocks_complete} of {analysis.blocks_planned} blocks are complete"]
        for trials, one, more in (
            (analysis.void_trials, "was void and is left out", "were void and are left out"),
            (analysis.not_steady_trials, "was not steady", "were not steady"),
        ):
            if trials:
                parts.append(f"{trials} of {analysis.trials} trials {one if trials == 1 else more}")
        compared = {} if analysis.searches else analysis.estimates.get(analysis.primary, {})
        limits = [one.detectable for one in compared.values() if one.detectable is not None]
        if limits:
            label = metric(analysis.primary).label
            parts.append(
                f"a true change of {percent(max(limits))} in {label} would be found in 80 % of such sessions"
            )
        if self.session.quick:
            parts.append("it was a quick session: an indication, not an answer")
        return f"How far to believe it: {'; '.join(parts)}."

    def _turn(self, info: MetricInfo, best: str) -> tuple[str, list[str]]:
        """Where going further along a numeric factor stops paying; and the arms worth speaking of."""
        line = self._line(best)
        if len(line) < 3:
            return "", [best]
        place = line.index(best)
        steps = {arm: self._compare(info.name, best, arm) for arm in line[1:place]}
        for early, step in steps.items():
            if step.ratio is not None and not beyond_noise(step):
                return (
                    f"; it stops paying at {self._label(early)}: from there to {self._label(best)} it is"
                    f" {brief(step)}, {weight(step)}"
                ), [early, best]
        last = steps.get(line[place - 1])
        before = self._label(line[place - 1])
        parts = (
            [f"the step from {before} still brought {brief(last)}"] if last and last.ratio is not None else []
        )
        if place == len(line) - 1:
            parts.append("it still paid at the last level tried")
        else:
            parts += self._step_on(info, best, line[place + 1])
        return (f"; {', and '.join(parts)}" if parts else ""), [best]

    def _step_on(self, info: MetricInfo, best: str, beyond: str) -> list[str]:
        """What the step beyond the best arm does; nothing where they have too few blocks in common."""
        step = self._compare(info.name, beyond, best)
        if step.ratio is None:
            return []
        end = "is worse" if beyond_noise(step) else f"adds nothing that shows, {weight(step)}"
        return [f"the step on to {self._label(beyond)}, {brief(step)}, {end}"]

    def _line(self, best: str) -> list[str]:
        """Arms from the baseline through the best one to the end of a single numeric factor; else nothing."""
        levels = {arm.name: list(arm.levels.values()) for arm in self.session.arms}
        if not all(len(values) == 1 and type(values[0]) in (int, float) for values in levels.values()):
            return []
        shown = self.analysis.summaries.get(self.analysis.primary, {})
        ordered = sorted((arm for arm in levels if arm in shown), key=lambda arm: float(levels[arm][0]))
        start, end = ordered.index(self.analysis.baseline), ordered.index(best)
        return ordered[start:] if end >= start else ordered[start::-1]

    def _compare(self, name: str, arm: str, against: str) -> Estimate:
        values, reference = (
            dict(zip(zip(one.blocks, one.rounds, strict=True), one.values, strict=True))
            for one in (self._summary(name, arm), self._summary(name, against))
        )
        return estimate(name, arm, values, reference)

    def _mean(self, info: MetricInfo, arm: str) -> str:
        return figures.with_unit(info, self._summary(info.name, arm).mean)

    def _summary(self, name: str, arm: str) -> Summary:
        return self.analysis.summaries[name][arm]

    def _label(self, arm: str) -> str:
        return arm_label(self.session, arm)


def _gain(info: MetricInfo, found: Estimate) -> float:
    """Log ratio in the direction that is better (the larger the better where neither is)."""
    gain = math.log(found.ratio) if found.ratio is not None else -math.inf
    return -gain if info.better == "lower" else gain
