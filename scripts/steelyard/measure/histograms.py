# SPDX-License-Identifier: Apache-2.0
"""Reads the latency histograms that injectors recorded (HdrHistogram interval logs).

One histogram per operation and second, values in nanoseconds; failed requests carry the tag
`<operation>:error`. Histograms of several injectors and seconds are merged, never their quantiles.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from steelyard.measure.formulas import OVERALL
from steelyard.measure.hdr import HIGH, MIDDLE, Counts, decode, empty, quantile
from steelyard.regular import read_bytes
from steelyard.results.measurement import Latency

ERROR_SUFFIX = ":error"
_BASE = re.compile(r"#\[BaseTime: ([\d.]+)")
_INTERVAL = re.compile(r"(?:Tag=([^,]*),)?([\d.]+),([\d.]+),([\d.]+),(\S+)")
"""Tag, seconds from the base time to the start, length in seconds, the longest, the histogram."""
_NS_PER_MS = 1e6
_MS_PER_S = 1e3
P99_NEEDS, P999_NEEDS = 1_000, 10_000
"""Fewest requests for a p99 and a p99.9 (docs/explanation/estimates.md)."""


class Answers(NamedTuple):
    """Those of an operation in one interval of an injector; epoch seconds, and seconds."""

    start: float
    end: float
    longest: float
    """Response time; of a failed request, until it failed."""


@dataclass
class Recorded:
    """What all injectors recorded in a window."""

    histograms: dict[str, Counts] = field(default_factory=dict)
    """Merged latency of successful requests by operation, nanoseconds."""
    errors: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    damaged: list[str] = field(default_factory=list)
    """Logs that are missing, cut off or damaged, one sentence each; what is whole in them counts all the same."""
    answers: list[Answers] = field(default_factory=list)

    def in_flight(self, start: float, end: float) -> bool | None:
        """Whether a request may have been in flight all this time (epoch seconds); None: nobody can tell, as no answer
        came in it, or logs are damaged."""
        came = [answers for answers in self.answers if answers.end >= start]
        if self.damaged or not any(answers.start <= end for answers in came):
            return None
        return any(
            answers.end >= end and max(answers.start, end) - answers.longest <= start for answers in came
        )

    @property
    def requests(self) -> int:
        """Successful and failed requests."""
        return sum(self.counts().values())

    def counts(self) -> dict[str, int]:
        """Successful and failed requests by operation."""
        counts = {name: int(histogram.sum()) for name, histogram in self.histograms.items()}
        for name, failed in self.errors.items():
            counts[name] = counts.get(name, 0) + failed
        return counts

    def latency(self) -> dict[str, Latency]:
        """Latency of each operation, and of all of them merged, in milliseconds."""
        merged = sum(self.histograms.values(), empty())
        latencies = {
            operation: _latency(self.histograms.get(operation, empty()), self.errors.get(operation, 0))
            for operation in sorted({*self.histograms, *self.errors})
        }
        return {**latencies, OVERALL: _latency(merged, sum(self.errors.values()))}


def read_logs(paths: Iterable[Path], start: float = 0.0, end: float = float("inf")) -> Recorded:
    """Merge the intervals that lie within [start, end] (epoch seconds), over all injectors.

    An interval counts when its middle lies in the window, so that each counts in one window only.
    """
    recorded = Recorded()
    for path in paths:
        name = f"{path.parent.name}/{path.name}"
        try:
            text = read_bytes(path).decode("ascii")
        except (OSError, ValueError):
            recorded.damaged.append(f"{name} cannot be read")
            continue
        if not text.endswith("\n"):
            recorded.damaged.append(f"{name} is cut off")
        lines = text[: text.rfind("\n") + 1].splitlines()
        base = next((float(match[1]) for line in lines if (match := _BASE.match(line))), 0.0)
        try:
            for tag, answers, counts in _intervals(lines, base):
                if not start <= (answers.start + answers.end) / 2 <= end:
                    continue
                recorded.answers.append(answers)
                if tag.endswith(ERROR_SUFFIX):
                    recorded.errors[tag.removesuffix(ERROR_SUFFIX)] += int(counts.sum())
                else:
                    recorded.histograms[tag] = recorded.histograms.get(tag, 0) + counts
        except ValueError as error:
            recorded.damaged.append(f"{name} is damaged ({error})")
    return recorded


def _intervals(lines: Iterable[str], base: float) -> Iterator[tuple[str, Answers, Counts]]:
    """Tag, times and counts of each interval; raises ValueError at one that is damaged."""
    for line in lines:
        if match := _INTERVAL.fullmatch(line):
            tag, first, seconds, longest, encoded = match.groups()
            start = base + float(first)
            answers = Answers(start, start + float(seconds), float(longest) / _MS_PER_S)
            yield tag or OVERALL, answers, decode(encoded)
        elif not line.startswith(("#", '"')):
            raise ValueError("a line is no interval")


def _latency(counts: Counts, errors: int) -> Latency:
    count = int(counts.sum())

    def at(percent: float, needs: int = 1) -> float | None:
        return quantile(counts, percent) / _NS_PER_MS if count >= needs else None

    return Latency(
        requests=count,
        errors=errors,
        mean=float(counts @ MIDDLE) / count / _NS_PER_MS if count else None,
        p50=at(50),
        p90=at(90),
        p99=at(99, P99_NEEDS),
        p999=at(99.9, P999_NEEDS),
        max=int(HIGH[counts.nonzero()[0][-1]]) / _NS_PER_MS if count else None,
    )
