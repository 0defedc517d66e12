# SPDX-License-Identifier: Apache-2.0
"""The gate: pass, regression or inconclusive, from one estimate (docs/explanation/gate.md)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from steelyard.analysis.findings import with_voids
from steelyard.analysis.paired import LEVEL, PairedTest, fraction_of, paired_test, sign_flip_p
from steelyard.errors import BadInput
from steelyard.results.analysis import Estimate
from steelyard.results.figures import beside_margin, count, margin_text, percent
from steelyard.results.gate import Outcome

Better = Literal["higher", "lower", "neither"]
_MORE = ": run more blocks"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate answers, with its figures."""

    outcome: Outcome
    text: str
    """The figures, after the metric where there is one."""
    advice: str = ""
    """What would help, for those who can still do it."""
    metric: str | None = None
    """Which the text is about; None: it is about something else."""

    @property
    def sentence(self) -> str:
        """All of it in one sentence."""
        return f"{self.outcome}: {self.finding(self.metric or '')}{self.advice}."

    def finding(self, label: str) -> str:
        """The figures, of a metric under this label."""
        return f"{label}{self.text}" if self.metric is not None else self.text


def decide(
    estimate: Estimate,
    better: Better,
    margin: float,
    level: float = LEVEL,
    passing: float = LEVEL,
) -> Verdict:
    """Judge one estimate of a candidate against the baseline.

    pass: the one-sided 95 % upper bound of the harm is below the margin. regression: else, the whole 95 % interval
    lies on the harmful side and the point estimate is at least half the margin. Both need a permutation of signs to
    agree (`_agrees`). inconclusive: everything else, every estimate whose trials are void, or not steady, clearly
    unequally often, and every one that the void trials, left in, would change or may change. (95 % each is `level` and
    `passing`.)

    Args:
        estimate: candidate / baseline.
        better: direction of the metric.
        margin: tolerated harm as a fraction, for example 0.03.
        level: of the two-sided test for a regression.
        passing: of the one-sided bound of the harm.

    Raises:
        BadInput: the margin is not between 0 and 1, or the metric has no harmful direction.
    """
    if not 0 < margin < 1:
        raise BadInput(
            f"a margin of {margin:g} makes no sense: give a fraction between 0 and 1, such as 0.03"
        )
    if better == "neither":
        raise BadInput(f"{estimate.metric} has no better direction: gate on another metric")
    if estimate.unequal is not None:
        return Verdict("inconclusive", estimate.unequal)
    return _weigh(estimate, better, margin, (level, passing))


def _weigh(estimate: Estimate, better: Better, margin: float, levels: tuple[float, float]) -> Verdict:
    level, _ = levels
    logs = [math.log(ratio) for ratio in estimate.ratios]
    core = paired_test(logs, level)
    if core is None:
        usable = count(len(estimate.ratios), "usable block")
        return Verdict("inconclusive", f" has {usable}", _MORE, estimate.metric)
    if core.is_tied:
        same = ": every block has the same ratio, so no spread was seen and nothing is ruled out"
        return Verdict("inconclusive", same, metric=estimate.metric)
    verdict = _judge(estimate.metric, logs, core, better, margin, levels)
    unselected = with_voids(estimate, level)
    if verdict.outcome == "inconclusive" or unselected is None:
        return verdict
    left_in = [math.log(ratio) for ratio in estimate.left_in]
    other = _judge(estimate.metric, left_in, unselected, better, margin, levels)
    if other.outcome == verdict.outcome:
        return verdict
    return Verdict(
        "inconclusive",
        f"{verdict.text}, but with the void trials left in it{other.text}: what is void may hang on how it performs",
        metric=estimate.metric,
    )


def _agrees(values: Sequence[float], level: float) -> bool:
    """Whether a permutation of signs finds the mean of values above zero as well, at a one-sided level.

    Where starts of one arm fall into two groups Student's t calls equal arms different in 9 to 13 % at six blocks.
    Fewer blocks than five cannot reach the level by signs alone: there all of them have to agree.
    """
    return sign_flip_p(values) <= max(level, 0.5 ** len(values))


def _confidence(level: float) -> str:
    """1 - level as per cent; half a per cent is not rounded away."""
    return f"{100 * (1 - level):.4g} %"


def _judge(
    name: str,
    logs: Sequence[float],
    core: PairedTest,
    better: Better,
    margin: float,
    levels: tuple[float, float],
) -> Verdict:
    worse = 1 if better == "lower" else -1
    level, passing = levels
    upper = core.bound(worse > 0, passing)
    harm, bound = (worse * fraction_of(value) for value in (core.mean, upper))
    least, most = sorted(worse * fraction_of(value) for value in (core.low, core.high))
    moved = f" is {percent(abs(harm))} {'worse' if harm > 0 else 'better'}"
    limit = math.log1p(worse * margin)
    if bound < margin and _agrees([worse * (limit - log) for log in logs], LEVEL):
        text = (
            f"{moved}; harm of {margin_text(margin)} or more is ruled out ({_confidence(passing)},"
            f" bound {percent(bound)})"
        )
        return Verdict("pass", text, metric=name)
    # By Student's t an interval that excludes zero and a bound beyond the margin put the estimate above half the
    # margin anyway (the bound is less than twice the estimate); the condition is for other intervals.
    if (
        bound >= margin
        and least > 0
        and harm >= margin / 2
        and _agrees([worse * log for log in logs], LEVEL / 2)
    ):
        text = f"{moved}, at least {percent(least)} and up to {percent(most)} ({_confidence(level)} interval)"
        return Verdict("regression", text, metric=name)
    if bound < margin or least > 0:
        text = f"{moved}, but too few blocks agree, so that it may be one start of another kind"
        return Verdict("inconclusive", text, _MORE, name)
    text = (
        f"{moved}, but harm of up to {beside_margin(bound, margin)} cannot be ruled out and the margin is"
        f" {margin_text(margin)}"
    )
    return Verdict("inconclusive", text, _MORE, name)
