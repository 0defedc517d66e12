# SPDX-License-Identifier: Apache-2.0
"""GC logs of both JVMs: which collections ran, how long the application stood still, and the settings read back."""

from collections.abc import Iterable
from pathlib import Path

from steelyard.sampling.gcevents import GcEvent, GcLog, GcSettings, GcTotals
from steelyard.sampling.gclog_hotspot import parse_hotspot
from steelyard.sampling.gclog_openj9 import parse_openj9

__all__ = ["GcEvent", "GcLog", "GcSettings", "GcTotals", "parse_gc_log", "read_gc_logs"]


def parse_gc_log(text: str) -> GcLog:
    """Read one file; which JVM wrote it is seen from its start."""
    return parse_openj9(text) if text.lstrip().startswith("<") else parse_hotspot(text)


def read_gc_logs(paths: Iterable[Path]) -> GcLog:
    """Read the files of one JVM's log, in any order; files that are missing or empty hold nothing.

    OpenJ9 continues a log in further files, each with the settings at its head. It can leave bytes that are no text.
    """
    logs = [
        parse_gc_log(path.read_text(encoding="utf-8", errors="replace")) for path in paths if path.exists()
    ]
    events = sorted(event for log in logs for event in log.events)
    settings = next((log.settings for log in logs if log.settings != GcSettings()), GcSettings())
    return GcLog(tuple(events), settings)
