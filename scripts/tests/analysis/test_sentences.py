# SPDX-License-Identifier: Apache-2.0
import re

import pytest
from builders import make_climb, make_session, make_trial, make_trials

from steelyard.analysis.estimates import analyse, arm_label
from steelyard.analysis.leading import lead
from steelyard.analysis.sentences import answer, primary_claim
from steelyard.analysis.wording import TIED, brief, effect
from steelyard.experiment.schema import Load
from steelyard.measure.registry import metric_info
from steelyard.results.figures import (
    bounds,
    change,
    interval,
    limit,
    not_ruled_out,
    percent,
    span,
    with_unit,
)
from steelyard.results.figures import effect as change_of

WOBBLE = [0.99, 1.01, 1.0, 1.005, 0.995, 1.0]


def about(level, spread=1.0, shift=0):
    """Six figures about a level; `shift` turns the pattern, so that arms do not wobble together."""
    return [level * (1 + spread * (WOBBLE[(i + shift) % 6] - 1)) for i in range(6)]


def answer_to(levels, figures, blocks=6, trials=None, **asking):
    asked = make_session(levels, blocks, **asking)
    return answer(asked, analyse(asked, trials or make_trials(figures)))


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (2.88, "+188 %"),
        (0.969, "\N{MINUS SIGN}3.1 %"),
        (1.0, "0.0 %"),
        (1.0004, "+0.04 %"),
        (0.9996, "\N{MINUS SIGN}0.04 %"),
        (1 + 1e-12, "0.0 %"),
        (0.5, "\N{MINUS SIGN}50 %"),
        (12.0, "\N{MULTIPLICATION SIGN} 12"),
    ],
)
def test_change(ratio, text):
    assert change(ratio) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("throughput", 31_234.4, "31,234 req/s"),
        ("memory_rss", 300 * 2**20, "300 MiB"),
        ("error_share", 0.00012, "0.012 %"),
        ("error_share", 0.01067, "1.067 %"),
        ("latency_p99", 1.23456, "1.235 ms"),
        ("cpu_per_1k", 0.00004, "0.000040 CPU s"),
        ("latency_p99", None, "\N{EN DASH}"),
        ("latency_p99", float("nan"), "\N{EN DASH}"),
    ],
)
def test_figure(name, value, text):
    assert with_unit(metric_info(name), value) == text


def test_percent_and_interval() -> None:
    assert percent(0.0306) == "3.1 %"
    assert percent(0.0999) == "10 %"
    assert percent(99.0) == percent(6.67e28) == "over 900 %"
    assert percent(99.0, sign=True) == "\N{MULTIPLICATION SIGN} 100"
    assert percent(6.67e28, sign=True) == "over \N{MULTIPLICATION SIGN} 1,000"
    assert interval(0.9, 1.25) == "\N{MINUS SIGN}10 to +25 %"
    assert interval(1.0002, 1.03) == "+0.02 to +3.00 %", "it does not seem to reach what it leaves out"
    assert interval(0.99996, 1.03) == "0.0 to +3.0 %"
    assert interval(2.83, 2.93) == "+183 to +193 %"
    assert (change_of(None), bounds(None)) == ("\N{EN DASH}", "")


def test_what_can_be_detected_or_ruled_out_is_no_figure_above_a_doubling() -> None:
    assert (limit(0.42), limit(1.0), limit(13.3), limit(6.67e28)) == ("42 %", "100 %", *["over 100 %"] * 2)
    assert span(0.42, 6.67e28) == "42 to over 100 %"
    assert span(2.0, 13.3) == span(13.3, None) == "over 100 %"
    assert span(0.02, 0.15) == "2.0 to 15 %"
    assert not_ruled_out(0.15) == "cannot rule out a difference of up to 15 %"
    assert not_ruled_out(13.3) == "not even a doubling is ruled out"


def test_study_like_answer() -> None:
    """Rises to four JVMs, is the same with six, falls with twelve: four and six are not told apart."""
    rss = {1: 100.0, 2: 160.0, 4: 280.0, 6: 400.0, 12: 760.0}
    rate = {1: 100.0, 2: 180.0, 4: 288.0, 6: 288.5, 12: 250.0}
    trials = [
        make_trial(
            block + 1,
            f"jvms-{jvms}",
            metrics={
                "throughput": about(rate[jvms], shift=place)[block],
                "memory_rss": about(rss[jvms] * 2**20, 0.1, shift=place)[block],
            },
        )
        for place, jvms in enumerate(rate, start=1)
        for block in range(6)
    ]
    first, second, third = answer_to(list(rate), {}, trials=trials)
    assert first == (
        "The highest throughput seen was that with JVMs = 6: 288 req/s, +188 % against JVMs = 1 (simultaneous 95 % CI"
        " +183 to +195 %, 6 blocks), beyond noise; against JVMs = 4 it is +0.2 % (\N{MINUS SIGN}2.2 to +2.6 %), within"
        " noise: cannot rule out a difference of up to 2.6 %."
    )
    assert second == (
        "Memory (RSS) of the servers: 100 MiB with JVMs = 1; 280 MiB with JVMs = 4, +180 % (simultaneous 95 % CI +180"
        " to +180 %, 6 blocks), beyond noise; 400 MiB with JVMs = 6, +300 % (simultaneous 95 % CI +299 to +301 %, 6"
        " blocks), beyond noise."
    )
    # Every difference from the baseline was found: what it takes to find one in most sessions is no doubt about them.
    assert third == "How far to believe it: 6 of 6 blocks are complete."


HIGHEST = "^Throughput was highest with JVMs"
NEAREST = "; against the nearest other, JVMs"
LIMIT = r"cannot rule out a difference of up to [\d.]+ %\.$"


@pytest.mark.parametrize(
    ("verdict", "levels", "baseline", "says"),
    [
        (
            "best",
            {1: (100, 0), 2: (180, 1), 4: (300, 2)},
            0,
            rf"{HIGHEST} = 4: .*{NEAREST} = 2, it is \+67 % \(.*beyond noise; no level beyond it was tried\.$",
        ),
        (
            "best",
            {1: (100, 0), 2: (180, 1), 4: (150, 2)},
            0,
            rf"{HIGHEST} = 2: .*{NEAREST} = 4, it is \+20 % \(.*\), beyond noise\.$",
        ),
        (
            "best",
            {1: (300, 0), 2: (200, 1), 4: (100, 2)},
            2,
            rf"{HIGHEST} = 1: 300 req/s, \+200 % against JVMs = 4.*{NEAREST} = 2, it is \+50 %",
        ),
        (
            "leads",
            {1: (100, 0), 4: (288, 1), 6: (288.5, 2)},
            0,
            "^The highest throughput seen was that with JVMs = 6",
        ),
        (
            "no difference",
            {1: (100, 0), 2: (100.5, 2)},
            0,
            f"^No difference in throughput was beyond noise: JVMs = 2 against JVMs = 1 is .*within noise: {LIMIT}",
        ),
        (
            "no difference",
            {1: (100, 0), 2: (100, 2), 4: (100.1, 4)},
            0,
            f"^No difference .* was beyond noise: the highest seen, JVMs = 4, is .*2 comparisons together {LIMIT}",
        ),
        (
            "equal",
            {1: (100, 0), 2: (100, 2)},
            0,
            r"^Equal within ±1 % in throughput, shown: against JVMs = 1 JVMs = 2 .*, 95 % CI\.$",
        ),
        (
            "worse",
            {1: (100, 0), 2: (99.9, 2), 4: (80, 4)},
            0,
            "^Nothing was better than JVMs = 1 .*: the nearest, JVMs = 2, is at.*JVMs = 4 is at \N{MINUS SIGN}20 %",
        ),
    ],
)
def test_a_claim_and_its_sentence(verdict, levels, baseline, says):
    asked = make_session([*levels], 6, baseline=baseline)
    figures = {f"jvms-{level}": about(mean, shift=shift) for level, (mean, shift) in levels.items()}
    analysis = analyse(asked, make_trials(figures))
    claim = primary_claim(asked, analysis)
    assert claim.verdict == verdict
    assert re.search(says, claim.sentence)
    assert answer(asked, analysis)[0] == claim.sentence
    if verdict in ("best", "leads"):
        assert f"with JVMs = {claim.arms[-1].removeprefix('jvms-')}: " in claim.sentence


def test_arms_without_common_blocks_are_not_compared() -> None:
    """JVMs = 2 and 4 share one block: what lies between them cannot be said, so neither is the highest."""
    figures = {"jvms-1": about(100), "jvms-2": about(180, 1, 1), "jvms-4": about(300, 1, 2)}
    trials = [
        trial
        for trial in make_trials(figures)
        if not (trial.arm == "jvms-2" and trial.block > 3) and not (trial.arm == "jvms-4" and trial.block < 3)
    ]
    first = answer_to([1, 2, 4], {}, trials=trials)[0]
    assert first.startswith("The highest throughput seen was that with JVMs = 4")
    assert "against JVMs = 2 it is not compared (1 block in common)" in first


def test_an_arm_without_figures_is_named() -> None:
    figures = {"jvms-1": about(100), "jvms-2": about(100, 1, 1), "jvms-4": []}
    assert answer_to([1, 2, 4], figures)[0].endswith(" Nothing can be said of JVMs = 4.")
    figures["jvms-2"] = about(200, 1, 1)
    # Also one whose label is the beginning of another's.
    named = answer_to([2, 12, 1], {"jvms-2": about(100), "jvms-12": about(100, 1, 1), "jvms-1": []})[0]
    assert named.endswith(" Nothing can be said of JVMs = 1.")
    first = answer_to([1, 2, 4], figures)[0]
    assert first.startswith("The highest throughput seen")
    assert "against JVMs = 4 it is not compared (0 blocks in common)" in first


def test_a_figure_of_zero_beside_a_void_baseline_ends_no_answer() -> None:
    """The arm has ratios in three blocks, and in the fourth, where the baseline is void, no logarithm."""
    trials = make_trials(
        {"jvms-1": [100, 101, 0, 99], "jvms-2": [120, 121, 0, 120], "jvms-4": [110, 111, 110, 108]}
    )
    trials = [trial for trial in trials if not (trial.arm == "jvms-1" and trial.block == 3)]
    first = answer_to([1, 2, 4], {}, blocks=4, trials=trials)[0]
    assert "throughput seen was that with JVMs = 2" in first


@pytest.mark.parametrize("why", ["tied", "unequal"])
def test_what_is_ruled_out_is_said_of_those_comparisons_alone_that_rule_it_out(why: str) -> None:
    figures = {"jvms-1": about(100), "jvms-2": about(100, 1, 2), "jvms-4": about(100.1, 1, 0)}
    asked = make_session([1, 2, 4], 6)
    analysis = analyse(asked, make_trials(figures))
    if why == "unequal":
        arms = analysis.estimates["throughput"]
        arms["jvms-4"] = arms["jvms-4"].model_copy(update={"unequal": "6 of 6 are void"})
    sentence = primary_claim(asked, analysis).sentence
    assert sentence.startswith("No difference in throughput against JVMs = 1 was beyond noise")
    assert "comparisons together" not in sentence
    assert re.search(
        r"and for JVMs = 2 cannot rule out a difference of up to [\d.]+ %; nothing is ruled out for JVMs = 4\.$",
        sentence,
    )


@pytest.mark.parametrize(("unsteady", "said"), [(5, True), (4, True), (2, False)])
def test_arms_that_were_mostly_not_steady_are_named_before_their_difference(unsteady: int, said: bool):
    """Two JVMs of DayTrader7 on two CPUs still compiled in all trials of a quick session, as one did."""
    trials = [
        trial.model_copy(update={"steady": trial.block > unsteady})
        for trial in make_trials({"jvms-1": about(100), "jvms-2": about(70, 1, 2)})
        if trial.block <= 5
    ]
    asked = make_session([1, 2], 5)
    analysis = analyse(asked, trials)
    first, second = answer(asked, analysis)[:2]
    told = (
        f"Not steady: {unsteady} of 5 trials of JVMs = 1, {unsteady} of 5 trials of JVMs = 2; what differs may be"
        " how far each had warmed up."
    )
    assert (first == told) is said
    assert lead(asked, analysis).startswith("Not steady: ") is said
    assert (second if said else first).startswith("Nothing was better than JVMs = 1")


NOTE = "means are over all valid trials of an arm, a change is over the blocks that both of its arms have"


def test_an_arm_has_one_mean_and_what_a_change_is_over_is_said() -> None:
    """The arm lacks the two fast blocks: means of sentence and table are the same, and the change is of four blocks."""
    base = [100.0, 101.0, 99.0, 100.0, 200.0, 201.0]
    trials = [
        make_trial(block, arm, metrics={"throughput": value, "memory_rss": value * 2**20})
        for arm, values in (("jvms-1", base), ("jvms-2", [110.5, 111.0, 109.0, 110.0]))
        for block, value in enumerate(values, start=1)
    ]
    asked = make_session([1, 2], 6, metrics={"report": ["memory_rss"]})
    analysis = analyse(asked, trials)
    first, second, last = answer(asked, analysis)
    assert first.startswith("Throughput was highest with JVMs = 2: 110 req/s, +10.1 % against JVMs = 1")
    assert second.startswith(
        "Memory (RSS) of the servers: 134 MiB with JVMs = 1; 110 MiB with JVMs = 2, +10.1 %"
    )
    assert NOTE in last
    for arm, told_mean in (("jvms-1", 134), ("jvms-2", 110)):
        assert analysis.summaries["throughput"][arm].mean == pytest.approx(told_mean, abs=0.5)


def test_nothing_is_said_of_blocks_where_all_are_compared() -> None:
    figures = {"jvms-1": about(100), "jvms-2": about(200, 1, 1)}
    assert NOTE not in answer_to([1, 2], figures)[-1]


def test_few_blocks_far_apart_would_find_next_to_nothing() -> None:
    first, last = answer_to([1, 2], {"jvms-1": [100.0] * 3, "jvms-2": [101.0, 300.0, 20.0]})
    assert (
        "nothing below a doubling (or a halving) of throughput can be seen (80 % power, spread at its upper 95 % bound)"
        in last
    )
    assert first.endswith("within noise: not even a doubling is ruled out.")
    assert "fold" not in first + last


def test_what_a_session_can_detect_is_said_where_nothing_was_found() -> None:
    figures = {"jvms-1": about(100), "jvms-2": about(100, 1, 2)}
    assert re.search(
        r"this session can detect changes of [\d.]+ % or more in throughput \(80 % power, spread at its upper 95 %"
        r" bound; [\d.]+ % if the spread seen is the true one\)\.$",
        answer_to([1, 2], figures)[-1],
    )
    some = answer_to([1, 2, 4], {**figures, "jvms-4": about(120, 1, 4)})[-1]
    assert re.search(r"or more in throughput with JVMs = 2 \(80 % power, .*, 2 comparisons corrected;", some)


def test_power_never_stands_beside_an_effect_that_was_found() -> None:
    """+26 % beyond noise beside "a true change of 42 % would be found" was read as a doubt."""
    base, more = [100.0, 104.0, 96.0, 101.0, 99.0], [126.0, 131.0, 135.0, 118.0, 124.0]
    first, last = answer_to([1, 2], {"jvms-1": base, "jvms-2": more}, blocks=5)
    assert "beyond noise" in first
    assert "detect" not in last
    assert "would" not in last


def test_exact_ties_show_nothing() -> None:
    """Three collections against two in every block: the figures cannot resolve their spread."""
    first, last = answer_to([1, 2], {"jvms-1": [2.0] * 6, "jvms-2": [3.0] * 6})
    assert first == (
        "No difference in throughput was beyond noise: JVMs = 2 against JVMs = 1 is +50 % (6 blocks), all blocks gave"
        " this same ratio: without a spread there is no interval, and chance is not ruled out."
    )
    assert "detect" not in last
    assert TIED in answer_to([1, 2], {"jvms-1": [2.0] * 6, "jvms-2": [2.0] * 6})[0]


OPEN = Load(model="open", rate=1000.0)


def test_what_the_load_gives_is_not_praised() -> None:
    figures = {"jvms-1": about(1000), "jvms-2": about(1050, 1, 1), "jvms-4": about(1100, 1, 2)}
    first = answer_to([1, 2, 4], figures, load=OPEN)[0]
    assert first == (
        "No answer from throughput: the load sets the rate of arrivals, so that throughput is an input and not a result"
        " (1,000 req/s with JVMs = 1)."
    )
    asked = make_session([1, 2, 4], 6, load=OPEN)
    (info,) = analyse(asked, make_trials(figures)).metrics
    assert (info.better, info.label) == ("neither", "throughput (given)")


def test_what_the_load_gives_is_no_further_figure_either() -> None:
    trials = [
        make_trial(
            block + 1, arm, metrics={"latency_p50": about(level, 1, turn)[block], "throughput": 1000.0}
        )
        for arm, level, turn in (("jvms-1", 8.0, 0), ("jvms-2", 4.0, 1))
        for block in range(6)
    ]
    said = answer_to(
        [1, 2], {}, trials=trials, load=OPEN, metrics={"primary": "latency_p50", "report": ["throughput"]}
    )
    assert said[0].startswith("Latency p50 was lowest with JVMs = 2")
    assert said[1].startswith("How far to believe it")


def test_two_groups_and_unequal_spreads_stand_beside_the_interval() -> None:
    fast_or_slow = [100.0, 130.5, 130.0, 100.5, 129.5, 101.0, 131.0, 99.5]
    steady = [90.0, 90.2, 89.9, 90.1, 90.05, 89.95, 90.15, 90.0]
    first = answer_to([1, 2], {"jvms-1": steady, "jvms-2": fast_or_slow}, blocks=8)[0]
    assert re.search(
        "; trials of JVMs = 2 spread [0-9]+[.][0-9] times as widely as those of JVMs = 1;", first
    )
    assert (
        "trials of JVMs = 2 fall into two groups (about 100 req/s in blocks 1, 4, 6, 8 and about 130 req/s in blocks 2,"
        " 3, 5, 7), and few are like their mean" in first
    )
    assert (
        "trials"
        not in answer_to([1, 2], {"jvms-1": steady, "jvms-2": [2 * x for x in reversed(steady)]}, 8)[0]
    )


def test_lower_is_better() -> None:
    trials = [
        make_trial(block + 1, arm, metrics={"start_time": about(level, 1, turn)[block]})
        for arm, level, turn in (("jvms-1", 8.0, 0), ("jvms-2", 4.0, 1))
        for block in range(6)
    ]
    first = answer_to([1, 2], {}, trials=trials, metrics={"primary": "start_time"})[0]
    assert first.startswith("Start-up was lowest with JVMs = 2: 4.00 s, \N{MINUS SIGN}50 % against JVMs = 1")


def test_several_arms_are_several_chances() -> None:
    """p below 5 % alone, but not as one of five: within noise, by the interval that stands beside it."""
    asked = make_session([1, 2, 4, 6, 8, 10], 6)
    figures = {f"jvms-{level}": about(100, 1, level) for level in (2, 4, 6, 8, 10)}
    figures |= {"jvms-1": about(100), "jvms-10": [101.2, 101.9, 100.1, 101.0, 100.2, 101.6]}
    estimate = analyse(asked, make_trials(figures)).estimates["throughput"]["jvms-10"]
    assert estimate.p is not None
    assert estimate.p_adjusted is not None
    assert estimate.p < 0.05 < estimate.p_adjusted
    assert re.search(
        r"simultaneous 95 % CI \N{MINUS SIGN}0[.]\d to [+]\d[.]\d %, 6 blocks\), within noise",
        effect(estimate),
    )


def test_belief_counts_what_went_wrong() -> None:
    trials = make_trials({"jvms-1": about(100), "jvms-2": about(200, 1, 1)})
    trials = [*trials[:-1], make_trial(6, "jvms-2", state="void", steady=False)]
    last = answer_to([1, 2], {}, trials=trials, quick=True)[-1]
    assert last.startswith(
        "How far to believe it: 5 of 6 blocks are complete; 1 of 12 trials was void and is left out;"
    )
    assert "1 of 12 trials was not steady" in last
    assert last.endswith("it was a quick session: an indication, not an answer.")


def test_no_answer_without_two_common_blocks() -> None:
    assert answer_to([1, 2], {"jvms-1": [1.0], "jvms-2": [2.0]}, blocks=1)[0] == (
        "No answer: no arm has two blocks with throughput in common with the baseline JVMs = 1."
    )
    assert answer_to([1, 2], {"jvms-1": [1.0]}, blocks=2)[0].startswith("No answer")


def test_an_arm_that_never_came_to_a_share_is_told_and_what_it_lost_weighed() -> None:
    """The slow arm keeps below 95 % of the other's level, so it has no time; what it lost is there in every trial."""
    curves = {"jvms-1": (900.0, 20.0), "jvms-2": (1000.0, 5.0)}
    trials = [
        make_trial(block, arm, curves={"throughput": make_climb(level + block, slow)})
        for arm, (level, slow) in curves.items()
        for block in range(1, 7)
    ]
    times, first, second, _ = answer_to(
        [1, 2],
        {},
        trials=trials,
        metrics={"primary": "time_to_95_of_best", "report": ["requests_lost_to_best"]},
    )
    assert re.fullmatch(
        r"95 % of the best arm's level was reached after \d+\.\d\d s with JVMs = 2 and in 0 of 6 trials with"
        r" JVMs = 1\.",
        times,
    )
    assert (
        first == "No answer from time to 95 % of the best arm's level: JVMs = 1 reached it in 0 of 6 trials."
    )
    assert second.startswith("Requests lost against the best arm's level: ")
    assert "with JVMs = 2" in second


def test_several_factors_and_words_as_levels() -> None:
    asked = make_session([1, 2], 6)
    arms = [
        arm.model_copy(update={"levels": {"jvms": level, "gc": "regional", "pages": pages}})
        for arm, level, pages in zip(asked.arms, (1, 2), ("small", "large"), strict=True)
    ]
    asked = asked.model_copy(update={"arms": arms})
    assert arm_label(asked, "jvms-2") == "JVMs = 2, pages = large", "by what differs"
    alike = [arm.model_copy(update={"levels": {"gc": "regional"}}) for arm in arms]
    assert arm_label(asked.model_copy(update={"arms": alike}), "jvms-2") == "gc = regional"
    analysis = analyse(asked, make_trials({"jvms-1": about(100), "jvms-2": about(200, 1, 1)}))
    assert "highest with JVMs = 2, pages = large: 200 req/s" in answer(asked, analysis)[0]


def test_short_forms() -> None:
    asked = make_session([1, 2], 6)
    analysis = analyse(asked, make_trials({"jvms-1": about(100), "jvms-2": about(200, 1, 1)})).estimates
    estimate = analysis["throughput"]["jvms-2"]
    assert brief(estimate) == f"{change_of(estimate)} ({bounds(estimate)})"
    none = analyse(asked, make_trials({"jvms-1": [1.0], "jvms-2": [2.0]})).estimates["throughput"]["jvms-2"]
    assert effect(none) == "no ratio: 1 block in common"
    zero = analyse(asked, make_trials({"jvms-1": [1.0, 0.0], "jvms-2": [2.0, 1.0]})).estimates["throughput"][
        "jvms-2"
    ]
    assert effect(zero) == "no ratio: figures that are not above zero have none"
