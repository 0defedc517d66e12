# SPDX-License-Identifier: Apache-2.0
"""Compilation: in the servers, in a JITServer (`jit_log`), and what it costs in the window."""

from steelyard.measure.formulas import (
    COMPILERS,
    EVERY,
    SERVERS,
    Compute,
    Metric,
    combine_known,
    ratio,
    sum_of,
)
from steelyard.measure.jit_log import why_not_remote
from steelyard.measure.rule import STEADY, WARM_UP, Finding, Rule, judge_none, judge_share, needs
from steelyard.measure.window import SENTENCES, Unknown, Window, known_or, trial_figure
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import Component, Spec

BUSY = 0.02
"""Share of the CPU budget that compilers may take in a server that is warm."""
WAIT_LIMIT = 0.2
"""Share of the time in which they have work that they may wait for a CPU."""


def compiled_methods(window: Window, component: Component) -> dict[str, int]:
    """Methods of a server since its start, by where and at which level; nothing where no log tells."""
    log, own = window.jit_logs.get(component.name), window.compile_logs.get(component.name)
    levels = dict(own.levels) if own is not None else {}
    if not log or not log.is_known:
        return levels
    return {"remote": log.remote, "local": log.local, "cached": log.cached, **levels}


@trial_figure(SENTENCES)
def not_remote(window: Window) -> list[str]:
    """Servers that should compile in a JITServer and did not."""
    killed, kept = bool(window.run.killed), window.spec.keeps_compilers
    reasons = (why_not_remote(name, log, killed=killed, kept=kept) for name, log in window.jit_logs.items())
    unread = (
        f"the JIT's log of {name} cannot be read ({log.unreadable[0]}), so where it compiled is not known"
        for name, log in window.jit_logs.items()
        if log.unreadable
    )
    return [*unread, *(reason for reason in reasons if reason)]


@trial_figure("share", undisturbed=0.001)
def jit_share(window: Window) -> float | None:
    """CPU of JIT threads of servers and compilers / CPU time of their CPUs or quotas, over the measurement."""
    used = combine_known(
        (
            component.cpu_by_group.get("jit") if component.cpu_by_group else None
            for component in window.measured_components
        ),
        sum,
    )
    return used / (window.spec.usable_cpus * window.seconds) if used is not None else None


def _compiler_time(window: Window) -> tuple[float | None, float | None]:
    """Seconds that compiler threads of servers and JITServers ran in the window, and waited for a CPU though they had
    work."""
    columns = [
        [
            series.delta(window.start, window.end) if series is not None else None
            for component in window.measured_components
            for series in [window.samples.threads.get((component.name, "jit", column))]
        ]
        for column in ("cpu_s", "wait_s")
    ]
    ran, waited = (combine_known(column, sum) for column in columns)
    return ran, waited


@trial_figure("share", undisturbed=0.001)
def compiler_demand(window: Window) -> float | Unknown:
    """Time that compiler threads ran or waited for a CPU / CPU time of the servers' and compilers' CPUs or quotas."""
    demand = combine_known(_compiler_time(window), sum)
    return known_or(ratio(demand, window.spec.usable_cpus * window.seconds), _NO_QUEUE)


@trial_figure("share", undisturbed=0.0)
def compiler_wait(window: Window) -> float | Unknown:
    """Time that compiler threads waited for a CPU / time that they ran or waited for one."""
    ran, waited = _compiler_time(window)
    demand = combine_known((ran, waited), sum)
    return 0.0 if demand == 0 else known_or(ratio(waited, demand), _NO_QUEUE)


_NO_QUEUE = Unknown("the kernel does not tell how long threads wait for a CPU (schedstat)")


def judge_wait(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The share of the waiting, where compilers asked for more CPU than they may have in a warm server: what they asked
    for in all is held against the limit of `jit-busy`."""
    finding, demand = _WAIT(measurement, spec), measurement.value("compiler_demand")
    if finding.value is None or demand is None:
        return finding
    if demand <= BUSY:
        calm = "JIT threads asked for at most 2 % of the servers' CPU budget, waits included: the servers are warm."
        return Finding(finding.value, calm, applies=False)
    if finding.value > WAIT_LIMIT:
        return finding._replace(detail=f"{finding.detail[:-1]}: not warm.")
    return finding


_WAIT = judge_share("compiler_wait", "JIT threads waited for a CPU for {} of the time that they had work", 0)


def _methods(where: str) -> Compute:
    """Methods of the servers that were compiled there: `remote`, `local`."""
    return sum_of(lambda component: component.compiled.get(where), SERVERS)


def compiled_remotely(trial: Trial, spec: Spec) -> float | None:
    """Share of the methods of the servers that a JITServer compiled."""
    remote, local = _methods("remote")(trial, spec), _methods("local")(trial, spec)
    return ratio(remote, combine_known((remote, local), sum))


def relay_delay(trial: Trial, _spec: Spec) -> float | None:
    """Milliseconds, by the relay's own word."""
    delays = (component.told.get('relay_delay_seconds{quantile="0.5"}') for component in trial.components)
    return next((1000 * seconds for seconds in delays if seconds is not None), None)


METRICS = (
    Metric(
        name="relay_delay",
        label="delay before the JITServer",
        unit="ms",
        digits=3,
        source="Median time for which the relay held what servers and JITServer sent each other, by its own clock,"
        " mean over the window.",
        pitfalls="On a busy host it is more than was asked for, as the relay waits for a CPU like anyone else; what"
        " the kernel does, some microseconds, is not in it.",
        compute=relay_delay,
        better="neither",
        roles=COMPILERS,
    ),
    Metric(
        name="compiled_remotely",
        label="methods compiled in the JITServer",
        unit="share",
        digits=3,
        source="Compilations in the JITServer / all compilations in the JIT logs of the servers, since their start.",
        pitfalls="A count of methods: which are expensive to compile is another question. Only where servers have `jit:"
        " remote`.",
        compute=compiled_remotely,
        better="neither",
        procedures=EVERY,
        roles=COMPILERS,
    ),
)

_COMPILERS = needs(lambda spec: spec.of("compiler"), "Servers compile by themselves.")
_JVM = needs(
    lambda spec: any(
        server.artifact.form != "command" or server.artifact.jvm is not None for server in spec.servers
    ),
    "The servers are not known to be JVMs.",
)

RULES = (
    Rule(
        name="remote-compilation",
        limit=0.0,
        unit="servers",
        says="every server compiled in its JITServer and stayed connected to it",
        judge=judge_none(
            "not_remote",
            "Every server compiled in its JITServer",
            "A server did not compile in its JITServer",
        ),
        source="the JIT's log of each server; a server without its JITServer silently compiles locally",
        procedures=EVERY,
        unless=_COMPILERS,
    ),
    Rule(
        name="jit-busy",
        limit=BUSY,
        unit="of the CPU budget",
        says="JIT under 2 % in the window",
        judge=judge_share("jit_share", "JIT threads used {} of the servers' CPU budget"),
        source=WARM_UP,
        procedures=STEADY,
        voids=False,
        unless=_JVM,
    ),
    Rule(
        name="jit-wait",
        limit=WAIT_LIMIT,
        unit="of the time that they had work",
        says="JIT threads that ask for more than 2 % of the CPU budget wait for a CPU for at most 20 % of the time that"
        " they have work",
        judge=judge_wait,
        source="compilers that get no CPU look idle, and the server for warm; /proc/PID/task/TID/schedstat",
        procedures=STEADY,
        voids=False,
        unless=_JVM,
    ),
)
