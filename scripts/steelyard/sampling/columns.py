# SPDX-License-Identifier: Apache-2.0
"""The columns that a sampler writes (docs/files.md); a new one stands at the end of its table, and here alone."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from steelyard.measure.columns import KEYS
from steelyard.sampling.cgroup import GROUP_COLUMNS
from steelyard.sampling.hsperf import JVM_COLUMNS
from steelyard.sampling.process import Process, ProcessFigures
from steelyard.sampling.procfs import CLOCK_TICKS


class Reading(NamedTuple):
    """A component as it was read at one moment; None: not read then, or not told."""

    process: Process
    figures: ProcessFigures
    pss: int | None
    switches: Sequence[int] | None
    """Voluntary and involuntary."""
    wait: float | None


PROCESS_COLUMNS: dict[str, Callable[[Reading], object]] = {
    "user_s": lambda reading: f"{reading.figures.totals.user / CLOCK_TICKS:.2f}",
    "system_s": lambda reading: f"{reading.figures.totals.system / CLOCK_TICKS:.2f}",
    "rss": lambda reading: reading.process.rss,
    "pss": lambda reading: reading.pss,
    "minor_faults": lambda reading: reading.figures.totals.minor_faults,
    "major_faults": lambda reading: reading.figures.totals.major_faults,
    "voluntary_switches": lambda reading: reading.switches and reading.switches[0],
    "involuntary_switches": lambda reading: reading.switches and reading.switches[1],
    "threads": lambda reading: reading.figures.threads,
    "wait_s": lambda reading: None if reading.wait is None else f"{reading.wait:.4f}",
    "processes": lambda reading: reading.figures.processes,
    "ended": lambda reading: reading.figures.ended,
}
_COLUMNS = {
    "processes": PROCESS_COLUMNS,
    "threads": ("cpu_s", "wait_s", "ran_s"),
    "cgroups": GROUP_COLUMNS,
    "counters": ("requests", "errors", "service_s"),
    "metrics": ("value",),
    "jvm": JVM_COLUMNS,
    "host": ("monotonic", "busy_s", "steal_s", "idle_s", "other_s"),
    "cpus": ("user_s", "system_s", "irq_s", "softirq_s", "steal_s", "idle_s"),
    "forwarders": ("cpu_s",),
    "notes": ("note",),
}
COLUMNS = {table: ",".join((*KEYS[table], *columns)) for table, columns in _COLUMNS.items()}
"""Header of each table."""
NODE_COLUMNS = ",".join((*KEYS["nodes"], *_COLUMNS["host"]))
"""Of what is put together from the samplers on each machine of a cluster (nodes.csv): as `host`, a machine a row."""


def process_row(reading: Reading) -> str:
    """A row of processes.csv; what is None is empty."""
    values = (read(reading) for read in PROCESS_COLUMNS.values())
    fields = ("" if value is None else str(value) for value in values)
    return f"{reading.process.epoch:.4f},{reading.process.name},{','.join(fields)}"
