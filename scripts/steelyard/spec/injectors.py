# SPDX-License-Identifier: Apache-2.0
"""Injectors of a spec: their settings but for `output` and `seed` (loadgen/README.md), and the mix that they intend."""

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import BadInput
from steelyard.experiment.schema import Load
from steelyard.jvm.identity import JvmIdentity
from steelyard.results.spec import Artifact, Component, Spec
from steelyard.spec.layout import Runtime, fill_value
from steelyard.units import quote_value
from steelyard.workload.journey import Journey, MixPart, mix_counts
from steelyard.workload.schema import ContainerPlace, Topology
from steelyard.yamlfile import Scalar

PACKAGE = "loadgen"
"""The package of a build that injectors run from."""
_WORDS = [
    *("-cp", "${package}/lib/*"),
    *("dev.steelyard.loadgen.Main", "${folder}/settings.json"),
]
ARCHIVE = "-XX:SharedArchiveFile="
"""Of classes that need not be loaded again; the process engine makes it once for each build and JVM. A JVM starts
without one that is not there."""
LATEST = 120.0
"""Seconds that an injector goes on for beyond its plan, should the harness's stop not come."""
MOST_IN_VARIABLE = 120 * 1024
"""Bytes of an injector's settings in a container: Linux passes 128 KiB in one variable, its name included."""
DRAIN_GRACE = 5.0
"""Seconds that an injector adds to the longest wait for an answer when it is to end."""
FEWEST_OPEN_USERS = 32
"""Users with which each injector of an open model begins, dealt out evenly over the servers (UserPool.java)."""
PROBE_LIMIT = 300.0
"""Seconds in which every operation of a start-up trial must have been answered."""


def injector_components(
    spec: Spec, topology: Topology, values: Mapping[str, Scalar], runtime: Runtime, cpus: Sequence[int]
) -> list[Component]:
    """The injectors of a spec that has everything else; each deals out its own part of users and rate.

    Raises:
        BadInput: more users than have rows of their own; a journey that no container takes.
    """
    jvm = runtime.injector_jvm
    probe = spec.procedure == "start-up"
    count = 1 if probe else spec.load.injectors
    if spec.engine == "process":
        special: dict[str, Any] = {
            "artifact": Artifact(form="java", package=PACKAGE, build=runtime.tools, jvm=jvm, words=_WORDS),
            "jvm_options": injector_options(jvm),
        }
    else:
        special = {
            "artifact": Artifact(form="image", image=runtime.images["injector"], jvm=jvm),
            "container": ContainerPlace(port=0, jvm_options=None, folder="/load"),
        }
    offered = {**_load_settings(spec, topology, values), "targets": targets(spec), "injectors": count}
    if topology.journey is not None and not probe:
        _check_rows(topology.journey, spec.load, len(offered["targets"]))
    size = len(json.dumps(offered))
    if spec.engine != "process" and size > MOST_IN_VARIABLE:
        raise BadInput(
            f"the journey has {size // 1024} KiB with its feeders and files, and a container takes"
            f" {MOST_IN_VARIABLE // 1024} KiB in a variable: give it fewer rows, or run it with --engine process"
        )
    return [
        Component(
            name=f"injector-{index + 1}",
            kind="load",
            role="injector",
            cpus=list(cpus),
            cpus_shared_with=count,
            settings={**offered, "injector": index, **({} if probe else load_of_all(spec.load))},
            **special,
        )
        for index in range(count)
    ]


def drain_limit(spec: Spec) -> float:
    """Seconds for which an injector that is to end waits for operations in flight at most: the longest that one may
    take to connect and to wait for a message or an event, and its grace (Settings.java, RunLife.java)."""
    journey = _journey(spec)
    within = journey.longest_within() if journey is not None else 0.0
    return spec.load.request_timeout + within + DRAIN_GRACE


def own_rows(spec: Spec) -> dict[str, int]:
    """Rows of the feeders that give each user its own."""
    journey = _journey(spec)
    return journey.own_rows() if journey is not None else {}


def _journey(spec: Spec) -> Journey | None:
    """What the injectors of a spec play, where it is data."""
    settings = spec.injectors[0].settings if spec.injectors else {}
    return Journey.model_validate(settings["journey"]) if "journey" in settings else None


def injector_options(jvm: JvmIdentity) -> list[str]:
    """JVM options of an injector (loadgen/README.md says why)."""
    options = [
        "-Xms256m",
        "-Xmx256m",
        "-XX:+UseParallelGC",
        "-XX:+ExitOnOutOfMemoryError",
        "--add-opens=java.base/java.lang=ALL-UNNAMED",
    ]
    if jvm.feature >= 24:
        options += ["--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow"]
    if jvm.kind == "hotspot":
        options.append(f"{ARCHIVE}${{package}}-classes-{jvm.runtime_version}-{jvm.architecture}.jsa")
    return options


def targets(spec: Spec) -> list[str]:
    """URLs that lead into the application, as the injectors reach them."""
    entry = [spec.component(name) for name in spec.entry]
    if spec.engine == "process":
        return [component.url for component in entry]
    by_kind = spec.through == "service"
    names = {component.kind if by_kind else component.name: component.container for component in entry}
    return [f"http://{name}:{place.port}" for name, place in names.items() if place is not None]


# As the injector reads them: JSON.
def load_of_all(load: Load) -> dict[str, Any]:
    """What every injector is told of the users or of the rate of all (loadgen/README.md, Several injectors)."""
    if load.users is not None:
        return {"users": load.users}
    return {"rate": load.rate, "arrivals": load.arrivals}


def _load_settings(spec: Spec, topology: Topology, values: Mapping[str, Scalar]) -> dict[str, Any]:
    load = spec.load
    settings: dict[str, Any] = {
        "model": load.model,
        "rampSeconds": load.ramp,
        # The harness ends the run with a stop file; this is the cap should it not come.
        "warmupSeconds": load.warmup.at_least if load.warmup.until == "fixed" else load.warmup.at_most,
        "measureSeconds": load.measure + LATEST,
        "thinkTimeMillis": round(load.think_time * 1000),
        "requestTimeoutMillis": round(load.request_timeout * 1000),
        "awaitStart": True,
    }
    if spec.procedure in ("start-up", "ramp-up"):
        settings |= {"rampSeconds": 0, "warmupSeconds": 0}
    if spec.procedure == "start-up":
        settings |= {"model": "probe", "measureSeconds": PROBE_LIMIT, "thinkTimeMillis": 0}
    written = {**topology.parameters, **(topology.probe if spec.procedure == "start-up" else {})}
    parameters = {name: fill_value(value, values, "parameters") for name, value in written.items()}
    if parameters:
        settings["parameters"] = parameters
    if topology.scenario is not None:
        settings["scenario"] = topology.scenario
    elif topology.journey is not None:
        settings["journey"] = topology.journey.document()
    if load.mix is not None:
        settings["mix"] = load.mix
    return settings


def mix_parts(topology: Topology, load: Load, values: Mapping[str, Scalar]) -> list[MixPart]:
    """What users do together and how often: the parts of the mix with their numbers, once all have settled.

    Raises:
        BadInput: a mix for a scenario that decides it itself, or of visits that there are not; times that are no
            number; no operation at all.
    """
    if topology.journey is not None:
        unknown = [name for name in load.mix or {} if name not in topology.journey.visits]
        if unknown:
            raise BadInput(
                f"mix: there is no visit {unknown[0]!r}: there are {', '.join(topology.journey.visits)}"
            )
        return topology.journey.parts(load.mix)
    if load.mix is not None:
        raise BadInput(
            "mix means nothing to this workload, whose scenario decides the operations: leave it out"
        )
    parts = [part.model_copy(update={"times": _times(part, values)}) for part in topology.mix]
    counts = mix_counts(parts)
    if not 0 < sum(counts.values()) < math.inf or min(counts.values()) < 0:
        raise BadInput("mix: the operations have no shares of all requests: give each a number above zero")
    return parts


def _check_rows(journey: Journey, load: Load, servers: int) -> None:
    """Refuse more users than have rows of their own (raises BadInput)."""
    users = load.users or load.injectors * servers * math.ceil(FEWEST_OPEN_USERS / servers)
    more = "" if load.users else " with which an open model begins (more come where answers are slow)"
    for name, rows in journey.own_rows().items():
        if users > rows:
            raise BadInput(
                f"feeder {name} has {rows} rows for {users} users{more}: give it as many, or an order other than user"
            )


def _times(part: MixPart, values: Mapping[str, Scalar]) -> float:
    times = fill_value(part.times, values, "mix")
    try:
        return float(str(times))
    except ValueError as error:
        raise BadInput(f"mix: times is a number of visits, not {quote_value(times)}") from error


def intended_mix(parts: Sequence[MixPart]) -> dict[str, float]:
    """Share of each operation in all requests."""
    counts = mix_counts(parts)
    total = sum(counts.values())
    return {operation: count / total for operation, count in counts.items()} if total else {}
