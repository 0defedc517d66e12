# SPDX-License-Identifier: Apache-2.0
"""What `perf stat -x, -I 1000` wrote of a component (perf-stat(1), CSV FORMAT): counts by second.

    # epoch 1764137215.250                                     written before perf: when it was started
    1.001103467,61209387,,dTLB-load-misses,1000950011,100.00,,   seconds, count, unit, event, ns that it was counted, %
    1.001103467,<not counted>,,iTLB-load-misses,0,0.00,,         no counter was free in that second
    1.001103467,<not counted>,,page-faults,0,100.00,,            the component did not run in that second: 0
    1.001103467,<not supported>,,LLC-load-misses,0,100.00,,
    1.001103467,61209387,,cpu_core/cycles/,1000950011,100.00,,   on a hybrid processor, of the cores of that unit
    # ended 1764137275.912                                     written after perf: when it had written its last line

Where there are more events than counters of the processor the kernel counts them in turn, and perf scales the count by
the time that it was counted.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from steelyard.measure.series import Series
from steelyard.regular import read_text

HEAD, TAIL = "# epoch ", "# ended "
LEAST_COUNTED = 0.8
"""Part of the time in which a component ran that an event has to be counted: below it too much is guessed."""
_STARTED = 0.5
"""Seconds that perf may have taken to begin after it was started: its own times begin then."""


@dataclass(frozen=True)
class CountedEvent:
    """Counts of an event."""

    count: Series
    """Since perf was started."""
    counted: Series
    """CPU seconds in which it was counted, and `ran`: in which the component ran; since perf was started."""
    ran: Series

    def growth(self, start: float, end: float) -> float | str:
        """The count over a window, or why there is none."""
        count, counted, ran = (series.delta(start, end) for series in (self.count, self.counted, self.ran))
        late = not self.count.t.size or self.count.t[0] > start or self.count.t[-1] < end - _STARTED
        if late or count is None or counted is None or ran is None:
            return "perf did not count over the whole window"
        if counted < LEAST_COUNTED * ran:
            share = f"{100 * counted / ran:.0f} % of the time"
            return f"it was counted {share}: the processor has too few counters for all that was asked for"
        return count


@dataclass(frozen=True)
class PerfStat:
    """What was counted of a component."""

    events: dict[str, CountedEvent]
    """By the name of the event as perf writes it."""
    unsupported: frozenset[str] = frozenset()
    unread: str | None = None
    """A line that cannot be read."""

    def growth(self, event: str, start: float, end: float) -> float | str:
        """The count of an event over a window, or why there is none."""
        if self.unread is not None:
            return f"a line of perf cannot be read: {self.unread}"
        if event in self.unsupported:
            return f"perf does not support {event} here"
        if self.events.keys() & {f"{event}:u", f"{event}u"}:  # `cpu_core/cycles/u`
            return "the kernel's part was not counted: set kernel.perf_event_paranoid to 1, or run as root"
        if event not in self.events:
            return f"perf told nothing of {event}"
        return self.events[event].growth(start, end)


def read_perf_stat(path: Path) -> PerfStat:
    """What perf wrote of a component (raises FileNotFoundError); a last line that was cut off is passed over."""
    return parse_perf_stat(read_text(path).splitlines(keepends=True))


def parse_perf_stat(lines: Iterable[str]) -> PerfStat:
    """The same of its lines."""
    start, ended, last = 0.0, None, 0.0
    unsupported = set()
    totals: dict[str, list[tuple[float, float, float, float]]] = {}
    for line in (line for line in lines if line.endswith("\n") and line.strip()):
        if line.startswith(HEAD):
            start = float(line.removeprefix(HEAD))
        if line.startswith(TAIL):
            ended = float(line.removeprefix(TAIL))
        if line.startswith("#"):
            continue
        fields = line.strip().split(",")
        try:
            seconds, count, event = float(fields[0]), fields[1], fields[3]
            ran, counted = _seconds(float(fields[4]), float(fields[5]))
            known = 0.0 if count.startswith("<") else float(count)
        except (ValueError, IndexError):
            return PerfStat({}, unread=line.strip()[:120])
        if count == "<not supported>":
            unsupported.add(event)
        else:
            rows = totals.setdefault(event, [(0.0, 0.0, 0.0, 0.0)])
            since, *before = rows[-1]
            # It was counted for next to nothing of the time that the component ran: how long that was is not told.
            ran = seconds - since if ran is None else ran
            rows.append((seconds, before[0] + known, before[1] + counted, before[2] + ran))
            last = max(last, seconds)
    # perf takes a while to begin after it was started, its times count from then on: its end is known better.
    began = start if ended is None else ended - last
    events = {event: _make_event(rows, began) for event, rows in totals.items()}
    return PerfStat(events, frozenset(unsupported))


def _seconds(counted_ns: float, percent: float) -> tuple[float | None, float]:
    """CPU seconds in which a component ran, and in which it was counted; None: it ran, and was counted for less than
    0.005 % of that, which perf writes as 0.00."""
    if not percent:
        return None, counted_ns / 1e9
    return counted_ns / 1e9 / (percent / 100), counted_ns / 1e9


def _make_event(rows: list[tuple[float, float, float, float]], began: float) -> CountedEvent:
    columns = [Series.of([(began + row[0], row[column]) for row in rows]) for column in (1, 2, 3)]
    return CountedEvent(*columns)
