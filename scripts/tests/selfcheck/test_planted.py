# SPDX-License-Identifier: Apache-2.0
"""The self-check is tested itself: with a bug in the project's own functions it fails, at its default size."""

import pytest
from planted import BUGS, caught, planted

from steelyard.analysis import estimates, paired

SLIGHT = {
    "no correction",
    "intervals of one comparison for several",
    "warm-up's data counted",
    "one-sided interval as two-sided",
    "extremes left out",
    "unequal voids ignored",
    "uncorrected p in the answer",
    "floor of the certificate ignored",
    "no certificate allows a margin",
}
"""Bugs that only several hundred sessions show, for seconds each."""


@pytest.mark.parametrize(
    "bug",
    [pytest.param(bug.name, marks=[pytest.mark.full] if bug.name in SLIGHT else []) for bug in BUGS],
)
def test_the_self_check_fails_with(bug):
    assert any(caught(bug, first=True)), f"the self-check does not see: {bug}"


def test_slight_bugs_are_bugs() -> None:
    assert {bug.name for bug in BUGS} > SLIGHT


def test_a_bug_is_planted_wherever_a_function_is_imported_and_taken_out_again() -> None:
    bug = next(bug for bug in BUGS if bug.where == "analysis.paired:adjust_p")
    right = paired.adjust_p
    with planted(bug):
        assert paired.adjust_p is estimates.adjust_p
        assert paired.adjust_p(0.03, 4) == 0.03
    assert paired.adjust_p is estimates.adjust_p is right
