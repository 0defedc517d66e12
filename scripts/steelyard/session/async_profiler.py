# SPDX-License-Identifier: Apache-2.0
"""Sampling profiles by async-profiler, an agent in the server's JVM: stacks with their cost, a file a slice of time.

The agent starts with the JVM and writes what it has every few seconds in its collapsed format (a line is a stack,
outermost frame first, and its cost); the slices that lie in the measured window are kept, of a start-up also the one in
which it ends.
"""

import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import get_args

from steelyard.errors import MissingRequirement, ServerFailed
from steelyard.experiment.schema import ProcedureName
from steelyard.jvm.rows import FOLDER
from steelyard.results.profile import INTERVALS
from steelyard.results.schema import Event, Profiler
from steelyard.results.spec import Spec

EVENTS: tuple[Event, ...] = get_args(Event)
SLICE, START_SLICE = 2.0, 1.0
"""Seconds between two files, and of a start-up: the profiler takes whole seconds alone (Arguments::parseTimeout)."""
WHOLE = 0.9
"""Share of its length above which a slice is whole: files are written some milliseconds late, never early."""
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


def slice_seconds(procedure: ProcedureName) -> float:
    """Seconds between two files."""
    return START_SLICE if procedure == "start-up" else SLICE


def agent_option(event: Event, library: Path, seconds: float = SLICE) -> str:
    """The JVM's option, for slices of so many seconds. Lambdas and hidden classes have the same name in each run
    (`norm`), kernel frames and compiled methods an annotation (`ann`); where perf events are closed, `cpu` samples by
    timers of threads (async-profiler's documentation, ProfilerOptions and CpuSamplingEngines)."""
    file = f"{FOLDER}/logs/{event}-%n.collapsed"
    options = f"start,event={event},interval={INTERVALS[event]},loop={seconds:g}s,collapsed,total,ann,norm,file={file}"
    return f"-agentpath:{library}={options},log={FOLDER}/logs/async-profiler.log"


def keep_slices(
    event: Event, logs: Path, window: tuple[float, float], kept: Path, procedure: ProcedureName = "steady"
) -> list[str]:
    """Copy the slices of a server that lie in the window; of a start-up also the one that holds its end.

    Args:
        logs: the server's folder.
        window: epoch seconds.
        kept: folder that gets them.
        procedure: of the trial.

    Returns:
        Their names, in order of time.
    """
    start, end = window
    slices = sorted(
        (path.stat().st_mtime, path)
        for path in logs.glob("*.collapsed")
        if (named := _NAME.fullmatch(path.name)) and named[1] == event
    )
    seconds = slice_seconds(procedure)
    # The last one is cut short where its JVM ends: it begins with the end of the one before, and in a window it would
    # count as so many seconds of requests that cost nothing.
    ends = [0.0, *(written for written, _ in slices)]
    inside = [
        path
        for before, (written, path) in zip(ends, slices, strict=False)
        if (start + seconds <= written <= end + 0.5 and written - before > WHOLE * seconds)
        or (procedure == "start-up" and start < written and max(before, written - seconds) < end)
    ]
    kept.mkdir(parents=True, exist_ok=True)
    for path in inside:
        shutil.copy(path, kept / path.name)
    return [path.name for path in inside]


def keep_window(
    event: Event, spec: Spec, logs: Mapping[str, Path], window: tuple[float, float], kept: Path
) -> dict[str, list[str]]:
    """Copy the slices of a trial's servers.

    Args:
        logs: folder of each server.
        window: epoch seconds.
        kept: folder that gets them, each in one of its own.

    Returns:
        Their names by component, in order of time.

    Raises:
        ServerFailed: a server has none: what the others did is not the arm's profile.
    """
    slices = {
        name: keep_slices(event, logs[name], window, kept / name, spec.procedure) for name in sorted(logs)
    }
    for name, files in slices.items():
        if not files:
            length = "" if spec.procedure == "start-up" else f", which has to be {2 * SLICE:g} s long"
            raise ServerFailed(
                f"async-profiler left no slice of the window of {name}{length}: see {logs[name]}"
            )
    return slices


def profiled_trials(profilers: Sequence[Profiler], starts: int) -> int:
    """Trials that profile an arm: async-profiler's events are watched over several starts, the others once."""
    return sum(starts if together[0] in EVENTS else 1 for together in passes(profilers))


def passes(profilers: Sequence[Profiler]) -> list[list[Profiler]]:
    """Which profilers watch one trial together: of async-profiler's events each has one of its own."""
    others = [name for name in profilers if name not in EVENTS]
    alone: list[list[Profiler]] = [[name] for name in profilers if name in EVENTS]
    return [others, *alone] if others else alone
