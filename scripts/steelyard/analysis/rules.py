# SPDX-License-Identifier: Apache-2.0
"""What the rules of the ledger find: figures with their sentences; and which trials have nothing to judge (pure)."""

import math
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

import scipy

from steelyard.analysis.figures import capital, percent
from steelyard.results.schema import RatioResult, TrialMeasurement
from steelyard.results.spec import Spec

MIX_LIMIT = 0.02
"""Largest distance of an operation's share from the intended one, beyond what chance allows."""
MIX_FALSE_ALARM = 0.001
"""Probability that chance alone takes some operation's share beyond the allowance of the mix rule."""
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


def mix_allowance(share: float, requests: float, operations: int) -> float:
    """What chance alone may do to an operation's share, as a fraction.

    Requests draw their operation independently, so a share has a binomial standard error; its normal quantile is
    Bonferroni-corrected over the operations and two sides for `MIX_FALSE_ALARM` in all.
    """
    if requests <= 0:
        return 0.0
    quantile = float(scipy.stats.norm.isf(MIX_FALSE_ALARM / (2 * operations)))
    return quantile * math.sqrt(share * (1 - share) / requests)


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


def mix(m: TrialMeasurement, _: Spec) -> Finding:
    """The operation that is furthest off its share."""
    operations = sorted(m.mix_intended.keys() | m.mix_achieved.keys())
    if len(operations) < 2:
        return Finding(None, "There is only one operation: its share cannot be off.", applies=False)
    requests = m.window_injector_rate * m.measure_seconds

    def look(operation: str) -> tuple[float, float]:
        """How far it is off, and how far it may be."""
        intended = m.mix_intended.get(operation, 0.0)
        off = abs(m.mix_achieved.get(operation, 0.0) - intended)
        return off, MIX_LIMIT + mix_allowance(intended, requests, len(operations))

    looks = {operation: look(operation) for operation in operations}
    worst = max(operations, key=lambda operation: looks[operation][0] - looks[operation][1])
    had, intended = (percent(mix.get(worst, 0.0), 2) for mix in (m.mix_achieved, m.mix_intended))
    off, allowed = looks[worst]
    return Finding(off, f"{worst} had {had} of the requests, {intended} were intended.", allowed)


def ratios(m: TrialMeasurement, _: Spec) -> Finding:
    """The ratio that lies furthest outside its limits."""
    judged = [ratio for ratio in m.ratios if ratio.value is not None]
    if not judged:
        return Finding(
            None, "None of the workload's ratios was measured: nothing that they divide by was counted."
        )

    def beyond(ratio: RatioResult) -> float:
        """How far it lies outside its limits and what chance allows."""
        assert ratio.value is not None
        near = ratio.low if ratio.value < ratio.low else ratio.high
        chance = mix_allowance(min(near, 1.0), ratio.of, len(judged))
        return max(ratio.low - ratio.value, ratio.value - ratio.high, 0.0) - chance

    worst = max(judged, key=beyond)
    return Finding(
        max(beyond(worst), 0.0),
        f"There were {worst.value:.3f} {worst.name}, where {worst.low:.3f} to {worst.high:.3f} is right.",
    )


def errors(m: TrialMeasurement, spec: Spec) -> Finding:
    """Errors by the injectors or by the servers, whichever are more."""
    if m.injector_requests == 0:
        return Finding(1.0, "The injectors completed no request.")
    seen = m.injector_errors / m.injector_requests
    said = f"{m.injector_errors:,} of {m.injector_requests:,} requests failed"
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
