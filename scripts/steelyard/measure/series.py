# SPDX-License-Identifier: Apache-2.0
"""A quantity over time: cumulative counts and levels, between samples by linear interpolation."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SLACK = 2.5
"""Seconds by which a window may reach past the samples, at 1 Hz; past that there is no figure."""


@dataclass(frozen=True)
class Series:
    """Samples of one quantity, in order of time."""

    t: Array
    """Epoch seconds."""
    v: Array

    @classmethod
    def of(cls, samples: list[tuple[float, float]]) -> "Series":
        """From (time, value) pairs in any order."""
        table = np.array(sorted(samples), dtype=np.float64).reshape(-1, 2)
        return cls(table[:, 0], table[:, 1])

    def extend_to(self, at: float, until: float, value: float | None = None) -> "Series":
        """The samples up to a time, the last of them held until then, and from there to another one each second: a
        value; None: the last one."""
        kept = self.t <= at
        if not kept.any():
            return self
        last = self.v[kept][-1]
        t = np.append(np.arange(np.nextafter(at, np.inf), until, 1.0), until)
        v = np.full(t.size, last if value is None else value)
        return Series(np.concatenate((self.t[kept], [at], t)), np.concatenate((self.v[kept], [last], v)))

    def covers(self, t0: float, t1: float) -> bool:
        """Whether samples reach over the window, up to `SLACK` seconds at each end."""
        return bool(self.t.size) and self.t[0] <= t0 + SLACK and self.t[-1] >= t1 - SLACK

    def mean_of_readings(self, t0: float, t1: float) -> float | None:
        """Mean over a window of a level that is read seldom, weighted by time; None without a reading near each end.

        What was read long before the window or after it says nothing of it, and a reading at one end alone is no mean:
        memory grows while a server comes up.
        """
        ends = [self.nearest(end) for end in (t0, t1)]
        if t1 <= t0 or not all(distance is not None and distance <= SLACK for distance in ends):
            return None
        near = (self.t >= t0 - SLACK) & (self.t <= t1 + SLACK)
        return Series(self.t[near], self.v[near]).mean(t0, t1)

    def longest_gap(self, t0: float, t1: float) -> float | None:
        """Longest time between two samples that reaches into the window, seconds; None: no samples.

        Where there is none before or after it, the window's own ends count.
        """
        if not self.t.size:
            return None
        first, last = np.searchsorted(self.t, t0, "right"), np.searchsorted(self.t, t1, "left")
        before, after = self.t[max(first - 1, 0) : first], self.t[last : last + 1]
        inside = self.t[first:last]
        ends = (before if before.size else [t0], inside, after if after.size else [t1])
        return float(np.diff(np.concatenate(ends)).max())

    def nearest(self, t: float) -> float | None:
        """How far from a time the sample nearest to it is, seconds; None: no samples."""
        return float(np.abs(self.t - t).min()) if self.t.size else None

    def readings_at_ends(self, t0: float, t1: float) -> tuple[float, float] | None:
        """When what is read seldom was read at the ends of a window; None without a reading within `SLACK` of each end,
        or where one reading would be both."""
        if not self.t.size:
            return None
        first, last = (float(self.t[np.abs(self.t - end).argmin()]) for end in (t0, t1))
        near = abs(first - t0) <= SLACK and abs(last - t1) <= SLACK
        return (first, last) if near and first < last else None

    def delta_of_readings(self, t0: float, t1: float) -> float | None:
        """Growth of a cumulative count that is read seldom; None without a reading near each end: what lies between two
        that are farther apart may have come before the window, or after it."""
        return self.delta(t0, t1) if self.readings_at_ends(t0, t1) is not None else None

    def at(self, t: float) -> float | None:
        """Value at a time; None when the samples do not reach there."""
        return float(np.interp(t, self.t, self.v)) if self.covers(t, t) else None

    def delta(self, t0: float, t1: float) -> float | None:
        """Growth of a cumulative count over a window; None when the samples do not cover it."""
        if not self.covers(t0, t1):
            return None
        return float(np.interp(t1, self.t, self.v) - np.interp(t0, self.t, self.v))

    def falls(self, t0: float, t1: float) -> bool:
        """Whether it is ever less than before in a window, as of a sum of counts one of which ended."""
        first, last = np.searchsorted(self.t, t0, "right") - 1, np.searchsorted(self.t, t1, "left")
        return bool((np.diff(self.v[max(first, 0) : last + 1]) < 0).any())

    def mean(self, t0: float, t1: float) -> float | None:
        """Mean of a level over a window, weighted by time; None when the samples do not cover it."""
        if not self.covers(t0, t1):
            return None
        grid = self.grid(t0, t1)
        levels = np.interp(grid, self.t, self.v)
        # The trapezoidal rule, which numpy 1 (Debian's, in the ppc64le image) and numpy 2 call by different names.
        return float(np.sum(np.diff(grid) * (levels[1:] + levels[:-1]) / 2.0) / (t1 - t0))

    def peak(self, t0: float, t1: float) -> float | None:
        """Highest level over a window; None when the samples do not cover it."""
        return float(np.interp(self.grid(t0, t1), self.t, self.v).max()) if self.covers(t0, t1) else None

    def grid(self, t0: float, t1: float) -> Array:
        """The window's ends and the times of the samples inside."""
        return np.concatenate(([t0], self.t[(self.t > t0) & (self.t < t1)], [t1]))


NOTHING_READ = Series.of([])


def total(series: list[Series], t0: float, t1: float) -> Series | None:
    """Sum of levels that were sampled at different times, over a window; None unless all of them cover it."""
    if not series or not all(part.covers(t0, t1) for part in series):
        return None
    grid = np.unique(np.concatenate([part.grid(t0, t1) for part in series]))
    return Series(grid, np.sum([np.interp(grid, part.t, part.v) for part in series], axis=0))
