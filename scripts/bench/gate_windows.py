# SPDX-License-Identifier: Apache-2.0
"""Longer or shorter windows for a gate: what would they gain in the same time?

    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/gate_windows.py         # computed
    PYTHONPATH=scripts .steelyard/venv/bin/python scripts/bench/gate_windows.py DIR...  # of sessions that ran

A trial has the variance T2 + T1 / seconds of its window, and costs a start and its window (Kalibera and Jones, ISMM
2013, section 7: sqrt(c2 / c1 x T1 / T2)). With a time that is given: the floor of a gate with the windows that it has,
and with those with which it is lowest, each with as many pairs as there is time for. Few pairs know their own spread
badly, which Student's t makes up for and that formula does not: the lowest floor has shorter windows.

Of a recorded session the two variances come from its samples, whatever is void; a drift of the host, which pairs of a
gate cancel, is in that of starts.
"""

import math
import sys
from itertools import product
from pathlib import Path
from statistics import fmean, variance

from steelyard.analysis.rounds import seconds_of
from steelyard.gate.certificate import best_windows
from steelyard.gate.windows import BY_SECOND, best_window, figures_of, floor_in, variance_within
from steelyard.measure.samples import Samples
from steelyard.results.figures import percent
from steelyard.results.store import SessionDirectory

TIMES = (600.0, 900.0, 1800.0)
"""Seconds that gates are given."""
FEWEST = 3
"""Trials of an arm below which nothing is said of its starts."""


def windows_table() -> list[str]:
    """What the best windows would gain, by what a start takes and how much of a trial's variance is of its window."""
    lines = [
        "| time | a start takes | window | of the variance is within starts | best window | floor becomes |",
        "| --- " * 6 + "|",
    ]
    for seconds, start, window in product(TIMES, (10.0, 20.0, 40.0), (8.0, 20.0)):
        for share in (0.1, 0.3, 0.5, 0.8):
            within, between = share * window, 1 - share
            own = floor_in(seconds, start, window, within, between)
            best = best_window(seconds, start, within, between)
            change = floor_in(seconds, start, best, within, between) / own - 1
            cells = (
                f"{seconds / 60:g} min",
                f"{start:g} s",
                f"{window:g} s",
                percent(share, 0),
                f"{best} s",
                percent(change, 0, sign=True) if math.isfinite(own) else "no time for six pairs",
            )
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def window_rows(path: str) -> list[str]:
    """Of a recorded session: variances of a second within a start and of starts, and what the best windows would
    gain."""
    directory, rows = SessionDirectory(Path(path)), []
    session, trials = directory.session(), directory.trials()
    for arm in session.arms:
        servers = [server.name for server in arm.spec.servers]
        window = round(arm.spec.load.measure)
        own = [trial for trial in trials if trial.arm == arm.name and "measure" in trial.phases]
        for name in BY_SECOND:
            series = []
            for trial in own:
                folder = directory.trial_path(trial.block, trial.arm, trial.attempt)
                begin = math.floor(trial.phases["measure"][0])
                figures = figures_of(Samples.load(folder / "samples"), servers, begin, window, name)
                if figures is not None:
                    series.append(figures)
            if len(series) < FEWEST:
                continue
            within = variance_within(series)
            means = variance([math.log(fmean(seconds)) for seconds in series])
            start = fmean(seconds_of([trial]) - window for trial in own)
            between = max(0.0, means - within / window)
            rows += _window_rows(f"{session.id}, {arm.name}", name, start, window, within, between)
    return rows


def _window_rows(
    whose: str, name: str, start: float, window: int, within: float, between: float
) -> list[str]:
    rows = []
    for seconds in TIMES:
        own = floor_in(seconds, start, window, within, between)
        best = best_window(seconds, start, within, between)
        ratio = floor_in(seconds, start, best, within, between) / own
        optimum = best_windows(start, within, between)
        cells = (
            whose,
            name,
            percent(math.sqrt(within)),
            percent(math.sqrt(between)),
            f"{start:.0f} s",
            f"{window} s",
            f"{optimum} s" if optimum is not None else "the longest",
            f"{seconds / 60:g} min",
            f"{best} s",
            percent(ratio - 1, 0, sign=True) if math.isfinite(own) else "no time for six pairs",
        )
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Print a table."""
    if sys.argv[1:]:
        columns = (
            *("session, arm", "metric", "sd of a second", "sd of a start", "a start takes", "window"),
            *("by Kalibera and Jones", "time", "window with the lowest floor", "floor becomes"),
        )
        head = [f"| {' | '.join(columns)} |", "| --- " * len(columns) + "|"]
        lines = [*head, *(row for path in sys.argv[1:] for row in window_rows(path))]
    else:
        lines = windows_table()
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
