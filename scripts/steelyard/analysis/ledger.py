# SPDX-License-Identifier: Apache-2.0
"""The validity ledger: what voids a trial, each rule with its figure, its limit and one plain sentence.

All limits stand in `RULES` and nowhere else; docs/metrics.md is written from them. A figure that is not a number
fails its check: what cannot be judged is not valid.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from scipy import stats

from steelyard.results.schema import Check, RatioResult, TrialMeasurement

MIX_FALSE_ALARM = 0.001
"""Probability that chance alone takes some operation's share beyond the allowance of the mix rule."""


class Finding(NamedTuple):
    """What a rule found: a figure (None: nothing to judge or nothing measured) and a sentence."""

    value: float | None
    detail: str
    limit: float | None = None
    """Where the limit depends on the trial (the mix); else the rule's own."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the ledger."""

    name: str
    limit: float
    unit: str
    voids: bool
    says: str
    """What passes, for people."""
    source: str
    judge: Callable[[TrialMeasurement], Finding]

    def check(self, measurement: TrialMeasurement) -> Check:
        """Apply the rule. The figure passes up to and including its limit."""
        found = self.judge(measurement)
        limit = self.limit if found.limit is None else found.limit
        return Check(
            name=self.name,
            passed=found.value is None or found.value <= limit,
            voids=self.voids,
            value=found.value,
            limit=limit,
            unit=self.unit,
            detail=found.detail,
        )


def judge(measurement: TrialMeasurement) -> list[Check]:
    """Every rule, in a fixed order."""
    return [rule.check(measurement) for rule in RULES]


def is_void(checks: Iterable[Check]) -> bool:
    """Whether a trial with these checks is void: some check that voids has failed."""
    return any(check.voids and not check.passed for check in checks)


def _apart(value: float, reference: float) -> float:
    """Relative distance; 1 (all of it) where one of the two counted nothing."""
    if reference == 0:
        return 0.0 if value == 0 else 1.0
    return abs(value - reference) / reference


def _share(value: float, digits: int = 2) -> str:
    return f"{value * 100:.{digits}f} %"


def _injector_cpu(m: TrialMeasurement) -> Finding:
    return Finding(
        m.injector_cpu_share, f"The busiest injector used {_share(m.injector_cpu_share, 0)} of its CPUs."
    )


def _late(m: TrialMeasurement) -> Finding:
    if m.target_rate is None:
        return Finding(None, "A closed model has no arrivals that could be late.")
    return Finding(m.late_share, f"{_share(m.late_share, 3)} of the intended arrivals were late or dropped.")


def _arrival_rate(m: TrialMeasurement) -> Finding:
    if m.target_rate is None:
        return Finding(None, "A closed model has no intended arrival rate.")
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
    quantile = float(stats.norm.isf(MIX_FALSE_ALARM / (2 * operations)))
    return quantile * math.sqrt(share * (1 - share) / requests)


def _mix(m: TrialMeasurement) -> Finding:
    operations = sorted(m.mix_intended.keys() | m.mix_achieved.keys())
    if len(operations) < 2:
        return Finding(None, "There is only one operation: its share cannot be off.")
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


def _ratios(m: TrialMeasurement) -> Finding:
    judged = [ratio for ratio in m.ratios if ratio.value is not None]
    if not judged:
        return Finding(None, "The workload has no ratio to check, or nothing to check it with.")

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


def _errors(m: TrialMeasurement) -> Finding:
    if m.injector_requests == 0:
        return Finding(1.0, "The injectors completed no request.")
    seen = max(m.injector_errors / m.injector_requests, m.server_errors / max(m.server_requests, 1))
    return Finding(
        seen,
        f"{m.injector_errors:,} of {m.injector_requests:,} requests failed, {m.server_errors:,} in the servers.",
    )


def _counts(m: TrialMeasurement) -> Finding:
    return Finding(
        _apart(m.server_requests, m.injector_requests),
        f"Over the whole run the servers counted {m.server_requests:,} requests and the injectors"
        f" {m.injector_requests:,}.",
    )


def _window_counts(m: TrialMeasurement) -> Finding:
    return Finding(
        _apart(m.window_server_rate, m.window_injector_rate),
        f"In the window the servers counted {m.window_server_rate:,.1f} requests/s and the injectors"
        f" {m.window_injector_rate:,.1f}.",
    )


def _throttled(m: TrialMeasurement) -> Finding:
    if m.throttled_seconds is None:
        return Finding(None, "Whether the CPU was throttled cannot be told on this host.")
    return Finding(m.throttled_seconds, f"The CPU was throttled for {m.throttled_seconds:.2f} s.")


def _steal(m: TrialMeasurement) -> Finding:
    return Finding(m.steal_share, f"The hypervisor took {_share(m.steal_share)} of the CPU time.")


def _other_cpu(m: TrialMeasurement) -> Finding:
    return Finding(
        m.other_cpu_share, f"Other processes used {_share(m.other_cpu_share)} of the host's CPU time."
    )


def _clock(m: TrialMeasurement) -> Finding:
    return Finding(
        abs(m.clock_step_seconds),
        f"The wall clock moved by {m.clock_step_seconds:+.3f} s against the steady clock.",
    )


def _jit(m: TrialMeasurement) -> Finding:
    if m.jit_share is None:
        return Finding(None, "How busy the JIT compiler was cannot be told.")
    return Finding(m.jit_share, f"JIT threads used {_share(m.jit_share)} of the servers' CPU budget.")


def _steady(m: TrialMeasurement) -> Finding:
    return Finding(0.0 if m.steady else 1.0, m.steady_detail)


def _none_of(listed: Callable[[TrialMeasurement], list[str]], good: str, bad: str) -> Callable[..., Finding]:
    """Rule on a list that has to be empty."""

    def judge_list(m: TrialMeasurement) -> Finding:
        found = listed(m)
        return Finding(float(len(found)), f"{bad}: {'; '.join(found)}." if found else f"{good}.")

    return judge_list


MIX_LIMIT = 0.02
_METHOD = "method.md, What voids a trial"
_TRIAL = "method.md, One trial"

RULES: tuple[Rule, ...] = (
    Rule(
        "injector-cpu",
        0.80,
        "of its CPUs",
        True,
        "injectors use at most 80 % of their CPUs",
        _METHOD,
        _injector_cpu,
    ),
    Rule(
        "late-arrivals", 0.001, "of arrivals", True, "at most 0.1 % late or dropped arrivals", _METHOD, _late
    ),
    Rule(
        "arrival-rate",
        0.01,
        "of the target",
        True,
        "arrival rate within 1 % of the target",
        _METHOD,
        _arrival_rate,
    ),
    Rule(
        "operation-mix",
        MIX_LIMIT,
        "of requests",
        True,
        "each operation's share within 2 percentage points beyond what chance allows",
        f"Faban's rule; {_METHOD}",
        _mix,
    ),
    Rule(
        "outcomes",
        0.0,
        "beyond its limits",
        True,
        "answers as they should be: flights found and booked in the right proportions",
        "workload sheets; a shift in time zone or data set shows here first",
        _ratios,
    ),
    Rule("errors", 0.001, "of requests", True, "at most 0.1 % errors", _METHOD, _errors),
    Rule("counts", 0.01, "apart", True, "server and injector totals within 1 %", _METHOD, _counts),
    Rule(
        "counts-window", 0.01, "apart", True, "server and injector rates within 1 %", _METHOD, _window_counts
    ),
    Rule(
        "counts-exact",
        0.001,
        "apart",
        False,
        "server and injector totals within 0.1 %",
        "what an undisturbed trial reaches",
        _counts,
    ),
    Rule("throttling", 0.0, "s", True, "no CPU throttling", _METHOD, _throttled),
    Rule("steal", 0.01, "of CPU time", True, "at most 1 % steal", _METHOD, _steal),
    Rule(
        "other-cpu",
        0.02,
        "of CPU time",
        True,
        "other processes at most 2 % of the cores",
        _METHOD,
        _other_cpu,
    ),
    Rule(
        "restarts",
        0.0,
        "servers",
        True,
        "no server died, restarted or was OOM-killed",
        _METHOD,
        _none_of(lambda m: m.restarts, "No server died or restarted", "A server died or restarted"),
    ),
    Rule(
        "injectors",
        0.0,
        "injectors",
        True,
        "every injector finished and delivered",
        "without it there is no measurement",
        _none_of(lambda m: m.injector_failures, "Every injector delivered", "An injector failed"),
    ),
    Rule(
        "build",
        0.0,
        "servers",
        True,
        "every server has the expected build fingerprint",
        _METHOD,
        _none_of(lambda m: m.wrong_builds, "Every server is the expected build", "Wrong build"),
    ),
    Rule(
        "settings",
        0.0,
        "settings",
        True,
        "every setting reads back as asked for",
        _METHOD,
        _none_of(lambda m: m.settings_differ, "Settings read back as asked for", "A setting differs"),
    ),
    Rule(
        "clock-step",
        0.25,
        "s",
        True,
        "no clock step: at most 0.25 s against the monotonic clock",
        f"{_METHOD}; NTP slews at most 0.5 ms/s, 0.25 s in 8 minutes",
        _clock,
    ),
    Rule(
        "not-steady",
        0.0,
        "",
        False,
        "steady before the measurement, by the rules above",
        _TRIAL,
        _steady,
    ),
    Rule("jit-busy", 0.02, "of the CPU budget", False, "JIT under 2 % in the window", _TRIAL, _jit),
)
