# SPDX-License-Identifier: Apache-2.0
"""Whether the load was the one that was asked for: arrivals, users, cycle times, the mix of operations, and what else
the workload says of its requests and its data.
"""

import math
from collections.abc import Collection, Mapping

from steelyard.measure.chance import (
    Interval,
    quantile,
    ratio_effect,
    ratio_interval,
    share_effect,
    share_interval,
)
from steelyard.measure.rule import (
    CHANCE,
    LIVING,
    RATE_LIMIT,
    RESULT,
    STEADY,
    SURVIVE,
    VOIDS,
    Finding,
    Rule,
    judge_none,
    judge_share,
    needs,
)
from steelyard.measure.window import SENTENCES, Window, trial_figure
from steelyard.results.figures import capital, percent
from steelyard.results.measurement import CycleResult, RatioResult, TrialMeasurement
from steelyard.results.spec import Spec

MIX_LIMIT = 0.02
"""Largest distance of an operation's share from the intended one, beyond what chance allows."""
USERS_LIMIT = 0.05
"""Largest part of the users that may neither wait for an answer nor pause."""


@trial_figure("users")
def users_in_flight(window: Window) -> float | None:
    """Closed model: users that waited for an answer or paused, on average: throughput x (latency + pause)."""
    return window.health.users if window.spec.load.model == "closed" else None


@trial_figure("share", undisturbed=0.0)
def late_share(window: Window) -> float | None:
    """Late or dropped arrivals / intended arrivals; 0 for a closed model."""
    if window.spec.load.model == "closed":
        return 0.0
    health = window.health
    return health.missed / health.intended if health.intended else None


@trial_figure("req/s")
def target_rate(window: Window) -> float | None:
    """Open model: the intended arrival rate."""
    return window.spec.load.rate


@trial_figure(SENTENCES)
def inconsistent(window: Window) -> list[str]:
    """What the application's data shows after the load and should not."""
    return window.run.sentences_of("consistency")


def cycles(window: Window) -> dict[str, CycleResult]:
    """Cycle times by operation."""
    return {
        name: CycleResult(count=count, drawn=drawn / count, actual=actual / count)
        for name, (count, drawn, actual) in window.health.cycles.items()
        if count
    }


def worst_cycle(cycles: Mapping[str, CycleResult]) -> tuple[str, float] | None:
    """The operation whose mean cycle time is furthest from that drawn, and how far, as a share of it; None: no cycle
    was measured."""
    off = {
        name: abs(cycle.actual - cycle.drawn) / cycle.drawn
        for name, cycle in cycles.items()
        if cycle.drawn > 0
    }
    return max(off.items(), key=lambda item: item[1]) if off else None


def ratios(window: Window, counts: Mapping[str, int]) -> list[RatioResult]:
    """Ratios of counts, of requests and of outcomes, that show whether the workload did what it should."""
    counts = {**counts, **window.health.outcomes}
    return [
        RatioResult(
            name=ratio.name,
            value=counts.get(ratio.count, 0) / counts[ratio.per] if counts.get(ratio.per) else None,
            of=counts.get(ratio.per, 0),
            low=ratio.low,
            high=ratio.high,
        )
        for ratio in window.spec.ratios
    ]


def expected_alone(shares: Mapping[str, float], varying: Collection[str]) -> dict[str, float]:
    """Shares of the operations whose number does not depend on answers, in all of these; adds up to 1."""
    rest = {name: share for name, share in shares.items() if name not in varying}
    total = sum(rest.values())
    return {name: share / total for name, share in rest.items()} if total else {}


def settling_mix(
    settled: Mapping[str, float], growing: Collection[str], achieved: Mapping[str, float]
) -> dict[str, float]:
    """The mix that was to be expected of a run in which some operations have grown as far as they have.

    Cancelling begins when customers have bookings to cancel, so its share grows from nothing to its settled figure.
    Until then the other operations have larger shares than in the settled mix, in the same proportions.

    Args:
        settled: share of each operation once all have settled; adds up to 1.
        growing: operations whose share grows; any share up to the settled one is as intended. One that is no part of
            `settled` changes nothing.
        achieved: shares that were seen.

    Returns:
        Share of each operation; adds up to 1. Where all of them grow there is nothing to grow beside: the settled mix.
    """
    grown = {name: min(achieved.get(name, 0.0), settled[name]) for name in growing if name in settled}
    others = sum(share for name, share in settled.items() if name not in grown)
    if not others:
        return dict(settled)
    left = 1.0 - sum(grown.values())
    return {name: grown.get(name, share * left / others) for name, share in settled.items()}


def judge_arrivals(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """Arrival rate against the intended one.

    The number of exponential arrivals in a window is Poisson distributed: n of them vary by sqrt(n). Of even ones each
    injector has one more or one less at the window's ends.
    """
    target, achieved = measurement.value("target_rate"), measurement.window_injector_rate
    if target is None:
        return Finding(None, "The intended arrival rate was not recorded.")
    due = target * measurement.measure_seconds
    spread = quantile() * math.sqrt(due) if spec.load.arrivals == "exponential" else spec.load.injectors
    said = f"{achieved:,.1f} requests/s were made, {target:,.1f} were intended."
    return Finding(abs(achieved - target) / target, said, RATE_LIMIT + spread / due)


def judge_users(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """Little's law (J. D. C. Little, Operations Research 9(3), 1961): users = throughput x (latency + pause).

    Injectors tell it second by second, of waits and pauses that cross its ends the part within: with whole ones, as
    products of means have them, a server that stood still over an end of the window would be a fault of the load. What
    is missing of the users' time is the injectors' own.
    """
    users, in_flight = spec.load.users, measurement.value("users_in_flight")
    if users is None or in_flight is None:
        return Finding(None, "How many users were in flight or paused was not measured.")
    said = f"Of {users:,} users {in_flight:,.1f} waited for an answer or paused."
    return Finding(abs(in_flight - users) / users, said)


def judge_mix(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The operation whose share is furthest off, once chance has been given its due: the near end of the interval."""
    achieved, asked = expected_alone(measurement.mix_achieved, spec.varying), measurement.mix_intended
    operations = sorted(asked.keys() | achieved.keys())
    if len(operations) < 2:
        return Finding(None, "There is only one operation: its share cannot be off.", applies=False)
    varying = sum(measurement.mix_achieved.get(name, 0.0) for name in spec.varying)
    requests = measurement.window_requests * (1 - varying)

    def interval(operation: str) -> Interval:
        effect = share_effect(spec.parts, operation)
        return share_interval(achieved.get(operation, 0.0) * requests, requests, effect, len(operations))

    def distance(operation: str) -> tuple[float, float]:
        """How far the interval is off, and how far the share itself."""
        intended = asked.get(operation, 0.0)
        beyond = intervals[operation].beyond(intended, intended)
        return beyond, abs(achieved.get(operation, 0.0) - intended)

    intervals = {operation: interval(operation) for operation in operations}
    worst = max(operations, key=distance)
    low, high = (percent(end, 2) for end in intervals[worst])
    had, intended = (percent(shares.get(worst, 0.0), 2) for shares in (achieved, asked))
    return Finding(
        distance(worst)[0],
        f"{worst} had {had} of the requests ({CHANCE} {low} to {high}); {intended} was requested.",
        spec.limits.mix,
    )


def judge_ratios(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The ratio whose interval lies furthest outside its limits, or nearest to them.

    Of two operations the counts come by themselves, clustered in sessions; an outcome is a part of its operations, or
    several of it come with one.
    """
    judged = [ratio for ratio in measurement.ratios if ratio.value is not None]
    if not judged:
        said = "None of the workload's ratios was measured: nothing that they divide by was counted"
        few = all(_none_by_chance(measurement, spec, ratio.per) for ratio in spec.ratios)
        return Finding(
            None, f"{said}; in so few requests that is chance." if few else f"{said}.", applies=not few
        )
    described = {ratio.name: ratio for ratio in spec.ratios}
    for ratio in measurement.ratios:
        per = described[ratio.name].per if ratio.name in described else ""
        is_due = measurement.mix_intended.get(per, 0.0) > 0 and not _none_by_chance(measurement, spec, per)
        if ratio.value is None and is_due:
            return Finding(None, f"{capital(ratio.name)} were not measured: no {per} was counted.")

    def interval(ratio: RatioResult) -> Interval:
        assert ratio.value is not None
        count, by = ratio.value * ratio.of, described.get(ratio.name)
        if by is not None and {by.count, by.per} <= spec.mix.keys():
            return ratio_interval(count, ratio.of, ratio_effect(spec.parts, by.count, by.per), len(judged))
        if by is not None and by.together > 1:
            return ratio_interval(count, ratio.of, float(by.together), len(judged))
        return share_interval(count, ratio.of, figures=len(judged))

    intervals = {ratio.name: interval(ratio) for ratio in judged}

    def distance(ratio: RatioResult) -> tuple[float, float]:
        """How far the interval lies outside its limits, and how far the ratio itself."""
        assert ratio.value is not None
        seen = Interval(ratio.value, ratio.value).beyond(ratio.low, ratio.high)
        return intervals[ratio.name].beyond(ratio.low, ratio.high), seen

    worst = max(judged, key=distance)
    low, high = intervals[worst.name]
    return Finding(
        distance(worst)[0],
        f"There were {worst.value:.3f} {worst.name} ({CHANCE} {low:.3f} to {high:.3f});"
        f" {worst.low:.3f} to {worst.high:.3f} is right.",
    )


def _none_by_chance(measurement: TrialMeasurement, spec: Spec, operation: str) -> bool:
    """Whether chance alone leaves an operation of the mix out of so few requests."""
    intended = measurement.mix_intended.get(operation, 0.0)
    interval = share_interval(0, measurement.window_requests, share_effect(spec.parts, operation))
    return interval.beyond(intended, intended) == 0 < intended


def judge_cycle_times(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The operation whose mean cycle time is furthest from that drawn: beyond what a server can do, users wait for
    answers where they should pause, and offer less load than was asked for."""
    worst = worst_cycle(measurement.cycles)
    if worst is None:
        return Finding(None, "Cycle times were not measured.")
    name, off = worst
    actual, drawn = measurement.cycles[name].actual, measurement.cycles[name].drawn
    said = f"Mean cycle time of {name} was {actual:.3f} s; {drawn:.3f} s was requested."
    return Finding(off, said, spec.limits.cycle_time)


_ON_TIME = needs(
    lambda spec: spec.load.model != "closed", "A closed model has no arrivals that could be late."
)
_OPEN_LOAD = needs(lambda spec: spec.load.model != "closed", "A closed model has no intended arrival rate.")
_CLOSED = needs(
    lambda spec: spec.load.model == "closed", "An open model has no fixed number of users to account for."
)
_RATIOS = needs(lambda spec: spec.ratios, "The workload has no ratio to check.")
_CONSISTENCY = needs(lambda spec: spec.consistency, "The workload has no check of its data after the load.")


def _no_cycles(spec: Spec) -> str | None:
    """Why there are no cycle times to judge."""
    if spec.load.model != "closed":
        return "Arrivals of an open model have no cycle times."
    return "The workload has no limit of cycle times." if spec.limits.cycle_time is None else None


RULES = (
    Rule(
        name="late-arrivals",
        limit=0.001,
        unit="of arrivals",
        says=f"at most 0.1 % late or dropped arrivals; {RESULT}",
        judge=judge_share("late_share", "{} of the intended arrivals were late or dropped", 3),
        answers=SURVIVE,
        unless=_ON_TIME,
    ),
    Rule(
        name="arrival-rate",
        limit=RATE_LIMIT,
        unit="of the target",
        says="arrival rate within 1 % of the target beyond what chance allows",
        judge=judge_arrivals,
        procedures=STEADY,
        unless=_OPEN_LOAD,
    ),
    Rule(
        name="users-in-flight",
        limit=USERS_LIMIT,
        unit="of the users",
        says="users within 5 % of throughput x (latency + pause)",
        judge=judge_users,
        source=f"Little's law; {VOIDS}",
        procedures=STEADY,
        unless=_CLOSED,
    ),
    Rule(
        name="operation-mix",
        limit=MIX_LIMIT,
        unit="of requests",
        says="each operation's share within 2 percentage points beyond what chance allows",
        judge=judge_mix,
        source=f"Faban's rule; {VOIDS}",
    ),
    Rule(
        name="outcomes",
        limit=0.0,
        unit="beyond its limits",
        says="answers as they should be: flights found and booked in the right proportions",
        judge=judge_ratios,
        source="workload sheets; a shift in time zone or data set shows here first",
        unless=_RATIOS,
    ),
    Rule(
        name="consistency",
        limit=0.0,
        unit="findings",
        says="the application's data is sound after the load",
        judge=judge_none(
            "inconsistent",
            "The data is sound after the load",
            "The data is not sound after the load",
        ),
        source="the workload file; what answers quickly and wrongly is not a server",
        procedures=LIVING,
        unless=_CONSISTENCY,
    ),
    Rule(
        name="cycle-times",
        limit=0.02,
        unit="of the time drawn",
        says="mean cycle time of each operation within the workload's limit (here 2 %) of that drawn",
        judge=judge_cycle_times,
        source="Faban's rule; the workload file",
        procedures=STEADY,
        voids=False,
        unless=_no_cycles,
    ),
)
