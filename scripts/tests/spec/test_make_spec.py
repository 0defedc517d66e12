# SPDX-License-Identifier: Apache-2.0
"""From arms to specs: CPUs, heap, ports, environment, options, equal resources."""

from typing import Any

import pytest
from builders import make_jvm
from planned import asked, containers, cores, processes, question, specs, specs_of

from steelyard.engines.process.command import Places, environment
from steelyard.errors import BadInput
from steelyard.experiment.loader import LoadedExperiment
from steelyard.experiment.matrix import expand
from steelyard.experiment.settings import Settings
from steelyard.jvm.rows import FOLDER
from steelyard.measure.offered_load import settling_mix
from steelyard.paths import EXPERIMENTS
from steelyard.results.spec import ORDER, Spec
from steelyard.session.plan import check_fits_host
from steelyard.spec.agreement import requested_settings
from steelyard.spec.plan import make_spec
from steelyard.spec.split import Offer, auto_injector_cores, check_conserved, split_cores, split_total
from steelyard.units import MIB
from steelyard.workload.loader import load_workload

SERVICES = ["auth", "customer", "flight", "booking", "main"]
KINDS = [*SERVICES, "proxy", "customer-database", "flight-database", "booking-database"]


def topologies(*settings: str, **more: Any) -> tuple[Spec, Spec]:
    """The monolith and the microservices."""
    found = specs("acmeair-topology", *settings, **more)
    return found["topology-monolith"], found["topology-microservices"]


@pytest.mark.parametrize(
    ("count", "jvms", "cpus", "shared"),
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
def test_cores_are_shared_evenly(count: int, jvms: int, cpus: list[tuple[int, ...]], shared: int) -> None:
    shares = split_cores(cores(count), jvms)
    assert [share.cpus for share in shares] == cpus
    assert {share.shared_with for share in shares} == {shared}
    assert sum(share.cores for share in shares) == pytest.approx(count)


def test_smt_siblings_stay_together() -> None:
    shares = split_cores(cores(6, threads=8), 3)
    assert shares[1].cpus == tuple(range(16, 32))
    assert shares[1].cores == 2


def test_spread_servers_have_cores_from_all_over() -> None:
    bound, spread = specs("numa", host=cores(8), nodes=2).values()
    assert [one.cpus for one in bound.servers] == [[0, 1, 2], [4, 5, 6]]
    assert [one.cpus for one in spread.servers] == [[0, 2, 5], [1, 4, 6]]
    assert bound.injectors[0].cpus == spread.injectors[0].cpus == [3, 7]


@pytest.mark.parametrize(
    ("each", "nodes"), [(4, 2), (5, 2), (6, 2), (7, 2), (8, 2), (16, 2), (8, 4), (16, 8)]
)
def test_bound_servers_lie_on_one_node_each(each: int, nodes: int) -> None:
    """The injectors' quarter was that of the last node, and the second of two JVMs had cores of both."""
    planned = specs("numa", f"jvms={nodes}", host=cores(each * nodes), nodes=nodes)
    for placement, most in (("bound", 1), ("spread", nodes)):
        spec = planned[f"numa-{placement}"]
        across = [len({cpu // each for cpu in server.cpus}) for server in spec.servers]
        assert max(across) <= most
        assert not [note for note in spec.notes if "NUMA" in note]
    kept = [cpu // each for cpu in planned["numa-bound"].injectors[0].cpus]
    assert {kept.count(node) for node in range(nodes)} == {len(kept) // nodes}, "as many of each node"
    assert planned["numa-spread"].injectors[0].cpus == planned["numa-bound"].injectors[0].cpus


@pytest.mark.parametrize(
    ("settings", "servers", "injectors"),
    [
        # What fits one node is of one, and the rest of that node is the injectors'.
        (("cores=4", "injector_cores=4"), [[0, 1], [2, 3]], [4, 5, 6, 7]),
        (("cores=4", "injector_cores=shared"), [[0, 1], [2, 3]], [0, 1, 2, 3]),
        # What does not has equally many of both.
        (("cores=12",), [[0, 1, 2, 3, 4, 5], [8, 9, 10, 11, 12, 13]], [6, 7, 14, 15]),
    ],
)
def test_a_number_of_cores_is_of_the_fewest_nodes(
    settings: tuple[str, ...], servers: list[list[int]], injectors: list[int]
) -> None:
    spec = specs("jvm-count", "jvms=1,2", *settings, host=cores(16), nodes=2)["jvms-2"]
    assert [server.cpus for server in spec.servers] == servers
    assert spec.injectors[0].cpus == injectors


def test_a_jvm_on_several_nodes_is_noted() -> None:
    planned = specs("jvm-count", "jvms=1,2,3", "injector_cores=shared", host=cores(12), nodes=2)
    notes = {name: [note for note in spec.notes if "NUMA" in note] for name, spec in planned.items()}
    assert notes == {
        "jvms-1": ["jvms-1: 1 of 1 JVMs have cores of several NUMA nodes"],
        "jvms-2": [],
        "jvms-3": ["jvms-3: 1 of 3 JVMs have cores of several NUMA nodes"],
    }


@pytest.mark.parametrize(
    ("kind", "host", "noted"),
    [
        ("hotspot", cores(2), "20 JVMs with 2 GC threads by default are 40 GC threads"),
        ("openj9", cores(2), "20 JVMs with 2 GC threads by default are 40 GC threads"),
        # Of 16 CPUs HotSpot takes 13 each.
        ("hotspot", cores(16), "20 JVMs with 13 GC threads by default are 260 GC threads"),
        ("openj9", cores(16), "20 JVMs with 16 GC threads by default are 320 GC threads"),
        # None has fewer than one.
        ("hotspot", cores(1), None),
    ],
)
def test_gc_threads_that_jvms_choose_themselves_are_noted(kind: Any, host: Any, noted: str | None) -> None:
    planned = specs(
        "gc-threads-20-jvms", "injector_cores=shared", host=host, runtime=processes(make_jvm(kind))
    )
    notes = [note for note in planned["gc-threads-default"].notes if "GC threads" in note]
    assert len(notes) == (noted is not None)
    assert noted is None or noted in notes[0]


@pytest.mark.parametrize(("threads", "told"), [(1, True), (8, False)])
def test_more_gc_threads_than_the_hardware_can_feed_are_noted(threads: int, told: bool) -> None:
    """20 JVMs with 4 GC threads on 4 cores: 80 are more than 4 x 4, and not more than 4 x 32."""
    found = specs("gc-threads-20-jvms", "injector_cores=shared", host=cores(4, threads))["gc-threads-4"]
    notes = [note for note in found.notes if "GC threads" in note]
    assert bool(notes) is told
    assert not told or "20 JVMs with 4 GC threads are 80 GC threads, more than 4 for each of 4" in notes[0]


@pytest.mark.parametrize(
    ("feature", "settings", "is_noted"),
    [(17, {}, True), (21, {}, True), (21, {"jvm_args": ["-XX:+ZGenerational"]}, False), (25, {}, False)],
)
def test_memory_that_zgc_maps_three_times_is_noted(
    feature: int, settings: dict[str, Any], is_noted: bool
) -> None:
    """By hand, HotSpot 17.0.15: 100 MB of objects in a heap of 256 MiB are 592 MB of RSS and 251 MB of PSS."""
    found = asked("ping", deployment={"jvm": {"gc": "z", **settings}})
    notes = [
        note
        for spec in specs_of(found, runtime=processes(make_jvm(feature=feature))).values()
        for note in spec.notes
        if "three times" in note
    ]
    assert bool(notes) is is_noted


def test_a_setting_that_a_container_is_not_told_is_refused() -> None:
    process = specs("ingress")["ingress-access-log"].component("proxy")
    assert process.files["clients.conf"] == "keepalive_requests 10000;\naccess_log access.log;\n"
    assert process.files["workers.conf"] == "worker_processes 10;\nworker_rlimit_nofile 163840;\n"
    runtime = containers("database", "server", *KINDS, jvm=make_jvm("hotspot"))
    with pytest.raises(BadInput, match="its container is not told proxy_workers, proxy_connections"):
        specs("ingress", "engine=compose", runtime=runtime)
    both = specs("acmeair-topology", "engine=compose", runtime=runtime)
    assert both["topology-microservices"].component("proxy").container is not None


def test_heap_is_split_in_whole_mebibytes() -> None:
    for jvms, share in ((1, 1536), (2, 768), (4, 384), (6, 256), (12, 128)):
        assert split_total(1536 * MIB, [1] * jvms, "total_heap") == [share * MIB] * jvms
    assert split_total(2048 * MIB, [1, 2, 2, 2, 1], "total_heap") == [
        n * MIB for n in (256, 512, 512, 512, 256)
    ]


def test_a_heap_that_does_not_split_evenly_is_refused() -> None:
    with pytest.raises(BadInput, match="1536 MiB does not split evenly over 100 JVMs"):
        split_total(1536 * MIB, [1] * 100, "total_heap")


def test_several_jvms_of_what_is_there_once_are_refused() -> None:
    """Two arms would be the same, or two JVMs with a database in each share nothing."""
    says = (
        "jvms is 2, but the topology single of daytrader7 is one JVM with its database in it, which is there once:"
        " take jvms 1, or the topology shared"
    )
    with pytest.raises(BadInput, match=says):
        specs("jvm-count", "jvms=1,2", workload="daytrader7")
    found = specs("jvm-count", "jvms=1,2", "topology=shared", workload="daytrader7")
    assert [len(spec.servers) for spec in found.values()] == [1, 2]
    database = found["jvms-2"].component("database")
    told = {one.environment["TRADE_DB_PORT"] for one in found["jvms-2"].servers}
    assert told == {str(database.port)}, "one database for both"


def test_arms_of_the_study_conserve_cores_and_heap() -> None:
    found = specs("jvm-count")
    check_conserved(found, ["jvms"])
    assert {sum(one.heap_bytes or 0 for one in spec.servers) for spec in found.values()} == {1536 * MIB}
    assert all(spec.injectors_share_cores for spec in found.values())
    assert found["jvms-12"].notes == ["jvms-12: 12 JVMs on 2 cores share them evenly, 0.167 core each"]
    assert [one.port for one in found["jvms-2"].servers] == [9080, 9081]
    assert found["jvms-2"].entry == ["server-1", "server-2"]


@pytest.mark.parametrize(
    ("deployment", "varied", "says"),
    [
        ({"jvm": {"heap": "256m"}}, ["jvms"], "total heap is 256 MiB in jvms-1 and 512 MiB in jvms-2"),
        ({"jvm": {"heap": "256m"}}, ["jvms", "heap"], None),
        ({}, ["jvms"], None),
        ({"total_heap": "512m"}, ["jvms"], None),
        (
            {"engine": "compose", "memory": "256m", "total_heap": "128m"},
            ["jvms"],
            "total memory limit is 256 MiB in jvms-1",
        ),
        ({"engine": "compose", "memory": "256m", "total_heap": "128m"}, ["jvms", "memory"], None),
        ({"engine": "compose", "total_memory": "512m", "total_heap": "128m"}, ["jvms"], None),
    ],
)
def test_arms_have_equal_resources_unless_that_is_the_question(
    deployment: dict[str, Any], varied: list[str], says: str | None
) -> None:
    runtime = containers("server", jvm=make_jvm("openj9")) if "engine" in deployment else processes()
    found = specs_of(asked("ping", deployment=deployment), runtime=runtime)
    if says is None:
        check_conserved(found, varied)
    else:
        with pytest.raises(BadInput, match=says):
            check_conserved(found, varied)


def test_a_heap_left_to_the_jvm_is_unknown_and_not_zero() -> None:
    found = asked(
        "ping", factors={"t": {"levels": {"a": {"jvms": 1, "total_heap": "64m"}, "b": {"jvms": 2}}}}
    )
    with pytest.raises(BadInput, match="total heap is 64 MiB in t-a and left to the JVM in t-b"):
        check_conserved(specs_of(found), ["jvms"])
    assert {key for key, _ in found.experiment.factors["t"].values("t")} == {"jvms", "total_heap"}


def test_a_total_memory_limit_is_split_over_the_jvms() -> None:
    runtime = containers("server", jvm=make_jvm("openj9"))
    found = specs("jvm-count", "engine=compose", "total_memory=2g", "jvms=1,2", runtime=runtime)
    assert [[one.memory_bytes for one in spec.servers] for spec in found.values()] == [
        [2048 * MIB],
        [1024 * MIB] * 2,
    ]
    _, services = topologies(
        "engine=compose",
        "total_memory=4g",
        runtime=containers(*KINDS, "server", "database", jvm=make_jvm("openj9")),
    )
    assert [(one.memory_bytes or 0) // MIB for one in services.servers] == [512, 1024, 1024, 1024, 512]
    assert services.component("proxy").memory_bytes is None
    with pytest.raises(BadInput, match="total_memory of 1000 MiB does not split evenly over 600 JVMs"):
        split_total(1000 * MIB, [1] * 600, "total_memory")


def test_cores_that_differ_are_refused_unless_they_are_the_question() -> None:
    found = specs_of(asked("ping", factors={"cores": {"levels": [1, 2]}}), cores(4))
    with pytest.raises(BadInput, match="server cores is 1 in cores-1 and 2 in cores-2"):
        check_conserved(found, [])
    check_conserved(found, ["cores"])


def test_a_heap_below_what_the_server_needs_is_refused() -> None:
    with pytest.raises(BadInput, match=r"arm jvms-64: 24 MiB of heap for a server is below the 32 MiB"):
        specs("jvm-count", "jvms=1,64")


@pytest.mark.parametrize("count", [2, 8, 12, 14, 16, 20, 24, 28, 36, 40, 128])
def test_jvms_have_cores_of_their_own_or_the_plan_says_that_they_share(count: int) -> None:
    """On 12 cores nine were left: 2 and 4 JVMs were on all nine in silence, 6 and 12 on three each."""
    planned = specs("jvm-count", host=cores(count))
    for name, spec in planned.items():
        shared = {server.cpus_shared_with for server in spec.servers} != {1}
        said = [note for note in spec.notes if note.startswith(f"{name}: {len(spec.servers)} JVMs")]
        assert bool(said) is shared, (name, spec.notes)
    assert len({spec.server_cores for spec in planned.values()}) == 1
    if count in (16, 20, 24, 36, 40, 128):
        assert not [note for spec in planned.values() for note in spec.notes if "JVMs" in note]


def test_jvms_that_are_not_pinned_apart_are_noted() -> None:
    found = specs("jvm-count", "jvms=2,4", "injector_cores=2", host=cores(8))
    assert found["jvms-2"].notes == []
    (note,) = found["jvms-4"].notes
    assert note.startswith(
        "jvms-4: 4 JVMs are not pinned apart, as 6 cores do not split evenly: 2 share 3 cores"
    )


@pytest.mark.parametrize(
    ("name", "settings", "host", "more"),
    [
        ("jvm-count", (), cores(128), 192),
        ("jvm-count", (), cores(2), None),
        ("jvm-count", ("think_time=1s",), cores(128), None),
        ("cpu-limits", ("users=2",), cores(128), 4),
        # Six cores of a POWER9 with eight are the servers'.
        ("daytrader-scale", ("jvms=1,2",), cores(8, threads=8), 96),
        ("daytrader-scale", ("jvms=1,2", "users=96"), cores(8, threads=8), None),
        # Its users pause, and a rate is no number of requests in flight.
        ("olio-fixed-load", ("users=20",), cores(128), None),
        ("load-levels", (), cores(128), None),
    ],
)
def test_users_who_cannot_keep_the_cpus_busy_are_noted(
    name: str, settings: tuple[str, ...], host: Any, more: int | None
) -> None:
    planned = specs(name, *settings, host=host)
    notes = {note for spec in planned.values() for note in spec.notes if "at a time" in note}
    assert bool(notes) is (more is not None), notes
    assert more is None or any(note.endswith(f"raise users to {more} or more") for note in notes), notes


@pytest.mark.parametrize("name", ["smt", "scale-smt"])
@pytest.mark.parametrize("quick", [False, True])
def test_smt_has_the_users_that_a_small_power9_needs(name: str, quick: bool) -> None:
    """8 users of the quick form could use 8 of 48 CPUs: more threads of a core had nothing to do."""
    planned = specs(name, "smt=off,on", quick=quick, host=cores(8, threads=8))
    assert not [note for spec in planned.values() for note in spec.notes if "at a time" in note]


def test_a_large_host_keeps_a_quarter_of_its_cores_for_the_injectors() -> None:
    spec = specs("jvm-count", host=cores(8))["jvms-2"]
    assert (spec.server_cores, spec.injectors[0].cpus) == (6, [6, 7])
    assert not spec.injectors_share_cores
    assert [one.cpus for one in spec.servers] == [[0, 1, 2], [3, 4, 5]]


def test_spare_cores_go_to_the_injectors() -> None:
    spec = specs("jvm-count", "cores=2", host=cores(4))["jvms-2"]
    assert (spec.server_cores, spec.injectors[0].cpus) == (2, [2, 3])


@pytest.mark.parametrize(
    ("offers", "even"),
    [
        # 15 and 12 cores would be left: the load side has 12 in both.
        ([(1, 16), (4, 16)], 12),
        ([(1, 4), (2, 4)], 2),
        # All cores are the servers' in one of the arms of a small host: shared in both.
        ([(1, 2), ("all", 2)], "shared"),
        ([(1, 8), ("all", 8)], 2),
        ([(2, 4), (2, 4)], 2),
        ([("all", 2), ("all", 2)], "shared"),
        # A quarter, or what lets the JVMs of most arms come out even, and never more than half.
        ([("all", 12)], 3),
        ([("all", 12, 1), ("all", 12, 2)], 4),
        ([("all", 12, jvms) for jvms in (1, 2, 4)], 4),
        ([("all", 24, jvms) for jvms in (1, 2, 4, 6, 12)], 12),
        ([("all", 28, jvms) for jvms in (1, 2, 4, 6, 12)], 8),
        ([("all", 7, 2)], "shared"),
    ],
)
def test_the_load_side_has_the_same_cores_in_every_arm(offers: Any, even: int | str) -> None:
    assert auto_injector_cores([Offer(*offer) for offer in offers]) == even


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("cores=4", "needs 4 cores, this host offers 2: lower cores"),
        ("injector_cores=2", "cores for servers and 2 for injectors, this host offers 2"),
    ],
)
def test_too_few_cores_are_refused(setting: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        specs("jvm-count", setting)
    assert says in str(caught.value)


def test_monolith_and_microservices_have_equal_cores_and_heap() -> None:
    monolith, services = topologies()
    check_conserved({"monolith": monolith, "services": services}, ["topology"])
    assert [one.heap_bytes for one in monolith.servers] == [2048 * MIB]
    assert [one.kind for one in services.servers] == SERVICES
    assert [(one.heap_bytes or 0) // MIB for one in services.servers] == [256, 512, 512, 512, 256]
    assert {tuple(one.cpus) for spec in (monolith, services) for one in spec.servers} == {(0, 1)}
    assert sum(one.cores for one in services.servers) == pytest.approx(2)
    sharing, gc_threads = services.notes
    assert sharing == "topology-microservices: 5 JVMs of 5 services share all 2 cores"
    assert "5 JVMs with 2 GC threads by default are 10 GC threads" in gc_threads


def test_each_service_has_as_many_jvms_as_asked_for() -> None:
    _, services = topologies("jvms=4", "total_heap=8g")
    assert [one.name for one in services.servers if one.kind == "flight"] == [
        f"flight-{n}" for n in (1, 2, 3, 4)
    ]
    assert {one.artifact.words[0] for one in services.servers} == {f"acmeair-{name}" for name in SERVICES}
    assert len(services.servers) == 20
    assert sum(one.heap_bytes or 0 for one in services.servers) == 8192 * MIB


def test_components_start_in_the_order_of_their_roles() -> None:
    for spec in topologies():
        places = [ORDER.index(one.role) for one in spec.components]
        assert places == sorted(places)


def test_no_two_components_have_the_same_port_and_the_entry_has_the_first() -> None:
    _, services = topologies(first_port=7000)
    assert sorted(services.ports) == list(range(7000, 7000 + 5 + 3 + 1))
    assert services.component("proxy").port == 7000
    assert services.entry == ["proxy"]
    assert services.injectors[0].settings["targets"] == ["http://127.0.0.1:7000"]


def test_databases_stand_with_the_injectors_and_the_proxy_with_the_servers() -> None:
    _, services = topologies(host=cores(8))
    cpus = {one.name: one.cpus for one in services.components}
    assert cpus["proxy"] == cpus["auth-1"] == [0, 1, 2, 3, 4, 5]
    assert cpus["customer-database"] == cpus["flight-database"] == cpus["injector-1"] == [6, 7]


def test_settings_reach_the_servers_that_have_them_and_are_read_back() -> None:
    _, services = topologies("threads=64", "acmeair.indexes=secondary")
    by_kind = {one.kind: one for one in services.servers}
    assert {one.environment["EXECUTOR_THREADS"] for one in by_kind.values()} == {"64"}
    assert by_kind["booking"].environment["ACMEAIR_INDEXES"] == "secondary"
    assert "ACMEAIR_INDEXES" not in by_kind["auth"].environment
    assert by_kind["booking"].expected_info == {
        "indexes": "secondary",
        "json": "original",
        "today": "2026-06-15",
        "executorThreads": "64",
    }
    assert by_kind["auth"].expected_info == {"executorThreads": "64"}
    # The services that call others, and no other, are given time to do so.
    assert {
        kind for kind, one in by_kind.items() if any(key.endswith("_TIMEOUT") for key in one.environment)
    } == {
        "auth",
        "booking",
    }


def test_what_lies_with_another_component_is_found_by_its_name() -> None:
    """A filestore of several servers lies with the database: one copy of it for a trial."""
    planned = specs_of(asked("olio", deployment={"topology": "shared"}, factors={"jvms": {"levels": [1, 2]}}))
    for spec in planned.values():
        assert spec.limits.operations["home-page"].p90 == 1.0
        for server in spec.servers:
            assert server.environment["OLIO_FILESTORE"] == "${folder:database}/data/files"
            places = Places(f"/trial/servers/{server.name}", None, "")
            assert environment(server, places)["OLIO_FILESTORE"] == "/trial/servers/database/data/files"


def test_a_thread_pool_that_cannot_be_set_is_refused() -> None:
    found = load_workload("ping")
    changed = found.workload.model_dump(by_alias=True)
    changed["topologies"]["single"]["components"]["server"]["threads"] = None
    asked_of = asked("ping", deployment={"threads": 8})
    workload = found._replace(workload=type(found.workload).model_validate(changed))
    with pytest.raises(BadInput, match="ping, server: its thread pool cannot be set"):
        specs_of(asked_of._replace(workload=workload))


def test_injectors_and_servers_agree_on_the_day_and_the_customers() -> None:
    _, services = topologies("acmeair.customers=1000", "acmeair.today=2026-06-16")
    told = services.injectors[0].settings
    assert told["scenario"] == "acmeair-microservices"
    assert told["parameters"] == {"customers": 1000, "today": "2026-06-16", "visitsPerLogin": 5}
    assert {one.environment["ACMEAIR_TODAY"] for one in services.servers if one.kind != "auth"} == {
        "2026-06-16"
    }
    assert services.data[0].path == "/customer/loader/load?numCustomers=1000"
    assert services.consistency[0].equals == "1000"
    assert services.settings["acmeair.customers"] == 1000


def test_what_a_workload_does_not_have_is_refused() -> None:
    for name, setting, says in (
        ("jvm-count", "topology=monolith", "ping has no topology monolith: there is single"),
        ("acmeair-scale", "topology=mesh", "acmeair has no topology mesh: there is monolith, microservices"),
    ):
        with pytest.raises(BadInput, match=says):
            specs(name, setting)


def test_the_mix_is_that_of_the_published_plans() -> None:
    """Per 1,000 requests, as worked out from the plans (workload sheet, effective mix)."""
    found = {}
    for topology in ("monolith", "microservices"):
        deployment = {"topology": topology, "total_heap": "1g"}
        (first, *_) = specs_of(
            asked("acmeair", deployment=deployment, factors={"users": {"levels": [1, 2]}})
        ).values()
        found[topology] = first.mix
    expected = {"login": (101.5, 24.8), "query-flight": (507.7, 621.2), "book-flight": (68.5, 83.8)}
    for operation, (one, five) in expected.items():
        assert found["monolith"][operation] * 1000 == pytest.approx(one, abs=0.5)
        assert found["microservices"][operation] * 1000 == pytest.approx(five, abs=0.5)
    assert found["monolith"]["logout"] == found["monolith"]["login"]
    assert "logout" not in found["microservices"]


def test_a_growing_operation_may_have_any_share_up_to_its_own() -> None:
    settled = {"query": 0.6, "book": 0.2, "cancel": 0.2}
    assert settling_mix(settled, ["cancel"], {}) == pytest.approx({"query": 0.75, "book": 0.25, "cancel": 0})
    assert settling_mix(settled, ["cancel"], {"cancel": 0.1}) == pytest.approx(
        {"query": 0.675, "book": 0.225, "cancel": 0.1}
    )
    assert settling_mix(settled, ["cancel"], {"cancel": 0.4}) == pytest.approx(settled)


def test_where_nothing_else_is_asked_for_nothing_can_grow() -> None:
    assert settling_mix({"a": 1.0}, ["a"], {"a": 1.0}) == {"a": 1.0}
    settled = {"a": 0.1, "b": 0.2, "c": 0.7, "d": 0.0}
    assert settling_mix(settled, ["a", "b", "c"], {"a": 0.9, "b": 0.1}) == settled


def test_what_grows_and_is_no_part_of_the_mix_changes_nothing() -> None:
    """How often it comes depends on what answers say, or the load has no visit that asks for it."""
    settled = {"query": 0.75, "book": 0.25}
    assert settling_mix(settled, ["cancel"], {"query": 0.7, "book": 0.3}) == pytest.approx(settled)


def test_servers_get_the_jvm_and_the_rest_the_injectors() -> None:
    openj9 = make_jvm("openj9", 21)
    monolith, _ = topologies(runtime=processes(openj9))
    assert monolith.servers[0].artifact.jvm == openj9
    assert monolith.servers[0].artifact.build == "b0"
    assert monolith.servers[0].jvm_options[0] == "-Xmx2048m"
    assert monolith.servers[0].jvm_options[-1].startswith(f"-Xverbosegclog:{FOLDER}/logs/gc.")
    database = monolith.component("database")
    assert database.artifact.jvm == make_jvm("hotspot")
    assert database.artifact.build == "t0"
    assert (database.jvm_settings, database.jvm_options) == (None, ["-Xmx1g", "-XX:+UseParallelGC"])
    assert monolith.embedded[0].startswith("The database was the embedded one")


def test_in_containers_components_reach_each_other_by_name() -> None:
    runtime = containers(*KINDS, "server", "database", jvm=make_jvm("openj9", 21), embedded=frozenset())
    monolith, services = topologies("engine=compose", "memory=2g", runtime=runtime)
    server = monolith.servers[0]
    assert (server.artifact.form, server.artifact.image, server.artifact.build) == (
        "image",
        "reg/server@sha256:1",
        "b0",
    )
    assert server.container is not None
    assert (server.container.port, server.port, server.memory_bytes) == (9080, 9080, 2048 * MIB)
    assert "MONGO_HOST" not in server.environment  # the bundle leads it there
    assert server.environment["ACMEAIR_INDEXES"] == "none"
    database = monolith.component("database")
    assert (database.host, database.port, database.artifact.build) == ("database", None, None)
    assert database.memory_bytes is None
    assert sorted(services.ports) == list(range(9080, 9086))
    assert services.injectors[0].settings["targets"] == ["http://proxy:8080"]
    assert services.injectors[0].artifact.image == "reg/injector@sha256:1"
    assert services.bundle == "acmeair-microservices"
    assert services.embedded == []


def test_an_image_that_tells_no_jvm_takes_no_jvm_settings() -> None:
    says = "gc cannot be set, because the JVM of the image reg/server@sha256:1 is not known.*put `java` on"
    with pytest.raises(BadInput, match=f"ping, server: {says}"):
        specs("jvm-count", "engine=compose", runtime=containers("server", jvm=None))
    plain = specs_of(asked("ping", deployment={"engine": "compose"}), runtime=containers("server", jvm=None))
    assert plain["jvms-1"].servers[0].jvm_options == []
    assert "does not tell what it is" in plain["jvms-1"].not_read_back[0]


def foreign(process: dict[str, Any], deployment: dict[str, Any]) -> LoadedExperiment:
    """A workload of one server that is started by a command of its own."""
    found = load_workload("ping")
    changed = found.workload.model_dump(by_alias=True)
    changed["packages"] = {}
    changed["topologies"]["single"]["components"]["server"].update(
        process=process, container=None, threads=None
    )
    workload = found._replace(workload=type(found.workload).model_validate(changed))
    made = asked("ping", deployment=deployment)
    return made._replace(workload=workload, settings=Settings(workload.workload, {}))


def test_a_command_takes_jvm_options_where_it_says() -> None:
    words = ["${java}", "${jvm_options}", "-jar", "x.jar", "--port", "${port}"]
    spec = specs_of(foreign({"command": words}, {"total_heap": "64m"}))["jvms-2"]
    server = spec.component("server-2")
    assert server.artifact.words == ["${java}", "${jvm_options}", "-jar", "x.jar", "--port", "9081"]
    assert server.jvm_options[0] == "-Xmx32m"
    assert server.artifact.jvm is not None


@pytest.mark.parametrize(
    ("deployment", "says"),
    [
        ({"total_heap": "64m"}, "a heap cannot be set, because nothing takes the JVM's options"),
        ({"jvm": {"gc": "serial", "pages": "large"}}, "gc, pages cannot be set"),
        ({"jvm": {"jvm_args": ["-Da=b"]}}, "jvm_args cannot be set"),
    ],
)
def test_a_command_without_a_place_for_options_takes_no_jvm_settings(
    deployment: dict[str, Any], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        specs_of(foreign({"command": ["node", "server.js"]}, deployment))


def test_a_command_that_is_no_jvm_runs_without_settings() -> None:
    spec = specs_of(foreign({"command": ["node", "server.js"]}, {}))["jvms-1"]
    assert spec.servers[0].artifact.jvm is None
    assert spec.servers[0].jvm_settings is None


def test_a_workload_that_does_not_say_how_it_runs_on_an_engine_is_refused() -> None:
    with pytest.raises(
        BadInput, match="ping does not say how its server runs with the compose engine: add container"
    ):
        specs_of(foreign({"command": ["node"]}, {"engine": "compose"}), runtime=containers("server"))


def test_the_spec_is_the_same_after_a_session_file() -> None:
    for name in ("jvm-count", "acmeair-topology", "start-up", "ramp-up"):
        for spec in specs(name).values():
            assert Spec.model_validate_json(spec.model_dump_json()) == spec


def test_a_cache_that_comes_in_an_image_needs_one() -> None:
    with pytest.raises(BadInput, match="class_cache: baked is a cache that comes in the image"):
        specs("start-up", "class_cache=none,baked")
    found = specs(
        "start-up",
        *("class_cache=none,baked", "engine=compose"),
        runtime=containers("server", "database", jvm=make_jvm("openj9")),
    )
    (server,) = found["class-cache-baked"].servers
    assert "class_cache" in server.read_back
    assert found["class-cache-baked"].caches("cold", "warm") == []


def test_the_experiment_decides_the_procedure_and_host_states() -> None:
    spec = specs_of(question("start-up", "thp=never"))["class-cache-warm"]
    assert (spec.procedure, spec.caches("warm"), spec.host_states) == (
        "start-up",
        ["server"],
        {"thp": "never"},
    )
    assert spec.needs_preparation
    assert not specs("jvm-count")["jvms-1"].needs_preparation


@pytest.mark.parametrize(
    ("workload", "topology", "says"),
    [
        ("daytrader7", "single", ["Apache Derby"]),
        ("daytrader7", "shared", []),
        ("olio", "single", ["Apache Derby", "The geocoder is an emulator"]),
        ("olio", "shared", ["The geocoder is an emulator"]),
    ],
)
def test_figures_on_derby_say_so_in_containers_too(workload: str, topology: str, says: list[str]) -> None:
    runtime = containers("server", "database", "geocoder", jvm=make_jvm("openj9", 21))
    found = asked(
        workload,
        deployment={"engine": "compose", "topology": topology},
        settings={f"{workload}.database": "postgresql"} if topology == "shared" else {},
        factors={"cores": {"levels": [1, 2]}},
    )
    for spec in specs_of(found, cores(4), runtime).values():
        assert len(spec.embedded) == len(says)
        assert all(any(text in note for note in spec.embedded) for text in says)


def test_a_larger_host_has_the_levels_that_the_file_of_cpu_limits_names() -> None:
    typed = ("cpus=0.5,1,2,4", "processor_count=default,4")
    text = (EXPERIMENTS / "cpu-limits.yaml").read_text(encoding="utf-8")
    assert all(f"--set {setting}" in text for setting in typed)
    planned = specs("cpu-limits", *typed, host=cores(8), runtime=None)
    counted = {
        (spec.servers[0].cpu_quota, requested_settings(spec.servers[0])["processors"])
        for spec in planned.values()
    }
    assert len(planned) == 8
    assert counted == {(0.5, 1), (1, 1), (2, 2), (4, 4), (0.5, 4), (1, 4), (2, 4)}, "at 4 both count the same"
    check_fits_host(planned)


@pytest.mark.parametrize("listen", ["127.0.0.1", "0.0.0.0"])
def test_processes_listen_where_they_are_asked_to_and_are_asked_at_the_loopback_address(listen: str) -> None:
    """Unless somebody asks for more, this host alone reaches them."""
    found = question("acmeair-topology")
    arm = next(one for one in expand(found.experiment, found.settings) if "microservices" in one.name)
    spec = make_spec(arm, "steady", found.workload, ((0,), (1,)), processes(), 9080, listen)
    (proxy,) = spec.of("proxy")
    assert proxy.files["listen.conf"] == f"listen {listen}:{proxy.port};\n"
    for server in spec.servers:
        assert environment(server, Places("/t", "/p", "/c"))["HTTP_HOST"] == listen
    assert {one.host for one in spec.components} == {"127.0.0.1"}


def test_a_quota_is_each_servers_and_its_jvm_counts_by_it() -> None:
    found = specs("cpu-limits", "cpus=0.5,1.5", host=cores(2), runtime=None)
    wanted = {name: requested_settings(spec.servers[0]) for name, spec in found.items()}
    assert {spec.servers[0].cpu_quota for spec in found.values()} == {0.5, 1.5}
    assert {spec.component("injector-1").cpu_quota for spec in found.values()} == {None}
    told = {name: (one["quota"], one["processors"]) for name, one in wanted.items()}
    assert told == {
        "cpus-0.5_processor-count-default": ("0.50 CPUs", 1),
        "cpus-0.5_processor-count-2": ("0.50 CPUs", 2),
        "cpus-1.5_processor-count-default": ("1.50 CPUs", 2),
        "cpus-1.5_processor-count-2": ("1.50 CPUs", 2),
    }
    assert "quota" in found["cpus-0.5_processor-count-2"].servers[0].read_back
    openj9 = specs("cpu-limits", "cpus=0.4,1.4,1.5", host=cores(2), runtime=processes(make_jvm("openj9", 21)))
    counted = {name: requested_settings(spec.servers[0]).get("processors") for name, spec in openj9.items()}
    assert [counted[f"cpus-{cpus}_processor-count-default"] for cpus in ("0.4", "1.4", "1.5")] == [1, 1, 2]
    assert counted["cpus-1.4_processor-count-2"] == 2
    with pytest.raises(BadInput, match="cpus 4 limits nothing, because server-1 has 2 CPUs on this host"):
        specs("cpu-limits", "cpus=1,4", host=cores(2), runtime=None)
    with pytest.raises(BadInput, match=r"total CPU quota is 0\.5 in jvms-1 and 1 in jvms-2"):
        check_conserved(specs("jvm-count", "jvms=1,2", "cpus=0.5", host=cores(2), runtime=None), {"jvms"})
