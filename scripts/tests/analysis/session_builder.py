# SPDX-License-Identifier: Apache-2.0
"""Small sessions for the tests of the analysis."""

from typing import Any

import numpy as np

from steelyard.experiment.schema import Load
from steelyard.results.measurement import TrialMeasurement
from steelyard.results.schema import ArmRecord, HostFacts, ScheduledTrial, Session, Trial
from steelyard.results.spec import Artifact, Component, JvmIdentity, Role, Spec

JVM = JvmIdentity(
    kind="openj9",
    vm_name="Eclipse OpenJ9 VM",
    vm_version="openj9-0.53",
    runtime_version="25",
    java_version="25",
    vendor="IBM",
    home="/opt/java",
    feature=25,
    architecture="amd64",
)
HOST = HostFacts(
    hostname="lab",
    architecture="x86_64",
    cpu_model="cpu",
    sockets=1,
    cores=4,
    cpus=8,
    threads_per_core=2,
    smt="on",
    numa_nodes=1,
    memory_bytes=2**34,
    swap_bytes=0,
    kernel="6.1",
    os="Linux",
    page_size=4096,
    governor=None,
    turbo=None,
    thp=None,
    cgroup_version=2,
    virtualization=None,
)


def component(role: Role = "server", number: int = 1, **changes: Any) -> Component:
    """A component on one CPU; servers are JVMs with counters."""
    fields: dict[str, Any] = {
        "name": f"{role}-{number}",
        "kind": role,
        "role": role,
        "artifact": Artifact(form="liberty", package="app", build="f", jvm=JVM),
        "cpus": [0],
        "heap_bytes": 2**29 if role == "server" else None,
        "counters": "/bench/counters" if role == "server" else None,
    }
    return Component(**(fields | changes))


def spec(arm: str = "jvms-1", **changes: Any) -> Spec:
    """An open model on one server, with changes."""
    fields: dict[str, Any] = {
        "arm": arm,
        "engine": "process",
        "workload": "app",
        "workload_version": "1",
        "topology": "monolith",
        "bundle": "app",
        "procedure": "steady",
        "load": Load(model="open", rate=1000.0),
        "components": [component()],
        "entry": ["server"],
        "mix": {"browse": 0.5, "book": 0.5},
        "server_cores": 1,
        "injectors_share_cores": False,
    }
    return Spec(**(fields | changes))


def measurement(**changes: Any) -> TrialMeasurement:
    """An undisturbed measurement of an open model with two operations, with changes."""
    healthy = {
        "measure_seconds": 60.0,
        "server_requests": 100_000,
        "server_errors": 0,
        "injector_requests": 100_000,
        "injector_errors": 0,
        "window_server_rate": 1000.0,
        "window_injector_rate": 1000.0,
        "injector_cpu_share": 0.3,
        "injector_wait_share": 0.3,
        "users_in_flight": 10.0,
        "late_share": 0.0,
        "target_rate": 1000.0,
        "mix_intended": {"browse": 0.5, "book": 0.5},
        "mix_achieved": {"browse": 0.5, "book": 0.5},
        "throttled_seconds": 0.0,
        "steal_share": 0.0,
        "other_cpu_share": 0.0,
        "sample_gap": 1.0,
        "stall_seconds": 0.0,
        "restarts": [],
        "wrong_builds": [],
        "settings_differ": [],
        "clock_step_seconds": 0.0,
        "injector_failures": [],
        "steady": True,
        "steady_detail": "Steady.",
        "jit_share": 0.001,
    }
    return TrialMeasurement(**(healthy | changes))


def trial(block: int, arm: str, **changes: Any) -> Trial:
    """A trial; valid and empty unless changed."""
    fields: dict[str, Any] = {
        "block": block,
        "arm": arm,
        "attempt": 0,
        "order": 0,
        "state": "valid",
        "started": 0.0,
        "phases": {},
        "measurement": measurement(),
        "checks": [],
        "steady": True,
        "metrics": {},
        "latency": {},
        "components": [],
        "trace": [],
    }
    return Trial(**(fields | changes))


def session(
    levels: list[Any],
    blocks: int,
    *,
    baseline: int = 0,
    quick: bool = False,
    load: Load | None = None,
    **metrics: Any,
) -> Session:
    """A session over one factor `jvms`, of a closed model unless told; its arms are called `jvms-<level>`."""
    arms = [
        ArmRecord(
            name=f"jvms-{level}",
            levels={"jvms": level},
            baseline=index == baseline,
            settings={},
            spec=spec(f"jvms-{level}", load=load or Load(users=48)),
        )
        for index, level in enumerate(levels)
    ]
    places = [(block, arm.name) for block in range(1, blocks + 1) for arm in arms]
    return Session(
        id="jvm-count-1",
        created=0.0,
        steelyard_version="0.1.0",
        revision=None,
        workload={"name": "app", "version": "1"},
        workload_path="app.yaml",
        experiment={"factors": {"jvms": {"label": "JVMs", "levels": levels}}, "metrics": metrics},
        quick=quick,
        seed=1,
        arms=arms,
        schedule=[ScheduledTrial(order=i, block=block, arm=arm) for i, (block, arm) in enumerate(places)],
        host=HOST,
        versions={},
        injectors_share_cores=False,
        notes=[],
    )


def trials_of(figures: dict[str, list[float]], name: str = "throughput") -> list[Trial]:
    """Valid trials with one metric: arm -> its figure in blocks 1, 2, ..."""
    return [
        trial(block, arm, metrics={name: value})
        for arm, values in figures.items()
        for block, value in enumerate(values, start=1)
    ]


def climb(level: float, slow: float, seconds: int = 120) -> list[float]:
    """Rises towards a level as 1 - exp(-t / slow); each point the mean of its second."""
    times = np.arange(seconds + 1)
    done = level * (times + slow * np.exp(-times / slow))
    return [float(one) for one in np.diff(done)]
