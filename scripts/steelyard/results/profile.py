# SPDX-License-Identifier: Apache-2.0
"""profile.json: one sampling profile of an arm, beside its slices."""

from typing import Literal

from pydantic import Field

from steelyard.results.schema import FORMAT_VERSION, Event
from steelyard.results.spec import Record

UNITS: dict[Event, str] = {"cpu": "ns", "alloc": "bytes", "lock": "ns", "wall": "ns"}
"""What a cost is; of `cpu` and `wall` the time between two samples for each of them."""
INTERVALS: dict[Event, int] = {"cpu": 10_000_000, "alloc": 524_288, "lock": 10_000, "wall": 50_000_000}
"""How far two samples lie apart, in that unit; of `lock` how long a thread waits that is seen."""
TITLES: dict[Event, str] = {
    "cpu": "CPU time",
    "alloc": "Allocated memory",
    "lock": "Waiting for locks",
    "wall": "Time of all threads",
}
RECORD = "profile.json"


class Profile(Record):
    """What was profiled, and what it cost."""

    format_version: int = FORMAT_VERSION
    arm: str
    event: Event
    sampler: Literal["async-profiler", "perf"] = "async-profiler"
    start: int = 1
    """Which of the arm's profiled starts."""
    slice_seconds: float
    """Length of each slice."""
    slices: dict[str, list[str]]
    """Files by server or compiler, in order of time: `NAME/FILE`, a stack and its cost in each line."""
    per: Literal["requests", "start"] = "requests"
    """What its cost is that of: 1,000 requests of the window, or one start, of the procedure `start-up`."""
    request_rate: float | None
    """Requests/s of all servers in the window of the profiled trial; None: not measured."""
    throughput_change: float | None
    """That trial's throughput against the mean of the arm's valid trials, as a share (-0.02: 2 % less); None: not
    known."""
    cpu_change: float | None = None
    """The same of its servers' CPU per request, of a start-up that of the start; None: not known."""
    failed_checks: list[str] = Field(default_factory=list)
    """Names of the checks that it failed and that void a trial."""
