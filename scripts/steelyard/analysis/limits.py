# SPDX-License-Identifier: Apache-2.0
"""What the answers of single operations may take, and what they took (pure): limits -> bounds with their figures."""

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from steelyard.results.measurement import CycleResult, Latency
from steelyard.workload.schema import Limits

Quantile = Literal["p50", "p90", "p99"]
QUANTILES: tuple[Quantile, ...] = get_args(Quantile)


class Bound(NamedTuple):
    """A limit of an operation's answers."""

    operation: str
    quantile: Quantile
    limit: float
    """Seconds."""
    value: float | None
    """Seconds; None: too few answers to tell."""


def bounds(limits: Limits, latency: Mapping[str, Latency]) -> list[Bound]:
    """Every limit of a single operation that was asked for.

    One that was not asked for has nothing to judge: whether it should have been is a matter of the mix.
    """
    found = []
    for operation, own in limits.operations.items():
        seen = latency.get(operation)
        if seen is None or seen.requests + seen.errors == 0:
            continue
        for quantile in QUANTILES:
            limit, millis = getattr(own, quantile), getattr(seen, quantile)
            if limit is not None:
                found.append(Bound(operation, quantile, limit, None if millis is None else millis / 1000))
    return found


def worst_cycle(cycles: Mapping[str, CycleResult]) -> tuple[str, float] | None:
    """The operation whose mean cycle time is furthest from that drawn, and how far, as a share of it; None: no cycle
    was measured."""
    off = {name: abs(one.actual - one.drawn) / one.drawn for name, one in cycles.items() if one.drawn > 0}
    return max(off.items(), key=lambda one: one[1]) if off else None
