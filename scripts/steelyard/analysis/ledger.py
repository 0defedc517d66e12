# SPDX-License-Identifier: Apache-2.0
"""The validity ledger: what voids a trial, each rule with its figure, its limit and one plain sentence.

All limits stand in `RULES` and nowhere else; docs/metrics.md is written from them. What is not known has failed: a
figure that is missing or not a number fails its check. A check that has nothing to judge in such a trial (an arrival
rate in a closed model, a window in a start-up trial, totals of servers without counters) is listed as not applying;
that is no pass.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from steelyard.analysis import rules
from steelyard.analysis.formulas import EVERY, LOAD
from steelyard.experiment.schema import ProcedureName
from steelyard.results.schema import Check, TrialMeasurement
from steelyard.results.spec import Spec

STEADY: tuple[ProcedureName, ...] = ("steady",)
LIVING: tuple[ProcedureName, ...] = ("steady", "ramp-up")
"""Procedures with load in which a death is a fault; in a survive trial it is the result."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the ledger."""

    name: str
    limit: float
    unit: str
    judge: Callable[[TrialMeasurement, Spec], rules.Finding | rules.Idle]
    says: str
    """What passes, for people."""
    procedures: tuple[ProcedureName, ...] = LOAD
    """To which procedures it applies."""
    source: str = "method.md, What voids a trial"
    voids: bool = True

    def check(self, measurement: TrialMeasurement, spec: Spec) -> Check:
        """Apply the rule. A figure passes up to and including its limit; one that is not known fails."""
        if spec.procedure in self.procedures:
            found = self.judge(measurement, spec)
        else:
            found = rules.Idle(f"This is no check of {spec.procedure} trials.")
        limit = found.limit if isinstance(found, rules.Finding) and found.limit is not None else self.limit
        applies = isinstance(found, rules.Finding)
        value = found.value if isinstance(found, rules.Finding) else None
        return Check(
            name=self.name,
            passed=value is not None and value <= limit,
            voids=self.voids and applies,
            applies=applies,
            value=value,
            limit=limit,
            unit=self.unit,
            detail=found.detail,
        )


def judge(measurement: TrialMeasurement, spec: Spec) -> list[Check]:
    """Every rule, in a fixed order; those that do not apply to such a trial say so."""
    return [rule.check(measurement, spec) for rule in RULES]


def is_void(checks: Iterable[Check]) -> bool:
    """Whether a trial with these checks is void: some check that voids has failed."""
    return any(check.voids and check.failed for check in checks)


_TRIAL = "method.md, One trial"

RULES: tuple[Rule, ...] = (
    Rule("injector-cpu", 0.80, "of its CPUs", rules.injector_cpu, "injectors use at most 80 % of their CPUs"),
    Rule("late-arrivals", 0.001, "of arrivals", rules.late, "at most 0.1 % late or dropped arrivals"),
    Rule(
        "arrival-rate",
        0.01,
        "of the target",
        rules.arrival_rate,
        "arrival rate within 1 % of the target",
        STEADY,
    ),
    Rule(
        "operation-mix",
        rules.MIX_LIMIT,
        "of requests",
        rules.mix,
        "each operation's share within 2 percentage points beyond what chance allows",
        source="Faban's rule; method.md, What voids a trial",
    ),
    Rule(
        "outcomes",
        0.0,
        "beyond its limits",
        rules.ratios,
        "answers as they should be: flights found and booked in the right proportions",
        source="workload sheets; a shift in time zone or data set shows here first",
    ),
    Rule("errors", 0.001, "of requests", rules.errors, "at most 0.1 % errors", LIVING),
    Rule("counts", 0.01, "apart", rules.counts, "server and injector totals within 1 %", LIVING),
    Rule("counts-window", 0.01, "apart", rules.window_counts, "server and injector rates within 1 %", STEADY),
    Rule(
        "counts-exact",
        0.001,
        "apart",
        rules.counts,
        "server and injector totals within 0.1 %",
        LIVING,
        source="what an undisturbed trial reaches",
        voids=False,
    ),
    Rule(
        "consistency",
        0.0,
        "findings",
        rules.none_of(
            lambda m: m.inconsistent,
            "The data is sound after the load",
            "The data is not sound after the load",
            rules.no_consistency,
        ),
        "the application's data is sound after the load",
        LIVING,
        source="the workload file; what answers quickly and wrongly is not a server",
    ),
    Rule("throttling", 0.0, "s", rules.throttled, "no CPU throttling", EVERY),
    Rule("steal", 0.01, "of CPU time", rules.steal, "at most 1 % steal", EVERY),
    Rule(
        "other-cpu", 0.02, "of CPU time", rules.other_cpu, "other processes at most 2 % of the cores", EVERY
    ),
    Rule(
        "restarts",
        0.0,
        "servers",
        rules.none_of(lambda m: m.restarts, "No server died or restarted", "A server died or restarted"),
        "no server died, restarted or was OOM-killed",
        (*LIVING, "start-up"),
    ),
    Rule(
        "injectors",
        0.0,
        "injectors",
        rules.none_of(lambda m: m.injector_failures, "Every injector delivered", "An injector failed"),
        "every injector finished and delivered",
        EVERY,
        source="without it there is no measurement",
    ),
    Rule(
        "build",
        0.0,
        "servers",
        rules.none_of(
            lambda m: m.wrong_builds, "Every server is the expected build", "Wrong build", rules.no_build
        ),
        "every server has the expected build fingerprint",
        EVERY,
    ),
    Rule("settings", 0.0, "settings", rules.settings, "every setting reads back as asked for", EVERY),
    Rule(
        "clock-step",
        0.25,
        "s",
        rules.clock,
        "no clock step: at most 0.25 s against the monotonic clock",
        EVERY,
        source="method.md, What voids a trial; NTP slews at most 0.5 ms/s, 0.25 s in 8 minutes",
    ),
    Rule(
        "not-steady",
        0.0,
        "",
        rules.steady,
        "steady before the measurement, by the rules above",
        STEADY,
        source=_TRIAL,
        voids=False,
    ),
    Rule(
        "jit-busy",
        0.02,
        "of the CPU budget",
        rules.jit,
        "JIT under 2 % in the window",
        STEADY,
        source=_TRIAL,
        voids=False,
    ),
)
