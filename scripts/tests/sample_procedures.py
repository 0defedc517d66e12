# SPDX-License-Identifier: Apache-2.0
"""Sample sessions of the other procedures, and of a search: simple curves with noise, no measurement."""

import math
import random
from typing import Any

from sample import Plan, session_of
from sample_figures import CORES, JVM
from searches import RAISE, check, figures, run, search_trial

from steelyard.analysis.estimates import analyse
from steelyard.analysis.search_result import search_results
from steelyard.analysis.searching import question_of
from steelyard.results.analysis import Analysis
from steelyard.results.measurement import ComponentResult
from steelyard.results.schema import Planned, Session, Trial
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
    dead = [] if lived else ["the container of server-1 was killed because memory ran out"]
    return {"survived": lived, "measurement": trial.measurement.model_copy(update={"restarts": dead})}


def ramp_up_plan() -> Plan:
    """Three states of the class cache, load from the first second."""
    return Plan(
        name="ramp-up",
        title="Ramp-up with and without a class cache",
        question="How fast do servers come to their full throughput, by the state of their class cache?",
        factors={"class_cache": {"label": "class cache", "levels": list(STATES)}},
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
        disturbed=((2, "class_cache-cold"),),
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
        procedure="survive",
        primary="survived",
        shape=_survive,
    )


EDGES = {"jvms-1": (322.0, 309.0, 331.0), "jvms-2": (545.0, 570.0, 551.0)}
"""Users of an arm in each block beyond which a limit is broken."""


def capacity() -> tuple[Session, list[Trial], Analysis]:
    """A search for the most users, of two arms in three blocks; one of its trials is disturbed."""
    plan = Plan(
        name="capacity",
        title="Most users within the limits",
        question="How many users does the monolith serve within p99 of 200 ms and 0.1 % errors?",
        factors={"jvms": {"label": "JVMs", "levels": [1, 2]}},
        blocks=3,
        search=RAISE,
    )

    def outcome(place: Planned) -> Trial:
        assert place.value is not None
        if (place.block, place.attempt) == (2, 4):
            return search_trial(place, checks=[check("steal", "The hypervisor took 3.40 % of the CPU time.")])
        within = place.value < EDGES[place.arm][place.block - 1]
        return search_trial(place, metrics=figures(100.0 if within else 231.0))

    session = session_of(plan)
    question = question_of(session)
    assert question is not None
    trials = run(question, session.schedule, outcome)
    results = search_results(session, trials)
    return session, trials, analyse(session, trials).model_copy(update={"searches": results})
