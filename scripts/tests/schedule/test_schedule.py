# SPDX-License-Identifier: Apache-2.0
from collections import Counter
from types import SimpleNamespace

import pytest

from steelyard.session.schedule import make_schedule, next_trial

ARMS = ["a", "b", "c"]


def outcome(planned, state="valid"):
    """What the schedule looks at of a trial."""
    return SimpleNamespace(
        block=planned.block, arm=planned.arm, attempt=planned.attempt, order=planned.order, state=state
    )


def play(schedule, repeats, is_void, done=(), stop=None):
    """Run a session whose trials are void where `is_void(planned)` says so; up to `stop` trials."""
    ended = list(done)
    while (planned := next_trial(schedule, ended, repeats)) is not None and len(ended) != stop:
        ended.append(outcome(planned, "void" if is_void(planned) else "valid"))
    return ended


def never(_planned):
    return False


def always(_planned):
    return True


def plans(trials):
    return [(trial.block, trial.arm, trial.attempt, trial.order) for trial in trials]


@pytest.mark.parametrize("arms", [["a"], ["a", "b"], ARMS, list("abcdefgh")])
def test_every_arm_once_per_block(arms):
    schedule = make_schedule(arms, 7, seed=3)
    assert [place.order for place in schedule] == list(range(7 * len(arms)))
    assert Counter((place.block, place.arm) for place in schedule) == Counter(
        (block, arm) for block in range(1, 8) for arm in arms
    )
    assert [place.block for place in schedule] == sorted(place.block for place in schedule)


@pytest.mark.parametrize("blocks", range(1, 14))
def test_two_arms_are_balanced(blocks):
    for seed in range(30):
        schedule = make_schedule(["a", "b"], blocks, seed)
        first = Counter(place.arm for place in schedule[::2])
        assert abs(first["a"] - first["b"]) == blocks % 2


def test_the_odd_pair_and_the_places_are_drawn():
    firsts = [tuple(place.arm for place in make_schedule(["a", "b"], 5, seed)[::2]) for seed in range(200)]
    # 20 arrangements: ten with two blocks turned, ten with three.
    assert len(set(firsts)) == 20
    assert 60 < sum(first.count("a") == 3 for first in firsts) < 140


def test_orders_of_three_arms_are_uniform():
    schedule = make_schedule(ARMS, 6000, seed=1)
    orders = Counter(
        "".join(place.arm for place in schedule[start : start + 3]) for start in range(0, 18000, 3)
    )
    assert len(orders) == 6
    # Chi-squared with 5 degrees of freedom: 20.5 is exceeded once in a thousand.
    assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 20.5


def test_same_seed_same_schedule_for_ever():
    """Held literally: a session of an older version must be repeatable by its seed."""
    assert "".join(place.arm for place in make_schedule(ARMS, 4, 42)) == "bacbaccabbac"
    assert "".join(place.arm for place in make_schedule(["a", "b"], 6, 42)) == "abbabaabbaab"
    assert make_schedule(ARMS, 4, 42) != make_schedule(ARMS, 4, 43)


def test_undisturbed_session_is_the_schedule():
    schedule = make_schedule(ARMS, 3, 1)
    trials = play(schedule, 2, never)
    assert plans(trials) == [(place.block, place.arm, 0, place.order) for place in schedule]


def test_void_trials_are_repeated_at_the_end():
    schedule = make_schedule(ARMS, 3, 1)
    trials = play(schedule, 2, lambda p: p.attempt == 0 and (p.block, p.arm) in {(1, "a"), (2, "c")})
    assert plans(trials[9:]) == [(1, "a", 1, 9), (2, "c", 1, 10)]


@pytest.mark.parametrize("repeats", [0, 1, 2, 5])
def test_repeats_are_bounded_per_block(repeats):
    schedule = make_schedule(ARMS, 4, 1)
    trials = play(schedule, repeats, always)
    assert Counter(trial.block for trial in trials if trial.attempt) == Counter(
        {block: repeats for block in range(1, 5) if repeats}
    )
    assert [trial.order for trial in trials] == list(range(12 + 4 * repeats))


def test_repeats_are_shared_fairly_in_a_block():
    schedule = make_schedule(ARMS, 1, 1)
    trials = play(schedule, 4, always)
    attempts = Counter(trial.arm for trial in trials)
    assert sorted(attempts.values()) == [2, 2, 3]


def test_a_valid_trial_is_never_run_again():
    schedule = make_schedule(ARMS, 2, 1)
    trials = play(schedule, 5, lambda p: p.arm == "b" and p.attempt < 2)
    valid = Counter((trial.block, trial.arm) for trial in trials if trial.state == "valid")
    assert set(valid.values()) == {1}
    assert next_trial(schedule, trials, 5) is None


@pytest.mark.parametrize("stop", range(15))
def test_resume_equals_uninterrupted(stop):
    """Interrupted after any number of trials; the trial in flight is no outcome and runs again."""
    schedule = make_schedule(ARMS, 3, 8)

    def is_void(planned):
        return (planned.block, planned.arm, planned.attempt) in {
            (1, "a", 0),
            (2, "b", 0),
            (2, "b", 1),
            (3, "c", 0),
        }

    whole = play(schedule, 2, is_void)
    half = play(schedule, 2, is_void, stop=stop)
    assert plans(half) == plans(whole)[:stop]
    assert plans(play(schedule, 2, is_void, done=half)) == plans(whole)


def test_resume_of_a_complete_session_runs_nothing():
    schedule = make_schedule(ARMS, 2, 8)
    done = play(schedule, 2, never)
    assert next_trial(schedule, done, 2) is None


# Plots: trials under one host state.

PLOTS = {"a": "small", "b": "large", "c": "small", "d": "large"}
THREE = {"a": "never", "b": "madvise", "c": "always", "d": "never"}


def states(schedule, plots):
    """Block, plot and host state of each plot, in order."""
    return list(dict.fromkeys((place.block, place.plot, plots[place.arm]) for place in schedule))


@pytest.mark.parametrize("plots", [PLOTS, THREE, {"a": 1, "b": 2}, {"a": 1, "b": 2, "c": 3}])
def test_a_block_holds_one_plot_for_each_host_state(plots):
    arms = list(plots)
    for seed in range(20):
        schedule = make_schedule(arms, 6, seed, plots)
        assert [place.order for place in schedule] == list(range(6 * len(arms)))
        for block in range(1, 7):
            places = [place for place in schedule if place.block == block]
            assert sorted(place.arm for place in places) == arms
            held = states(places, plots)
            assert [plot for _, plot, _ in held] == list(range(1, len(set(plots.values())) + 1))
            assert {state for _, _, state in held} == set(plots.values())


def test_plots_and_the_trials_inside_are_in_random_order():
    schedule = make_schedule("abcdef", 6000, 1, dict(zip("abcdef", (1, 1, 1, 2, 3, 3), strict=True)))
    plots = Counter(
        "".join(place.arm for place in schedule[start : start + 6] if place.arm in "ade")
        for start in range(0, 36000, 6)
    )
    inside = Counter(
        "".join(place.arm for place in schedule[start : start + 6] if place.arm in "abc")
        for start in range(0, 36000, 6)
    )
    for orders in (plots, inside):
        assert len(orders) == 6
        # Chi-squared with 5 degrees of freedom: 20.5 is exceeded once in a thousand.
        assert sum((count - 1000) ** 2 / 1000 for count in orders.values()) < 20.5


@pytest.mark.parametrize("blocks", range(1, 10))
def test_two_plots_and_two_arms_of_a_plot_are_balanced(blocks):
    for seed in range(30):
        schedule = make_schedule("abcd", blocks, seed, PLOTS)
        first = Counter(PLOTS[place.arm] for place in schedule[::4])
        assert abs(first["small"] - first["large"]) == blocks % 2
        inside = Counter(place.arm for place in schedule[::2])
        assert abs(inside["a"] - inside["c"]) == blocks % 2
        assert abs(inside["b"] - inside["d"]) == blocks % 2


def test_one_host_state_for_all_makes_no_plots():
    for arms in (["a", "b"], ARMS):
        same = make_schedule(arms, 5, 42, dict.fromkeys(arms, "huge_pages=512"))
        assert same == make_schedule(arms, 5, 42) == make_schedule(arms, 5, 42, None)
        assert {place.plot for place in same} == {0}


def test_same_seed_same_plots_for_ever():
    assert "".join(place.arm for place in make_schedule("abcd", 4, 42, PLOTS)) == "cabddbacbdcaacdb"
    assert make_schedule("abcd", 4, 42, PLOTS) != make_schedule("abcd", 4, 43, PLOTS)


def test_void_trials_are_repeated_in_their_plot():
    schedule = make_schedule("abcd", 3, 1, PLOTS)
    void = {schedule[0], schedule[5]}
    trials = play(
        schedule, 2, lambda p: p.attempt == 0 and (p.block, p.arm) in {(s.block, s.arm) for s in void}
    )
    ran = [(trial.block, trial.arm, trial.attempt) for trial in trials]
    places = [(place.block, place.arm, 0) for place in schedule]
    repeat_0, repeat_5 = ((place.block, place.arm, 1) for place in (schedule[0], schedule[5]))
    assert ran == [*places[:2], repeat_0, *places[2:6], repeat_5, *places[6:]]
    assert [trial.order for trial in trials] == list(range(14))


@pytest.mark.parametrize("repeats", [0, 1, 2, 5])
def test_a_plot_is_never_entered_twice_and_repeats_are_bounded_per_block(repeats):
    schedule = make_schedule("abcd", 4, 1, PLOTS)
    plot_of = {(place.block, place.arm): place.plot for place in schedule}
    trials = play(schedule, repeats, always)
    entered = list(dict.fromkeys((trial.block, plot_of[trial.block, trial.arm]) for trial in trials))
    visits = [
        key
        for i, key in enumerate((trial.block, plot_of[trial.block, trial.arm]) for trial in trials)
        if i == 0 or key != (trials[i - 1].block, plot_of[trials[i - 1].block, trials[i - 1].arm])
    ]
    assert visits == entered == sorted(entered)
    assert len(entered) == 8
    assert Counter(trial.block for trial in trials if trial.attempt) == Counter(
        {block: repeats for block in range(1, 5) if repeats}
    )


def test_a_planned_trial_names_its_plot():
    schedule = make_schedule("abcd", 2, 1, PLOTS)
    plot_of = {(place.block, place.arm): place.plot for place in schedule}
    seen = []

    def is_void(planned):
        seen.append(planned)
        return planned.attempt == 0 and planned.arm == "b"

    play(schedule, 2, is_void)
    assert [planned.plot for planned in seen] == [plot_of[planned.block, planned.arm] for planned in seen]
    assert [planned.attempt for planned in seen].count(1) == 2


@pytest.mark.parametrize("stop", range(17))
def test_resume_with_plots_equals_uninterrupted(stop):
    schedule = make_schedule("abcd", 3, 8, PLOTS)

    def is_void(planned):
        return (planned.block, planned.arm, planned.attempt) in {
            (1, "a", 0),
            (1, "b", 0),
            (2, "b", 0),
            (2, "b", 1),
            (3, "c", 0),
        }

    whole = play(schedule, 2, is_void)
    assert len(whole) == 17
    half = play(schedule, 2, is_void, stop=stop)
    assert plans(half) == plans(whole)[:stop]
    assert plans(play(schedule, 2, is_void, done=half)) == plans(whole)
