# SPDX-License-Identifier: Apache-2.0
"""How often the rule of steadiness is right, on series whose truth is known (docs/explanation/warm-up.md).

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/steady_rule.py [SERIES]

Each cell draws SERIES (300) series with a phase of their own and runs what a trial runs: the warm-up as it looks again
and again (60 to 240 s), then the judgement of the minute that follows. Ten minutes on one core;
`follows`, before SERIES, writes the last table alone.
"""

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from steelyard.analysis.warmup import DIP_MEDIAN, WINDOW, judge_steady, warm_up_ends

AT_LEAST, AT_MOST, MEASURE = 60, 240, 60
SECONDS = AT_MOST + MEASURE
NOISES = (0.005, 0.01, 0.02, 0.05)
"""Standard deviations from second to second, as a share of the level."""
CORRELATIONS = (0.0, 0.3, 0.5, 0.7)
"""Of the noise of a second with that of the second before."""

Chance = np.random.Generator
Shape = Callable[[Chance], NDArray[np.floating[Any]]]


def rise(per_minute: float) -> Shape:
    """A straight rise from the first second, as a share of the first level."""
    return lambda _: 1 + per_minute * np.arange(SECONDS) / 60


def dips(every: int, lasting: int, depth: float) -> Shape:
    """Full collections: throughput falls by `depth` for `lasting` of `every` seconds."""

    def drawn(chance: Chance) -> NDArray[np.floating[Any]]:
        return 1 - depth * ((np.arange(SECONDS) + chance.integers(every)) % every < lasting)

    return drawn


def saw(every: int, height: float) -> Shape:
    """Throughput falls by `height` while the heap fills up, and is what it was after a collection."""

    def drawn(chance: Chance) -> NDArray[np.floating[Any]]:
        return 1 - height * ((np.arange(SECONDS) + chance.integers(every)) % every / every)

    return drawn


def accepted(shape: Shape, noise: float, series: int, seed: int) -> tuple[float, float, float]:
    """Shares of warm-ups that were accepted and of trials that were steady, and the mean time to acceptance (s)."""
    chance = np.random.default_rng(seed)
    ends: list[int] = []
    steady = 0
    for _ in range(series):
        rates = (1000 * (shape(chance) + chance.normal(0.0, noise, SECONDS))).tolist()
        end = warm_up_ends(rates, AT_LEAST, AT_MOST)
        if end is not None:
            ends.append(end)
            steady += judge_steady(rates[: end + MEASURE], None, MEASURE).steady
    return len(ends) / series, steady / series, float(np.mean(ends)) if ends else float("nan")


def found(jump: float, noise: float, window: int, series: int, seed: int) -> float:
    """Share of jumps in a window (from its second tenth to its ninth) that were found; without a jump: refusals."""
    chance = np.random.default_rng(seed)
    refused = 0
    for _ in range(series):
        level = np.ones(60 + window)
        level[60 + chance.integers(window // 10 + 1, window - window // 10) :] += jump
        rates = 1000 * (level + chance.normal(0.0, noise, len(level)))
        refused += not judge_steady(rates.tolist(), None, window).steady
    return refused / series


def refused(change: float, correlation: float, window: int, series: int, seed: int) -> float:
    """Share of windows called not steady where throughput rises by `change` over the window, and each second's noise of
    2 % follows the one before. Before it are 60 s of level warm-up, and 15 s as of a quick session."""
    chance = np.random.default_rng(seed)
    before = 15 if window < DIP_MEDIAN else WINDOW
    level = 1 + change * np.clip(np.arange(-before, window) / window, 0, 1)
    refusals = 0
    for _ in range(series):
        noise = chance.normal(0.0, 0.02, len(level))
        for second in range(1, len(noise)):
            noise[second] = correlation * noise[second - 1] + math.sqrt(1 - correlation**2) * noise[second]
        refusals += not judge_steady((1000 * (level + noise)).tolist(), None, window).steady
    return refusals / series


CELLS: tuple[tuple[str, Shape], ...] = (
    ("flat", rise(0.0)),
    *((f"rise of {share} %/min", rise(share / 100)) for share in (1, 2, 5, 10)),
    *(
        (f"dips by {depth} % for {lasting} s every {every} s", dips(every, lasting, depth / 100))
        for every, lasting, depth in ((10, 1, 50), (20, 3, 50), (30, 5, 50), (45, 3, 90), (90, 3, 90))
    ),
    *(
        (f"saw-tooth of {height} % every {every} s", saw(every, height / 100))
        for every, height in ((10, 10), (20, 10), (30, 5), (30, 10), (60, 5), (60, 10))
    ),
)


def main(series: int) -> None:
    """Write the tables of the page."""
    _row("accepted, steady, after", *(f"noise {noise:.1%}" for noise in NOISES))
    _row(*["---"] * (len(NOISES) + 1))
    for number, (name, shape) in enumerate(CELLS):
        cells = [accepted(shape, noise, series, number) for noise in NOISES]
        _row(name, *(f"{a:.0%}, {steady:.0%}, {end:.0f} s" for a, steady, end in cells))
    for window in (60, 6):
        for jump in (0.0, 0.03, 0.05, 0.10):
            shares = [found(jump, noise, window, series, 99) for noise in NOISES]
            _row(f"jump of {jump:.0%} in {window} s found", *(f"{one:.0%}" for one in shares))

    follow(series)


def follow(series: int) -> None:
    """Write the table of seconds that follow each other."""
    _row("window, rise over it", *(f"correlation {correlation:g}" for correlation in CORRELATIONS))
    for window in (8, 20, 60):
        for change in (0.0, 0.05, 0.1, 0.2):
            shares = [refused(change, correlation, window, series, 7) for correlation in CORRELATIONS]
            _row(f"{window} s, {change:.0%}", *(f"{share:.0%}" for share in shares))


def _row(*cells: str) -> None:
    sys.stdout.write(f"| {' | '.join(cells)} |\n")
    sys.stdout.flush()


if __name__ == "__main__":
    alone = "follows" in sys.argv
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    (follow if alone else main)(numbers[0] if numbers else 300)
