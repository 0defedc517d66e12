# SPDX-License-Identifier: Apache-2.0
"""GC logs of both JVMs: for how long the application stood still, what it allocated, and the settings read back.

HotSpot writes its unified log, `-Xlog:gc*` with the decorations that `steelyard.jvm.options` asks for. OpenJ9 writes
XML (`-Xverbosegclog`), which is not well-formed when the JVM was killed or while it runs, so that it is taken section
by section: a pause is an exclusive section (`exclusive-start` to `exclusive-end`) in which a collection ran. Sections
without a collection are the JIT's or a debugger's.

What was allocated since the collection before OpenJ9 says to the byte. Of HotSpot it is what the heap grew by from the
end of one pause to the start of the next, in MiB that each pause rounds down; collectors that free memory beside the
application (ZGC, Shenandoah) do not tell it so. A thread of the application that waits for such a collector to free
memory stands still by itself, which is no pause: ZGC logs each such wait (`Allocation Stall`), Shenandoah's pacing is
in no line of its log.

A log that is not understood tells nothing, and why (`GcLog.unknown`): with one pause that cannot be read, no sum of
pauses is known. Under some languages HotSpot writes numbers with a comma; both are read.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import partial
from pathlib import Path
from typing import NamedTuple

from steelyard.regular import read_text
from steelyard.units import MIB, parse_size

_LINE = re.compile(
    r"^\[(?P<time>[0-9]{4}-[^\]]+)\]\[[^\]]*\]\[\w+\s*\]\[(?P<tags>[\w,]+)\s*\] (?P<text>.*)$", re.MULTILINE
)
# A pause is logged when it ends, with its length; ZGC logs its pauses as phases, marked by generation since JDK 21.
_DECIMAL = r"[0-9]+(?:[.,][0-9]+)?"
_PAUSE = re.compile(
    r"GC\((?P<collection>[0-9]+)\) (?:[YyO]: )?Pause .*?"
    rf"(?: (?P<before>[0-9]+[KMG])->(?P<after>[0-9]+[KMG])\([0-9]+[KMG]\))? (?P<ms>{_DECIMAL})ms"
)
_A_PAUSE = re.compile(r"\bPause\b|[0-9][KMG]?->[0-9]+[KMG]?\(")
"""In a message that `_PAUSE` should read."""
_STALL = re.compile(rf"Allocation Stall \(.*\) ({_DECIMAL})ms")
_FREED_BESIDE = re.compile(r"GC\([0-9]+\) (?:[YyO]: )?Concurrent ")
_OF_A_COLLECTION = re.compile(r"\bGC\([0-9]+\) ")
_FREES_IN_PAUSES = ("Serial", "Parallel", "G1")
_LARGE_PAGES = ("Disabled", "Enabled (Transparent)", "Enabled (Explicit)")
_SETTING = re.compile(r"(?:Heap )?([A-Z][\w -]*): (.*)")

_STAMP = re.compile(r' timestamp="([^"]+)"')
_ZONES_APART = 15 * 60
_BEGIN = re.compile(r'[^>]*?timestamp="([^"]+)"')
_END = re.compile(rf'<exclusive-end\b[^>]*? durationms="({_DECIMAL})"')
_COLLECTION = re.compile(rf'<gc-end\b[^>]*? durationms="({_DECIMAL})"')
_ALLOCATED = re.compile(r'<allocation-stats totalBytes="([0-9]+)"')
_NURSERY = re.compile(r'<mem type="nursery" free="[0-9]+" total="([0-9]+)"')
_ATTRIBUTE = re.compile(r'<attribute name="([^"]*)" value="([^"]*)"')

_NUMBER = partial(int, base=0)


class GcPause(NamedTuple):
    """The application stood still."""

    epoch: float
    """Start, seconds since the Unix epoch."""
    seconds: float
    collection: int | None = None
    """HotSpot's number of the collection that the pause is a part of: G1's concurrent cycle has two (Remark, Cleanup),
    each of ZGC's and Shenandoah's three or four. None: the pause is a collection by itself."""


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


class GcTotals(NamedTuple):
    """Collections of a window; None where the log does not tell them."""

    collections: int | None = None
    """Those whose first pause began in it."""
    pause_seconds: float | None = None
    """Time stood still in it."""
    pause_max: float | None = None
    """The longest of the pauses that began in it, seconds."""
    stall_seconds: float | None = None
    """Time for which threads waited for memory in it, summed over them; None: the collector logs no such waits."""


@dataclass(frozen=True)
class GcSettings:
    """Settings read back from the log; None where the JVM does not log them. Sizes are bytes."""

    policy: str | None = None
    """As the JVM calls it: `-Xgcpolicy:gencon`, `G1`, `Shenandoah`, `The Z Garbage Collector`."""
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
    """In order of time; empty where one of them is not known."""
    stalls: tuple[GcPause, ...] | None = None
    """ZGC: each time a single thread waited until memory was freed. None: another collector."""
    unknown: str | None = None
    """Why its pauses are not known, and then nor is what was allocated; None: they are."""

    def allocation(self, t0: float, t1: float) -> Allocation | None:
        """What was allocated from the first to the last collection of a window (epoch seconds).

        None with fewer than two: what was allocated before the first and after the last is not known.
        """
        inside = [allocated for allocated in self.allocated if t0 <= allocated.epoch < t1]
        size = sum(allocated.size for allocated in inside[1:])
        return Allocation(size, inside[0].epoch, inside[-1].epoch) if size > 0 else None

    def totals(self, t0: float, t1: float) -> GcTotals:
        """What it tells of a window (epoch seconds)."""
        if self.unknown is not None:
            return GcTotals()
        inside = [pause.seconds for pause in self.pauses if t0 <= pause.epoch < t1]
        first: dict[int, float] = {}
        for pause in self.pauses:
            if pause.collection is not None:
                first[pause.collection] = min(pause.epoch, first.get(pause.collection, pause.epoch))
        begun = [*first.values(), *(pause.epoch for pause in self.pauses if pause.collection is None)]
        return GcTotals(
            sum(t0 <= begin < t1 for begin in begun),
            _seconds_inside(self.pauses, t0, t1),
            max(inside, default=None),
            None if self.stalls is None else _seconds_inside(self.stalls, t0, t1),
        )


def _seconds_inside(pauses: Iterable[GcPause], t0: float, t1: float) -> float:
    """What of pauses lies in a window, seconds."""
    return sum(max(0.0, min(pause.epoch + pause.seconds, t1) - max(pause.epoch, t0)) for pause in pauses)


def parse_gc_log(text: str, zone: tzinfo | None = None) -> GcLog:
    """Read one file; which JVM wrote it is seen from its start. `zone`: of OpenJ9's times; None: the host's."""
    return _parse_openj9(text, zone) if text.lstrip().startswith("<") else _parse_hotspot(text)


def read_gc_logs(paths: Iterable[Path], started: float | None = None) -> GcLog:
    """Read the files of one JVM's log, in any order; without one that holds something nothing is known.

    OpenJ9 continues a log in further files, each with the settings at its head. It can leave bytes that are no text.
    `started`, the start of the JVM's process (epoch seconds), tells the zone of its times.
    """
    texts = [read_text(path, errors="replace") for path in paths if path.is_file()]
    texts = [text for text in texts if text.strip()]
    zone = _zone_of(texts, started)
    logs = [parse_gc_log(text, zone) for text in texts]
    settings = next((log.settings for log in logs if log.settings.policy is not None), GcSettings())
    pauses = sorted(pause for log in logs for pause in log.pauses)
    allocated = sorted(size for log in logs for size in log.allocated)
    unknown = next((log.unknown for log in logs if log.unknown is not None), None)
    if unknown is None and settings.policy is None and not pauses:
        unknown = "the GC log names no collector" if logs else "the GC log is empty"
    if unknown is not None:
        return GcLog(settings=settings, unknown=unknown)
    stalls = sorted(stall for log in logs for stall in log.stalls or ())
    is_complete = all(log.allocated or not log.pauses for log in logs)
    return GcLog(
        tuple(pauses),
        settings,
        tuple(allocated) if is_complete else (),
        tuple(stalls) if any(log.stalls is not None for log in logs) else None,
    )


def _parse_hotspot(text: str) -> GcLog:
    """Read a file of HotSpot's; a last line that was cut off is passed over."""
    lines = text[: text.rfind("\n") + 1].splitlines()
    if text.strip() and not any(map(_LINE.match, lines)):
        return GcLog(unknown="no line of the GC log can be read")
    log = _hotspot_pauses(lines)
    if log.settings.policy != "The Z Garbage Collector" or log.unknown is not None:
        return log
    stalls = [(line, _hotspot_stall(line)) for line in lines if "] Allocation Stall" in line]
    if unread := [line for line, stall in stalls if stall is None]:
        return GcLog(unknown=f"a stall in the GC log cannot be read: {unread[0].strip()[:200]}")
    return replace(log, stalls=tuple(stall for _, stall in stalls if stall is not None))


def _hotspot_pauses(lines: Sequence[str]) -> GcLog:
    pauses = []
    held: list[tuple[float, str | None, str | None]] = []
    init: dict[str, str] = {}
    policy = None
    for number, text in enumerate(lines, start=1):
        line = _LINE.match(text)
        if line is None:
            if re.search(r"\bPause\b", text):
                return GcLog(unknown=_unread(number, text))
            continue
        tags, message = line["tags"], line["text"]
        if tags in ("gc", "gc,phases") and _A_PAUSE.search(message) and not _FREED_BESIDE.match(message):
            if (pause := _hotspot_pause(line["time"], message)) is None:
                return GcLog(unknown=_unread(number, text))
            pauses.append(pause[0])
            held += [(pause[0].epoch, *pause[1:])] * (policy in _FREES_IN_PAUSES)
        elif tags == "gc" and message.startswith("Using "):
            policy = message.removeprefix("Using ")
        elif tags == "gc,init" and (setting := _SETTING.fullmatch(message)):
            init[setting[1]] = setting[2]
    if not pauses and any(map(_OF_A_COLLECTION.search, lines)):
        return GcLog(unknown="the GC log tells of collections and of no pause")
    return GcLog(tuple(sorted(pauses)), _hotspot_settings(policy, init), _hotspot_allocation(held))


def _hotspot_allocation(held: Iterable[tuple[float, str | None, str | None]]) -> tuple[Allocated, ...]:
    """From what the heap held before and after each pause; nothing where one does not tell it, for what the next one
    finds has grown from nobody knows what."""
    allocated, used = [], 0
    for begin, before, after in held:
        if before is None or after is None:
            return ()
        allocated.append(Allocated(begin, _size(before) - used))
        used = _size(after)
    return tuple(allocated)


def _hotspot_settings(policy: str | None, init: Mapping[str, str]) -> GcSettings:
    # ZGC's "GC Workers" are those of its concurrent phases; "Runtime Workers" are as many as ParallelGCThreads.
    workers = (
        init.get("Parallel Workers") or init.get("Runtime Workers") or ("1" if policy == "Serial" else "")
    )
    threads = re.match(r"[0-9]+", workers)
    return GcSettings(
        policy=policy,
        max_heap=_parse_present(parse_size, init.get("Max Capacity")),
        initial_heap=_parse_present(parse_size, init.get("Initial Capacity")),
        large_pages=pages if (pages := init.get("Large Page Support")) in _LARGE_PAGES else None,
        gc_threads=int(threads[0]) if threads else None,
    )


def _hotspot_pause(time: str, message: str) -> tuple[GcPause, str | None, str | None] | None:
    """A pause, and the size of the heap before and after it as it is written; None: it cannot be read."""
    pause, end = _PAUSE.fullmatch(message), epoch_of(time)
    if pause is None or end is None:
        return None
    seconds = _number(pause["ms"]) / 1000
    return GcPause(end - seconds, seconds, int(pause["collection"])), pause["before"], pause["after"]


def _hotspot_stall(text: str) -> GcPause | None:
    """A thread's wait for memory, which is logged when it ends; None: it cannot be read."""
    line = _LINE.match(text)
    stall = _STALL.fullmatch(line["text"]) if line is not None else None
    end = epoch_of(line["time"]) if line is not None else None
    if stall is None or end is None:
        return None
    seconds = _number(stall[1]) / 1000
    return GcPause(end - seconds, seconds)


def _unread(number: int, line: str) -> str:
    return f"line {number} of the GC log tells of a pause and cannot be read: {line.strip()[:200]}"


def _number(text: str) -> float:
    """A number with a point or a comma."""
    return float(text.replace(",", "."))


def _size(text: str) -> int:
    """Bytes of a size such as `16M`."""
    return int(text[:-1]) * {"K": 1024, "M": MIB, "G": 1024 * MIB}[text[-1]]


def epoch_of(stamp: str, zone: tzinfo | None = None) -> float | None:
    """Epoch seconds of a time in ISO 8601 (`zone`: of one that names none); None: it is none."""
    try:
        at = datetime.fromisoformat(stamp)
        return (at if at.tzinfo is not None else at.replace(tzinfo=zone)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _zone_of(texts: Iterable[str], started: float | None) -> tzinfo | None:
    """The zone in which OpenJ9 writes its times, which tell none: a container's need not be the host's.

    The first of them is of the JVM's first seconds, and zones differ by quarters of an hour.
    """
    stamps = [stamp[1] for text in texts if text.lstrip().startswith("<") and (stamp := _STAMP.search(text))]
    if started is None or not stamps:
        return None
    first = epoch_of(min(stamps), UTC)
    if first is None:
        return None
    ahead = first - started
    offset = round(ahead / _ZONES_APART) * timedelta(seconds=_ZONES_APART)
    return timezone(offset) if abs(offset) < timedelta(days=1) else None


def _parse_openj9(text: str, zone: tzinfo | None) -> GcLog:
    """Read a file of OpenJ9's."""
    head, *sections = text.split("<exclusive-start")
    named = dict(reversed(_ATTRIBUTE.findall(head)))  # of one name the first counts
    settings = GcSettings(
        policy=named.get("gcPolicy"),
        max_heap=_parse_present(_NUMBER, named.get("maxHeapSize")),
        initial_heap=_parse_present(_NUMBER, named.get("initialHeapSize")),
        nursery=int(nursery[1]) if (nursery := _NURSERY.search(text)) else None,
        page_size=_parse_present(_NUMBER, named.get("pageSize")),
        gc_threads=_parse_present(_NUMBER, named.get("gcthreads")),
    )
    if (unknown := _openj9_unknown(head, settings.policy)) is not None:
        return GcLog(settings=settings, unknown=unknown)
    pauses, allocated, is_complete = [], [], True
    for number, section in enumerate(sections, start=1):
        is_last = number == len(sections)
        if is_last and ">" not in section:
            break  # cut off in its first line
        stamp = _BEGIN.match(section)
        begin = epoch_of(stamp[1], zone) if stamp is not None else None
        if begin is None or not _openj9_is_read(section, is_last=is_last):
            return GcLog(settings=settings, unknown=f"section {number} of the GC log cannot be read")
        if (seconds := _openj9_pause(section)) > 0:
            pauses.append(GcPause(begin, seconds))
        sizes = _ALLOCATED.findall(section)
        tags = len(re.findall(r"<allocation-stats\b", section)), len(re.findall(r"\btotalBytes=", section))
        is_cut = is_last and ">" not in section[section.rfind("<allocation-stats") :]
        is_complete &= tags == (len(sizes), len(sizes)) or (is_cut and tags[0] == len(sizes) + 1)
        if sizes:
            allocated.append(Allocated(begin, sum(map(int, sizes))))
    return GcLog(tuple(sorted(pauses)), settings, tuple(allocated) if is_complete else ())


def _openj9_unknown(head: str, policy: str | None) -> str | None:
    """Why the pauses of a file are not known, by what stands before its first section."""
    if "<verbosegc" not in head:
        return "the GC log is none that OpenJ9 writes today"
    if policy is not None and "metronome" in policy:
        return "metronome stops the application in quanta, of which its GC log tells the sums alone"
    if "<gc-end" in head:
        return "the GC log tells of a collection outside of a pause"
    return None


def _openj9_is_read(section: str, *, is_last: bool) -> bool:
    """Whether the parts of an exclusive section are there and can be read; the last one may have been cut off."""
    ends = re.findall(r"<exclusive-end\b[^>]*>", section)
    collections = re.findall(r"<gc-end\b[^>]*>", section)
    begun = len(re.findall(r"<gc-start\b[^>]*>", section))
    is_whole = len(ends) == 1 and len(collections) == begun
    is_cut = is_last and not ends and len(collections) <= begun
    return (is_whole or is_cut) and all(map(_END.match, ends)) and all(map(_COLLECTION.match, collections))


def _openj9_pause(section: str) -> float:
    """Seconds of an exclusive section in which a collection ran, else 0; of one that was cut off its finished
    collections are what is known."""
    end = _END.search(section)
    collections = _COLLECTION.findall(section[: end.start()] if end else section)
    if not collections:
        return 0.0
    return (_number(end[1]) if end else sum(map(_number, collections))) / 1000


def _parse_present(parse: Callable[[str], int], text: str | None) -> int | None:
    try:
        return None if text is None else parse(text)
    except ValueError:
        return None
