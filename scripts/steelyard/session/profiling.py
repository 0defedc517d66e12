# SPDX-License-Identifier: Apache-2.0
"""Profiles on demand: after the last block one more trial of each arm, labelled, watched by profilers, in no average.

An arm's spec with the profilers' options -> the arm's own procedure, which perf records and a dump is asked of
-> `profiles/ARM/PROFILERS/` (recordings, what perf says of them as text, slices of async-profiler); logs in
`trials/profile-ARM-PROFILERS/`. Of async-profiler's events each has a trial of its own, the others share one.
"""

import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any

from steelyard.build import BUILDS
from steelyard.engines.base import Engine
from steelyard.errors import ServerFailed
from steelyard.jvm.rows import FOLDER
from steelyard.measure.ledger import voiding_checks
from steelyard.processes import Child, Children
from steelyard.processes.environment import ask
from steelyard.results.profile import RECORD, Profile
from steelyard.results.schema import ArmRecord, Event, Phase, Planned, Profiler, Session, Trial
from steelyard.results.spec import Component, Spec
from steelyard.results.store import SessionDirectory, write_folder, write_record
from steelyard.session.async_profiler import (
    EVENTS,
    PACKAGE,
    agent_option,
    keep_window,
    passes,
    require_library,
    slice_seconds,
)
from steelyard.session.caches import Caches
from steelyard.session.context import RunContext
from steelyard.session.evidence import TrialOutcome, gather, measure_outcome
from steelyard.session.perf_stacks import read_recording, slices_of
from steelyard.session.procedures import PROCEDURES
from steelyard.session.profilers import RECORD_COMMAND
from steelyard.session.trial import trial_record
from steelyard.session.trial_run import TrialFailedError, TrialRun, extra_run

_REPORT = [
    "perf",
    "report",
    "--stdio",
    "--no-children",
    "--no-inline",
    "--sort",
    "comm,dso,symbol",
    "--percent-limit",
    "0.5",
]
"""Inlined functions are named by a run of addr2line for each address, which takes minutes."""
_REPORT_LIMIT = 300.0
"""Seconds."""
_HOTSPOT_MAP = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PreserveFramePointer", "-XX:+DumpPerfMapAtExit"]
"""With frame pointers perf can walk Java's stacks, and with the map it names compiled methods (JDK 17 and later)."""
_OPENJ9_MAP = ["-XX:+MergeCompilerOptions", "-Xjit:perfTool"]
"""Merged, as a later `-Xjit` replaces an earlier one, that of `compile: foreground` for example."""
_OPENJ9_SLOW_ALLOCATION = "-Xgc:fvtest=disableInlineAllocation"
"""OpenJ9's fast path asks whether a sample is due before it adds an object's bytes, so that from compiled code a sample
names what is allocated next (J9AllocateIndexableObjectNoGC, runtime/gc_modron_startup/mgcalloc.cpp). The slow one asks
afterwards."""
_KEPT = ("*.jfr", "javacore*.txt")


@dataclass
class _Watch:
    """The profilers beside one trial."""

    spec: Spec
    folder: Path
    profilers: Sequence[Profiler]
    children: Children
    server_pids: Callable[[], dict[int, str]]
    """Processes of the servers, now, and whose they are."""
    perf: Child | None = None
    pids: dict[int, str] = field(default_factory=dict)
    """Of the servers' JVMs, once they have been under load; with the server of each."""

    def phase(self, phase: Phase) -> None:
        """Record what the procedure measures: of a start-up the start as well."""
        first = "start" if self.spec.procedure == "start-up" else "measure"
        if phase == first and "perf" in self.profilers:
            command = [*RECORD_COMMAND, "--output", str(self.folder / "perf.data")]
            self.perf = self.children.spawn(
                "perf", command, console=self.folder / "logs" / "perf.log", cwd=self.folder
            )
        if phase == "stop":  # under load still: the injectors stop in this phase
            self.pids = {pid: name for pid, name in self.server_pids().items() if _is_java(pid)}
            for pid in self.pids if "javacore" in self.profilers else ():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGQUIT)
            self.end()

    def end(self) -> None:
        """End perf, which then writes what it has."""
        if self.perf is not None:
            self.children.stop([self.perf], grace=30.0)
            self.perf = None


@dataclass(frozen=True)
class Profiles:
    """The profiling trials of a session."""

    directory: SessionDirectory
    engines: Mapping[str, Engine]
    context: RunContext
    set_host: Callable[[int, Spec], None]
    """Brings the host into the state that an arm wants; by the arm's number."""

    def make(self, session: Session) -> None:
        """Make the profiles that the session asks for and does not have; one that fails is told, and ends nothing."""
        for start in range(1, session.profile_starts + 1):  # of one arm after the other's: hosts drift
            for number, arm in enumerate(session.arms):
                for together in passes(session.profilers):
                    if start == 1 or together[0] in EVENTS:
                        self._make_one(number, arm, together, start)

    def _make_one(self, number: int, arm: ArmRecord, profilers: Sequence[Profiler], start: int) -> None:
        names = "-".join(profilers) + (f"-{start}" if start > 1 else "")
        if (self.directory.path / "profiles" / arm.name / names).exists():
            return
        self.context.watcher.note(f"profiling {arm.name} ({names}); in no average")
        self.directory.log(self.context.clock.time(), "profile", arm=arm.name)
        try:
            self.set_host(number, arm.spec)
            self._make(arm.spec, profilers, names, start)
        except (TrialFailedError, ServerFailed) as failure:
            self.context.watcher.note(f"there is no profile of {arm.name} ({names}): {failure}")

    def _make(self, plain: Spec, profilers: Sequence[Profiler], names: str, start: int) -> None:
        name = f"profile-{plain.arm}-{names}"
        folder = self.directory.trials_path / name
        spec = self._with_profilers(plain, profilers)
        servers = {server.name for server in spec.servers}

        def server_pids() -> dict[int, str]:
            started = (each for each in run.deployment.started_components() if each.name in servers)
            return {pid: component.name for component in started for pid in component.pids}

        watch = _Watch(spec, folder, profilers, self.context.children, server_pids)
        with extra_run(self.directory, self.engines, self.context, name, spec, watch.phase) as run:
            caches = Caches(self.directory, self.engines, self.context)
            caches.populate(plain)
            try:
                PROCEDURES[spec.procedure](run, lambda: caches.install(spec, run.deployment))
                if (event := profilers[0]) in EVENTS:
                    self._keep_slices(event, start, names, run)
                else:
                    logs = {server: run.deployment.logs(server) for server in sorted(servers)}
                    keep_stacks = partial(self._keep_stacks, run, watch.pids)
                    self._keep(f"{spec.arm}/{names}", folder, list(logs.values()), watch.pids, keep_stacks)
            finally:
                watch.end()

    def _with_profilers(self, plain: Spec, profilers: Sequence[Profiler]) -> Spec:
        """An arm's spec with the profilers' options for its servers alone: async-profiler ends a JITServer, which tells
        JVMTI of methods that are a client's (seen on OpenJ9 21.0.13: at the first compilation)."""
        libraries, seconds = self._library(plain), slice_seconds(plain.procedure)

        def with_options(component: Component) -> dict[str, list[str]]:
            options = _options(component, profilers, libraries, seconds)
            return {"jvm_options": [*component.jvm_options, *options]}

        return plain.with_changes("server", with_options)

    def _library(self, spec: Spec) -> Path:
        """The package of async-profiler in the build that the injectors are of."""
        build = next(injector.artifact.build for injector in spec.injectors)
        return BUILDS / str(build) / PACKAGE

    def _keep_slices(self, event: Event, start: int, names: str, run: TrialRun) -> None:
        """Keep the slices of the measured window, and what the trial measured beside them."""
        spec = run.spec
        with write_folder(self.directory.path / "profiles" / spec.arm / names) as kept:
            logs = {part.name: run.deployment.logs(part.name) for part in spec.servers}
            slices = keep_window(event, spec, logs, run.window, kept)
            self._write_profile(kept, run, slices, event=event, start=start)

    def _write_profile(self, kept: Path, run: TrialRun, slices: dict[str, list[str]], **more: Any) -> None:
        """Write the record of a profile beside its slices."""
        spec, outcome = run.spec, measure_outcome(gather(run))
        figures = outcome.measurement
        measured = (figures.value("window_server_rate") or figures.window_injector_rate) if figures else None
        record = Profile(
            arm=spec.arm,
            slice_seconds=slice_seconds(spec.procedure),
            slices=slices,
            per="start" if spec.procedure == "start-up" else "requests",
            request_rate=measured,
            **vars(profiling_cost(spec, outcome, self.directory.trials())),
            **more,
        )
        write_record(kept / RECORD, record)

    def _keep_stacks(self, run: TrialRun, servers: Mapping[int, str], data: Path, kept: Path) -> None:
        """Keep the stacks of a recording as a profile of CPU time, where async-profiler makes none in this session."""
        if "cpu" in self.directory.session().profilers or not servers:
            return
        clock = self.context.clock
        ahead = clock.time() - clock.monotonic()
        window = (run.window[0] - ahead, run.window[1] - ahead)
        is_start, seconds = run.spec.procedure == "start-up", slice_seconds(run.spec.procedure)
        try:
            script = read_recording(data, servers, _REPORT_LIMIT)
        except ServerFailed as failure:
            self.context.watcher.note(f"perf.data of {run.spec.arm} has no flame graph: {failure}")
            return
        slices: dict[str, list[str]] = {}
        for server, texts in slices_of(script, servers, window, seconds, is_start).items():
            (kept / server).mkdir()
            for number, text in enumerate(texts):
                (kept / server / f"cpu-{number}.collapsed").write_text(text, encoding="utf-8")
                slices.setdefault(server, []).append(f"cpu-{number}.collapsed")
        self._write_profile(kept, run, slices, event="cpu", sampler="perf")

    def _keep(
        self,
        arm: str,
        folder: Path,
        logs: Sequence[Path],
        pids: Collection[int],
        keep_stacks: Callable[[Path, Path], None] = lambda _data, _kept: None,
    ) -> None:
        """Move what was recorded to `profiles/ARM/PROFILERS/`, under the names of the servers."""
        with write_folder(self.directory.path / "profiles" / arm) as kept:
            for log in logs:
                for path in [path for pattern in _KEPT for path in sorted(log.glob(pattern))]:
                    shutil.move(path, kept / f"{log.parent.name}-{path.name}")
            data = folder / "perf.data"
            if data.exists():
                (kept / "perf.txt").write_text(_perf_report(data), encoding="utf-8")
                keep_stacks(data, kept)
                shutil.move(data, kept / data.name)
            for path in (Path(f"/tmp/perf-{pid}.map") for pid in pids):
                if path.exists():
                    shutil.move(path, kept / path.name)
            if not any(kept.iterdir()):
                raise ServerFailed(f"the profilers left nothing: see {folder / 'logs'} and {logs[0]}")


@dataclass(frozen=True)
class ProfilingCost:
    """What profiling changed in a trial: fields of `Profile`."""

    throughput_change: float | None
    cpu_change: float | None
    failed_checks: list[str]


def profiling_cost(spec: Spec, outcome: TrialOutcome, trials: Sequence[Trial]) -> ProfilingCost:
    """What profiling changed in a trial, against the mean of its arm's valid trials.

    The servers' CPU is held against theirs as well: under an open load, or with think times, throughput is the load's.
    """
    place = Planned(order=0, block=0, arm=spec.arm)
    metrics = trial_record(place, spec, outcome, 0.0, {}).metrics

    def change(name: str) -> float | None:
        usual = [
            trial.metrics[name]
            for trial in trials
            if trial.arm == spec.arm and trial.state == "valid" and name in trial.metrics
        ]
        return metrics[name] / fmean(usual) - 1 if name in metrics and usual and fmean(usual) else None

    return ProfilingCost(
        change("throughput"),
        change("start_cpu" if spec.procedure == "start-up" else "cpu_per_1k"),
        [check.name for check in voiding_checks(outcome.checks)],
    )


def _options(
    component: Component, profilers: Sequence[Profiler], libraries: Path, seconds: float
) -> list[str]:
    """What a JVM needs to be told, so that it can be profiled.

    Sources: the `java` command's manual (JDK 17: StartFlightRecording, DumpPerfMapAtExit); OpenJ9 documentation
    (-Xjit, perfTool; -Xdump).
    """
    options = []
    jvm = component.artifact.jvm
    is_openj9 = jvm is not None and jvm.kind == "openj9"
    if "jfr" in profilers:
        file = f"{FOLDER}/logs/profile.jfr"
        options.append(f"-XX:StartFlightRecording=settings=profile,dumponexit=true,filename={file}")
    if "perf" in profilers:
        options += _OPENJ9_MAP if is_openj9 else _HOTSPOT_MAP
    if "javacore" in profilers:
        options.append(f"-Xdump:java:events=user,file={FOLDER}/logs/javacore.%seq.txt")
    for event in EVENTS:
        if event in profilers:
            options.append(agent_option(event, libraries / require_library(event), seconds))
            if event == "alloc" and is_openj9:
                options.append(_OPENJ9_SLOW_ALLOCATION)
    return options


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "java"
    except OSError:
        return False


def _perf_report(data: Path) -> str:
    """What perf makes of a recording, as text; compiled methods by the map that the JVM left. A sentence where that
    takes too long."""
    try:
        report = ask([*_REPORT, "--input", str(data)], _REPORT_LIMIT)
    except subprocess.TimeoutExpired:
        words = shlex.join([*_REPORT, "--input", data.name])
        return f"`{words}` did not end within {_REPORT_LIMIT:g} s: run it here, beside {data.name}\n"
    return report.stdout or report.stderr
