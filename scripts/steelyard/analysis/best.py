# SPDX-License-Identifier: Apache-2.0
"""What ramp-up trials are against the best arm of their session (pure).

The best arm is the one whose steady level is highest, blocks accounted for (`paired.arm_levels`). A trial is held
against that arm's level in its own block and round, so that a drift of the host hits both.
"""

from collections.abc import Mapping

from steelyard.analysis.paired import arm_levels
from steelyard.analysis.rounds import Place
from steelyard.measure.curves import SHARES, is_rising, lost_requests, steady_level, time_to
from steelyard.results.figures import short
from steelyard.results.schema import Trial

LOST = "requests_lost_to_best"
"""Metric that every ramp-up has, also one that never came to a share of the best arm's level."""
Chosen = Mapping[str, Mapping[Place, Trial]]
"""Valid trials by arm, block and round."""
Figures = dict[str, dict[str, dict[Place, float]]]
"""metric -> arm -> block and round -> value."""


def _curves(trials: Mapping[Place, Trial]) -> dict[Place, list[float]]:
    return {block: curve for block, trial in trials.items() if (curve := trial.curves.get("throughput"))}


def against_best(chosen: Chosen) -> tuple[Figures, Figures, list[str]]:
    """Times to shares of the best arm's level and requests lost against it; times of arms that have them only partly,
    and sentences on those.

    An arm with a trial that never came up to a share gets no time of its own: leaving out just those trials would keep
    the fast ones. What is known is told as what it is: how many trials came up to the share, and when.
    """
    levels = {
        arm: {block: level for block, curve in _curves(trials).items() if (level := steady_level(curve))}
        for arm, trials in chosen.items()
    }
    order = arm_levels(levels)
    if not order:
        return {}, {}, []
    best = max(order, key=lambda arm: order[arm])
    reference = levels[best]
    figures: Figures = {}
    partly: Figures = {}
    notes = [_rising_note(arm, trials) for arm, trials in chosen.items()]
    for arm, trials in chosen.items():
        curves = {block: curve for block, curve in _curves(trials).items() if block in reference}
        lost = {block: lost_requests(curve, reference[block]) for block, curve in curves.items()}
        figures.setdefault(LOST, {})[arm] = lost
        for share in SHARES:
            times = {block: time_to(curve, share / 100 * reference[block]) for block, curve in curves.items()}
            reached = {block: time for block, time in times.items() if time is not None}
            complete = len(reached) == len(times)
            (figures if complete else partly).setdefault(f"time_to_{share}_of_best", {})[arm] = reached
            if not complete:
                when = f" (those after {_span(reached)} s)" if reached else ""
                notes.append(
                    f"{arm} came up to {share} % of the level of the best arm ({best}) in {len(reached)} of"
                    f" {len(times)} trials while the load ran{when}: it has no mean time and no comparison."
                )
    return figures, partly, [note for note in notes if note]


def _span(reached: Mapping[Place, float]) -> str:
    return " to ".join(dict.fromkeys(short(end(reached.values())) for end in (min, max)))


def _rising_note(arm: str, trials: Mapping[Place, Trial]) -> str:
    rising = sum(is_rising(trial.curves.get("throughput", [])) for trial in trials.values())
    if not rising:
        return ""
    return (
        f"Throughput of {arm} still rose when the load ended in {rising} of {len(trials)} trials: its level is a lower"
        " bound, and shares of it were reached sooner than shares of its true level would be."
    )
