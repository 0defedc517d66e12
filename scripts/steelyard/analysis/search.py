# SPDX-License-Identifier: Apache-2.0
"""One search: from the trials that it has made to the value that comes next, or to how it ended. Pure.

For `raise` and `lower` a trial passes or fails, and near the edge chance decides which. The edge lies where the fewest
trials contradict it: a contradiction is a failure on the side that should pass, or a pass on the side that should
fail. Were a trial misleading with probability e wherever the edge is, this is the most likely edge and each further
contradiction makes a place (1 - e) / e times less likely, as in probabilistic bisection (Horstein, IEEE Transactions
on Information Theory, 1963). A side of the bracket is believed once every edge beyond it would contradict
`confirm` + 1 trials more (a sequential test: Wald, Annals of Mathematical Statistics, 1945). So a clean search confirms
each side by `confirm` further fresh starts; a trial that contradicts the others puts its value in doubt, and fresh
starts at that value settle it. Far from the edge steps double; between two edges they bisect on the log scale.

For `hold` the share of the CPU is a root search over the load, on the log scale of both: by proportion until there is
a value on either side, then regula falsi kept off the ends of the bracket.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from steelyard.experiment.schema import Search
from steelyard.results.analysis import SearchStep
from steelyard.results.figures import count
from steelyard.spec.search import WHOLE, SearchRange, Varied
from steelyard.units import format_size

End = Literal["found", "wide", "open", "void", "running"]
STEP = 2.0
"""Factor between values until there is one that passes and one that fails."""
HOLD_STEP = 4.0
"""Largest factor between values of a search that holds a share."""
KEPT_OFF = 0.15
"""Regula falsi stays this far, as a part of the bracket, from its ends: else one end may stay for ever."""


_RUNNING = "It has not ended."


@dataclass(frozen=True, slots=True)
class SearchState:
    """Where a search stands."""

    next: float | None
    """The value to try next; None: the search has ended."""
    end: End
    passed: float | None
    """`hold`: the largest value below the share; None, here and below: there is none."""
    failed: float | None
    why: str
    """One sentence: how it ended."""
    held: float | None = None
    """The value that held the share."""
    off: float = 0.0
    """log(measured share / share asked for) there."""


class Bracket(NamedTuple):
    """Between which values the edge lies, by the fewest contradictions."""

    passed: float | None
    failed: float | None
    doubt: list[float]
    """Values inside: as many trials speak for one side as for the other."""
    passed_by: float
    """How many contradictions more an edge beyond the side that passed would have."""
    failed_by: float

    @property
    def sides(self) -> tuple[float, float] | None:
        """Both of them; None where one is missing."""
        return (self.passed, self.failed) if self.passed is not None and self.failed is not None else None

    def view(self, value: float | None, end: End = "running", why: str = _RUNNING) -> SearchState:
        """Where the search stands with these sides."""
        return SearchState(value, end, self.passed, self.failed, why)


def search_state(
    search: Search, where: SearchRange, steps: Sequence[SearchStep], repeats: int
) -> SearchState:
    """Where a search stands after these trials, in order.

    After a void one the same value comes again, for nothing was learnt: at most `repeats` times in a row.
    """
    judged = [step for step in steps if step.outcome != "void"]
    if judged:
        view = _hold_state(search, where, judged) if search.hold else _edge_state(search, where, judged)
    else:
        view = SearchState(tidy(where, where.start), "running", None, None, _RUNNING)
    if view.next is None:
        return view
    voids = len(steps) - 1 - max((i for i, step in enumerate(steps) if step.outcome != "void"), default=-1)
    if voids > repeats:
        row = f"{voids} trials in a row were void" if voids > 1 else "A trial was void"
        why = f"{row} at {value_text(where.varies, steps[-1].value)}: {steps[-1].why}"
        return replace(view, next=None, end="void", why=why)
    if len(steps) >= search.trials:
        end: End = "open" if view.passed is None or view.failed is None else "wide"
        return replace(view, next=None, end=end, why=f"All {search.trials} trials were used.")
    return view


def value_text(varies: Varied, value: float) -> str:
    """A value for people: `310 users`, `31.2 arrivals/s`, `512 MiB`."""
    if varies == "memory":
        return format_size(value)
    if varies == "users":
        return count(round(value), "user")
    return f"{value:,.0f} arrivals/s" if value >= 1000 else f"{value:.4g} arrivals/s"


def tidy(where: SearchRange, value: float) -> float:
    """The nearest value that can be set: whole users, whole MiB, a rate of four digits or a bound of the range."""
    unit = WHOLE.get(where.varies)
    near = round(value / unit) * unit if unit else float(f"{value:.4g}")
    return min(max(near, where.minimum), where.maximum or math.inf)


def bracket(steps: Sequence[SearchStep], falling: bool) -> Bracket:
    """Where the edge lies after these trials, none of them void; `falling`: smaller values are harder."""
    values = sorted({step.value for step in steps}, reverse=falling)
    passes = [sum(step.value == value and step.outcome == "passed" for step in steps) for value in values]
    fails = [sum(step.value == value and step.outcome == "failed" for step in steps) for value in values]
    cost = [sum(fails[:edge]) + sum(passes[edge:]) for edge in range(len(values) + 1)]
    best = min(cost)
    first = cost.index(best)
    last = len(values) - cost[::-1].index(best)
    return Bracket(
        passed=values[first - 1] if first > 0 else None,
        failed=values[last] if last < len(values) else None,
        doubt=values[first:last],
        passed_by=min(cost[:first], default=math.inf) - best,
        failed_by=min(cost[last + 1 :], default=math.inf) - best,
    )


def _edge_state(search: Search, where: SearchRange, steps: Sequence[SearchStep]) -> SearchState:
    falling = search.lower is not None
    sides = bracket(steps, falling)
    need = search.confirm + 1
    middle = _middle(search, where, sides)
    if sides.doubt and (middle is not None or not sides.sides):
        asked = sides.doubt[len(sides.doubt) // 2]
        if sum(step.value == asked for step in steps) < 2 * need:
            return sides.view(asked)
        if sides.sides:
            split = f"Fresh starts at {value_text(where.varies, asked)} passed as often as they failed"
            return sides.view(None, "wide", f"{split}: chance decides there.")
    if not sides.sides:
        return _outwards(where, sides, falling, need)
    if middle is not None:
        return sides.view(middle)
    if min(sides.passed_by, sides.failed_by) >= need:
        return sides.view(None, "found", "Both sides are within the resolution and confirmed.")
    # The weaker side again. Of equally weak ones that which failed: disturbances make trials fail, hardly ever pass.
    return sides.view(sides.failed if sides.failed_by <= sides.passed_by else sides.passed)


def _outwards(where: SearchRange, sides: Bracket, falling: bool, need: int) -> SearchState:
    """A side is missing: a step towards it, as far as the search may go; the end of the range is confirmed as any."""
    easier = sides.passed is None
    inner = [value for value in (sides.passed, *sides.doubt, sides.failed) if value is not None]
    base = inner[0] if easier else inner[-1]
    value = tidy(where, base / STEP if easier != falling else base * STEP)
    if value != base:
        return sides.view(value)
    if (sides.failed_by if easier else sides.passed_by) < need:
        return sides.view(base)
    verb = "failed" if easier else "passed"
    return sides.view(
        None, "open", f"{value_text(where.varies, base)}, the last value that may be tried, {verb}."
    )


def _middle(search: Search, where: SearchRange, sides: Bracket) -> float | None:
    """A value between the sides; None where a side is missing, they are near enough, or there is no such value."""
    if sides.sides is None or abs(math.log(sides.sides[1] / sides.sides[0])) <= math.log1p(search.resolution):
        return None
    value = tidy(where, math.sqrt(sides.sides[0] * sides.sides[1]))
    return value if value not in sides.sides else None


def _hold_state(search: Search, where: SearchRange, steps: Sequence[SearchStep]) -> SearchState:
    assert search.at is not None
    means = _mean_shares(steps)
    below = max((value for value, share in means.items() if share < search.at), default=None)
    above = min((value for value, share in means.items() if share >= search.at), default=None)
    sides = Bracket(below, above, [], 0, 0)
    last = steps[-1].value
    off = math.log(means[last] / search.at)
    if abs(off) <= math.log1p(search.resolution):
        if sum(step.value == last for step in steps) <= search.confirm:
            return sides.view(last)
        why = f"{value_text(where.varies, last)} held {means[last]:.1%}, the mean of its trials."
        return SearchState(None, "found", below, above, why, held=last, off=off)
    value = tidy(where, _towards(search.at, means, below, above))
    if value not in means:
        return sides.view(value)
    if below is None or above is None:
        return sides.view(
            None, "open", f"{value_text(where.varies, value)} is the last value that may be tried."
        )
    return sides.view(None, "wide", "There is no other value between those that were tried.")


def _mean_shares(steps: Sequence[SearchStep]) -> dict[float, float]:
    shares: dict[float, list[float]] = {}
    for step in steps:
        assert step.share is not None
        shares.setdefault(step.value, []).append(step.share)
    return {value: math.fsum(measured) / len(measured) for value, measured in sorted(shares.items())}


def _towards(at: float, means: dict[float, float], below: float | None, above: float | None) -> float:
    """Where the share is expected: by proportion, or on the line between two values (both scales logarithmic)."""
    if below is None or above is None:
        (near,) = [value for value in (below, above) if value is not None]
        return near * min(max(at / means[near], 1 / HOLD_STEP), HOLD_STEP)
    if above <= below:
        # Chance has turned the two round: the share is reached somewhere about them.
        return math.sqrt(below * above)
    part = math.log(at / means[below]) / math.log(means[above] / means[below])
    return float(below * (above / below) ** min(max(part, KEPT_OFF), 1 - KEPT_OFF))
