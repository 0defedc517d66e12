# SPDX-License-Identifier: Apache-2.0
"""How CPUs are divided, on hosts made up at random: NUMA nodes, threads, CPUs offline or not allowed."""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from builders import make_jvm
from hypothesis import given, settings
from hypothesis import strategies as st
from planned import processes, question

from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment
from steelyard.experiment.matrix import expand
from steelyard.host import cpus
from steelyard.host.cpus import CpuLayout, cpu_list, parse_cpu_list, read_layout
from steelyard.host.system import System
from steelyard.results.spec import Spec
from steelyard.session.duet import halves
from steelyard.spec.layout import FIRST_PORT
from steelyard.spec.plan import make_spec
from steelyard.spec.resources import ROLES, resources_of, total_resources
from steelyard.spec.split import with_injector_cores

MOST_CPUS = 192
QUESTIONS = (
    ("jvm-count", "jvms=1,2,3,4,6"),
    ("jvm-count", "jvms=1,2,12", "cores=4"),
    ("jvm-count", "jvms=2,3", "cores=3", "injector_cores=2"),
    ("jvm-count", "jvms=1,5", "injector_cores=shared"),
    ("numa", "jvms=2"),
    ("numa", "jvms=3", "cores=5"),
    ("jitserver-shared", "jitserver.cores=2"),
    ("daytrader-scale", "jvms=1,2,4"),
    ("acmeair-topology",),
)
"""Experiments with settings; none has a class cache or a build that is asked for."""


@dataclass(frozen=True)
class Host:
    """A host, and what of it may be used."""

    cores: list[list[int]]
    """Threads of each physical core, offline ones too."""
    nodes: int
    offline: frozenset[int]
    kept_away: frozenset[int]
    """By a CPU set or an affinity."""

    @property
    def usable(self) -> list[list[int]]:
        """Threads of each physical core that may be used; cores without any left out."""
        without = self.offline | self.kept_away
        left = ([cpu for cpu in core if cpu not in without] for core in self.cores)
        return [core for core in left if core]

    def node(self, core: int) -> int:
        return core * self.nodes // len(self.cores)

    @property
    def files(self) -> dict[str, str]:
        """What its kernel shows; CPUs that are offline have no topology, and no node."""
        online = [cpu for core in self.cores for cpu in core if cpu not in self.offline]
        shown = {"sys/devices/system/cpu/online": cpu_list(online)}
        members: dict[int, list[int]] = {}
        for number, core in enumerate(self.cores):
            siblings = [cpu for cpu in core if cpu not in self.offline]
            members.setdefault(self.node(number), []).extend(siblings)
            for cpu in siblings:
                folder = f"sys/devices/system/cpu/cpu{cpu}/topology"
                shown[f"{folder}/core_id"] = str(number % 8)  # not unique, as on many hosts
                shown[f"{folder}/physical_package_id"] = str(self.node(number) // 2)
                shown[f"{folder}/thread_siblings_list"] = cpu_list(siblings)
        shown.update(
            (f"sys/devices/system/node/node{8 * node}/cpulist", cpu_list(inside))
            for node, inside in members.items()
        )
        return shown

    def read(self) -> CpuLayout:
        """Its layout as a plan reads it."""
        files, allowed = self.files, {cpu for core in self.cores for cpu in core} - self.kept_away

        class Shown(System):
            def text(self, name: str) -> str | None:
                return files.get(name)

            def glob(self, folder: str, pattern: str) -> list[Path]:
                depth, prefix = len(folder.split("/")), pattern.partition("[")[0]
                inside = {"/".join(name.split("/")[: depth + 1]) for name in files if name.startswith(folder)}
                return sorted(map(Path, (name for name in inside if prefix in name)))

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cpus, "System", Shown)
            return read_layout(Path("/made-up"), allowed=allowed)


@st.composite
def hosts(draw: st.DrawFn) -> Host:
    """Hosts of 2 to 192 CPUs, numbered core by core as on POWER, or all first threads first as on x86."""
    threads = draw(st.sampled_from([1, 2, 4, 8]))
    count = draw(st.integers(2 if threads == 1 else 1, MOST_CPUS // threads))
    nodes = draw(st.integers(1, min(4, count)))
    each = [
        [core * threads + thread if by_core else thread * count + core for thread in range(threads)]
        for by_core in [draw(st.booleans())]
        for core in range(count)
    ]
    number = st.integers(0, count * threads - 1)
    some = st.frozensets(number, max_size=count * threads // 2)
    span = st.tuples(number, number).map(lambda ends: frozenset(range(*sorted(ends))))
    lost = st.just(frozenset[int]()) | span | some
    host = Host(each, nodes, draw(lost), draw(lost))
    return host if host.usable else Host(each, nodes, host.offline, frozenset())


@given(hosts())
def test_every_usable_cpu_is_in_one_core_with_its_siblings(host: Host) -> None:
    layout = host.read()
    assert sorted(map(sorted, host.usable)) == sorted(sorted(core.cpus) for core in layout.cores)
    assert len(layout.cpus) == len(set(layout.cpus))
    for number, core in enumerate(host.cores):
        assert {layout.node_of[cpu] for cpu in core if cpu in layout.node_of} <= {8 * host.node(number)}
    assert all(one.node <= other.node for one, other in pairwise(layout.cores)), (
        "those of a node are neighbours"
    )
    assert set(parse_cpu_list(cpu_list(layout.cpus))) == set(layout.cpus)


@given(hosts())
def test_the_sides_of_a_duet_have_no_cpu_in_common(host: Host) -> None:
    cores = [core.cpus for core in host.read().cores]
    if len(cores) < 2:
        with pytest.raises(BadInput, match="two cores"):
            halves(cores)
        return
    first, second = halves(cores)
    assert len(first) == len(second) == len(cores) // 2
    assert not set(first) & set(second)
    assert set(first + second) <= set(cores)


@cache
def asked(keys: tuple[str, ...]) -> LoadedExperiment:
    return question(*keys)


RUNTIME = processes(make_jvm("openj9", 21))
_TOO_FEW = re.compile(r"this host offers \d+: lower cores|leaves none of \d+ to the servers")


def plan(keys: tuple[str, ...], layout: CpuLayout) -> Mapping[str, Spec]:
    """The specs by arm; empty where the host has too few cores, which is refused."""
    found, cores = asked(keys), [core.cpus for core in layout.cores]
    arms = expand(found.experiment, found.settings)
    arms = with_injector_cores(arms, {arm.name: len(cores) for arm in arms})
    procedure, nodes = found.experiment.procedure, layout.node_of
    try:
        return {
            arm.name: make_spec(arm, procedure, found.workload, cores, RUNTIME, FIRST_PORT, nodes=nodes)
            for arm in arms
        }
    except BadInput as error:
        if _TOO_FEW.search(str(error)):
            return {}
        raise


@pytest.mark.parametrize("keys", QUESTIONS, ids=" ".join)
@given(hosts())
def test_no_cpu_is_given_twice_and_siblings_stay_together(keys: tuple[str, ...], host: Host) -> None:
    layout = host.read()
    core_of = {cpu: core.cpus for core in layout.cores for cpu in core.cpus}
    planned = plan(keys, layout)
    for spec in planned.values():
        for component in spec.components:
            own = component.cpus
            assert own == sorted(set(own)), component.name
            assert set(own) == {cpu for one in own for cpu in core_of[one]}, "whole cores"
        check_sides(spec)
        check_servers(spec, core_of)
        check_sums(spec)
    assert len({spec.server_cores for spec in planned.values()}) <= 1
    assert len({tuple(spec.injectors[0].cpus) for spec in planned.values()}) <= 1


def check_sides(spec: Spec) -> None:
    """The load side and the servers' have no CPU in common, unless they share all."""
    load = {cpu for component in spec.of("injector", "database") for cpu in component.cpus}
    served = {cpu for component in spec.of("server", "compiler", "proxy") for cpu in component.cpus}
    assert load == served if spec.injectors_share_cores else not load & served


def check_servers(spec: Spec, core_of: Mapping[int, tuple[int, ...]]) -> None:
    """JVMs have the same cores or none in common, as many of them as each is told, and all cores in all."""
    servers = spec.servers
    for server in servers:
        alike = [other for other in servers if other.cpus == server.cpus]
        assert len(alike) == server.cpus_shared_with
        assert all(other in alike or not set(other.cpus) & set(server.cpus) for other in servers)
        assert server.cores == pytest.approx(servers[0].cores)
        assert len({core_of[cpu] for cpu in server.cpus}) == pytest.approx(server.cores * len(alike))
    compilers = {cpu for compiler in spec.of("compiler") for cpu in compiler.cpus}
    served = {cpu for server in servers for cpu in server.cpus}
    own = compilers if not compilers & served else set()
    cores = {core_of[cpu] for cpu in served | own}
    assert len(cores) == spec.server_cores
    assert sum(server.cores for server in servers) == pytest.approx(
        spec.server_cores - len({core_of[cpu] for cpu in own})
    )


def check_sums(spec: Spec) -> None:
    """The CPUs that `plan` and the report print of each role, and in all."""
    total = total_resources(spec).cpus
    each = [resources_of(spec.of(role)).cpus for role in ROLES]
    assert total == len({cpu for component in spec.without_injectors for cpu in component.cpus})
    assert max(each) <= total <= sum(each)


@settings(max_examples=150)
@given(hosts(), st.floats(0.1, 0.9))
def test_a_number_of_cores_is_of_as_few_nodes_as_hold_it(host: Host, share: float) -> None:
    layout = host.read()
    check_nodes(layout, max(1, round(share * len(layout.cores))))


@pytest.mark.parametrize("wanted", [3, 4, 5])
def test_a_first_node_that_is_too_small_is_passed_over(wanted: int) -> None:
    """Of nodes with one core and with four, servers of three had the one and two of the four."""
    host = Host([[core] for core in range(8)], 2, frozenset({1, 2, 3}), frozenset())
    check_nodes(host.read(), wanted)


def check_nodes(layout: CpuLayout, wanted: int) -> None:
    """Servers of so many cores are on the fewest nodes that hold them."""
    sizes = Counter(core.node for core in layout.cores).most_common()
    fewest = next(n for n in range(1, len(sizes) + 1) if sum(size for _, size in sizes[:n]) >= wanted)
    for spec in plan(("jvm-count", "jvms=1,2", f"cores={wanted}", "injector_cores=shared"), layout).values():
        assert len({layout.node_of[cpu] for cpu in spec.server_cpus}) == fewest


def test_jvms_with_unequal_threads_are_noted() -> None:
    """Of a core only one thread may be used: one JVM had three CPUs and the other four, in silence."""
    host = Host([[2 * core, 2 * core + 1] for core in range(4)], 1, frozenset(), frozenset({7}))
    planned = plan(("jvm-count", "jvms=1,2", "injector_cores=shared"), host.read())
    notes = {
        name: [note for note in spec.notes if "threads online" in note] for name, spec in planned.items()
    }
    assert notes["jvms-1"] == []
    (note,) = notes["jvms-2"]
    assert note.startswith("jvms-2: JVMs of 2 cores each have 3 to 4 CPUs")
