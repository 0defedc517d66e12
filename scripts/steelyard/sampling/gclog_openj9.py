# SPDX-License-Identifier: Apache-2.0
"""OpenJ9's verbose GC log (`-Xverbosegclog`).

It is XML, but not well-formed when the JVM was killed or while it runs, so elements are taken one by one as they
come. A pause is an exclusive section (`exclusive-start` to `exclusive-end`) in which a collection ran: that is the time
for which the application stood still. Sections without a collection are the JIT's or a debugger's.
"""

import html
import re
from datetime import datetime

from steelyard.sampling.gcevents import GcEvent, GcLog, GcSettings, Kind

_ELEMENT = re.compile(r'<([\w-]+)((?:\s+[\w -]+="[^"]*")+)\s*/?>')
_ATTRIBUTE = re.compile(r'([\w-]+)="([^"]*)"')


class _Reader:
    """Keeps what is needed between the elements of one file."""

    def __init__(self) -> None:
        self.events: list[GcEvent] = []
        self.named: dict[str, str] = {}
        self.vm_args: list[str] = []
        self._began: float | None = None
        self._kinds: set[Kind] = set()
        self._collected = 0.0

    def take(self, element: str, attributes: dict[str, str]) -> None:
        """Go on with one element."""
        match element:
            case "exclusive-start":
                self.finish()
                self._began = _epoch(attributes["timestamp"])
            case "gc-start":
                self._kinds.add(_kind(attributes["type"]))
            case "gc-end":
                self._collected += float(attributes["durationms"]) / 1000
            case "exclusive-end":
                self._add(float(attributes["durationms"]) / 1000)
            case "concurrent-start" | "concurrent-kickoff":
                self.events.append(GcEvent(_epoch(attributes["timestamp"]), "concurrent", 0.0))
            case "attribute":
                self.named.setdefault(attributes["name"], attributes["value"])
            case "vmarg":
                self.vm_args.append(html.unescape(attributes["name"]))

    def finish(self) -> None:
        """The log ends inside a section: its finished collections are what is known of the pause."""
        self._add(self._collected)

    def _add(self, pause: float) -> None:
        if self._began is not None and self._kinds and pause > 0:
            kind: Kind = next(kind for kind in ("full", "young", "concurrent") if kind in self._kinds)
            self.events.append(GcEvent(self._began, kind, pause))
        self._began = None
        self._kinds = set()
        self._collected = 0.0


def parse_openj9(text: str) -> GcLog:
    """Read one file of a log. Its times have no offset: they are taken as local time of this host."""
    reader = _Reader()
    for match in _ELEMENT.finditer(text):
        try:
            reader.take(match[1], dict(_ATTRIBUTE.findall(match[2])))
        except (KeyError, ValueError):
            continue  # damaged by the cut: the element is as good as not written
    reader.finish()
    return GcLog(tuple(sorted(reader.events)), _settings(reader.named, reader.vm_args))


def _epoch(timestamp: str) -> float:
    return datetime.fromisoformat(timestamp).astimezone().timestamp()


def _kind(collection: str) -> Kind:
    if collection in ("scavenge", "partial gc"):
        return "young"
    return "full" if collection.startswith("global") else "concurrent"


def _settings(named: dict[str, str], vm_args: list[str]) -> GcSettings:
    limited = named.get("container memory limit set")
    return GcSettings(
        policy=named.get("gcPolicy"),
        max_heap=_number(named.get("maxHeapSize")),
        initial_heap=_number(named.get("initialHeapSize")),
        page_size=_number(named.get("pageSize")),
        requested_page_size=_number(named.get("requestedPageSize")),
        gc_threads=_number(named.get("gcthreads")),
        cpus=_number(named.get("numCPUs active", named.get("numCPUs"))),
        memory_limited=None if limited is None else limited == "true",
        vm_args=tuple(vm_args),
    )


def _number(text: str | None) -> int | None:
    try:
        return None if text is None else int(text, 0)
    except ValueError:
        return None
