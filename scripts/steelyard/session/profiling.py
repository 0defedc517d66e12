# SPDX-License-Identifier: Apache-2.0
"""Profiles on demand: after the last block one more trial of each arm, labelled, watched by profilers, in no average.

An arm's spec with the profilers' options -> the arm's own procedure, which perf records and a dump is asked of
-> `profiles/ARM/` (recordings, and what perf says of them as text); logs in `trials/profile-ARM/`.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from steelyard.engines.base import Engine
from steelyard.errors import BadInput, MissingRequirement, ServerFailed
from steelyard.jvm.rows import FOLDER
from steelyard.processes import Child, Children, child_environment
from steelyard.results.schema import Phase, Profiler, Session
from steelyard.results.spec import Component, Spec
from steelyard.results.store import SessionDirectory, write_folder
from steelyard.session.caches import Caches
from steelyard.session.context import RunContext
from steelyard.session.procedures import PROCEDURES
from steelyard.session.trial_run import TrialFailedError, extra_run

FREQUENCY = 99
"""Samples/s of perf; not in step with the kernel's ticks (perf-record(1))."""
_RECORD = ["perf", "record", "--all-cpus", "--call-graph", "fp", "--freq", str(FREQUENCY)]
_REPORT = [
    "perf",
    "report",
    "--stdio",
    "--no-children",
    "--sort",
    "comm,dso,symbol",
    "--percent-limit",
    "0.5",
]
_HOTSPOT_MAP = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+PreserveFramePointer", "-XX:+DumpPerfMapAtExit"]
"""With frame pointers perf can walk Java's stacks, and with the map it names compiled methods (JDK 17 and later)."""
_OPENJ9_MAP = ["-XX:+MergeCompilerOptions", "-Xjit:perfTool"]
"""Merged, as a later `-Xjit` replaces an earlier one, that of `compile: foreground` for example."""
_KEPT = ("*.jfr", "javacore*.txt")


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
        jvms = (server.artifact.jvm for server in spec.servers)
        kinds = {jvm.kind if jvm is not None else None for jvm in jvms}
        if "jfr" in profilers and kinds != {"hotspot"}:
            raise BadInput(
                f"--profile jfr: arm {spec.arm} does not run on HotSpot: choose perf, or javacore on OpenJ9"
            )
        if "javacore" in profilers and kinds != {"openj9"}:
            raise BadInput(f"--profile javacore: arm {spec.arm} does not run on OpenJ9: choose jfr or perf")
        if spec.remote:
            raise BadInput(f"--profile: the servers of arm {spec.arm} run elsewhere: choose another engine")
        if None in kinds:
            raise BadInput(f"--profile: the JVM of arm {spec.arm} does not tell what it is")
        if spec.engine != "process" and set(profilers) - {"jfr"}:
            raise BadInput(
                f"--profile perf and javacore need servers without containers ({spec.arm}): choose jfr"
            )
    if "perf" in profilers:
        _require_perf()
    return profilers


def _require_perf() -> None:
    try:
        tried = subprocess.run(
            [*_RECORD, "--output", "/dev/null", "true"],
            env=child_environment(),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except FileNotFoundError as error:
        raise MissingRequirement(
            "--profile perf: there is no perf here: install linux-perf or linux-tools"
        ) from error
    if tried.returncode != 0:
        said = next((line.strip() for line in tried.stderr.splitlines() if line.strip()), "no reason given")
        raise MissingRequirement(
            f"--profile perf: perf cannot record this host ({said}): run as root, or lower kernel.perf_event_paranoid"
        )


@dataclass
class _Watch:
    """The profilers beside one trial."""

    spec: Spec
    folder: Path
    profilers: Sequence[Profiler]
    children: Children
    server_pids: Callable[[], list[int]]
    """Processes of the servers, now."""
    perf: Child | None = None
    pids: list[int] = field(default_factory=list)
    """Of the servers' JVMs, once they have been under load."""

    def phase(self, phase: Phase) -> None:
        """Record what the procedure measures: of a start-up the start as well."""
        first = "start" if self.spec.procedure == "start-up" else "measure"
        if phase == first and "perf" in self.profilers:
            command = [*_RECORD, "--output", str(self.folder / "perf.data")]
            self.perf = self.children.spawn(
                "perf", command, console=self.folder / "logs" / "perf.log", cwd=self.folder
            )
        if phase == "stop":  # under load still: the injectors stop in this phase
            self.pids = [pid for pid in self.server_pids() if _is_java(pid)]
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
        for number, arm in enumerate(session.arms):
            if session.profilers and not (self.directory.path / "profiles" / arm.name).exists():
                self.context.watcher.note(
                    f"profiling {arm.name} ({', '.join(session.profilers)}); in no average"
                )
                self.directory.log(self.context.clock.time(), "profile", arm=arm.name)
                try:
                    self.set_host(number, arm.spec)
                    self._make(arm.spec, session.profilers)
                except (TrialFailedError, ServerFailed) as failure:
                    self.context.watcher.note(f"there is no profile of {arm.name}: {failure}")

    def _make(self, plain: Spec, profilers: Sequence[Profiler]) -> None:
        name = f"profile-{plain.arm}"
        folder = self.directory.trials_path / name
        spec = plain.with_changes(
            "server",
            lambda server: {"jvm_options": [*server.jvm_options, *_options(server, profilers)]},
        )
        servers = {server.name for server in spec.servers}

        def server_pids() -> list[int]:
            started = (each for each in run.deployment.started_components() if each.name in servers)
            return [pid for component in started for pid in component.pids]

        watch = _Watch(spec, folder, profilers, self.context.children, server_pids)
        with extra_run(self.directory, self.engines, self.context, name, spec, watch.phase) as run:
            caches = Caches(self.directory, self.engines, self.context)
            caches.populate(plain)
            try:
                PROCEDURES[spec.procedure](run, lambda: caches.install(spec, run.deployment))
                logs = [run.deployment.logs(server) for server in sorted(servers)]
                self._keep(spec.arm, folder, logs, watch.pids)
            finally:
                watch.end()

    def _keep(self, arm: str, folder: Path, logs: Sequence[Path], pids: Sequence[int]) -> None:
        """Move what was recorded to `profiles/ARM/`, under the names of the servers."""
        with write_folder(self.directory.path / "profiles" / arm) as kept:
            for log in logs:
                for path in [path for pattern in _KEPT for path in sorted(log.glob(pattern))]:
                    shutil.move(path, kept / f"{log.parent.name}-{path.name}")
            data = folder / "perf.data"
            if data.exists():
                (kept / "perf.txt").write_text(_perf_report(data), encoding="utf-8")
                shutil.move(data, kept / data.name)
            for path in (Path(f"/tmp/perf-{pid}.map") for pid in pids):
                if path.exists():
                    shutil.move(path, kept / path.name)
            if not any(kept.iterdir()):
                raise ServerFailed(f"the profilers left nothing: see {folder / 'logs'} and {logs[0]}")


def _options(component: Component, profilers: Sequence[Profiler]) -> list[str]:
    """What a JVM needs to be told, so that it can be profiled.

    Sources: the `java` command's manual (JDK 17: StartFlightRecording, DumpPerfMapAtExit); OpenJ9 documentation
    (-Xjit, perfTool; -Xdump).
    """
    options = []
    jvm = component.artifact.jvm
    if "jfr" in profilers:
        file = f"{FOLDER}/logs/profile.jfr"
        options.append(f"-XX:StartFlightRecording=settings=profile,dumponexit=true,filename={file}")
    if "perf" in profilers:
        options += _OPENJ9_MAP if jvm is not None and jvm.kind == "openj9" else _HOTSPOT_MAP
    if "javacore" in profilers:
        options.append(f"-Xdump:java:events=user,file={FOLDER}/logs/javacore.%seq.txt")
    return options


def _is_java(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip() == "java"
    except OSError:
        return False


def _perf_report(data: Path) -> str:
    """What perf makes of a recording, as text; compiled methods by the map that the JVM left."""
    report = subprocess.run(
        [*_REPORT, "--input", str(data)],
        env=child_environment(),
        capture_output=True,
        text=True,
        errors="replace",
        timeout=300,
        check=False,
    )
    return report.stdout or report.stderr
