# SPDX-License-Identifier: Apache-2.0
"""Topologies with several services, databases and a proxy."""

import pytest

from steelyard.analysis.mix import settling_mix
from steelyard.errors import BadInput
from steelyard.experiment.loader import load_experiment
from steelyard.experiment.matrix import Arm, expand, with_settings
from steelyard.experiment.workloads import WORKLOADS
from steelyard.load.injector import plan_injectors
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import JvmIdentity, TopologyRecord
from steelyard.topology.plan import check_conserved, plan_topology
from steelyard.units import MIB

ACMEAIR = WORKLOADS["acmeair"]
SERVICES = ["auth", "customer", "flight", "booking", "main"]


def arms(name: str, *settings: str) -> dict[str, Arm]:
    experiment = with_settings(load_experiment(EXPERIMENTS / f"{name}.yaml"), settings)
    return {arm.name: arm for arm in expand(experiment)}


def plan(arm: Arm, jvm: JvmIdentity, cores: int = 2) -> TopologyRecord:
    return plan_topology(arm, [(cpu,) for cpu in range(cores)], jvm, ACMEAIR)


def test_monolith_and_microservices_have_equal_cores_and_heap(hotspot: JvmIdentity) -> None:
    topologies = {name: plan(arm, hotspot) for name, arm in arms("acmeair-topology").items()}
    check_conserved(topologies, ["topology"])
    monolith, services = (topologies[f"topology-{name}"].instances for name in ("monolith", "microservices"))
    assert [one.heap_bytes for one in monolith] == [2048 * MIB]
    assert [one.service for one in services] == SERVICES
    assert [(one.heap_bytes or 0) // MIB for one in services] == [256, 512, 512, 512, 256]
    assert {tuple(one.cpus) for one in [*monolith, *services]} == {(0, 1)}
    assert sum(one.cores for one in services) == pytest.approx(2)


def test_each_service_has_as_many_jvms_as_asked_for(hotspot: JvmIdentity) -> None:
    topology = plan(arms("acmeair-topology", "jvms=4", "total_heap=8g")["topology-microservices"], hotspot)
    assert [one.name for one in topology.instances if one.service == "flight"] == [
        f"flight-{number}" for number in (1, 2, 3, 4)
    ]
    assert {one.server for one in topology.instances} == {f"acmeair-{name}" for name in SERVICES}
    assert len(topology.instances) == 20


def test_no_two_parts_have_the_same_port_and_the_proxy_has_the_first(hotspot: JvmIdentity) -> None:
    topology = plan(arms("acmeair-topology")["topology-microservices"], hotspot)
    assert len(set(topology.ports)) == len(topology.ports) == 5 + 3 + 1
    assert [(one.name, one.port) for one in topology.backing if one.kind == "proxy"] == [("proxy", 9080)]
    in_containers = topology.model_copy(update={"engine": "compose"})
    assert len(in_containers.ports) == 5 + 1


def test_databases_stand_with_the_injectors_and_the_proxy_with_the_servers(hotspot: JvmIdentity) -> None:
    topology = plan(arms("acmeair-topology")["topology-microservices"], hotspot, cores=8)
    cpus = {one.name: one.cpus for one in topology.backing}
    assert cpus["proxy"] == topology.instances[0].cpus == [0, 1, 2, 3, 4, 5]
    assert cpus["customer-database"] == cpus["flight-database"] == topology.injector_cpus == [6, 7]


def test_settings_reach_the_servers_that_have_them(hotspot: JvmIdentity) -> None:
    topology = plan(
        arms("acmeair-topology", "threads=64", "indexes=secondary")["topology-microservices"], hotspot
    )
    by_service = {one.service: one.environment for one in topology.instances}
    assert all(environment["EXECUTOR_THREADS"] == "64" for environment in by_service.values())
    assert by_service["booking"]["ACMEAIR_INDEXES"] == "secondary"
    assert "ACMEAIR_INDEXES" not in by_service["auth"]
    # The services that call others, and no other, are given time to do so.
    patient = {name for name, variables in by_service.items() if "ACMEAIR_REWARDS_TIMEOUT" in variables}
    assert patient == {"auth", "booking"}


def test_every_server_of_a_workload_with_data_is_told_the_same_day(hotspot: JvmIdentity) -> None:
    arm = arms("acmeair-topology")["topology-microservices"]
    preset = plan(arm, hotspot)
    other = plan_topology(arm, [(0,), (1,)], hotspot, ACMEAIR, today="system")
    assert {one.environment["ACMEAIR_TODAY"] for one in preset.instances} == {"2026-06-15"}
    assert {one.environment["ACMEAIR_TODAY"] for one in other.instances} == {"system"}


@pytest.mark.parametrize(
    ("name", "setting", "says"),
    [
        ("jvm-count", "customers=200", "customers means nothing to the workload ping"),
        ("jvm-count", "topology=monolith", "topology means nothing to the workload ping"),
        ("acmeair-topology", "indexes=many", "indexes"),
        ("acmeair-scale", "topology=mesh", "topology"),
        ("acmeair-scale", "customers=0", "customers"),
    ],
)
def test_what_a_workload_does_not_have_is_refused(name: str, setting: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        arms(name, setting)


def test_injectors_and_servers_agree_on_the_day_and_the_customers(hotspot: JvmIdentity, tmp_path) -> None:
    arm = arms("acmeair-topology", "customers=1000")["topology-microservices"]
    topology = plan(arm, hotspot)
    kind = ACMEAIR.kinds[topology.topology]
    settings = plan_injectors(arm.load, kind, ["http://p"], [0], 1, tmp_path)[0].settings
    assert settings["customers"] == topology.customers == 1000
    assert settings["today"] == topology.instances[1].environment["ACMEAIR_TODAY"]
    assert settings["workload"] == "acmeair-microservices"
    assert settings["visitsPerLogin"] == 5


def test_the_mix_is_that_of_the_published_plans() -> None:
    """Per 1,000 requests, as worked out from the plans (workload sheet, effective mix)."""
    monolith, services = (ACMEAIR.kinds[name].mix() for name in ("monolith", "microservices"))
    expected = {"login": (101.5, 24.8), "query-flight": (507.7, 621.2), "book-flight": (68.5, 83.8)}
    for operation, (one, five) in expected.items():
        assert monolith[operation] * 1000 == pytest.approx(one, abs=0.5)
        assert services[operation] * 1000 == pytest.approx(five, abs=0.5)
    assert monolith["logout"] == monolith["login"]
    assert "logout" not in services


def test_a_growing_operation_may_have_any_share_up_to_its_own() -> None:
    settled = {"query": 0.6, "book": 0.2, "cancel": 0.2}
    assert settling_mix(settled, ["cancel"], {}) == pytest.approx({"query": 0.75, "book": 0.25, "cancel": 0})
    assert settling_mix(settled, ["cancel"], {"cancel": 0.1}) == pytest.approx(
        {"query": 0.675, "book": 0.225, "cancel": 0.1}
    )
    assert settling_mix(settled, ["cancel"], {"cancel": 0.4}) == pytest.approx(settled)
