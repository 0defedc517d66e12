# SPDX-License-Identifier: Apache-2.0
"""Injectors of a trial: their settings, their start, their stop by file, and what they report of themselves."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from steelyard.errors import ServerFailed
from steelyard.experiment.schema import Load
from steelyard.experiment.workloads import DEFAULT_CUSTOMERS, REFERENCE_DATE, Kind

START_TIMEOUT = 120.0
STOP_TIMEOUT = 30.0


@dataclass(frozen=True)
class InjectorPlan:
    """One injector of a trial."""

    name: str
    folder: Path
    """Its histograms, health log and console."""
    cpus: Sequence[int]
    """Logical CPUs that it may use."""
    settings: dict[str, Any]
    """Its settings but for `output`, which depends on how it sees its folder (loadgen/README.md)."""


class RunningInjector(Protocol):
    """An injector that was started, as a process or in a container."""

    expected_to_end: bool

    @property
    def name(self) -> str:
        """As in its plan."""

    @property
    def pid(self) -> int:
        """Process id of its JVM on this host."""

    @property
    def console(self) -> Path:
        """File with its output."""

    def exit_code(self) -> int | None:
        """Exit code, negative for a signal; None while it runs. Cheap enough to be asked several times a second."""

    def how_it_ended(self) -> str:
        """One sentence for an injector that has ended."""


class Launcher(Protocol):
    """Starts and ends injectors: the deployment of a trial."""

    def launch(self, plan: InjectorPlan) -> RunningInjector:
        """Start an injector (raises ServerFailed when it cannot be started)."""

    def end(self, injectors: Sequence[RunningInjector], grace: float) -> None:
        """End injectors: ask by SIGTERM, on which their recorders flush, and kill after `grace` seconds."""


def plan_injectors(
    load: Load, kind: Kind, targets: Sequence[str], cpus: Sequence[int], seed: int, folder: Path
) -> list[InjectorPlan]:
    """Settings of each injector; users and rate are divided evenly over them."""
    return [
        InjectorPlan(
            name=f"injector-{index + 1}",
            folder=folder / f"injector-{index + 1}",
            cpus=cpus,
            settings=_settings(load, kind, targets, seed, index),
        )
        for index in range(load.injectors)
    ]


def _settings(load: Load, kind: Kind, targets: Sequence[str], seed: int, index: int) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "workload": kind.scenario,
        "targets": list(targets),
        "model": load.model,
        "rampSeconds": load.ramp,
        # The harness ends the run with a stop file; this is the cap should it not come.
        "warmupSeconds": load.warmup.at_most if load.warmup.until == "steady" else load.warmup.at_least,
        "measureSeconds": load.measure + START_TIMEOUT,
        "thinkTimeMillis": round(load.think_time * 1000),
        "requestTimeoutMillis": round(load.request_timeout * 1000),
        "seed": seed,
        "injector": index,
        "injectors": load.injectors,
    }
    if load.users is not None:
        settings["users"] = load.users // load.injectors + (index < load.users % load.injectors)
    if load.rate is not None:
        settings["rate"] = load.rate / load.injectors
        settings["arrivals"] = load.arrivals
    if load.mix is not None:
        settings["mix"] = load.mix
    if kind.prepare:
        settings["customers"] = load.customers or DEFAULT_CUSTOMERS
        settings["today"] = REFERENCE_DATE
        settings["visitsPerLogin"] = load.visits_per_login or kind.visits
    return settings


class Injectors:
    """The running injectors of one trial."""

    def __init__(self, plans: Sequence[InjectorPlan], launcher: Launcher) -> None:
        self.plans = list(plans)
        self._launcher = launcher
        self._running: list[RunningInjector] = []

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name."""
        return {injector.name: injector.pid for injector in self._running}

    def start(self) -> None:
        """Start every injector."""
        for plan in self.plans:
            self._running.append(self._launcher.launch(plan))

    def wait_for_load(self, alive: Callable[[], None]) -> float:
        """Wait until every injector has sent requests; returns the epoch time at which all had.

        Args:
            alive: called while waiting; raises when something else of the trial died.

        Raises:
            ServerFailed: an injector died or sent nothing in time.
        """
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            alive()
            failures = self.failures()
            if failures:
                raise ServerFailed(failures[0])
            if all(_has_requests(plan.folder / "health.jsonl") for plan in self.plans):
                return time.time()
            if time.monotonic() > deadline:
                raise ServerFailed(
                    f"no injector load within {START_TIMEOUT:.0f} s: see {self.plans[0].folder / 'console.log'}"
                )
            time.sleep(0.05)

    def failures(self) -> list[str]:
        """Injectors that ended although nobody asked them to, one sentence each."""
        return [
            injector.how_it_ended()
            for injector in self._running
            if injector.exit_code() is not None and not injector.expected_to_end
        ]

    def stop(self) -> list[str]:
        """Ask for the end by stop file, wait, and return what went wrong (empty: every injector delivered)."""
        problems = self.failures()
        for plan, injector in zip(self.plans, self._running, strict=True):
            injector.expected_to_end = True
            (plan.folder / "stop").touch()
        deadline = time.monotonic() + STOP_TIMEOUT
        for plan, injector in zip(self.plans, self._running, strict=True):
            while injector.exit_code() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            if injector.exit_code() is None:
                problems.append(f"{injector.name} did not end within {STOP_TIMEOUT:.0f} s of its stop file")
            elif injector.exit_code() != 0 and not any(text.startswith(injector.name) for text in problems):
                problems.append(injector.how_it_ended())
            elif not (plan.folder / "summary.json").exists():
                problems.append(f"{injector.name} wrote no summary: see {injector.console}")
        self.kill()
        return problems

    def kill(self) -> None:
        """End every injector at once (their recorders still flush on SIGTERM)."""
        for injector in self._running:
            injector.expected_to_end = True
        self._launcher.end(self._running, grace=5.0)


def _has_requests(health: Path) -> bool:
    """Whether the injector has completed requests, by the last line of its health log."""
    try:
        lines = health.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    for line in reversed(lines):
        try:
            return int(json.loads(line)["requests"]) > 0
        except (ValueError, KeyError):
            continue
    return False
