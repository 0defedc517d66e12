# SPDX-License-Identifier: Apache-2.0
"""Sample sessions of the other procedures, and of a search: simple curves with noise, no measurement."""

import math
import random
from typing import Any

from sample import Plan, make
from sample_figures import CORES, JVM

from steelyard.results.analysis import Analysis, SearchComparison, SearchResult, SearchRun, SearchStep
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Session, Trial
from steelyard.results.spec import Artifact, Component
from steelyard.units import MIB

SECONDS = 90
STATES = {"none": (1.0, 16.0, 1.25), "cold": (0.99, 18.0, 1.35), "warm": (1.02, 7.0, 0.62)}
"""Class cache -> relative level, seconds of the climb, relative start."""
OPERATIONS = {"ping": 0.02, "login": 0.35, "query flights": 0.9, "update customer": 1.1, "book flights": 1.3}


def _state(trial: Trial) -> tuple[float, float, float]:
    return STATES[trial.arm.removeprefix("class_cache-")]


def _ramp(trial: Trial, rng: random.Random) -> dict[str, Any]:
    level, slow, _ = _state(trial)
    slow *= rng.gauss(1, 0.06)
    done = [1 - math.exp(-((second / slow) ** 1.4)) for second in range(1, SECONDS + 1)]
    rates = [31_000 * level * share * rng.gauss(1, 0.02) for share in done]
    rates[40] *= 0.7
    jit = [6.5 * math.exp(-second / (2.2 * slow)) * rng.gauss(1, 0.08) for second in range(SECONDS)]
    curves = {
        "throughput": rates,
        "cpu_request": [(1.5 + 8.5 * share) * rng.gauss(1, 0.02) for share in done],
        "cpu_jit": jit,
        "cpu_gc": [0.4 + 0.5 * share * rng.gauss(1, 0.2) for share in done],
        "cpu_network": [1.2 * share * rng.gauss(1, 0.05) for share in done],
        "cpu_other": [0.9 * math.exp(-second / 8) + 0.15 for second in range(SECONDS)],
    }
    return {"curves": {name: [round(x, 3) for x in values] for name, values in curves.items()}, "trace": []}


def _start(trial: Trial, rng: random.Random) -> dict[str, Any]:
    times = _state(trial)[2] * rng.gauss(1, 0.025)
    first = 3.4 * times
    servers = [
        component.model_copy(
            update={
                "ready_message_seconds": first - 0.25 * times,
                "start_seconds": first,
                "start_cpu_seconds": 6.1 * times,
                "start_rss": 155e6 * rng.gauss(1, 0.01),
            }
        )
        for component in trial.components
    ]
    answers = {name: first + times * late * rng.gauss(1, 0.08) for name, late in OPERATIONS.items()}
    return {"components": servers, "first_answers": answers, "trace": [], "latency": {}}


def jitserver(levels: dict[str, Any]) -> list[Component]:
    """The JITServer of the arms that compile in one."""
    if levels.get("jit") == "local":
        return []
    artifact = Artifact(form="java", package="jitserver", words=["jitserver"], jvm=JVM)
    made = Component(
        name="jitserver-1",
        kind="jitserver",
        role="compiler",
        artifact=artifact,
        cpus=list(range(CORES)),
        cores=CORES,
        memory_bytes=2048 * MIB,
    )
    return [made]


def _remote(trial: Trial, rng: random.Random) -> dict[str, Any]:
    """A start whose compilations go to a JITServer: the servers are smaller and quicker, and the JITServer has both."""
    remote = not trial.arm.startswith("jit-local")
    first = (3.4 if remote else 4.2) * rng.gauss(1, 0.03)
    (server,) = trial.components
    changes: dict[str, Any] = {
        "ready_message_seconds": first - 0.25,
        "start_seconds": first,
        "start_cpu_seconds": (5.1 if remote else 8.0) * rng.gauss(1, 0.02),
        "start_rss": (155 if remote else 202) * MIB * rng.gauss(1, 0.01),
        "compiled": {"remote": 5000, "local": 100} if remote else {},
    }
    components = [server.model_copy(update=changes)]
    if remote:
        components.append(
            ComponentResult(
                name="jitserver-1",
                role="compiler",
                cpu_seconds=2.0,
                start_cpu_seconds=3.6 * rng.gauss(1, 0.05),
                start_rss=115 * MIB * rng.gauss(1, 0.02),
                rss_mean=140 * MIB,
            )
        )
    answers = {name: first + late * rng.gauss(1, 0.08) for name, late in OPERATIONS.items()}
    return {"components": components, "first_answers": answers, "trace": [], "latency": {}}


def jitserver_plan() -> Plan:
    """Start-up with the compiler in the server, and in a JITServer beside it."""
    return Plan(
        name="jitserver-start-up",
        title="Start-up with a JITServer",
        question="How long does a start take when the server compiles by itself, and when a JITServer does?",
        factors={"jit": {"label": "compiler", "levels": ["local", "remote", "heuristics"]}},
        study=None,
        disturbed=(),
        unsteady=(),
        procedure="start-up",
        primary="first_answers_time",
        mix=dict.fromkeys(OPERATIONS, 0.2),
        report=("start_time", "start_cpu", "start_cpu_compiler", "start_rss", "compiled_remotely"),
        shape=_remote,
        extras=jitserver,
    )


def _survive(trial: Trial, rng: random.Random) -> dict[str, Any]:
    lived = {"memory-512m": True, "memory-384m": trial.block != 2, "memory-256m": False}[trial.arm]
    assert trial.measurement is not None
    dead = [] if lived else ["the container of server-1 was killed for want of memory"]
    return {"survived": lived, "measurement": trial.measurement.model_copy(update={"restarts": dead})}


def ramp_up_plan() -> Plan:
    """Three states of the class cache, load from the first second."""
    return Plan(
        name="ramp-up",
        title="Ramp-up with and without a class cache",
        question="How fast do servers come to their full throughput, by the state of their class cache?",
        factors={"class_cache": {"label": "class cache", "levels": list(STATES)}},
        study=None,
        disturbed=(),
        unsteady=(),
        procedure="ramp-up",
        primary="time_to_80_of_best",
        report=("requests_lost_to_best", "steady_level"),
        shape=_ramp,
    )


def start_up_plan() -> Plan:
    """Three states of the class cache, from the start to the first answers."""
    return Plan(
        name="start-up",
        title="Start-up with and without a class cache",
        question="How long does it take from the start of the servers to the first answer of each operation?",
        factors={"class_cache": {"label": "class cache", "levels": list(STATES)}},
        study=None,
        disturbed=((2, "class_cache-cold"),),
        unsteady=(),
        procedure="start-up",
        primary="first_answers_time",
        mix=dict.fromkeys(OPERATIONS, 0.2),
        report=("start_time", "start_cpu", "start_rss"),
        shape=_start,
    )


def survive_plan() -> Plan:
    """Three memory limits: one that always suffices, one that sometimes does, one that never does."""
    return Plan(
        name="survive",
        title="Memory limits under load",
        question="Does the server live for ten minutes within the limit?",
        factors={"memory": {"label": "memory limit", "levels": ["512m", "384m", "256m"]}},
        study=None,
        disturbed=(),
        unsteady=(),
        procedure="survive",
        primary="survived",
        shape=_survive,
    )


def capacity() -> tuple[Session, list[Trial], Analysis]:
    """A search for the most users, of two arms in three blocks."""
    plan = Plan(
        name="capacity",
        title="Most users within the limits",
        question="How many users does the monolith serve within p99 of 200 ms and 0.1 % errors?",
        factors={"jvms": {"label": "JVMs", "levels": [1, 2]}},
        blocks=3,
        search={"raise": "users"},
        study=None,
        disturbed=(),
        unsteady=(),
    )
    session, trials, analysis = make(plan)
    edges = {"jvms-1": (322.0, 309.0, 331.0), "jvms-2": (545.0, 570.0, 551.0)}
    first, second = (
        _result(arm, [_run(arm, block, edge) for block, edge in enumerate(edges_of_arm, 1)])
        for arm, edges_of_arm in edges.items()
    )
    ratio = SearchComparison(n=3, ratio=1.732, low=1.58, high=1.90)
    results = [first, second.model_copy(update={"against": ratio})]
    return session, trials, analysis.model_copy(update={"searches": results})


def _run(arm: str, block: int, edge: float) -> SearchRun:
    steps: list[SearchStep] = []

    def tried(value: float) -> bool:
        good = value < edge
        why = "All limits held." if good else "p99 was 231 ms, where at most 200 ms is asked for."
        number = len(steps)
        outcome = "passed" if good else "failed"
        step = {"order": number, "attempt": number, "value": value, "outcome": outcome, "why": why}
        steps.append(SearchStep.model_validate(step))
        return good

    value = 48.0
    while tried(value):
        value *= 2
    low, high = value / 2, value
    if block == 2:
        why = "The hypervisor took 3.40 % of the CPU time."
        steps.append(SearchStep(order=len(steps), attempt=len(steps), value=value, outcome="void", why=why))
    while high / low > 1.05:
        value = float(round(math.sqrt(low * high)))
        low, high = (value, high) if tried(value) else (low, value)
    for value in (high, low):
        tried(value)
    return SearchRun(
        block=block,
        arm=arm,
        steps=steps,
        end="found",
        passed=low,
        failed=high,
        value=math.sqrt(low * high),
        half_width=math.log(high / low) / 2,
        why="Both sides are within the resolution and confirmed.",
    )


def _result(arm: str, runs: list[SearchRun]) -> SearchResult:
    values = [run.value for run in runs if run.value is not None]
    middle = math.prod(values) ** (1 / len(values))
    low, high = 0.93 * middle, 1.075 * middle
    sentence = (
        f"With JVMs = {arm.removeprefix('jvms-')}, the limits (p99 at most 200 ms, errors at most 0.1 %) hold up to"
        f" a value between {low:.0f} users and {high:.0f} users (middle {middle:.0f} users; 95 % interval over 3"
        " blocks)."
    )
    return SearchResult(
        arm=arm,
        varies="users",
        runs=runs,
        n=len(values),
        value=middle,
        low=low,
        high=high,
        half_width=0.02,
        against=None,
        sentences=[sentence],
    )
