# SPDX-License-Identifier: Apache-2.0
"""What it would take to see a change of 5 %: arms, windows and blocks, said before a session starts.

The spread of a pair is that of an earlier session here. What a longer window saves of it is known from that session's
seconds: throughput varies between starts, which no window averages out, and between windows of one start (Kalibera and
Jones, ISMM 2013; `gate/certificate.py`, `windows_of`).
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from statistics import fmean
from typing import NamedTuple

from steelyard.analysis.paired import detectable_effect, fewest_blocks
from steelyard.errors import SteelyardError
from steelyard.gate.certificate import Windows, windows_of
from steelyard.gate.power import (
    SWITCHES_ADD,
    Spread,
    describe_source,
    primary_spread,
    switches_host,
)
from steelyard.measure.registry import metric_info
from steelyard.results.figures import count, percent
from steelyard.session.earlier import Earlier
from steelyard.session.plan import SessionPlan
from steelyard.units import format_duration

WANTED = 0.05
"""Change that a session should see with 80 % power."""
MOST_BLOCKS = 100
"""Beyond so many nothing is named."""
LONGER = (1, 2, 4, 8)
"""Windows that are looked at, as multiples of the planned one."""


class SessionNeed(NamedTuple):
    """A session that sees a change of `WANTED`."""

    arms: int
    window: float
    """Seconds that are measured."""
    blocks: int
    seconds: float
    """That it takes, repeats left out."""


def describe_needs(plan: SessionPlan, earlier: Sequence[Earlier]) -> list[str]:
    """What the planned session lacks to see `WANTED` in its primary metric, one sentence; nothing where it lacks
    nothing or nothing is known.

    Args:
        plan: of the session.
        earlier: sessions here, from `earlier_sessions`.
    """
    spread = primary_spread(plan, earlier)
    others = len(plan.arms) - 1
    if spread is None:
        return []
    windows = known_windows(spread)
    sd = sd_with(spread, windows, plan.experiment.load.measure)
    seen = detectable_effect(plan.experiment.design.blocks, sd, others)
    if seen is not None and seen <= WANTED:
        return []
    named = [
        need
        for arms in dict.fromkeys((others + 1, 2))
        if (need := _cheapest(plan, spread, windows, arms)) is not None
    ]
    label = metric_info(plan.experiment.metrics.primary).label
    whose = (
        f"by the spread seen in {describe_source(plan, spread)}"
        if spread.earlier is not None
        else f"by the largest published spread{SWITCHES_ADD if switches_host(plan) else ''}"
    )
    if not named:
        least = f"{count(MOST_BLOCKS, 'block')} of any of these arms"
        return [f"To see {percent(WANTED, 0)} in {label}, {whose}: not with {least}; use a quieter host"]
    each = "; or ".join(_need_text(need, plan) for need in named)
    return [f"To see {percent(WANTED, 0)} in {label}, {whose}: {each}"]


def _need_text(need: SessionNeed, plan: SessionPlan) -> str:
    who = "all arms" if need.arms == len(plan.arms) else "the baseline and one arm"
    return (
        f"{count(need.blocks, 'block')} of {who} with windows of {format_duration(need.window)}"
        f" (about {format_duration(need.seconds)})"
    )


def known_windows(spread: Spread) -> Windows | None:
    """Where throughput varied in the session that tells the spread; None: not known, or it is the spread of another
    metric."""
    if spread.directory is None or spread.metric != "throughput":
        return None
    with suppress(SteelyardError, LookupError, TypeError, ValueError):
        return windows_of(spread.directory.trials())
    return None


def sd_with(spread: Spread, windows: Windows | None, seconds: float) -> float:
    """The spread with windows of so many seconds; as it was seen where nothing tells what they change."""
    if windows is None or spread.earlier is None:
        return spread.sd
    return spread.sd * relative_spread(windows, spread.earlier.experiment.load.measure, seconds)


def _cheapest(plan: SessionPlan, spread: Spread, windows: Windows | None, arms: int) -> SessionNeed | None:
    return min(_needs(plan, spread, windows, arms), key=lambda need: need.seconds, default=None)


def _needs(plan: SessionPlan, spread: Spread, windows: Windows | None, arms: int) -> Iterator[SessionNeed]:
    load = plan.experiment.load
    trial = fmean(plan.seconds_by_arm())  # which arms they would be is the reader's to say
    for factor in LONGER if plan.experiment.procedure == "steady" and windows is not None else (1,):
        longer = load.measure * factor
        blocks = fewest_blocks(WANTED, sd_with(spread, windows, longer), MOST_BLOCKS, arms - 1)
        if blocks is not None:
            yield SessionNeed(arms, longer, blocks, blocks * arms * (trial + longer - load.measure))


def relative_spread(windows: Windows, measured: float, longer: float) -> float:
    """By what the standard deviation of a trial changes with its window."""

    def variance(seconds: float) -> float:
        return windows.start_sd**2 + windows.window_sd**2 * windows.seconds / seconds

    before = variance(measured)
    return math.sqrt(variance(longer) / before) if before > 0 else 1.0
