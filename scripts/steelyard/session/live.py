# SPDX-License-Identifier: Apache-2.0
"""Throughput of the last second, read from the end of a growing counters file at little cost."""

from pathlib import Path

from steelyard.sampling.read import INTERNAL


class LiveRate:
    """Follows `samples/counters.csv`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0
        self._rest = ""
        self._current: tuple[str, float] | None = None
        """Stamp of the sample that is being read, and its sum of requests."""
        self._last: tuple[float, float] | None = None
        """Time and sum of requests of the last whole sample."""

    def read(self) -> float | None:
        """Requests per second between the last two whole samples; None when there is nothing new."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                chunk = file.read()
        except OSError:
            return None
        self._offset += len(chunk)
        lines = (self._rest + chunk.decode("utf-8", errors="replace")).split("\n")
        self._rest = lines.pop()
        rate = None
        for line in lines:
            rate = self._take(line) or rate
        return rate

    def _take(self, line: str) -> float | None:
        stamp, *fields = line.split(",")
        if stamp == "epoch" or len(fields) < 3 or fields[1].startswith(INTERNAL):
            return None
        requests = float(fields[2])
        if self._current is not None and self._current[0] == stamp:
            self._current = (stamp, self._current[1] + requests)
            return None
        done, self._current = self._current, (stamp, requests)
        return self._finish(done) if done is not None else None

    def _finish(self, sample: tuple[str, float]) -> float | None:
        now, total = float(sample[0]), sample[1]
        before, self._last = self._last, (now, total)
        if before is None or now <= before[0]:
            return None
        return (total - before[1]) / (now - before[0])
