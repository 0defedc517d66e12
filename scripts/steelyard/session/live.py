# SPDX-License-Identifier: Apache-2.0
"""Throughput of the last second, read from the end of a growing counters file at little cost."""

from pathlib import Path

from steelyard.sampling.read import INTERNAL


class LiveRate:
    """Follows `samples/counters.csv`; each server's counters are read at times of their own."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = ""
        self._last: dict[tuple[str, str], tuple[float, float]] = {}
        """By server and operation: time and requests of the newest sample."""
        self._rates: dict[tuple[str, str], float] = {}

    def read(self) -> float | None:
        """Requests per second between the last two samples of each operation; None when there is nothing new."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                chunk = file.read()
        except OSError:
            return None
        self._offset += len(chunk)
        *lines, self._rest = (self._rest + chunk.decode("utf-8", errors="replace")).split("\n")
        changed = False
        for line in lines:
            stamp, *fields = line.split(",")
            if stamp == "epoch" or len(fields) < 3 or fields[1].startswith(INTERNAL):
                continue
            key, now, requests = (fields[0], fields[1]), float(stamp), float(fields[2])
            at, before = self._last.get(key, (now, requests))
            self._last[key] = now, requests
            if now > at:
                self._rates[key] = max(0.0, (requests - before) / (now - at))
                changed = True
        return sum(self._rates.values()) if changed else None
