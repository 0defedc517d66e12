# SPDX-License-Identifier: Apache-2.0
"""Which profilers a session may have: what cannot work here is refused before its first trial."""

from collections.abc import Iterable, Sequence
from typing import get_args

from steelyard.errors import BadInput, MissingRequirement
from steelyard.host.perf import try_perf
from steelyard.results.schema import Profiler
from steelyard.results.spec import Spec
from steelyard.session.async_profiler import EVENTS, require_library

FREQUENCY = 99
"""Samples/s of perf; not in step with the kernel's ticks (perf-record(1))."""
RECORD_COMMAND = ["perf", "record", "--all-cpus", "--call-graph", "fp", "--freq", str(FREQUENCY)]
RECORD_COMMAND += ["--clockid", "CLOCK_MONOTONIC"]
"""Stacks by time; of the clocks that a counter of the processor may use (perf-record(1)) the one that Python has."""

_TIME_LIMIT = 30.0
"""Seconds that a trial recording may take."""


def require_profilers(names: Sequence[str], specs: Iterable[Spec], *, searches: bool) -> list[Profiler]:
    """The profilers of these names, each once; what cannot work is refused before the first trial.

    Raises:
        BadInput: a profiler that an arm's JVM or engine does not have, or a search.
        MissingRequirement: perf is not there, or may not record here.
    """
    profilers = [profiler for profiler in get_args(Profiler) if profiler in names]
    if unknown := set(names) - set(profilers):
        raise BadInput(f"--profile {min(unknown)}: choose {', '.join(get_args(Profiler))}")
    if profilers and searches:
        raise BadInput(
            "--profile: no trial of a search stands for an arm: profile a run at the value that it found"
        )
    for spec in specs if profilers else ():
        _require_fit(profilers, spec)
    if "perf" in profilers:
        _require_perf()
    for event in EVENTS:
        if event in profilers:
            require_library(event)
    return profilers


def _require_fit(profilers: Sequence[Profiler], spec: Spec) -> None:
    jvms = (server.artifact.jvm for server in spec.servers)
    kinds = {jvm.kind if jvm is not None else None for jvm in jvms}
    if "jfr" in profilers and kinds != {"hotspot"}:
        raise BadInput(
            f"--profile jfr: arm {spec.arm} does not run on HotSpot: choose perf, or javacore on OpenJ9"
        )
    if "lock" in profilers and "openj9" in kinds:
        # async-profiler/async-profiler#1424 and eclipse-openj9/openj9#22337, both open.
        raise BadInput(
            f"--profile lock: async-profiler's lock events end an OpenJ9 ({spec.arm}): choose wall, or javacore"
        )
    if "javacore" in profilers and kinds != {"openj9"}:
        raise BadInput(f"--profile javacore: arm {spec.arm} does not run on OpenJ9: choose jfr or perf")
    if spec.remote:
        raise BadInput(f"--profile: the servers of arm {spec.arm} run elsewhere: choose another engine")
    if None in kinds:
        raise BadInput(f"--profile: the JVM of arm {spec.arm} does not tell what it is")
    if spec.engine != "process" and set(profilers) - {"jfr"}:
        raise BadInput(
            f"--profile {min(set(profilers) - {'jfr'})} needs servers without containers ({spec.arm}): choose jfr"
        )


def _require_perf() -> None:
    try:
        tried = try_perf([*RECORD_COMMAND, "--output", "/dev/null", "true"], _TIME_LIMIT)
    except MissingRequirement as error:
        raise MissingRequirement(f"--profile perf: {error}") from error
    if tried.returncode != 0:
        said = next((line.strip() for line in tried.stderr.splitlines() if line.strip()), "no reason given")
        raise MissingRequirement(
            f"--profile perf: perf cannot record this host ({said}): run as root, or lower kernel.perf_event_paranoid"
        )
