# SPDX-License-Identifier: Apache-2.0
"""What a gate does at its looks, and what it answers in the end."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from builders import make_host, make_measurement, make_trial
from pairs import BASE, NEW, gate, of_logs, pairs, terms
from scipy import stats

from steelyard.analysis.paired import sign_flip_p
from steelyard.analysis.rounds import seconds_of
from steelyard.gate.certificate import pair_seconds
from steelyard.gate.interim import (
    DECIDED,
    INTERIM_LEVEL,
    INTERIM_PAIRS,
    LASTS,
    InterimAnalysis,
    analyse_interim,
    ends_at,
    floor_of,
    interim_analyses,
    interims_until,
    level_at,
    levels_of,
)
from steelyard.gate.result import conclude, needs_confirmation
from steelyard.measure.ledger import PARTNER
from steelyard.results.schema import Check, Trial
from steelyard.session.schedule import Schedule, make_stages


def run(session, trials):
    """The trials that the schedule asks for, out of those that there would be."""
    by_place = {(one.block, one.arm, one.attempt): one for one in trials}
    schedule, done = Schedule(session, ends_at), list[Trial]()
    while (planned := schedule.next(done)) is not None:
        assert planned.order == len(done)
        found = by_place[planned.block, planned.arm, planned.attempt]
        done.append(found.model_copy(update={"order": planned.order}))
    return done


def test_stages_are_balanced_by_themselves() -> None:
    places = make_stages([BASE, NEW], INTERIM_PAIRS, 11)
    assert [place.order for place in places] == list(range(40))
    assert sorted({place.block for place in places}) == list(range(1, 21))
    firsts = {place.block: place.arm for place in reversed(places)}
    for low, high in ((1, 6), (7, 10), (11, 20)):
        first = Counter(arm for block, arm in firsts.items() if low <= block <= high)
        assert first[BASE] == first[NEW]
    assert len({make_stages([BASE, NEW], INTERIM_PAIRS, seed)[0].arm for seed in range(20)}) == 2


def test_stages_of_odd_pairs_cannot_be_balanced() -> None:
    with pytest.raises(ValueError, match="odd number of pairs"):
        make_stages([BASE, NEW], (5, 10), 1)


def test_a_gate_without_its_stopping_rule_does_not_run() -> None:
    with pytest.raises(ValueError, match="is a gate"):
        Schedule(gate())


@pytest.mark.parametrize(
    ("change", "outcome", "blocks"),
    [(0.0, "pass", 6), (-0.1, "pass", 6), (0.1, "regression", 6), (0.015, "pass", 10)],
)
def test_a_gate_ends_at_the_first_look_that_decides(change, outcome, blocks):
    spread = 0.003 if blocks == 6 else 0.015
    session = gate()
    done = run(session, pairs(change, spread, 20))
    assert len(done) == 2 * blocks
    looks = interim_analyses(session, done)
    assert [look.blocks for look in looks] == [look for look in INTERIM_PAIRS if look <= blocks]
    assert [look.stops is None for look in looks] == [True] * (len(looks) - 1) + [False]
    assert looks[-1].verdict.outcome == outcome


def test_both_questions_are_asked_of_one_98_percent_interval() -> None:
    rng = np.random.default_rng(4)
    seen = Counter()
    for _ in range(300):
        logs = rng.normal(rng.normal(0.01, 0.02), 0.01, 6)
        found = analyse_interim(gate(), of_logs(logs), 6).verdict
        low, high = stats.t.interval(1 - INTERIM_LEVEL, 5, logs.mean(), stats.sem(logs))
        limit = math.log1p(0.03)
        asks, values, level = ("pass", limit - logs, 0.05) if high < limit else ("regression", logs, 0.025)
        agrees = sign_flip_p(values) <= level
        expected = asks if agrees and (high < limit or low > 0) else "inconclusive"
        assert found.outcome == expected
        seen[expected] += 1
    assert len(seen) == 3


@pytest.mark.parametrize(
    ("time_for", "looks"),
    [
        *((5, []), (6, [6]), (7, [6]), (8, [8]), (10, [6, 10]), (11, [6, 10]), (12, [6, 12])),
        *((14, [6, 10, 14]), (19, [6, 10, 18]), (20, [6, 10, 20]), (40, [6, 10, 20])),
    ],
)
def test_the_last_look_uses_the_time_up(time_for: int, looks: list[int]) -> None:
    assert interims_until(time_for) == looks


def test_more_time_finds_less_harm() -> None:
    """The last look was after 6, 10 or 20 pairs, and time for 18 found no more than time for 10."""
    floors = [floor_of(0.01, 10, interims_until(pairs)) for pairs in LASTS]
    assert floors == sorted(floors, reverse=True)
    assert floors[-2] < 0.75 * floors[2]


@pytest.mark.parametrize(
    ("looks", "levels"), [([6], [0.05]), ([6, 10], [0.02, 0.03]), ([6, 10, 20], [0.02, 0.02, 0.02])]
)
def test_the_last_look_has_has_what_the_others_leave(looks: list[int], levels: list[float]) -> None:
    assert levels_of(looks) == levels
    assert [level_at(terms(looks=looks, levels=levels), place) for place in looks] == levels
    assert level_at(terms(looks=looks), looks[-1]) == INTERIM_LEVEL, "of sessions from before"


def test_a_gate_that_ends_after_six_pairs_finds_what_a_longer_one_goes_on_for() -> None:
    logs = [0.002, 0.065, 0.008, 0.052, 0.03, 0.023]
    short = gate(looks=[6], levels=levels_of([6]))
    long = gate(levels=levels_of(INTERIM_PAIRS))
    found = analyse_interim(short, of_logs(logs), 6)
    assert (found.verdict.outcome, found.stops, found.level) == ("regression", DECIDED, 0.05)
    assert "(95 % interval)" in found.verdict.sentence
    assert analyse_interim(long, of_logs(logs), 6).stops is None


def test_what_was_void_is_repeated_before_the_look() -> None:
    session = gate()
    void = make_trial(2, NEW, state="void", metrics={})
    there = [one for one in pairs(0.0, blocks=20) if (one.block, one.arm) != (2, NEW)]
    again = [one.model_copy(update={"attempt": 1}) for one in pairs(0.0, blocks=20) if one.block == 2]
    done = run(session, [*there, void, *again])
    assert [(one.block, one.attempt) for one in done[-2:]] == [(2, 1)] * 2
    assert len(done) == 14
    assert interim_analyses(session, done)[-1].estimate.n == 6


def test_what_is_in_vain_ends_early() -> None:
    session = gate()
    done = run(session, pairs(0.015, spread=0.12, blocks=20))
    (look,) = interim_analyses(session, done)
    assert "with a chance of" in look.stops
    result = conclude((session, done), None)
    assert result.outcome == "inconclusive"
    assert "cannot be ruled out" in result.sentence
    assert "more pairs would decide it with a chance of" in result.sentence


def test_the_chance_of_an_answer_is_what_comes_of_going_on() -> None:
    """Of first looks that are called futile, hardly any would have been decided by the last one."""
    rng = np.random.default_rng(5)
    stopped = decided = 0
    for _ in range(1500):
        truth, spread = rng.choice([0.0, 0.03]), rng.uniform(0.04, 0.09)
        logs = rng.normal(math.log1p(truth), spread, 20)
        first = analyse_interim(gate(floor=None), of_logs(logs[:6]), 6)
        if first.verdict.outcome == "inconclusive" and first.stops is not None:
            stopped += 1
            decided += analyse_interim(gate(floor=None), of_logs(logs), 20).verdict.outcome != "inconclusive"
    assert stopped > 100
    assert decided / stopped < 0.15


def test_no_pairs_are_begun_that_the_time_does_not_hold() -> None:
    # A pair takes 100 s: ten take 1,000.
    for seconds, ends in ((1200.0, False), (800.0, True)):
        look = analyse_interim(gate(seconds=seconds), pairs(0.015, 0.02, 6), 6)
        assert look.verdict.outcome == "inconclusive"
        assert (look.stops is not None) is ends
    assert "more than the time that was given" in look.stops


def test_every_pair_that_begins_fits_the_time_repeats_included() -> None:
    """A pair takes 100 s: repeats of what was void, and pairs that take longer than was expected, count as well."""
    undecided = pairs(0.015, 0.02, 20)
    assert {one.block for one in run(gate(seconds=2000.0), undecided)} >= {1, 10}
    void = [one.model_copy(update={"state": "void"}) for one in undecided]
    again = [one.model_copy(update={"attempt": number}) for number in (1, 2) for one in void]
    done = run(gate(seconds=1000.0), [*void, *again])
    assert seconds_of(done) == pytest.approx(1100.0)
    assert len(done) == 22
    few = run(gate(seconds=400.0), undecided)
    assert seconds_of(few) == pytest.approx(400.0)
    found = conclude((gate(seconds=400.0), few), None)
    assert found.outcome == "inconclusive"
    assert "was used up after 4 pairs, before the first interim analysis" in found.sentence
    confirms = gate(seconds=400.0, confirms="first")
    assert seconds_of(run(confirms, undecided)) == pytest.approx(400.0)


def test_a_session_that_confirms_is_not_ended_by_a_pass() -> None:
    session = gate(confirms="first")
    done = run(session, pairs(0.0, spread=0.004, blocks=20))
    assert len(done) == 40
    assert run(session, pairs(0.08, blocks=20))[-1].block == 6


def test_unequal_voids_end_it_and_answer_nothing() -> None:
    found = []
    for block in range(1, 7):
        for attempt in range(2):
            found.append(make_trial(block, BASE, attempt=attempt, metrics={"cpu_per_1k": 0.4 + block / 1000}))
            state = "void" if attempt == 0 else "valid"
            found.append(make_trial(block, NEW, attempt=attempt, state=state, metrics={"cpu_per_1k": 0.5}))
    look = analyse_interim(gate(), found, 6)
    assert look.verdict.outcome == "inconclusive"
    assert look.stops == "no further pair cures that"
    assert "clearly unequal" in look.verdict.sentence


def test_void_trials_that_have_no_ratio_end_it_and_pass_nothing() -> None:
    """Three void trials that served nothing, in ten pairs, which is no clearly unequal number."""
    found = pairs(0.0, spread=0.001, blocks=10, metric="throughput")
    again = [one.model_copy(update={"attempt": 1}) for one in found if one.block in (3, 5, 7)]

    def end(served: float) -> InterimAnalysis:
        void = {"state": "void", "metrics": {"throughput": served}}
        first = [
            one.model_copy(update=void) if one.block in (3, 5, 7) and one.arm == NEW else one for one in found
        ]
        return analyse_interim(gate("throughput"), [*first, *again], 10)

    for served in (0.0, 0.1):
        assert end(served).verdict.outcome == "inconclusive"
    nothing = end(0.0)
    assert nothing.verdict.sentence == (
        "inconclusive: with void trials left in, throughput has no ratio, as a figure of it is not above zero."
    )
    assert nothing.stops == "no further pair cures that"
    assert end(0.4).verdict.outcome == "pass"


def test_a_side_of_a_duet_that_is_void_for_the_other_alone_is_no_void_of_its_own() -> None:
    """In a duet both sides are void together: what voided the candidate alone is told by the checks."""

    def void(name: str) -> dict[str, Any]:
        failed = Check(
            name=name, passed=False, voids=True, value=None, limit=None, unit="", detail=f"For {name}."
        )
        return {"state": "void", "checks": [failed]}

    def look(*names: str):
        found = pairs(0.001, spread=0.002, blocks=6)
        for block in range(1, 7):
            for arm, name in zip((BASE, NEW), names, strict=True):
                found.append(make_trial(block, arm, attempt=1, **void(name)))
        return analyse_interim(gate(), found, 6), conclude((gate(), found), None).sentence

    lopsided, sentence = look(PARTNER, "errors")
    assert lopsided.verdict.outcome == "inconclusive"
    assert "6 of 12 trials of" in lopsided.verdict.sentence
    assert "of 6 void trials 6 by the check errors: For errors" in sentence
    assert look("errors", "errors")[0].verdict.outcome == "pass"


def test_the_time_of_a_duet_counts_once() -> None:
    """Pairs of 60 s, run at once: ten take 600 s, and there are 700."""
    both = []
    for one in pairs(0.01, spread=0.02, blocks=6):
        begin = 60.0 * one.block
        both.append(one.model_copy(update={"started": begin, "phases": {"measure": (begin, begin + 60)}}))
    assert seconds_of(both) == 360
    assert pair_seconds(both) == 60
    assert analyse_interim(gate(seconds=700.0), both, 6).stops is None
    assert "would take" in (analyse_interim(gate(seconds=500.0), both, 6).stops or "")


@pytest.mark.parametrize(("usable", "ends"), [(0, True), (2, True), (3, False)])
def test_a_host_that_voids_most_pairs_is_not_kept_busy(usable, ends):
    """Both sides are void alike, repeats and all."""
    kept = pairs(0.01, spread=0.02)
    trials = [one if one.block <= usable else one.model_copy(update={"state": "void"}) for one in kept]
    look = analyse_interim(gate(), trials, 6)
    assert look.verdict.outcome == "inconclusive"
    assert (look.stops is not None) is ends
    if ends:
        assert f"only {usable} of 6 pairs could be used" in conclude((gate(), trials), None).sentence


def test_a_regression_needs_its_confirmation() -> None:
    session, bad, good = gate(), pairs(0.08), pairs(0.0)
    first = (session, bad)
    assert needs_confirmation(first)
    assert not needs_confirmation((session, good))
    second = gate(confirms=session.id)
    confirmed = conclude(first, (second, bad))
    assert confirmed.outcome == "regression"
    assert "CPU of the servers per 1,000 requests is 8.0 % worse" in confirmed.sentence
    again = "over 6 pairs, and again in a second session on {} (+8.0 %, over 6 pairs)"
    assert again.format("the same host") in confirmed.sentence
    elsewhere = second.model_copy(update={"host": make_host(hostname="another")})
    assert again.format("another host") in conclude(first, (elsewhere, bad)).sentence
    before = (session.model_copy(update={"boot": "1"}), bad)
    for boot, where in (
        ("1", "the same host"),
        ("2", "the same host, restarted in between"),
        ("", "the same host"),
    ):
        restarted = second.model_copy(update={"boot": boot})
        assert again.format(where) in conclude(before, (restarted, bad)).sentence
    refuted = conclude(first, (second, pairs(0.0, blocks=20)))
    assert refuted.outcome == "inconclusive"
    assert "did not confirm it" in refuted.sentence
    assert conclude(first, None).outcome == "inconclusive"


@pytest.mark.parametrize(("went", "outcome"), [("pasta", "inconclusive"), ("bridge", "pass"), ("", "pass")])
def test_requests_that_went_another_way_than_the_certificates(went: str, outcome: str) -> None:
    trials = [
        trial.model_copy(update={"measurement": make_measurement(network_path=went)}) for trial in pairs(0.0)
    ]
    result = conclude((gate(network="bridge"), trials), None)
    assert result.outcome == outcome
    assert ("requests went by pasta" in result.sentence) == (outcome == "inconclusive")


def test_a_regression_that_was_left_says_who_may_confirm_it() -> None:
    result = conclude((gate(leaves_confirmation=True), pairs(0.08)), None)
    assert result.outcome == "inconclusive"
    assert "left to another host" in result.sentence
    assert "gate --confirms" in result.notes[-1]
    assert not conclude((gate(leaves_confirmation=True), pairs(0.0)), None).notes


def test_a_confirmation_that_abstained_says_why() -> None:
    second = gate(confirms="x", abstains=["no noise certificate says what this host can see"])
    result = conclude((gate(), pairs(0.08)), (second, []))
    assert result.outcome == "inconclusive"
    assert "nothing confirmed it: no noise certificate says" in result.sentence


def test_a_pass_says_what_it_rules_out_and_the_others_annotate() -> None:
    session = gate()
    result = conclude((session, pairs(0.0, throughput=-0.2, memory_rss=0.001)), None)
    assert result.outcome == "pass"
    assert "harm of 3.0 % or more is ruled out (99 %" in result.sentence
    beside = {one.metric: one.worse for one in result.beside}
    assert beside == {"throughput": True, "memory_rss": None}
    assert {one.metric: one.shown for one in result.beside} == {"throughput": True, "memory_rss": False}


@pytest.mark.parametrize(
    ("changes", "outcome", "says"),
    [
        ({"same": "build f00"}, "pass", "both sides are the same (build f00)"),
        ({"abstains": ["no certificate", "busy"]}, "inconclusive", "inconclusive: no certificate; busy."),
        ({}, "inconclusive", "ended before its first interim analysis"),
    ],
)
def test_what_was_not_run_is_answered_without_a_trial(changes, outcome, says):
    result = conclude((gate(**changes), []), None)
    assert (result.outcome, result.trials, result.looks) == (outcome, 0, [])
    assert says in result.sentence


@pytest.mark.parametrize("looks", [[6], [6, 10], [6, 10, 20]])
def test_harm_at_the_floor_is_found_by_the_last_look(looks):
    """With the true spread at the bound that the certificate takes."""
    known = 20
    floor = floor_of(0.01, known, looks)
    true_sd = 0.01 * math.sqrt(19 / stats.chi2.ppf(0.05, 19))
    logs = np.random.default_rng(6).normal(math.log1p(floor), true_sd, (20_000, looks[-1]))
    level = levels_of(looks)[-1]
    low, _ = stats.t.interval(1 - level, looks[-1] - 1, logs.mean(axis=1), stats.sem(logs, axis=1))
    assert (low > 0).mean() == pytest.approx(0.99, abs=0.004)


def test_terms_survive_json() -> None:
    made = terms(seconds=900.0)
    assert type(made).model_validate_json(made.model_dump_json()) == made
