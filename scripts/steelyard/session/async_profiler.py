# SPDX-License-Identifier: Apache-2.0
"""Sampling profiles by async-profiler, an agent in the server's JVM: stacks with their cost, a file a slice of time.

The agent starts with the JVM and writes what it has every `SLICE` seconds in its collapsed format (a line is a stack,
outermost frame first, and its cost); the slices that lie in the measured window are kept.
"""

import platform
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from steelyard.errors import MissingRequirement
from steelyard.jvm.rows import FOLDER
from steelyard.results.profile import INTERVALS
from steelyard.results.schema import Event, Profiler

EVENTS: tuple[Event, ...] = get_args(Event)
SLICE = 2.0
"""Seconds between two files."""
PACKAGE = "profiler"
"""The package of the build that holds the libraries."""
_PLATFORMS = {"x86_64": "linux-x64", "aarch64": "linux-arm64"}
_NAME = re.compile(r"(cpu|alloc|lock|wall)-(\d+)\.collapsed")


def require_library(event: str) -> str:
    """Path of the library in its package on this machine (raises MissingRequirement: there is none for it)."""
    machine = platform.machine()
    if machine not in _PLATFORMS:
        raise MissingRequirement(
            f"--profile {event}: async-profiler has no library for {machine}: choose jfr or perf"
        )
    return f"{_PLATFORMS[machine]}/libasyncProfiler.so"


def agent_option(event: Event, library: Path) -> str:
    """The JVM's option. Lambdas and hidden classes have the same name in each run (`norm`), kernel frames and compiled
    methods an annotation (`ann`); where perf events are closed, `cpu` samples by timers of threads (async-profiler's
    documentation, ProfilerOptions and CpuSamplingEngines)."""
    file = f"{FOLDER}/logs/{event}-%n.collapsed"
    options = f"start,event={event},interval={INTERVALS[event]},loop={SLICE:g}s,collapsed,total,ann,norm,file={file}"
    return f"-agentpath:{library}={options},log={FOLDER}/logs/async-profiler.log"


def keep_slices(event: Event, logs: Path, window: tuple[float, float], kept: Path) -> list[str]:
    """Copy the slices of a server that lie in the window.

    Args:
        logs: the server's folder.
        window: epoch seconds.
        kept: folder that gets them.

    Returns:
        Their names, in order of time.
    """
    start, end = window
    slices = sorted(
        (path.stat().st_mtime, path)
        for path in logs.glob("*.collapsed")
        if (named := _NAME.fullmatch(path.name)) and named[1] == event
    )
    inside = [path for written, path in slices if start + SLICE <= written <= end + 0.5]
    kept.mkdir(parents=True, exist_ok=True)
    for path in inside:
        shutil.copy(path, kept / path.name)
    return [path.name for path in inside]


def passes(profilers: Sequence[Profiler]) -> list[list[Profiler]]:
    """Which profilers watch one trial together: of async-profiler's events each has one of its own."""
    others = [name for name in profilers if name not in EVENTS]
    alone: list[list[Profiler]] = [[name] for name in profilers if name in EVENTS]
    return [others, *alone] if others else alone
