# SPDX-License-Identifier: Apache-2.0
"""Comparisons across host states rest on switches of the host: they say on how many, and two give no interval."""

from typing import Any

import pytest
from builders import make_session, make_trials

from steelyard.analysis.estimates import analyse
from steelyard.analysis.sentences import answer
from steelyard.analysis.wording import beyond_noise
from steelyard.report.tables import headline
from steelyard.report.view import View
from steelyard.results.analysis import Analysis
from steelyard.results.schema import Session, Trial

RATES = {
    "jvms-1": [100.0, 101.0, 99.0, 100.5, 100.2, 99.6],
    "jvms-2": [130.0, 131.5, 129.0, 130.0, 130.4, 129.9],
    "jvms-4": [131.0, 132.0, 130.1, 130.9, 131.3, 131.0],
}


def of_states(states: list[str], blocks: int) -> tuple[Session, list[Trial], Analysis]:
    """Arms that want these states of the host, in so many blocks."""
    arms = list(RATES)[: len(states)]
    made = make_session([1, 2, 4][: len(states)], blocks, metrics={"report": []})
    wanted = [
        arm.model_copy(update={"spec": arm.spec.model_copy(update={"host_states": {"thp": state}})})
        for arm, state in zip(made.arms, states, strict=True)
    ]
    made = made.model_copy(update={"arms": wanted})
    trials = make_trials({arm: RATES[arm][:blocks] for arm in arms})
    return made, trials, analyse(made, trials)


@pytest.mark.parametrize("blocks", [3, 6])
def test_the_answer_and_the_table_say_on_how_many_switches_it_rests(blocks: int) -> None:
    made, trials, analysis = of_states(["always", "never"], blocks)
    estimate = analysis.estimates["throughput"]["jvms-2"]
    assert (estimate.switches, beyond_noise(estimate)) == (blocks, True)
    assert estimate.low is not None
    assert f"{blocks} switches of the host to each state)" in answer(made, analysis)[0]
    (note,) = [
        estimate
        for estimate in headline(View(made, analysis, trials)).notes
        if estimate.startswith("Switches")
    ]
    assert f"rests on: 2: {blocks}." in note


def test_two_switches_give_no_interval() -> None:
    made, trials, analysis = of_states(["always", "never"], 2)
    estimate = analysis.estimates["throughput"]["jvms-2"]
    assert estimate.ratio == pytest.approx(1.3, rel=0.01)
    nothing: tuple[Any, ...] = (
        estimate.low,
        estimate.high,
        estimate.p,
        estimate.p_adjusted,
        estimate.detectable,
        estimate.cannot_rule_out,
    )
    assert nothing == (None,) * 6
    assert not beyond_noise(estimate)
    assert (
        "too few switches of the host for an interval, which needs 3 to each state"
        in answer(made, analysis)[0]
    )
    table = headline(View(made, analysis, trials))
    assert table.rows[1][-1].notes[1] == "no interval"


def test_two_blocks_without_a_switch_do() -> None:
    _, _, analysis = of_states(["never", "never"], 2)
    estimate = analysis.estimates["throughput"]["jvms-2"]
    assert (estimate.switches, estimate.low is None) == (None, False)


def test_several_arms_of_too_few_switches_claim_nothing() -> None:
    made, _, analysis = of_states(["always", "never", "never"], 2)
    first = answer(made, analysis)[0]
    assert first.startswith("No difference")
    assert "too few switches" in first
    assert "cannot rule out" not in first


def test_arms_of_one_plot_are_compared_by_blocks() -> None:
    """Only what lies across a switch counts switches; the baseline is the one that differs here."""
    made, _, analysis = of_states(["always", "never", "never"], 6)
    assert {estimate.switches for estimate in analysis.estimates["throughput"].values()} == {6}
    text = answer(made, analysis)[0]
    assert "against JVMs = 2 it is" in text or "nearest other, JVMs = 2" in text
