# SPDX-License-Identifier: Apache-2.0
"""One search: bracketing, bisection, doubt, confirmation, bounds, void trials, and the share that is held."""

import math
from typing import Any, Literal

import numpy as np
import pytest
from pydantic import ValidationError

from steelyard.analysis.search import SearchState, search_state
from steelyard.experiment.schema import Experiment, Search
from steelyard.results.analysis import SearchStep
from steelyard.spec.search import SearchRange
from steelyard.units import MIB

USERS = SearchRange("users", 100.0, 1.0, None)

EXPERIMENT: dict[str, Any] = {
    "steelyard": 1,
    "name": "capacity",
    "title": "t",
    "question": "q",
    "workload": "ping",
    "factors": {"jvms": {"levels": [1, 2]}},
    "search": {"raise": "users", "within": {"p99": "200ms"}},
    "design": {"blocks": 1},
    "quick": {"blocks": 1, "search": {"resolution": 0.5}},
}


def search(**more: Any) -> Search:
    return Search.model_validate({"raise": "users", **more})


def step(value: float, outcome: Literal["passed", "failed", "void"]) -> SearchStep:
    return SearchStep(order=0, attempt=0, value=value, outcome=outcome, why="p99 was 450 ms.")


def steps(text: str) -> list[SearchStep]:
    """Of `100+ 200- 150?`: values that passed, failed or were void."""
    outcomes: dict[str, Literal["passed", "failed", "void"]] = {"+": "passed", "-": "failed", "?": "void"}
    return [step(float(word[:-1]), outcomes[word[-1]]) for word in text.split()]


def value_after(asked: Search, where: SearchRange, done: list[SearchStep], repeats: int) -> float | None:
    return search_state(asked, where, done, repeats).next


def path(asked: Search, where: SearchRange, edge: float) -> tuple[list[float], SearchState]:
    """Values that a search tries on a server without noise, and where it ends."""
    done: list[SearchStep] = []
    while (value := value_after(asked, where, done, 2)) is not None:
        easy = value >= edge if asked.lower else value <= edge
        done.append(step(value, "passed" if easy else "failed"))
    return [step.value for step in done], search_state(asked, where, done, 2)


def test_doubles_then_bisects_then_confirms_both_sides() -> None:
    tried, view = path(search(), USERS, 320)
    assert tried[:4] == [100, 200, 400, 283]
    assert (view.end, view.passed, view.failed) == ("found", 308, 322)
    assert sorted(tried[-2:]) == [308, 322]


def test_halves_when_the_start_fails() -> None:
    tried, view = path(search(), USERS, 30)
    assert tried[:4] == [100, 50, 25, 35]
    assert (view.passed, view.failed) == (30, 31)


def test_memory_is_lowered_in_whole_mebibytes() -> None:
    asked = Search.model_validate({"lower": "memory", "while": "survives"})
    tried, view = path(asked, SearchRange("memory", 512.0 * MIB, 16.0 * MIB, None), 200.5 * MIB)
    assert tried[:3] == [512 * MIB, 256 * MIB, 128 * MIB]
    assert all(value % MIB == 0 for value in tried)
    assert view.passed is not None
    assert view.failed is not None
    assert view.failed <= 200.5 * MIB <= view.passed <= view.failed * 1.05


def test_neighbouring_users_are_as_close_as_it_gets() -> None:
    _, view = path(search(), SearchRange("users", 2.0, 1.0, None), 5)
    assert (view.end, view.passed, view.failed) == ("found", 5, 6)


@pytest.mark.parametrize("edge", [0.5, 1e9])
def test_ends_at_the_bounds_and_confirms_them(edge: float) -> None:
    tried, view = path(search(maximum=300), SearchRange("users", 100.0, 10.0, 300.0), edge)
    assert view.end == "open"
    assert tried[-2:] == ([10, 10] if edge < 1 else [300, 300])
    assert "the last value that may be tried" in view.why


def test_no_rate_above_the_maximum_is_tried() -> None:
    tried, _ = path(search(), SearchRange("rate", 1000.0, 0.1, 1234.56), 1e9)
    assert max(tried) == 1234.56


def test_ends_when_its_trials_are_used_up() -> None:
    tried, view = path(search(trials=4), USERS, 320)
    assert len(tried) == 4
    assert (view.end, view.passed, view.failed) == ("wide", 283, 400)
    assert path(search(trials=3), USERS, 1e6)[1].end == "open"


def test_a_contradiction_is_settled_by_fresh_starts_at_its_value() -> None:
    # The failure at 100 was chance: it is found out when the side is confirmed, and the search goes on from there.
    done = steps("100- 50+ 71+ 84+ 92+ 96+ 100+")
    assert value_after(search(), USERS, done, 2) == 100
    settled = [*done, *steps("100+")]
    assert value_after(search(), USERS, settled, 2) == 200


def test_where_chance_decides_the_search_says_so() -> None:
    done = steps("100+ 200- 141+ 168- 154+ 161- 161+ 161- 154- 154+ 154- 161+")
    view = search_state(search(trials=20), USERS, done, 2)
    assert (view.end, view.passed, view.failed) == ("wide", 141, 168)
    assert "as often as they failed" in view.why


def test_a_side_is_believed_after_as_many_trials_as_asked_for() -> None:
    done = steps("100+ 104-")
    assert value_after(search(confirm=0), USERS, done, 2) is None
    assert value_after(search(confirm=1), USERS, done, 2) == 104
    assert value_after(search(confirm=1), USERS, [*done, *steps("104-")], 2) == 100
    assert value_after(search(confirm=1), USERS, [*done, *steps("104- 100+")], 2) is None
    assert value_after(search(confirm=2), USERS, [*done, *steps("104- 100+")], 2) == 104


def test_void_trials_come_again_at_their_value_and_then_end_the_search() -> None:
    assert value_after(search(), USERS, steps("100+ 200?"), 2) == 200
    assert value_after(search(), USERS, steps("100+ 200? 200?"), 2) == 200
    view = search_state(search(), USERS, steps("100+ 200? 200? 200?"), 2)
    assert (view.next, view.end) == (None, "void")
    assert value_after(search(), USERS, steps("100? 100? 100+ 200? 200?"), 2) == 200
    assert search_state(search(trials=4), USERS, steps("100? 100? 100+ 200?"), 2).end == "open"


@pytest.mark.parametrize(("slope", "noise"), [(1.0, 0.0), (0.7, 0.0), (1.4, 0.0), (1.0, 0.01)])
def test_holds_a_share_of_the_cpu(slope: float, noise: float) -> None:
    rng = np.random.default_rng(3)
    asked = Search.model_validate({"hold": "cpu", "at": 0.4})
    where = SearchRange("rate", 50.0, 0.1, None)
    right = 900.0
    done: list[SearchStep] = []
    while (value := value_after(asked, where, done, 2)) is not None:
        share = min(0.4 * (value / right) ** slope * math.exp(noise * rng.standard_normal()), 0.99)
        one = SearchStep(order=0, attempt=0, value=value, outcome="measured", share=share, why="")
        done.append(one)
    view = search_state(asked, where, done, 2)
    assert view.end == "found"
    assert view.held is not None
    assert abs(math.log(view.held / right)) < math.log1p(0.05 + 2 * noise) / slope
    assert done[-1].value == done[-2].value == view.held
    assert len(done) <= 9


def test_a_share_that_no_load_reaches_is_open() -> None:
    asked = Search.model_validate({"hold": "cpu", "at": 0.8})
    where = SearchRange("users", 100.0, 1.0, 1000.0)
    done: list[SearchStep] = []
    while (value := value_after(asked, where, done, 2)) is not None:
        done.append(SearchStep(order=0, attempt=0, value=value, outcome="measured", share=0.5, why=""))
    assert search_state(asked, where, done, 2).end == "open"
    assert done[-1].value == 1000


@pytest.mark.parametrize(
    "written",
    [
        {"raise": "users", "within": {"p99": "200ms", "errors": "0.1%"}},
        {"lower": "memory", "while": "survives", "start": "512m", "minimum": "64m"},
        {"hold": "cpu", "at": 0.4},
    ],
)
def test_is_written_and_read_back(written: dict[str, Any]) -> None:
    search_read = Search.model_validate(written)
    assert Search.model_validate_json(search_read.model_dump_json(by_alias=True)) == search_read


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ({}, "exactly one of raise, lower and hold"),
        ({"raise": "users", "hold": "cpu", "at": 0.4}, "exactly one of raise, lower and hold"),
        ({"lower": "memory"}, "goes with while"),
        ({"hold": "cpu"}, "goes with at"),
        ({"hold": "cpu", "at": 0.4, "within": {"p99": "1s"}}, "hold has no limits"),
        ({"raise": "users", "start": 10, "maximum": 5}, "in that order"),
        ({"raise": "users", "start": 0}, "above zero"),
        ({"raise": "users", "within": {"errors": "200%"}}, "not a share"),
        ({"lower": "memory", "while": "survives", "start": "much"}, "not a size"),
    ],
)
def test_refuses_what_says_nothing(written: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Search.model_validate(written)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"design": {"blocks": 1}, "search": None}, "two blocks or more"),
        ({"quick": {"blocks": 1}, "search": None}, "two blocks or more"),
        ({"design": {}, "quick": {"search": {"trials": 5}}, "search": None}, "the experiment has no search"),
        ({"quick": {"search": {"trials": 1}}}, "greater than or equal to 3"),
        ({"procedure": "ramp-up"}, "needs procedure: steady"),
        ({"search": {"lower": "memory", "while": "survives"}}, "needs procedure: survive"),
    ],
)
def test_refuses_a_search_that_the_experiment_cannot_do(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ValidationError, match=says):
        Experiment.model_validate(EXPERIMENT | changes)


def test_one_block_is_enough_for_a_search_and_quick_makes_it_coarser() -> None:
    experiment = Experiment.model_validate(EXPERIMENT)
    quick = experiment.quick.of(experiment.search)
    assert quick is not None
    assert (quick.resolution, quick.trials, quick.confirm, quick.within.p99) == (0.5, 14, 1, 0.2)
    assert Experiment.model_validate_json(experiment.model_dump_json(by_alias=True)) == experiment
