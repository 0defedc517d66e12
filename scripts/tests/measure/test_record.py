# SPDX-License-Identifier: Apache-2.0
"""From the files of a trial to its raw figures; what is not known stays unknown."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import make_jvm, make_measurement
from planned import asked, containers, cores, specs_of

from steelyard.engines.base import Running
from steelyard.measure.gc_log import Allocated, GcLog, GcPause, GcSettings
from steelyard.measure.health import Health, read_health
from steelyard.measure.histograms import Recorded
from steelyard.measure.ledger import is_void, judge
from steelyard.measure.ramp_up import curves
from steelyard.measure.record import component_results, measure_trial
from steelyard.measure.samples import ClockOffset, Samples
from steelyard.measure.start import first_answers
from steelyard.measure.survival import survival_of
from steelyard.measure.thread_groups import GROUPS
from steelyard.measure.window import Window
from steelyard.results.measurement import ComponentResult, CycleResult, OperationCounts, TrialMeasurement
from steelyard.results.spec import Spec
from steelyard.sampling import nodes
from steelyard.sampling.columns import COLUMNS
from steelyard.selfcheck.trials import undisturbed_run
from steelyard.session.deploying import StartedComponent
from steelyard.session.evidence import facts_of, trace
from steelyard.spec.agreement import requested_settings
from steelyard.units import MIB
from steelyard.workload.schema import ComponentRequest, Limits, Ratio

T = 1_700_000_000.0
SECONDS = 10
RATE = 100


def planned(threads: int = 1, **more: Any) -> Spec:
    """Two servers in containers, with two injectors on CPUs of their own; eight cores with so many threads each."""
    found = asked("ping", deployment={"engine": "compose"}, load={"users": 8, "injectors": 2})
    runtime = containers("server", jvm=make_jvm("openj9", 21))
    spec = specs_of(found, cores(8, threads), runtime)["jvms-2"]
    return spec.model_copy(update=more)


def group_rows(
    name: str, throttled: float = 0.0, periods: int = 0, peak: str = "2000", kills: int = 0
) -> list[str]:
    """0.5 CPU seconds a second, 1000 bytes; per second so much throttled, so often, in half of the periods."""
    return [
        f"{T + s},{name},{0.5 * s},{throttled * s},{2 * periods * s},{periods * s},1000,800,{peak},{kills},"
        for s in range(SECONDS + 1)
    ]


def written(
    folder: Path,
    groups: list[list[str]],
    left_out: tuple[str, ...] = (),
    other: float = 0.0,
    stopped: tuple[int, int] = (SECONDS, SECONDS),
    waits: float = 0.0,
    forwarded: float = 0.0,
) -> Samples:
    """What the sampler writes: servers use half a core, injectors 0.2; `left_out` has files or `file:process`.

    Others use `other` cores; the second server does nothing between two seconds. Compilers of each server wait `waits`
    seconds a second; `forwarded` is what pasta uses.
    """

    def cpu(name: str, second: int) -> str:
        begin, end = stopped if name == "server-2" else (SECONDS, SECONDS)
        busy = min(second, begin) + max(second - end, 0)
        return f"{(0.4 if name in servers else 0.1) * busy},{0.1 * busy}"

    seconds = range(SECONDS + 1)
    servers, injectors = ("server-1", "server-2"), ("injector-1", "injector-2")
    rows = {
        "counters": [f"{T + s},{n},ping,{RATE * s},0,{0.001 * s}" for n in servers for s in seconds],
        "host": [f"{T + s},{s},0,0,{s},{other * s}" for s in seconds],
        "cgroups": [row for group in groups for row in group],
        "processes": [
            f"{T + s},{n},{cpu(n, s)},1000,900,{s},0,{s},{s},5,{0.3 * s if n in injectors else ''},1,0"
            for n in (*servers, *injectors)
            for s in seconds
        ],
        "threads": [
            f"{T + s},{n},{g},{used * s},{waits * s if g == 'jit' else 0},{used * s}"
            for n in servers
            for g, used in {**dict.fromkeys(GROUPS, 0.05), "request": 0.3}.items()
            for s in seconds
        ],
        "cpus": [
            f"{T + s},{cpu},{0.5 * s},{0.2 * s},0,{0.1 * s * (cpu < 2)},0,{(0.3 - 0.1 * (cpu < 2)) * s}"
            for s in (0, SECONDS)
            for cpu in range(8)
        ],
        "forwarders": [f"{T + s},pasta.avx2 4711,{40 + forwarded * s}" for s in (0, SECONDS)],
    }
    for name, lines in rows.items():
        if name not in left_out:
            kept = [one for one in lines if f"{name}:{one.split(',')[1]}" not in left_out]
            (folder / f"{name}.csv").write_text("\n".join([COLUMNS[name], *kept]) + "\n", encoding="utf-8")
    return Samples.load(folder)


def evidence(
    folder: Path,
    *groups: list[str],
    throttled: float | None = 0.0,
    spec: Spec | None = None,
    left_out: tuple[str, ...] = (),
    other: float = 0.0,
    stopped: tuple[int, int] = (SECONDS, SECONDS),
    clock_step: float = 0.0,
    waits: float = 0.0,
    forwarded: float = 0.0,
    **more: Any,
) -> Window:
    spec = spec or planned()
    run = undisturbed_run(spec, (T, T + SECONDS), throttled=throttled, clock_step=lambda: clock_step)
    started = {
        one.name: StartedComponent(
            Running(one, [1], T - 30, True, creation=T - 31.5),
            T - 27,
            3.0,
            2.5,
            500,
            info={"build": "b0", "settings": {}},
            facts={"options": {**requested_settings(one), "heap": 64 * MIB}},
        )
        for one in spec.servers
    }
    settings = GcSettings(policy="gencon")
    pauses = (GcPause(T + 2, 0.02), GcPause(T + 5, 0.04), GcPause(T + 50, 9.0))
    log = GcLog(pauses, settings, tuple(Allocated(pause.epoch, 3000) for pause in pauses))
    fields: dict[str, Any] = {
        "run": run,
        "started": started,
        "samples": written(folder, list(groups), left_out, other, stopped, waits, forwarded),
        "gc_logs": {one.name: log for one in spec.servers},
        "recorded": Recorded(),
        "total": Recorded(),
        "health": Health(memory=0.1, gap=1.0),
    } | more
    return Window(**fields, facts=facts_of(started, fields["gc_logs"], {}))


def figures(found: Window) -> tuple[list[ComponentResult], TrialMeasurement]:
    components = component_results(found)
    return components, measure_trial(found, components)


def voided(found: Window, *names: str) -> set[str]:
    """Which of these checks void."""
    checks = judge(figures(found)[1], found.spec)
    return {check.name for check in checks if check.name in names and is_void([check])}


def test_each_component_has_its_figures(tmp_path: Path) -> None:
    components, measured = figures(
        evidence(tmp_path, group_rows("server-1"), group_rows("server-2", peak="2500"))
    )
    server, injector = components[0], components[-1]
    assert [one.name for one in components] == ["server-1", "server-2", "injector-1", "injector-2"]
    assert (server.requests, server.errors, server.throughput) == (1000, 0, 100.0)
    assert server.cpu_seconds == pytest.approx(5.0)
    assert server.cpu_by_group["request"] == pytest.approx(3.0)
    assert (server.rss_mean, server.pss_mean) == (1000, 900)
    assert (server.faults, server.switches) == (10, 20)
    assert (server.gc_count, server.gc_pause_seconds, server.gc_pause_max) == (2, pytest.approx(0.06), 0.04)
    assert server.allocated == pytest.approx(10_000)  # 3,000 from T + 2 to T + 5
    assert (server.start_seconds, server.start_cpu_seconds, server.start_rss) == (3.0, 2.5, 500)
    assert server.container_start_seconds == 4.5
    assert server.cgroup is not None
    assert (server.cgroup.cpu_seconds, server.cgroup.memory_mean, server.cgroup.memory_peak) == (
        5.0,
        1000,
        2000,
    )
    assert injector.cpu_seconds == pytest.approx(2.0)
    assert (injector.requests, injector.gc_count, injector.start_seconds, injector.cgroup) == (None,) * 4
    assert measured.window_server_rate == pytest.approx(200)
    assert measured.memory_rss == pytest.approx(2000)
    # Two injectors of 0.2 cores on two CPUs of their own.
    assert measured.injector_cpu_share == pytest.approx(0.2)
    assert measured.jit_share == pytest.approx(2 * 0.05 / 6)


def test_under_smt_the_budget_of_the_jit_is_every_thread_of_the_cores(tmp_path: Path) -> None:
    found = evidence(tmp_path, spec=planned(threads=4))
    assert figures(found)[1].jit_share == pytest.approx(2 * 0.05 / 24)


def test_injectors_that_fill_shared_cores_together_are_not_judged_one_by_one(tmp_path: Path) -> None:
    """Two that use 95 % of two CPUs have used 95 % of them, and not 47.5 % each."""
    seen = evidence(tmp_path, spec=planned(injectors_share_cores=True))
    components, measured = figures(seen)
    assert measured.injector_cpu_share == pytest.approx(0.2)
    busy = [
        one.model_copy(update={"cpu_seconds": 9.5 if one.role == "injector" else 0.5}) for one in components
    ]
    measured = measure_trial(seen, busy)
    assert measured.injector_cpu_share == pytest.approx(0.95)
    assert {"injector-cpu"} == {c.name for c in judge(measured, seen.spec) if c.has_failed} & {"injector-cpu"}


def test_injectors_wait_for_a_cpu_by_the_kernels_account(tmp_path: Path) -> None:
    _, measured = figures(evidence(tmp_path))
    assert measured.injector_wait_share == pytest.approx(0.3 / (0.3 + 0.2))
    gone = figures(evidence(tmp_path, left_out=("processes:injector-1",)))[1]
    assert gone.injector_wait_share is None


def test_other_cpu_is_all_that_is_not_the_trials_on_the_servers_cores(tmp_path: Path) -> None:
    """2.8 cores are 35 % of a host of eight CPUs and 47 % of the six of the servers; 0.15 are 2.5 % of those."""
    assert figures(evidence(tmp_path, other=2.8))[1].other_cpu_share == pytest.approx(2.8 / 6)
    assert voided(evidence(tmp_path, other=2.8), "other-cpu") == {"other-cpu"}
    assert voided(evidence(tmp_path, other=0.15), "other-cpu") == {"other-cpu"}
    assert voided(evidence(tmp_path, other=0.1), "other-cpu") == set()


def test_a_server_that_is_stopped_for_four_seconds_voids(tmp_path: Path) -> None:
    assert voided(evidence(tmp_path), "stalled", "sample-gaps") == set()
    assert voided(evidence(tmp_path, stopped=(3, 7)), "stalled", "sample-gaps") == {"stalled"}


def test_an_injector_that_is_stopped_for_three_seconds_voids(tmp_path: Path) -> None:
    """Its account of itself goes on once a second and has a gap; so does that of one that says nothing at all."""
    folders = [tmp_path / "injector-1", tmp_path / "injector-2"]
    for folder, silent in zip(folders, ((), (4, 5)), strict=True):
        folder.mkdir()
        lines = [
            json.dumps({"epochMillis": (T + s + 1) * 1000, "requests": 1, "late": 0, "dropped": 0})
            for s in range(SECONDS)
            if s not in silent
        ]
        (folder / "health.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    health = read_health(folders, T, T + SECONDS)
    found = evidence(tmp_path, health=health)
    assert figures(found)[1].sample_gap == pytest.approx(3.0)
    assert voided(found, "sample-gaps") == {"sample-gaps"}
    nobody = read_health([*folders, tmp_path / "nobody"], T, T + SECONDS)
    assert voided(evidence(tmp_path, health=nobody), "sample-gaps") == {"sample-gaps"}
    assert voided(evidence(tmp_path, health=read_health(folders[:1], T, T + SECONDS)), "sample-gaps") == set()


def test_a_step_of_the_clock_that_only_the_harness_saw_voids(tmp_path: Path) -> None:
    assert voided(evidence(tmp_path, clock_step=0.2), "clock-step") == set()
    assert voided(evidence(tmp_path, clock_step=5.0), "clock-step") == {"clock-step"}


def test_in_a_cluster_each_machine_is_judged_by_what_runs_there(tmp_path: Path) -> None:
    """Others use 0.2 CPUs of one and 0.01 of the other, whose clock was not read well."""
    spec = planned()
    first, *rest = [one.name for one in spec.components]
    machines = []
    for name, components, other, steal, clock in (
        ("a", [first], 0.2, 0.0, ClockOffset(-0.001, 0.002)),
        ("b", rest, 0.01, 0.015, ClockOffset(-0.2, 0.3)),
    ):
        seconds = [float(s) for s in range(SECONDS + 1)]
        rows = [[T + s, s, 0.0, 2 * steal * s, 2 * (1 - steal) * s, other * s] for s in seconds]
        watched = [(T + s, 0.0) for s in seconds]
        machines.append(nodes.MachineSamples({name}, components, [(float(T), clock)], [(rows, watched)]))
    nodes.write_nodes(tmp_path, machines)
    found = evidence(tmp_path, left_out=("host",))
    measured = figures(found)[1]
    assert [(one.name, one.components) for one in measured.machines] == [("a", [first]), ("b", rest)]
    cpus = len(spec.servers[0].cpus)
    assert measured.machines[0].other_cpu_share == pytest.approx(0.2 / cpus)
    assert measured.other_cpu_share == pytest.approx(0.2 / cpus)
    assert measured.steal_share == pytest.approx(0.015)
    assert measured.throttled_seconds is None, "what throttles the harness is not the servers'"
    assert voided(found, "other-cpu", "steal", "clock-offset", "clock-step", "sample-gaps", "throttling") == {
        *("other-cpu", "steal", "clock-offset", "throttling")
    }


def test_a_damaged_log_of_an_injector_voids(tmp_path: Path) -> None:
    found = evidence(tmp_path, total=Recorded(damaged=["injector-1/latency.hlog is cut off"]))
    assert voided(found, "injectors") == {"injectors"}


@pytest.mark.parametrize(
    ("cpus", "share"), [([6, 7], 0.45), ([0, 1], 0.2)], ids=["with the injectors", "with the servers"]
)
def test_a_service_beside_the_injectors_counts_against_their_cores(
    tmp_path: Path, cpus: list[int], share: float
) -> None:
    spec = planned()
    assert spec.injectors[0].cpus == [6, 7]
    server = spec.servers[0]
    service = server.model_copy(update={"name": "geocoder", "role": "service", "cpus": cpus})
    seen = evidence(tmp_path, spec=spec.model_copy(update={"components": [service, *spec.components]}))
    others = [one for one in figures(seen)[0] if one.name != "geocoder"]
    used = [*others, ComponentResult(name="geocoder", role="service", cpu_seconds=5.0)]
    assert measure_trial(seen, used).injector_cpu_share == pytest.approx(share)


@pytest.mark.parametrize(
    ("left_out", "unknown", "void"),
    [
        (
            "processes",
            {
                *("injector_cpu_share", "injector_wait_share", "sample_gap", "stall_seconds"),
                *("memory_rss", "memory_rss_peak", "memory_pss"),
            },
            {"injector-cpu"},
        ),
        (
            "processes:injector-2",
            {"injector_cpu_share", "injector_wait_share", "sample_gap"},
            {"injector-cpu"},
        ),
        (
            "processes:server-2",
            {"memory_rss", "memory_rss_peak", "memory_pss", "sample_gap", "stall_seconds"},
            set(),
        ),
        ("threads:server-2", {"jit_share"}, set()),
        (
            "counters",
            {"server_requests", "server_errors", "window_server_rate", "window_server_errors"},
            {"counts-window"},
        ),
        ("counters:server-2", {"window_server_rate", "window_server_errors"}, {"counts-window"}),
        (
            "host",
            {"steal_share", "other_cpu_share", "clock_step_seconds", "sample_gap"},
            {"steal", "other-cpu", "clock-step"},
        ),
    ],
)
def test_a_missing_sample_is_never_a_zero(
    tmp_path: Path, left_out: str, unknown: set[str], void: set[str]
) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2"), left_out=(left_out,))
    _, measured = figures(found)
    told = dict(measured)
    ours = (
        "injector_cpu",
        "injector_wait",
        "sample_gap",
        "stall_",
        "memory",
        "jit",
        "server_",
        "window_server",
        "steal",
        "other",
        "clock",
    )
    assert {name for name, value in told.items() if value is None and name.startswith(ours)} == unknown
    names = ("injector-cpu", "counts-window", "steal", "other-cpu", "clock-step")
    healthy = {"counts-window"} if "counters" not in left_out else set()  # no injector log here
    assert voided(found, *names) - healthy == void


def test_throttling_of_one_container_voids(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", throttled=0.02, periods=5))
    components, measured = figures(found)
    assert measured.throttled_seconds == pytest.approx(0.2)
    assert components[1].cgroup is not None
    assert components[1].cgroup.throttled_share == pytest.approx(0.5)
    assert voided(found, "throttling") == {"throttling"}


def test_a_quota_that_the_arm_asked_for_voids_nothing(tmp_path: Path) -> None:
    spec = planned().with_changes(
        "server", lambda server: {"cpu_quota": 0.5 if server.name == "server-2" else None}
    )
    rows = group_rows("server-1"), group_rows("server-2", throttled=0.02, periods=5)
    found = evidence(tmp_path, *rows, spec=spec)
    assert figures(found)[1].throttled_seconds == 0.0, "of server-1"
    assert voided(found, "throttling") == set()
    held = spec.with_changes("server", lambda _: {"cpu_quota": 0.5})
    found = evidence(tmp_path, *rows, spec=held)
    components, measured = figures(found)
    assert measured.throttled_seconds is None
    assert components[1].cgroup is not None
    assert components[1].cgroup.throttled_seconds == pytest.approx(0.2)
    assert voided(found, "throttling") == set()
    assert (spec.usable_cpus, held.usable_cpus) == (6.0, 1.0)


def test_what_one_container_does_not_tell_is_not_known(tmp_path: Path) -> None:
    silent = [f"{T + s},server-2,{0.5 * s},,,,,,,," for s in range(SECONDS + 1)]
    found = evidence(tmp_path, group_rows("server-1"), silent)
    components, measured = figures(found)
    assert measured.throttled_seconds is None
    assert figures(evidence(tmp_path, group_rows("server-1")))[1].throttled_seconds is None, "of server-2"
    assert components[1].cgroup is not None
    assert (components[1].cgroup.cpu_seconds, components[1].cgroup.memory_mean) == (5.0, None)
    assert voided(found, "throttling") == {"throttling"}


@pytest.mark.parametrize("throttled", [None, 0.0, 1.5])
def test_without_containers_it_is_the_harness_own_group(tmp_path: Path, throttled: float | None) -> None:
    components, measured = figures(evidence(tmp_path, throttled=throttled, spec=planned(engine="process")))
    assert {one.cgroup for one in components} == {None}
    assert measured.throttled_seconds == throttled
    assert measured.unwatched == []


def test_containers_of_which_no_group_could_be_read_are_not_known_to_be_undisturbed(tmp_path: Path) -> None:
    found = evidence(tmp_path, throttled=0.0)
    measured = figures(found)[1]
    assert measured.throttled_seconds is None
    assert measured.unwatched == [
        f"whether the kernel killed a process in the container of {name} was not measured"
        for name in ("server-1", "server-2")
    ]
    assert voided(found, "throttling", "restarts") == {"throttling", "restarts"}
    assert survival_of(True, measured) is None
    assert survival_of(False, measured) is False


def test_in_a_survive_trial_what_the_kernel_killed_under_load_did_not_survive(tmp_path: Path) -> None:
    """What it killed before is no answer to the load; what died there and came back was not needed."""
    asked_to_live = planned(procedure="survive")
    before = group_rows("server-2", kills=1)
    found = evidence(tmp_path, group_rows("server-1"), before, spec=asked_to_live)
    assert survival_of(True, figures(found)[1]) is True
    under_load = [*group_rows("server-2")[:5], *group_rows("server-2", kills=1)[5:]]
    found = evidence(tmp_path, group_rows("server-1"), under_load, spec=asked_to_live)
    assert survival_of(True, figures(found)[1]) is False


def test_a_process_killed_for_memory_counts_as_a_restart(tmp_path: Path) -> None:
    found = evidence(tmp_path, group_rows("server-1"), group_rows("server-2", kills=1))
    assert figures(found)[1].restarts == [
        "the kernel killed a process in the container of server-2 because memory ran out"
    ]


def test_requests_of_the_harness_are_not_the_injectors(tmp_path: Path) -> None:
    data = [
        ComponentRequest(component="server-1", path="/load"),
        ComponentRequest(component="server-2", path="/load"),
    ]
    assert figures(evidence(tmp_path, spec=planned(data=data)))[1].server_requests == 2 * RATE * SECONDS - 2
    # A measured start follows the one that loaded the data: those servers have gone.
    again = planned(data=data, procedure="ramp-up")
    assert figures(evidence(tmp_path, spec=again))[1].server_requests == 2 * RATE * SECONDS


def test_servers_that_are_another_build_or_differ_are_named(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.started["server-2"].info = {"build": "b1"}
    found.started["server-2"].facts = {"info": {"processors": 64}, **found.started["server-2"].facts}
    components, measured = figures(found)
    assert measured.wrong_builds == ["server-2 reports build 'b1', expected 'b0'"]
    found.started["server-2"].info = {}
    assert figures(found)[1].wrong_builds == ["server-2 does not tell its build, which should be 'b0'"]
    assert measured.settings_differ == ["server-2 has processors 64 instead of 3"]
    assert measured.settings_read == "server-1, server-2: heap 64 MiB, gc generational"
    assert components[0].read_back["cpus"] == "0,1,2"
    assert components[-1].read_back == {}


def test_allocation_goes_with_the_requests_served_and_not_with_time(tmp_path: Path) -> None:
    """Collections at T + 2 and T + 5, 3,000 bytes: 30 requests were served between them, and 300 in the window."""
    found = evidence(tmp_path)
    rows = [f"{T + s},server-1,ping,{10 * s if s <= 5 else 50 * (s - 4)},0,0" for s in range(SECONDS + 1)]
    (tmp_path / "counters.csv").write_text("\n".join([COLUMNS["counters"], *rows]) + "\n", encoding="utf-8")
    server = component_results(replace(found, samples=Samples.load(tmp_path)))[0]
    assert (server.requests, server.allocated) == (300, pytest.approx(30_000))


def test_without_counters_allocation_goes_with_time(tmp_path: Path) -> None:
    server = component_results(evidence(tmp_path, left_out=("counters",)))[0]
    assert (server.requests, server.allocated) == (None, pytest.approx(10_000))


def test_a_server_that_wrote_no_gc_log_or_tells_nothing_is_named(tmp_path: Path) -> None:
    found = evidence(tmp_path, gc_logs={})
    found.started["server-1"].facts = {}
    says = figures(found)[1].settings_differ
    assert "server-2 wrote no GC log" in says
    assert {"server-1 wrote no GC log", "server-1 does not tell its heap"} < set(says)
    assert voided(found, "settings") == {"settings"}


def test_a_server_without_counters_is_followed_by_the_injectors(tmp_path: Path) -> None:
    spec = planned()
    plain = [one.model_copy(update={"counters": None}) for one in spec.components]
    found = evidence(tmp_path, spec=spec.model_copy(update={"components": plain}), left_out=("counters",))
    folder = tmp_path / "injector-1"
    folder.mkdir()
    lines = [
        json.dumps({"epochMillis": (T + second + 1) * 1000, "requests": 10 * second, "late": 0, "dropped": 0})
        for second in range(SECONDS)
    ]
    (folder / "health.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found.run.injectors.folders["injector-1"] = folder
    _, measured = figures(found)
    assert (measured.server_requests, measured.window_server_rate) == (None, None)
    assert trace(found) == [(float(s + 1), 10.0 * s) for s in range(SECONDS)]
    assert voided(found, "counts", "counts-window") == set()  # cannot be checked, and says so


def test_curves_follow_the_load_by_the_second(tmp_path: Path) -> None:
    found = curves(evidence(tmp_path))
    assert found["throughput"] == [200.0] * SECONDS
    assert found["cpu_request"] == pytest.approx([0.6] * SECONDS)
    assert "cpu_compiler" not in found
    gone = curves(evidence(tmp_path, left_out=("threads:server-2",)))
    assert "cpu_request" not in gone or not gone["cpu_request"]


def test_first_answers_count_from_the_first_start(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    said = [
        {"firstAnswers": {"ping": (T - 26) * 1000, "pong": (T - 20) * 1000}},
        {"firstAnswers": {"ping": (T - 27) * 1000}},
    ]
    found.run.injectors.summaries = lambda: said  # type: ignore[method-assign]
    assert first_answers(found) == pytest.approx({"ping": 3.0, "pong": 10.0})


def test_counts_of_operations_are_those_of_all_injectors(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    ping = {"requests": 9, "errors": 3, "unanswered": 2, "abandoned": 1, "late": 0, "latencyMillis": None}
    said: list[dict[str, Any]] = [
        {"operations": {"ping": ping, "pong": ping}},
        {"operations": {"ping": ping}},
    ]
    found.run.injectors.summaries = lambda: said  # type: ignore[method-assign]
    _, measured = figures(found)
    once = OperationCounts(requests=9, errors=3, unanswered=2, abandoned=1, late=0)
    twice = OperationCounts(requests=18, errors=6, unanswered=4, abandoned=2, late=0)
    assert measured.operations == {"ping": twice, "pong": once}
    del said[1]["operations"]["ping"]["unanswered"]
    counts = figures(found)[1].operations["ping"]
    assert (counts.errors, counts.unanswered) == (6, None), "what one does not tell is not nothing"
    del said[1]
    assert figures(found)[1].operations == {}, "one injector left nothing"


def test_records_of_before_have_no_counts_of_operations() -> None:
    written = make_measurement().model_dump(mode="json")
    del written["operations"]
    assert TrialMeasurement.model_validate(written).operations == {}


def test_ratios_are_of_requests_and_outcomes(tmp_path: Path) -> None:
    limits = [
        Ratio(name="found", count="found", per="query", low=0, high=1),
        Ratio(name="none", count="found", per="nothing", low=0, high=1),
    ]
    health = Health(outcomes={"found": 3, "query": 4})  # type: ignore[arg-type]
    _, measured = figures(evidence(tmp_path, spec=planned(ratios=limits), health=health))
    assert [(one.value, one.of) for one in measured.ratios] == [(0.75, 4), (None, 0)]


def test_cycles_are_means_and_response_times_those_that_are_limited(tmp_path: Path) -> None:
    limits = Limits.model_validate({"operations": {"ping": {"p90": 2, "p99": 3}, "nobody": {"p90": 1}}})
    health = Health(cycles={"ping": (4, 20.0, 21.0)})
    failed = Recorded(errors={"ping": 3})
    _, measured = figures(evidence(tmp_path, spec=planned(limits=limits), health=health, recorded=failed))
    assert measured.cycles == {"ping": CycleResult(count=4, drawn=5.0, actual=5.25)}
    found = [(one.operation, one.quantile, one.limit) for one in measured.response_times]
    assert found == [("ping", "p90", 2.0), ("ping", "p99", 3.0)]
    assert measured.response_times[0].value is None, "it was asked for, and never answered"


@pytest.mark.parametrize(
    ("load", "health", "late"),
    [
        ({"users": 8}, Health(), 0.0),
        ({"model": "open", "rate": 10}, Health(missed=5, intended=1000), 0.005),
        ({"model": "open", "rate": 10}, Health(), None),
    ],
)
def test_late_arrivals_of_an_open_model(
    tmp_path: Path, load: dict[str, Any], health: Health, late: float | None
) -> None:
    changed = type(planned().load).model_validate({"injectors": 2, **load})
    _, measured = figures(evidence(tmp_path, spec=planned(load=changed), health=health))
    assert measured.late_share == late


def test_what_another_version_has_written_is_read_and_says_nothing() -> None:
    """Readers ignore what they do not know, so that a field can be added without a new format."""
    written = make_measurement().model_dump() | {"colour": "blue", "more": {"a": 1}, "steal_share": None}
    read = TrialMeasurement.model_validate(written)
    assert [read.value(name) for name in ("colour", "more", "steal_share", "nobody")] == [None] * 4
    assert [read.sentences(name) for name in ("colour", "sample_gap", "nobody")] == [None] * 3
    assert (read.value("sample_gap"), read.sentences("restarts")) == (1.0, [])


ZGC_17 = "its heap is mapped 3 times, and resident memory counts a page once for each mapping"


def test_memory_that_the_kernel_counts_three_times_is_unknown_and_why(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.facts = lambda name: [{"gc": "z", "pages": "small", "mappings": 3 if name == "server-1" else 1}]
    components, measured = figures(found)
    first, second = components[:2]
    assert (first.rss_mean, first.rss_peak, first.start_rss, first.pss_mean) == (None, None, None, 900)
    assert first.unknown["rss_mean"] == first.unknown["start_rss"] == ZGC_17
    assert (second.rss_mean, second.start_rss, second.unknown) == (1000, 500, {})
    assert (measured.memory_rss, measured.memory_rss_peak, measured.memory_pss) == (None, None, 1800)
    assert measured.unknown["memory_rss"] == f"server-1: {ZGC_17}"


def test_proportional_memory_of_such_a_heap_on_large_pages_is_unknown(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.facts = lambda _name: [{"gc": "z", "pages": "large", "mappings": 3}]
    _, measured = figures(found)
    assert measured.memory_pss is None
    assert "large pages" in measured.unknown["memory_pss"]


def test_whether_zgc_maps_its_heap_once_has_to_be_known(tmp_path: Path) -> None:
    found = evidence(tmp_path)
    found.facts = lambda _name: [{"gc": "z"}]
    components, _ = figures(found)
    assert components[0].rss_mean is None
    assert "was not read" in components[0].unknown["rss_mean"]


def test_what_is_missing_has_its_reason(tmp_path: Path) -> None:
    components, measured = figures(
        evidence(
            tmp_path,
            left_out=("processes:server-1", "counters"),
            gc_logs={"server-1": GcLog(unknown="the GC log is empty")},
        )
    )
    unknown = components[0].unknown
    assert unknown["cpu_seconds"] == unknown["rss_mean"] == "its samples do not cover the window"
    assert unknown["requests"] == "its counters do not cover the window"
    assert unknown["gc_count"] == unknown["allocated"] == "the GC log is empty"
    assert measured.unknown["memory_rss"] == "server-1: its samples do not cover the window"


def test_that_nothing_was_killed_is_known_only_to_the_last_reading(tmp_path: Path) -> None:
    short = group_rows("server-1")[: SECONDS // 2]
    spec = planned(procedure="steady")
    found = evidence(tmp_path, short, group_rows("server-2"), spec=spec)
    assert voided(found, "restarts") == {"restarts"}
    assert figures(found)[1].unwatched == [
        "whether the kernel killed a process in the container of server-1 was not measured"
    ]


def test_a_kill_is_told_where_the_cpu_of_the_group_is_not_known(tmp_path: Path) -> None:
    rows = [f"{T},server-1,,,,,,,,1,"]
    _, measured = figures(evidence(tmp_path, rows, group_rows("server-2")))
    assert measured.restarts == [
        "the kernel killed a process in the container of server-1 because memory ran out"
    ]


def test_throttling_of_compilers_counts(tmp_path: Path) -> None:
    spec = planned()
    compiler = spec.components[1].model_copy(update={"role": "compiler"})
    spec = spec.model_copy(update={"components": [spec.components[0], compiler, *spec.components[2:]]})
    groups = group_rows("server-1"), group_rows("server-2", throttled=0.1, periods=10)
    _, measured = figures(evidence(tmp_path, *groups, spec=spec))
    assert measured.throttled_seconds == pytest.approx(1.0)
