# SPDX-License-Identifier: Apache-2.0
"""From what a trial left to what `trial.json` says of it, but for the metrics: they follow from these figures alone."""

from typing import Any

from steelyard.measure.ledger import judge
from steelyard.measure.ramp_up import curves
from steelyard.measure.record import component_results, measure_trial
from steelyard.measure.start import first_answers
from steelyard.measure.survival import everything_lived
from steelyard.measure.window import Window


def figures(window: Window) -> dict[str, Any]:  # fields of `Trial`, to each its own type
    """All that `trial.json` says of what happened, but for the metrics."""
    procedure = window.spec.procedure
    components = component_results(window)
    measurement = measure_trial(window, components)
    return {
        "measurement": measurement,
        "checks": judge(measurement, window.spec),
        "steady": measurement.steady,
        "latency": window.recorded.latency(),
        "components": components,
        "first_answers": first_answers(window) if procedure == "start-up" else {},
        "curves": curves(window) if procedure == "ramp-up" else {},
        "survived": everything_lived(window.flight.survived, measurement),
        "trace": trace(window) if procedure in ("steady", "survive") else [],
    }


def trace(window: Window) -> list[tuple[float, float]]:
    """Throughput per second from the end of the ramp to the end of the measurement."""
    rates = window.rates(window.flight.ramp_end, window.end)
    return [(round(second, 1), round(rate, 1)) for second, rate in rates]
