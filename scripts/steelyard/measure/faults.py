# SPDX-License-Identifier: Apache-2.0
"""Page faults and context switches of a component."""

from steelyard.measure.formulas import Metric, per_1k, sum_of
from steelyard.measure.window import Window, component_figure
from steelyard.results.spec import MEASURED_ROLES, Component


@component_figure("count")
def faults(window: Window, component: Component) -> float | None:
    """Page faults, minor and major."""
    return window.samples.faults(component.name, window.start, window.end)


@component_figure("count")
def switches(window: Window, component: Component) -> float | None:
    """Context switches, voluntary and not."""
    return window.samples.switches(component.name, window.start, window.end)


METRICS = (
    Metric(
        name="faults_per_1k",
        label="page faults of the servers per 1,000 requests",
        unit="1/1k req",
        digits=2,
        source="Minor and major page faults of the servers in the window / thousands of requests.",
        pitfalls="Large while the heap still grows into new pages.",
        compute=per_1k(sum_of("faults")),
        roles=MEASURED_ROLES,
    ),
    Metric(
        name="switches_per_1k",
        label="context switches of the servers per 1,000 requests",
        unit="1/1k req",
        digits=1,
        source="Voluntary and involuntary context switches of the servers in the window / thousands of requests.",
        pitfalls="Threads that ended between two readings are missing; there is none where a process of a server"
        " ended.",
        compute=per_1k(sum_of("switches")),
        roles=MEASURED_ROLES,
    ),
)
