# SPDX-License-Identifier: Apache-2.0
"""CPU time of the whole host, and of the processes that do not belong to the trial."""

import os
import time
import zlib
from pathlib import Path
from typing import NamedTuple

from steelyard.sampling.procfs import CLOCK_TICKS, Files, ProcFile, parse_comm_and_ticks, parse_stat

NOTICEABLE = 0.005
"""Share of one CPU from which on another process is recorded."""
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD


class HostCpu(NamedTuple):
    """Cumulative CPU seconds over all CPUs since boot."""

    tasks: float
    """user, nice and system."""
    interrupts: float
    """irq and softirq."""
    steal: float
    idle: float
    """idle and iowait."""

    @property
    def busy(self) -> float:
        """Not idle and not stolen."""
        return self.tasks + self.interrupts


def parse_host_cpu(line: bytes) -> HostCpu:
    """Read the first line of /proc/stat. Guest time is already in user and nice (proc(5))."""
    user, nice, system, idle, iowait, irq, softirq, steal = (int(x) / CLOCK_TICKS for x in line.split()[1:9])
    return HostCpu(user + nice + system, irq + softirq, steal, idle + iowait)


def interrupts_apart(root: Path = Path("/")) -> bool:
    """Whether this kernel leaves interrupt time out of the CPU time of processes.

    If it does, interrupt time is nobody's; if not, it is in the time of the processes that were interrupted, and has
    to be counted on both sides when what the watched processes used is taken from the host's total. By the kernel's
    configuration; most distributions keep it apart, so that is assumed where it cannot be read.
    """
    release = os.uname().release
    names = ("CONFIG_IRQ_TIME_ACCOUNTING=y", "CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y")
    for path in (
        root / "proc/config.gz",
        root / f"boot/config-{release}",
        root / f"lib/modules/{release}/config",
    ):
        try:
            raw = path.read_bytes()
            lines = (
                (zlib.decompress(raw, wbits=31) if path.suffix == ".gz" else raw)
                .decode(errors="replace")
                .split("\n")
            )
        except (OSError, EOFError):
            continue
        return any(name in lines for name in names)
    return True


class _Other:
    __slots__ = ("base", "command", "noticed", "seen", "stat", "ticks")

    def __init__(self, stat: ProcFile, command: str, base: int, ticks: int, seen: float) -> None:
        self.stat = stat
        self.command = command
        self.base = base  # clock ticks when the sampler first looked; 0 for one that started later
        self.ticks = ticks
        self.seen = seen
        self.noticed = False


class OtherRow(NamedTuple):
    """CPU of a process that is not watched, cumulative since the sampler started."""

    epoch: float
    pid: int
    command: str
    cpu: float


class Others:
    """The processes that are not watched. Only those that use noticeable CPU are reported, from then on always."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._known: dict[int, _Other] = {}
        self._last: float | None = None

    def scan(self, watched: set[int]) -> list[OtherRow]:
        """Look at all processes; the first scan reports nothing."""
        now = time.time()
        rows: list[OtherRow] = []
        for pid in self._known.keys() - self._alive(watched):
            self._known.pop(pid).stat.close()
        for pid, other in list(self._known.items()):
            line = other.stat.read(512)
            if line is None:
                other.stat.close()
                del self._known[pid]
            else:
                rows += self._used(now, pid, other, parse_comm_and_ticks(line)[1])
        self._last = now
        return rows

    def _alive(self, watched: set[int]) -> set[int]:
        alive = {int(name) for name in os.listdir("/proc") if name.isdigit()} - watched  # noqa: PTH208
        for pid in alive - self._known.keys():
            stat = ProcFile(f"/proc/{pid}/stat", self._files)
            line = stat.read(512)
            if line is None:
                stat.close()
                continue
            comm, ticks = parse_comm_and_ticks(line)
            name = comm.decode(errors="replace")
            command = f"[{name}]" if parse_stat(line).flags & _KERNEL_THREAD else name
            new = self._last is not None
            self._known[pid] = _Other(
                stat, command, 0 if new else ticks, 0 if new else ticks, self._last or 0.0
            )
        return alive

    def _used(self, now: float, pid: int, other: _Other, ticks: int) -> list[OtherRow]:
        before = OtherRow(other.seen, pid, other.command, (other.ticks - other.base) / CLOCK_TICKS)
        used = (ticks - other.ticks) / CLOCK_TICKS
        other.ticks, other.seen = ticks, now
        if self._last is None:
            return []
        first = not other.noticed
        other.noticed = other.noticed or used > NOTICEABLE * (now - self._last)
        if not other.noticed:
            return []
        row = OtherRow(now, pid, other.command, (ticks - other.base) / CLOCK_TICKS)
        return [before, row] if first else [row]
