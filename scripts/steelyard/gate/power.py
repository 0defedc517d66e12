# SPDX-License-Identifier: Apache-2.0
"""What a session will be able to detect, said before it runs (`plan`), by the function that states it in reports.

The spread between blocks comes from an earlier session on this host with the same workload, procedure and metric; else
published spreads stand in and are named as such. Without either it is unknown.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from steelyard.analysis.estimates import GIVEN
from steelyard.analysis.owners import info_in_session
from steelyard.analysis.paired import detectable_effect, paired_test
from steelyard.analysis.sentences import SURVIVED
from steelyard.analysis.warmup import window_note
from steelyard.errors import SteelyardError
from steelyard.measure.chance import exact_interval
from steelyard.measure.registry import metric_info
from steelyard.results.figures import DOUBLING, count, percent, span
from steelyard.results.schema import Session
from steelyard.results.store import SessionDirectory
from steelyard.session.earlier import Earlier, sessions_here
from steelyard.session.plan import SessionPlan
from steelyard.session.schedule import overrun
from steelyard.units import format_duration

_STARTS = dict.fromkeys(
    ("start_time", "container_start_time", "ready_message_time", "first_answers_time"),
    (0.028, 0.028, "of starts"),
)
PUBLISHED = {
    "throughput": (0.007, 0.087, "a quiet lab host's and a busy virtual machine's of two CPUs"),
    "latency_p99": (0.05, 0.05, "a shared runner's"),
    **_STARTS,
}
"""Lowest and highest standard deviation from trial to trial, and whose (docs/explanation/gate.md; the virtual
machine's is that of quick AcmeAir, docs/results/pair-spreads.json)."""
WINDOW_NOISES = (0.01, 0.02, 0.05)
"""Standard deviations of throughput from second to second for which it is told what a window shows."""
SWITCHES_ADD = ", to which switches of the host add"
_UNKNOWN = "unknown: no earlier session on this host tells it"
FEWEST = 3
"""Blocks below which an earlier session says too little of its spread."""


class DetectableChange(NamedTuple):
    """The smallest effect of an arm against the baseline that has 80 % power, as a fraction."""

    metric: str
    arm: str
    low: float | None
    """By the spread seen, or the lowest published one; None: not known, or beyond every figure."""
    high: float | None
    """By the upper 95 % bound of the spread seen, or the highest published one."""
    source: str


def predict_detectable(plan: SessionPlan, earlier: Sequence[Earlier]) -> list[DetectableChange]:
    """What a session will detect: for the primary metric, then the reported ones, in each arm.

    Nothing of searches, and nothing of what the load decides.

    Args:
        plan: of the session.
        earlier: from `earlier_sessions`.
    """
    metrics, arms = plan.experiment.metrics, [arm.name for arm in plan.arms if not arm.baseline]
    skipped = {SURVIVED, *_load_metrics(plan)}
    families = (
        [metrics.primary],
        [name for name in dict.fromkeys(metrics.report) if name != metrics.primary],
    )
    return [
        _predict(plan, earlier, name, arm, len(family) * len(arms))
        for family in (families if plan.experiment.search is None else ())
        for name in family
        for arm in (arms if name not in skipped else ())
    ]


def describe(plan: SessionPlan, changes: Sequence[DetectableChange]) -> list[str]:
    """The same in sentences; arms that share their figures share a sentence."""
    arms: dict[DetectableChange, list[str]] = {}
    for change in changes:
        arms.setdefault(change._replace(arm=""), []).append(change.arm)
    lines = [
        f"{_label(plan, name)}: nothing, as the arrivals decide it and not the servers"
        for name in _load_metrics(plan)
    ]
    for change, names in arms.items():
        if change.source == _UNKNOWN:
            continue
        who = "every arm" if len(names) == len(plan.arms) - 1 else ", ".join(names)
        size = _size(change.low, change.high)
        lines.append(f"{_label(plan, change.metric)}, {who}: {size}{change.source}")
    unknown = dict.fromkeys(change.metric for change in changes if change.source == _UNKNOWN)
    if unknown:
        hint = " (`plan --pilot` runs one)" if pilot_obstacle(plan) is None else ""
        lines.append(f"{', '.join(_label(plan, name) for name in unknown)}: {_UNKNOWN}{hint}")
    if plan.experiment.procedure == "steady":
        lines += filter(None, [window_note(round(plan.experiment.load.measure), WINDOW_NOISES)])
    if plan.experiment.procedure == "survive":
        blocks = plan.experiment.design.blocks
        least = percent(exact_interval(blocks, blocks)[0], 0)
        lines.append(
            f"trials survived: if all {blocks} of an arm live, {least} of all such trials is not ruled out"
        )
    return lines


def _label(plan: SessionPlan, name: str) -> str:
    return info_in_session(metric_info(name), plan.specs.values()).label


def _size(low: float | None, high: float | None) -> str:
    """The sizes, where they say anything."""
    if low is None:
        return ""
    if low > DOUBLING:
        return "nothing below a doubling (or a halving), "
    return f"a change of {span(low, high)}, "


def _load_metrics(plan: SessionPlan) -> list[str]:
    if plan.experiment.load.model != "open":
        return []
    metrics = plan.experiment.metrics
    return [name for name in (metrics.primary, *metrics.report) if name in GIVEN]


class Spread(NamedTuple):
    """How the log ratio of a pair varies."""

    metric: str
    sd: float
    known_from: int | None
    """Blocks that it was estimated from; None: it is published."""
    earlier: Session | None
    directory: SessionDirectory | None


def no_spread_reason(plan: SessionPlan) -> str | None:
    """Why there is no spread of pairs in the primary metric; None: there is one."""
    name = plan.experiment.metrics.primary
    if plan.experiment.search is not None:
        return "a search has no pairs"
    if name == SURVIVED:
        return "whether trials survive has no spread"
    if name in _load_metrics(plan):
        return f"{_label(plan, name)} is decided by the arrivals and not by the servers"
    return None


def pilot_obstacle(plan: SessionPlan) -> str | None:
    """Why a pilot of equal arms would not tell the spread of the primary metric; None: it would."""
    name = plan.experiment.metrics.primary
    if (reason := no_spread_reason(plan)) is not None:
        return reason
    if len(plan.arms) < 2:
        return "it has one arm, and compares nothing"
    if metric_info(name).better == "neither":
        return (
            f"{_label(plan, name)} is neither good nor bad, and a pilot needs a metric that is one of the two"
        )
    if switches_host(plan):
        return "its arms want different host states, and equal arms switch none"
    return None


def switches_host(plan: SessionPlan) -> bool:
    """Whether some arm wants other host states than the baseline."""
    return any(_is_switched(plan, arm.name) for arm in plan.arms)


def _is_switched(plan: SessionPlan, name: str) -> bool:
    """Whether the host is switched between an arm and the baseline, as `needs_switch` says of a session."""
    baseline = next(arm.name for arm in plan.arms if arm.baseline)
    return plan.specs[name].host_states != plan.specs[baseline].host_states


def primary_spread(plan: SessionPlan, earlier: Sequence[Earlier]) -> Spread | None:
    """That of the primary metric: as an earlier session here tells it, else the largest published one; None: where
    there is none (`no_spread_reason`), and where neither is known. Of an arm that the host is switched for, if there
    is one: it varies by what switches bring as well."""
    name, arms = plan.experiment.metrics.primary, [arm.name for arm in plan.arms if not arm.baseline]
    if no_spread_reason(plan) is not None or not arms:
        return None
    seen = _known_spread(plan, earlier, name, max(arms, key=lambda arm: _is_switched(plan, arm)))
    if seen is None and name in PUBLISHED:
        return Spread(name, math.sqrt(2) * PUBLISHED[name][1], None, None, None)
    return seen


def knows_spread(plan: SessionPlan, earlier: Sequence[Earlier]) -> bool:
    """Whether an earlier session here tells the spread of the primary metric."""
    spread = primary_spread(plan, earlier)
    return spread is not None and spread.earlier is not None


def _known_spread(plan: SessionPlan, earlier: Sequence[Earlier], name: str, arm: str) -> Spread | None:
    """The spread of a metric in the most alike session that tells it; None: no one does. What switches of the host
    bring is seen only where an estimate rests on them, and is in no other."""
    switched = _is_switched(plan, arm)
    for session, analysis, directory in earlier:
        every = analysis.estimates.get(name, {})
        estimates = {
            key: estimate
            for key, estimate in every.items()
            if estimate.n >= FEWEST and (estimate.switches is not None) is switched
        }
        if session.experiment.name == plan.experiment.name and arm in estimates:
            estimates = {arm: estimates[arm]}
        even = [e for e in estimates.values() if e.unequal is None and e.detectable]
        usable = [estimate.ratios for estimate in even if min(estimate.ratios) > 0]
        cores = [paired_test([math.log(ratio) for ratio in ratios]) for ratios in usable]
        sizes, variances = [core.n for core in cores if core], [core.sd**2 for core in cores if core]
        if sizes:
            sd = math.sqrt(math.fsum(variances) / len(variances))
            return Spread(name, sd, min(sizes), session, directory)
    return None


def describe_source(plan: SessionPlan, spread: Spread) -> str:
    """The session and the blocks that tell a spread, with their windows where those are not the plan's."""
    assert spread.earlier is not None
    assert spread.known_from is not None
    own, windows = plan.experiment.load.measure, spread.earlier.experiment.load.measure
    others = f" of {format_duration(windows)}, not {format_duration(own)}" if windows != own else ""
    return f"{spread.earlier.id} ({count(spread.known_from, 'block')}{others})"


def _predict(
    plan: SessionPlan, earlier: Sequence[Earlier], name: str, arm: str, comparisons: int
) -> DetectableChange:
    blocks = plan.experiment.design.blocks
    spread = _known_spread(plan, earlier, name, arm)
    if spread is not None:
        seen, bound = (
            detectable_effect(blocks, spread.sd, comparisons, known) for known in (None, spread.known_from)
        )
        source = f"by the spread seen and its upper 95 % bound, from {describe_source(plan, spread)}"
        return DetectableChange(name, arm, seen, bound, source)
    if name not in PUBLISHED:
        return DetectableChange(name, arm, None, None, _UNKNOWN)
    *spreads, whose = PUBLISHED[name]
    # Both arms of a pair vary.
    low, high = (detectable_effect(blocks, math.sqrt(2) * float(sd), comparisons) for sd in spreads)
    source = f"by published spreads ({whose})"
    if _is_switched(plan, arm):
        source += SWITCHES_ADD
    return DetectableChange(name, arm, low, high, source)


def earlier_sessions(plan: SessionPlan, results: Path) -> list[Earlier]:
    """Those of a folder whose spread tells of this one's, the most alike first: same experiment, same windows, most
    blocks."""
    experiment = plan.experiment
    ranked = []
    for earlier in sessions_here(plan.workload.workload, results):
        session, analysis, _ = earlier
        if session.arms[0].spec.procedure == experiment.procedure:
            same = session.experiment.name == experiment.name
            windows = session.experiment.load.measure == experiment.load.measure
            ranked.append(((same, windows, analysis.blocks_complete, session.created), earlier))
    return [earlier for _, earlier in sorted(ranked, key=lambda item: item[0], reverse=True)]


def with_overrun(plan: SessionPlan, earlier: Sequence[Earlier]) -> SessionPlan:
    """The plan with what the trials of the session most alike took beyond what was expected of them.

    Args:
        plan: of a session to come.
        earlier: from `earlier_sessions`.
    """
    for session, _, directory in earlier:
        # As in `sessions_here`: what cannot be read is passed over.
        with suppress(SteelyardError, LookupError, TypeError, ValueError):
            if (beyond := overrun(session, directory.trials())) is not None:
                return replace(plan, overrun=beyond)
    return plan
