# SPDX-License-Identifier: Apache-2.0
"""Memory of a component: resident (RSS) and proportional (PSS), with pages of the large-page pool, of all its
processes.
"""

from collections.abc import Callable

from steelyard.jvm.rows import MAPPINGS
from steelyard.measure.formulas import COMPILERS, SERVERS, Metric, of_trial, sum_of
from steelyard.measure.samples import Memory
from steelyard.measure.window import UNCOVERED, Unknown, V, Window, component_figure, known_or, trial_figure
from steelyard.results.spec import MEASURED_ROLES, Component


def _repeats(window: Window, name: str) -> str | None:
    """Why the kernel counts memory of a component more than once in its resident set; None: it does not.

    ZGC without generations maps its heap three times (JEP 439, multi-mapped memory), and each mapping through which a
    page was touched counts it.
    """
    facts = {key: value for source in window.facts(name) for key, value in source.items()}
    times = facts.get(MAPPINGS)
    if times is None and facts.get("gc") == "z":
        return "whether its heap is mapped once was not read, which ZGC without generations does not do"
    if not isinstance(times, int) or times < 2:
        return None
    return f"its heap is mapped {times} times, and resident memory counts a page once for each mapping"


def resident_or_unknown(window: Window, name: str, value: V | None) -> V | Unknown:
    """Resident memory of a component; unknown where the kernel counts some of it more than once."""
    repeats = _repeats(window, name)
    return Unknown(repeats) if repeats is not None else known_or(value, UNCOVERED)


def _memory(window: Window, component: Component) -> Memory:
    return window.samples.memory([component.name], window.start, window.end)


@component_figure("bytes")
def rss_mean(window: Window, component: Component) -> float | Unknown:
    """Resident memory, mean over the window."""
    return resident_or_unknown(window, component.name, _memory(window, component).rss_mean)


@component_figure("bytes")
def rss_peak(window: Window, component: Component) -> float | Unknown:
    """Largest resident memory of the window."""
    return resident_or_unknown(window, component.name, _memory(window, component).rss_peak)


@component_figure("bytes")
def pss_mean(window: Window, component: Component) -> float | Unknown | None:
    """Proportional memory, mean of what was read at both ends of the window."""
    repeats = _repeats(window, component.name)
    pages = {source["pages"] for source in window.facts(component.name) if "pages" in source}
    # The kernel tells which pages of the large-page pool are mapped more than once, and not how often.
    if repeats is not None and not pages <= {"small", "transparent"}:
        return Unknown(f"{repeats}, which large pages are not divided by")
    value = _memory(window, component).pss_mean
    return known_or(value, UNCOVERED) if component.role in MEASURED_ROLES else value


def _of_all(window: Window, figure: str, read: Callable[[Memory], float | None]) -> float | Unknown:
    """A figure of all servers and compilers together, where each has it."""
    components = window.measured_components
    for component in components:
        if figure in component.unknown:
            return Unknown(f"{component.name}: {component.unknown[figure]}")
    names = [component.name for component in components]
    return known_or(read(window.samples.memory(names, window.start, window.end)), UNCOVERED)


@trial_figure("bytes")
def memory_rss(window: Window) -> float | Unknown:
    """Resident memory of all servers and compilers together, mean over the window."""
    return _of_all(window, "rss_mean", lambda memory: memory.rss_mean)


@trial_figure("bytes")
def memory_rss_peak(window: Window) -> float | Unknown:
    """Largest per-second sum of it."""
    return _of_all(window, "rss_peak", lambda memory: memory.rss_peak)


@trial_figure("bytes")
def memory_pss(window: Window) -> float | Unknown:
    """Proportional memory of all servers and compilers together, mean of what was read at both ends of the window."""
    return _of_all(window, "pss_mean", lambda memory: memory.pss_mean)


_RSS = Metric(
    name="memory_rss",
    label="memory (RSS) of the servers",
    unit="bytes",
    source="Resident set size summed over all processes of servers and compilers each second, pages of the large-page"
    " pool included, mean over the window.",
    pitfalls="Counts pages that processes share (class cache, libraries, what workers have of their parent) once for"
    " each. Missing where a server maps its heap several times (ZGC without generations, three times): use memory_pss.",
    compute=of_trial("memory_rss"),
    roles=MEASURED_ROLES,
)

_PSS = Metric(
    name="memory_pss",
    label="memory (PSS) of the servers",
    unit="bytes",
    source="Proportional set size summed over servers and compilers, mean of what was read at both ends of the window.",
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
        source="Largest of the per-second sums of resident set sizes over servers and compilers in the window.",
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
        source="Proportional set size of the server JVMs, mean of what was read at both ends of the window.",
    ),
    _PSS.part(
        COMPILERS,
        sum_of("pss_mean", COMPILERS),
        source="Proportional set size of the compilers, mean of what was read at both ends of the window.",
    ),
)
