# SPDX-License-Identifier: Apache-2.0
"""Reading of /proc at little cost: files are opened once and read again with `pread`.

A file below /proc/PID that is held open belongs to that very process: when the process has ended it reads
as gone, even if the number was given to another process since.
"""

import os
import resource
import time
import zlib
from functools import cache
from pathlib import Path
from typing import NamedTuple

CLOCK_TICKS = os.sysconf("SC_CLK_TCK")
ENDED_STATES = (b"Z", b"X", b"x")
"""Of a process that is gone or only waits to be reaped."""
_SPARE_FILES = 128  # left for sockets, tables and the interpreter


class ProcFile:
    """One file below /proc, held open unless this process holds nearly as many as it may."""

    __slots__ = ("_fd", "_keep", "_path")

    def __init__(self, path: str, keep: bool = True) -> None:
        self._path = path
        self._keep = keep
        self._fd = -1

    def read(self, size: int = 1024) -> bytes | None:
        """Content from the start, at most `size` bytes; None when the process is gone or may not be read."""
        try:
            if self._fd >= 0:
                return os.pread(self._fd, size, 0) or None
            fd = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
            if self._keep and (most == resource.RLIM_INFINITY or fd < most - _SPARE_FILES):
                self._fd = fd
                return os.pread(fd, size, 0) or None
            try:
                return os.pread(fd, size, 0) or None
            finally:
                os.close(fd)
        except OSError:
            return None

    def close(self) -> None:
        """Give the file back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def __del__(self) -> None:
        """Whoever looked at a process for a moment holds none of its files for the rest of the session."""
        self.close()


class Totals(NamedTuple):
    """What processes have used since they began; CPU in clock ticks."""

    user: int = 0
    system: int = 0
    minor_faults: int = 0
    major_faults: int = 0

    def plus(self, other: "Totals") -> "Totals":
        """The sum of both."""
        return Totals(*(mine + theirs for mine, theirs in zip(self, other, strict=True)))

    def beyond(self, other: "Totals") -> "Totals":
        """What there is more than in the other; of what is less, 0."""
        return Totals(*(max(0, mine - theirs) for mine, theirs in zip(self, other, strict=True)))

    @property
    def cpu(self) -> int:
        """CPU of both kinds."""
        return self.user + self.system


class Stat(NamedTuple):
    """The fields of /proc/PID/stat that are used; times in clock ticks since boot or of CPU."""

    state: bytes
    parent: int
    own: Totals
    children: Totals
    """Of children that have ended and were waited for, and of theirs; `exec` keeps it."""
    threads: int
    start: int


def boot_id() -> str:
    """What tells one running kernel from all others: what reads the same one shares its CPUs and its clock."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def parse_stat(line: bytes) -> Stat:
    """Read /proc/PID/stat (proc(5)); the name in it may hold spaces and brackets (raises ValueError: not such a line,
    or one that was cut off)."""
    state, *rest = line[line.rindex(b")") + 2 :].split(b" ", 20)
    if len(rest) < 20 or len(state) != 1:
        raise ValueError(f"not a line of /proc/PID/stat: {line[:80]!r}")
    field = [0, *map(int, rest[:19])]  # by place after the state
    return Stat(
        state,
        field[1],
        Totals(field[11], field[12], field[7], field[9]),
        Totals(field[13], field[14], field[8], field[10]),
        field[17],
        field[19],
    )


def parse_comm_and_ticks(line: bytes) -> tuple[bytes, int]:
    """Name and CPU (user + system) in clock ticks of /proc/PID/task/TID/stat: the hot path, so nothing else (raises
    ValueError as `parse_stat`)."""
    end = line.rindex(b")")
    fields = line[end + 2 :].split(b" ", 13)
    if len(fields) < 14:
        raise ValueError(f"not a line of /proc/PID/task/TID/stat: {line[:80]!r}")
    return line[line.index(b"(") + 1 : end], int(fields[11]) + int(fields[12])


def status_number(status: bytes, field: bytes) -> int | None:
    """A number (sizes: KiB) of /proc/PID/status or smaps_rollup; None: it is not there as a whole line, in a form that
    is known."""
    at = status.find(b"\n" + field + b":")
    line, end, _ = status[at + len(field) + 2 :].partition(b"\n")
    words = line.split()
    if at < 0 or not end or not words or not words[0].isdigit() or words[1:] not in ([], [b"kB"]):
        return None
    return int(words[0])


@cache
def has_large_pages(root: Path = Path("/")) -> bool:
    """Whether this kernel has a pool of large pages, so that processes may have some of it."""
    try:
        return b"\nHugePages_Total:" in (root / "proc/meminfo").read_bytes()
    except OSError:
        return True


def parse_schedstat(content: bytes) -> tuple[int, int] | None:
    """Nanoseconds that a thread ran and waited for a CPU (the kernel's scheduler/sched-stats.rst); None: not told."""
    words = content.split()
    if len(words) != 3 or not content.endswith(b"\n") or not all(map(bytes.isdigit, words)):
        return None
    return int(words[0]), int(words[1])


def cpu_clock(pid: int) -> float | None:
    """CPU seconds of a process by its clock, to the nanosecond; None where there is none.

    /proc/PID/stat cuts user and system time to ticks of 10 ms each: in a window in which a handful of processes start,
    that is 50 ms that would seem to be somebody else's. The clock's number is that of clock_getcpuclockid(3), of which
    Python has only the one for threads: the complement of the id above three bits, 2 for the scheduler's account.
    """
    try:
        return time.clock_gettime(~pid << 3 | 2)
    except OSError:
        return None


class HostCpu(NamedTuple):
    """Cumulative CPU seconds over all CPUs since boot."""

    tasks: float
    """user, nice and system. What ran when the timer ticked, on most kernels: a sample."""
    interrupts: float
    """irq and softirq."""
    steal: float
    idle: float
    """idle and iowait; not a sample, but measured where the kernel stops its tick while idle (CONFIG_NO_HZ)."""

    @property
    def busy(self) -> float:
        """Not idle and not stolen."""
        return self.tasks + self.interrupts

    def used_seconds(self, seconds: float, cpus: int, *, interrupts_apart: bool) -> float:
        """CPU seconds of processes as what is left of the time that there was.

        The sum of user, nice and system is known to about half a tick times the square root of the number of ticks: on
        two half-busy CPUs 0.1 s in 5 s, as much as others may use. What idle CPUs leave is known to some milliseconds.

        Args:
            seconds: monotonic time of the reading.
            cpus: online CPUs.
            interrupts_apart: whether the time of interrupts is nobody's (`interrupts_apart`).
        """
        return seconds * cpus - self.idle - self.steal - (self.interrupts if interrupts_apart else 0.0)


def parse_host_cpu(line: bytes) -> HostCpu:
    """Read the first line of /proc/stat. Guest time is already in user and nice (proc(5)).

    Raises:
        ValueError: it is another line, or was cut off.
    """
    first, has_end, _ = line.partition(b"\n")
    if not has_end or not first.startswith(b"cpu "):
        raise ValueError(f"not the first line of /proc/stat: {line[:80]!r}")
    words = first.split()[1:]
    if len(words) < 10 or not all(
        map(bytes.isdigit, words)
    ):  # as since Linux 2.6.33: of fewer, which one is missing?
        raise ValueError(f"not the first line of /proc/stat: {line[:80]!r}")
    user, nice, system, idle, iowait, irq, softirq, steal = (int(x) / CLOCK_TICKS for x in words[:8])
    return HostCpu(user + nice + system, irq + softirq, steal, idle + iowait)


def interrupts_apart(root: Path = Path("/")) -> bool | None:
    """Whether this kernel's scheduler leaves interrupt time out of the clocks of processes (`cpu_clock`); None: it
    cannot be told.

    If it does, interrupt time is nobody's; if not, it is in the time of the processes that were interrupted, and has
    to be counted on both sides when what the watched processes used is taken from the host's total. It does with
    CONFIG_IRQ_TIME_ACCOUNTING alone (`update_rq_clock_task`): POWER's own CONFIG_VIRT_CPU_ACCOUNTING_NATIVE leaves it
    out of user and system time, and not out of the clock. By the kernel's configuration; where that cannot be read, as
    in many pods, by the names of the kernel's functions.
    """
    release = os.uname().release
    for name in ("proc/config.gz", f"boot/config-{release}", f"lib/modules/{release}/config"):
        try:
            raw = (root / name).read_bytes()
            lines = (zlib.decompress(raw, wbits=31) if name.endswith(".gz") else raw).split(b"\n")
        except (OSError, zlib.error):
            continue
        if any(option in lines for option in _ACCOUNTS):
            return b"CONFIG_IRQ_TIME_ACCOUNTING=y" in lines
    return _interrupts_have_functions(root)


_ACCOUNTS = (
    b"CONFIG_TICK_CPU_ACCOUNTING=y",
    b"CONFIG_VIRT_CPU_ACCOUNTING_NATIVE=y",
    b"CONFIG_VIRT_CPU_ACCOUNTING_GEN=y",
)
"""Of which every kernel has one (init/Kconfig, Cputime accounting): a configuration without it is not read as one."""
_ACCOUNTING = b" account_user_time"
"""A function of kernel/sched/cputime.c that every kernel has: a list without it is not the kernel's."""
_APART = b" irqtime_account_irq"
"""A function of a kernel with CONFIG_IRQ_TIME_ACCOUNTING."""


def _interrupts_have_functions(root: Path) -> bool | None:
    """The same by /proc/kallsyms, whose names everybody may read; None: there is no such list."""
    complete = apart = False
    try:
        with (root / "proc/kallsyms").open("rb") as file:
            for line in file:
                name = line.rstrip(b"\n")
                complete = complete or name.endswith(_ACCOUNTING)
                apart = apart or name.endswith(_APART)
    except OSError:
        return None
    return apart if complete else None
