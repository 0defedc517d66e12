# SPDX-License-Identifier: Apache-2.0
"""What searches found: a bracket per block, an interval over blocks, a ratio between arms paired by block. Pure.

Every block's search tries much the same values, so that blocks can agree by the grid alone: the interval (Student's
t over the logs of the brackets' middles) is therefore widened by the brackets' mean half width. A search with an open
end says that the edge lies beyond what was tried; leaving it out would keep the blocks with the nearer edges, so its
arm has no interval then.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from steelyard.analysis.estimates import LEAST_SWITCHES, arm_label
from steelyard.analysis.paired import LEVEL, paired_test, ratio_of
from steelyard.analysis.search import SearchState, value_text
from steelyard.analysis.searching import SearchQuestion, limits_text, question_of, steps_of, view_of
from steelyard.measure.formulas import combine_known
from steelyard.measure.requests import THROUGHPUT
from steelyard.results.analysis import SearchComparison, SearchResult, SearchRun, SearchStep
from steelyard.results.figures import change, count, interval, not_ruled_out, number, percent
from steelyard.results.schema import ScheduledTrial, Session, Trial
from steelyard.spec.search import varied_setting


def search_results(session: Session, trials: Sequence[Trial]) -> list[SearchResult]:
    """What the searches of a session found, for each arm; nothing for a session that does not search."""
    question = question_of(session)
    if question is None:
        return []
    baseline = next(arm.name for arm in session.arms if arm.baseline)
    return results_of(question, session.schedule, baseline, trials, lambda arm: arm_label(session, arm))


def results_of(
    question: SearchQuestion,
    schedule: Sequence[ScheduledTrial],
    baseline: str,
    trials: Sequence[Trial],
    label: Callable[[str], str],
) -> list[SearchResult]:
    """What the searches found, for each arm; `label` names an arm for people."""
    places = sorted(schedule, key=lambda place: place.block)
    runs = {
        arm: [run_of(question, place.block, arm, trials) for place in places if place.arm == arm]
        for arm in question.specs
    }
    base = _logs(runs[baseline])
    results = []
    for arm, spec in question.specs.items():
        logs = _logs(runs[arm])
        pooled = _pool(logs.values())
        same_host = spec.host_states == question.specs[baseline].host_states
        result = SearchResult(
            arm=arm,
            varies=varied_setting(question.search, spec),
            runs=runs[arm],
            n=len(logs),
            **pooled._asdict(),
            throughput=_mean_throughput(runs[arm]),
            against=_compare(logs, base, len(question.specs) - 1, few_allowed=same_host)
            if arm != baseline
            else None,
            sentences=[],
        )
        sentences = _SearchWording(question, result, label(arm), label(baseline)).sentences()
        results.append(result.model_copy(update={"sentences": sentences}))
    return results


def run_of(question: SearchQuestion, block: int, arm: str, trials: Sequence[Trial]) -> SearchRun:
    """One search: its steps, its bracket, and how it ended."""
    steps = steps_of(question, trials, block, arm)
    view = view_of(question, arm, steps)
    value, half_width = _stated_value(view)
    return SearchRun(
        block=block,
        arm=arm,
        steps=steps,
        end=view.end,
        passed=view.passed,
        failed=view.failed,
        value=value,
        half_width=half_width,
        throughput=_throughput(view, steps, trials),
        why=view.why,
    )


def _throughput(view: SearchState, steps: Sequence[SearchStep], trials: Sequence[Trial]) -> float | None:
    """Mean throughput of the trials at the load that held the share."""
    held = {step.order for step in steps if step.value == view.held and step.outcome == "measured"}
    rates = [
        trial.metrics.get(THROUGHPUT) for trial in trials if trial.order in held and trial.state == "valid"
    ]
    return combine_known(rates, lambda known: math.fsum(known) / len(known))


def _mean_throughput(runs: Sequence[SearchRun]) -> float | None:
    known = [run.throughput for run in runs if run.throughput]
    return math.exp(math.fsum(map(math.log, known)) / len(known)) if known else None


def _stated_value(view: SearchState) -> tuple[float | None, float | None]:
    """The value of a search that ended with one, and how far the truth may lie from it by the bracket alone (log)."""
    if view.held is not None:
        # To first order CPU time grows in proportion to the load.
        return view.held, abs(view.off)
    if view.end not in ("found", "wide") or view.passed is None or view.failed is None:
        return None, None
    return math.sqrt(view.passed * view.failed), abs(math.log(view.failed / view.passed)) / 2


def _logs(runs: Sequence[SearchRun]) -> dict[int, tuple[float, float]]:
    """log(value) and half width by block; nothing where a block has an open end."""
    if any(run.end == "open" for run in runs):
        return {}
    return {
        run.block: (math.log(run.value), run.half_width)
        for run in runs
        if run.value is not None and run.half_width is not None
    }


class _Pooled(NamedTuple):
    """exp(mean) with its 95 % interval, widened by the brackets' mean half width (log), over blocks; None: too few."""

    value: float | None = None
    low: float | None = None
    high: float | None = None
    half_width: float | None = None


def _pool(brackets: Collection[tuple[float, float]], level: float = LEVEL) -> _Pooled:
    if not brackets:
        return _Pooled()
    logs = [log for log, _ in brackets]
    half = math.fsum(width for _, width in brackets) / len(brackets)
    core = paired_test(logs, level)
    low, high = (ratio_of(core.low - half), ratio_of(core.high + half)) if core else (None, None)
    return _Pooled(math.exp(math.fsum(logs) / len(logs)), low, high, half)


def _compare(
    logs: Mapping[int, tuple[float, float]],
    base: Mapping[int, tuple[float, float]],
    comparisons: int,
    *,
    few_allowed: bool = True,
) -> SearchComparison | None:
    """`few_allowed`: the host is not switched between the two, so that two blocks give an interval."""
    common = sorted(logs.keys() & base.keys())
    ratios = [(logs[block][0] - base[block][0], logs[block][1] + base[block][1]) for block in common]
    pooled = _pool(ratios, LEVEL / comparisons)
    if pooled.value is None:
        return None
    if not few_allowed and len(common) < LEAST_SWITCHES:
        return SearchComparison(n=len(common), ratio=pooled.value, low=None, high=None)
    shown = pooled.low is not None and pooled.high is not None and not pooled.low <= 1 <= pooled.high
    return SearchComparison(
        n=len(common),
        ratio=pooled.value,
        low=pooled.low,
        high=pooled.high,
        comparisons=comparisons,
        beyond_noise=shown,
    )


@dataclass(frozen=True)
class _SearchWording:
    """What was shown of one arm, and nothing beyond it."""

    question: SearchQuestion
    result: SearchResult
    arm: str
    baseline: str

    def sentences(self) -> list[str]:
        texts = (self._value(), self._throughput(), self._ends(), self._against())
        return [text for text in texts if text]

    def _text(self, value: float) -> str:
        return value_text(self.result.varies, value)

    def _value(self) -> str:
        result = self.result
        opened = [run for run in result.runs if run.end == "open"]
        if opened:
            return f"With {self.arm} there is no figure: {self._open(opened)}."
        if result.value is None:
            return f"With {self.arm} no search stated a value."
        if result.low is None or result.high is None:
            return self._one_block()
        low, high, middle = (self._text(value) for value in (result.low, result.high, result.value))
        widened_by = "half of what lies between the last value that passed and the first that failed"
        if self.question.search.hold is not None:
            widened_by = "how far the share measured was off"
        return (
            f"With {self.arm}, {self._goal()} a value between {low} and {high} (middle {middle};"
            f" 95 % CI over {result.n} blocks, widened on either side by {percent(result.half_width)}, {widened_by})."
        )

    def _one_block(self) -> str:
        (run,) = [run for run in self.result.runs if run.value is not None]
        unknown = "one block, so how far another search would differ is not known"
        if run.passed is None or run.failed is None or self.question.search.hold is not None:
            assert run.value is not None
            return f"With {self.arm}, {self._goal()} {self._text(run.value)}: {unknown}."
        passed, failed = (
            f"{self._text(value)} {{}} ({_tally(run, value)})" for value in (run.passed, run.failed)
        )
        return (
            f"With {self.arm}, {passed.format('passed')} and {failed.format('failed')}:"
            f" {self._goal()} a value between them; {unknown}."
        )

    def _open(self, opened: Sequence[SearchRun]) -> str:
        lowered, why = self.question.search.lower is not None, f"({opened[0].why.rstrip('.')})"
        blocks = f"in {len(opened)} of {len(self.result.runs)} blocks"
        if self.question.search.hold is not None:
            return f"{blocks} the share was never reached from both sides {why}"
        passed = [run.passed for run in opened if run.passed is not None]
        failed = [run.failed for run in opened if run.failed is not None]
        parts = []
        if passed:
            parts.append(f"{self._text((max if lowered else min)(passed))} still passed and nothing failed")
        if failed:
            parts.append(f"{self._text((min if lowered else max)(failed))} still failed and nothing passed")
        return f"{blocks} {', elsewhere '.join(parts) or 'every value was in doubt'} {why}"

    def _throughput(self) -> str | None:
        """What was measured at the load that held the share, and how near to it that was."""
        held = [run for run in self.result.runs if run.throughput is not None]
        if not held or self.result.throughput is None:
            return None
        shares = [
            step.share
            for run in held
            for step in run.steps
            if step.value == run.value and step.outcome == "measured" and step.share is not None
        ]
        mean, rate = math.fsum(shares) / len(shares), number(self.result.throughput, 1)
        return (
            f"With {self.arm}, {count(len(shares), 'trial')} at that load used {percent(mean, 1)} of the servers' CPUs"
            f" and served {rate} req/s."
        )

    def _ends(self) -> str | None:
        parts = []
        for end, says in _ENDS.items():
            runs = [run for run in self.result.runs if run.end == end and run.steps]
            if runs:
                why = "; ".join(dict.fromkeys(run.why.rstrip(".") for run in runs))
                parts.append(f"{len(runs)} of {len(self.result.runs)} searches {says} ({why})")
        return f"With {self.arm}, {'; '.join(parts)}." if parts else None

    def _against(self) -> str | None:
        against = self.result.against
        if against is None:
            return None
        subject = (
            f"{_BOUNDED[self.result.varies]} with {self.arm} against {self.baseline}: {change(against.ratio)}"
        )
        if against.low is None or against.high is None:
            blocks = "one block" if against.n == 1 else f"{against.n} blocks"
            return f"{subject} in {blocks}: how much of it is chance is not known."
        several = "simultaneous " if against.comparisons > 1 else ""
        within = f"{interval(against.low, against.high)}, {against.n} blocks, both brackets included"
        text = f"{subject} ({several}95 % CI {within})"
        if against.beyond_noise:
            return f"{text}, beyond noise."
        return f"{text}, within noise: {not_ruled_out(max(against.high - 1, 1 - against.low))}."

    def _goal(self) -> str:
        """What a value has to do, so that the value follows."""
        search, limits = self.question.search, limits_text(self.question.limits)
        if search.hold is not None:
            return f"{percent(search.at)} of the servers' CPUs are used at"
        if search.lower is not None:
            return f"everything lives{f' ({limits})' if limits else ''} down to"
        return f"the limits ({limits}) hold up to"


_ENDS = {
    "wide": "did not come within the resolution and its confirmation",
    "void": "ended with void trials",
    "running": "did not end",
}
_BOUNDED = {"users": "Users", "rate": "Arrivals", "memory": "Memory"}


def _tally(run: SearchRun, value: float) -> str:
    """How the trials at a value went: `2 of 3 trials passed`."""
    judged = [step for step in run.steps if step.value == value and step.outcome != "void"]
    passed = sum(step.outcome == "passed" for step in judged)
    return f"{passed} of {count(len(judged), 'trial')} passed"
