# SPDX-License-Identifier: Apache-2.0
"""Specs and trials for the tests of searches, and a simulated server whose edge varies from start to start."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from builders import make_component, make_measurement, make_spec, make_trial

from steelyard.analysis.searching import SearchQuestion, limits_of, next_search_trial
from steelyard.experiment.schema import Load, Search
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Check, Planned, ScheduledTrial, Trial
from steelyard.results.spec import Spec
from steelyard.workload.schema import Limits

RAISE = {"raise": "users", "within": {"p99": "200ms", "errors": "0.1%"}}


def search_spec(arm: str = "jvms-1", load: Load | None = None, engine: str = "process", **more: Any) -> Spec:
    """Two servers of two CPUs each, and the injectors of the load."""
    load = load or Load(users=100)
    server: dict[str, Any] = {
        "heap_bytes": None,
        "counters": None,
        "memory_bytes": 2**29 if engine == "compose" else None,
    }
    fields: dict[str, Any] = {
        "engine": engine,
        "load": load,
        "components": [
            make_component(number=1, cpus=[0, 1], **server),
            make_component(number=2, cpus=[2, 3], **server),
            *(
                make_component("injector", index + 1, cpus=[3], settings={"injector": index, "seen": True})
                for index in range(load.injectors)
            ),
        ],
        "entry": ["server-1"],
        "mix": {"hello": 1.0},
        "server_cores": 4,
        "injectors_share_cores": True,
    }
    return make_spec(arm, **(fields | more))


def question(
    search: dict[str, Any], arms: tuple[str, ...] = ("a",), repeats: int = 2, **more: Any
) -> SearchQuestion:
    terms = Search.model_validate(search)
    limits = limits_of(terms, Limits(p99=2.0))
    return SearchQuestion(terms, limits, {arm: search_spec(arm, **more) for arm in arms}, repeats)


def check(name: str, detail: str = "why", value: float | None = 1.0, voids: bool = True) -> Check:
    return Check(name=name, passed=False, voids=voids, value=value, limit=0.0, unit="", detail=detail)


def figures(p99: float | None, errors: float = 0.0, p90: float = 50.0) -> dict[str, float]:
    """Metrics that limits are about: milliseconds, and a share."""
    known = {"latency_p99": p99} if p99 is not None else {}
    return {"error_share": errors, "latency_p50": 25.0, "latency_p90": p90, **known}


MEASUREMENT = make_measurement(
    measure_seconds=10.0,
    server_requests=10_000,
    injector_requests=10_000,
    target_rate=None,
    mix_intended={"hello": 1.0},
    mix_achieved={"hello": 1.0},
    steady=False,
    steady_detail="It still rose.",
    jit_share=0.1,
)


def search_trial(place: Planned | None = None, **changes: Any) -> Trial:
    """A trial of a search at this place; void where checks are given."""
    place = place or Planned(block=1, arm="a", order=0, value=100.0)
    fields: dict[str, Any] = {
        **place.model_dump(exclude={"plot"}),
        "state": "void" if changes.get("checks") else "valid",
        "measurement": MEASUREMENT,
        "steady": False,
        "metrics": figures(100.0),
        "components": [
            ComponentResult(name="server-1", role="server", cpu_seconds=8.0),
            ComponentResult(name="server-2", role="server", cpu_seconds=8.0),
            ComponentResult(name="database", role="database", cpu_seconds=40.0),
        ],
    }
    return make_trial(**(fields | changes))


def run(
    asked: SearchQuestion,
    places: list[ScheduledTrial],
    outcome: Callable[[Planned], Trial],
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

    def outcome(self, planned: Planned) -> Trial:
        shift = self.shifts.setdefault(planned.block, self.drift * self.rng.standard_normal())
        edge = self.edges[planned.arm] * math.exp(shift + self.noise * self.rng.standard_normal())
        assert planned.value is not None
        passed = planned.value <= edge and self.rng.random() >= self.disturbed
        return search_trial(planned, metrics=figures(150.0 if passed else 450.0))
