# SPDX-License-Identifier: Apache-2.0
"""Whether throughput was steady before it was measured (analysis/warmup.py decides)."""

from steelyard.measure.rule import STEADY, WARM_UP, Finding, Rule
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import Spec


def judge_steady(measurement: TrialMeasurement, _: Spec) -> Finding:
    """Whether the warm-up rule held."""
    if measurement.steady is None:
        return Finding(None, "Whether throughput was steady was not judged.")
    return Finding(0.0 if measurement.steady else 1.0, measurement.steady_detail)


RULES = (
    Rule(
        name="not-steady",
        limit=0.0,
        unit="",
        says="throughput was steady before the measurement, by the rules of `warmup`",
        judge=judge_steady,
        source=WARM_UP,
        procedures=STEADY,
        voids=False,
    ),
)
