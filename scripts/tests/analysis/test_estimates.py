# SPDX-License-Identifier: Apache-2.0
import math
import random
import re
import statistics
from types import SimpleNamespace

import numpy as np
import pytest
from builders import make_failure, make_session, make_spec, make_trial, make_trials
from scipy import stats

from steelyard.analysis.estimates import NO_MEASUREMENT, analyse, simultaneous
from steelyard.analysis.findings import is_changed_by_voids, shows_equal
from steelyard.analysis.leading import lead
from steelyard.analysis.paired import detectable_effect, paired_test
from steelyard.analysis.rounds import trials_left_in, unequal
from steelyard.analysis.sentences import answer
from steelyard.analysis.wording import beyond_noise, weight
from steelyard.errors import BadInput
from steelyard.measure.ledger import RULES, judge
from steelyard.measure.registry import metric_info
from steelyard.results.analysis import Analysis
from steelyard.results.figures import capital
from steelyard.results.schema import Check, Trial

ONE = [100.0, 104.0, 98.0, 101.0]
TWO = [150.0, 151.0, 149.0, 155.0]


def test_ratio_interval_and_summary() -> None:
    analysis = analyse(make_session([1, 2], 4), make_trials({"jvms-1": ONE, "jvms-2": TWO}))
    logs = [math.log(two / one) for one, two in zip(ONE, TWO, strict=True)]
    reference = stats.ttest_1samp(logs, 0.0)
    interval = reference.confidence_interval(0.95)
    one = analysis.estimates["throughput"]["jvms-2"]
    assert one.n == 4
    assert one.ratio == pytest.approx(math.exp(statistics.mean(logs)))
    assert (one.low, one.high) == pytest.approx((math.exp(interval.low), math.exp(interval.high)))
    assert one.p == one.p_adjusted == pytest.approx(reference.pvalue)
    assert one.cannot_rule_out == pytest.approx(math.exp(interval.high) - 1)
    assert one.ratios == pytest.approx([two / one for one, two in zip(ONE, TWO, strict=True)])
    summary = analysis.summaries["throughput"]["jvms-2"]
    assert (summary.n, summary.mean, summary.min, summary.max) == (4, pytest.approx(151.25), 149.0, 155.0)
    assert summary.sd == pytest.approx(statistics.stdev(TWO))
    assert summary.cv == pytest.approx(statistics.stdev(TWO) / 151.25)
    assert summary.values == TWO
    assert summary.blocks == [1, 2, 3, 4]
    assert (analysis.blocks_complete, analysis.blocks_planned, analysis.notes) == (4, 4, [])


def test_cannot_rule_out_looks_both_ways() -> None:
    worse = analyse(make_session([1, 2], 4), make_trials({"jvms-1": TWO, "jvms-2": ONE})).estimates[
        "throughput"
    ]["jvms-2"]
    assert worse.low is not None
    assert worse.cannot_rule_out == pytest.approx(1 - worse.low)


def test_an_interval_beyond_every_number_rules_nothing_out() -> None:
    """Two blocks that differ 300 times: at the level of many comparisons exp(bound) fits no floating-point number."""
    few = {"jvms-1": [100.0, 100.0], "jvms-2": [1.0, 300.0]}
    analysis = analyse(make_session([1, 2], 2), make_trials(few))
    alone = analysis.estimates["throughput"]["jvms-2"]
    among_many = simultaneous(alone, 100)
    assert (among_many.low, among_many.high) == pytest.approx((math.exp(-100), math.exp(100)))
    assert not beyond_noise(among_many)
    assert weight(among_many) == "within noise: not even a doubling is ruled out"


def test_void_trials_are_never_averaged_in() -> None:
    trials = make_trials({"jvms-1": ONE, "jvms-2": TWO})
    void = [
        make_trial(2, "jvms-2", attempt=attempt, state="void", metrics={"throughput": 1.0})
        for attempt in (0, 1)
    ]
    clean = analyse(make_session([1, 2], 4), trials)
    disturbed = analyse(make_session([1, 2], 4), [*trials, *void])
    for name, arms in clean.estimates.items():
        for arm, estimate in arms.items():
            assert disturbed.estimates[name][arm].ratios == estimate.ratios
            assert disturbed.estimates[name][arm].ratio == estimate.ratio
    assert disturbed.summaries == clean.summaries
    assert (disturbed.trials, disturbed.void_trials) == (10, 2)


def slow_ones_void(state: str, slow: float, blocks: int = 10) -> Analysis:
    """b as good as a, but for every third start, which is slow, in this state, and repeated once."""
    rng = np.random.default_rng(2)
    rows = []
    for block in range(1, blocks + 1):
        is_slow = block % 3 == 0
        for attempt in range(1 + (is_slow and state == "void")):
            cut = slow if is_slow and attempt == 0 else 0.0
            rows.append((block, attempt, "jvms-1", "valid", 100 * math.exp(rng.normal(0.0, 0.002))))
            own = state if is_slow and attempt == 0 else "valid"
            rows.append((block, attempt, "jvms-2", own, 103 * math.exp(rng.normal(-cut, 0.002))))
    return analyse(make_session([1, 2], blocks), rounds_of(*rows))


def test_void_trials_that_would_change_the_answer_make_it_inconclusive() -> None:
    analysis = slow_ones_void("void", 0.1)
    found = analysis.estimates["throughput"]["jvms-2"]
    assert found.ratio == pytest.approx(1.03, abs=0.003)
    assert len(found.left_in) == 10
    assert is_changed_by_voids(found)
    assert not beyond_noise(found)
    assert found.low is not None
    # The interval holds that with the void trials left in.
    assert found.low < math.exp(np.mean(np.log(found.left_in))) < 1.03
    first, *_ = answer(make_session([1, 2], 10), analysis)
    assert first.startswith("Inconclusive: what is void may hang on how it performs")
    assert "with them left in" in first
    assert re.fullmatch(
        r"Inconclusive: \+2\.\d % throughput with JVMs = 2\.", lead(make_session([1, 2], 10), analysis)
    )


def test_void_trials_that_change_nothing_leave_the_answer() -> None:
    found = slow_ones_void("void", 0.004).estimates["throughput"]["jvms-2"]
    assert len(found.left_in) == 10
    assert not is_changed_by_voids(found)
    assert beyond_noise(found)
    untouched = slow_ones_void("valid", 0.004).estimates["throughput"]["jvms-2"]
    assert untouched.left_in == []


@pytest.mark.parametrize("served", [0.0, -1.0])
def test_void_trials_that_have_no_ratio_make_it_inconclusive(served: float) -> None:
    """One figure of 0 hid every void trial."""
    analysis = analyse(make_session([1, 2], 10), of_void(served))
    found = analysis.estimates["throughput"]["jvms-2"]
    assert found.left_in == []
    assert found.unequal is not None
    assert "with void trials left in, throughput has no ratio" in found.unequal
    assert not beyond_noise(found)
    assert not shows_equal(found)
    assert weight(found).startswith("inconclusive")
    first, *_ = answer(make_session([1, 2], 10), analysis)
    assert first == f"Inconclusive: {found.unequal}."
    known = analyse(make_session([1, 2], 10), of_void(99.0)).estimates["throughput"]["jvms-2"]
    assert known.unequal is None
    assert len(known.left_in) == 10


def of_void(served: float) -> list[Trial]:
    """Equal arms; the second is void at first in three blocks, with such a throughput."""
    rng = np.random.default_rng(5)
    rows: list[tuple[int, int, str, str, float]] = []
    for block in range(1, 11):
        for attempt in range(1 + (block in (3, 5, 7))):
            void = block in (3, 5, 7) and attempt == 0
            rows.append((block, attempt, "jvms-1", "valid", 100 * math.exp(rng.normal(0.0, 0.002))))
            own = served if void else 100 * math.exp(rng.normal(0.0, 0.002))
            rows.append((block, attempt, "jvms-2", "void" if void else "valid", own))
    return rounds_of(*rows)


@pytest.mark.parametrize("check", ["build", "settings", "clock-step", "clock-offset", "sample-gaps"])
def test_a_trial_that_is_not_the_arms_is_left_in_nowhere(check: str) -> None:
    failed = Check(name=check, passed=False, voids=True, value=1.0, limit=0.0, unit="", detail="Bad.")
    void = make_trial(1, "jvms-2", state="void", checks=[failed], metrics={"throughput": 1.0})
    assert trials_left_in([void], "jvms-1") == {}
    assert {rule.name for rule in RULES} > {check}


def voided_by(check: str, *voids: tuple[int, str]) -> list[Trial]:
    """Two arms in 12 blocks; at these places others took 30 % of the host."""
    taken = Check(name=check, passed=False, voids=True, value=0.3, limit=0.01, unit="", detail="Taken.")
    return [
        make_trial(block, arm, metrics={"throughput": 1.0}, **of)
        for block in range(1, 13)
        for arm in ("jvms-1", "jvms-2")
        for of in [{"state": "void", "checks": [taken]} if (block, arm) in voids else {}]
    ]


@pytest.mark.parametrize(
    ("one", "two", "left"),
    [
        ((), (1, 2), ""),  # both on one side by chance in half of such sessions
        ((), (1, 2, 3), "jvms-2"),  # in a quarter
        ((1, 2, 3), (), "jvms-1"),
        ((1,), (2, 3, 4, 5), ""),
        ((1,), (2, 3, 4, 5, 6), "jvms-2"),
        ((1, 2, 3), (1, 2, 3), ""),  # in the same rounds: both
        ((1, 2, 3), (4, 5, 6), ""),
    ],
)
@pytest.mark.parametrize("check", ["steal", "other-cpu"])
def test_what_others_took_is_left_in_where_one_arm_has_it_more_often(
    check: str, one: tuple[int, ...], two: tuple[int, ...], left: str
) -> None:
    """Steal of an arm that uses burst credits up, other CPU of its forwarder: slow starts were left in nowhere."""
    places = [(block, "jvms-1") for block in one], [(block, "jvms-2") for block in two]
    kept = trials_left_in(voided_by(check, *places[0], *places[1]), "jvms-1")
    assert len(kept["jvms-1"]) == 12 - (len(one) if left != "jvms-1" else 0)
    assert len(kept["jvms-2"]) == 12 - (len(two) if left != "jvms-2" else 0)


@pytest.mark.parametrize("check", ["steal", "other-cpu"])
def test_what_others_did_to_either_arm_is_left_in_nowhere(check: str) -> None:
    taken = Check(name=check, passed=False, voids=True, value=0.3, limit=0.01, unit="", detail="Taken.")
    stalled = taken.model_copy(update={"name": "stalled"})
    unknown = taken.model_copy(update={"value": None})

    def left(*checks: Check) -> bool:
        void = make_trial(1, "jvms-2", state="void", checks=[*checks], metrics={"throughput": 1.0})
        return bool(trials_left_in([void], "jvms-1"))

    assert not left(taken)
    assert left(taken, stalled)
    assert left(unknown), "what was not measured says nothing of others"
    assert {rule.name for rule in RULES} > {check}


def rounds_of(*states: tuple[int, int, str, str, float]) -> list:
    """Trials by block, round, arm, state and throughput."""
    return [
        make_trial(block, arm, attempt=attempt, state=state, metrics={"throughput": value})
        for block, attempt, arm, state, value in states
    ]


def test_only_trials_of_one_round_are_compared() -> None:
    """The drift between rounds is tenfold: whatever mixes them shows."""
    trials = rounds_of(
        (1, 0, "jvms-1", "valid", 100.0),
        (1, 0, "jvms-2", "void", 1.0),
        (1, 0, "jvms-4", "valid", 300.0),
        (1, 1, "jvms-1", "valid", 1000.0),
        (1, 1, "jvms-2", "valid", 2000.0),
        (2, 0, "jvms-1", "void", 1.0),
        (2, 0, "jvms-2", "valid", 200.0),
        (2, 0, "jvms-4", "valid", 300.0),
        (2, 1, "jvms-1", "valid", 1000.0),
        (2, 1, "jvms-2", "valid", 2000.0),
        (2, 1, "jvms-4", "void", 1.0),
        (2, 2, "jvms-1", "valid", 10.0),
        (2, 2, "jvms-4", "valid", 30.0),
    )
    analysis = analyse(make_session([1, 2, 4], 2), trials)
    assert analysis.estimates["throughput"]["jvms-2"].ratios == pytest.approx([2.0, 2.0])
    assert analysis.estimates["throughput"]["jvms-4"].ratios == pytest.approx([3.0, 3.0])
    # Means are over all valid trials, and each figure tells its round.
    base = analysis.summaries["throughput"]["jvms-1"]
    assert (base.n, base.values) == (4, [100.0, 1000.0, 1000.0, 10.0])
    assert (base.blocks, base.rounds) == ([1, 1, 2, 2], [0, 1, 1, 2])
    assert (analysis.blocks_complete, analysis.notes) == (2, [])


def test_an_old_baseline_and_a_later_repeat_are_no_pair() -> None:
    trials = rounds_of(
        (1, 0, "jvms-1", "valid", 100.0),
        (1, 0, "jvms-2", "void", 1.0),
        (1, 1, "jvms-1", "void", 1.0),
        (1, 1, "jvms-2", "valid", 2000.0),
    )
    analysis = analyse(make_session([1, 2], 1), trials)
    assert (analysis.estimates["throughput"]["jvms-2"].n, analysis.blocks_complete) == (0, 0)
    assert analysis.summaries["throughput"]["jvms-2"].values == [2000.0]


def trials_of(states: str, arm: str, **of: dict) -> list:
    """A trial of an arm for each letter, in blocks of their own: valid, Void, not Steady."""
    changes = {"v": {}, "V": {"state": "void"}, "S": {"steady": False}}
    return [
        make_trial(block, arm, metrics={"throughput": 100.0 + block}, **changes[letter], **of)
        for block, letter in enumerate(states, start=1)
    ]


@pytest.mark.parametrize(
    ("one", "two", "p"),
    [
        ("vvvvvvvv", "VVVVVvvv", None),  # five to none: p = 0.0625
        ("vvvvvvvv", "VVVVVVvv", "0.031"),
        ("VVVVVVVVvv", "VVVVVVVVvv", None),  # often, and in the same rounds
        ("VVVvvvvvvvvv", "vvvVVVvvvvvv", None),
        ("vvvvvvvv", "SSSSSSSv", "0.016"),
        ("SSSSSSSv", "vvvvvvvv", "0.016"),
        ("vvvvv", "SSSSS", "0.062"),  # a quick session
        ("vvvvv", "SSSSv", None),
    ],
)
def test_voids_and_unsteady_trials_that_are_clearly_unequal(one, two, p):
    analysis = analyse(make_session([1, 2], len(one)), [*trials_of(one, "jvms-1"), *trials_of(two, "jvms-2")])
    counts = analysis.by_arm["jvms-2"]
    assert (counts.trials, counts.void, counts.not_steady) == (len(two), two.count("V"), two.count("S"))
    why = analysis.estimates["throughput"]["jvms-2"].unequal
    assert (why is None) == (p is None)
    assert (f"{why}: the comparison is inconclusive." in analysis.notes) == (p is not None)
    if why:
        fault = "void" if "V" in two else "not steady"
        assert f"of {len(one)} trials of jvms-2 are {fault}" in why
        assert f"(p = {p}, exact McNemar test)" in why


def test_unequal_voids_are_told_and_nothing_else_is_claimed() -> None:
    trials = [*trials_of("v" * 12, "jvms-1"), *trials_of("VVVVVV" + "v" * 6, "jvms-2")]
    trials = [
        trial.model_copy(
            update={
                "metrics": {
                    "throughput": trial.metrics["throughput"]
                    * (2 + trial.block / 1000 if trial.arm == "jvms-2" else 1)
                }
            }
        )
        for trial in trials
    ]
    asked = make_session([1, 2], 12)
    analysis = analyse(asked, trials)
    assert analysis.estimates["throughput"]["jvms-2"].p < 1e-6
    first, *rest = answer(asked, analysis)
    assert first.startswith("Inconclusive: 6 of 12 trials of jvms-2 are void, and 0 of 12 of jvms-1")
    assert "beyond noise:" not in " ".join(rest).replace("was beyond noise", "")
    assert not beyond_noise(analysis.estimates["throughput"]["jvms-2"])


def test_a_fair_coin_is_called_unequal_as_rarely_as_stated() -> None:
    """Both arms are void in 30 % of their trials, and repeats depend on what was void."""
    rng = random.Random(3)
    called = 0
    for _ in range(400):
        trials = []
        for block in range(20):
            for attempt in range(3):
                pair = [
                    SimpleNamespace(
                        arm=arm,
                        block=block,
                        attempt=attempt,
                        state="void" if rng.random() < 0.3 else "valid",
                        measurement=None,
                        checks=[],
                    )
                    for arm in "ab"
                ]
                trials += pair
                if all(trial.state == "valid" for trial in pair):
                    break
        called += unequal(trials, "b", "a") is not None
    # The test is exact and its figures are whole numbers: below 5 %, and not far below.
    assert 0.01 < called / 400 < 0.07


def test_blocks_without_their_pair_are_left_out() -> None:
    trials = [
        trial
        for trial in make_trials({"jvms-1": ONE, "jvms-2": TWO})
        if (trial.block, trial.arm) != (3, "jvms-1")
    ]
    analysis = analyse(make_session([1, 2], 4), trials)
    assert analysis.estimates["throughput"]["jvms-2"].n == 3
    assert analysis.summaries["throughput"]["jvms-2"].n == 4
    assert analysis.blocks_complete == 3
    (note,) = analysis.notes
    assert note.startswith(
        "1 of 4 blocks lack a valid trial of some arm beside one of the baseline; each comparison"
    )


def test_one_block_has_figures_but_no_ratio() -> None:
    analysis = analyse(make_session([1, 2], 1), make_trials({"jvms-1": [100.0], "jvms-2": [150.0]}))
    pair = analysis.estimates["throughput"]["jvms-2"]
    assert (pair.n, pair.ratios) == (1, [1.5])
    assert {
        pair.ratio,
        pair.low,
        pair.high,
        pair.p,
        pair.p_adjusted,
        pair.detectable,
        pair.cannot_rule_out,
    } == {None}
    summary = analysis.summaries["throughput"]["jvms-2"]
    assert (summary.mean, summary.sd, summary.cv) == (150.0, None, None)


def test_no_trials_at_all() -> None:
    analysis = analyse(make_session([1, 2], 2), [])
    assert analysis.summaries == {"throughput": {}}
    assert analysis.estimates["throughput"]["jvms-2"].n == 0
    assert analysis.blocks_complete == 0
    assert analysis.notes[0] == "No valid trial of jvms-1, jvms-2: nothing can be said about it."
    assert analysis.notes[-1] == "No valid trial has the primary metric throughput."


@pytest.mark.parametrize("bad", [0.0, -1.0])
def test_figures_that_are_not_positive_have_no_ratio(bad):
    analysis = analyse(make_session([1, 2], 4), make_trials({"jvms-1": ONE, "jvms-2": [*TWO[:3], bad]}))
    estimate = analysis.estimates["throughput"]["jvms-2"]
    assert (estimate.n, estimate.ratio, estimate.p, estimate.ratios) == (4, None, None, [])
    assert analysis.summaries["throughput"]["jvms-2"].min == bad


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_figures_that_are_no_numbers_are_missing(bad):
    analysis = analyse(make_session([1, 2], 4), make_trials({"jvms-1": ONE, "jvms-2": [*TWO[:3], bad]}))
    assert analysis.estimates["throughput"]["jvms-2"].n == 3
    assert analysis.summaries["throughput"]["jvms-2"].n == 3


def test_families() -> None:
    """Three families: the primary metric's two comparisons, the reported metrics' four, and the rest's two."""
    figures = {
        "throughput": {"jvms-1": ONE, "jvms-2": TWO, "jvms-4": [103.0, 104.0, 100.0, 108.0]},
        "memory_rss": {
            "jvms-1": [1.0, 1.1, 0.9, 1.0],
            "jvms-2": [1.1, 1.1, 1.0, 1.1],
            "jvms-4": [2.0, 2.1, 2.0, 2.2],
        },
        "start_time": {
            "jvms-1": [3.0, 3.1, 2.9, 3.0],
            "jvms-2": [3.0, 3.3, 2.9, 3.1],
            "jvms-4": [4.0, 3.1, 3.0, 4.2],
        },
        "latency_p99": {
            "jvms-1": [5.0, 5.1, 4.9, 5.0],
            "jvms-2": [5.2, 5.3, 5.0, 5.3],
            "jvms-4": [6.0, 5.1, 5.0, 6.2],
        },
    }
    trials = [
        make_trial(block + 1, arm, metrics={name: arms[arm][block] for name, arms in figures.items()})
        for arm in ("jvms-1", "jvms-2", "jvms-4")
        for block in range(4)
    ]
    estimates = analyse(
        make_session([1, 2, 4], 4, metrics={"report": ["memory_rss", "start_time"]}), trials
    ).estimates
    for names, comparisons in ((["throughput"], 2), (["memory_rss", "start_time"], 4), (["latency_p99"], 2)):
        for estimate in (estimate for name in names for estimate in estimates[name].values()):
            assert estimate.comparisons == comparisons
            assert estimate.p_adjusted == pytest.approx(min(1.0, comparisons * estimate.p))
            core = paired_test([math.log(ratio) for ratio in estimate.ratios], 0.05 / comparisons)
            assert (estimate.low, estimate.high) == pytest.approx((math.exp(core.low), math.exp(core.high)))
            assert estimate.detectable == pytest.approx(detectable_effect(core.n, core.sd, comparisons))


def test_interval_and_verdict_never_contradict_each_other() -> None:
    """An interval of one comparison beside a verdict over several did: -16.5 % (-27.8 to -3.4 %), "no difference"."""
    rng = np.random.default_rng(30)
    apart = 0
    for _ in range(300):
        levels = [1, 2, 4, 8]
        logs = rng.normal(rng.choice([0.0, 0.02, -0.04], 4)[:, None], 0.02, (4, 5))
        trials = make_trials(
            {f"jvms-{jvms}": list(np.exp(own)) for jvms, own in zip(levels, logs, strict=True)}
        )
        for estimate in analyse(make_session(levels, 5), trials).estimates["throughput"].values():
            assert estimate.low is not None
            assert estimate.high is not None
            assert beyond_noise(estimate) == (not estimate.low <= 1 <= estimate.high)
            apart += beyond_noise(estimate) != (estimate.p < 0.05)
    assert apart > 20, "the correction matters in these sessions"


def test_intervals_of_a_family_hold_their_truths_together() -> None:
    rng = np.random.default_rng(31)
    truths, sessions, held = np.array([0.0, 0.03, -0.02, 0.01]), 800, 0
    for _ in range(sessions):
        logs = rng.normal(truths[:, None], 0.02, (4, 6))
        trials = make_trials(
            {f"jvms-{n}": list(np.exp(own)) for n, own in zip((1, 2, 4, 8), logs, strict=True)}
        )
        estimates = analyse(make_session([1, 2, 4, 8], 6), trials).estimates["throughput"].values()
        held += all(
            e.low <= math.exp(truth) <= e.high for e, truth in zip(estimates, truths[1:], strict=True)
        )
    # 95 % at the least, less what chance leaves; intervals of one comparison each hold together in 88 %.
    assert held >= stats.binom.ppf(1e-4, sessions, 0.95) > 0.9 * sessions


def test_metrics_come_in_the_order_of_the_question() -> None:
    metrics = {"error_share": 0.0, "memory_rss": 1.0, "throughput": 5.0, "invented": 2.0, "start_time": 1.0}
    trials = [make_trial(1, arm, metrics=metrics) for arm in ("jvms-1", "jvms-2")]
    analysis = analyse(
        make_session([1, 2], 1, metrics={"primary": "start_time", "report": ["memory_rss"]}), trials
    )
    assert [info.name for info in analysis.metrics] == [
        "start_time",
        "memory_rss",
        "throughput",
        "error_share",
        "invented",
    ]
    assert analysis.metrics[-1].better == "neither"


def test_remarks_come_in_the_order_of_the_question_whatever_python_hashes() -> None:
    names = ["start_time", "memory_rss", "latency_p50", "throughput", "cpu_per_1k", "latency_p90"]
    wide, narrow = [1.0, 2.0, 0.5, 1.8, 0.6, 1.1], [1.0, 1.01, 0.99, 1.0, 1.02, 0.98]
    trials = [
        make_trial(block, arm, metrics=dict.fromkeys(names, value))
        for arm, values in (("jvms-1", narrow), ("jvms-2", wide))
        for block, value in enumerate(values, start=1)
    ]
    asked = make_session([1, 2], 6, metrics={"primary": names[0], "report": names[1:]})
    notes = [note for note in analyse(asked, trials).notes if "spread" in note]
    assert [note.partition(":")[0] for note in notes] == [capital(metric_info(name).label) for name in names]


def test_ledger_is_counted_over_all_trials() -> None:
    steal = make_trial(1, "jvms-1").measurement
    assert steal is not None
    bad = judge(steal.model_copy(update={"steal_share": 0.5, "steady": False}), make_spec())
    trials = [
        make_trial(1, "jvms-1", checks=judge(steal, make_spec())),
        make_trial(1, "jvms-2", checks=bad, state="void", steady=False),
        make_trial(
            2, "jvms-1", state="void", measurement=None, steady=False, failure=make_failure("port taken")
        ),
    ]
    analysis = analyse(make_session([1, 2], 2), trials)
    counts = {count.name: (count.failed, count.of, count.voids) for count in analysis.ledger}
    assert counts["steal"] == (1, 2, True)
    assert counts["not-steady"] == (1, 2, False)
    assert counts["errors"] == (0, 2, True)
    assert counts[NO_MEASUREMENT] == (1, 3, True)
    assert analysis.not_steady_trials == 1


def test_baseline_in_the_middle_and_missing() -> None:
    trials = make_trials({"jvms-1": ONE, "jvms-2": TWO})
    analysis = analyse(make_session([1, 2], 4, baseline=1), trials)
    assert analysis.baseline == "jvms-2"
    assert analysis.estimates["throughput"]["jvms-1"].ratio == pytest.approx(0.667, abs=0.01)
    with pytest.raises(BadInput, match="no baseline"):
        analyse(make_session([1, 2], 4, baseline=7), trials)


def test_survives_json() -> None:
    analysis = analyse(
        make_session([1, 2, 4], 4), make_trials({"jvms-1": ONE, "jvms-2": TWO, "jvms-4": [0.0]})
    )
    assert Analysis.model_validate_json(analysis.model_dump_json()) == analysis
