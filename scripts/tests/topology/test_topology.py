# SPDX-License-Identifier: Apache-2.0
import pytest

from steelyard.errors import BadInput
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.matrix import Arm, expand, with_settings
from steelyard.experiment.workloads import WORKLOADS
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import JvmIdentity, TopologyRecord
from steelyard.topology.plan import check_conserved, plan_topology
from steelyard.topology.split import Core, split_cores, split_heap
from steelyard.units import MIB

SMT8: list[Core] = [tuple(range(8 * core, 8 * core + 8)) for core in range(6)]


def single(count: int) -> list[Core]:
    return [(cpu,) for cpu in range(count)]


def arms(*settings: str) -> dict[str, Arm]:
    experiment = with_settings(load_experiment(EXPERIMENTS / "jvm-count.yaml"), settings)
    return {arm.name: arm for arm in expand(experiment)}


def plan(arm: Arm, cores: list[Core], jvm: JvmIdentity) -> TopologyRecord:
    return plan_topology(arm, cores, jvm, WORKLOADS["ping"])


@pytest.mark.parametrize(
    ("cores", "jvms", "cpus", "shared"),
    [
        (4, 1, [(0, 1, 2, 3)], 1),
        (4, 2, [(0, 1), (2, 3)], 1),
        (4, 4, [(0,), (1,), (2,), (3,)], 1),
        (2, 4, [(0,), (0,), (1,), (1,)], 2),
        (2, 12, [(0,)] * 6 + [(1,)] * 6, 6),
        (4, 6, [(0, 1)] * 3 + [(2, 3)] * 3, 3),
        (2, 3, [(0, 1)] * 3, 3),
    ],
)
def test_cores_are_shared_evenly(cores: int, jvms: int, cpus: list[tuple[int, ...]], shared: int) -> None:
    shares = split_cores(single(cores), jvms)
    assert [share.cpus for share in shares] == cpus
    assert {share.shared_with for share in shares} == {shared}
    assert sum(share.cores for share in shares) == pytest.approx(cores)


def test_smt_siblings_stay_together() -> None:
    shares = split_cores(SMT8, 3)
    assert shares[1].cpus == tuple(range(16, 32))
    assert shares[1].cores == 2


def test_heap_is_split_in_whole_mebibytes() -> None:
    for jvms, share in ((1, 1536), (2, 768), (4, 384), (6, 256), (12, 128)):
        assert split_heap(1536 * MIB, [1] * jvms) == [share * MIB] * jvms


def test_a_heap_that_does_not_split_evenly_is_refused() -> None:
    with pytest.raises(BadInput, match="1536 MiB does not split evenly over 100 JVMs"):
        split_heap(1536 * MIB, [1] * 100)


def test_arms_of_the_study_conserve_cores_and_heap(hotspot: JvmIdentity) -> None:
    topologies = {name: plan(arm, single(2), hotspot) for name, arm in arms().items()}
    check_conserved(topologies, ["jvms"])
    assert {sum(i.heap_bytes or 0 for i in t.instances) for t in topologies.values()} == {1536 * MIB}
    assert all(t.injectors_share_cores for t in topologies.values())
    assert topologies["jvms-12"].notes == ["jvms-12: 12 JVMs on 2 cores share them evenly, 0.167 core each"]
    assert [i.port for i in topologies["jvms-2"].instances] == [9080, 9081]


def test_unequal_totals_are_refused_unless_they_are_the_question(hotspot: JvmIdentity) -> None:
    changed = load_experiment(EXPERIMENTS / "jvm-count.yaml").model_dump()
    changed["deployment"]["total_heap"] = None
    changed["deployment"]["jvm"]["heap"] = 256 * MIB
    experiment = load_experiment(EXPERIMENTS / "jvm-count.yaml").model_validate(changed)
    topologies = {arm.name: plan(arm, single(2), hotspot) for arm in expand(experiment)}
    with pytest.raises(BadInput, match="total heap is 256 MiB in jvms-1 and 3072 MiB in jvms-12"):
        check_conserved(topologies, ["jvms"])
    check_conserved(topologies, ["jvms", "heap"])


def test_a_heap_below_what_liberty_needs_is_refused(hotspot: JvmIdentity) -> None:
    with pytest.raises(BadInput, match=r"arm jvms-64: 24 MiB of heap for one of 64 JVMs is below the 32 MiB"):
        plan(arms("jvms=1,64")["jvms-64"], single(2), hotspot)


def test_a_large_host_keeps_a_quarter_of_its_cores_for_the_injectors(hotspot: JvmIdentity) -> None:
    topology = plan(arms()["jvms-2"], single(8), hotspot)
    assert (topology.server_cores, topology.injector_cpus) == (6, [6, 7])
    assert not topology.injectors_share_cores
    assert [instance.cpus for instance in topology.instances] == [[0, 1, 2], [3, 4, 5]]


def test_spare_cores_go_to_the_injectors(hotspot: JvmIdentity) -> None:
    topology = plan(arms("cores=2")["jvms-2"], single(4), hotspot)
    assert (topology.server_cores, topology.injector_cpus) == (2, [2, 3])


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (["cores=4"], "needs 4 cores, this host offers 2: lower cores"),
        (["injector_cores=2"], "cores for servers and 2 for injectors, this host offers 2"),
    ],
)
def test_too_few_cores_are_refused(hotspot: JvmIdentity, settings: list[str], says: str) -> None:
    with pytest.raises(BadInput) as caught:
        plan(arms(*settings)["jvms-1"], single(2), hotspot)
    assert says in str(caught.value)
