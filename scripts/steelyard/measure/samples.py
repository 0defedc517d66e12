# SPDX-License-Identifier: Apache-2.0
"""Reads the sampler's files (docs/files.md), also while they are being written."""

import csv
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from steelyard.errors import BadInput
from steelyard.measure.columns import INTERNAL, KEYS, NOTHING, OWN_NAME
from steelyard.measure.formulas import combine_known
from steelyard.measure.series import NOTHING_READ, SLACK, Series, total
from steelyard.regular import read_bytes, read_text


class Counts(NamedTuple):
    """Requests that servers counted."""

    requests: float
    """Ended, with or without an error. Over a window a fraction: it is interpolated between samples."""
    errors: float


class ClockOffset(NamedTuple):
    """Between which bounds a clock runs ahead of this host's, seconds."""

    low: float
    high: float

    @property
    def width(self) -> float:
        """How closely it is known."""
        return self.high - self.low


class Memory(NamedTuple):
    """Of processes together, bytes; None where there are no samples."""

    rss_mean: float | None
    rss_peak: float | None
    pss_mean: float | None


Table = dict[tuple[str, ...], Series]
"""Series by the key columns of their file and the name of their own column."""


@dataclass(frozen=True)
class Machine:
    """A machine of a cluster that components run on."""

    name: str
    components: tuple[str, ...]
    clock: ClockOffset | None
    """How far its clock runs ahead of the harness's; None: it was not compared."""
    host: Table
    """As `Samples.host`."""


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
    """By (column of host.csv,): this host, where the trial runs here."""
    cgroups: Table = field(default_factory=dict)
    """By (process, column of cgroups.csv)."""
    metrics: Table = field(default_factory=dict)
    """By (process, name, `value`): figures that components tell of themselves."""
    internal: Table = field(default_factory=dict)
    """As `counters`: what services asked of each other. No injector knows of it, so it is in no count of requests."""
    jvm: Table = field(default_factory=dict)
    """By (process, column of jvm.csv): what HotSpot tells of its JIT, classes and safepoints."""
    cpus: Table = field(default_factory=dict)
    """By (CPU, column of cpus.csv): this host, read where a window begins and ends."""
    forwarders: Table = field(default_factory=dict)
    """By (program and process id, `cpu_s`): what forwarded the network of containers, read then as well."""
    machines: tuple[Machine, ...] = ()
    """Where the trial runs elsewhere: the machines that its components run on."""

    @classmethod
    def load(cls, folder: Path) -> "Samples":
        """Read `samples/` of a trial. Files that are not there yet count as empty, a cut last line as not there."""
        return SamplesReader(folder).read()

    def end_process(self, process: str, at: float, until: float) -> "Samples":
        """The same with a process that is known to have ended at a time: what it used stays, what it had is gone.

        Of what it used in its last second, after its last sample, nothing is known, and nothing is added. What it had
        it is taken to have had until then: PSS was read as the window began.
        """

        def extend(table: Table, gone: Collection[str]) -> Table:
            return {
                key: series.extend_to(at, until, None if key[-1] not in gone else 0.0)
                if key[0] == process
                else series
                for key, series in table.items()
            }

        return replace(
            self,
            processes=extend(self.processes, {"rss", "pss", "threads", "processes"}),
            threads=extend(self.threads, ()),
            cgroups=extend(self.cgroups, {"memory", "working_set", "huge"}),
        )

    def process_names(self) -> list[str]:
        """Names of the sampled processes, the sampler's own left out, in the order of their first sample."""
        return [name for name, column in self.processes if column == "user_s" and name != OWN_NAME]

    def request_rate(self, t0: float, t1: float) -> list[tuple[float, float]]:
        """Requests per second summed over the servers, for each second of a window.

        Returns:
            (end of the second since t0, requests/s). The trace ends with the last second for which every server that
            still answers has counters, so it can be made while the trial runs.
        """
        series = [counts_of for (_, _, column), counts_of in self.counters.items() if column == "requests"]
        if not series:
            return []
        newest = max(counts_of.t[-1] for counts_of in series)
        known = min(counts_of.t[-1] for counts_of in series if counts_of.t[-1] > newest - 2 * SLACK)
        seconds = max(0, int(min(t1, float(known)) - t0 + 1e-9))
        edges = t0 + np.arange(seconds + 1)
        counts = np.sum([np.interp(edges, counts_of.t, counts_of.v) for counts_of in series], axis=0)
        return [(float(second), float(rate)) for second, rate in enumerate(np.diff(counts), start=1)]

    def requests(self, process: str, t0: float, t1: float) -> Counts | None:
        """Growth of a server's counters over a window; None where those of one operation do not cover it.

        Zero for a server that told its counters over the window and had no operation to tell of.
        """
        grown = [
            (series.delta(t0, t1), self.counters[name, operation, "errors"].delta(t0, t1))
            for (name, operation, column), series in self.counters.items()
            if name == process and column == "requests"
        ]
        if not grown:
            said = self.internal.get((process, NOTHING, "requests"))
            return Counts(0.0, 0.0) if said is not None and said.delta(t0, t1) is not None else None
        requests, errors = (combine_known(column, sum) for column in zip(*grown, strict=True))
        return Counts(requests, errors) if requests is not None and errors is not None else None

    def total_counts(self) -> Counts | None:
        """Newest counters of all servers together, since each started; None without any."""
        last: dict[str, float] = defaultdict(float)
        for (_, _, column), series in self.counters.items():
            last[column] += float(series.v[-1])
        return Counts(last["requests"], last["errors"]) if last else None

    def cpu_seconds(self, process: str, t0: float, t1: float) -> float | None:
        """CPU seconds (user and system) of a process over a window; None without samples."""
        return self.growth(process, ("user_s", "system_s"), t0, t1)

    def cpu_by_group(self, process: str, t0: float, t1: float) -> dict[str, float]:
        """CPU seconds of a server by thread group over a window; empty without samples."""
        return self._by_group(process, "cpu_s", t0, t1)

    def wait_by_group(self, process: str, t0: float, t1: float) -> dict[str, float]:
        """Seconds that threads of a server waited for a CPU, by group; empty where the kernel does not tell."""
        return self._by_group(process, "wait_s", t0, t1)

    def _by_group(self, process: str, measured: str, t0: float, t1: float) -> dict[str, float]:
        grown = {
            group: series.delta(t0, t1)
            for (name, group, column), series in self.threads.items()
            if name == process and column == measured
        }
        return {group: seconds for group, seconds in grown.items() if seconds is not None}

    def threads_read(self, process: str) -> float:
        """When the threads of a server were read last, epoch seconds; 0 where they never were."""
        read = (
            series.t[-1] for (name, _, _), series in self.threads.items() if name == process and series.t.size
        )
        return float(max(read, default=0.0))

    def own_figures(self, process: str, t0: float, t1: float) -> dict[str, float]:
        """What a process told of itself over a window, means by name; without what its samples do not cover."""
        means = {
            name: series.mean(t0, t1) for (whose, name, _), series in self.metrics.items() if whose == process
        }
        return {name: value for name, value in means.items() if value is not None}

    def memory(self, processes: Iterable[str], t0: float, t1: float) -> Memory:
        """Memory of processes together over a window, summed at equal times.

        PSS is read seldom: at both ends of the window, by the first sample after it was asked for. It is the mean over
        the window of what was read there, weighted by time, and None unless there is a reading within `SLACK` of each
        end.
        """
        names = list(processes)
        rss = total([self.series(name, "rss") for name in names], t0, t1)
        pss = (self.series(name, "pss").mean_of_readings(t0, t1) for name in names)
        return Memory(
            rss.mean(t0, t1) if rss else None, rss.peak(t0, t1) if rss else None, combine_known(pss, sum)
        )

    def group(self, process: str, column: str) -> Series:
        """A column of the container of a process; empty where there are no samples."""
        return self.cgroups.get((process, column), NOTHING_READ)

    def oom_kills_before(self, process: str, t: float) -> int:
        """Processes that the kernel had killed in the container of a process by a time; 0 where nothing was read."""
        series = self.group(process, "oom_kills")
        before = series.v[series.t <= t]
        return int(before[-1]) if before.size else 0

    def other_cpu(self, t0: float, t1: float, machine: Machine | None = None) -> float | None:
        """CPU seconds of the host, or of a machine, that no watched process used, however short-lived what used them;
        at least 0.

        The host's total is sampled by the timer tick and the processes' is exact, so that the difference of the two
        can come out a little below zero on an undisturbed host. Interrupts that the kernel keeps apart are not in it.
        """
        host = self.host if machine is None else machine.host
        other = host.get(("other_s",), NOTHING_READ).delta(t0, t1)
        return None if other is None else max(0.0, other)

    def hosts(self) -> list[Table]:
        """What the trial runs on."""
        return [machine.host for machine in self.machines] or [self.host]

    def clocks(self) -> list[Series]:
        """The monotonic clock of each host, by the wall clock."""
        return [host.get(("monotonic",), NOTHING_READ) for host in self.hosts()]

    def series(self, process: str, column: str) -> Series:
        """A column of a process; empty where there are no samples."""
        return self.processes.get((process, column), NOTHING_READ)

    def growth(self, process: str, columns: tuple[str, ...], t0: float, t1: float) -> float | None:
        """Growth of some columns of a process together."""
        return combine_known((self.series(process, column).delta(t0, t1) for column in columns), sum)


class SamplesReader:
    """Reads `samples/` of a trial, also while it is being written: each line is parsed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = {name: _SampleFile(folder / f"{name}.csv") for name in KEYS if name != "notes"}

    def read(self) -> Samples:
        """All samples so far. Files that are not there yet count as empty, a cut last line as not there (raises
        BadInput: another header)."""
        tables = {name: file.read() for name, file in self._files.items()}
        counters = _from_zero(tables["counters"])
        return Samples(
            tables["processes"],
            tables["threads"],
            {key: series for key, series in counters.items() if not key[1].startswith(INTERNAL)},
            tables["host"],
            tables["cgroups"],
            tables["metrics"],
            {key: series for key, series in counters.items() if key[1].startswith(INTERNAL)},
            tables["jvm"],
            tables["cpus"],
            tables["forwarders"],
            tuple(self._machines(tables["nodes"])),
        )

    def _machines(self, nodes: Table) -> Iterator[Machine]:
        """The machines of a trial that ran in a cluster; none where it ran on this host."""
        try:
            described = json.loads(read_text(self._folder / "nodes.json"))
        except FileNotFoundError:
            return
        for machine in described:
            yield Machine(
                machine["name"],
                tuple(machine["components"]),
                ClockOffset(*machine["clock"]) if machine["clock"] is not None else None,
                {key[1:]: series for key, series in nodes.items() if key[0] == machine["name"]},
            )


def _from_zero(counters: Table) -> Table:
    """Counters of operations that a server lists from their first request on, with 0 at each time at which it told its
    counters and did not list them."""
    times: dict[str, set[float]] = defaultdict(set)
    for (process, *_), series in counters.items():
        times[process].update(series.t.tolist())

    def start_at_zero(process: str, series: Series) -> Series:
        before = np.array(sorted(at for at in times[process] if at < series.t[0]))
        return Series(np.concatenate((before, series.t)), np.concatenate((np.zeros(before.size), series.v)))

    return {key: start_at_zero(key[0], series) for key, series in counters.items()}


class _SampleFile:
    """A file that grows: the columns that say when and whose a row is, then a series a column, by its own header."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys = KEYS[path.stem]
        self._header: list[str] = []
        self._parsed = 0
        """Bytes of it, to the end of a line."""
        self._values: dict[tuple[str, ...], list[tuple[float, float]]] = defaultdict(list)

    def read(self) -> Table:
        """Series of its whole lines; a last one that is still being written is passed over."""
        try:
            data = read_bytes(self._path)
        except FileNotFoundError:
            return {}
        end = data.rfind(b"\n") + 1
        self._parse(data[self._parsed : end].decode("utf-8", "replace"))
        self._parsed = end
        return {key: Series.of(values) for key, values in self._values.items()}

    def _parse(self, text: str) -> None:
        rows = csv.reader(text.splitlines())
        keys = len(self._keys)
        if text and not self._header:
            self._header = next(rows)
            if tuple(self._header[:keys]) != self._keys:
                raise BadInput(
                    f"{self._path} does not have the columns {','.join(self._keys)} first: restore it from a copy"
                )
        for row in (row for row in rows if len(row) == len(self._header)):
            for column, value in zip(self._header[keys:], row[keys:], strict=True):
                if value:  # empty: not read in this second
                    self._values[*row[1:keys], column].append((float(row[0]), float(value)))
