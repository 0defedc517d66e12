# SPDX-License-Identifier: Apache-2.0
"""Everything that is decided before the first trial: arms, topologies, schedule, JVMs, expected time."""

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import BadInput
from steelyard.experiment.loader import find_experiment, load_experiment
from steelyard.experiment.matrix import Arm, expand, with_quick, with_settings
from steelyard.experiment.schema import Experiment
from steelyard.experiment.workloads import WORKLOADS, Kind
from steelyard.host.cpus import read_layout
from steelyard.host.java import Jdk
from steelyard.host.ports import refuse_ephemeral
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import ScheduledTrial, TopologyRecord
from steelyard.session.schedule import make_schedule
from steelyard.session.toolchains import ImageToolchain, JdkToolchain, Toolchain, find_toolchains
from steelyard.topology.plan import check_conserved, plan_topology

START_CPU_SECONDS = 5.0
"""CPU seconds from process start to first response of one Liberty server on HotSpot (apps/README.md); for
the expected time only."""
FOREGROUND_START = 1.5
"""How much longer a start takes when it compiles in the foreground (docs/experiments.md)."""
INJECTOR_START_SECONDS = 3.0
STOP_SECONDS = 3.0


@dataclass(frozen=True)
class Request:
    """What the user asked for on the command line."""

    experiment: str
    quick: bool = False
    blocks: int | None = None
    settings: Sequence[str] = ()
    seed: int | None = None
    jdk: Path | None = None
    first_port: int = 9080

    def command(self, seed: int) -> str:
        """The command line that asks for the same again, with the seed that was used."""
        words = ["./steelyard", "run", self.experiment, *(["--quick"] if self.quick else [])]
        words += ["--blocks", str(self.blocks)] if self.blocks is not None else []
        words += [word for setting in self.settings for word in ("--set", setting)]
        words += ["--jdk", str(self.jdk)] if self.jdk is not None else []
        return shlex.join([*words, "--seed", str(seed)])


@dataclass(frozen=True)
class SessionPlan:
    """A session that can run."""

    experiment: Experiment
    quick: bool
    seed: int
    arms: list[Arm]
    topologies: dict[str, TopologyRecord]
    schedule: list[ScheduledTrial]
    toolchains: dict[str, Toolchain]
    """By engine."""
    first_port: int

    def arm(self, name: str) -> Arm:
        """The arm of that name."""
        return next(arm for arm in self.arms if arm.name == name)

    def kind(self, topology: TopologyRecord) -> Kind:
        """What the workload knows of the way in which a topology deploys it."""
        return WORKLOADS[self.experiment.workload].kinds[topology.topology]

    @property
    def main_toolchain(self) -> Toolchain:
        """That of the baseline arm's engine."""
        baseline = next(arm for arm in self.arms if arm.baseline)
        return self.toolchains[baseline.deployment.engine]

    @property
    def builder(self) -> Jdk | None:
        """The JDK that the Java parts are built with; None when nothing has to be built, because images have it all."""
        process = self.toolchains.get("process")
        return process.server if isinstance(process, JdkToolchain) else None

    @property
    def images(self) -> dict[str, str]:
        """Images by role, pinned; empty without containers."""
        compose = self.toolchains.get("compose")
        if not isinstance(compose, ImageToolchain):
            return {}
        return compose.images.by_role

    @property
    def injectors_share_cores(self) -> bool:
        """Whether injectors run on the servers' cores in any arm."""
        return any(topology.injectors_share_cores for topology in self.topologies.values())

    @property
    def notes(self) -> list[str]:
        """Sentences that belong beside every figure of the session."""
        notes = []
        if self.injectors_share_cores:
            notes.append(
                "The injectors ran on the servers' cores, so every figure includes their competition for CPU;"
                " throughput is that of servers and injectors together, and latency is not to be relied on."
            )
        if any(arm.deployment.jvm.compile == "foreground" for arm in self.arms):
            notes.append(
                "Servers compiled in the foreground, which shortens the warm-up and lengthens the start."
            )
        if any(self.has_embedded_database(topology) for topology in self.topologies.values()):
            notes.append(
                "The database was the embedded one, which speaks MongoDB's protocol and is not MongoDB: what depends on"
                " the database's own speed does not carry over."
            )
        jvms = {name: toolchain.server_jvm for name, toolchain in self.toolchains.items()}
        if len({(jvm.vm_name, jvm.runtime_version) for jvm in jvms.values()}) > 1:
            told = "; ".join(f"{name}: {jvm.vm_name} {jvm.runtime_version}" for name, jvm in jvms.items())
            notes.append(
                f"The engines ran different JVMs ({told}), so their difference is not the engines' alone."
            )
        return notes + [note for topology in self.topologies.values() for note in topology.notes]

    def has_embedded_database(self, topology: TopologyRecord) -> bool:
        """Whether a topology keeps its data in the embedded stand-in for MongoDB."""
        if not any(record.kind == "database" for record in topology.backing):
            return False
        toolchain = self.toolchains[topology.engine]
        return isinstance(toolchain, JdkToolchain) or toolchain.images.embedded_database

    def expected_seconds(self) -> tuple[float, float]:
        """Shortest and longest expected time of the whole session, repeats of void trials left out."""
        each = [self.expected_trial_seconds(place.arm) for place in self.schedule]
        return sum(low for low, _ in each), sum(high for _, high in each)

    def expected_trial_seconds(self, arm: str) -> tuple[float, float]:
        """Shortest and longest expected time of one trial of an arm."""
        load, topology = self.arm(arm).load, self.topologies[arm]
        starts = START_CPU_SECONDS * max(1.0, len(topology.instances) / topology.server_cores)
        if self.arm(arm).deployment.jvm.compile == "foreground":
            starts *= FOREGROUND_START
        fixed = starts + INJECTOR_START_SECONDS + load.ramp + load.measure + STOP_SECONDS
        longest = load.warmup.at_most if load.warmup.until == "steady" else load.warmup.at_least
        return fixed + load.warmup.at_least, fixed + longest


def make_plan(request: Request) -> SessionPlan:
    """Read, resolve and check everything that can be checked without starting anything.

    Raises:
        BadInput: the experiment or an option was refused.
        MissingRequirement: no suitable JDK, no `taskset`, no container engine or image.
    """
    path = find_experiment(request.experiment, EXPERIMENTS)
    experiment = load_experiment(path)
    if request.quick:
        experiment = with_quick(experiment)
    experiment = with_settings(experiment, request.settings)
    if request.blocks is not None:
        if request.blocks < 2:
            raise BadInput(f"--blocks {request.blocks} is too few: an interval needs two blocks or more")
        design = experiment.design.model_copy(update={"blocks": request.blocks})
        experiment = experiment.model_copy(update={"design": design})
    seed = request.seed if request.seed is not None else experiment.design.seed
    seed = seed if seed is not None else secrets.randbelow(2**31)
    return plan_for(experiment, request.quick, seed, request.jdk, request.first_port)


def plan_for(
    experiment: Experiment, quick: bool, seed: int, jdk: Path | None, first_port: int
) -> SessionPlan:
    """The plan of a resolved experiment on this host (see `make_plan` for errors)."""
    arms = expand(experiment)
    toolchains = find_toolchains([arm.deployment for arm in arms], experiment.workload, jdk)
    cores = [core.cpus for core in read_layout().cores]
    workload = WORKLOADS[experiment.workload]
    topologies = {
        arm.name: plan_topology(
            arm, cores, toolchains[arm.deployment.engine].server_jvm, workload, first_port
        )
        for arm in arms
    }
    refuse_ephemeral(port for topology in topologies.values() for port in topology.ports)
    varied = {key for arm in arms for key in _varied_settings(experiment, arm)}
    check_conserved(topologies, sorted(varied))
    return SessionPlan(
        experiment=experiment,
        quick=quick,
        seed=seed,
        arms=arms,
        topologies=topologies,
        schedule=make_schedule([arm.name for arm in arms], experiment.design.blocks, seed),
        toolchains=toolchains,
        first_port=first_port,
    )


def _varied_settings(experiment: Experiment, arm: Arm) -> set[str]:
    keys: set[str] = set()
    for name, factor in experiment.factors.items():
        group = factor.levels[str(arm.levels[name])] if isinstance(factor.levels, dict) else {name: None}
        keys |= set(group)
    return keys
