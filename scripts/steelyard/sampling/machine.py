# SPDX-License-Identifier: Apache-2.0
"""What is read of the whole machine where a window begins and ends: how each CPU spent its time, and the CPU of
programs that forward the network of containers in user space, which belong to no trial and may limit it."""

from collections.abc import Iterator
from pathlib import Path

from steelyard.sampling.procfs import CLOCK_TICKS, ProcFile, cpu_clock, parse_stat

LINE_BYTES = 160
"""More than a CPU's line of /proc/stat has."""
FORWARDERS = (
    *("pasta", "passt", "slirp4netns", "rootlessport"),  # rootless podman; passt's fast build is pasta.avx2
    *("docker-proxy", "rootlesskit", "vpnkit", "gvproxy"),
)
"""Programs through which packets of containers go, as the kernel keeps their names (`comm`)."""


def parse_cpu_lines(content: bytes) -> dict[int, tuple[float, ...]]:
    """CPU seconds since boot by CPU, of /proc/stat: user with nice, system, irq, softirq, steal, idle with iowait.

    A last line that was cut off, and a CPU that tells fewer columns than Linux 2.6.33 does, is left out.
    """
    times: dict[int, tuple[float, ...]] = {}
    for line in content[: content.rfind(b"\n") + 1].split(b"\n"):
        name, *words = line.split()[:9] or [b""]
        if name.startswith(b"cpu") and name[3:].isdigit() and len(words) == 8:
            user, nice, system, idle, iowait, irq, softirq, steal = (
                int(word) / CLOCK_TICKS for word in words
            )
            times[int(name[3:])] = (user + nice, system, irq, softirq, steal, idle + iowait)
    return times


def forwarders(proc: Path = Path("/proc")) -> Iterator[tuple[str, float]]:
    """`NAME PID` and CPU seconds so far of each program that forwards a container's network on this machine."""
    for folder in proc.iterdir():
        if not folder.name.isdigit():
            continue
        name = (ProcFile(f"{folder}/comm", keep=False).read() or b"").decode(errors="replace").strip()
        if name.partition(".")[0] not in FORWARDERS:
            continue
        if (line := ProcFile(f"{folder}/stat", keep=False).read()) is not None:
            exact = cpu_clock(int(folder.name)) if proc == Path("/proc") else None
            yield f"{name} {folder.name}", exact or parse_stat(line).own.cpu / CLOCK_TICKS
