# SPDX-License-Identifier: Apache-2.0
"""HotSpot's unified log, `-Xlog:gc*` with the decorations that `steelyard.jvm.options` asks for."""

import re
from datetime import datetime

from steelyard.sampling.gcevents import GcEvent, GcLog, GcSettings, Kind
from steelyard.units import parse_size

_LINE = re.compile(r"\[(?P<time>\d{4}-[^\]]+)\]\[[^\]]*\]\[\w+\s*\]\[(?P<tags>[\w,]+)\s*\] (?P<text>.*)")
# A pause is logged when it ends, with its length; ZGC logs its pauses as phases, marked by generation since JDK 21.
_WORK = re.compile(r"GC\(\d+\) (?:[YyO]: )?(?P<what>Pause|Concurrent) (?P<which>.*?)\s(?P<length>[\d.]+)ms$")
_SETTING = re.compile(r"(?:Heap )?([A-Z][\w -]*): (.*)")


def parse_hotspot(text: str) -> GcLog:
    """Read a log; a last line that was cut off is passed over."""
    events = []
    init: dict[str, str] = {}
    policy = None
    for line in text.splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        tags, message = match["tags"], match["text"]
        if tags in ("gc", "gc,phases") and (work := _WORK.fullmatch(message)):
            event = _event(match["time"], work, tags)
            events += [event] if event else []
        elif tags == "gc" and message.startswith("Using "):
            policy = message.removeprefix("Using ")
        elif tags == "gc,init" and (setting := _SETTING.fullmatch(message)):
            init[setting[1]] = setting[2]
    return GcLog(tuple(sorted(events)), _settings(policy, init))


def _event(time: str, work: re.Match[str], tags: str) -> GcEvent | None:
    end = datetime.fromisoformat(time).timestamp()
    seconds = float(work["length"]) / 1000
    if work["what"] == "Pause":
        return GcEvent(end - seconds, _kind(work["which"]), seconds)
    # Only whole cycles and phases on the plain `gc` tag: the steps inside a phase would count it many times.
    return GcEvent(end - seconds, "concurrent", 0.0) if tags == "gc" else None


def _kind(which: str) -> Kind:
    if which.startswith("Young"):
        return "young"
    if which.startswith(("Full", "Degenerated")):
        return "full"
    return "concurrent"  # G1 Remark and Cleanup; every pause of ZGC and Shenandoah


def _settings(policy: str | None, init: dict[str, str]) -> GcSettings:
    cpus = re.search(r"(\d+) available", init.get("CPUs", ""))
    workers = init.get("Parallel Workers") or init.get("GC Workers") or ("1" if policy == "Serial" else "")
    threads = re.match(r"\d+", workers)
    return GcSettings(
        policy=policy,
        max_heap=_size(init.get("Max Capacity")),
        initial_heap=_size(init.get("Initial Capacity")),
        large_pages=init.get("Large Page Support"),
        gc_threads=int(threads[0]) if threads else None,
        cpus=int(cpus[1]) if cpus else None,
    )


def _size(text: str | None) -> int | None:
    try:
        return None if text is None else parse_size(text)
    except ValueError:
        return None
