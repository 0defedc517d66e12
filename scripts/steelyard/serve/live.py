# SPDX-License-Identifier: Apache-2.0
"""A running session: its schedule, time left, throughput as it is sampled, void trials with their reasons.

Its page is asked for again and again while it measures, so what a call costs is kept small: the journal and the samples
are read from where the last call ended, trials only when one has ended.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.gate.interim import ends_at
from steelyard.report.view import trial_name, why_void
from steelyard.results.schema import JournalEntry, Planned, Session, Trial
from steelyard.results.store import SessionDirectory
from steelyard.session.context import Served, ServedReader
from steelyard.session.duet import DUET
from steelyard.session.progress import PHASES, arm_text, remaining_seconds, search_setting, trial_figures
from steelyard.session.schedule import Schedule
from steelyard.units import format_duration

_BEGINNINGS = ("profile", "trial-start", "trial-end", "session-start", "session-resume", "session-end")
SHOWN_SECONDS = 300
"""Of the throughput: so many seconds are drawn."""


@dataclass(frozen=True)
class RunningTrial:
    """The trial that runs."""

    planned: Planned
    name: str
    phase: str
    """In words."""
    elapsed: float
    """Seconds of this phase."""
    expected: float | None
    """Seconds that it will take; None: that depends."""

    @property
    def clock(self) -> str:
        """Seconds of the phase, and of how many."""
        of = f" of {format_duration(self.expected)}" if self.expected else ""
        return f"{format_duration(self.elapsed)}{of}"


@dataclass(frozen=True)
class ScheduleCell:
    """A trial of a block, in the order of time."""

    arm: str
    state: str
    """`valid`, `void`, `running` or `waiting`."""
    text: str
    """Its figures, or what is the matter with it."""


@dataclass(frozen=True)
class LiveState:
    """What the page of a session shows while it runs."""

    is_live: bool
    done: int
    total: int
    left: str | None
    """Time left, in words; None: nothing runs."""
    running: RunningTrial | None
    rates: Sequence[tuple[float, float]]
    """Of the trial that runs: epoch second, requests per second."""
    blocks: Sequence[tuple[int, Sequence[ScheduleCell]]]
    voids: Sequence[tuple[str, str]]
    """Name and reason of each void trial, the newest first."""
    profiling: str | None = None
    """The arm that a trial after the last block profiles, and for how long; None: none does."""
    interrupted: str | None = None
    """Why nothing runs; None: it does, or it has ended."""


class Trace:
    """Throughput over time, of what servers answered between their samples."""

    def __init__(self) -> None:
        self._requests: defaultdict[int, float] = defaultdict(float)
        self._until: dict[tuple[str, str], float] = {}

    def add(self, served: Iterable[Served]) -> None:
        """Add requests to the seconds that they were answered in, evenly between two samples."""
        for each in served:
            self._until[each.key] = each.end
            for second in range(math.floor(each.begin), math.ceil(each.end)):
                inside = min(each.end, second + 1) - max(each.begin, second)
                self._requests[second] += max(0.0, inside * each.rate)

    def rates(self, last: int = SHOWN_SECONDS) -> list[tuple[float, float]]:
        """Requests per second of the last seconds that every server's newest sample covers whole."""
        if not self._until:
            return []
        # A server that stands still tells nothing new: what others answer goes on.
        until = max(self._until.values()) - 1.5
        seconds = [second for second in sorted(self._requests)[1:] if second + 1 <= until]
        return [(float(second), self._requests[second]) for second in seconds[-last:]]


class LiveSession:
    """Follows a session directory."""

    def __init__(self, path: Path) -> None:
        self._directory = SessionDirectory(path)
        self.session: Session = self._directory.session()
        self._schedule = Schedule(self.session, ends_at)
        self._varies = search_setting(self.session)
        self._trials: list[Trial] = []
        self._ends = -1
        """How many ends of trials the journal told of when the trials were read."""
        self._reader: ServedReader | None = None
        self._trace = Trace()

    def state(self, now: float, *, holds_host: bool) -> LiveState:
        """How far it is.

        Args:
            now: epoch seconds.
            holds_host: whether a session runs on this host: else this one was killed, or runs elsewhere.

        Raises:
            SteelyardError: its files cannot be read, or were changed.
        """
        journal = self._directory.journal()
        ends = sum(entry.event in ("trial-end", "trial-start") for entry in journal)
        if ends != self._ends:
            self._trials, self._ends = self._directory.trials(), ends
        last = journal[-1] if journal else None
        is_live = holds_host and (last is None or last.event not in ("session-end", "interrupted"))
        started = started_last(journal)
        planned = planned_trial(started, len(self._trials)) if is_live and started is not None else None
        elapsed = now - started.time if planned is not None and started is not None else 0.0
        arm = planned.arm if planned is not None else None
        profiled = [entry for entry in journal if entry.event == "profile"]
        is_profiling = is_live and profiles_now(journal)
        if is_profiling:
            elapsed = now - profiled[-1].time
        arms = [str(entry.arm) for entry in profiled]
        left = remaining_seconds(self.session, self._trials, (), arm, elapsed, arms if is_profiling else ())
        return LiveState(
            is_live=is_live,
            done=len(self._trials),
            total=self._schedule.total(self._trials),
            left=about(left) if is_live else None,
            running=self._running_trial(planned, journal, now) if planned is not None else None,
            rates=self._rates(planned) if planned is not None else [],
            blocks=self._blocks(planned),
            voids=[(trial_name(t), why_void(t)) for t in reversed(self._trials) if t.state == "void"],
            profiling=f"profiling {arms[-1]}, {format_duration(max(0.0, elapsed))}" if is_profiling else None,
            interrupted=None if is_live else _why_not(last),
        )

    def _running_trial(self, planned: Planned, journal: Sequence[JournalEntry], now: float) -> RunningTrial:
        begun = next(entry for entry in reversed(journal) if entry.event in ("phase", "trial-start"))
        phase = begun.phase or "prepare"
        load = self.session.arm(planned.arm).spec.load
        expected = {"ramp": load.ramp, "measure": load.measure}.get(phase)
        name = f"block {planned.block}, {arm_text(planned, self._varies)}"
        return RunningTrial(planned, name, PHASES[phase], max(0.0, now - begun.time), expected)

    def _rates(self, planned: Planned) -> list[tuple[float, float]]:
        folder = self._directory.trial_path(planned.block, planned.arm, planned.attempt)
        if not (folder / "samples").is_dir():
            folder = self._directory.trial_path(planned.block, DUET, planned.attempt)
        path = folder / "samples" / "counters.csv"
        if self._reader is None or self._reader.path != path:
            self._reader, self._trace = ServedReader(path), Trace()
        self._trace.add(self._reader.read())
        return self._trace.rates()

    def _blocks(self, planned: Planned | None) -> list[tuple[int, list[ScheduleCell]]]:
        now = (planned.block, planned.arm, planned.attempt) if planned is not None else None
        ended = {(trial.block, trial.arm, trial.attempt): trial for trial in self._trials}
        blocks: dict[int, list[ScheduleCell]] = {}
        for place in sorted(self.session.schedule, key=lambda place: place.order):
            key = place.block, place.arm, 0
            blocks.setdefault(place.block, []).append(self._place(place.arm, ended.get(key), key == now))
        for (block, arm, attempt), trial in ended.items():
            if attempt:
                blocks.setdefault(block, []).append(self._place(arm, trial, is_running=False))
        if planned is not None and planned.attempt:
            blocks.setdefault(planned.block, []).append(self._place(planned.arm, None, is_running=True))
        return list(blocks.items())

    def _place(self, arm: str, trial: Trial | None, is_running: bool) -> ScheduleCell:
        if trial is not None and not is_running:
            name = arm_text(trial, self._varies)
            figures = trial_figures(trial) if trial.measurement is not None else str(trial.failure)
            return ScheduleCell(name, trial.state, figures if trial.state == "valid" else why_void(trial))
        return ScheduleCell(
            arm, "running" if is_running else "waiting", "running" if is_running else "to come"
        )


def started_last(journal: Sequence[JournalEntry]) -> JournalEntry | None:
    """The start of the trial that has not ended; None: between two trials, or where none is known."""
    for entry in reversed(journal):
        if entry.event == "trial-start":
            return entry
        if entry.event in ("trial-end", "session-start", "session-resume", "session-end"):
            return None
    return None


def profiles_now(journal: Sequence[JournalEntry]) -> bool:
    """Whether the last trial that has begun is one for profiles."""
    began = (entry.event for entry in reversed(journal) if entry.event in _BEGINNINGS)
    return next(began, None) == "profile"


def planned_trial(start: JournalEntry, order: int) -> Planned:
    """The trial of such an entry; `order`: how many have ended before it."""
    return Planned(
        order=order,
        block=start.block or 0,
        arm=str(start.arm),
        attempt=start.attempt or 0,
        value=start.value,
    )


def about(seconds: float) -> str:
    """A forecast for people: from two minutes on in whole minutes."""
    return format_duration(round(seconds / 60) * 60 if seconds >= 120 else seconds)


def _why_not(last: JournalEntry | None) -> str | None:
    if last is None:
        return "its first trial has not begun"
    if last.event == "session-end":
        return None
    return last.detail or "its process was killed, or the host stopped; or it runs on another host"
