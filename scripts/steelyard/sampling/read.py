# SPDX-License-Identifier: Apache-2.0
"""Reads the sampler's files (docs/files.md), also while they are being written."""

import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from steelyard.errors import BadInput
from steelyard.sampling.config import NOTHING, OWN_NAME
from steelyard.sampling.output import COLUMNS
from steelyard.sampling.series import SLACK, Series, total

INTERNAL = "internal-"
"""Beginning of the names of operations that services ask of each other."""
ROTATION_SLACK = 120.0
"""Seconds by which a window may reach past readings that are made in rotation (PSS, switches, other processes)."""


class Counts(NamedTuple):
    """Requests of one operation."""

    requests: float
    """Ended, with or without an error. Over a window a fraction: it is interpolated between samples."""
    errors: float
    service_seconds: float


class Memory(NamedTuple):
    """Memory of some processes together, bytes; None where there are no samples."""

    rss_mean: float | None
    rss_peak: float | None
    pss_mean: float | None
    pss_peak: float | None


class Faults(NamedTuple):
    """Page faults."""

    minor: float
    major: float


class Switches(NamedTuple):
    """Context switches."""

    voluntary: float
    involuntary: float


class CgroupUse(NamedTuple):
    """What a server's container was charged over a window; sizes in bytes; None where the kernel does not tell."""

    cpu_seconds: float
    throttled_seconds: float | None
    throttled_share: float | None
    """Throttled periods / periods of its CPU quota; 0 without a quota."""
    memory_mean: float | None
    memory_peak: float | None
    """Highest since the container started, as the kernel keeps it: not of the window alone."""
    working_set_mean: float | None
    oom_kills: int | None
    """Since the container started."""


class OtherProcess(NamedTuple):
    """A process that does not belong to the trial."""

    pid: int
    command: str
    share: float
    """Of the CPU time of the whole host."""


class Note(NamedTuple):
    """Something that the sampler noticed."""

    epoch: float
    process: str
    note: str


Table = dict[tuple[str, ...], Series]
"""Series by the key columns of their file and the name of their own column."""


@dataclass(frozen=True)
class Samples:
    """All samples of one trial."""

    processes: Table
    """By (process, column of processes.csv)."""
    threads: Table
    """By (process, group, `cpu_s`)."""
    counters: Table
    """By (process, operation, column of counters.csv): what clients asked for."""
    host: Table
    """By (column of host.csv,)."""
    others: Table
    """By (pid, command, `cpu_s`)."""
    notes: tuple[Note, ...]
    cgroups: Table = field(default_factory=dict)
    """By (process, column of cgroups.csv)."""
    internal: Table = field(default_factory=dict)
    """As `counters`: what services asked of each other. No injector knows of it, so it is in no count of requests."""

    @classmethod
    def load(cls, folder: Path) -> "Samples":
        """Read `samples/` of a trial. Files that are not there yet count as empty, a cut last line as not there."""
        counted = _table(folder, "counters", keys=2)
        return cls(
            _table(folder, "processes", keys=1),
            _table(folder, "threads", keys=2),
            {key: one for key, one in counted.items() if not key[1].startswith(INTERNAL)},
            _table(folder, "host", keys=0),
            _table(folder, "others", keys=2),
            tuple(Note(float(row[0]), row[1], row[2]) for row in _rows(folder, "notes")),
            _table(folder, "cgroups", keys=1),
            {key: one for key, one in counted.items() if key[1].startswith(INTERNAL)},
        )

    def process_names(self) -> list[str]:
        """Names of the sampled processes, the sampler's own left out, in the order of their first sample."""
        return [name for name, column in self.processes if column == "user_s" and name != OWN_NAME]

    def last_time(self) -> float | None:
        """Time of the newest host sample."""
        clock = self.host.get(("monotonic",))
        return float(clock.t[-1]) if clock else None

    def request_rate(self, t0: float, t1: float, step: float = 1.0) -> list[tuple[float, float]]:
        """Requests per second summed over the servers, by step of a window.

        Returns:
            (end of the step in seconds since t0, requests/s). The trace ends with the last step for which every
            server that still answers has counters, so it can be made while the trial runs.
        """
        series = [one for (_, _, column), one in self.counters.items() if column == "requests"]
        if not series:
            return []
        newest = max(one.t[-1] for one in series)
        known = min(one.t[-1] for one in series if one.t[-1] > newest - 2 * SLACK)
        steps = int((min(t1, float(known)) - t0) / step + 1e-9)
        if steps < 1:
            return []
        edges = t0 + step * np.arange(steps + 1)
        counts = np.sum([np.interp(edges, one.t, one.v) for one in series], axis=0)
        rates = np.diff(counts) / step
        return [(float(step * (i + 1)), float(rate)) for i, rate in enumerate(rates)]

    def requests(self, t0: float, t1: float) -> dict[str, dict[str, Counts]]:
        """Growth of the servers' counters over a window: process -> operation -> counts.

        A server whose counters do not cover the window is left out.
        """
        found: dict[str, dict[str, Counts]] = defaultdict(dict)
        for process, operation in self._operations():
            grown = [
                self.counters[process, operation, column].delta(t0, t1)
                for column in ("requests", "errors", "service_s")
            ]
            if grown[0] is not None and grown[1] is not None and grown[2] is not None:
                found[process][operation] = Counts(grown[0], grown[1], grown[2])
        return dict(found)

    def counted_nothing(self, process: str, t0: float, t1: float) -> bool:
        """Whether a server told its counters over a window and had no operation to tell of."""
        silent = not any(key[0] == process for key in self.counters)
        said = self.internal.get((process, NOTHING, "requests"))
        return silent and said is not None and said.delta(t0, t1) is not None

    def service_calls(self, t0: float, t1: float) -> float | None:
        """Calls between services over a window; None where services make none or their counters do not cover it."""
        grown = [
            one.delta(t0, t1)
            for (_, operation, column), one in self.internal.items()
            if column == "requests" and operation != NOTHING
        ]
        return sum(known for known in grown if known is not None) if grown and None not in grown else None

    def last_counters(self) -> dict[str, dict[str, Counts]]:
        """Newest counters: process -> operation -> counts since the server started."""
        found: dict[str, dict[str, Counts]] = defaultdict(dict)
        for process, operation in self._operations():
            last = [
                float(self.counters[process, operation, column].v[-1])
                for column in ("requests", "errors", "service_s")
            ]
            found[process][operation] = Counts(*last)
        return dict(found)

    def cpu_seconds(self, process: str, t0: float, t1: float) -> float | None:
        """CPU seconds (user and system) of a process over a window; None without samples."""
        user = self._grown(process, "user_s", t0, t1)
        system = self._grown(process, "system_s", t0, t1)
        return None if user is None or system is None else user + system

    def cpu_by_group(self, process: str, t0: float, t1: float) -> dict[str, float]:
        """CPU seconds of a server by thread group over a window; empty without samples."""
        grown = {
            group: one.delta(t0, t1) for (name, group, _), one in self.threads.items() if name == process
        }
        return {group: seconds for group, seconds in grown.items() if seconds is not None}

    def memory(self, processes: Iterable[str], t0: float, t1: float) -> Memory:
        """Memory of processes together over a window, summed at equal times."""
        names = list(processes)
        rss = total(self._levels(names, "rss"), t0, t1) if self._has(names, "rss") else None
        pss = total(self._levels(names, "pss"), t0, t1, ROTATION_SLACK) if self._has(names, "pss") else None
        return Memory(
            rss.mean(t0, t1) if rss else None,
            rss.peak(t0, t1) if rss else None,
            pss.mean(t0, t1) if pss else None,
            pss.peak(t0, t1) if pss else None,
        )

    def faults(self, process: str, t0: float, t1: float) -> Faults | None:
        """Page faults of a process over a window."""
        minor = self._grown(process, "minor_faults", t0, t1)
        major = self._grown(process, "major_faults", t0, t1)
        return None if minor is None or major is None else Faults(minor, major)

    def switches(self, process: str, t0: float, t1: float) -> Switches | None:
        """Context switches of a server over a window, from readings made in rotation."""
        voluntary = self.processes.get((process, "voluntary_switches"))
        involuntary = self.processes.get((process, "involuntary_switches"))
        if not voluntary or not involuntary or not voluntary.covers(t0, t1, ROTATION_SLACK):
            return None
        grown = [float(np.diff(np.interp((t0, t1), one.t, one.v))[0]) for one in (voluntary, involuntary)]
        return Switches(grown[0], grown[1])

    def cgroup(self, process: str, t0: float, t1: float) -> CgroupUse | None:
        """What the container of a process was charged over a window; None when it was not sampled there."""

        def series(column: str) -> Series | None:
            return self.cgroups.get((process, column))

        def grown(column: str) -> float | None:
            return one.delta(t0, t1) if (one := series(column)) else None

        def mean(column: str) -> float | None:
            return one.mean(t0, t1) if (one := series(column)) else None

        cpu = grown("cpu_s")
        if cpu is None:
            return None
        periods, throttled = grown("periods"), grown("throttled_periods")
        peak, kills = series("peak"), series("oom_kills")
        return CgroupUse(
            cpu,
            grown("throttled_s"),
            None if periods is None or throttled is None else throttled / periods if periods else 0.0,
            mean("memory"),
            peak.at(t1) if peak else None,
            mean("working_set"),
            int(kills.v[-1]) if kills else None,
        )

    def steal_share(self, t0: float, t1: float) -> float | None:
        """CPU time stolen by the hypervisor / CPU time of the host."""
        return self._host_share("steal_s", t0, t1)

    def busy_share(self, t0: float, t1: float) -> float | None:
        """CPU time used by anyone / CPU time of the host."""
        return self._host_share("busy_s", t0, t1)

    def other_share(self, t0: float, t1: float) -> float | None:
        """CPU time of processes that were not sampled / CPU time of the host; at least 0.

        The host's total is sampled by the timer tick and the processes' is exact, so that the difference of the two
        can come out a little below zero on an undisturbed host.
        """
        share = self._host_share("other_s", t0, t1)
        return None if share is None else max(0.0, share)

    def busiest_other(self, t0: float, t1: float) -> OtherProcess | None:
        """The process that was not sampled and used most CPU over a window."""
        capacity = self._capacity(t0, t1)
        if not capacity:
            return None
        used = {key: float(np.diff(np.interp((t0, t1), one.t, one.v))[0]) for key, one in self.others.items()}
        busiest = max(used, key=lambda key: used[key], default=None)
        if busiest is None or used[busiest] <= 0:
            return None
        return OtherProcess(int(busiest[0]), busiest[1], used[busiest] / capacity)

    def clock_step(self, t0: float, t1: float) -> float | None:
        """Largest change of (wall clock - monotonic clock) over a window, seconds; None without samples."""
        clock = self.host.get(("monotonic",))
        if not clock or not clock.covers(t0, t1):
            return None
        inside = (clock.t >= t0 - SLACK) & (clock.t <= t1 + SLACK)
        apart = clock.t[inside] - clock.v[inside]
        return float(np.ptp(apart))

    def _operations(self) -> list[tuple[str, str]]:
        return [(process, operation) for process, operation, column in self.counters if column == "requests"]

    def _grown(self, process: str, column: str, t0: float, t1: float) -> float | None:
        series = self.processes.get((process, column))
        return series.delta(t0, t1) if series else None

    def _has(self, names: list[str], column: str) -> bool:
        return all((name, column) in self.processes for name in names)

    def _levels(self, names: list[str], column: str) -> list[Series]:
        return [self.processes[name, column] for name in names]

    def _capacity(self, t0: float, t1: float) -> float | None:
        grown = [
            self.host[(column,)].delta(t0, t1) for column in ("busy_s", "steal_s", "idle_s") if self.host
        ]
        return (
            sum(seconds for seconds in grown if seconds is not None) if grown and None not in grown else None
        )

    def _host_share(self, column: str, t0: float, t1: float) -> float | None:
        capacity = self._capacity(t0, t1)
        used = self.host[(column,)].delta(t0, t1) if capacity else None
        return used / capacity if used is not None and capacity else None


def _rows(folder: Path, name: str) -> Iterator[list[str]]:
    """Rows of a file without its header and without a last line that is still being written."""
    try:
        text = (folder / f"{name}.csv").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return
    whole = text[: text.rfind("\n") + 1]
    rows = csv.reader(whole.splitlines())
    columns = COLUMNS[name].split(",")
    if next(rows, columns) != columns:
        raise BadInput(
            f"{folder / name}.csv does not have the columns {COLUMNS[name]}: restore it from a copy"
        )
    yield from (row for row in rows if len(row) == len(columns))


def _table(folder: Path, name: str, keys: int) -> Table:
    """Series of a file: time first, then `keys` columns that say whose they are, then a series a column."""
    columns = COLUMNS[name].split(",")[1 + keys :]
    samples: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)
    for row in _rows(folder, name):
        whose = tuple(row[1 : 1 + keys])
        for column, value in zip(columns, row[1 + keys :], strict=True):
            if value:  # empty: not read in this second
                samples[*whose, column].append((float(row[0]), float(value)))
    return {key: Series.of(values) for key, values in samples.items()}
