# SPDX-License-Identifier: Apache-2.0
"""One process of a component, and what of it is in the figures of others."""

from steelyard.sampling.procfs import (
    CLOCK_TICKS,
    ENDED_STATES,
    ProcFile,
    Stat,
    Totals,
    cpu_clock,
    has_large_pages,
    parse_stat,
    status_number,
)
from steelyard.sampling.threads import RunQueue, Threads

_SHAPE = (b"VmSize", b"VmData", b"VmStk", b"VmExe", b"VmLib")


class ComponentProcess:
    """One process of a component."""

    def __init__(self, pid: int, role: str) -> None:
        self.pid = pid
        self._stat = ProcFile(f"/proc/{pid}/stat")
        self._status = ProcFile(f"/proc/{pid}/status")
        self._rollup = ProcFile(f"/proc/{pid}/smaps_rollup")
        self.threads = Threads(pid) if role == "server" else None
        self.run_queue = RunQueue(pid) if role == "injector" else None
        self.stat: Stat | None = None
        self.status: bytes | None = None
        """None: it has ended, or does not tell."""
        self.exact = 0.0
        """CPU seconds, of itself."""
        self.known = Totals()
        """What its ended children had used when the component was read before."""
        self.credited = Totals()
        """What of theirs since then is known to be that of processes that were seen."""
        self.buried = False
        """Whether processes that were seen ended below it since then. More than was seen of them may be theirs too:
        what they did between their last reading and their end."""
        self.inherited = Totals()
        """What ended children had used that it may have taken note of after its last reading, of which there is none
        more."""
        self.borrows = False
        """Whether its memory is still that of the process that started it."""
        self.switched = [0, 0]
        self.waited: float | None = None

    @property
    def alive(self) -> bool:
        """Whether it had not ended when it was read."""
        return self.stat is not None and self.stat.state not in ENDED_STATES

    @property
    def count(self) -> int:
        """Its threads. More than are known yet at first, so that the first reading already lists them: a window may
        begin there."""
        return self.stat.threads if self.stat is not None else 1

    def read(self) -> bool:
        """Whether it is there; what was read before stays if not."""
        line = self._stat.read()
        if line is None:
            return False
        self.stat = parse_stat(line)
        self.status = self._status.read(4096) if self.alive else None
        self.exact = cpu_clock(self.pid) or self.stat.own.cpu / CLOCK_TICKS
        return True

    def rss(self) -> int | None:
        """Resident bytes with the large-page pool's, which the kernel's own RSS leaves out."""
        return _memory(self.status, b"VmRSS", b"HugetlbPages")

    def pss(self) -> int | None:
        """Proportional memory in bytes, the large-page pool included. Dear: the kernel walks all page tables."""
        return _memory(self._rollup.read(4096), b"Pss", b"Private_Hugetlb", b"Shared_Hugetlb")

    @property
    def shape(self) -> list[int | None]:
        """Sizes of the parts of its memory, which hardly two processes have alike."""
        return [status_number(self.status, field) for field in _SHAPE] if self.status is not None else []

    def close(self) -> None:
        """Give the files back."""
        for file in (self._stat, self._status, self._rollup):
            file.close()
        if self.threads is not None:
            self.threads.close()
        if self.run_queue is not None:
            self.run_queue.close()


def _memory(content: bytes | None, first: bytes, *large: bytes) -> int | None:
    """Bytes of all fields together; None where one is not there: what is not told is not 0. Those of large pages may be
    missing where there are none."""
    if content is None:
        return None
    sizes = [status_number(content, field) for field in (first, *large)]
    missing = [field for field, size in zip((first, *large), sizes, strict=True) if size is None]
    if first in missing or (
        missing and (has_large_pages() or any(b"\n%s:" % field in content for field in missing))
    ):
        return None
    return sum(size for size in sizes if size is not None) * 1024
