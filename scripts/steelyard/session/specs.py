# SPDX-License-Identifier: Apache-2.0
"""The specs of the arms of an experiment, on the cores that this host or a cluster offers."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from steelyard.errors import BadInput, FitsNoNode
from steelyard.experiment.matrix import Arm
from steelyard.experiment.schema import Experiment
from steelyard.host.cards import SERVERS
from steelyard.host.cpus import CpuLayout, cpu_list
from steelyard.host.smt import planned_cores
from steelyard.host.states import STATES
from steelyard.results.spec import Spec
from steelyard.session.duet import check_duet, halves
from steelyard.session.runtimes import RuntimeResolver
from steelyard.spec.plan import make_spec
from steelyard.spec.split import Core, count_uneven, with_injector_cores

Specs = tuple[dict[str, Spec], dict[str, Spec]]
"""By arm; of a duet those on the first half of the cores, and those on the second."""
Layouts = Callable[[Arm], CpuLayout]
"""The cores of this host once the host states of an arm are set."""


def make_specs(
    arms: Sequence[Arm], experiment: Experiment, runtimes: RuntimeResolver, first_port: int
) -> Specs:
    """The specs by arm; of a duet those on the first half of the cores, and those on the second, with other ports (in
    turns both on all cores).

    Of a cluster, arms whose servers have all CPUs get as many as leave each pod a node: by their number alone a server
    might get more than any node has. The injectors keep theirs. Numbers that come out even for the most arms go first.

    Raises:
        BadInput, MissingRequirement: as `make_spec`, and what the engine cannot have.
    """
    half = 0 if experiment.design.duet is True else None
    layouts = _read_layouts()
    offered = {arm.name: len(_cores(arm, runtimes, layouts, half)[0]) for arm in arms}
    arms = with_injector_cores(arms, offered)
    try:
        return _specs(arms, experiment, runtimes, layouts, first_port)
    except FitsNoNode as error:
        cpus = runtimes.cluster_cpus()
        for fewer in sorted(range(1, cpus), key=lambda fewer: (count_uneven(arms, fewer), -fewer)):
            try:
                return _specs(arms, experiment, runtimes, layouts, first_port, unused=cpus - fewer)
            except BadInput:
                continue
        raise error from None


def _specs(
    arms: Sequence[Arm],
    experiment: Experiment,
    runtimes: RuntimeResolver,
    layouts: Layouts,
    first_port: int,
    unused: int = 0,
) -> Specs:
    def specs(port: int, half: int | None) -> dict[str, Spec]:
        return {arm.name: _spec(arm, experiment, runtimes, layouts, port, half, unused) for arm in arms}

    sides = (0, 1) if experiment.design.duet is True else (None, None)
    first = specs(first_port, sides[0])
    if not experiment.design.duet:
        return first, {}
    check_duet(first)
    beyond = max((port for spec in first.values() for port in spec.ports), default=first_port) + 1
    return first, specs(beyond, sides[1])


def _spec(
    arm: Arm,
    experiment: Experiment,
    runtimes: RuntimeResolver,
    layouts: Layouts,
    first_port: int,
    half: int | None,
    unused: int,
) -> Spec:
    runtime = runtimes.runtime(arm.deployment, dict(arm.settings))
    cores, nodes = _cores(arm, runtimes, layouts, half, unused)
    if arm.deployment.numa == "spread" and layouts(arm).nodes < 2:
        raise BadInput(
            f"arm {arm.name}: numa: spread means nothing on this host, whose cores lie on one NUMA node: leave it out"
        )
    made = runtimes.check_engine(
        make_spec(arm, experiment.procedure, runtimes.workload, cores, runtime, first_port, nodes=nodes)
    )
    server_cpus = cpu_list(made.server_cpus)
    host = {
        name: STATES[name].of_servers.format(server_cpus)
        if value == SERVERS and STATES[name].of_servers
        else value
        for name, value in made.host_states.items()
    }
    notes = list(made.notes)
    if unused and runtime.cpus is not None and arm.deployment.cores == "all":
        notes.append(
            f"{unused} of the cluster's {runtime.cpus} CPUs were left unused so that each pod fits a node: cores and"
            " injector_cores divide them otherwise."
        )
    return made.model_copy(update={"host_states": host, "duet": experiment.design.duet, "notes": notes})


def _read_layouts() -> Layouts:
    """Arms of the same host states get one reading: a processor may go, or come, in between."""
    read = cache(lambda states: planned_cores(dict(states)))
    return lambda arm: read(frozenset(arm.host.items()))


def _cores(
    arm: Arm, runtimes: RuntimeResolver, layouts: Layouts, half: int | None, unused: int = 0
) -> tuple[Sequence[Core], Mapping[int, int]]:
    """The cores that an arm may use, and the NUMA node of each of their CPUs; `unused`: CPUs of a cluster."""
    runtime, layout = runtimes.runtime(arm.deployment, dict(arm.settings)), layouts(arm)
    cores: Sequence[Core] = [core.cpus for core in layout.cores]
    nodes = layout.node_of
    if runtime.cpus is not None:
        # A cluster's CPUs are told apart by nothing but their number.
        cores, nodes = [(cpu,) for cpu in range(runtime.cpus - unused)], {}
    return cores if half is None else halves(cores)[half], nodes
