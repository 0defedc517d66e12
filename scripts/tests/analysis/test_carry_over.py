# SPDX-License-Identifier: Apache-2.0
"""What trials leave to the next one: estimated, told, and held against what the order leaves unbalanced."""

import math

import numpy as np
import pytest
from builders import make_session, make_trial

from steelyard.analysis.carry_over import carry_over_reason, estimate_carry_over, is_shown, predecessors
from steelyard.analysis.estimates import analyse
from steelyard.results.schema import Trial
from steelyard.session.schedule import make_schedule

NAME = "throughput"


def trials_of(
    order: str, leaves: dict[str, float], effect: dict[str, float], noise: float = 0.002
) -> list[Trial]:
    """Trials in this order of arms: each as its arm, times what the one before left."""
    rng = np.random.default_rng(5)
    blocks: dict[str, int] = {}
    made: list[Trial] = []
    for at, arm in enumerate(order):
        blocks[arm] = blocks.get(arm, 0) + 1
        log = effect.get(arm, 0.0) + (leaves.get(order[at - 1], 0.0) if at else 0.0) + rng.normal(0, noise)
        made.append(make_trial(blocks[arm], arm, order=at, metrics={NAME: 1000 * math.exp(log)}))
    return made


def order_of(arms: str, blocks: int, seed: int = 1) -> str:
    return "".join(place.arm for place in make_schedule([*arms], blocks, seed))


def test_what_an_arm_leaves_is_found_and_its_own_effect_is_not_taken_for_it() -> None:
    trials = trials_of(order_of("ab", 10), {"b": -0.03}, {"b": 0.05})
    (carried,) = estimate_carry_over(trials, NAME, ["a", "b"], "a")
    assert (carried.arm, carried.n) == ("b", 9)
    assert carried.low < math.exp(-0.03) < carried.high < 1
    assert is_shown(carried)


def test_of_three_arms_each_has_its_own() -> None:
    trials = trials_of(order_of("abc", 12), {"b": -0.03, "c": 0.02}, {"c": 0.1})
    by_arm = {one.arm: one for one in estimate_carry_over(trials, NAME, [*"abc"], "a")}
    assert by_arm["b"].low < math.exp(-0.03) < by_arm["b"].high
    assert by_arm["c"].low < math.exp(0.02) < by_arm["c"].high


@pytest.mark.parametrize(
    ("order", "why"), [("abab", "no neighbours"), ("abbaabba", "three alone"), ("ab", "one block")]
)
def test_few_neighbours_tell_nothing(order: str, why: str) -> None:
    assert estimate_carry_over(trials_of(order, {}, {}), NAME, ["a", "b"], "a") == [], why


def test_void_trials_leave_something_and_tell_nothing() -> None:
    trials = trials_of(order_of("ab", 10), {"b": -0.03}, {})
    void = [trial.model_copy(update={"state": "void"}) if trial.order % 4 == 1 else trial for trial in trials]
    assert len(predecessors(void)) == len(trials) - 1
    found = estimate_carry_over(void, NAME, ["a", "b"], "a")
    assert [carried.n for carried in found] < [9]


def test_a_comparison_that_carry_over_made_is_inconclusive() -> None:
    """An old order, of pairs drawn at random: b came after a and a after b in most blocks, and b leaves 3 %."""
    order = "abbaabbaab" + 8 * "ab"
    trials = trials_of(order, {"b": -0.03}, {})
    session = make_session([1, 2], 13)
    arms = {"a": "jvms-1", "b": "jvms-2"}
    renamed = [trial.model_copy(update={"arm": arms[trial.arm]}) for trial in trials]
    analysis = analyse(session, renamed)
    (carried,) = analysis.carry_over
    assert is_shown(carried)
    why = analysis.estimates[NAME]["jvms-2"].unequal
    assert why is not None
    assert "did not follow the same arm" in why
    assert any(note.startswith("Carry-over, by the arm that ran before") for note in analysis.notes)


def test_a_balanced_order_changes_nothing() -> None:
    trials = trials_of(order_of("ab", 10), {"b": -0.03}, {"b": 0.02})
    carried = estimate_carry_over(trials, NAME, ["a", "b"], "a")
    places = [(block, 0) for block in range(1, 11)]
    by = {(trial.arm, (trial.block, 0)): trial.metrics[NAME] for trial in trials}
    logs = {place: math.log(by["b", place] / by["a", place]) for place in places}
    assert carry_over_reason(logs, "b", "a", predecessors(trials), carried) is None
