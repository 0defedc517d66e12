# SPDX-License-Identifier: Apache-2.0
"""CPU time of the whole host."""

import os
import zlib
from pathlib import Path
from typing import NamedTuple

from steelyard.sampling.procfs import CLOCK_TICKS


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
    for name in ("proc/config.gz", f"boot/config-{release}", f"lib/modules/{release}/config"):
        try:
            raw = (root / name).read_bytes()
        except OSError:
            continue
        lines = (zlib.decompress(raw, wbits=31) if name.endswith(".gz") else raw).split(b"\n")
        return b"CONFIG_IRQ_TIME_ACCOUNTING=y" in lines or b"CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y" in lines
    return True
