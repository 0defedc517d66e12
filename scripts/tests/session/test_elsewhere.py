# SPDX-License-Identifier: Apache-2.0
"""A trial whose components run elsewhere, with real observers beside a server and an injector."""

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from fake_clock import LeapingClock
from fake_engine import Recorder
from planned import asked, specs_of
from pods import Pod
from waiting import wait_until

from steelyard.clock import SYSTEM, Clock
from steelyard.engines.base import Deployment
from steelyard.measure.clocks import longest_gap
from steelyard.measure.samples import Samples
from steelyard.processes import Children
from steelyard.sampling.streams import LOST, Observer
from steelyard.session.context import RunContext
from steelyard.session.trial_run import TrialFailedError, TrialRun


class Elsewhere:
    """A deployment of pods."""

    remote = contained = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pods = {"server-1": Pod(folder / "pods" / "server-1", "server-1")}
        self.fetched: list[str] = []

    def observers(self) -> Mapping[str, Observer]:
        return {name: pod.reached() for name, pod in self.pods.items()}

    def start_injector(self) -> None:
        self.pods["injector-1"] = Pod(self.folder / "pods" / "injector-1", "injector-1", "injector")

    def logs(self, name: str) -> Path:
        path = self.folder / "trial" / "load" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def fetch(self, name: str) -> None:
        self.fetched.append(name)
        (self.logs(name) / "summary.json").write_text("{}", encoding="utf-8")

    def exit_code(self, name: str) -> int | None:
        return 0 if (self.pods[name].observed / "stop").exists() else None

    def failure(self, _: str) -> str | None:
        return None

    def started_components(self) -> list[Any]:
        return []

    def overhead(self) -> list[int]:
        return []

    def stop(self, names: Iterable[str] | None = None, **_: float) -> list[str]:
        assert names is None, "injectors stay until their observers have told the last"
        self.close()
        return []

    def close(self) -> None:
        for pod in self.pods.values():
            pod.end()


def flown(deployment: Elsewhere, children: Children, folder: Path, clock: Clock = SYSTEM) -> TrialRun:
    folder.mkdir()
    spec = next(iter(specs_of(asked("ping", load={"users": 2})).values()))
    context = RunContext(children, Recorder(), clock)
    return TrialRun(spec, folder, cast("Deployment[Any]", deployment), context, lambda _: None)


def until(run: TrialRun, reached: Callable[[], bool]) -> None:
    """Wait for what an observer does in its own time."""

    def watched() -> bool:
        run.check_alive()
        return reached()

    wait_until(watched, "what an observer does")


def sampled(folder: Path, *names: str) -> bool:
    """Whether the first samples of these have come."""
    return set(names) <= set(Samples.load(folder / "trial" / "samples").process_names())


def test_a_trial_is_sampled_steered_and_brought_home(tmp_path: Path) -> None:
    deployment = Elsewhere(tmp_path)
    with Children() as children:
        run = flown(deployment, children, tmp_path / "trial")
        try:
            run.start_sampler()
            deployment.start_injector()
            pod = deployment.pods["injector-1"]
            (pod.observed / "ready").touch()
            run.injectors.wait_until_ready()
            begun = run.injectors.go()
            until(run, (pod.observed / "start").exists)
            assert (pod.observed / "start").read_text(encoding="utf-8") == f"{begun * 1000:.0f}"
            line = {"epochMillis": 1000 * begun, "requests": 3, "late": 0, "dropped": 0}
            (pod.observed / "health.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
            run.injectors.wait_for_load()
            until(run, lambda: sampled(tmp_path, "server-1", "injector-1"))
            start = SYSTEM.time()
            run.start_sampler()
            run.watch(2.5)
            run.start_sampler()
            end = SYSTEM.time()
            run.stop_in_order()
        finally:
            run.abandon()
    assert run.sentences_of("injectors") == []
    assert deployment.fetched == ["injector-1"]
    found = Samples.load(tmp_path / "trial" / "samples")
    assert {"server-1", "injector-1", "harness"} <= set(found.process_names())
    assert found.requests("server-1", start, end) is not None
    assert found.growth("injector-1", ("wait_s",), start, end) is not None
    (machine,) = found.machines
    assert set(machine.components) == {"server-1", "injector-1"}
    assert found.other_cpu(start, end, machine) is not None
    gap = longest_gap(found, ["server-1", "injector-1"], start, end)
    assert gap is not None


def test_a_lost_observer_voids_the_trial(tmp_path: Path) -> None:
    deployment, clock = Elsewhere(tmp_path), LeapingClock()
    with Children() as children:
        run = flown(deployment, children, tmp_path / "trial", clock)
        try:
            run.start_sampler()
            until(run, lambda: sampled(tmp_path, "server-1", "harness"))
            observer = deployment.pods["server-1"].observer
            observer.kill()
            observer.wait()
            run.take_streams()
            assert run.sampler is not None
            sampled_until = run.sampler.console.read_bytes().count(b"\n")
            console = run.sampler.console
            wait_until(lambda: console.read_bytes().count(b"\n") > sampled_until, "a sample of the harness")
            clock.ahead = LOST + 1.0
            with pytest.raises(TrialFailedError, match="nothing was heard of the observer of server-1"):
                run.take_streams()
        finally:
            run.abandon()
