# SPDX-License-Identifier: Apache-2.0
"""The answer of a session in sentences, shared by report and terminal. Pure functions of numbers.

Three rules hold throughout: a ratio never stands without its interval, "no difference" never without what could not be
ruled out, and an arm is called the highest or lowest only where each other one was shown to be below or above it.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

from steelyard.analysis.arm_pairs import compare_arms, valid_values
from steelyard.analysis.best import LOST
from steelyard.analysis.climbs import ramp_up_lead
from steelyard.analysis.estimates import GIVEN, arm_label, few_switches, simultaneous
from steelyard.analysis.findings import (
    EQUAL,
    is_changed_by_voids,
    mostly_unsteady,
    shows_equal,
    void_answer,
)
from steelyard.analysis.owners import parts_of
from steelyard.analysis.paired import arm_levels
from steelyard.analysis.rounds import Place, common
from steelyard.analysis.wording import TIED, beyond_noise, brief, effect, weight
from steelyard.measure.chance import exact_interval
from steelyard.measure.registry import metric_info
from steelyard.results import figures
from steelyard.results.analysis import Analysis, Estimate, MetricInfo
from steelyard.results.figures import capital, percent
from steelyard.results.schema import Session

SURVIVED = "survived"
"""Metric whose mean is a share of trials: counted, not compared by ratios."""

Verdict = Literal["no answer", "no difference", "equal", "worse", "leads", "best"]
"""`equal`: no arm was beyond noise and each was shown to be within `EQUAL` of the baseline; `best`: shown to be better
than every other arm; `leads`: than the baseline, but not than every other arm; `worse`:
nothing is better than the baseline, and some arm is worse."""


class Claim(NamedTuple):
    """What an answer says of the primary metric."""

    verdict: Verdict
    sentence: str
    arms: list[str]
    """Those that the next sentence speaks of; the best or leading one last."""


def answer(session: Session, analysis: Analysis) -> list[str]:
    """The answer of a session in two or three sentences made from its numbers.

    First the primary metric: the best arm against the baseline, and which of the others it is told apart from; then the
    first further metric that the experiment reports; last how far to believe it. A ramp-up begins with when the
    throughput of each arm was there. A search answers with what it found, trials that were to survive with how many
    did. Before all that: which comparisons show nothing, for their trials are void, or not steady, unequally often, and
    which arms were not steady in most of their trials, so that what differs may be how far each had warmed up.
    """
    wording = _AnswerWording(session, analysis)
    estimates = analysis.estimates.get(analysis.primary, {}).values()
    uneven = [f"Inconclusive: {estimate.unequal}." for estimate in estimates if estimate.unequal]
    uneven += [
        f"Inconclusive: what is void may hang on how it performs, and {wording.label_of(estimate)} is"
        f" {void_answer(estimate)}."
        for estimate in estimates
        if not estimate.unequal and is_changed_by_voids(estimate)
    ]
    if not uneven:
        uneven = wording.not_steady()
    if analysis.searches:
        sentences = [text for result in analysis.searches for text in result.sentences]
    elif SURVIVED in analysis.summaries:
        sentences = wording.survival()
    else:
        claim = wording.claim()
        times = ramp_up_lead(session, analysis)
        sentences = [*filter(None, [times]), claim.sentence, *wording.secondary(claim.arms)]
    return [*uneven, *sentences, wording.belief()]


def interim_answer(session: Session, analysis: Analysis, blocks: int) -> str | None:
    """What the blocks so far say of the primary metric, for whoever waits; None: nothing yet.

    Without "beyond noise": who looks after each block, and stops where it is, has more than 5 % of false alarms.
    """
    estimates = analysis.estimates.get(analysis.primary, {})
    known = {arm: estimate for arm, estimate in estimates.items() if estimate.low is not None}
    if not known:
        return None
    label = metric_info(analysis.primary).label
    changes = "; ".join(
        f"{arm_label(session, arm)}: {figures.effect(estimate)} (95 % CI {figures.bounds(estimate)})"
        for arm, estimate in known.items()
    )
    planned = max(place.block for place in session.schedule)
    return f"interim, after {blocks} of {planned} blocks, no verdict before the last: {label}, {changes}"


def primary_claim(session: Session, analysis: Analysis) -> Claim:
    """What the answer of a session says of its primary metric; neither of a search nor of survival."""
    return _AnswerWording(session, analysis).claim()


@dataclass(frozen=True)
class _AnswerWording:
    session: Session
    analysis: Analysis

    def claim(self) -> Claim:
        """What is shown of the primary metric."""
        info = self._info(self.analysis.primary)
        baseline = self._label(self.analysis.baseline)
        estimates = self.analysis.estimates.get(info.name, {})
        ratios = {arm: estimate for arm, estimate in estimates.items() if estimate.ratio is not None}
        if not ratios:
            return self._without_ratios(info, baseline)
        if info.name in self._inputs():
            label = metric_info(info.name).label
            sentence = (
                f"No answer from {label}: the load sets the rate of arrivals, so that {label} is an input and not a"
                f" result ({self._mean(info, self.analysis.baseline)} with {baseline})."
            )
            return Claim("no answer", sentence, self._by_distance(ratios))
        claim = self._compare_arms(info, baseline, ratios)
        missing = [self._label(arm) for arm in estimates if arm not in ratios]
        # How the best arm stands against each other one says that of these as well.
        if missing and claim.verdict in ("worse", "no difference", "equal"):
            claim = claim._replace(sentence=f"{claim.sentence} Nothing can be said of {', '.join(missing)}.")
        return claim

    def _without_ratios(self, info: MetricInfo, baseline: str) -> Claim:
        summaries = self.analysis.summaries
        partly = self.analysis.partly.get(info.name)
        if partly is not None:
            counts = [
                f"{self._label(arm)} reached it in {partly[arm].n if arm in partly else 0} of {lost.n} trials"
                for arm, lost in summaries.get(LOST, {}).items()
                if arm not in summaries.get(info.name, {})
            ]
            # A further metric, which every trial has, is shown instead.
            others = [arm for arm in self.analysis.arms if arm != self.analysis.baseline]
            return Claim("no answer", f"No answer from {info.label}: {', '.join(counts)}.", others)
        why = f"no arm has two blocks with {info.label} in common with the baseline {baseline}"
        if any(estimate.n >= 2 for estimate in self.analysis.estimates.get(info.name, {}).values()):
            why = f"{info.label} has figures that are not above zero, and those have no ratio"
        return Claim("no answer", f"No answer: {why}.", [])

    def _compare_arms(self, info: MetricInfo, baseline: str, ratios: dict[str, Estimate]) -> Claim:
        order = arm_levels({arm: self._values(info.name, arm) for arm in ratios})
        if order.keys() < ratios.keys():
            # Some arm has a figure without a logarithm, in a block that the baseline lacks.
            gains = {arm: _gain(info, estimate) for arm, estimate in ratios.items()}
        else:
            gains = {arm: -level if info.better == "lower" else level for arm, level in order.items()}
        better = [
            arm for arm, estimate in ratios.items() if _gain(info, estimate) > 0 and beyond_noise(estimate)
        ]
        best = max(better or ratios, key=lambda arm: gains[arm])
        name, rank = self._label(best), "lowest" if info.better == "lower" else "highest"
        if better:
            others, equal = self._others(info, best)
            lead = f"The {rank} {info.label} seen was that" if equal else f"{capital(info.label)} was {rank}"
            figure = f"{self._mean(info, best)}, {effect(ratios[best], baseline)}{others}"
            cheaper = [arm for arm in equal if arm in ratios][:1]
            verdict: Verdict = "leads" if equal else "best"
            return Claim(verdict, f"{lead} with {name}: {figure}.", [*cheaper, best])
        worse = [arm for arm, estimate in ratios.items() if beyond_noise(estimate)]
        if worse:
            least = min(worse, key=lambda arm: gains[arm])
            nearest = "" if best == least else f" the nearest, {name}, is at {effect(ratios[best])};"
            sentence = (
                f"Nothing was better than {baseline} in {info.label} beyond noise:{nearest} {self._label(least)} is"
                f" at {effect(ratios[least])}."
            )
            return Claim("worse", sentence, list(dict.fromkeys([best, least])))
        if all(map(shows_equal, ratios.values())):
            return Claim("equal", self._equal(info, baseline, ratios), [best])
        return Claim("no difference", self._no_difference(info, baseline, ratios, best), [best])

    def _equal(self, info: MetricInfo, baseline: str, ratios: dict[str, Estimate]) -> str:
        each = "; ".join(f"{self._label(arm)} {brief(estimate)}" for arm, estimate in ratios.items())
        return (
            f"Equal within ±{percent(EQUAL, 0)} in {info.label}, shown: against {baseline} {each}, 95 % CI."
        )

    def _no_difference(self, info: MetricInfo, baseline: str, ratios: dict[str, Estimate], best: str) -> str:
        name, rank = self._label(best), "lowest" if info.better == "lower" else "highest"
        if len(ratios) == 1:
            return (
                f"No difference in {info.label} was beyond noise: {name} against {baseline} is"
                f" {effect(ratios[best])}."
            )
        if all(map(few_switches, ratios.values())):
            return f"No difference in {info.label} was shown: {name} is {effect(ratios[best], baseline)}."
        return (
            f"No difference in {info.label} against {baseline} was beyond noise: the {rank} seen, {name}, is"
            f" {brief(ratios[best])}, and {self._left_open(ratios)}."
        )

    def _left_open(self, ratios: dict[str, Estimate]) -> str:
        """What several comparisons cannot rule out, and which of them rule out nothing."""
        limits = {
            arm: estimate.cannot_rule_out
            for arm, estimate in ratios.items()
            if estimate.cannot_rule_out is not None and estimate.unequal is None
        }
        others = [arm for arm in ratios if arm not in limits]
        if not limits:
            alike = not any(ratios[arm].unequal or few_switches(ratios[arm]) for arm in others)
            return TIED if alike else "nothing is ruled out"
        of = f"over the {len(limits)} comparisons together"
        if len(limits) == 1:
            of = f"for {self._label(*limits)}"
        elif others:
            of = f"for {', '.join(map(self._label, limits))} together"
        rest = f"; nothing is ruled out for {', '.join(map(self._label, others))}" if others else ""
        return f"{of} {figures.not_ruled_out(max(limits.values()))}{rest}"

    def _others(self, info: MetricInfo, best: str) -> tuple[str, list[str]]:
        """How the best arm stands against each other one, and those that it is not told apart from.

        Bonferroni's correction over all pairs of arms: which of them to look at was chosen after the fact.
        """
        pairs = [self._compare(info.name, *pair) for pair in combinations(self.analysis.arms, 2)]
        tests = sum(estimate.p is not None for estimate in pairs)
        others = self._by_distance(arm for arm in self.analysis.estimates[info.name] if arm != best)
        steps = {arm: simultaneous(self._compare(info.name, best, arm), max(1, tests)) for arm in others}
        equal = [arm for arm, step in steps.items() if not (beyond_noise(step) and _gain(info, step) > 0)]
        texts = [f"against {self._label(arm)} it is {_step(steps[arm])}" for arm in equal[:3]]
        if len(equal) > 3:
            texts.append(f"nor is it told apart from {', '.join(map(self._label, equal[3:]))}")
        if steps and not equal:
            nearest = min(steps, key=lambda arm: _gain(info, steps[arm]))
            texts = [f"against the nearest other, {self._label(nearest)}, it is {_step(steps[nearest])}"]
        levels = self._numbers()
        if len(levels) > 2 and levels[best] in (min(levels.values()), max(levels.values())):
            texts.append("no level beyond it was tried")
        return "".join(f"; {text}" for text in texts), equal

    def _inputs(self) -> Sequence[str]:
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
        sentences = []
        for arm, summary in self.analysis.summaries[SURVIVED].items():
            lived = round(summary.mean * summary.n)
            low, high = exact_interval(lived, summary.n)
            sentences.append(
                f"With {self._label(arm)}, {lived} of {summary.n} trials lived to the end: between"
                f" {percent(low, 0)} and {percent(high, 0)} of all such trials would (exact 95 % CI)."
            )
        return sentences

    def secondary(self, arms: Sequence[str]) -> list[str]:
        """The sentence on the first further metric that those arms have a ratio of."""
        for name in self.session.experiment.metrics.report:
            estimates = self.analysis.estimates.get(name, {})
            compared = [arm for arm in arms if arm in estimates and estimates[arm].ratio is not None]
            if name == self.analysis.primary or name in self._inputs() or not compared:
                continue
            info, baseline = self._info(name), self.analysis.baseline
            first, *others = (
                f"{self._mean(info, arm)} with {self._label(arm)}" for arm in (baseline, *compared)
            )
            parts = [f"{mean}, {effect(estimates[arm])}" for arm, mean in zip(compared, others, strict=True)]
            return [f"{capital(info.label)}: {first}; {'; '.join(parts)}."]
        return []

    def belief(self) -> str:
        """How far to believe the answer."""
        analysis = self.analysis
        parts = [f"{analysis.blocks_complete} of {analysis.blocks_planned} blocks are complete"]
        for trials, singular, plural in (
            (analysis.void_trials, "was void and is left out", "were void and are left out"),
            (analysis.not_steady_trials, "was not steady", "were not steady"),
        ):
            if trials:
                parts.append(f"{trials} of {analysis.trials} trials {singular if trials == 1 else plural}")
        if not analysis.searches:
            parts += self._unequal_trials()
            parts += self._power()
        if self.session.quick:
            parts.append("it was a quick session: an indication, not an answer")
        return f"How far to believe it: {'; '.join(parts)}."

    def not_steady(self) -> list[str]:
        """The sentence on arms that were not steady in most of their trials; none where there are none."""
        by_arm = self.analysis.by_arm
        most = [
            f"{by_arm[arm].not_steady} of {by_arm[arm].trials} trials of {self._label(arm)}"
            for arm in mostly_unsteady(self.analysis)
        ]
        return (
            [f"Not steady: {', '.join(most)}; what differs may be how far each had warmed up."]
            if most
            else []
        )

    def _power(self) -> list[str]:
        """What the session can detect, where nothing was found: an effect that was found stands by its interval, and
        what it takes to be found in most sessions is no doubt about it."""
        estimates = self.analysis.estimates.get(self.analysis.primary, {})
        unresolved = {
            arm: (estimate.detectable_high, estimate.detectable)
            for arm, estimate in estimates.items()
            if not beyond_noise(estimate)
            and estimate.detectable is not None
            and estimate.detectable_high is not None
        }
        if not unresolved:
            return []
        high, seen = max(unresolved.values())
        subject = self._info(self.analysis.primary).label
        if any(map(beyond_noise, estimates.values())):
            subject += f" with {', '.join(map(self._label, unresolved))}"
        basis = "80 % power, spread at its upper 95 % bound"
        if (comparisons := max(estimates[arm].comparisons for arm in unresolved)) > 1:
            basis += f", {comparisons} comparisons corrected"
        if high > figures.DOUBLING:
            return [f"nothing below a doubling (or a halving) of {subject} can be seen ({basis})"]
        basis += f"; {percent(seen)} if the spread seen is the true one"
        return [f"this session can detect changes of {percent(high)} or more in {subject} ({basis})"]

    def _compare(self, name: str, arm: str, against: str) -> Estimate:
        return compare_arms(self.session, self.analysis, name, arm, against)

    def _mean(self, info: MetricInfo, arm: str) -> str:
        """Mean over all valid trials of an arm, as in the tables, and of what it is the sum."""
        mean = figures.with_unit(info, self.analysis.summaries[info.name][arm].mean)
        parts = ", ".join(parts_of(self.analysis, info, arm))
        return f"{mean} ({parts})" if parts else mean

    def _unequal_trials(self) -> list[str]:
        """What has to be said where means that stand beside changes are over other trials than the changes."""
        name = self.analysis.primary
        baseline = self._values(name, self.analysis.baseline)
        for arm, compared in self.analysis.estimates.get(name, {}).items():
            values = self._values(name, arm)
            if compared.ratio is not None and not len(common(values, baseline)) == len(values) == len(
                baseline
            ):
                return [
                    "means are over all valid trials of an arm, a change is over the blocks that both of its arms have"
                ]
        return []

    def _info(self, name: str) -> MetricInfo:
        """What a metric is in this session."""
        return next((info for info in self.analysis.metrics if info.name == name), None) or metric_info(name)

    def _values(self, name: str, arm: str) -> dict[Place, float]:
        return valid_values(self.analysis, name, arm)

    def label_of(self, estimate: Estimate) -> str:
        """The arm of an estimate."""
        return self._label(estimate.arm)

    def _label(self, arm: str) -> str:
        return arm_label(self.session, arm)


def _gain(info: MetricInfo, estimate: Estimate) -> float:
    """Log ratio in the direction that is better (the larger the better where neither is)."""
    gain = math.log(estimate.ratio) if estimate.ratio is not None else -math.inf
    return -gain if info.better == "lower" else gain


def _step(estimate: Estimate) -> str:
    if estimate.ratio is None:
        return f"not compared ({figures.count(estimate.n, 'block')} in common)"
    return f"{brief(estimate)}, {weight(estimate)}"
