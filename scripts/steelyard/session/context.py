# SPDX-License-Identifier: Apache-2.0
"""What everything that runs in a session shares."""

from collections.abc import Callable
from dataclasses import dataclass

from steelyard.clock import SYSTEM, Clock
from steelyard.processes import Children
from steelyard.sampling.cgroup import throttled_seconds
from steelyard.session.live import Watcher
from steelyard.session.readback import ReadBack, observe


@dataclass(frozen=True)
class RunContext:
    """What the trials and the other runs of a session share. Tests give a world of their own here."""

    children: Children
    watcher: Watcher
    clock: Clock = SYSTEM
    read_back: ReadBack = observe
    """Asks a running component what it really has."""
    read_throttling: Callable[[], float | None] = throttled_seconds
    """Seconds that the control group of this process was throttled so far."""
