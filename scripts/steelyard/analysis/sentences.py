# SPDX-License-Identifier: Apache-2.0
"""The wording of honest statements, shared by report and terminal. Pure functions of numbers.

Three rules hold throughout: a ratio never stands without its interval, "no difference" never without what could not be
ruled out, and an arm is called the highest or lowest only where each other one was shown to be below or above it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from steelyard.analysis.best import LOST
from steelyard.analysis.estimates import (
    GIVEN,
    LEAST_SWITCHES,
    arm_label,
    estimate,
    few_switches,
    needs_switch,
    simultaneous,
)
from steelyard.analysis.owners import parts_of
from steelyard.analysis.paired import LEVEL, standing
from steelyard.analysis.rounds import Place, common
from steelyard.experiment.schema import Metrics
from steelyard.measure.chance import exact_interval
from steelyard.measure.registry import metric_info
from steelyard.results import figures
from steelyard.results.analysis import Analysis, Estimate, MetricInfo
from steelyard.results.figures import capital, percent
from steelyard.results.schema import Session

SURVIVED = "survived"
"""Metric whose mean is a share of trials: counted, not compared by ratios."""
TIED = "every block gave just that: no spread was seen, so there is no interval, and chance is not ruled out"


def beyond_noise(found: Estimate) -> bool:
    """Whether "no difference" is rejected at 5 %, Bonferroni's correction for its family included: just where the
    interval leaves it out.

    Never where the trials of the two are void, or not steady, unequally often.
    """
    return found.unequal is None and found.p_adjusted is not None and found.p_adjusted < LEVEL


def weight(found: Estimate) -> str:
    """How much an estimate weighs: `beyond noise`, or `within noise` with what it cannot rule out."""
    if beyond_noise(found):
        return "beyond noise"
    if found.unequal is not None:
        return "inconclusive for its void or unsteady trials"
    if few_switches(found) and found.n >= 2:
        return f"too few switches of the host for an interval, which needs {LEAST_SWITCHES} to each state"
    if found.cannot_rule_out is None:
        return "too few blocks to say anything" if found.n < 2 else TIED
    return f"within noise: {figures.not_ruled_out(found.cannot_rule_out)}"


def effect(found: Estimate, against: str = "") -> str:
    """The change (against a label, where given) with its interval, number of blocks and weight."""
    if found.ratio is None:
        few = f"{figures.count(found.n, 'block')} in common"
        return f"no ratio: {'figures that are not above zero have none' if found.n >= 2 else few}"
    changed = f"{figures.effect(found)}{against and f' against {against}'}"
    several = "simultaneous " * (found.comparisons > 1)
    spread = f"{several}95 % CI {figures.bounds(found)}, " * (found.low is not None)
    return "; ".join([f"{changed} ({spread}{rests_on(found)}), {weight(found)}", *found.remarks])


def rests_on(found: Estimate) -> str:
    """What a comparison rests on: blocks, or switches of the host where its arms want different states."""
    if found.switches is None:
        return f"{found.n} blocks"
    return f"{found.switches} switch{'es' * (found.switches != 1)} of the host to each state"


def brief(found: Estimate) -> str:
    """The change with its interval alone: `+4.6 % (+3.1 to +6.2 %)`."""
    return f"{figures.effect(found)} ({figures.bounds(found) or 'no interval'})"


def answer(session: Session, analysis: Analysis) -> list[str]:
    """The answer of a session in two or three sentences made from its numbers.

    First the primary metric: the best arm against the baseline, and which of the others it is told apart from; then the
    first further metric that the experiment reports; last how far to believe it. A search answers with what it found,
    trials that were to survive with how many did. Before all that: which comparisons show nothing, for their trials are
    void, or not steady, unequally often.
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
        info = self._info(self.analysis.primary)
        base = self._label(self.analysis.baseline)
        compared = self.analysis.estimates.get(info.name, {})
        found = {arm: one for arm, one in compared.items() if one.ratio is not None}
        if not found:
            why = f"no arm has two blocks with {info.label} in common with the baseline {base}"
            if any(one.n >= 2 for one in compared.values()):
                why = f"{info.label} has figures that are not above zero, and those have no ratio"
            if (some := self.analysis.partly.get(info.name)) is not None:
                whole, every = (self.analysis.summaries.get(name, {}) for name in (info.name, LOST))
                told = (
                    f"{self._label(arm)} came to it in {some[arm].n if arm in some else 0} of {one.n} trials"
                    for arm, one in every.items()
                    if arm not in whole
                )
                # A further metric, which every trial has, is told instead.
                others = [arm for arm in self.analysis.arms if arm != self.analysis.baseline]
                return f"No answer from {info.label}: {', '.join(told)}.", others
            return f"No answer: {why}.", []
        if info.name in self._given():
            text = (
                f"No answer from {metric_info(info.name).label}: arrivals came at a constant rate, so it was given, not"
                f" found ({self._mean(info, self.analysis.baseline)} with {base}); an arm that kept up is no better by"
                " it."
            )
            return text, self._by_distance(found)
        text, arms = self._ranked(info, base, found)
        left_out = [name for arm in compared if arm not in found and (name := self._label(arm)) not in text]
        text += f" Nothing can be said of {', '.join(left_out)}." * bool(left_out)
        return text, arms

    def _ranked(self, info: MetricInfo, base: str, found: dict[str, Estimate]) -> tuple[str, list[str]]:
        order = standing({arm: self._values(info.name, arm) for arm in found})
        gains = {arm: -order[arm] if info.better == "lower" else order[arm] for arm in found}
        better = [arm for arm, one in found.items() if _gain(info, one) > 0 and beyond_noise(one)]
        best = max(better or found, key=lambda arm: gains[arm])
        name, rank = self._label(best), "lowest" if info.better == "lower" else "highest"
        if better:
            others, level = self._others(info, best)
            lead = f"The {rank} {info.label} seen was that" if level else f"{capital(info.label)} was {rank}"
            shown = f"{self._mean(info, best)}, {effect(found[best], base)}{others}"
            cheaper = [arm for arm in level if arm in found][:1]
            return f"{lead} with {name}: {shown}.", [*cheaper, best]
        worse = [arm for arm, one in found.items() if beyond_noise(one)]
        if worse:
            least = min(worse, key=lambda arm: gains[arm])
            nearest = "" if best == least else f" the nearest, {name}, is at {effect(found[best])};"
            text = (
                f"Nothing was better than {base} in {info.label} beyond noise:{nearest} {self._label(least)} is"
                f" at {effect(found[least])}."
            )
            return text, list(dict.fromkeys([best, least]))
        if len(found) == 1:
            return (
                f"No difference in {info.label} was beyond noise: {name} against {base} is {effect(found[best])}.",
                [best],
            )
        if all(map(few_switches, found.values())):
            return f"No difference in {info.label} was shown: {name} is {effect(found[best], base)}.", [best]
        limits = [one.cannot_rule_out for one in found.values() if one.cannot_rule_out is not None]
        left = (
            f"over the {len(found)} comparisons together {figures.not_ruled_out(max(limits))}"
            if limits
            else TIED
        )
        text = (
            f"No difference in {info.label} against {base} was beyond noise: the {rank} seen, {name}, is"
            f" {brief(found[best])}, and {left}."
        )
        return text, [best]

    def _others(self, info: MetricInfo, best: str) -> tuple[str, list[str]]:
        """How the best arm stands against each other one, and those that it is not told apart from.

        Bonferroni's correction over all pairs of arms: which of them to look at was chosen after the fact.
        """
        pairs = {pair: self._compare(info.name, *pair) for pair in combinations(self.analysis.arms, 2)}
        tested = sum(one.p is not None for one in pairs.values())
        others = self._by_distance(arm for arm in self.analysis.estimates[info.name] if arm != best)
        steps = {arm: simultaneous(self._compare(info.name, best, arm), max(1, tested)) for arm in others}
        level = [arm for arm, step in steps.items() if not (beyond_noise(step) and _gain(info, step) > 0)]
        told = [f"against {self._label(arm)} it is {_step(steps[arm])}" for arm in level[:3]]
        if len(level) > 3:
            told.append(f"nor is it told apart from {', '.join(map(self._label, level[3:]))}")
        if steps and not level:
            nearest = min(steps, key=lambda arm: _gain(info, steps[arm]))
            told = [f"against the nearest other, {self._label(nearest)}, it is {_step(steps[nearest])}"]
        levels = self._numbers()
        if len(levels) > 2 and levels[best] in (min(levels.values()), max(levels.values())):
            told.append("no level beyond it was tried")
        return "".join(f"; {text}" for text in told), level

    def _given(self) -> Sequence[str]:
        """Metrics that the load decides, not the servers."""
        return GIVEN if any(arm.spec.load.model == "open" for arm in self.session.arms) else ()

    def _numbers(self) -> dict[str, float]:
        """Level of each arm, where there is a single numeric factor; else nothing."""
        levels = {arm.name: list(arm.levels.values()) for arm in self.session.arms}
        single = all(len(values) == 1 and type(values[0]) in (int, float) for values in levels.values())
        return {arm: float(values[0]) for arm, values in levels.items()} if single else {}

    def _by_distance(self, arms: Iterable[str]) -> list[str]:
        """Arms from the baseline outwards along a numeric factor; else in their own order."""
        levels = self._numbers()
        start = levels.get(self.analysis.baseline, 0.0)
        return sorted(arms, key=lambda arm: abs(levels.get(arm, start) - start))

    def survival(self) -> list[str]:
        """How many trials of each arm lived to the end, and what share of all such trials that speaks for."""
        told = []
        for arm, found in self.analysis.summaries[SURVIVED].items():
            lived = round(found.mean * found.n)
            low, high = exact_interval(lived, found.n)
            told.append(
                f"With {self._label(arm)}, {lived} of {found.n} trials lived to the end: between {percent(low, 0)} and"
                f" {percent(high, 0)} of all such trials would (exact 95 % CI)."
            )
        return told

    def secondary(self, arms: Sequence[str]) -> list[str]:
        """The sentence on the first further metric that those arms have a ratio of."""
        asked = Metrics.model_validate(self.session.experiment.get("metrics", {}))
        for name in asked.report:
            estimates = self.analysis.estimates.get(name, {})
            shown = [arm for arm in arms if arm in estimates and estimates[arm].ratio is not None]
            if name == self.analysis.primary or name in self._given() or not shown:
                continue
            info, base = self._info(name), self.analysis.baseline
            first, *others = (f"{self._mean(info, arm)} with {self._label(arm)}" for arm in (base, *shown))
            parts = [f"{told}, {effect(estimates[arm])}" for arm, told in zip(shown, others, strict=True)]
            return [f"{capital(info.label)}: {first}; {'; '.join(parts)}."]
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
        parts += self._unpaired(
            analysis.primary, (arm for arm, one in compared.items() if one.ratio is not None)
        )
        parts += self._power()
        if self.session.quick:
            parts.append("it was a quick session: an indication, not an answer")
        return f"How far to believe it: {'; '.join(parts)}."

    def _power(self) -> list[str]:
        """What the session can detect, where nothing was found: an effect that was found stands by its interval, and
        what it takes to be found in most sessions is no doubt about it."""
        compared = {} if self.analysis.searches else self.analysis.estimates.get(self.analysis.primary, {})
        open_ones = {
            arm: (one.detectable_high, one.detectable)
            for arm, one in compared.items()
            if not beyond_noise(one) and one.detectable is not None and one.detectable_high is not None
        }
        if not open_ones:
            return []
        high, seen = max(open_ones.values())
        label = self._info(self.analysis.primary).label
        several = max(compared[arm].comparisons for arm in open_ones)
        many = f", {several} comparisons corrected" * (several > 1)
        shown = any(beyond_noise(one) for one in compared.values())
        of = f" with {', '.join(map(self._label, open_ones))}" * shown
        bound = f"80 % power, spread at its upper 95 % bound{many}"
        if high > figures.DOUBLING:
            return [f"nothing below a doubling (or a halving) of {label}{of} can be seen ({bound})"]
        by_seen = f"{percent(seen)} if the spread seen is the true one"
        return [
            f"this session can detect changes of {percent(high)} or more in {label}{of} ({bound}; {by_seen})"
        ]

    def _compare(self, name: str, arm: str, against: str) -> Estimate:
        """What is inconclusive against the baseline is so against any other arm."""
        known = self.analysis.estimates[name]
        why = next(
            (known[one].unequal for one in (arm, against) if one in known and known[one].unequal), None
        )
        values = self._values(name, arm), self._values(name, against)
        return estimate(name, arm, *values, why, switched=needs_switch(self.session, arm, against))

    def _mean(self, info: MetricInfo, arm: str) -> str:
        """Mean over all valid trials of an arm, as in the tables, and of what it is the sum."""
        told = figures.with_unit(info, self.analysis.summaries[info.name][arm].mean)
        parts = ", ".join(parts_of(self.analysis, info, arm))
        return f"{told} ({parts})" if parts else told

    def _unpaired(self, name: str, arms: Iterable[str]) -> list[str]:
        """What has to be said where means that stand beside changes are over other trials than the changes."""
        base = self._values(name, self.analysis.baseline)
        pairs = [self._values(name, arm) for arm in arms]
        if all(len(common(values, base)) == len(values) == len(base) for values in pairs):
            return []
        return [
            "means are over all valid trials of an arm, a change is over the blocks that both of its arms have"
        ]

    def _info(self, name: str) -> MetricInfo:
        """What a metric is in this session."""
        return next((info for info in self.analysis.metrics if info.name == name), None) or metric_info(name)

    def _values(self, name: str, arm: str) -> dict[Place, float]:
        found = self.analysis.summaries[name].get(arm)
        return (
            dict(zip(zip(found.blocks, found.rounds, strict=True), found.values, strict=True))
            if found
            else {}
        )

    def _label(self, arm: str) -> str:
        return arm_label(self.session, arm)


def _gain(info: MetricInfo, found: Estimate) -> float:
    """Log ratio in the direction that is better (the larger the better where neither is)."""
    gain = math.log(found.ratio) if found.ratio is not None else -math.inf
    return -gain if info.better == "lower" else gain


def _step(found: Estimate) -> str:
    if found.ratio is None:
        return f"not compared ({figures.count(found.n, 'block')} in common)"
    return f"{brief(found)}, {weight(found)}"
