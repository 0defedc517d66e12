# SPDX-License-Identifier: Apache-2.0
"""What was served by so much hardware."""

from steelyard.measure.formulas import Metric, of_measurement, quotient, request_rate
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.spec import MEASURED_ROLES


def _gib(measurement: TrialMeasurement) -> float | None:
    size = measurement.value("memory_rss")
    return size and size / 2**30


METRICS = (
    Metric(
        name="requests_per_core_second",
        label="requests per core-second",
        unit="req/core-s",
        source="Throughput / physical cores that the servers were given together.",
        pitfalls="Cores given, not cores used: idle cores count; for cores used read cpu_per_1k.",
        compute=quotient(request_rate, lambda _trial, spec: spec.server_cores),
        better="higher",
    ),
    Metric(
        name="requests_per_gib",
        label="requests per second per GiB of the servers",
        unit="req/s/GiB",
        source="Throughput / memory_rss in GiB.",
        pitfalls="Inherits the double counting of shared pages from RSS.",
        compute=quotient(request_rate, of_measurement(_gib)),
        better="higher",
        roles=MEASURED_ROLES,
    ),
)
