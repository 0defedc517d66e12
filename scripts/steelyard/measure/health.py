# SPDX-License-Identifier: Apache-2.0
"""Reads the health logs that injectors write each second (loadgen/README.md)."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from steelyard.measure.formulas import combine_known, ratio
from steelyard.measure.series import Series
from steelyard.regular import read_text

_NUMBERS = ("epochMillis", "requests", "late", "dropped")


@dataclass
class Health:
    """What injectors said of a window, all of them together."""

    missed: int = 0
    """Late and dropped arrivals."""
    intended: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    cycles: dict[str, tuple[int, float, float]] = field(default_factory=dict)
    """Closed model, by operation: how many ended; their cycle times as drawn, and as they came out; seconds, sums."""
    users: float | None = None
    """Closed model: users that waited for an answer or paused, on average; None, here and below: it is not told."""
    memory: float | None = None
    """Largest use of an injector's memory, of what it may use (loadgen/README.md)."""
    gap: float | None = None
    """Longest time in which an injector told nothing, seconds."""


def read_health(folders: Iterable[Path], start: float, end: float) -> Health:
    """The window [start, end] (epoch seconds) of all injectors; an interval counts when its middle lies in it."""
    intervals = [list(_intervals(folder)) for folder in folders]
    ends = [Series.of([(line["epochMillis"] / 1000, 0.0) for line, _ in lines]) for lines in intervals]
    health = Health(gap=combine_known((series.longest_gap(start, end) for series in ends), max))
    inside = [
        [
            (line, seconds)
            for line, seconds in lines
            if start < line["epochMillis"] / 1000 - seconds / 2 <= end
        ]
        for lines in intervals
    ]
    health.users = combine_known(map(_users, inside), sum)
    health.memory = combine_known((line.get("memoryShare") for line, _ in chain(*inside)), max)
    for line, _ in chain(*inside):
        health.missed += line["late"] + line["dropped"]
        health.intended += line["requests"] + line["dropped"]
        health.outcomes.update(line.get("outcomes", {}))
        for name, cycles in line.get("cycles", {}).items():
            count, drawn, actual = health.cycles.get(name, (0, 0.0, 0.0))
            health.cycles[name] = (
                count + cycles["count"],
                drawn + cycles["drawnSeconds"],
                actual + cycles["actualSeconds"],
            )
    return health


def _intervals(folder: Path) -> Iterator[tuple[dict[str, Any], float]]:
    """What an injector said, and how long it had not before, seconds: the last time less than one, as the load ends at
    any time."""
    before = None
    for line in health_lines(folder):
        now = line["epochMillis"] / 1000
        yield line, now - before if before is not None else 1.0
        before = now


def _users(lines: Sequence[tuple[Mapping[str, Any], float]]) -> float | None:
    """Users in flight of one injector, mean over what its lines tell of."""
    seconds_of_users = combine_known((line.get("userSeconds") for line, _ in lines), sum)
    return ratio(seconds_of_users, sum(seconds for _, seconds in lines))


def per_second(folders: Iterable[Path], start: float, end: float) -> list[float]:
    """Requests that ended in each whole second of a window, summed over the injectors; up to the last second that
    all tell."""
    counts: list[dict[int, float]] = []
    for folder in folders:
        seconds: dict[int, float] = {}
        lines = list(_intervals(folder))
        if lines and lines[-1][1] < 0.9:  # the load ended within it
            lines.pop()
        for line, _ in lines:
            second = math.floor(line["epochMillis"] / 1000 - 0.5)
            seconds[second] = seconds.get(second, 0.0) + line["requests"]
        counts.append(seconds)
    if not counts or not all(counts):
        return []
    first, last = math.ceil(start), min(math.floor(end), *(max(seconds) + 1 for seconds in counts))
    return [sum(seconds.get(second, 0.0) for seconds in counts) for second in range(first, last)]


def health_lines(folder: Path) -> Iterator[dict[str, Any]]:  # JSON of the injector, of any version
    """What an injector has said so far, second by second; a line that is not whole or not sound is passed over."""
    try:
        lines = read_text(folder / "health.jsonl", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            entry = json.loads(line)
        except ValueError:  # cut off when the injector was killed
            continue
        if isinstance(entry, dict) and all(isinstance(entry.get(name), int | float) for name in _NUMBERS):
            yield entry
