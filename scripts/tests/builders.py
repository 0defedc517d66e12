# SPDX-License-Identifier: Apache-2.0
"""Records for tests, one builder for each kind: complete and plausible, and each field can be given by its name.

These stand for themselves. Arms and specs of the project's own experiments come from `planned.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from pydantic import BaseModel

from steelyard.experiment.schema import Experiment, Load
from steelyard.jvm.identity import JvmIdentity
from steelyard.measure.health import Health
from steelyard.measure.histograms import Recorded
from steelyard.measure.registry import undisturbed_figures
from steelyard.measure.samples import Samples
from steelyard.measure.window import Window
from steelyard.results.failure import Failure
from steelyard.results.measurement import Latency, TrialMeasurement
from steelyard.results.schema import ArmRecord, HostFacts, ScheduledTrial, Session, Trial
from steelyard.results.spec import Artifact, Component, Role, Spec
from steelyard.selfcheck.trials import undisturbed_run
from steelyard.units import MIB
from steelyard.workload.schema import ContainerPlace

R = TypeVar("R", bound=BaseModel)
VM_NAMES = {"hotspot": "OpenJDK 64-Bit Server VM", "openj9": "Eclipse OpenJ9 VM"}


def _filled(record: type[R], fields: dict[str, Any], changes: dict[str, Any]) -> R:
    """The record, changed; records ignore fields that they do not know, a test must not."""
    assert changes.keys() <= record.model_fields.keys(), changes.keys() - record.model_fields.keys()
    return record(**(fields | changes))


def make_jvm(
    kind: Literal["hotspot", "openj9"] = "hotspot", feature: int = 17, **changes: Any
) -> JvmIdentity:
    """What a JVM says of itself."""
    fields: dict[str, Any] = {
        "kind": kind,
        "vm_name": VM_NAMES[kind],
        "vm_version": f"{feature}.0.1+6",
        "runtime_version": f"{feature}.0.1+6",
        "java_version": f"{feature}.0.1",
        "vendor": "test",
        "home": f"/opt/{kind}-{feature}",
        "feature": feature,
        "architecture": "amd64",
    }
    return _filled(JvmIdentity, fields, changes)


def make_host(**changes: Any) -> HostFacts:
    """A host of four cores with two threads each."""
    fields: dict[str, Any] = {
        "hostname": "lab",
        "architecture": "x86_64",
        "cpu_model": "cpu",
        "sockets": 1,
        "cores": 4,
        "cpus": 8,
        "threads_per_core": 2,
        "smt": "on",
        "numa_nodes": 1,
        "memory_bytes": 2**34,
        "swap_bytes": 0,
        "kernel": "6.1",
        "os": "Linux",
        "page_size": 4096,
        "governor": "none",
        "turbo": "none",
        "thp": "madvise",
        "cgroup_version": 2,
        "virtualization": None,
        "extra": {"scheduler": "EEVDF"},
    }
    return _filled(HostFacts, fields, changes)


def make_component(role: Role = "server", number: int = 1, **changes: Any) -> Component:
    """A process on one CPU; servers are Liberty on a JVM, with a heap and counters."""
    fields: dict[str, Any] = {
        "name": f"{role}-{number}",
        "kind": role,
        "role": role,
        "artifact": Artifact(form="liberty", package="app", build="f", jvm=make_jvm()),
        "cpus": [0],
        "heap_bytes": 512 * MIB if role == "server" else None,
        "counters": "/bench/counters" if role == "server" else None,
    }
    return _filled(Component, fields, changes)


def make_container(role: Role = "server", number: int = 1, *, image: str, **changes: Any) -> Component:
    """A component of an image; servers take JVM options and answer on port 8080, injectors write to /load."""
    places: dict[str, Any] = {"server": {"port": 8080, "jvm_options": "JVM_ARGS", "folder": "/steelyard"}}
    place = places.get(role, {"port": 0, "jvm_options": None, "folder": "/load"})
    fields: dict[str, Any] = {
        "artifact": Artifact(form="image", image=image),
        "heap_bytes": None,
        "counters": None,
        "container": ContainerPlace(user="harness", **place),
    }
    return make_component(role, number, **(fields | changes))


def make_spec(arm: str = "jvms-1", **changes: Any) -> Spec:
    """An open model on one server, as processes."""
    fields: dict[str, Any] = {
        "arm": arm,
        "engine": "process",
        "workload": "app",
        "workload_version": "1",
        "topology": "monolith",
        "bundle": "app",
        "procedure": "steady",
        "load": Load(model="open", rate=1000.0),
        "components": [make_component()],
        "entry": ["server"],
        "mix": {"browse": 0.5, "book": 0.5},
        "server_cores": 1,
        "injectors_share_cores": False,
    }
    return _filled(Spec, fields, changes)


def make_measurement(**changes: Any) -> TrialMeasurement:
    """An undisturbed measurement of an open model with two operations."""
    fields: dict[str, Any] = {
        **undisturbed_figures(),
        "measure_seconds": 60.0,
        "server_requests": 100_000,
        "server_errors": 0,
        "injector_requests": 100_000,
        "injector_errors": 0,
        "window_server_rate": 1000.0,
        "window_injector_rate": 1000.0,
        "users_in_flight": 10.0,
        "target_rate": 1000.0,
        "mix_intended": {"browse": 0.5, "book": 0.5},
        "mix_achieved": {"browse": 0.5, "book": 0.5},
        "steady": True,
        "steady_detail": "Steady.",
    }
    assert changes.keys() <= fields.keys() | TrialMeasurement.model_fields.keys(), changes.keys()
    return TrialMeasurement(**(fields | changes))


def make_window(samples: Samples, start: float = 0.0, end: float = 60.0, spec: Spec | None = None) -> Window:
    """What was sampled between two times (epoch seconds), of a trial that left nothing else."""
    run = undisturbed_run(spec or make_spec(), (start, end))
    return Window(run, {}, samples, {}, Recorded(), Recorded(), Health())


def make_latency(**changes: Any) -> Latency:
    """1,000 answers of one operation."""
    fields: dict[str, Any] = {
        "requests": 1000,
        "errors": 0,
        "mean": 1.0,
        "p50": 1.0,
        "p90": 1.0,
        "p99": None,
        "p999": None,
        "max": 1.0,
    }
    return _filled(Latency, fields, changes)


def make_failure(detail: str, cause: str = "start") -> Failure:
    """What a trial says of its failure, which is of no single component."""
    return Failure(component=None, cause=cause, detail=detail)


def make_trial(block: int = 1, arm: str = "jvms-1", **changes: Any) -> Trial:
    """A valid trial without metrics; with a `failure`, or with checks that void it, say `state="void"` as well."""
    fields: dict[str, Any] = {
        "block": block,
        "arm": arm,
        "attempt": 0,
        "order": 0,
        "state": "valid",
        "started": 0.0,
        "phases": {},
        "measurement": make_measurement(),
        "checks": [],
        "steady": True,
        "metrics": {},
        "latency": {},
        "components": [],
        "trace": [],
    }
    return _filled(Trial, fields, changes)


def make_trials(figures: Mapping[str, Sequence[float]], name: str = "throughput") -> list[Trial]:
    """Valid trials with one metric: arm -> its figure in blocks 1, 2, ..."""
    return [
        make_trial(block, arm, metrics={name: value})
        for arm, values in figures.items()
        for block, value in enumerate(values, start=1)
    ]


def make_arms(
    specs: Mapping[str, Spec], levels: Mapping[str, Mapping[str, Any]], baseline: str
) -> list[ArmRecord]:
    """Arms of these specs, with the levels that they are of."""
    return [
        ArmRecord(name=arm, levels=dict(levels[arm]), baseline=arm == baseline, settings={}, spec=spec)
        for arm, spec in specs.items()
    ]


def make_places(arms: Sequence[str], blocks: int) -> list[ScheduledTrial]:
    """Each arm once in each block, always in the same order."""
    places = [(block, arm) for block in range(1, blocks + 1) for arm in arms]
    return [ScheduledTrial(order=order, block=block, arm=arm) for order, (block, arm) in enumerate(places)]


def make_experiment(**changes: Any) -> Experiment:
    """One question over a factor `jvms`, in keys of its file."""
    fields: dict[str, Any] = {
        "steelyard": 1,
        "name": "asked",
        "title": "asked",
        "question": "?",
        "workload": "app",
        "factors": {"jvms": {"label": "JVMs", "levels": [1, 2]}},
        "load": {"users": 8},
    }
    return Experiment.model_validate(fields | changes)


def make_session(
    levels: Sequence[Any] = (1, 2),
    blocks: int = 2,
    *,
    baseline: int = 0,
    load: Load | None = None,
    metrics: Mapping[str, Any] | None = None,
    **changes: Any,
) -> Session:
    """A session over one factor `jvms`, of a closed model unless told; its arms are called `jvms-<level>`."""
    names = {f"jvms-{level}": {"jvms": level} for level in levels}
    specs = {arm: make_spec(arm, load=load or Load(users=48)) for arm in names}
    first = list(names)[baseline] if baseline < len(names) else ""
    fields: dict[str, Any] = {
        "id": "jvm-count-1",
        "created": 0.0,
        "steelyard_version": "0.0.7",
        "revision": None,
        "workload": {"name": "app", "version": "1"},
        "workload_path": "app.yaml",
        "experiment": make_experiment(
            factors={"jvms": {"label": "JVMs", "levels": list(levels)}}, metrics=dict(metrics or {})
        ),
        "quick": False,
        "seed": 1,
        "arms": make_arms(specs, names, first),
        "schedule": make_places(list(names), blocks),
        "host": make_host(),
        "versions": {},
        "injectors_share_cores": False,
        "notes": [],
    }
    return _filled(Session, fields, changes)


def make_climb(level: float, slow: float, seconds: int = 120) -> list[float]:
    """Rises towards a level as 1 - exp(-t / slow); each point the mean of its second."""
    times = np.arange(seconds + 1)
    done = level * (times + slow * np.exp(-times / slow))
    return [float(second) for second in np.diff(done)]
