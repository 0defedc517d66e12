# SPDX-License-Identifier: Apache-2.0
"""What the JVM did in the window: compilations, classes, safepoints, locks, by the counters that HotSpot keeps of
itself."""

from steelyard.measure.compile_log import OPTIMIZING, CompileLog
from steelyard.measure.formulas import SERVERS, Metric, per_second, share_of_servers, sum_of, summed_per_1k
from steelyard.measure.series import NOTHING_READ
from steelyard.measure.window import Unknown, Window, component_figure
from steelyard.results.spec import Component

_LOGGED = "Only where servers have `jit_log: true`, on HotSpot: OpenJ9's log has no times."
"""Pitfall of those that come from the JIT's log."""
OTHER_JVM = "HotSpot's own counters, which OpenJ9 does not have."
"""Pitfall of each of them."""


def _growth(window: Window, component: Component, *columns: str) -> float | Unknown | None:
    """Growth of some columns of jvm.csv together; None where there is no such JVM."""
    series = [window.samples.jvm.get((component.name, column), NOTHING_READ) for column in columns]
    if not any(column.t.size for column in series):
        return None
    grown = [column.delta(window.start, window.end) for column in series]
    known = [value for value in grown if value is not None]
    if len(known) < len(grown):
        return Unknown("the counters of its JVM do not cover the window")
    if any(column.falls(window.start, window.end) for column in series):
        return Unknown("a JVM of it ended in the window, and what it had counted with it")
    return sum(known)


@component_figure("count")
def compilations(window: Window, component: Component) -> float | Unknown | None:
    """Methods that the JIT compiled, of all levels; HotSpot only."""
    return _growth(window, component, "compilations")


@component_figure("s")
def compile_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time that compilations took, from begin to end, summed over compiler threads; HotSpot only."""
    return _growth(window, component, "compile_s")


@component_figure("count")
def compilations_invalidated(window: Window, component: Component) -> float | Unknown | None:
    """Compilations that were of no use once done, for what they had assumed did not hold; HotSpot only."""
    return _growth(window, component, "invalidated")


@component_figure("bytes")
def code_compiled(window: Window, component: Component) -> float | Unknown | None:
    """Machine code that was made; HotSpot only."""
    return _growth(window, component, "code_bytes")


@component_figure("count")
def classes_loaded(window: Window, component: Component) -> float | Unknown | None:
    """Classes that were loaded, from a shared archive or not; HotSpot only."""
    return _growth(window, component, "classes", "shared_classes")


@component_figure("count")
def classes_unloaded(window: Window, component: Component) -> float | Unknown | None:
    """Classes that were unloaded; HotSpot only."""
    return _growth(window, component, "unloaded_classes")


@component_figure("count")
def safepoints(window: Window, component: Component) -> float | Unknown | None:
    """Safepoints, those of collections among them; HotSpot only."""
    return _growth(window, component, "safepoints")


@component_figure("s")
def to_safepoint_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time until all threads had come to a safepoint; HotSpot only."""
    return _growth(window, component, "to_safepoint_s")


@component_figure("s")
def safepoint_seconds(window: Window, component: Component) -> float | Unknown | None:
    """Time at safepoints, once all threads had come; HotSpot only."""
    return _growth(window, component, "safepoint_s")


@component_figure("count")
def lock_waits(window: Window, component: Component) -> float | Unknown | None:
    """Times that a thread had waited for a monitor (`synchronized`) and then entered it; HotSpot up to 24 only."""
    return _growth(window, component, "lock_waits")


def _log(window: Window, component: Component) -> CompileLog | Unknown | None:
    """The JIT's log of a component; None where it writes none."""
    log = window.compile_logs.get(component.name)
    return log if log is None or log.unknown is None else Unknown(log.unknown)


def _compilations(window: Window, component: Component, levels: range) -> int | Unknown | None:
    log = _log(window, component)
    if log is None or isinstance(log, Unknown):
        return log
    return sum(window.start <= at < window.end and level in levels for at, level in log.compiled)


@component_figure("count")
def compiled_quickly(window: Window, component: Component) -> int | Unknown | None:
    """Methods given to HotSpot's quick compiler (C1, levels 1 to 3), by the JIT's log; None where it writes none."""
    return _compilations(window, component, range(1, OPTIMIZING))


@component_figure("count")
def compiled_optimized(window: Window, component: Component) -> int | Unknown | None:
    """Methods given to HotSpot's optimizing compiler (C2, level 4), by the JIT's log; None where it writes none."""
    return _compilations(window, component, range(OPTIMIZING, OPTIMIZING + 1))


@component_figure("count")
def code_given_up(window: Window, component: Component) -> int | Unknown | None:
    """Optimized code (level 4) that was given up, for what the compiler had assumed did not hold, by the JIT's log."""
    log = _log(window, component)
    if log is None or isinstance(log, Unknown):
        return log
    return sum(window.start <= at < window.end for at in log.given_up)


METRICS = (
    Metric(
        name="compilations_per_1k",
        label="compilations of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Methods that the JITs of the servers compiled in the window, of all levels / thousands of requests.",
        pitfalls=f"A count: which are expensive is another question (compile_time_per_1k). {OTHER_JVM}",
        **summed_per_1k("compilations", SERVERS),
    ),
    Metric(
        name="compile_time_per_1k",
        by_clock=True,
        label="compilation time of the servers per 1,000 requests",
        unit="s",
        digits=4,
        source="Time from begin to end of the compilations of the servers in the window, summed over compiler threads /"
        " thousands of requests.",
        pitfalls=f"A compiler thread that waits for a CPU counts: its CPU time is cpu_per_1k_jit. {OTHER_JVM}",
        **summed_per_1k("compile_seconds", SERVERS),
    ),
    Metric(
        name="compiled_quickly_per_1k",
        label="quick compilations of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Methods that the servers gave to the quick compiler (C1, levels 1 to 3) in the window, by the JIT's"
        " log / thousands of requests.",
        pitfalls=_LOGGED,
        **summed_per_1k("compiled_quickly", SERVERS),
    ),
    Metric(
        name="compiled_optimized_per_1k",
        label="optimizing compilations of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Methods that the servers gave to the optimizing compiler (C2, level 4) in the window, by the JIT's"
        " log / thousands of requests.",
        pitfalls=f"Without `tiered` all of them are these. {_LOGGED}",
        **summed_per_1k("compiled_optimized", SERVERS),
    ),
    Metric(
        name="code_given_up_per_1k",
        label="deoptimized methods of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Pieces of optimized code (level 4) of the servers that were given up (made not entrant) in the window,"
        " by the JIT's log / thousands of requests.",
        pitfalls=f"Each piece once: how often threads left optimized code is in no log of JDK 17. {_LOGGED}",
        **summed_per_1k("code_given_up", SERVERS),
    ),
    Metric(
        name="classes_loaded_per_1k",
        label="loaded classes of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Classes that the servers loaded in the window, from a shared archive or not / thousands of requests.",
        pitfalls=f"In a warm server next to none; then the figure has no ratio. {OTHER_JVM}",
        **summed_per_1k("classes_loaded", SERVERS),
    ),
    Metric(
        name="lock_waits_per_1k",
        label="lock waits of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Times that threads of the servers entered a monitor (`synchronized`) for which they had waited beyond a"
        " short spin, in the window / thousands of requests.",
        pitfalls="Of HotSpot up to release 24: 25 and OpenJ9 have no such counter. How often, not how long: one thread"
        " may wait for a second (`--profile lock`). Locks of java.util.concurrent and the end of `wait()` are not in"
        " it, and of two monitors that are entered at the very same moment one may go uncounted.",
        **summed_per_1k("lock_waits", SERVERS),
    ),
    Metric(
        name="safepoints_per_second",
        by_clock=True,
        label="safepoints",
        unit="1/s",
        digits=3,
        source="Safepoints of the servers in the window / its length.",
        pitfalls=f"Those of collections are among them. {OTHER_JVM}",
        compute=per_second(sum_of("safepoints", SERVERS)),
        evidence=True,
    ),
    Metric(
        name="safepoint_share",
        by_clock=True,
        label="time at safepoints",
        unit="share",
        digits=5,
        source="Time at safepoints in the window, all threads of the application stopped / (length of the window x"
        " number of server JVMs).",
        pitfalls=f"Pauses of collections are in it: what is beyond gc_pause_share has other reasons. {OTHER_JVM}",
        compute=share_of_servers("safepoint_seconds"),
        evidence=True,
    ),
    Metric(
        name="to_safepoint_share",
        by_clock=True,
        label="time to safepoints",
        unit="share",
        digits=5,
        source="Time from the request for a safepoint until the last thread had come to it, in the window / (length of"
        " the window x number of server JVMs).",
        pitfalls=f"Long where a thread waits for a CPU, or is in a loop without a safepoint. {OTHER_JVM}",
        compute=share_of_servers("to_safepoint_seconds"),
        evidence=True,
    ),
)
