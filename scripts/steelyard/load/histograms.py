# SPDX-License-Identifier: Apache-2.0
"""Reads the latency histograms that injectors recorded (HdrHistogram interval logs).

One histogram per operation and second, values in nanoseconds; failed requests carry the tag
`<operation>:error`. Histograms of several injectors and seconds are merged, never their quantiles.
"""

import io
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader

from steelyard.analysis.formulas import OVERALL
from steelyard.results.schema import Latency

ERROR_SUFFIX = ":error"
_LOWEST_NS, _HIGHEST_NS, _DIGITS = 1, 120_000_000_000, 3
_NS_PER_MS = 1e6
P99_NEEDS, P999_NEEDS = 1_000, 10_000
"""Fewest requests for a p99 and a p99.9 (docs/method.md, Estimates)."""


@dataclass
class Recorded:
    """What all injectors recorded in a window."""

    histograms: dict[str, HdrHistogram] = field(default_factory=dict)
    """Merged latency of successful requests by operation, nanoseconds."""
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    damaged: list[str] = field(default_factory=list)
    """Logs that are missing or cut off, one sentence each; what was whole in them counts all the same."""

    @property
    def requests(self) -> int:
        """Successful and failed requests."""
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        """Successful and failed requests by operation."""
        found = {name: int(histogram.get_total_count()) for name, histogram in self.histograms.items()}
        for name, failed in self.errors.items():
            found[name] = found.get(name, 0) + failed
        return found

    def latency(self) -> dict[str, Latency]:
        """Latency of each operation, and of all of them merged, in milliseconds."""
        merged = _empty()
        for histogram in self.histograms.values():
            merged.add(histogram)
        found = {
            operation: _latency(self.histograms.get(operation, _empty()), self.errors.get(operation, 0))
            for operation in sorted({*self.histograms, *self.errors})
        }
        return {**found, OVERALL: _latency(merged, sum(self.errors.values()))}


def read_logs(paths: Iterable[Path], start: float = 0.0, end: float = float("inf")) -> Recorded:
    """Merge the intervals that lie within [start, end] (epoch seconds), over all injectors.

    An interval counts when its middle lies in the window, so that each counts in one window only.
    """
    recorded = Recorded()
    for path in paths:
        name = f"{path.parent.name}/{path.name}"
        try:
            text = path.read_bytes().decode("ascii")
        except (OSError, ValueError):
            recorded.damaged.append(f"{name} cannot be read")
            continue
        if not text.endswith("\n"):
            recorded.damaged.append(f"{name} is cut off")
        for histogram in _intervals(text[: text.rfind("\n") + 1]):
            first, last = histogram.get_start_time_stamp() / 1000, histogram.get_end_time_stamp() / 1000
            if start <= (first + last) / 2 <= end:
                tag = histogram.get_tag() or OVERALL
                if tag.endswith(ERROR_SUFFIX):
                    recorded.errors[tag.removesuffix(ERROR_SUFFIX)] += histogram.get_total_count()
                else:
                    recorded.histograms.setdefault(tag, _empty()).add(histogram)
    return recorded


def _intervals(text: str) -> Iterator[HdrHistogram]:
    """The histograms of whole lines: the library fails in many ways on one that was cut off."""
    reader = HistogramLogReader(os.devnull, _empty())
    reader.close()
    reader.input_file = io.StringIO(text)
    while (histogram := reader.get_next_interval_histogram()) is not None:
        yield histogram


def _empty() -> HdrHistogram:
    return HdrHistogram(_LOWEST_NS, _HIGHEST_NS, _DIGITS)


def _latency(histogram: HdrHistogram, errors: int) -> Latency:
    count = histogram.get_total_count()

    def quantile(percent: float, needs: int = 1) -> float | None:
        return histogram.get_value_at_percentile(percent) / _NS_PER_MS if count >= needs else None

    return Latency(
        requests=count,
        errors=errors,
        mean=_mean(histogram) / _NS_PER_MS if count else None,
        p50=quantile(50),
        p90=quantile(90),
        p99=quantile(99, P99_NEEDS),
        p999=quantile(99.9, P999_NEEDS),
        max=histogram.get_max_value() / _NS_PER_MS if count else None,
    )


def _mean(histogram: HdrHistogram) -> float:
    """As `get_mean_value`, whose iterator takes a second for a trial's histograms: each slot at its middle."""
    total = 0
    for index, count in enumerate(histogram.counts):
        if count:
            low = histogram.get_value_from_index(index)
            total += count * (low + (histogram.get_highest_equivalent_value(low) + 1 - low) // 2)
    return total / int(histogram.get_total_count())
