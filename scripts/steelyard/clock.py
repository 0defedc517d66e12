# SPDX-License-Identifier: Apache-2.0
"""The clock as a parameter, and the one way to wait for something with a time limit.

What needs the time takes a `Clock`; tests give one that moves only when somebody sleeps.
"""

import time
from collections.abc import Callable
from typing import Protocol, TypeVar

T = TypeVar("T")

_MOST = 5
"""Intervals that one sleep counts at most. On a busy host a sleep of 20 ms may take a few times as long."""


class Clock(Protocol):
    """Tells the time and sleeps; the module `time` is one."""

    def time(self) -> float:
        """Seconds since the epoch, which may jump."""

    def monotonic(self) -> float:
        """Seconds since any moment, which never jump."""

    def sleep(self, seconds: float, /) -> None:
        """Return after so many seconds."""


SYSTEM: Clock = time


class Deadline:
    """A time limit for something that is looked for again and again: look, ask whether it `is_over`, `sleep`.

    It passes in `sleep` alone, so one more look follows before anybody can see that it has passed. Of a sleep it counts
    a few intervals at most: while this process was stopped (SIGSTOP, a paused virtual machine, a laptop that slept), so
    most likely was what it waits for, which must not be given up without a chance. What a look takes counts in full, as
    it may have a time limit of its own.
    """

    def __init__(self, within: float, clock: Clock = SYSTEM) -> None:
        self.spent = 0.0
        """Seconds that count so far."""
        self._within = within
        self._clock = clock
        self._from = clock.monotonic()

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.spent >= self._within

    def sleep(self, interval: float, wait: Callable[[float], object] | None = None) -> None:
        """Sleep for an interval; `wait` may do so instead, and return sooner."""
        begin = self._clock.monotonic()
        (wait or self._clock.sleep)(interval)
        end = self._clock.monotonic()
        self.spent += begin - self._from + min(end - begin, _MOST * interval)
        self._from = end


def wait_until(holds: Callable[[], T], within: float, interval: float, clock: Clock = SYSTEM) -> T:
    """Look every `interval` seconds until what `holds` returns is true, at most `within` seconds (`Deadline`).

    Returns:
        What `holds` returned last: something that is not true when the time was up.
    """
    deadline = Deadline(within, clock)
    while not (value := holds()) and not deadline.is_over:
        deadline.sleep(interval)
    return value
