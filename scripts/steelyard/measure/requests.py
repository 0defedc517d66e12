# SPDX-License-Identifier: Apache-2.0
"""Requests as the servers counted them, held against the injectors' count: throughput."""

import math
from collections import defaultdict
from collections.abc import Callable

from steelyard.measure.chance import quantile
from steelyard.measure.formulas import Metric, combine_known, request_rate
from steelyard.measure.rule import LIVING, RATE_LIMIT, STEADY, Finding, Rule, judge_distance, needs
from steelyard.measure.samples import Counts
from steelyard.measure.window import Unknown, V, Window, component_figure, trial_figure
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import Component, Spec

THROUGHPUT = "throughput"
NO_COUNTERS = "not every server has counters of its own."


def every_server_counts(spec: Spec) -> bool:
    """Whether every server counts its requests."""
    return all(server.counters for server in spec.servers)


def _count(window: Window, component: Component, read: Callable[[Counts], V]) -> V | Unknown | None:
    """What is read from its own counters, where it has some."""
    if component.counters is None:
        return None
    counts = window.samples.requests(component.name, window.start, window.end)
    return Unknown("its counters do not cover the window") if counts is None else read(counts)


@component_figure("count")
def requests(window: Window, component: Component) -> int | Unknown | None:
    """Requests that ended, by its own counters."""
    return _count(window, component, lambda counts: round(counts.requests))


@component_figure("count")
def errors(window: Window, component: Component) -> int | Unknown | None:
    """Those of them that failed."""
    return _count(window, component, lambda counts: round(counts.errors))


@component_figure("req/s")
def throughput(window: Window, component: Component) -> float | Unknown | None:
    """Requests per second, by its own counters."""
    return _count(window, component, lambda counts: counts.requests / window.seconds)


@trial_figure("count")
def server_requests(window: Window) -> int | None:
    """By the servers' own counters, whole run of the injectors; None: they have none."""
    counts = window.samples.total_counts()
    return round(counts.requests) - _own_requests(window) if counts else None


def _own_requests(window: Window) -> int:
    """Requests of the harness that the servers counted since their start, like any other: data and checks of it."""
    kept = set(window.started)
    checks = [check for check in window.spec.consistency if check.component in kept]
    loaded = [step for step in window.spec.data if step.component in kept]
    return len(checks) + (0 if window.spec.needs_preparation else len(loaded))


@trial_figure("req/s")
def window_server_rate(window: Window) -> float | None:
    """Requests per second by the servers' counters, measurement window; None: they have none."""
    return combine_known((server.value("throughput") for server in window.of("server")), sum)


@trial_figure("s")
def window_counts_away(window: Window) -> float | None:
    """Time between the window's ends and the servers' counts nearest to them, both ends together.

    Each end's is that of the server where it is longest. None: no server has counts.
    """
    servers = defaultdict(list)
    for (name, _, column), counts in window.samples.counters.items():
        if column == "requests":
            servers[name].append(counts)

    def distance(edge: float) -> float | None:
        # Of a server's operations: one that nobody asked for at first has no counts from then.
        nearest = (
            combine_known((series.nearest(edge) for series in counts), min) for counts in servers.values()
        )
        return combine_known(nearest, max)

    return combine_known(map(distance, (window.start, window.end)), sum)


_WINDOW_COUNTS = judge_distance(
    lambda measurement: (measurement.value("window_server_rate"), measurement.window_injector_rate),
    "In the window the servers counted {:,.1f} requests/s and the injectors {:,.1f}.",
    "What the servers counted in the window was not measured.",
)


def judge_window_counts(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """The servers' rate against the injectors'.

    The servers' counts are interpolated at both ends between samples a second apart. Of Poisson events at rate r the
    count within a second, at a share p of it, has the variance r p (1 - p) about the straight line: at most r/4.
    A server that stands still when it is asked (OpenJ9 does as it warms up, for 0.3 s) tells its count late, and what
    it did up to there is no straight line: what part of the window lies between its ends and the nearest counts is
    allowed, as much again as the limit at most. Throughput is made of these counts: it may not be further off.
    """
    finding, requests = _WINDOW_COUNTS(measurement, spec), measurement.window_requests
    spread = quantile() * math.sqrt(measurement.window_injector_rate / 2)
    late = (measurement.value("window_counts_away") or 0.0) / measurement.measure_seconds
    uncertain = min(late, RATE_LIMIT)
    return finding._replace(limit=RATE_LIMIT + uncertain + (spread / requests if requests > 0 else 0.0))


METRICS = (
    Metric(
        name=THROUGHPUT,
        label="throughput",
        unit="req/s",
        source="Requests that the servers counted in the window / length of the window; by the injectors' count where"
        " not every server counts.",
        pitfalls="With an open model it is the arrival rate, not the capacity of the servers.",
        compute=request_rate,
        better="higher",
    ),
)

_COUNTERS = needs(every_server_counts, f"What the injectors counted cannot be checked: {NO_COUNTERS}")
_IN_TIME = needs(
    lambda spec: not spec.in_turns, "A server that is frozen tells late what it counted in the window."
)
_COUNTS = judge_distance(
    lambda measurement: (measurement.value("server_requests"), measurement.injector_requests),
    "Over the whole run the servers counted {:,.0f} requests and the injectors {:,}.",
    "What the servers counted was not measured.",
)

RULES = (
    Rule(
        name="counts",
        limit=0.01,
        unit="apart",
        says="server and injector totals within 1 %",
        judge=_COUNTS,
        procedures=LIVING,
        unless=_COUNTERS,
    ),
    Rule(
        name="counts-window",
        limit=RATE_LIMIT,
        unit="apart",
        says="server and injector rates within 1 % beyond what chance allows",
        judge=judge_window_counts,
        procedures=STEADY,
        unless=lambda spec: _COUNTERS(spec) or _IN_TIME(spec),
    ),
    Rule(
        name="counts-exact",
        limit=0.001,
        unit="apart",
        says="server and injector totals within 0.1 %",
        judge=_COUNTS,
        source="what an undisturbed trial reaches",
        procedures=LIVING,
        voids=False,
        unless=_COUNTERS,
    ),
)
