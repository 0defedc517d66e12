# SPDX-License-Identifier: Apache-2.0
"""What everything that runs in a session shares, its watcher among it; and the throughput of the last second."""

import csv
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from steelyard.clock import SYSTEM, Clock
from steelyard.host.wash_out import wash_out_here
from steelyard.measure.columns import INTERNAL
from steelyard.processes import Children
from steelyard.results.schema import Phase, Planned, Trial
from steelyard.sampling.cgroup import throttled_seconds
from steelyard.session.readback import ReadBack, observe


class Watcher(Protocol):
    """Receives the events of a session (the terminal view implements it); must return at once and never raise."""

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """A trial begins: `done` of `total` trials have ended before it (repeats make the total grow)."""

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """A phase begins; `seconds` is its expected length, None when it is not known."""

    def progress(self, text: str) -> None:
        """What is being loaded, and each line that a loader says while it loads: many lines in a second."""

    def throughput(self, rate: float) -> None:
        """Requests per second over the last second, by the servers' own counters."""

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """A trial ended, valid or void."""

    def note(self, sentence: str) -> None:
        """Something that whoever watches should know."""


class PassingWatcher:
    """A watcher that passes everything on to another; what keeps or sends something of it adds that."""

    def __init__(self, watcher: Watcher) -> None:
        self._watcher = watcher

    def trial_started(self, planned: Planned, done: int, total: int) -> None:
        """Pass it on."""
        self._watcher.trial_started(planned, done, total)

    def phase(self, phase: Phase, seconds: float | None) -> None:
        """Pass it on."""
        self._watcher.phase(phase, seconds)

    def progress(self, text: str) -> None:
        """Pass it on."""
        self._watcher.progress(text)

    def throughput(self, rate: float) -> None:
        """Pass it on."""
        self._watcher.throughput(rate)

    def trial_ended(self, trial: Trial, done: int, total: int) -> None:
        """Pass it on."""
        self._watcher.trial_ended(trial, done, total)

    def note(self, sentence: str) -> None:
        """Pass it on."""
        self._watcher.note(sentence)


class Served(NamedTuple):
    """What a server answered between two of its samples."""

    key: tuple[str, str]
    """Server and operation."""
    begin: float
    """Epoch seconds of the sample before, and of this one."""
    end: float
    requests: float

    @property
    def rate(self) -> float:
        """Requests per second."""
        return max(0.0, self.requests / (self.end - self.begin))


class ServedReader:
    """Follows the growing `samples/counters.csv` at little cost; servers are read at times of their own."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._offset = 0
        self._rest = ""
        self._last: dict[tuple[str, str], tuple[float, float]] = {}
        """By server and operation: time and requests of the newest sample."""

    def read(self) -> list[Served]:
        """What was written since the last call."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._offset)
                chunk = file.read()
        except OSError:
            return []
        self._offset += len(chunk)
        *lines, self._rest = (self._rest + chunk.decode("utf-8", errors="replace")).split("\n")
        served = []
        for line in lines:
            try:
                stamp, process, operation, count = next(csv.reader([line]))[:4]
                now, requests = float(stamp), float(count)
            except (ValueError, csv.Error):  # the head of the table, or what was written into it by another
                continue
            if operation.startswith(INTERNAL):
                continue
            key = process, operation
            at, before = self._last.get(key, (now, requests))
            self._last[key] = now, requests
            if now > at:
                served.append(Served(key, at, now, requests - before))
        return served


class LiveRate:
    """The throughput of the last second."""

    def __init__(self, path: Path) -> None:
        self._reader = ServedReader(path)
        self._rates: dict[tuple[str, str], float] = {}

    def read(self) -> float | None:
        """Requests per second between the last two samples of each operation; None when there is nothing new."""
        served = self._reader.read()
        self._rates |= {each.key: each.rate for each in served}
        return sum(self._rates.values()) if served else None


@dataclass(frozen=True)
class RunContext:
    """What the trials and the other runs of a session share. Tests give a world of their own here."""

    children: Children
    watcher: Watcher
    clock: Clock = SYSTEM
    _: KW_ONLY
    read_back: ReadBack = observe
    """Asks a running component what it really has."""
    read_throttling: Callable[[], float | None] = throttled_seconds
    """Seconds that the control group of this process was throttled so far."""
    counters: Mapping[str, str] = field(default_factory=dict)
    """Events that perf counts of each component, by counter (`session.counting`)."""
    wash_out: Callable[[], float | None] = wash_out_here
    """Waits until the host has done what the trial before left it to do."""
