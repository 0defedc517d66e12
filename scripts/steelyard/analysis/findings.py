# SPDX-License-Identifier: Apache-2.0
"""What a comparison finds: a difference, equality, or another thing with its void trials left in (pure)."""

import math

from steelyard.analysis.paired import LEVEL, PairedTest, paired_test, ratio_of
from steelyard.results.analysis import Analysis, Estimate
from steelyard.results.figures import percent

EQUAL = 0.01
"""Two arms whose whole interval lies within so much of no difference, either way, are shown to be equal."""

INCONCLUSIVE = "inconclusive: void or unsteady trials, or carry-over"
"""Beside the figures of a comparison that shows nothing whatever they are."""


def side_of(low: float, high: float) -> int:
    """On which side of no difference an interval lies wholly; 0: on both."""
    # NumPy's truth values cannot be subtracted.
    return int(low > 0) - int(high < 0)


def with_voids(estimate: Estimate, level: float) -> PairedTest | None:
    """The test with the void trials left in; None where none is void or nothing can be said."""
    unselected = paired_test([math.log(ratio) for ratio in estimate.left_in], level)
    return None if unselected is None or unselected.is_tied else unselected


def is_changed_by_voids(estimate: Estimate) -> bool:
    """Whether the void trials, left in, make another finding of a comparison."""
    level = LEVEL / estimate.comparisons
    unselected = with_voids(estimate, level)
    core = paired_test([math.log(ratio) for ratio in estimate.ratios], level)
    if unselected is None or core is None or core.is_tied:
        return False
    return side_of(core.low, core.high) != side_of(unselected.low, unselected.high)


def is_inconclusive(estimate: Estimate) -> bool:
    """Whether a comparison shows nothing whatever its figures: its trials are unequal, or void ones would change it."""
    return estimate.unequal is not None or is_changed_by_voids(estimate)


def void_answer(estimate: Estimate) -> str:
    """What a comparison says without its void trials and with them left in."""
    ratios = {"without the void trials": estimate.ratios, "with them left in": estimate.left_in}
    tests = {
        how: paired_test([math.log(ratio) for ratio in own], LEVEL / estimate.comparisons)
        for how, own in ratios.items()
    }
    return ", ".join(
        f"{how} {percent(ratio_of(test.mean) - 1, sign=True)}"
        f" ({percent(ratio_of(test.low) - 1, sign=True)} to {percent(ratio_of(test.high) - 1, sign=True)})"
        for how, test in tests.items()
        if test is not None
    )


def mostly_unsteady(analysis: Analysis) -> list[str]:
    """Arms that were not steady in more than half of their trials: a difference between such may be of warm-up alone,
    though they were so alike often."""
    return [arm for arm, counts in analysis.by_arm.items() if 2 * counts.not_steady > counts.trials]


def shows_equal(estimate: Estimate) -> bool:
    """Whether an estimate shows that there is no difference to speak of: its whole interval lies within `EQUAL`.

    The test of equivalence by an interval (Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics, 1987), at half
    of its level: the interval is the 95 % one that the report prints.
    """
    left = estimate.cannot_rule_out
    return left is not None and left <= EQUAL and not is_inconclusive(estimate)
