# SPDX-License-Identifier: Apache-2.0
"""What the rules of the ledger find in a measurement: a figure with its sentence, or why there is nothing to judge."""

import math
from collections.abc import Callable
from typing import NamedTuple

import scipy

from steelyard.analysis.figures import capital, percent
from steelyard.results.schema import RatioResult, TrialMeasurement
from steelyard.results.spec import Spec

MIX_LIMIT = 0.02
"""Largest distance of an operation's share from the intended one, beyond what chance allows."""
MIX_FALSE_ALARM = 0.001
"""Probability that chance alone takes some operation's share beyond the allowance of the mix rule."""


class Finding(NamedTuple):
    """What a rule found: a figure and a sentence."""

    value: float | None
    """None: it should be known and was not measured."""
    detail: str
    limit: float | None = None
    """Where the limit depends on the trial (the mix); else the rule's own."""


class Idle(NamedTuple):
    """Nothing to judge in such a trial, or nothing to judge it with."""

    detail: str


def _apart(value: float, reference: float) -> float:
    """Relative distance; 1 (all of it) where one of the two counted nothing."""
    if reference == 0:
        return 0.0 if value == 0 else 1.0
    return abs(value - reference) / reference


def _known(value: float | None, what: str, sentence: Callable[[float], str]) -> Finding:
    """A figure with its sentence, or with one that says that it is missing."""
    return Finding(value, f"{capital(what)} was not measured." if value is None else sentence(value))


def _share(value: float, digits: int = 2) -> str:
    return percent(value, digits)


def injector_cpu(m: TrialMeasurement, _: Spec) -> Finding:
    """CPU of the busiest injector."""
    return _known(
        m.injector_cpu_share,
        "the injectors' CPU",
        lambda used: f"The busiest injector used {_share(used, 0)} of its CPUs.",
    )


def late(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """Late and dropped arrivals."""
    if spec.load.model == "closed":
        return Idle("A closed model has no arrivals that could be late.")
    return _known(
        m.late_share,
        "the share of late arrivals",
        lambda late: f"{_share(late, 3)} of the intended arrivals were late or dropped.",
    )


def arrival_rate(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """Distance of the arrival rate from the intended one."""
    if spec.load.model == "closed":
        return Idle("A closed model has no intended arrival rate.")
    if m.target_rate is None:
        return Finding(None, "The intended arrival rate was not recorded.")
    return Finding(
        _apart(m.window_injector_rate, m.target_rate),
        f"{m.window_injector_rate:,.1f} requests/s were made, {m.target_rate:,.1f} were intended.",
    )


def mix_allowance(share: float, requests: float, operations: int) -> float:
    """What chance alone may do to an operation's share, as a fraction.

    Requests draw their operation independently, so a share has a binomial standard error; its normal quantile is
    Bonferroni-corrected over the operations and two sides for `MIX_FALSE_ALARM` in all.
    """
    if requests <= 0:
        return 0.0
    quantile = float(scipy.stats.norm.isf(MIX_FALSE_ALARM / (2 * operations)))
    return quantile * math.sqrt(share * (1 - share) / requests)


def mix(m: TrialMeasurement, _: Spec) -> Finding | Idle:
    """The operation that is furthest off its share."""
    operations = sorted(m.mix_intended.keys() | m.mix_achieved.keys())
    if len(operations) < 2:
        return Idle("There is only one operation: its share cannot be off.")
    requests = m.window_injector_rate * m.measure_seconds

    def allowed(operation: str) -> float:
        share = m.mix_intended.get(operation, 0.0)
        return MIX_LIMIT + mix_allowance(share, requests, len(operations))

    def off(operation: str) -> float:
        return abs(m.mix_achieved.get(operation, 0.0) - m.mix_intended.get(operation, 0.0))

    worst = max(operations, key=lambda operation: off(operation) - allowed(operation))
    return Finding(
        off(worst),
        f"{worst} had {_share(m.mix_achieved.get(worst, 0.0))} of the requests,"
        f" {_share(m.mix_intended.get(worst, 0.0))} were intended.",
        allowed(worst),
    )


def ratios(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """The ratio that lies furthest outside its limits."""
    if not spec.ratios:
        return Idle("The workload has no ratio to check.")
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
    if not _counted(spec):
        return Finding(seen, f"{said}; what the servers think of them cannot be told: {_NO_COUNTERS}")
    if m.server_errors is None or m.server_requests is None:
        return Finding(None, f"{said}; the servers' own count of errors was not measured.")
    seen = max(seen, m.server_errors / max(m.server_requests, 1))
    return Finding(seen, f"{said}, {m.server_errors:,} in the servers.")


_NO_COUNTERS = "not every server has counters of its own."


def _counted(spec: Spec) -> bool:
    return all(server.counters for server in spec.servers)


def counts(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """Totals of servers and injectors over the whole run."""
    if not _counted(spec):
        return Idle(f"The injectors' totals cannot be checked: {_NO_COUNTERS}")
    return _known(
        m.server_requests,
        "what the servers counted",
        lambda counted: (
            f"Over the whole run the servers counted {counted:,.0f} requests and the injectors {m.injector_requests:,}."
        ),
    )._replace(value=None if m.server_requests is None else _apart(m.server_requests, m.injector_requests))


def window_counts(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """Rates of servers and injectors in the window."""
    if not _counted(spec):
        return Idle(f"The injectors' rate cannot be checked: {_NO_COUNTERS}")
    rate = m.window_server_rate
    if rate is None:
        return Finding(None, "What the servers counted in the window was not measured.")
    return Finding(
        _apart(rate, m.window_injector_rate),
        f"In the window the servers counted {rate:,.1f} requests/s and the injectors {m.window_injector_rate:,.1f}.",
    )


def throttled(m: TrialMeasurement, _: Spec) -> Finding:
    """CPU throttling."""
    return _known(
        m.throttled_seconds, "CPU throttling", lambda seconds: f"The CPU was throttled for {seconds:.2f} s."
    )


def steal(m: TrialMeasurement, _: Spec) -> Finding:
    """CPU that the hypervisor took."""
    return _known(
        m.steal_share, "steal", lambda share: f"The hypervisor took {_share(share)} of the CPU time."
    )


def other_cpu(m: TrialMeasurement, _: Spec) -> Finding:
    """CPU of processes outside the trial."""
    return _known(
        m.other_cpu_share,
        "the CPU of other processes",
        lambda share: f"Other processes used {_share(share)} of the host's CPU time.",
    )


def clock(m: TrialMeasurement, _: Spec) -> Finding:
    """Steps of the wall clock."""
    found = _known(
        m.clock_step_seconds,
        "the wall clock against the steady clock",
        lambda step: f"The wall clock moved by {step:+.3f} s against the steady clock.",
    )
    return found._replace(value=None if found.value is None else abs(found.value))


def jit(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
    """CPU of JIT compiler threads."""
    if all(one.artifact.form == "command" and one.artifact.jvm is None for one in spec.servers):
        return Idle("The servers are not known to be JVMs.")
    return _known(
        m.jit_share,
        "how busy the JIT compiler was",
        lambda share: f"JIT threads used {_share(share)} of the servers' CPU budget.",
    )


def steady(m: TrialMeasurement, _: Spec) -> Finding:
    """Whether the warm-up rule held."""
    if m.steady is None:
        return Finding(None, "Whether throughput was steady was not judged.")
    return Finding(0.0 if m.steady else 1.0, m.steady_detail)


def none_of(
    listed: Callable[[TrialMeasurement], list[str]],
    good: str,
    bad: str,
    idle: Callable[[Spec], str | None] = lambda _: None,
) -> Callable[[TrialMeasurement, Spec], Finding | Idle]:
    """Rule on a list that has to be empty; `idle` says why there is nothing to judge, where that is so."""

    def judge_list(m: TrialMeasurement, spec: Spec) -> Finding | Idle:
        reason = idle(spec)
        if reason is not None:
            return Idle(reason)
        found = listed(m)
        return Finding(float(len(found)), f"{bad}: {'; '.join(found)}." if found else f"{good}.")

    return judge_list


def settings(m: TrialMeasurement, spec: Spec) -> Finding:
    """Settings that read back otherwise than asked for."""
    found = m.settings_differ
    rest = f" Cannot be read back: {', '.join(spec.not_read_back)}." if spec.not_read_back else ""
    said = f"A setting differs: {'; '.join(found)}." if found else "Settings read back as asked for."
    return Finding(float(len(found)), said + rest)


def no_build(spec: Spec) -> str | None:
    """Why builds cannot be checked; None: they can."""
    if any(server.artifact.build for server in spec.servers):
        return None
    return "Nothing tells what these servers were built from."


def no_consistency(spec: Spec) -> str | None:
    """Why data cannot be checked; None: it can."""
    return None if spec.consistency else "The workload has no check of its data after the load."
