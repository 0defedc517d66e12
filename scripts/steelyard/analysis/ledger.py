# SPDX-License-Identifier: Apache-2.0
"""The validity ledger: what voids a trial, each rule with its figure, its limit and one plain sentence.

All limits stand in `RULES` and nowhere else; the table of docs/metrics.md is written from them. What is not known has
failed: a figure that is missing or not a number fails its check. A check that has nothing to judge in such a trial (an
arrival rate in a closed model, a window in a start-up trial, totals of servers without counters) is listed as not
applying; that is no pass.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from steelyard.analysis import rules
from steelyard.analysis.formulas import EVERY, LOAD
from steelyard.analysis.rules import NO_COUNTERS, counted, figure, needs, none_of, share
from steelyard.experiment.schema import ProcedureName
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.schema import Check
from steelyard.results.spec import Spec

STEADY: tuple[ProcedureName, ...] = ("steady",)
LIVING: tuple[ProcedureName, ...] = ("steady", "ramp-up")
"""Procedures with load in which a death is a fault; in a survive trial it is the result."""
DUET_LIMIT = 0.2
"""What the hypervisor or other processes may take of a duet: it meets both sides, and their certificate says what is
left of it."""
PARTNER = "partner"
"""The check that a side of a duet fails beside one that is void: it says nothing of the side itself."""
_OF_DUET = "20 % in a duet, where it affects both sides"
_VOIDS = "method.md, What voids a trial"
_TRIAL = "method.md, One trial"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of the ledger."""

    name: str
    limit: float
    unit: str
    says: str
    """What passes, for people."""
    judge: rules.Judge
    source: str = _VOIDS
    procedures: tuple[ProcedureName, ...] = LOAD
    """To which procedures it applies."""
    voids: bool = True
    unless: rules.Unless = lambda _spec: None

    def check(self, measurement: TrialMeasurement, spec: Spec) -> Check:
        """Apply the rule. A figure passes up to and including its limit; one that is not known fails."""
        foreign = f"This is no check of {spec.procedure} trials."
        idle = self.unless(spec) if spec.procedure in self.procedures else foreign
        if idle is not None:
            return _not_applicable(self.name, self.limit, self.unit, idle)
        found = self.judge(measurement, spec)
        limit = self.limit if found.limit is None else found.limit
        return Check(
            name=self.name,
            passed=found.value is not None and found.value <= limit,
            voids=self.voids and found.applies,
            applies=found.applies,
            value=found.value,
            limit=limit,
            unit=self.unit,
            detail=found.detail,
        )


@cache
def _not_applicable(name: str, limit: float, unit: str, detail: str) -> Check:
    """Most rules do not apply to most trials: these checks are equal, and made once."""
    return Check(
        name=name,
        passed=False,
        voids=False,
        applies=False,
        value=None,
        limit=limit,
        unit=unit,
        detail=detail,
    )


def judge(measurement: TrialMeasurement, spec: Spec) -> list[Check]:
    """Every rule, in a fixed order; those that do not apply to such a trial say so."""
    return [rule.check(measurement, spec) for rule in RULES]


def is_void(checks: Iterable[Check]) -> bool:
    """Whether a trial with these checks is void: some check that voids has failed."""
    return any(check.voids and check.failed for check in checks)


def void_by_partner(checks: Iterable[Check]) -> bool:
    """Whether nothing is wrong with a side of a duet but what ran beside it."""
    return any(check.name == PARTNER for check in checks)


def _rule(
    name: str, limit: float, unit: str, procedures: tuple[ProcedureName, ...] = LOAD, **more: Any
) -> Callable[..., Rule]:
    return partial(Rule, name, limit, unit, procedures=procedures, **more)


_COUNTS = rules.apart(
    lambda m: (m.server_requests, m.injector_requests),
    "Over the whole run the servers counted {:,.0f} requests and the injectors {:,}.",
    "What the servers counted was not measured.",
)

_ON_TIME = needs(
    lambda spec: spec.load.model != "closed", "A closed model has no arrivals that could be late."
)
_OPEN_LOAD = needs(lambda spec: spec.load.model != "closed", "A closed model has no intended arrival rate.")
_CLOSED = needs(
    lambda spec: spec.load.model == "closed", "An open model has no fixed number of users to account for."
)
_COUNTERS = needs(counted, f"What the injectors counted cannot be checked: {NO_COUNTERS}")
_TIMES = needs(lambda spec: spec.limits.operations, "The workload limits no operation by itself.")


def _no_cycles(spec: Spec) -> str | None:
    """Why there are no cycle times to judge."""
    if spec.load.model != "closed":
        return "Arrivals of an open model have no cycle times."
    return "The workload has no limit of cycle times." if spec.limits.cycle_time is None else None


_RATIOS = needs(lambda spec: spec.ratios, "The workload has no ratio to check.")
_CONSISTENCY = needs(lambda spec: spec.consistency, "The workload has no check of its data after the load.")
_BUILD = needs(
    lambda spec: any(server.artifact.build for server in spec.servers),
    "Nothing tells what these servers were built from.",
)
_PINNED = needs(
    lambda spec: not spec.remote,
    "A pod's CPU limit is what its arm gave it; throttled_share says how often it was held to that.",
)
_COMPILERS = needs(lambda spec: spec.of("compiler"), "Servers compile by themselves.")
_JVM = needs(
    lambda spec: any(one.artifact.form != "command" or one.artifact.jvm is not None for one in spec.servers),
    "The servers are not known to be JVMs.",
)

RULES: tuple[Rule, ...] = (
    _rule("injector-cpu", 0.80, "of its CPUs")(
        "injectors together use at most 80 % of the CPUs that they may use",
        share(lambda m: m.injector_cpu_share, "the injectors used {} of their CPUs", 0),
    ),
    # On the servers' cores a small use proves nothing: did the injectors run in time? In a queue with random arrivals
    # (M/M/1) that is busy for a share of 0.8, 0.8 of the time spent there is waiting: the limit above, as threads see
    # it. It only marks: a closed load loses no throughput while its CPUs are full, an open one has the rule of late
    # arrivals, and more runnable threads (more JVMs) alone mean longer waits: voids would fall on some arms only.
    _rule("injector-waits", 0.80, "of the time that they had work", voids=False)(
        "injectors wait for a CPU at most 80 % of the time that they have work",
        share(lambda m: m.injector_wait_share, "the injectors waited for a CPU {} of that time", 0),
        "the kernel's schedstat; 80 % is the wait of an M/M/1 queue that is 80 % busy",
    ),
    _rule("late-arrivals", 0.001, "of arrivals", unless=_ON_TIME)(
        "at most 0.1 % late or dropped arrivals",
        share(lambda m: m.late_share, "{} of the intended arrivals were late or dropped", 3),
    ),
    _rule("arrival-rate", rules.RATE_LIMIT, "of the target", STEADY, unless=_OPEN_LOAD)(
        "arrival rate within 1 % of the target beyond what chance allows", rules.arrivals
    ),
    _rule("users-in-flight", rules.USERS_LIMIT, "of the users", STEADY, unless=_CLOSED)(
        "users within 5 % of throughput x (latency + pause), beyond what chance allows",
        rules.in_flight,
        f"Little's law; {_VOIDS}",
    ),
    _rule("operation-mix", rules.MIX_LIMIT, "of requests")(
        "each operation's share within 2 percentage points beyond what chance allows",
        rules.mix,
        f"Faban's rule; {_VOIDS}",
    ),
    _rule("outcomes", 0.0, "beyond its limits", unless=_RATIOS)(
        "answers as they should be: flights found and booked in the right proportions",
        rules.ratios,
        "workload sheets; a shift in time zone or data set shows here first",
    ),
    _rule("errors", 0.001, "of requests", LIVING)("at most 0.1 % errors", rules.errors),
    _rule("counts", 0.01, "apart", LIVING, unless=_COUNTERS)(
        "server and injector totals within 1 %", _COUNTS
    ),
    _rule("counts-window", rules.RATE_LIMIT, "apart", STEADY, unless=_COUNTERS)(
        "server and injector rates within 1 % beyond what chance allows", rules.window_counts
    ),
    _rule("counts-exact", 0.001, "apart", LIVING, voids=False, unless=_COUNTERS)(
        "server and injector totals within 0.1 %", _COUNTS, "what an undisturbed trial reaches"
    ),
    _rule("consistency", 0.0, "findings", LIVING, unless=_CONSISTENCY)(
        "the application's data is sound after the load",
        none_of(
            lambda m: m.inconsistent,
            "The data is sound after the load",
            "The data is not sound after the load",
        ),
        "the workload file; what answers quickly and wrongly is not a server",
    ),
    # These two only mark: too much load is a result, and a search has them as limits.
    _rule("response-times", 1.0, "of its limit", STEADY, voids=False, unless=_TIMES)(
        "answers of each operation within the workload's limits for it",
        rules.response_times,
        "the workload file",
    ),
    _rule("cycle-times", 0.02, "of the time drawn", STEADY, voids=False, unless=_no_cycles)(
        "mean cycle time of each operation within the workload's limit (here 2 %) of that drawn",
        rules.cycle_times,
        "Faban's rule; the workload file",
    ),
    _rule("throttling", 0.0, "s", EVERY, unless=_PINNED)(
        "no CPU throttling (in a cluster a CPU limit is how an arm's pods get their CPUs)",
        figure(
            lambda m: m.throttled_seconds,
            "the CPU was throttled for {}",
            "{:.2f} s".format,
            "an unknown time",
        ),
    ),
    _rule("steal", 0.01, "of CPU time", EVERY)(
        f"at most 1 % steal; {_OF_DUET}",
        rules.in_duet(DUET_LIMIT, share(lambda m: m.steal_share, "the hypervisor took {} of the CPU time")),
    ),
    _rule("other-cpu", 0.02, "of the servers' CPUs", EVERY)(
        f"all CPU that is not the trial's at most 2 % of the servers' CPUs; {_OF_DUET}",
        rules.in_duet(
            DUET_LIMIT, share(lambda m: m.other_cpu_share, "other processes used {} of the servers' CPU time")
        ),
    ),
    _rule("sample-gaps", 2.5, "s")(
        "no gap in the samples of the host, of a component or of an injector above 2.5 s",
        figure(
            lambda m: m.sample_gap, "the longest gap in the samples was {}", "{:.1f} s".format, "not known"
        ),
        "two samples in a row are missing; figures reach no farther past their samples either",
    ),
    _rule("stalled", 2.5, "s", LIVING)(
        "no server under load without CPU for more than 2.5 s",
        figure(
            lambda m: m.stall_seconds,
            "the longest time in which a server used no CPU was {}",
            "{:.1f} s".format,
            "not known",
        ),
        "stopped, or waiting for what was stopped; collections use CPU",
    ),
    _rule("restarts", 0.0, "servers", (*LIVING, "start-up"))(
        "no server died, restarted or was OOM-killed",
        none_of(lambda m: m.restarts, "No server died or restarted", "A server died or restarted"),
    ),
    _rule("remote-compilation", 0.0, "servers", EVERY, unless=_COMPILERS)(
        "every server compiled in its JITServer and stayed connected to it",
        none_of(
            lambda m: m.not_remote,
            "Every server compiled in its JITServer",
            "A server did not compile in its JITServer",
        ),
        "the JIT's log of each server; a server without its JITServer compiles by itself and says nothing",
    ),
    _rule("injectors", 0.0, "injectors", EVERY)(
        "every injector finished and delivered",
        none_of(lambda m: m.injector_failures, "Every injector delivered", "An injector failed"),
        "without it there is no measurement",
    ),
    _rule("build", 0.0, "servers", EVERY, unless=_BUILD)(
        "every server has the expected build fingerprint",
        none_of(lambda m: m.wrong_builds, "Every server is the expected build", "Wrong build"),
    ),
    _rule("settings", 0.0, "settings", EVERY)("every setting reads back as asked for", rules.settings),
    _rule("clock-step", 0.25, "s", EVERY)(
        "no clock step: at most 0.25 s against the monotonic clock",
        rules.clock,
        f"{_VOIDS}; NTP slews at most 0.5 ms/s, 0.25 s in 8 minutes",
    ),
    # Counters, samples and histograms are cut by whole seconds of each machine's own clock.
    _rule("clock-offset", 0.25, "s", EVERY)(
        "in a cluster, no machine's clock more than 0.25 s from the harness's, as far as it is known",
        rules.clocks,
        "what a window loses at its ends: 0.25 s of 60 s are 0.4 %",
    ),
    _rule("not-steady", 0.0, "", STEADY, voids=False)(
        "steady before the measurement, by the rules above", rules.steady, _TRIAL
    ),
    _rule("jit-busy", 0.02, "of the CPU budget", STEADY, voids=False, unless=_JVM)(
        "JIT under 2 % in the window",
        share(lambda m: m.jit_share, "JIT threads used {} of the servers' CPU budget"),
        _TRIAL,
    ),
)
