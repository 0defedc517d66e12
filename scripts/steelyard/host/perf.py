# SPDX-License-Identifier: Apache-2.0
"""What `perf stat` can count on this host, and what the doctor says of it."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from steelyard.errors import MissingRequirement
from steelyard.host.system import Seen, System
from steelyard.measure.counted import Counter
from steelyard.processes.environment import child_environment

_KERNEL = "proc/sys/kernel/"
_DEVICES = "sys/bus/event_source/devices"
_PMU = re.compile(r"cpu|cpu_core|armv\d.*|arm.*pmu.*")
_TIME_LIMIT = 60
"""Seconds."""


def event_of(counter: Counter) -> str | None:
    """The event of a counter that this host can count; None: none of them (raises MissingRequirement: no perf)."""
    return next((event for event in counter.events if _is_counted(event)), None)


@cache
def _is_counted(event: str) -> bool:
    """Whether perf counts an event here, the kernel's part included."""
    tried = try_perf(["perf", "stat", "-x,", "-e", event, "--", "true"], _TIME_LIMIT)
    rows = [line.split(",") for line in tried.stderr.splitlines()]
    return any(len(row) > 2 and row[2] == event and not row[0].startswith("<") for row in rows)


def try_perf(command: Sequence[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Run a command of perf that tells what it can do here.

    Args:
        command: with its arguments.
        limit: seconds that it may take.

    Raises:
        MissingRequirement: there is no perf, or it does not end.
    """
    try:
        return subprocess.run(
            command, env=child_environment(), capture_output=True, text=True, timeout=limit, check=False
        )
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
