# SPDX-License-Identifier: Apache-2.0
"""Any two arms of an analysed session, the baseline among them or not (pure)."""

from steelyard.analysis.estimates import estimate, needs_switch
from steelyard.analysis.rounds import Place, ratios_left_in
from steelyard.results.analysis import Analysis, Estimate
from steelyard.results.schema import Session


def compare_arms(session: Session, analysis: Analysis, name: str, arm: str, against: str) -> Estimate:
    """Ratio of two arms in a metric, as a comparison of its own.

    What is inconclusive against the baseline is so against any other arm, and void trials weigh as they do there.
    """
    known = analysis.estimates.get(name, {})
    reasons = (known[key].unequal for key in (arm, against) if key in known)
    mine, others = (valid_values(analysis, name, key) for key in (arm, against))
    mine_left_in, others_left_in = (_values_left_in(analysis, name, key) for key in (arm, against))
    return estimate(
        name,
        arm,
        mine,
        others,
        next(filter(None, reasons), None),
        switched=needs_switch(session, arm, against),
        left_in=ratios_left_in(mine_left_in, others_left_in, mine, others),
    )


def valid_values(analysis: Analysis, name: str, arm: str) -> dict[Place, float]:
    """A metric of an arm by block and round, of its valid trials."""
    summary = analysis.summaries.get(name, {}).get(arm)
    return summary.by_place if summary is not None else {}


def _values_left_in(analysis: Analysis, name: str, arm: str) -> dict[Place, float]:
    summary = analysis.left_in.get(name, {}).get(arm)
    return summary.by_place if summary is not None else valid_values(analysis, name, arm)
