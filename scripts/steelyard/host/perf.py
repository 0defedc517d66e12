# SPDX-License-Identifier: Apache-2.0
"""What `perf stat` can count on this host, and what the doctor says of it."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.system import Seen, System
from steelyard.measure.counted import Counter
from steelyard.processes.environment import ask

_KERNEL = "proc/sys/kernel/"
_DEVICES = "sys/bus/event_source/devices"
_PMU = re.compile(r"cpu|cpu_core|armv\d.*|arm.*pmu.*")
_TIME_LIMIT = 60
"""Seconds."""


def event_of(counter: Counter, units: Collection[str] = ()) -> str | None:
    """The event of a counter that this host can count; None: none of them.

    Args:
        counter: what is to be counted.
        units: on a hybrid processor those of the servers' cores.

    Raises:
        MissingRequirement: no perf, or cores of several units.
    """
    names = (counted_name(event, _try_event(event), units) for event in counter.events)
    return next(filter(None, names), None)


def counted_name(event: str, rows: str, units: Collection[str]) -> str | None:
    """The name by which perf counts an event here, the kernel's part included; None: it does not.

    On a hybrid processor perf makes an event of each unit of it (`cpu_core/cycles/`, `cpu_atom/cycles/`), which counts
    a process while it runs on that unit's cores; counts of several cannot be added, as perf scales each to the whole
    time (perf-stat(1), INTEL HYBRID SUPPORT).

    Args:
        event: as `COUNTERS` has it.
        rows: what `perf stat -x,` wrote when it was asked for the event.
        units: those of the servers' cores.

    Raises:
        MissingRequirement: the servers' cores are of several units.
    """
    counts = {row[2]: row[0] for row in (line.split(",") for line in rows.splitlines()) if len(row) > 2}
    if not counts.get(event, "<").startswith("<"):
        return event
    there = {f"{unit}/{event}/": unit for unit in units if f"{unit}/{event}/" in counts}
    # The command ran on one unit: what the others can count is `<not counted>`.
    if not any(not count.startswith("<") for name, count in counts.items() if f"/{event}/" in name):
        return None
    if len(there) > 1:
        raise MissingRequirement(
            f"the servers run on cores of {' and '.join(sorted(there.values()))}, each of which counts alone: give them"
            " cores of one kind (`taskset`)"
        )
    return next((name for name in there if counts[name] != "<not supported>"), None)


@cache
def _try_event(event: str) -> str:
    """What perf writes of an event of a short command."""
    return try_perf(["perf", "stat", "-x,", "-e", event, "--", "true"], _TIME_LIMIT).stderr


def try_perf(command: Sequence[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Run a command of perf that tells what it can do here.

    Args:
        command: with its arguments.
        limit: seconds that it may take.

    Raises:
        MissingRequirement: there is no perf, or it does not end.
    """
    try:
        return ask(command, limit)
    except FileNotFoundError as error:
        raise MissingRequirement("there is no perf here: install linux-perf or linux-tools") from error
    except subprocess.TimeoutExpired as error:
        raise MissingRequirement(
            f"`{shlex.join(command)}` did not end within {limit:g} s: is the perf of this kernel installed?"
        ) from error


def counters(system: System) -> Seen:
    """`--counters` needs perf, and the processor's own counters, which kernels and hypervisors may keep to
    themselves."""
    devices = system.path(_DEVICES)
    has_pmu = devices.is_dir() and any(_PMU.fullmatch(device.name) for device in devices.iterdir())
    paranoid = system.number(f"{_KERNEL}perf_event_paranoid")
    here = system.root == Path("/")
    if here and shutil.which("perf") is None:
        return Seen("no perf", "info", "apt install linux-perf   (only for --counters)")
    if paranoid is None:
        return Seen(
            "the kernel has no events", "info", "a kernel with CONFIG_PERF_EVENTS (only for --counters)"
        )
    if paranoid > 1 and not (here and os.geteuid() == 0):
        return Seen(
            f"kernel.perf_event_paranoid is {paranoid}: the kernel's part is not counted",
            "info",
            "sudo sysctl kernel.perf_event_paranoid=1   (only for --counters)",
        )
    if not has_pmu:
        return Seen(
            "the kernel's events alone: no counters of the processor are to be seen",
            "info",
            "in a virtual machine: have its host pass the performance counters on (only for --counters)",
        )
    if system.number(f"{_KERNEL}nmi_watchdog"):
        return Seen(
            "the kernel's watchdog takes one of the processor's counters",
            "info",
            "sudo sysctl kernel.nmi_watchdog=0   (only for --counters)",
        )
    return Seen("events of kernel and processor")
