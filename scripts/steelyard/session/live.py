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
        self._sums: dict[str, tuple[float, float]] = {}
        """By server: stamp of the sample that is being read, and its sum of requests so far."""
        self._before: dict[str, tuple[float, float]] = {}
        """By server: the last whole sample."""
        self._rates: dict[str, float] = {}

    def read(self) -> float | None:
        """Requests per second between the last two whole samples of each server; None when there is nothing new."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                chunk = file.read()
        except OSError:
            return None
        self._offset += len(chunk)
        lines = (self._rest + chunk.decode("utf-8", errors="replace")).split("\n")
        self._rest = lines.pop()
        changed = [self._take(line) for line in lines]
        return sum(self._rates.values()) if any(changed) else None

    def _take(self, line: str) -> bool:
        stamp, *fields = line.split(",")
        if stamp == "epoch" or len(fields) < 3 or fields[1].startswith(INTERNAL):
            return False
        server, now, requests = fields[0], float(stamp), float(fields[2])
        at, total = self._sums.get(server, (now, 0.0))
        if at == now:
            self._sums[server] = (now, total + requests)
            return False
        self._sums[server] = (now, requests)
        before = self._before.get(server)
        self._before[server] = (at, total)
        if before is None or at <= before[0]:
            return False
        self._rates[server] = max(0.0, (total - before[1]) / (at - before[0]))
        return True
