# SPDX-License-Identifier: Apache-2.0
"""Memory of a component: resident (RSS) and proportional (PSS), with pages of the large-page pool, of all its
processes.
"""

from collections.abc import Iterable

from steelyard.measure.formulas import COMPILERS, SERVERS, Metric, of_trial, sum_of
from steelyard.measure.samples import Memory
from steelyard.measure.window import Window, component_figure, trial_figure
from steelyard.results.spec import MEASURED_ROLES, Component


def _memory(window: Window, names: Iterable[str]) -> Memory:
    return window.samples.memory(names, window.start, window.end)


@component_figure("bytes")
def rss_mean(window: Window, component: Component) -> float | None:
    """Resident memory, mean over the window."""
    return _memory(window, [component.name]).rss_mean


@component_figure("bytes")
def rss_peak(window: Window, component: Component) -> float | None:
    """Largest resident memory of the window."""
    return _memory(window, [component.name]).rss_peak


@component_figure("bytes")
def pss_mean(window: Window, component: Component) -> float | None:
    """Proportional memory, mean of what was read at both ends of the window."""
    return _memory(window, [component.name]).pss_mean


def _of_all(window: Window) -> Memory:
    return _memory(window, [component.name for component in window.measured])


@trial_figure("bytes")
def memory_rss(window: Window) -> float | None:
    """Resident memory of all servers and compilers together, mean over the window."""
    return _of_all(window).rss_mean


@trial_figure("bytes")
def memory_rss_peak(window: Window) -> float | None:
    """Largest per-second sum of it."""
    return _of_all(window).rss_peak


@trial_figure("bytes")
def memory_pss(window: Window) -> float | None:
    """Proportional memory of all servers and compilers together."""
    return _of_all(window).pss_mean


_RSS = Metric(
    name="memory_rss",
    label="memory (RSS) of the servers",
    unit="bytes",
    source="Resident set size summed over all processes of the servers each second, pages of the large-page pool"
    " included, mean over the window.",
    pitfalls="Counts pages that processes share (class cache, libraries, what workers have of their parent) once for"
    " each.",
    compute=of_trial("memory_rss"),
    roles=MEASURED_ROLES,
)

_PSS = Metric(
    name="memory_pss",
    label="memory (PSS) of the servers",
    unit="bytes",
    source="Proportional set size summed over the servers, mean of what was read at both ends of the window.",
    pitfalls="A shared page is split over its users, also over processes outside the trial. What memory does between"
    " the ends is not seen: memory_rss is read each second.",
    compute=of_trial("memory_pss"),
    roles=MEASURED_ROLES,
)

METRICS = (
    _RSS,
    _PSS,
    Metric(
        name="memory_rss_peak",
        label="peak memory (RSS) of the servers",
        unit="bytes",
        source="Largest of the per-second sums of resident set sizes over the servers in the window.",
        pitfalls="A maximum grows with the length of the window; a peak before the window is not in it.",
        compute=of_trial("memory_rss_peak"),
        roles=MEASURED_ROLES,
    ),
    _RSS.part(
        SERVERS,
        sum_of("rss_mean", SERVERS),
        source="Resident set size of the server JVMs each second, mean over the window.",
    ),
    _RSS.part(
        COMPILERS,
        sum_of("rss_mean", COMPILERS),
        source="Resident set size of the compilers each second, mean over the window.",
        but="of a JITServer killed on purpose it counts as 0 from then on",
    ),
    _PSS.part(
        SERVERS,
        sum_of("pss_mean", SERVERS),
        source="Proportional set size of the server JVMs, mean of the readings in the window.",
    ),
    _PSS.part(
        COMPILERS,
        sum_of("pss_mean", COMPILERS),
        source="Proportional set size of the compilers, mean of the readings in the window.",
    ),
)
