# SPDX-License-Identifier: Apache-2.0
"""What a running session tells whoever watches it; the terminal view implements this."""

from typing import Protocol

from steelyard.results.schema import Phase, Trial
from steelyard.session.schedule import Planned


class Watcher(Protocol):
    """Receives the events of a session; must return at once and never raise."""

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """A trial begins: `done` of `total` trials have ended before it (repeats make the total grow)."""

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """A phase begins; `seconds` is its expected length, None when it is not known."""

    def throughput(self, rate: float) -> None:
        """Requests per second over the last second, by the servers' own counters."""

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """A trial ended, valid or void."""

    def note(self, sentence: str) -> None:
        """Something that whoever watches should know."""
