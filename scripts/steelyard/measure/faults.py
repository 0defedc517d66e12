# SPDX-License-Identifier: Apache-2.0
"""Page faults and context switches of a component."""

from steelyard.measure.formulas import Metric, combine_known, summed_per_1k
from steelyard.measure.window import UNCOVERED, Unknown, Window, component_figure, known_or
from steelyard.results.spec import Component


@component_figure("count")
def faults(window: Window, component: Component) -> float | Unknown:
    """Page faults, minor and major."""
    return known_or(window.growth(component.name, "minor_faults", "major_faults"), UNCOVERED)


@component_figure("count")
def switches(window: Window, component: Component) -> float | Unknown | None:
    """Context switches, voluntary and not, which are read at the ends of the window; of servers alone.

    Unknown where a process of it ended in the window: what it did after it was last read is not known.
    """
    if window.growth(component.name, "ended"):
        return Unknown(
            "a process of it ended in the window, and what it did after it was last read is not known"
        )
    columns = [
        window.samples.series(component.name, f"{sort}_switches") for sort in ("voluntary", "involuntary")
    ]
    if not any(column.t.size for column in columns):
        return None
    grown = (column.delta_of_readings(window.start, window.end) for column in columns)
    return known_or(combine_known(grown, sum), UNCOVERED)


METRICS = (
    Metric(
        name="faults_per_1k",
        label="page faults of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Minor and major page faults of servers and compilers in the window / thousands of requests.",
        pitfalls="Large while the heap still grows into new pages.",
        **summed_per_1k("faults"),
    ),
    Metric(
        name="switches_per_1k",
        label="context switches of the servers per 1,000 requests",
        unit="1/1k req",
        digits=1,
        source="Voluntary and involuntary context switches of servers and compilers in the window / thousands of"
        " requests.",
        pitfalls="Threads that ended between two readings are missing; there is none where a process of a server"
        " ended.",
        **summed_per_1k("switches"),
    ),
)
