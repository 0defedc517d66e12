# SPDX-License-Identifier: Apache-2.0
"""What the answers of single operations took, against what they may take: both in seconds."""

import pytest

from steelyard.measure.latency import response_times
from steelyard.measure.offered_load import worst_cycle
from steelyard.results.measurement import CycleResult, Latency, TimeResult
from steelyard.workload.schema import Limits

LIMITS = Limits.model_validate({"operations": {"ping": {"p50": "100ms", "p99": 2}, "pong": {"p90": "1s"}}})
TOOK = Latency(requests=5000, errors=0, mean=90.0, p50=80.0, p90=250.0, p99=2500.0, p999=None, max=3000.0)
"""Milliseconds, as they are recorded."""


def _limited(results: list[TimeResult]) -> list[tuple[str, str, float, float | None]]:
    return [(took.operation, took.quantile, took.limit, took.value) for took in results]


def test_what_was_recorded_in_milliseconds_is_held_against_seconds() -> None:
    assert _limited(response_times(LIMITS, {"ping": TOOK})) == [
        ("ping", "p50", 0.1, pytest.approx(0.08)),
        ("ping", "p99", 2.0, pytest.approx(2.5)),
    ]


def test_an_operation_is_judged_only_where_it_was_asked_for() -> None:
    never = Latency(requests=0, errors=0, mean=None, p50=None, p90=None, p99=None, p999=None, max=None)
    failed = never.model_copy(update={"errors": 3})
    assert response_times(LIMITS, {"pong": never}) == []
    assert _limited(response_times(LIMITS, {"pong": failed})) == [("pong", "p90", 1.0, None)]


def test_the_worst_cycle_is_the_one_furthest_from_what_was_drawn() -> None:
    cycles = {
        "ping": CycleResult(count=4, drawn=5.0, actual=5.25),
        "pong": CycleResult(count=4, drawn=10.0, actual=9.0),
        "never": CycleResult(count=4, drawn=0.0, actual=1.0),
    }
    assert worst_cycle(cycles) == ("pong", pytest.approx(0.1))
    assert worst_cycle({}) is None
