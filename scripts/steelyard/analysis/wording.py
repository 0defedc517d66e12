# SPDX-License-Identifier: Apache-2.0
"""One estimate in words: its change, its interval and how much it weighs. Pure functions of numbers."""

from steelyard.analysis.estimates import LEAST_SWITCHES, few_switches
from steelyard.analysis.findings import EQUAL, is_changed_by_voids, is_inconclusive, shows_equal, void_answer
from steelyard.analysis.paired import LEVEL
from steelyard.results import figures
from steelyard.results.analysis import Estimate
from steelyard.results.figures import percent

TIED = "all blocks gave this same ratio: without a spread there is no interval, and chance is not ruled out"


def beyond_noise(estimate: Estimate) -> bool:
    """Whether "no difference" is rejected at 5 %, Bonferroni's correction for its family included: just where the
    interval leaves it out.

    Never where the trials of the two are void, or not steady, unequally often.
    """
    return estimate.unequal is None and estimate.p_adjusted is not None and estimate.p_adjusted < LEVEL


def weight(estimate: Estimate) -> str:
    """How much an estimate weighs: `beyond noise`, `equal`, or `within noise` with what it cannot rule out."""
    if beyond_noise(estimate):
        return "beyond noise"
    if is_inconclusive(estimate):
        left_in = f": {void_answer(estimate)}" if is_changed_by_voids(estimate) else ""
        return f"inconclusive (void or unsteady trials, or carry-over){left_in}"
    if few_switches(estimate) and estimate.n >= 2:
        return f"too few switches of the host for an interval, which needs {LEAST_SWITCHES} to each state"
    if estimate.cannot_rule_out is None:
        return "too few blocks to say anything" if estimate.n < 2 else TIED
    shown = f"equal within ±{percent(EQUAL, 0)}, shown" if shows_equal(estimate) else "within noise"
    return f"{shown}: {figures.not_ruled_out(estimate.cannot_rule_out)}"


def effect(estimate: Estimate, against: str = "") -> str:
    """The change (against a label, where given) with its interval, number of blocks and weight."""
    if estimate.ratio is None:
        if estimate.n >= 2:
            return "no ratio: figures that are not above zero have none"
        return f"no ratio: {figures.count(estimate.n, 'block')} in common"
    change = figures.effect(estimate)
    if against:
        change += f" against {against}"
    basis = [rests_on(estimate)]
    if estimate.low is not None:
        several = "simultaneous " if estimate.comparisons > 1 else ""
        basis.insert(0, f"{several}95 % CI {figures.bounds(estimate)}")
    return "; ".join([f"{change} ({', '.join(basis)}), {weight(estimate)}", *estimate.remarks])


def rests_on(estimate: Estimate) -> str:
    """What a comparison rests on: blocks, or switches of the host where its arms want different states."""
    if estimate.switches is None:
        return f"{estimate.n} blocks"
    return (
        f"{estimate.switches} {'switch' if estimate.switches == 1 else 'switches'} of the host to each state"
    )


def brief(estimate: Estimate) -> str:
    """The change with its interval alone: `+4.6 % (+3.1 to +6.2 %)`."""
    return f"{figures.effect(estimate)} ({figures.bounds(estimate) or 'no interval'})"
