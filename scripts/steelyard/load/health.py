# SPDX-License-Identifier: Apache-2.0
"""Reads the health logs that injectors write each second (loadgen/README.md)."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_NUMBERS = ("epochMillis", "requests", "late", "dropped")


@dataclass
class Health:
    """What injectors said of a window, all of them together."""

    missed: int = 0
    """Late and dropped arrivals."""
    intended: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


def read_health(folders: Iterable[Path], start: float, end: float) -> Health:
    """The window [start, end] (epoch seconds) of all injectors; an interval counts when its middle lies in it."""
    found = Health()
    for folder in folders:
        for line in health_lines(folder):
            if start < line["epochMillis"] / 1000 - 0.5 <= end:
                found.missed += line["late"] + line["dropped"]
                found.intended += line["requests"] + line["dropped"]
                found.outcomes.update(line.get("outcomes", {}))
    return found


def per_second(folders: Iterable[Path], start: float, end: float) -> list[float]:
    """Requests that ended in each whole second of a window, summed over the injectors; up to the last second that
    all tell."""
    counts: list[dict[int, float]] = []
    for folder in folders:
        seconds: dict[int, float] = {}
        for line in health_lines(folder):
            second = math.floor(line["epochMillis"] / 1000 - 0.5)
            seconds[second] = seconds.get(second, 0.0) + line["requests"]
        counts.append(seconds)
    if not counts or not all(counts):
        return []
    first, last = math.ceil(start), min(math.floor(end), *(max(seconds) + 1 for seconds in counts))
    return [sum(seconds.get(second, 0.0) for seconds in counts) for second in range(first, last)]


def health_lines(folder: Path) -> Iterator[dict[str, Any]]:
    """What an injector has said so far, second by second; a line that is not whole or not sound is passed over."""
    try:
        lines = (folder / "health.jsonl").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line)
        except ValueError:  # cut off when the injector was killed
            continue
        if isinstance(found, dict) and all(isinstance(found.get(name), int | float) for name in _NUMBERS):
            yield found
