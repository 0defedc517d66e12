# SPDX-License-Identifier: Apache-2.0
"""Specs and trials for the tests of searches, and a simulated server whose edge varies from start to start."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from steelyard.analysis.searching import NextTrial, Question, limits_of, next_search_trial
from steelyard.experiment.schema import Load, Search
from steelyard.results.schema import Check, ComponentResult, Latency, ScheduledTrial, Trial, TrialMeasurement
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.workload.schema import Limits

RAISE = {"raise": "users", "within": {"p99": "200ms", "errors": "0.1%"}}


def component(name: str, role: Any, cpus: list[int], **more: Any) -> Component:
    return Component(name=name, kind="any", role=role, artifact=Artifact(form="java"), cpus=cpus, **more)


def spec(arm: str = "jvms-1", load: Load | None = None, engine: str = "process", **more: Any) -> Spec:
    load = load or Load(users=100)
    fields: dict[str, Any] = {
        "arm": arm,
        "engine": engine,
        "workload": "w",
        "workload_version": "1",
        "topology": "t",
        "bundle": "b",
        "procedure": "steady",
        "load": load,
        "components": [
            component("server-1", "server", [0, 1], memory_bytes=2**29 if engine == "compose" else None),
            component("server-2", "server", [2, 3], memory_bytes=2**29 if engine == "compose" else None),
            *(
                component(f"injector-{index + 1}", "injector", [3], settings={"injector": index, "seen": True})
                for index in range(load.injectors)
            ),
        ],
        "entry": ["server-1"],
        "mix": {"hello": 1.0},
        "server_cores": 4,
        "injectors_share_cores": True,
    }
    return Spec(**(fields | more))


def question(search: dict[str, Any], arms: tuple[str, ...] = ("a",), repeats: int = 2, **more: Any) -> Question:
    found = Search.model_validate(search)
    limits = limits_of(found, Limits(p99=2.0))
    return Question(found, limits, {arm: spec(arm, **more) for arm in arms}, repeats)


def schedule(arms: tuple[str, ...], blocks: int) -> list[ScheduledTrial]:
    places = [(block, arm) for block in range(1, blocks + 1) for arm in arms]
    return [ScheduledTrial(order=order, block=block, arm=arm) for order, (block, arm) in enumerate(places)]


def check(name: str, detail: str = "why", value: float | None = 1.0) -> Check:
    return Check(name=name, passed=False, voids=True, value=value, limit=0.0, unit="", detail=detail)


def latency(p99: float | None, requests: int = 10_000, errors: int = 0, p90: float | None = 50.0) -> Latency:
    return Latency(
        requests=requests, errors=errors, mean=30.0, p50=25.0, p90=p90, p99=p99, p999=None, max=900.0
    )


def measurement() -> TrialMeasurement:
    """Of which a search reads the length of the window alone."""
    return TrialMeasurement.model_construct(measure_seconds=10.0)


def trial(place: NextTrial | None = None, **changes: Any) -> Trial:
    place = place or NextTrial(1, "a", 0, 0, 100.0)
    fields: dict[str, Any] = {
        **place._asdict(),
        "state": "void" if changes.get("checks") else "valid",
        "started": 0.0,
        "phases": {},
        "measurement": measurement(),
        "checks": [],
        "steady": False,
        "metrics": {},
        "latency": {"all": latency(100.0)},
        "components": [
            ComponentResult(name="server-1", role="server", cpu_seconds=8.0),
            ComponentResult(name="server-2", role="server", cpu_seconds=8.0),
            ComponentResult(name="database", role="database", cpu_seconds=40.0),
        ],
        "trace": [],
    }
    return Trial.model_construct(**(fields | changes))


def run(
    asked: Question,
    places: list[ScheduledTrial],
    outcome: Callable[[NextTrial], Trial],
    done: list[Trial] | None = None,
) -> list[Trial]:
    """All trials of a session, from the first or from what is done."""
    trials = list(done or [])
    while (planned := next_search_trial(asked, places, trials)) is not None:
        trials.append(outcome(planned))
    return trials


class Server:
    """A server whose edge varies from start to start and from block to block; some trials fail by disturbance."""

    def __init__(
        self,
        edges: dict[str, float],
        rng: np.random.Generator,
        noise: float = 0.0,
        drift: float = 0.0,
        disturbed: float = 0.0,
    ) -> None:
        self.edges, self.rng, self.noise, self.drift, self.disturbed = edges, rng, noise, drift, disturbed
        self.shifts: dict[int, float] = {}

    def outcome(self, planned: NextTrial) -> Trial:
        shift = self.shifts.setdefault(planned.block, self.drift * self.rng.standard_normal())
        edge = self.edges[planned.arm] * math.exp(shift + self.noise * self.rng.standard_normal())
        passed = planned.value <= edge and self.rng.random() >= self.disturbed
        return trial(planned, latency={"all": latency(150.0 if passed else 450.0)})
