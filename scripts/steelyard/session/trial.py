# SPDX-License-Identifier: Apache-2.0
"""Runs one trial: start, ramp, warm-up, measurement, stop, collect, judge."""

import json
import math
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from steelyard.analysis.ledger import is_void, judge
from steelyard.analysis.warmup import Steadiness, judge_steady
from steelyard.engines.base import Deployment, Engine
from steelyard.errors import NoSpace, ServerFailed
from steelyard.experiment.matrix import Arm
from steelyard.host.throttling import throttled_seconds
from steelyard.load.injector import Injectors, plan_injectors
from steelyard.paths import ROOT
from steelyard.processes import Child, Children
from steelyard.results.schema import Check, JournalEntry, Phase, TopologyRecord, Trial
from steelyard.results.store import SessionDirectory, no_space, write_atomic, write_record
from steelyard.sampling.gclog import read_gc_logs
from steelyard.sampling.read import Samples
from steelyard.session import collect
from steelyard.session.live import LiveRate
from steelyard.session.plan import SessionPlan
from steelyard.session.progress import Watcher
from steelyard.session.schedule import Planned

MIN_FREE_BYTES = 32 * 1024 * 1024
"""A session stops, resumable, when the results' file system has less: a full disk would lose samples."""
STEADY_CHECK_INTERVAL = 5.0
STEADY_WINDOW = 60
"""Seconds that the steadiness rule looks back."""
_WATCH_INTERVAL = 0.2


class TrialFailedError(Exception):
    """Something of the trial died; the trial is void, the session goes on."""

    def __init__(self, check: str, sentence: str) -> None:
        super().__init__(sentence)
        self.check = check


@dataclass
class _Running:
    """State of the trial in flight."""

    planned: Planned
    arm: Arm
    topology: TopologyRecord
    folder: Path
    started: float
    phases: dict[str, tuple[float, float]] = field(default_factory=dict)
    deployment: Deployment | None = None
    injectors: Injectors | None = None
    sampler: Child | None = None
    window: tuple[float, float] = (0.0, 0.0)
    ramp_end: float = 0.0
    steadiness: Steadiness | None = None
    throttled: float | None = None
    injector_failures: list[str] = field(default_factory=list)
    restarts: list[str] = field(default_factory=list)


class TrialRunner:
    """Runs the trials of one session."""

    def __init__(
        self,
        plan: SessionPlan,
        directory: SessionDirectory,
        engines: Mapping[str, Engine],
        children: Children,
        watcher: Watcher,
    ) -> None:
        self._plan = plan
        self._directory = directory
        self._engines = engines
        self._children = children
        self._watcher = watcher

    def run(self, planned: Planned) -> Trial:
        """Run one trial and write its `trial.json`.

        Returns:
            The trial, valid or void; a server or injector that fails makes it void.

        Raises:
            NoSpace, PortInUse: the session cannot go on.
            KeyboardInterrupt: the user wants to stop; everything that the trial started is stopped first.
        """
        folder = self._directory.trial_path(planned.block, planned.arm, planned.attempt)
        _set_aside(folder)
        arm, topology = self._plan.arm(planned.arm), self._plan.topologies[planned.arm]
        run = _Running(planned, arm, topology, folder, time.time())
        self._log("trial-start", planned)
        try:
            with ExitStack() as cleanup:
                cleanup.callback(self._stop_all, run)
                self._load(run)
            with self._phase(run, "collect"):
                trial = self._collect(run)
        except TrialFailedError as failure:
            trial = _failed(run, failure.check, str(failure))
        except ServerFailed as failure:
            trial = _failed(run, "start", str(failure))
        trial = trial.model_copy(update={"phases": run.phases})
        write_record(folder / "trial.json", trial)
        self._log("trial-end", planned, state=trial.state, detail=trial.failure)
        return trial

    def _load(self, run: _Running) -> None:
        """Everything from the start of the servers to their stop."""
        load = run.arm.load
        with self._phase(run, "start"):
            engine = self._engines[run.topology.engine]
            plans = plan_injectors(
                load,
                self._plan.kind(run.topology),
                engine.targets(run.topology),
                run.topology.injector_cpus,
                # The same seed in every arm of a block: arms differ in what the experiment varies, not in the draw.
                self._plan.seed + run.planned.block,
                run.folder / "load",
            )
            run.deployment = engine.deploy(run.topology, plans, run.folder)
            self._start_sampler(run)
            run.injectors = Injectors(plans, run.deployment)
            run.injectors.start()
            self._write_sampler_config(run)
            run.injectors.wait_for_load(lambda: self._check_alive(run))
        live = LiveRate(run.folder / "samples" / "counters.csv")
        with self._phase(run, "ramp", load.ramp):
            self._watch(run, time.time() + load.ramp, live)
        run.ramp_end = time.time()
        with self._phase(run, "warmup", load.warmup.at_least):
            self._warm_up(run, live)
            # Samples and the injectors' intervals end at whole seconds, so the window does as well.
            start = float(math.ceil(time.time()))
            self._watch(run, start, live)
        with self._phase(run, "measure", load.measure):
            throttled = throttled_seconds()
            self._watch(run, start + load.measure, live)
            run.window = (start, start + load.measure)
            now = throttled_seconds()
            run.throttled = now - throttled if now is not None and throttled is not None else None
        with self._phase(run, "stop"):
            self._stop_in_order(run)

    def _start_sampler(self, run: _Running) -> None:
        self._write_sampler_config(run)
        run.sampler = self._children.spawn(
            "sampler",
            [sys.executable, "-m", "steelyard.sampling", str(run.folder / "sampler.json")],
            console=run.folder / "logs" / "sampler.log",
            cwd=ROOT / "scripts",
            env={**os.environ, "PYTHONPATH": str(ROOT / "scripts")},
        )

    def _write_sampler_config(self, run: _Running) -> None:
        assert run.deployment is not None
        processes: list[dict[str, object]] = [
            {
                "name": server.name,
                "pid": server.pid,
                "role": "server",
                "counters_url": f"{server.url}/bench/counters",
                "cgroup": server.contained,
            }
            for server in run.deployment.servers
        ]
        injectors = run.injectors.pids if run.injectors is not None else {}
        processes += [{"name": name, "pid": pid, "role": "injector"} for name, pid in injectors.items()]
        processes += [
            {"name": name, "pid": pid, "role": "backing"}
            for backing in run.deployment.backing
            for name, pid in collect.backing_processes(backing)
        ]
        processes.append({"name": "harness", "pid": os.getpid(), "role": "harness"})
        config = {
            "output": str((run.folder / "samples").resolve()),
            "interval": 1.0,
            "parent": os.getpid(),
            "processes": processes,
        }
        write_atomic(run.folder / "sampler.json", json.dumps(config, indent=1) + "\n")

    def _warm_up(self, run: _Running, live: LiveRate) -> None:
        """Wait until the trial is steady, at least and at most as long as the experiment says."""
        warmup = run.arm.load.warmup
        begin = time.time()
        self._watch(run, begin + warmup.at_least, live)
        while True:
            if warmup.until == "fixed":
                return  # judged afterwards, by the same rule
            run.steadiness = self._judge_steady(run, run.ramp_end, time.time())
            if run.steadiness.steady or time.time() >= begin + warmup.at_most:
                return
            self._watch(run, min(time.time() + STEADY_CHECK_INTERVAL, begin + warmup.at_most), live)

    def _judge_steady(self, run: _Running, start: float, end: float) -> Steadiness:
        """The rule of docs/method.md on the last minute of [start, end]."""
        samples = Samples.load(run.folder / "samples")
        rates = [rate for _, rate in samples.request_rate(start, end)]
        since = max(start, end - STEADY_WINDOW)
        jit = sum(
            samples.cpu_by_group(instance.name, since, end).get("jit", 0.0)
            for instance in run.topology.instances
        )
        budget = run.topology.server_cores * (end - since)
        return judge_steady(rates, jit / budget if budget > 0 else None, STEADY_WINDOW)

    def _watch(self, run: _Running, until: float, live: LiveRate) -> None:
        """Wait until a time of day; raise as soon as something of the trial has died."""
        while (left := until - time.time()) > 0:
            time.sleep(min(_WATCH_INTERVAL, left))
            self._check_alive(run)
            rate = live.read()
            if rate is not None:
                self._watcher.throughput(rate)

    def _check_alive(self, run: _Running) -> None:
        if run.deployment is not None and (problems := run.deployment.problems()):
            raise TrialFailedError("restarts", problems[0])
        if run.injectors is not None and (problems := run.injectors.failures()):
            raise TrialFailedError("injectors", problems[0])
        free = shutil.disk_usage(self._directory.path).free
        if free < MIN_FREE_BYTES:
            raise NoSpace(
                f"only {free // 2**20} MiB are left for {self._directory.path}: free some space, then resume;"
                " what was measured so far is kept"
            )
        if run.sampler is not None and run.sampler.exit_code() is not None:
            raise TrialFailedError("sampler", f"the sampler ended: {run.sampler.last_lines()}")

    def _stop_in_order(self, run: _Running) -> None:
        """Load first, then the sampler (its last sample holds the final counters), then the servers."""
        assert run.injectors is not None
        assert run.sampler is not None
        assert run.deployment is not None
        run.injector_failures = run.injectors.stop()
        run.restarts = run.deployment.problems()
        self._children.stop([run.sampler], grace=10.0)
        run.restarts += run.deployment.stop()

    def _stop_all(self, run: _Running) -> None:
        """Whatever still runs; after an error or Ctrl-C."""
        if run.injectors is not None:
            run.injectors.kill()
        if run.sampler is not None:
            self._children.stop([run.sampler], grace=5.0)
        if run.deployment is not None:
            run.deployment.stop()

    def _collect(self, run: _Running) -> Trial:
        assert run.deployment is not None
        assert run.injectors is not None
        steadiness = run.steadiness or self._judge_steady(run, *run.window)
        servers = run.deployment.servers
        logs = {server.name: run.deployment.gc_logs(server.name) for server in servers}
        evidence = collect.Evidence(
            arm=run.arm,
            workload=self._plan.experiment.workload,
            topology=run.topology,
            servers=servers,
            backing=run.deployment.backing,
            samples=Samples.load(run.folder / "samples"),
            gc_logs={name: read_gc_logs(paths) for name, paths in logs.items() if paths},
            injector_folders=[plan.folder for plan in run.injectors.plans],
            start=run.window[0],
            end=run.window[1],
            ramp_end=run.ramp_end,
            expected_build=self._engines[run.topology.engine].fingerprint,
            restarts=run.restarts,
            injector_failures=run.injector_failures,
            throttled=run.throttled,
            steady=steadiness.steady,
            steady_detail=steadiness.detail,
        )
        instances = collect.instance_results(evidence)
        window = collect.recorded_in_window(evidence)
        measured = collect.measure(evidence, window, instances)
        checks = judge(measured)
        return Trial(
            block=run.planned.block,
            arm=run.planned.arm,
            attempt=run.planned.attempt,
            order=run.planned.order,
            state="void" if is_void(checks) else "valid",
            started=run.started,
            phases=run.phases,
            topology=run.topology,
            measurement=measured,
            checks=checks,
            steady=measured.steady,
            metrics=collect.metrics(evidence, measured, instances, window.overall()),
            latency=window.latency(),
            instances=instances,
            trace=collect.trace(evidence),
        )

    @contextmanager
    def _phase(self, run: _Running, phase: Phase, seconds: float | None = None) -> Iterator[None]:
        self._watcher.phase(phase, seconds)
        self._log("phase", run.planned, phase=phase)
        start = time.time()
        try:
            yield
        finally:
            run.phases[phase] = (start, time.time())

    def _log(self, event: str, planned: Planned, **more: object) -> None:
        entry = {"time": time.time(), "event": event, "block": planned.block, "arm": planned.arm}
        self._directory.log(JournalEntry.model_validate({**entry, "attempt": planned.attempt, **more}))


def _failed(run: _Running, check: str, sentence: str) -> Trial:
    """A trial without measurement: void, kept and shown."""
    return Trial(
        block=run.planned.block,
        arm=run.planned.arm,
        attempt=run.planned.attempt,
        order=run.planned.order,
        state="void",
        started=run.started,
        phases=run.phases,
        topology=run.topology,
        measurement=None,
        checks=[
            Check(name=check, passed=False, voids=True, value=None, limit=None, unit="", detail=sentence)
        ],
        steady=False,
        metrics={},
        latency={},
        instances=[],
        trace=[],
        failure=sentence,
    )


def _set_aside(folder: Path) -> None:
    """Keep what an interrupted trial left, under another name, and make a new folder."""
    try:
        if folder.exists():
            number = 1
            while (aside := folder.with_name(f"{folder.name}.interrupted-{number}")).exists():
                number += 1
            folder.rename(aside)
        (folder / "replay").mkdir(parents=True)
    except OSError as error:
        raise no_space(folder, error) from error
