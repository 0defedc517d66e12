# SPDX-License-Identifier: Apache-2.0
"""The self-check is tested itself: with a bug in the project's own functions it fails, at its default size."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest
from planted import BUGS, caught, planted

from steelyard.analysis import estimates, paired


@pytest.fixture(scope="module")
def answers():
    """What catches each bug; all of them are looked for at once, on two processes."""
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        yield {bug.name: pool.submit(caught, bug.name, first=True) for bug in BUGS}
        pool.shutdown(cancel_futures=True)


@pytest.mark.parametrize("bug", [bug.name for bug in BUGS])
def test_the_self_check_fails_with(bug, answers):
    assert any(answers[bug].result()), f"the self-check does not see: {bug}"


def test_a_bug_is_planted_wherever_a_function_is_imported_and_taken_out_again() -> None:
    bug = next(bug for bug in BUGS if bug.where == "analysis.paired:adjust_p")
    right = paired.adjust_p
    with planted(bug):
        assert paired.adjust_p is estimates.adjusted
        assert paired.adjust_p(0.03, 4) == 0.03
    assert paired.adjust_p is estimates.adjusted is right
