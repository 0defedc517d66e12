# SPDX-License-Identifier: Apache-2.0
"""What ramp-up trials are against the best arm of their session (pure).

The best arm is the one whose steady level is highest, on average over its valid trials. A trial is held against that
arm's level in its own block and round, so that a drift of the host hits both.
"""

from collections.abc import Mapping
from statistics import fmean

from steelyard.analysis.curves import SHARES, requests_lost, steady_level, still_rising, time_to
from steelyard.analysis.rounds import Place
from steelyard.results.schema import Trial

Chosen = Mapping[str, Mapping[Place, Trial]]
"""Valid trials by arm, block and round."""
Figures = dict[str, dict[str, dict[Place, float]]]
"""metric -> arm -> block and round -> value."""


def _curves(trials: Mapping[Place, Trial]) -> dict[Place, list[float]]:
    return {block: curve for block, trial in trials.items() if (curve := trial.curves.get("throughput"))}


def against_best(chosen: Chosen) -> tuple[Figures, list[str]]:
    """Times to shares of the best arm's level and requests lost against it; and sentences on what there is no time of.

    An arm with a trial that never came up to a share gets no time for that share at all: leaving out just those trials
    would keep the fast ones.
    """
    levels = {
        arm: {block: level for block, curve in _curves(trials).items() if (level := steady_level(curve))}
        for arm, trials in chosen.items()
    }
    known = [arm for arm, found in levels.items() if found]
    if not known:
        return {}, []
    best = max(known, key=lambda arm: fmean(levels[arm].values()))
    reference = levels[best]
    figures: Figures = {}
    notes = [_rising(arm, trials) for arm, trials in chosen.items()]
    for arm, trials in chosen.items():
        curves = {block: curve for block, curve in _curves(trials).items() if block in reference}
        lost = {block: requests_lost(curve, reference[block]) for block, curve in curves.items()}
        figures.setdefault("requests_lost_to_best", {})[arm] = lost
        for share in SHARES:
            times = {block: time_to(curve, share / 100 * reference[block]) for block, curve in curves.items()}
            reached = {block: time for block, time in times.items() if time is not None}
            if len(reached) == len(times):
                figures.setdefault(f"time_to_{share}_of_best", {})[arm] = reached
                continue
            notes.append(
                f"{arm} never came up to {share} % of the level of the best arm ({best}) in"
                f" {len(times) - len(reached)} of {len(times)} trials while the load ran: there is no time to tell."
            )
    return figures, [note for note in notes if note]


def _rising(arm: str, trials: Mapping[Place, Trial]) -> str:
    rising = sum(still_rising(trial.curves.get("throughput", [])) for trial in trials.values())
    if not rising:
        return ""
    return (
        f"Throughput of {arm} still rose when the load ended in {rising} of {len(trials)} trials: its level is a lower"
        " bound, and shares of it were reached sooner than shares of its true level would be."
    )
