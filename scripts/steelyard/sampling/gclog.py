# SPDX-License-Identifier: Apache-2.0
"""GC logs of both JVMs: for how long the application stood still, what it allocated, and the settings read back.

HotSpot writes its unified log, `-Xlog:gc*` with the decorations that `steelyard.jvm.options` asks for. OpenJ9 writes
XML (`-Xverbosegclog`), which is not well-formed when the JVM was killed or while it runs, so that it is taken section
by section: a pause is an exclusive section (`exclusive-start` to `exclusive-end`) in which a collection ran. Sections
without a collection are the JIT's or a debugger's.

What was allocated since the collection before OpenJ9 says to the byte. Of HotSpot it is what the heap grew by from the
end of one pause to the start of the next, in MiB that each pause rounds down; collectors that free memory beside the
application (ZGC, Shenandoah) do not tell it so.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from pathlib import Path
from typing import NamedTuple

from steelyard.units import MIB, parse_size

_LINE = re.compile(
    r"^\[(?P<time>\d{4}-[^\]]+)\]\[[^\]]*\]\[\w+\s*\]\[(?P<tags>[\w,]+)\s*\] (?P<text>.*)$", re.MULTILINE
)
# A pause is logged when it ends, with its length; ZGC logs its pauses as phases, marked by generation since JDK 21.
_PAUSE = re.compile(
    r"GC\(\d+\) (?:[YyO]: )?Pause .*?(?: (?P<before>\d+)M->(?P<after>\d+)M\(\d+M\))? (?P<ms>[\d.]+)ms"
)
_FREES_IN_PAUSES = ("Serial", "Parallel", "G1")
_SETTING = re.compile(r"(?:Heap )?([A-Z][\w -]*): (.*)")

_STAMP = re.compile(r' timestamp="([^"]+)"')
_ZONES_APART = 15 * 60
_BEGIN = re.compile(r'[^>]*?timestamp="([^"]+)"')
_END = re.compile(r'<exclusive-end\b[^>]*?durationms="([\d.]+)"')
_COLLECTION = re.compile(r'<gc-end\b[^>]*?durationms="([\d.]+)"')
_ALLOCATED = re.compile(r'<allocation-stats totalBytes="(\d+)"')
_NURSERY = re.compile(r'<mem type="nursery" free="\d+" total="(\d+)"')
_ATTRIBUTE = re.compile(r'<attribute name="([^"]*)" value="([^"]*)"')

_NUMBER = partial(int, base=0)


class GcPause(NamedTuple):
    """The application stood still."""

    epoch: float
    """Start, seconds since the Unix epoch."""
    seconds: float


class Allocated(NamedTuple):
    """What the application had allocated when a collection began, since the one before."""

    epoch: float
    """Of the collection's start."""
    size: int
    """Bytes."""


class Allocation(NamedTuple):
    """What the application allocated between two collections, others between them included."""

    size: int
    """Bytes."""
    begin: float
    """Epoch seconds, as `end`."""
    end: float


@dataclass(frozen=True)
class GcSettings:
    """Settings read back from the log; None where the JVM does not log them. Sizes are bytes."""

    policy: str | None = None
    """As the JVM calls it: `-Xgcpolicy:gencon`, `G1`, `Parallel`, `Serial`."""
    max_heap: int | None = None
    initial_heap: int | None = None
    nursery: int | None = None
    """At the first collection (OpenJ9)."""
    page_size: int | None = None
    """Page size of the heap (OpenJ9)."""
    large_pages: str | None = None
    """HotSpot's own words: `Disabled`, `Enabled (Transparent)`, `Enabled (Explicit)`."""
    gc_threads: int | None = None
    """Threads that collect in parallel."""


@dataclass(frozen=True)
class GcLog:
    """One JVM's GC log, all its files."""

    pauses: tuple[GcPause, ...] = ()
    """In order of time."""
    settings: GcSettings = GcSettings()
    allocated: tuple[Allocated, ...] = ()
    """In order of time."""

    def allocation(self, t0: float, t1: float) -> Allocation | None:
        """What was allocated from the first to the last collection of a window (epoch seconds).

        None with fewer than two: what was allocated before the first and after the last is not known.
        """
        inside = [one for one in self.allocated if t0 <= one.epoch < t1]
        size = sum(one.size for one in inside[1:])
        return Allocation(size, inside[0].epoch, inside[-1].epoch) if size > 0 else None

    def totals(self, t0: float, t1: float) -> dict[str, float | None]:
        """Fields of `ComponentResult`: number and longest of the pauses that began in the window (epoch seconds), and
        the time stood still in it."""
        inside = [pause.seconds for pause in self.pauses if t0 <= pause.epoch < t1]
        stood = (min(begin + seconds, t1) - max(begin, t0) for begin, seconds in self.pauses)
        return {
            "gc_count": len(inside),
            "gc_pause_seconds": sum(max(0.0, one) for one in stood),
            "gc_pause_max": max(inside, default=None),
        }


def parse_gc_log(text: str, zone: tzinfo | None = None) -> GcLog:
    """Read one file; which JVM wrote it is seen from its start. `zone`: of OpenJ9's times; None: the host's."""
    return _parse_openj9(text, zone) if text.lstrip().startswith("<") else _parse_hotspot(text)


def read_gc_logs(paths: Iterable[Path], started: float | None = None) -> GcLog:
    """Read the files of one JVM's log, in any order; files that are missing or empty hold nothing.

    OpenJ9 continues a log in further files, each with the settings at its head. It can leave bytes that are no text.
    `started`, the start of the JVM's process (epoch seconds), tells the zone of its times.
    """
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in paths if path.exists()]
    zone = _zone_of(texts, started)
    logs = [parse_gc_log(text, zone) for text in texts]
    settings = next((log.settings for log in logs if log.settings.policy is not None), GcSettings())
    pauses = sorted(pause for log in logs for pause in log.pauses)
    allocated = sorted(one for log in logs for one in log.allocated)
    return GcLog(tuple(pauses), settings, tuple(allocated))


def _parse_hotspot(text: str) -> GcLog:
    """Read a file of HotSpot's; a last line that was cut off is passed over."""
    pauses = []
    allocated = []
    used = 0
    init: dict[str, str] = {}
    policy = None
    for line in _LINE.finditer(text):
        tags, message = line["tags"], line["text"]
        if tags in ("gc", "gc,phases") and (pause := _PAUSE.fullmatch(message)):
            seconds = float(pause["ms"]) / 1000
            begin = datetime.fromisoformat(line["time"]).timestamp() - seconds
            pauses.append(GcPause(begin, seconds))
            if pause["before"] and policy in _FREES_IN_PAUSES:
                allocated.append(Allocated(begin, (int(pause["before"]) - used) * MIB))
                used = int(pause["after"])
        elif tags == "gc" and message.startswith("Using "):
            policy = message.removeprefix("Using ")
        elif tags == "gc,init" and (setting := _SETTING.fullmatch(message)):
            init[setting[1]] = setting[2]
    workers = init.get("Parallel Workers") or init.get("GC Workers") or ("1" if policy == "Serial" else "")
    threads = re.match(r"\d+", workers)
    settings = GcSettings(
        policy=policy,
        max_heap=_known(parse_size, init.get("Max Capacity")),
        initial_heap=_known(parse_size, init.get("Initial Capacity")),
        large_pages=init.get("Large Page Support"),
        gc_threads=int(threads[0]) if threads else None,
    )
    return GcLog(tuple(sorted(pauses)), settings, tuple(allocated))


def _zone_of(texts: Iterable[str], started: float | None) -> tzinfo | None:
    """The zone in which OpenJ9 writes its times, which tell none: a container's need not be the host's.

    The first of them is of the JVM's first seconds, and zones differ by quarters of an hour.
    """
    stamps = [stamp[1] for text in texts if text.lstrip().startswith("<") and (stamp := _STAMP.search(text))]
    if started is None or not stamps:
        return None
    ahead = datetime.fromisoformat(min(stamps)).replace(tzinfo=UTC).timestamp() - started
    offset = round(ahead / _ZONES_APART) * timedelta(seconds=_ZONES_APART)
    return timezone(offset) if abs(offset) < timedelta(days=1) else None


def _parse_openj9(text: str, zone: tzinfo | None) -> GcLog:
    """Read a file of OpenJ9's."""
    head, *sections = text.split("<exclusive-start")
    named = dict(reversed(_ATTRIBUTE.findall(head)))  # of one name the first counts
    settings = GcSettings(
        policy=named.get("gcPolicy"),
        max_heap=_known(_NUMBER, named.get("maxHeapSize")),
        initial_heap=_known(_NUMBER, named.get("initialHeapSize")),
        nursery=int(nursery[1]) if (nursery := _NURSERY.search(text)) else None,
        page_size=_known(_NUMBER, named.get("pageSize")),
        gc_threads=_known(_NUMBER, named.get("gcthreads")),
    )
    pauses, allocated = [], []
    for section in sections:
        if (stamp := _BEGIN.match(section)) is None:
            continue
        begin = datetime.fromisoformat(stamp[1]).replace(tzinfo=zone).timestamp()
        if (seconds := _openj9_stood(section)) > 0:
            pauses.append(GcPause(begin, seconds))
        if sizes := _ALLOCATED.findall(section):
            allocated.append(Allocated(begin, sum(map(int, sizes))))
    return GcLog(tuple(sorted(pauses)), settings, tuple(allocated))


def _openj9_stood(section: str) -> float:
    """Seconds of an exclusive section in which a collection ran, else 0; of one that was cut off its finished
    collections are what is known."""
    end = _END.search(section)
    collections = _COLLECTION.findall(section[: end.start()] if end else section)
    if not collections:
        return 0.0
    return (float(end[1]) if end else sum(map(float, collections))) / 1000


def _known(parse: Callable[[str], int], text: str | None) -> int | None:
    try:
        return None if text is None else parse(text)
    except ValueError:
        return None
