# SPDX-License-Identifier: Apache-2.0
"""What the rules of the ledger find: figures with their sentences; and which trials have nothing to judge (pure)."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from steelyard.analysis.chance import (
    FALSE_ALARM,
    Interval,
    quantile,
    ratio_effect,
    ratio_interval,
    share_effect,
    share_interval,
)
from steelyard.analysis.figures import capital, percent
from steelyard.analysis.limits import worst_cycle
from steelyard.results.measurement import RatioResult, TrialMeasurement
from steelyard.results.spec import Spec
from steelyard.units import format_duration_short

_CHANCE = f"{100 * (1 - FALSE_ALARM):g} % CI"

MIX_LIMIT = 0.02
"""Largest distance of an operation's share from the intended one, beyond what chance allows."""
RATE_LIMIT = 0.01
"""Largest distance of a rate from another, as a share of that, beyond what chance allows."""
USERS_LIMIT = 0.05
"""Largest part of the users that may neither wait for an answer nor pause, beyond what chance allows."""
NO_COUNTERS = "not every server has counters of its own."


class Finding(NamedTuple):
    """What a rule found: a figure and a sentence."""

    value: float | None
    """None: it should be known and was not measured."""
    detail: str
    limit: float | None = None
    """Where the limit depends on the trial (the mix); else the rule's own."""
    applies: bool = True
    """False: there is nothing to judge in such a trial, or nothing to judge it with."""


Read = Callable[[TrialMeasurement], float | None]
Judge = Callable[[TrialMeasurement, Spec], Finding]
Unless = Callable[[Spec], str | None]
"""Why such a trial has nothing to judge; None: it has."""


def figure(read: Read, sentence: str, show: Callable[[float], str], unknown: str) -> Judge:
    """A figure in its sentence as `show` writes it; where it is missing, `unknown` and that it was not measured."""

    def judge(m: TrialMeasurement, _: Spec) -> Finding:
        value = read(m)
        said = capital(sentence.format(unknown if value is None else show(value)))
        return Finding(value, f"{said}: it was not measured." if value is None else f"{said}.")

    return judge


def in_duet(limit: float, judge: Judge) -> Judge:
    """The same, with another limit where two arms run at once."""

    def judged(measurement: TrialMeasurement, spec: Spec) -> Finding:
        found = judge(measurement, spec)
        return found._replace(limit=limit) if spec.duet else found

    return judged


def share(read: Read, sentence: str, digits: int = 2) -> Judge:
    """The same for a share, shown as per cent."""
    return figure(read, sentence, lambda value: percent(value, digits), "an unknown share")


def none_of(listed: Callable[[TrialMeasurement], list[str]], good: str, bad: str) -> Judge:
    """A list that has to be empty."""

    def judge(m: TrialMeasurement, _: Spec) -> Finding:
        found = listed(m)
        return Finding(float(len(found)), f"{bad}: {'; '.join(found)}." if found else f"{good}.")

    return judge


def settings(m: TrialMeasurement, spec: Spec) -> Finding:
    """Settings that read back otherwise than asked for."""
    judge = none_of(lambda m: m.settings_differ, "Settings read back as asked for", "A setting differs")
    found = judge(m, spec)
    said = [
        found.detail,
        *([f"Read back: {m.settings_read}."] if m.settings_read else []),
        *spec.not_read_back,
    ]
    return found._replace(detail=" ".join(said))


def clocks(m: TrialMeasurement, spec: Spec) -> Finding:
    """How far the clocks of a cluster's machines may be from the harness's: what is known of them at its worst."""
    if not m.machines and spec.remote:
        return Finding(
            None, "No machine of the cluster was recorded, so no clock was compared with the harness's."
        )
    if not m.machines:
        return Finding(0.0, "All ran on the harness's own host, by its clock.")
    unknown = [one.name for one in m.machines if one.clock is None]
    if unknown:
        return Finding(None, f"The clock of {', '.join(unknown)} was not compared with the harness's.")
    worst = max(m.machines, key=lambda one: max(map(abs, one.clock or ())))
    low, high = worst.clock or (0.0, 0.0)
    return Finding(
        max(abs(low), abs(high)),
        f"The clock of {worst.name} is between {low:+.3f} s and {high:+.3f} s ahead of the harness's.",
    )


def apart(
    read: Callable[[TrialMeasurement], tuple[float | None, float | None]], sentence: str, missing: str
) -> Judge:
    """Relative distance of a figure from another; 1 (all of it) where one of the two counted nothing."""

    def judge(m: TrialMeasurement, _: Spec) -> Finding:
        value, reference = read(m)
        if value is None or reference is None:
            return Finding(None, missing)
        distance = abs(value - reference) / reference if reference else float(value != 0)
        return Finding(distance, sentence.format(value, reference))

    return judge


def arrivals(m: TrialMeasurement, spec: Spec) -> Finding:
    """Arrival rate against the intended one.

    The number of exponential arrivals in a window is Poisson distributed: n of them vary by sqrt(n). Of even ones each
    injector has one more or one less at the window's ends.
    """
    if m.target_rate is None:
        return Finding(None, "The intended arrival rate was not recorded.")
    due = m.target_rate * m.measure_seconds
    spread = quantile() * math.sqrt(due) if spec.load.arrivals == "exponential" else spec.load.injectors
    off = abs(m.window_injector_rate - m.target_rate) / m.target_rate
    said = f"{m.window_injector_rate:,.1f} requests/s were made, {m.target_rate:,.1f} were intended."
    return Finding(off, said, RATE_LIMIT + spread / due)


def window_counts(m: TrialMeasurement, spec: Spec) -> Finding:
    """The servers' rate against the injectors'.

    The servers' counts are interpolated at both ends between samples a second apart. Of Poisson events at rate r the
    count within a second, at a share p of it, has the variance r p (1 - p) about the straight line: at most r/4.
    A server that stands still when it is asked (OpenJ9 does as it warms up, for 0.3 s) tells its count late, and what
    it did up to there is no straight line: what part of the window lies between its ends and the nearest counts is
    allowed.
    """
    found = apart(
        lambda m: (m.window_server_rate, m.window_injector_rate),
        "In the window the servers counted {:,.1f} requests/s and the injectors {:,.1f}.",
        "What the servers counted in the window was not measured.",
    )(m, spec)
    requests = m.window_injector_rate * m.measure_seconds
    spread = quantile() * math.sqrt(m.window_injector_rate / 2)
    away = (m.window_counts_away or 0.0) / m.measure_seconds
    return found._replace(limit=RATE_LIMIT + away + (spread / requests if requests > 0 else 0.0))


def in_flight(m: TrialMeasurement, spec: Spec) -> Finding:
    """Little's law (J. D. C. Little, Operations Research 9(3), 1961): users = throughput x (latency + pause).

    Each operation that ends in the window adds its latency and the pause that follows it (drawn, or what is left of a
    cycle) to the time that is accounted for; divided by the window that is the users who waited or paused, over all
    injectors. What is missing of the users' time is the injectors' own. At the window's ends a part of a cycle counts
    too much or too little: with exponential cycles of mean c a standard deviation of c at each end of each of N users,
    sqrt(2 N) c in all.
    """
    users = spec.load.users
    if users is None or m.users_in_flight is None:
        return Finding(None, "How many users were in flight or paused was not measured.")
    requests = m.window_injector_rate * m.measure_seconds
    cycle = m.users_in_flight / requests if requests > 0 else 0.0  # mean, as a share of the window
    off = abs(m.users_in_flight - users) / users
    said = f"Of {users:,} users {m.users_in_flight:,.1f} waited for an answer or paused."
    return Finding(off, said, USERS_LIMIT + quantile() * math.sqrt(2 / users) * cycle)


def settling_mix(
    settled: Mapping[str, float], growing: Collection[str], achieved: Mapping[str, float]
) -> dict[str, float]:
    """The mix that was to be expected of a run in which some operations have grown as far as they have.

    Cancelling begins when customers have bookings to cancel, so its share grows from nothing to its settled figure.
    Until then the other operations have larger shares than in the settled mix, in the same proportions.

    Args:
        settled: share of each operation once all have settled; adds up to 1.
        growing: operations whose share grows; any share up to the settled one is as intended.
        achieved: shares that were seen.

    Returns:
        Share of each operation; adds up to 1.
    """
    grown = {name: min(achieved.get(name, 0.0), settled[name]) for name in growing}
    others = 1.0 - sum(settled[name] for name in growing)
    left = 1.0 - sum(grown.values())
    return {name: grown.get(name, share * left / others) for name, share in settled.items()}


def mix(m: TrialMeasurement, spec: Spec) -> Finding:
    """The operation whose share is furthest off, once chance has been given its due: the near end of the interval."""
    operations = sorted(m.mix_intended.keys() | m.mix_achieved.keys())
    if len(operations) < 2:
        return Finding(None, "There is only one operation: its share cannot be off.", applies=False)
    requests = m.window_injector_rate * m.measure_seconds

    def look(operation: str) -> Interval:
        achieved = m.mix_achieved.get(operation, 0.0)
        effect = share_effect(spec.parts, operation)
        return share_interval(achieved * requests, requests, effect, len(operations))

    def off(operation: str) -> float:
        intended = m.mix_intended.get(operation, 0.0)
        return looks[operation].beyond(intended, intended)

    def raw(operation: str) -> float:
        return abs(m.mix_achieved.get(operation, 0.0) - m.mix_intended.get(operation, 0.0))

    looks = {operation: look(operation) for operation in operations}
    worst = max(operations, key=lambda operation: (off(operation), raw(operation)))
    had, intended = (percent(mix.get(worst, 0.0), 2) for mix in (m.mix_achieved, m.mix_intended))
    low, high = (percent(end, 2) for end in looks[worst])
    return Finding(
        off(worst),
        f"{worst} had {had} of the requests ({_CHANCE} {low} to {high}); {intended} was requested.",
        spec.limits.mix,
    )


def response_times(m: TrialMeasurement, _: Spec) -> Finding:
    """The operation whose answers are furthest above their limit, or nearest to it."""
    unknown = [one for one in m.response_times if one.value is None]
    if unknown:
        return Finding(None, f"The {unknown[0].quantile} of {unknown[0].operation} was not measured.")
    shares = [(one.value / one.limit, one) for one in m.response_times if one.value is not None]
    if not shares:
        return Finding(None, "No operation with a limit of its own was asked for.")
    share, worst = max(shares, key=lambda found: found[0])
    took, limit = map(format_duration_short, (worst.value or 0.0, worst.limit))
    return Finding(share, f"The {worst.quantile} of {worst.operation} was {took}, at most {limit} is right.")


def cycle_times(m: TrialMeasurement, spec: Spec) -> Finding:
    """The operation whose mean cycle time is furthest from that drawn: beyond what a server can do, users wait for
    answers where they should pause, and offer less load than was asked for."""
    worst = worst_cycle(m.cycles)
    if worst is None:
        return Finding(None, "Cycle times were not measured.")
    name, off = worst
    actual, drawn = m.cycles[name].actual, m.cycles[name].drawn
    said = f"Mean cycle time of {name} was {actual:.3f} s; {drawn:.3f} s was requested."
    return Finding(off, said, spec.limits.cycle_time)


def ratios(m: TrialMeasurement, spec: Spec) -> Finding:
    """The ratio whose interval lies furthest outside its limits, or nearest to them.

    Of two operations the counts come by themselves, clustered in sessions; an outcome is a part of its operations, or
    several of it come with one.
    """
    judged = [ratio for ratio in m.ratios if ratio.value is not None]
    if not judged:
        said = "None of the workload's ratios was measured: nothing that they divide by was counted"
        few = all(_none_by_chance(m, spec, ratio.per) for ratio in spec.ratios)
        return Finding(
            None, f"{said}; in so few requests that is chance." if few else f"{said}.", applies=not few
        )
    described = {ratio.name: ratio for ratio in spec.ratios}

    def look(ratio: RatioResult) -> Interval:
        assert ratio.value is not None
        count, by = ratio.value * ratio.of, described.get(ratio.name)
        if by is not None and {by.count, by.per} <= spec.mix.keys():
            return ratio_interval(count, ratio.of, ratio_effect(spec.parts, by.count, by.per), len(judged))
        if by is not None and by.together > 1:
            return ratio_interval(count, ratio.of, float(by.together), len(judged))
        return share_interval(count, ratio.of, figures=len(judged))

    looks = {ratio.name: look(ratio) for ratio in judged}

    def beyond(ratio: RatioResult) -> tuple[float, float]:
        """How far the interval lies outside its limits, and how far the ratio itself."""
        assert ratio.value is not None
        seen = Interval(ratio.value, ratio.value).beyond(ratio.low, ratio.high)
        return looks[ratio.name].beyond(ratio.low, ratio.high), seen

    worst = max(judged, key=beyond)
    low, high = looks[worst.name]
    return Finding(
        beyond(worst)[0],
        f"There were {worst.value:.3f} {worst.name} ({_CHANCE} {low:.3f} to {high:.3f});"
        f" {worst.low:.3f} to {worst.high:.3f} is right.",
    )


def _none_by_chance(m: TrialMeasurement, spec: Spec, operation: str) -> bool:
    """Whether chance alone leaves an operation of the mix out of so few requests."""
    intended, requests = m.mix_intended.get(operation, 0.0), m.window_injector_rate * m.measure_seconds
    return (
        share_interval(0, requests, share_effect(spec.parts, operation)).beyond(intended, intended)
        == 0
        < intended
    )


def errors(m: TrialMeasurement, spec: Spec) -> Finding:
    """Errors by the injectors or by the servers, whichever are more."""
    if m.injector_requests == 0:
        return Finding(1.0, "The injectors completed no request.")
    seen = m.injector_errors / m.injector_requests
    why = f" (most often: {m.injector_messages[0]})" if m.injector_messages else ""
    said = f"{m.injector_errors:,} of {m.injector_requests:,} requests failed{why}"
    if not counted(spec):
        return Finding(seen, f"{said}; what the servers think of them cannot be told: {NO_COUNTERS}")
    if m.server_errors is None or m.server_requests is None:
        return Finding(None, f"{said}; the servers' own count of errors was not measured.")
    seen = max(seen, m.server_errors / max(m.server_requests, 1))
    return Finding(seen, f"{said}, {m.server_errors:,} in the servers.")


def clock(m: TrialMeasurement, spec: Spec) -> Finding:
    """Steps of the wall clock."""
    moved = "the wall clock moved by {} against the steady clock"
    found = figure(lambda m: m.clock_step_seconds, moved, "{:+.3f} s".format, "an unknown time")(m, spec)
    return found._replace(value=None if found.value is None else abs(found.value))


def steady(m: TrialMeasurement, _: Spec) -> Finding:
    """Whether the warm-up rule held."""
    if m.steady is None:
        return Finding(None, "Whether throughput was steady was not judged.")
    return Finding(0.0 if m.steady else 1.0, m.steady_detail)


def needs(has: Callable[[Spec], object], sentence: str) -> Unless:
    """Nothing to judge, as the sentence says, where the spec has not what is needed for it."""
    return lambda spec: None if has(spec) else sentence


def counted(spec: Spec) -> bool:
    """Whether every server counts its requests."""
    return all(server.counters for server in spec.servers)
