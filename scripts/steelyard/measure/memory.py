# SPDX-License-Identifier: Apache-2.0
"""Memory of a component: resident (RSS) and proportional (PSS), with pages of the large-page pool, of all its
processes.
"""

from steelyard.measure.formulas import COMPILERS, PART, SERVERS, Metric, of_trial, sum_of
from steelyard.measure.window import ComponentFigure, OfComponent, OfTrial, TrialFigure
from steelyard.results.spec import MEASURED_ROLES


def _of_component(name: str) -> OfComponent:
    return lambda window, component: window.samples.memory([component.name], window.start, window.end)[name]


def _of_all(name: str) -> OfTrial:
    """Servers and compilers together: summed at equal times."""
    return lambda window: window.samples.memory(
        [one.name for one in window.measured], window.start, window.end
    )[name]


COMPONENT_FIGURES = (
    ComponentFigure(
        name="rss_mean",
        unit="bytes",
        says="resident memory, mean over the window",
        read=_of_component("rss_mean"),
    ),
    ComponentFigure(
        name="rss_peak",
        unit="bytes",
        says="largest resident memory of the window",
        read=_of_component("rss_peak"),
    ),
    ComponentFigure(
        name="pss_mean",
        unit="bytes",
        says="proportional memory, mean of what was read at both ends of the window",
        read=_of_component("pss_mean"),
    ),
)

TRIAL_FIGURES = (
    TrialFigure(
        name="memory_rss",
        unit="bytes",
        says="resident memory of all servers and compilers together, mean over the window",
        read=_of_all("rss_mean"),
    ),
    TrialFigure(
        name="memory_rss_peak", unit="bytes", says="largest per-second sum of it", read=_of_all("rss_peak")
    ),
    TrialFigure(
        name="memory_pss",
        unit="bytes",
        says="proportional memory of all servers and compilers together",
        read=_of_all("pss_mean"),
    ),
)

METRICS = (
    Metric(
        name="memory_rss",
        label="memory (RSS) of the servers",
        unit="bytes",
        digits=0,
        source=(
            "Resident set size summed over all processes of the servers each second, pages of the large-page pool"
            " included,"
            " mean over the window."
        ),
        pitfalls="Counts pages that processes share (class cache, libraries, what workers have of their parent) once"
        " for each.",
        compute=of_trial("memory_rss"),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="memory_pss",
        label="memory (PSS) of the servers",
        unit="bytes",
        digits=0,
        source="Proportional set size summed over the servers, mean of what was read at both ends of the window.",
        pitfalls=(
            "A shared page is split over its users, also over processes outside the trial. What memory does between the"
            " ends is not seen: memory_rss is read each second."
        ),
        compute=of_trial("memory_pss"),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="memory_rss_peak",
        label="peak memory (RSS) of the servers",
        unit="bytes",
        digits=0,
        source="Largest of the per-second sums of resident set sizes over the servers in the window.",
        pitfalls="A maximum grows with the length of the window; a peak before the window is not in it.",
        compute=of_trial("memory_rss_peak"),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="memory_rss_servers",
        label="memory (RSS) of the servers alone",
        unit="bytes",
        digits=0,
        source="Resident set size of the server JVMs each second, mean over the window.",
        pitfalls=f"It is in memory_rss already. {PART}",
        compute=sum_of("rss_mean", SERVERS),
        roles=SERVERS,
        part_of="memory_rss",
        only_with_compilers=True,
    ),
    Metric(
        name="memory_rss_compiler",
        label="memory (RSS) of the JITServer",
        unit="bytes",
        digits=0,
        source="Resident set size of the compilers each second, mean over the window.",
        pitfalls="It is in memory_rss already; of a JITServer killed on purpose it counts as 0 from then on.",
        compute=sum_of("rss_mean", COMPILERS),
        roles=COMPILERS,
        part_of="memory_rss",
    ),
    Metric(
        name="memory_pss_servers",
        label="memory (PSS) of the servers alone",
        unit="bytes",
        digits=0,
        source="Proportional set size of the server JVMs, mean of the readings in the window.",
        pitfalls=f"It is in memory_pss already. {PART}",
        compute=sum_of("pss_mean", SERVERS),
        roles=SERVERS,
        part_of="memory_pss",
        only_with_compilers=True,
    ),
    Metric(
        name="memory_pss_compiler",
        label="memory (PSS) of the JITServer",
        unit="bytes",
        digits=0,
        source="Proportional set size of the compilers, mean of the readings in the window.",
        pitfalls="It is in memory_pss already.",
        compute=sum_of("pss_mean", COMPILERS),
        roles=COMPILERS,
        part_of="memory_pss",
    ),
)
