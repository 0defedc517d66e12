# SPDX-License-Identifier: Apache-2.0
"""Clocks for tests, in the place of `steelyard.clock.SYSTEM`."""

import math
import threading
from collections.abc import Callable

from steelyard.clock import SYSTEM

EPOCH = 1_800_000_000.25


class FakeClock:
    """It moves when somebody sleeps, and stops at every whole second on its way."""

    def __init__(self, epoch: float = EPOCH) -> None:
        self.epoch = self.now = epoch
        self.stepped = 0.0
        self.each_second: Callable[[], None] = lambda: None
        self.before_sleep: Callable[[], None] = lambda: None
        self._lock = threading.RLock()

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now - self.epoch + 5.0 - self.stepped

    def step(self, seconds: float) -> None:
        """Somebody sets the wall clock."""
        with self._lock:
            self.now += seconds
            self.stepped += seconds

    def sleep(self, seconds: float, /) -> None:
        with self._lock:
            self.before_sleep()
            end = self.now + seconds
            while (second := math.floor(self.now) + 1.0) <= end:
                self.now = second
                self.each_second()
            self.now = end


class LeapingClock:
    """The system's, whose monotonic clock leaps when it is told to: as if so much time had passed."""

    time = staticmethod(SYSTEM.time)
    sleep = staticmethod(SYSTEM.sleep)

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return SYSTEM.monotonic() + self.ahead
