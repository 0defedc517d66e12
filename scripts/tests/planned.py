# SPDX-License-Identifier: Apache-2.0
"""Arms, specs and sessions of the project's own experiments, planned for a host and JVMs that a test chooses.

Records that stand for themselves come from `builders.py`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from builders import make_arms, make_experiment, make_jvm, make_session
from one_host import facts_at_first

from steelyard.experiment.loader import LoadedExperiment, load_experiment
from steelyard.experiment.matrix import Arm, expand, with_quick, with_settings
from steelyard.experiment.settings import Settings
from steelyard.jvm.identity import JvmIdentity
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import Session
from steelyard.results.spec import Spec
from steelyard.session.plan import SessionPlan, host_checks
from steelyard.session.schedule import make_schedule
from steelyard.spec.layout import FIRST_PORT, Runtime
from steelyard.spec.plan import make_spec
from steelyard.spec.split import Core, with_injector_cores
from steelyard.workload.loader import load_workload

HOST = host_checks()


def processes(jvm: JvmIdentity | None = None, **more: Any) -> Runtime:
    """The runtime of arms on the process engine."""
    fields: dict[str, Any] = {"injector_jvm": make_jvm("hotspot"), "build": "b0", "tools": "t0"}
    return Runtime(server_jvm=jvm or make_jvm("hotspot"), **(fields | more))


def containers(*kinds: str, jvm: JvmIdentity | None = None, **more: Any) -> Runtime:
    """The runtime of arms on engines with containers: an image for each kind of component."""
    images = {kind: f"reg/{kind}@sha256:1" for kind in (*kinds, "injector")}
    fields: dict[str, Any] = {
        "injector_jvm": make_jvm("hotspot"),
        "build": "b0",
        "tools": "t0",
        "images": images,
    }
    return Runtime(server_jvm=jvm, **(fields | more))


def cores(count: int, threads: int = 1) -> list[Core]:
    """Physical cores, numbered one after the other."""
    return [tuple(range(threads * core, threads * (core + 1))) for core in range(count)]


def question(name: str, *settings: str, workload: str | None = None, quick: bool = False) -> LoadedExperiment:
    """An experiment of the project with `--set`."""
    found = load_experiment(EXPERIMENTS / f"{name}.yaml", HOST, workload)
    experiment = with_quick(found.experiment, found.settings) if quick else found.experiment
    return found._replace(experiment=with_settings(experiment, found.settings, settings))


def arms(name: str, *settings: str, workload: str | None = None, quick: bool = False) -> dict[str, Arm]:
    """Its arms by name."""
    found = question(name, *settings, workload=workload, quick=quick)
    return {arm.name: arm for arm in expand(found.experiment, found.settings)}


def specs(
    name: str,
    *settings: str,
    host: Sequence[Core] = ((0,), (1,)),
    runtime: Runtime | None = None,
    workload: str | None = None,
    first_port: int = FIRST_PORT,
    nodes: int = 1,
    quick: bool = False,
) -> dict[str, Spec]:
    """Its specs by arm, on a host whose cores lie on so many NUMA nodes."""
    found = question(name, *settings, workload=workload, quick=quick)
    return specs_of(found, host, runtime, first_port, nodes)


def specs_of(
    found: LoadedExperiment,
    host: Sequence[Core] = ((0,), (1,)),
    runtime: Runtime | None = None,
    first_port: int = FIRST_PORT,
    nodes: int = 1,
) -> dict[str, Spec]:
    """The specs of a question by arm."""
    arms, how = expand(found.experiment, found.settings), runtime or processes()
    node_of = {cpu: number * nodes // len(host) for number, core in enumerate(host) for cpu in core}
    return {
        arm.name: make_spec(
            arm, found.experiment.procedure, found.workload, host, how, first_port, nodes=node_of
        )
        for arm in with_injector_cores(arms, {arm.name: len(host) for arm in arms})
    }


def asked(workload: str, **keys: Any) -> LoadedExperiment:
    """An experiment made of keys of its file, on one of the project's workloads."""
    found = load_workload(workload)
    return LoadedExperiment(make_experiment(workload=workload, **keys), found, Settings(found.workload, HOST))


def session_of_plan(plan: SessionPlan, **fields: Any) -> Session:
    """A session that began with a plan, on this host."""
    (baseline,) = (arm.name for arm in plan.arms if arm.baseline)
    known: dict[str, Any] = {
        "workload": plan.workload.workload.model_dump(mode="json"),
        "workload_path": "w.yaml",
        "experiment": plan.experiment.model_dump(mode="json", by_alias=True),
        "arms": make_arms(plan.specs, {arm.name: arm.levels for arm in plan.arms}, baseline),
        "schedule": plan.schedule,
        "host": facts_at_first(),
        "injectors_share_cores": True,
    }
    return make_session(**(known | fields))


def session_of(found: LoadedExperiment, planned: Mapping[str, Spec], blocks: int = 2) -> Session:
    """The record of a session with these specs."""
    experiment, workload = found.experiment, found.workload.workload
    plots = {name: repr(spec.host_states) for name, spec in planned.items()}
    arms = expand(experiment, found.settings)
    baseline = next((arm.name for arm in arms if arm.baseline), "")
    return make_session(
        id="s",
        created=1_800_000_000.0,
        steelyard_version="1",
        workload=workload.model_dump(mode="json", by_alias=True),
        workload_path=experiment.workload,
        experiment=experiment,
        seed=7,
        arms=make_arms(
            {arm.name: planned[arm.name] for arm in arms}, {arm.name: arm.levels for arm in arms}, baseline
        ),
        schedule=make_schedule(list(planned), blocks, 7, plots),
        host=facts_at_first(),
        injectors_share_cores=True,
    )
