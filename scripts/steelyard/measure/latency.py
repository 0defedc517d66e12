# SPDX-License-Identifier: Apache-2.0
"""Latency of requests, by the injectors' histograms, and the workload's limits of it."""

import math
from collections.abc import Mapping
from operator import attrgetter
from typing import Literal, get_args

from steelyard.measure.formulas import OVERALL, Metric, combine_known, of_latency, ratio
from steelyard.measure.rule import STEADY, Finding, Rule, needs
from steelyard.results.measurement import Latency, TimeResult, TrialMeasurement
from steelyard.results.schema import Trial
from steelyard.results.spec import Spec
from steelyard.units import format_duration_short
from steelyard.workload.schema import Limits

Quantile = Literal["p50", "p90", "p99"]
QUANTILES: tuple[Quantile, ...] = get_args(Quantile)


def response_times(limits: Limits, latency: Mapping[str, Latency]) -> list[TimeResult]:
    """What answers took, of each operation that has a limit and was asked for.

    One that was not asked for has nothing to judge: whether it should have been is a matter of the mix.
    """
    limited = []
    for operation, own in limits.operations.items():
        seen = latency.get(operation)
        if seen is None or seen.requests + seen.errors == 0:
            continue
        for quantile in QUANTILES:
            limit, millis = getattr(own, quantile), getattr(seen, quantile)
            if limit is not None:
                value = None if millis is None else millis / 1000
                limited.append(TimeResult(operation=operation, quantile=quantile, value=value, limit=limit))
    return limited


def weighted_p90(trial: Trial, _spec: Spec) -> float | None:
    """Mean of the operations' 90 % quantiles, weighted by their shares; milliseconds."""
    asked = [latency for name, latency in trial.latency.items() if name != OVERALL and latency.requests]
    sums = combine_known(
        (None if latency.p90 is None else latency.requests * latency.p90 for latency in asked), math.fsum
    )
    return ratio(sums, sum(latency.requests for latency in asked))


def judge_response_times(measurement: TrialMeasurement, _: Spec) -> Finding:
    """The operation whose answers are furthest above their limit, or nearest to it."""
    unknown = [answers for answers in measurement.response_times if answers.value is None]
    if unknown:
        return Finding(None, f"The {unknown[0].quantile} of {unknown[0].operation} was not measured.")
    shares = [
        (answers.value / answers.limit, answers)
        for answers in measurement.response_times
        if answers.value is not None
    ]
    if not shares:
        return Finding(None, "No operation with a limit of its own was asked for.")
    share, worst = max(shares, key=lambda pair: pair[0])
    took, limit = map(format_duration_short, (worst.value or 0.0, worst.limit))
    return Finding(share, f"The {worst.quantile} of {worst.operation} was {took}, at most {limit} is right.")


_TIMES = needs(lambda spec: spec.limits.operations, "The workload limits no operation by itself.")

METRICS = (
    Metric(
        name="latency_mean",
        by_clock=True,
        label="mean latency",
        unit="ms",
        digits=3,
        source="Mean of the injectors' merged histograms of successful requests over all operations in the window.",
        pitfalls="In a closed model without think time it is users / throughput and says nothing new.",
        compute=of_latency(lambda x: x.mean),
    ),
    *(
        Metric(
            name=f"latency_p{q}",
            by_clock=True,
            label=f"latency p{q}",
            unit="ms",
            digits=3,
            source=(
                f"{q} % quantile of the injectors' merged histograms of successful requests over all operations in the"
                " window."
            ),
            pitfalls=(
                "From a saturated closed model it shows queueing at the injectors' number of users."
                if q < 99
                else "Missing with fewer than 1,000 requests; steady only from about 10,000."
            ),
            compute=of_latency(attrgetter(f"p{q}")),
        )
        for q in (50, 90, 99)
    ),
    Metric(
        name="latency_p90_weighted",
        by_clock=True,
        label="p90 of the operations, weighted",
        unit="ms",
        digits=3,
        source="90 % quantile of each operation, mean over the operations weighted by their measured shares; of means"
        " the same is latency_mean.",
        pitfalls="No quantile of anything: a figure of studies that state one, to compare with theirs.",
        compute=weighted_p90,
    ),
)

RULES = (
    # These two only mark: too much load is a result, and a search has them as limits.
    Rule(
        name="response-times",
        limit=1.0,
        unit="of its limit",
        says="answers of each operation within the workload's limits for it",
        judge=judge_response_times,
        source="the workload file",
        procedures=STEADY,
        voids=False,
        unless=_TIMES,
    ),
)
