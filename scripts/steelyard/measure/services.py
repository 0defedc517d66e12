# SPDX-License-Identifier: Apache-2.0
"""Requests that services ask of each other."""

from steelyard.measure.columns import NOTHING
from steelyard.measure.formulas import Metric, combine_known, of_trial, per_1k
from steelyard.measure.window import Window, trial_figure


@trial_figure("count")
def service_calls(window: Window) -> float | None:
    """Requests that services counted as asked by each other; None with one kind of server."""
    grown = [
        requests.delta(window.start, window.end)
        for (_, operation, column), requests in window.samples.internal.items()
        if column == "requests" and operation != NOTHING
    ]
    return combine_known(grown, sum)


METRICS = (
    Metric(
        name="service_calls_per_1k",
        label="calls between services per 1,000 requests",
        unit="calls",
        digits=1,
        source="Requests that services counted as asked by each other in the window / thousands of requests.",
        pitfalls="Retries count; only for topologies of several services.",
        compute=per_1k(of_trial("service_calls")),
        better="neither",
    ),
)
