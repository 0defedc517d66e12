# SPDX-License-Identifier: Apache-2.0
import os
from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_jvm
from hostile import KnownResolver, calls

from steelyard.analysis.warmup import ACCEPTED_FROM
from steelyard.errors import BadInput, SteelyardError
from steelyard.experiment.loader import experiment_files, load_experiment
from steelyard.experiment.matrix import with_quick
from steelyard.experiment.schema import DeploymentSettings
from steelyard.host.cpus import Core, CpuLayout
from steelyard.host.java import Jdk
from steelyard.paths import EXPERIMENTS
from steelyard.results.schema import ScheduledTrial
from steelyard.session.plan import RunRequest, SessionPlan, host_checks, make_plan
from steelyard.session.schedule import START_CPU_SECONDS, trial_seconds
from steelyard.spec.layout import Runtime


def made(
    *settings: str, quick: bool = False, blocks: int | None = None, experiment: str = "jvm-count"
) -> SessionPlan:
    return make_plan(RunRequest(experiment, quick=quick, blocks=blocks, settings=settings, seed=5))


def plan_on_cores(monkeypatch: pytest.MonkeyPatch, count: int, nodes: int = 1) -> None:
    """Plans are made for so many cores of one thread each, as many on each NUMA node."""
    cores = tuple(Core(cpu * nodes // count, cpu * nodes // count, cpu, (cpu,)) for cpu in range(count))
    monkeypatch.setattr("steelyard.session.specs.planned_cores", lambda _host: CpuLayout(cores))


def test_every_block_of_the_schedule_holds_every_arm_once() -> None:
    plan = made("jvms=1,2", blocks=4)
    for block in range(1, 5):
        assert sorted(place.arm for place in plan.schedule if place.block == block) == ["jvms-1", "jvms-2"]
    assert [place.order for place in plan.schedule] == list(range(8))
    assert isinstance(plan.schedule[0], ScheduledTrial)


def test_expected_time_lies_between_the_shortest_and_the_longest_warm_up() -> None:
    plan = made("jvms=1", "gc_threads=1,2")
    low, high = plan.expected_seconds()
    starts = START_CPU_SECONDS[1] - START_CPU_SECONDS[0]
    assert high - low == (240 - ACCEPTED_FROM + starts) * len(plan.schedule)
    quick = made(quick=True).expected_seconds()
    assert quick[0] < 300 < quick[1]


@pytest.mark.parametrize("name", sorted(experiment_files(EXPERIMENTS)))
def test_a_quick_session_has_five_blocks(name: str) -> None:
    """But for searches, whose blocks are whole searches."""
    experiment, _, settings, _ = load_experiment(experiment_files(EXPERIMENTS)[name], host_checks())
    assert experiment.search is not None or with_quick(experiment, settings).design.blocks >= 5


def test_notes_belong_to_what_the_plan_does() -> None:
    shared = made("injector_cores=shared")
    assert shared.injectors_share_cores
    assert any("servers' cores" in note for note in shared.notes)
    assert any("foreground" in note for note in made(quick=True).notes)
    assert not any("foreground" in note for note in made().notes)
    cannot = "cannot show how far the topologies are apart once warm"
    assert any(cannot in note for note in made(quick=True, experiment="acmeair-topology").notes)
    assert not any(cannot in note for note in made(experiment="acmeair-topology").notes)


def test_engines_are_compared_with_equal_data_and_what_else_differs_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", KnownResolver)
    plan = made(experiment="olio-native-vs-container")
    assert {spec.data_once for spec in plan.specs.values()} == {False}, "a container has no folder to copy"
    assert any("The engines ran different JVMs (process: OpenJDK" in note for note in plan.notes)
    alone = made(experiment="olio-fixed-load")
    assert {spec.data_once for spec in alone.specs.values()} == {True}
    assert not any("different JVMs" in note for note in alone.notes)


@pytest.mark.parametrize("levels", ["hotspot-17,hotspot-25", "openj9-21,hotspot-25"])
def test_injectors_of_all_arms_run_on_one_jvm(levels: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the servers' cores an injector on a faster JVM is no gain of the server."""

    def known(name: str) -> Jdk:
        kind, feature = name.split("-")
        return Jdk(Path("java"), make_jvm("openj9" if kind == "openj9" else "hotspot", int(feature)))

    monkeypatch.setattr("steelyard.session.runtimes.jdk_of", known)
    plan = made(f"jdk={levels}", experiment="jvm-compare")
    servers = {server.artifact.jvm for spec in plan.specs.values() for server in spec.servers}
    injectors = {injector.artifact.jvm for spec in plan.specs.values() for injector in spec.injectors}
    assert (len(servers), len(injectors)) == (2, 1)
    assert not any("injectors ran on different JVMs" in note for note in plan.notes)


def test_injectors_on_different_jvms_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of an image bring their own."""

    class Resolver(KnownResolver):
        def runtime(self, deployment: DeploymentSettings, *settings: object) -> Runtime:
            found = super().runtime(deployment, *settings)
            return replace(found, injector_jvm=make_jvm(feature=17 if deployment.engine == "process" else 21))

    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", Resolver)
    said = [note for note in made(experiment="olio-native-vs-container").notes if note.startswith("The inj")]
    assert any("different JVMs (" in note and "17.0.1" in note and "21.0.1" in note for note in said)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"blocks": 1}, "--blocks 1: an interval needs two blocks or more"),
        (
            {"blocks": 100_000},
            "--blocks 100000: must be at most 1000",
        ),
        ({"seed": -1}, "--seed -1: must be at least 0"),
        ({"seed": 2**63}, f"--seed {2**63}: must be less than {2**63}"),
        ({"settings": ["total_heap=99999g"]}, "of heap and this host"),
        ({"settings": ["measure=140h"]}, "more than two weeks"),
        ({"settings": ["measure=145h"]}, "measure=145h: must be at most 518400"),
        ({"settings": ["think_time=2h"]}, "think_time=2h: must be at most 3600"),
        ({"settings": ["measure=9999h"]}, "'9999h' is more than a year"),
        ({"settings": ["measure=999ms"]}, "measure=999ms: must be at least 1"),
        (
            {"settings": ["request_timeout=0"]},
            "request_timeout=0: must be at least 0.001",
        ),
        ({"settings": ["request_timeout=15m"]}, "request_timeout=15m: must be at most 600"),
        (
            {"settings": ["users=100001"]},
            "100001 users are more than 100,000 for each injector: add injectors",
        ),
        ({"settings": ["nursery=1"]}, "'1' is less than 1 MiB|1 is less than 1 MiB"),
        ({"settings": ["nursery=1536m"]}, "nursery of 1536 MiB does not fit a heap of"),
        (
            {"settings": ["jvms=1", "initial_heap=512m,1537m"]},
            "initial_heap of 1537 MiB does not fit a heap of",
        ),
        ({"settings": ["gc_threads=99999999999"]}, "gc_threads=99999999999: must be at most 4096"),
        ({"settings": ["threads=99999999999"]}, "threads=99999999999: must be at most 10000"),
        ({"settings": ["users=1000001"]}, "users=1000001: must be at most 1000000"),
        ({"settings": ["primary=thruput"]}, "'primary' is not a setting"),
        ({"settings": ["mix={a: 1}"]}, "is not one value"),
        ({"settings": ["jvms=1", "jdk=" + ",".join("x" * n for n in (150, 200))]}, "has too long a name"),
        (
            {"settings": ["total_heap=8g", "jvms=" + ",".join(map(str, range(180, 200)))]},
            "JVMs, more than 2000",
        ),
        (
            {"settings": ["users=" + ",".join(map(str, range(30)))], "blocks": 1000},
            "trials, more than 20000|users=0",
        ),
        ({"settings": ["jvms=1,256", "total_heap=8g"], "first_port": 65400}, "65535 is the last there is"),
        ({"settings": ["engine=process"], "jdk": Path("/no/such/jdk")}, "/no/such/jdk"),
    ],
)
def test_what_makes_no_sense_is_refused(more: dict[str, object], says: str) -> None:
    with pytest.raises(SteelyardError, match=says) as caught:
        make_plan(RunRequest("jvm-count", **{"seed": 5, **more}))  # type: ignore[arg-type]
    assert len(str(caught.value)) <= 300


def test_levels_that_are_the_same_on_this_host_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    with pytest.raises(BadInput, match="are the same on this host"):
        made("jvms=1", "cores=all,1")


@pytest.mark.parametrize(
    ("settings", "quick"),
    [(("users=" + ",".join(map(str, range(1, 101))),), False), (("jvms=250,251,252,253,254,255,256",), True)],
)
def test_the_largest_plans_take_little_work(
    settings: tuple[str, ...], quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", KnownResolver)
    request = RunRequest(
        "jvm-count", settings=("total_heap=16g", "jvms=4", *settings), quick=quick, blocks=20
    )
    assert calls(lambda: make_plan(request)) < 10_000_000


def test_memory_limits_beyond_the_memory_of_the_host_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steelyard.session.plan.RuntimeResolver", KnownResolver)
    with pytest.raises(BadInput, match="of memory limits and this host"):
        made("engine=compose", "jvms=1,2", "total_memory=99999g")


def test_host_states_make_plots() -> None:
    plan = made("jvms=1,2", "thp=never,always", blocks=4)
    for block in range(1, 5):
        places = [place for place in plan.schedule if place.block == block]
        assert sorted({place.plot for place in places}) == [1, 2]
        states = [plan.specs[place.arm].host_states["thp"] for place in places]
        assert states[0] == states[1] != states[2] == states[3]


def test_another_workload_has_its_own_settings() -> None:
    plan = make_plan(RunRequest("jvm-count", workload="acmeair", settings=["acmeair.customers=7"], seed=1))
    assert {spec.workload for spec in plan.specs.values()} == {"acmeair"}
    with pytest.raises(BadInput, match=r"'acmeair\.customers' is not a setting"):
        make_plan(RunRequest("jvm-count", settings=["acmeair.customers=7"], seed=1))


def test_a_run_that_fills_class_caches_is_in_the_expected_time() -> None:
    """Once for each arm that has them, however many blocks there are."""
    plan = make_plan(RunRequest("start-up", seed=1))
    each = [trial_seconds(plan.specs[place.arm]) for place in plan.schedule]
    once = [found - sum(one[end] for one in each) for end, found in enumerate(plan.expected_seconds())]
    warm = [spec for spec in plan.specs.values() if spec.caches("warm")]
    assert warm
    assert min(once) == pytest.approx(max(once))
    assert min(once) > 10 * len(warm)


def test_trials_for_profiles_are_in_the_expected_time() -> None:
    plan = made("jvms=1,2")
    profiled = replace(
        plan, profilers=["cpu", "lock", "perf"], request=replace(plan.request, profile_starts=4)
    )
    each = sum(trial_seconds(spec)[0] for spec in plan.specs.values())
    assert profiled.expected_seconds()[0] - plan.expected_seconds()[0] == pytest.approx((4 + 4 + 1) * each)


@pytest.mark.parametrize("name", ["jvm-count", "acmeair-topology", "start-up", "ramp-up"])
def test_every_trial_has_an_expected_time(name: str) -> None:
    plan = make_plan(RunRequest(name, quick=True, seed=1))
    low, high = plan.expected_seconds()
    assert 0 < low <= high < 3 * 3600


def test_five_services_may_take_as_long_to_start_as_they_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """44 to 53 s on two cores, the monolith 14 to 18 s (docs/lab-notes/2026-11-27-quick-forms.md)."""
    plan_on_cores(monkeypatch, 2)
    specs = made(experiment="acmeair-topology", quick=True).specs
    longest = {name: trial_seconds(spec)[1] for name, spec in specs.items()}
    assert 44 - 18 <= longest["topology-microservices"] - longest["topology-monolith"] <= 53 - 14


def test_cores_as_a_factor_leave_the_load_side_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of eight cores servers have one or four: the injectors have four in both, and not seven in the first."""
    plan_on_cores(monkeypatch, 8)
    specs = made("jvms=1", "cores=1,4").specs
    assert {spec.server_cores for spec in specs.values()} == {1, 4}
    assert {len(spec.injectors[0].cpus) for spec in specs.values()} == {4}


def test_a_processor_that_goes_while_arms_are_planned_leaves_them_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some hosts take processors away and give them back: each reading here has one core less than the one before."""
    left = iter(range(8, 0, -1))
    monkeypatch.setattr(
        "steelyard.session.specs.planned_cores",
        lambda _host: CpuLayout(tuple(Core(0, 0, cpu, (cpu,)) for cpu in range(next(left)))),
    )
    specs = made("jvms=1,2").specs
    assert specs["jvms-1"].server_cpus == specs["jvms-2"].server_cpus


def test_bound_jvms_lie_on_one_node_each_in_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 2 x 6 cores two JVMs have four each, not nine together or three of the other's node."""
    plan_on_cores(monkeypatch, 12, nodes=2)
    spec = made(experiment="numa").specs["numa-bound"]
    assert [server.cpus for server in spec.servers] == [[0, 1, 2, 3], [6, 7, 8, 9]]
    assert spec.injectors[0].cpus == [4, 5, 10, 11]


@pytest.mark.parametrize(("jvms", "differ"), [(1, False), (2, True), (3, False), (4, True), (8, False)])
def test_jvms_that_are_spread_over_the_nodes_have_other_cores_than_bound_ones(
    monkeypatch: pytest.MonkeyPatch, jvms: int, differ: bool
) -> None:
    plan_on_cores(monkeypatch, 8, nodes=2)
    settings = (f"jvms={jvms}", "numa=bound,spread", "injector_cores=shared", "total_heap=2g")
    if differ:
        assert len(made(*settings).specs) == 2
    else:
        with pytest.raises(BadInput, match=r"numa-bound and \S+numa-spread are the same on this host"):
            made(*settings)
