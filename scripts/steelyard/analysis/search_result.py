# SPDX-License-Identifier: Apache-2.0
"""What searches found: a bracket per block, an interval over blocks, a ratio between arms paired by block. Pure.

Every block's search tries much the same values, so that blocks can agree by the grid alone: the interval (Student's
t over the logs of the brackets' middles) is therefore widened by the brackets' mean half width. A search with an open
end says that the edge lies beyond what was tried; leaving it out would keep the blocks with the nearer edges, so its
arm has no interval then.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from steelyard.analysis.figures import change, interval, percent
from steelyard.analysis.labels import arm_label
from steelyard.analysis.paired import paired
from steelyard.analysis.search import View, told
from steelyard.analysis.searching import Question, limits_told, question_of, steps_of, view_of
from steelyard.results.analysis import SearchComparison, SearchResult, SearchRun
from steelyard.results.schema import ScheduledTrial, Session, Trial
from steelyard.spec.search import Varied, varied


def search_results(session: Session, trials: Sequence[Trial]) -> list[SearchResult]:
    """What the searches of a session found, for each arm; nothing for a session that does not search."""
    question = question_of(session)
    if question is None:
        return []
    baseline = next(arm.name for arm in session.arms if arm.baseline)
    return results_of(question, session.schedule, baseline, trials, lambda arm: arm_label(session, arm))


def results_of(
    question: Question,
    schedule: Sequence[ScheduledTrial],
    baseline: str,
    trials: Sequence[Trial],
    label: Callable[[str], str],
) -> list[SearchResult]:
    """What the searches found, for each arm; `label` names an arm for people."""
    found = {
        arm: _Arm(
            varied(question.search, spec),
            [
                run_of(question, place.block, arm, trials)
                for place in sorted(schedule, key=lambda place: place.block)
                if place.arm == arm
            ],
        )
        for arm, spec in question.specs.items()
    }
    results = []
    for arm, one in found.items():
        against = _compare(one, found[baseline]) if arm != baseline else None
        result = _result(arm, one, against)
        sentences = _Wording(question, label, label(baseline)).of(result)
        results.append(result.model_copy(update={"sentences": sentences}))
    return results


def run_of(question: Question, block: int, arm: str, trials: Sequence[Trial]) -> SearchRun:
    """One search: its steps, its bracket, and how it ended."""
    steps = steps_of(question, trials, block, arm)
    view = view_of(question, arm, steps)
    value, half_width = _stated(view)
    return SearchRun(
        block=block,
        arm=arm,
        steps=steps,
        end=view.end,
        passed=view.passed,
        failed=view.failed,
        value=value,
        half_width=half_width,
        why=view.why,
    )


def _stated(view: View) -> tuple[float | None, float | None]:
    """The value of a search that ended with one, and how far the truth may lie from it by the bracket alone (log)."""
    if view.held is not None:
        # To first order CPU time grows in proportion to the load.
        return view.held, abs(view.off)
    if view.end not in ("found", "wide") or view.passed is None or view.failed is None:
        return None, None
    return math.sqrt(view.passed * view.failed), abs(math.log(view.failed / view.passed)) / 2


@dataclass(frozen=True)
class _Arm:
    """The searches of one arm, in the order of the blocks."""

    varies: Varied
    runs: list[SearchRun]

    @property
    def stated(self) -> dict[int, tuple[float, float]]:
        """log(value) and half width by block; nothing where a block has an open end."""
        if any(run.end == "open" for run in self.runs):
            return {}
        return {
            run.block: (math.log(run.value), run.half_width)
            for run in self.runs
            if run.value is not None and run.half_width is not None
        }


def _result(arm: str, one: _Arm, against: SearchComparison | None) -> SearchResult:
    stated = list(one.stated.values())
    half = math.fsum(width for _, width in stated) / len(stated) if stated else None
    low, high = _interval([value for value, _ in stated], half or 0.0)
    return SearchResult(
        arm=arm,
        varies=one.varies,
        runs=one.runs,
        n=len(stated),
        value=math.exp(math.fsum(value for value, _ in stated) / len(stated)) if stated else None,
        low=low,
        high=high,
        half_width=half,
        against=against,
        sentences=[],
    )


def _compare(one: _Arm, baseline: _Arm) -> SearchComparison | None:
    common = one.stated.keys() & baseline.stated.keys()
    if not common:
        return None
    pairs = [(one.stated[block], baseline.stated[block]) for block in sorted(common)]
    logs = [value - base for (value, _), (base, _) in pairs]
    half = math.fsum(width + base for (_, width), (_, base) in pairs) / len(pairs)
    low, high = _interval(logs, half)
    return SearchComparison(n=len(pairs), ratio=math.exp(math.fsum(logs) / len(logs)), low=low, high=high)


def _interval(logs: Sequence[float], half: float) -> tuple[float | None, float | None]:
    """95 % interval of exp(mean), widened by the brackets' half width; None with fewer than two blocks."""
    core = paired(logs)
    return (math.exp(core.low - half), math.exp(core.high + half)) if core else (None, None)


@dataclass(frozen=True)
class _Wording:
    question: Question
    label: Callable[[str], str]
    baseline: str

    def of(self, result: SearchResult) -> list[str]:
        """What was shown, and nothing beyond it."""
        parts = [self._value(result), self._ends(result), self._against(result)]
        return [part for part in parts if part]

    def _value(self, result: SearchResult) -> str:
        opened = [run for run in result.runs if run.end == "open"]
        if opened:
            return f"With {self.label(result.arm)} there is no figure: {self._open(result, opened)}."
        if result.value is None:
            return f"With {self.label(result.arm)} no search stated a value."
        if result.low is None or result.high is None:
            return self._one_block(result)
        half = percent(result.half_width or 0.0)
        low, high, middle = (told(result.varies, value) for value in (result.low, result.high, result.value))
        return (
            f"With {self.label(result.arm)}, {self._goal()} a value between {low} and {high} (middle {middle};"
            f" 95 % interval over {result.n} blocks, widened on either side by {half}, half"
            " of what lies between the last value that passed and the first that failed)."
        )

    def _one_block(self, result: SearchResult) -> str:
        (run,) = [run for run in result.runs if run.value is not None]
        assert run.value is not None
        unknown = "one block, so how far another search would differ is not known"
        if self.question.search.hold is not None:
            return (
                f"With {self.label(result.arm)}, {self._goal()} {told(result.varies, run.value)}: {unknown}."
            )
        assert run.passed is not None
        assert run.failed is not None
        passed, failed = _tally(run, run.passed), _tally(run, run.failed)
        return (
            f"With {self.label(result.arm)}, {told(result.varies, run.passed)} passed ({passed}) and"
            f" {told(result.varies, run.failed)} failed ({failed}): {self._goal()} a value between them; {unknown}."
        )

    def _open(self, result: SearchResult, opened: Sequence[SearchRun]) -> str:
        blocks = f"in {len(opened)} of {len(result.runs)} blocks"
        passed = [run.passed for run in opened if run.passed is not None]
        failed = [run.failed for run in opened if run.failed is not None]
        said = []
        if passed:
            edge = max(passed) if self.question.search.lower else min(passed)
            said.append(f"{told(result.varies, edge)} still passed and nothing failed")
        if failed:
            edge = min(failed) if self.question.search.lower else max(failed)
            said.append(f"{told(result.varies, edge)} still failed and nothing passed")
        if self.question.search.hold is not None:
            return f"{blocks} the share was never reached from both sides ({opened[0].why.rstrip('.')})"
        return f"{blocks} {', elsewhere '.join(said) or 'every value was in doubt'} ({opened[0].why.rstrip('.')})"

    def _ends(self, result: SearchResult) -> str | None:
        ends: Mapping[str, str] = {
            "wide": "did not come within the resolution and its confirmation",
            "void": "ended with void trials",
            "running": "did not end",
        }
        parts = []
        for end, says in ends.items():
            runs = [run for run in result.runs if run.end == end and run.steps]
            if runs:
                why = "; ".join(dict.fromkeys(run.why.rstrip(".") for run in runs))
                parts.append(f"{len(runs)} of {len(result.runs)} searches {says} ({why})")
        return f"With {self.label(result.arm)}, {'; '.join(parts)}." if parts else None

    def _against(self, result: SearchResult) -> str | None:
        found = result.against
        if found is None:
            return None
        what = f"{_BOUNDED[result.varies]} with {self.label(result.arm)} against {self.baseline}: {change(found.ratio)}"
        if found.low is None or found.high is None:
            return f"{what} in one block: how much of it is chance is not known."
        said = f"{what} (95 % interval {interval(found.low, found.high)}, {found.n} blocks, both brackets included)"
        if found.low > 1 or found.high < 1:
            return f"{said}, beyond noise."
        limit = max(found.high - 1, 1 - found.low)
        return f"{said}, within noise: cannot rule out a difference of up to {percent(limit)}."

    def _goal(self) -> str:
        """What a value has to do, so that the value follows."""
        search, limits = self.question.search, limits_told(self.question.limits)
        if search.hold is not None:
            return f"{percent(search.at or 0.0)} of the servers' CPUs are used at"
        if search.lower is not None:
            return f"everything lives{f' ({limits})' if limits else ''} down to"
        return f"the limits ({limits}) hold up to"


_BOUNDED = {"users": "Users", "rate": "Arrivals", "memory": "Memory"}


def _tally(run: SearchRun, value: float) -> str:
    """How the trials at a value went: `2 of 3 trials passed`."""
    judged = [step for step in run.steps if step.value == value and step.outcome != "void"]
    passed = sum(step.outcome == "passed" for step in judged)
    return f"{passed} of {len(judged)} trial{'s' * (len(judged) != 1)} passed"
