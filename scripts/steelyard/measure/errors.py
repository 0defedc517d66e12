# SPDX-License-Identifier: Apache-2.0
"""Requests that failed, by the injectors and by the servers."""

from steelyard.measure.formulas import Metric, combine_known, of_latency, ratio
from steelyard.measure.requests import NO_COUNTERS, every_server_counts
from steelyard.measure.rule import RESULT, SURVIVE, Finding, Rule
from steelyard.measure.window import Window, trial_figure
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import Spec

_NAMED = 3
"""Operations that a sentence names."""


@trial_figure("count")
def server_errors(window: Window) -> int | None:
    """Failed requests by the servers' own counters, whole run of the injectors."""
    counts = window.samples.total_counts()
    return round(counts.errors) if counts else None


@trial_figure("count", undisturbed=0)
def window_injector_errors(window: Window) -> int:
    """Errors in the measurement window, by the injectors' histograms."""
    return sum(window.recorded.errors.values())


@trial_figure("count", undisturbed=0)
def window_server_errors(window: Window) -> int | None:
    """The same by the servers' counters."""
    errors = combine_known((server.value("errors") for server in window.of("server")), sum)
    return None if errors is None else round(errors)


def _list_unanswered(measurement: TrialMeasurement) -> str:
    """Which of the errors are requests that got no answer, which a server may have served or not."""
    counts = {name: counts.unanswered or 0 for name, counts in measurement.operations.items()}
    most = sorted((name for name in counts if counts[name]), key=lambda name: -counts[name])
    if not most:
        return ""
    named = ", ".join(f"{name} {counts[name]:,}" for name in most[:_NAMED])
    return f", {sum(counts.values()):,} of them unanswered ({named}{', ...' if most[_NAMED:] else ''})"


def judge_errors(measurement: TrialMeasurement, spec: Spec) -> Finding:
    """Errors by the injectors or by the servers, whichever are more."""
    if measurement.injector_requests == 0:
        return Finding(1.0, "The injectors completed no request.")
    seen = measurement.injector_errors / measurement.injector_requests
    why = f" (most often: {measurement.injector_messages[0]})" if measurement.injector_messages else ""
    failed = f"{measurement.injector_errors:,} of {measurement.injector_requests:,} requests failed"
    said = f"{failed}{_list_unanswered(measurement)}{why}"
    # A long warm-up without errors must not water down those of the measurement.
    inside, requests = measurement.value("window_injector_errors"), measurement.window_requests
    if inside is None:
        return Finding(None, f"{said}; those of the measurement were not counted.")
    seen = max(seen, inside / max(requests, 1.0, inside))
    said += f", {inside:,} of {requests:,.0f} in the measurement"
    if not every_server_counts(spec):
        return Finding(seen, f"{said}; what the servers think of them cannot be told: {NO_COUNTERS}")
    errors, counted = measurement.value("server_errors"), measurement.value("server_requests")
    if errors is None or counted is None:
        return Finding(None, f"{said}; the servers' own count of errors was not measured.")
    seen = max(seen, errors / max(counted, 1))
    inside, rate = measurement.value("window_server_errors"), measurement.value("window_server_rate")
    if inside is None or rate is None:
        return Finding(None, f"{said}; what the servers counted in the measurement was not measured.")
    seen = max(seen, inside / max(rate * measurement.measure_seconds, 1.0))
    return Finding(seen, f"{said}, {errors:,} in the servers.")


METRICS = (
    Metric(
        name="error_share",
        label="errors",
        unit="share",
        digits=5,
        source="Failed requests / all requests of the injectors in the window.",
        pitfalls="Zero, as it should be, has no ratio; above 0.1 % the trial is void (of `survive`: it did not"
        " survive).",
        compute=of_latency(lambda x: ratio(x.errors, x.requests + x.errors)),
    ),
)

RULES = (
    Rule(
        name="errors",
        limit=0.001,
        unit="of requests",
        says=f"at most 0.1 % errors, in the measurement and over the whole run; {RESULT}",
        judge=judge_errors,
        answers=SURVIVE,
    ),
)
