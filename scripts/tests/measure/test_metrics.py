# SPDX-License-Identifier: Apache-2.0
"""The registry: its page, and each formula against figures worked out by hand."""

from pathlib import Path

import pytest
from builders import make_component, make_measurement, make_spec, make_trial

from steelyard.analysis import warmup
from steelyard.experiment.schema import Metrics
from steelyard.measure import curves
from steelyard.measure.chance import FALSE_ALARM
from steelyard.measure.counted import COUNTERS
from steelyard.measure.record import metrics_of
from steelyard.measure.reference import fill_tables
from steelyard.measure.registry import BY_CLOCK, METRICS, PARTS, metric_info
from steelyard.results.measurement import CgroupResult, ComponentResult, Latency
from steelyard.results.schema import Check
from steelyard.units import MIB

PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def test_tables_of_the_page_are_what_the_registries_say() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == fill_tables(page), "it is old: python -m steelyard.measure.reference ../docs/metrics.md"
    assert fill_tables(page.replace("| bytes |", "| miles |")) == page
    with pytest.raises(ValueError, match="0 tables with the header"):
        fill_tables("# No table")


def test_figures_in_the_text_of_the_page_are_those_of_the_code() -> None:
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for said in (
        f"more than {curves.RISING:.0%} above the eighth before".replace("%", " %"),
        f"the running median over {curves.SMOOTH} s first",
        f"penalty {warmup.PENALTY:g} ln n",
        f"changes of at least {warmup.MIN_SEGMENT} s",
        f"Variation below {warmup.VARIANCE_FLOOR**0.5 * 100:.1f} % of the level",
        f"at most {warmup.SLOPE_LIMIT * 100:g} %/min by least squares",
        f"by no more than {warmup.SLOPE_ALLOWANCE * 100:g} % of the level",
        f"use under {warmup.JIT_LIMIT * 100:g} % of the servers' CPU budget",
        f"take less than {warmup.COMPILING * 100:g} % of the CPU",
        f"ask for less than {warmup.ASKING * 100:g} % of it",
        f"or take less than {warmup.COMPILED * 100:g} %",
        f"on OpenJ9 over {warmup.COMPILED_CPU['openj9']:g} CPU seconds of each server",
        f"judged as far as it goes, from {warmup.MIN_POINTS} s on",
        f"all of a mix's intervals together in {FALSE_ALARM * 100:g} % of trials",
    ):
        assert said in text


def test_registry() -> None:
    names = [info.name for info in METRICS]
    assert len(set(names)) == len(names)
    assert all(info.source.endswith(".") and info.pitfalls.endswith(".") and info.unit for info in METRICS)
    assert all("|" not in info.source + info.pitfalls for info in METRICS)


def test_defaults_of_the_experiment_are_known() -> None:
    asked = Metrics()
    assert {asked.primary, *asked.report} <= {info.name for info in METRICS}


def test_unknown_metric_is_described_as_such() -> None:
    assert metric_info("speed_of_light").label == "speed of light"


GROUP = CgroupResult(
    cpu_seconds=33.0,
    throttled_seconds=0.0,
    throttled_share=0.01,
    memory_mean=400.0,
    memory_peak=500.0,
    working_set_mean=300.0,
    oom_kills=0,
)
WHOLE = make_spec(
    components=[
        make_component("database"),
        make_component("compiler"),
        make_component("server", 1),
        make_component("server", 2),
        make_component("proxy"),
        make_component("injector"),
    ],
    server_cores=4,
)


def result(name, role, cpu, **figures):
    groups = (
        {"request": 0.5 * cpu, "jit": 0.25 * cpu, "gc": 0.25 * cpu} if role in ("server", "compiler") else {}
    )
    return ComponentResult(name=name, role=role, cpu_seconds=cpu, cpu_by_group=groups, **figures)


def server(number, **changes):
    figures = {
        "start_seconds": 2.0 + number,
        "ready_message_seconds": 1.0 + number,
        "container_start_seconds": 3.0 + number,
        "start_cpu_seconds": 5.0,
        "start_rss": 100.0,
        "rss_mean": 2.0**30 - 3.5,
        "pss_mean": 0.5,
        "faults": 600.0,
        "switches": 1200.0,
        "gc_count": 3,
        "gc_pause_seconds": 0.6 * number,
        "gc_pause_max": 0.01 * number,
        "gc_stall_seconds": 0.3 * number,
        "allocated": 90 * 2**20,
        "cgroup": GROUP,
        "compiled": {"remote": 30, "local": 10, "cached": 0},
    }
    return result(f"server-{number}", "server", 30.0, **(figures | changes))


POOL = GROUP.model_copy(update={"huge_mean": 1000.0, "huge_peak": 1100.0})


@pytest.mark.parametrize(
    ("group", "pages", "mean", "peak"),
    [
        (GROUP, "small", 400.0, 500.0),
        (POOL, "large", 1400.0, 1600.0),
        # Nothing says how many: what is charged elsewhere is not all that it has.
        (GROUP, "large", None, None),
    ],
)
def test_memory_of_containers_has_their_large_pages(
    group: CgroupResult, pages: str, mean: float | None, peak: float | None
) -> None:
    one = make_trial(1, "a", components=[server(1, cgroup=group, read_back={"pages": pages})])
    found = metrics_of(one, make_spec(components=[make_component("server", 1)]))
    assert (found.get("cgroup_memory"), found.get("cgroup_memory_peak")) == (mean, peak)


COMPILER = {
    "faults": 0.0,
    "switches": 0.0,
    "start_cpu_seconds": 1.0,
    "start_rss": 10.0,
    "rss_mean": 7.0,
    "pss_mean": 3.0,
    "cgroup": GROUP,
}


def measured(servers=None, **changes):
    """60 s at 1,000 requests/s: 60 thousand requests."""
    fields = {
        "measurement": make_measurement(
            memory_rss=2.0 * 2**30, memory_rss_peak=3.0, memory_pss=4.0, service_calls=120.0
        ),
        "components": [
            result("database-1", "database", 12.0),
            result("compiler-1", "compiler", 60.0, **COMPILER),
            *(servers or [server(1), server(2)]),
            result("proxy-1", "proxy", 6.0),
            result("injector-1", "injector", 99.0),
        ],
        "latency": {
            "all": Latency(requests=990, errors=10, mean=1.0, p50=2.0, p90=3.0, p99=4.0, p999=None, max=9.0),
            "browse": Latency(
                requests=900, errors=0, mean=1.0, p50=1.0, p90=2.0, p99=4.0, p999=None, max=4.0
            ),
            "book": Latency(requests=90, errors=9, mean=9.0, p50=9.0, p90=13.0, p99=None, p999=None, max=9.0),
            "pay": Latency(
                requests=0, errors=1, mean=None, p50=None, p90=None, p99=None, p999=None, max=None
            ),
        },
    }
    return make_trial(1, "jvms-1", **(fields | changes))


def test_every_metric_of_a_steady_trial() -> None:
    assert metrics_of(measured(), WHOLE) == pytest.approx(
        {
            "throughput": 1000.0,
            "memory_rss": 2.0 * 2**30,
            "memory_rss_peak": 3.0,
            "memory_pss": 4.0,
            "memory_rss_servers": 2.0 * 2**30 - 7.0,
            "memory_rss_compiler": 7.0,
            "memory_pss_servers": 1.0,
            "memory_pss_compiler": 3.0,
            "cpu_per_1k": 2.0,
            "server_cpu_share": 2.0,  # 120 CPU seconds of both and their compiler in 60 s of one CPU
            "cpu_per_1k_request": 1.0,
            "cpu_per_1k_jit": 0.5,
            "cpu_per_1k_jit_servers": 0.25,
            "cpu_per_1k_gc": 0.5,
            "cpu_per_1k_network": 0.0,
            "cpu_per_1k_other": 0.0,
            "cpu_per_1k_servers": 1.0,
            "cpu_per_1k_compiler": 1.0,
            "cpu_per_1k_database": 0.2,
            "cpu_per_1k_proxy": 0.1,
            "cpu_per_1k_system": 2.3,
            "service_calls_per_1k": 2.0,
            "requests_per_core_second": 250.0,
            "requests_per_gib": 500.0,
            "latency_mean": 1.0,
            "latency_p50": 2.0,
            "latency_p90": 3.0,
            "latency_p99": 4.0,
            "latency_p90_weighted": (900 * 2.0 + 90 * 13.0) / 990,
            "start_time": 4.0,
            "container_start_time": 5.0,
            "ready_message_time": 3.0,
            "start_cpu": 11.0,
            "start_cpu_servers": 10.0,
            "start_cpu_compiler": 1.0,
            "start_rss_servers": 200.0,
            "start_rss_compiler": 10.0,
            "start_rss": 210.0,
            "compiled_remotely": 0.75,
            "gc_per_second": 0.1,
            "gc_pause_share": 0.015,
            "gc_pause_max": 20.0,
            "gc_stall_share": 0.9 / 60 / 2,
            "allocated_per_1k": 3.0,
            "faults_per_1k": 20.0,
            "switches_per_1k": 40.0,
            "cgroup_cpu_per_1k": 1.65,
            "cgroup_memory": 1200.0,
            "cgroup_memory_peak": 1500.0,
            "throttled_time": 0.0,
            "throttled_share": 0.01,
            "error_share": 0.01,
            "server_cpus_system": 0.1,
            "server_cpus_soft": 0.01,
        }
    )


@pytest.mark.parametrize(
    ("missing", "lost"),
    [
        (
            {"cpu_seconds": None},
            {"cpu_per_1k", "cpu_per_1k_servers", "cpu_per_1k_system", "server_cpu_share"},
        ),
        (
            {"cpu_by_group": {}},
            {f"cpu_per_1k_{group}" for group in ("request", "jit", "jit_servers", "gc", "network", "other")},
        ),
        ({"start_seconds": None}, {"start_time"}),
        ({"container_start_seconds": None}, {"container_start_time"}),
        ({"gc_count": None, "gc_pause_seconds": None}, {"gc_per_second", "gc_pause_share", "gc_pause_max"}),
        ({"gc_stall_seconds": None}, {"gc_stall_share"}),
        ({"allocated": None}, {"allocated_per_1k"}),
        ({"switches": None}, {"switches_per_1k"}),
        (
            {"cgroup": None},
            {"cgroup_cpu_per_1k", "cgroup_memory", "cgroup_memory_peak", "throttled_time", "throttled_share"},
        ),
    ],
)
def test_a_figure_missing_in_one_server_makes_the_sum_missing_and_never_smaller(missing, lost):
    whole = metrics_of(measured(), WHOLE)
    without = metrics_of(measured([server(1), server(2).model_copy(update=missing)]), WHOLE)
    assert whole.keys() - without.keys() == lost
    assert all(without[name] == whole[name] for name in without)


def test_a_component_without_a_record_is_missing_too() -> None:
    alone = metrics_of(measured([server(1)]), WHOLE)
    assert not {"cpu_per_1k", "start_time", "start_rss", "faults_per_1k"} & alone.keys()


def test_throughput_is_the_injectors_only_where_not_every_server_counts() -> None:
    off = measured(measurement=make_measurement(window_server_rate=None, window_injector_rate=900.0))
    assert "throughput" not in metrics_of(off, WHOLE)
    for servers in (
        [make_component(counters=None)],
        [make_component(), make_component(number=2, counters=None)],
    ):
        assert metrics_of(off, make_spec(components=servers))["throughput"] == 900.0


def test_without_a_measurement_there_are_no_figures_of_load() -> None:
    assert metrics_of(make_trial(1, "jvms-1", measurement=None), WHOLE) == {}


def test_start_up_trials_have_the_figures_of_a_start_and_no_others() -> None:
    by = WHOLE.model_copy(update={"procedure": "start-up"})
    found = metrics_of(measured(first_answers={"browse": 5.5, "book": 7.25}), by)
    assert found == {
        "start_time": 4.0,
        "container_start_time": 5.0,
        "ready_message_time": 3.0,
        "first_answers_time": 7.25,
        "start_cpu": 11.0,
        "start_cpu_servers": 10.0,
        "start_cpu_compiler": 1.0,
        "start_rss": 210.0,
        "start_rss_servers": 200.0,
        "start_rss_compiler": 10.0,
        "compiled_remotely": 0.75,
    }
    assert "first_answers_time" not in metrics_of(measured(first_answers={"browse": 5.5}), by)


def test_a_sum_is_what_its_parts_are_together() -> None:
    for procedure in ("steady", "start-up", "ramp-up"):
        by = WHOLE.model_copy(update={"procedure": procedure})
        curves = {"cpu_jit": [0.5] * 40, "cpu_compiler": [0.25] * 40}
        found = metrics_of(measured(curves=curves), by)
        for total, parts in PARTS.items():
            known = [found[part] for part in parts.values() if part in found]
            if len(known) == len(parts):
                assert found[total] == pytest.approx(sum(known)), total
        if procedure == "ramp-up":
            assert found["cpu_compilation"] == 30.0
    alone = make_spec(components=[make_component("server")], procedure="ramp-up")
    assert metrics_of(measured(curves=curves), alone)["cpu_compilation"] == 20.0, "no compiler adds nothing"
    lost = metrics_of(measured(curves={"cpu_jit": [0.5]}), WHOLE.model_copy(update={"procedure": "ramp-up"}))
    assert "cpu_compilation" not in lost, "one that was not measured does not add nothing"


def test_ramp_up_trials_have_the_figures_of_their_curve() -> None:
    by = WHOLE.model_copy(update={"procedure": "ramp-up"})
    rise = [10.0 * second for second in range(10)] + [100.0] * 30
    found = metrics_of(measured(curves={"throughput": rise, "cpu_jit": [0.5] * 40, "cpu_gc": []}), by)
    assert found["steady_level"] == 100.0
    # Ten requests/s more each second, each point in the middle of its second.
    assert {share: found[f"time_to_{share}"] for share in (50, 80, 90, 95)} == pytest.approx(
        {50: 5.5, 80: 8.5, 90: 9.5, 95: 10.0}
    )
    assert found["requests_lost"] == 550.0
    assert found["cpu_jit"] == 20.0
    assert "cpu_gc" not in found
    assert found["throughput"] == 1000.0


def test_survive_trials_tell_whether_they_did() -> None:
    by = WHOLE.model_copy(update={"procedure": "survive"})
    assert metrics_of(measured(survived=True), by)["survived"] == 1.0
    dead = metrics_of(
        measured(survived=False, measurement=make_measurement(restarts=["server-1 was OOM-killed"])), by
    )
    assert (dead["survived"], dead["restarts"]) == (0.0, 1.0)


COUNTED = {
    **{counter.name: 6.0 * number for number, counter in enumerate(COUNTERS)},
    "compilations": 6,
    "compile_seconds": 1.5,
    "compiled_quickly": 9,
    "compiled_optimized": 3,
    "code_given_up": 1,
    "native_memory": 64 * MIB,
    "code_cache": 8 * MIB,
    "classes_loaded": 3,
    "safepoints": 12,
    "safepoint_seconds": 0.6,
    "to_safepoint_seconds": 0.06,
    "lock_waits": 15,
    "cpu_wait_seconds": 3.0,
    "request_wait_seconds": 1.2,
    "threads_asleep": 40.0,
}


def test_what_the_jvm_and_the_hardware_did() -> None:
    """Of two servers and their compiler, at 60 thousand requests in a minute."""
    trial = measured()
    counted = [component.model_copy(update=COUNTED) for component in trial.components]
    metrics = metrics_of(trial.model_copy(update={"components": counted}), WHOLE)
    assert metrics["ipc"] == 0.5
    for number, counter in enumerate(COUNTERS[1:], start=1):
        assert metrics[f"{counter.name}_per_1k"] == pytest.approx(0.3 * number), counter.name
    assert metrics["compilations_per_1k"] == pytest.approx(0.2)
    assert metrics["compile_time_per_1k"] == pytest.approx(0.05)
    assert metrics["compiled_quickly_per_1k"] == pytest.approx(0.3)
    assert metrics["compiled_optimized_per_1k"] == pytest.approx(0.1)
    assert metrics["code_given_up_per_1k"] == pytest.approx(1 / 30)
    assert metrics["classes_loaded_per_1k"] == pytest.approx(0.1)
    assert metrics["native_memory"] == 2 * 64 * MIB
    assert metrics["code_cache"] == 2 * 8 * MIB
    assert metrics["safepoints_per_second"] == pytest.approx(0.4)
    assert metrics["safepoint_share"] == pytest.approx(0.01)
    assert metrics["to_safepoint_share"] == pytest.approx(0.001)
    assert metrics["lock_waits_per_1k"] == pytest.approx(0.5)
    assert metrics["cpu_wait_per_1k"] == pytest.approx(0.15)
    assert metrics["cpu_wait_per_1k_request"] == pytest.approx(0.04)
    assert metrics["threads_asleep"] == pytest.approx(120.0)


def test_every_formula_is_tried_here() -> None:
    tried: dict[str, float] = {}
    for procedure in ("steady", "start-up", "ramp-up", "survive"):
        curves = {f"cpu_{group}": [float(number)] * 40 for number, group in enumerate(GROUPS, start=1)}
        curves["throughput"] = [1.0] * 40
        whole = measured(survived=True, curves=curves, first_answers={"browse": 1.0, "book": 2.0})
        services = [*WHOLE.components, make_component("service")]
        by = WHOLE.model_copy(update={"procedure": procedure, "components": services})
        one = result("service-1", "service", 1.0, told={'relay_delay_seconds{quantile="0.5"}': 0.001})
        counted = [component.model_copy(update=COUNTED) for component in whole.components]
        tried |= metrics_of(whole.model_copy(update={"components": [*counted, one]}), by)
    assert tried.keys() == {one.name for one in METRICS if one.compute is not None}
    for number, group in enumerate(GROUPS, start=1):
        assert tried[f"cpu_{group}"] == 40.0 * number, group
    assert tried["cpu_per_1k_service"] == pytest.approx(1 / 60)
    assert tried["relay_delay"] == pytest.approx(1.0), "ms"


GROUPS = ("request", "jit", "gc", "network", "other", "compiler")


@pytest.mark.parametrize(
    ("lived", "check", "survived"),
    [
        (True, None, 1.0),
        (False, None, 0.0),
        (None, None, None),
        (True, ("errors", 1.0), 0.0),
        (True, ("late-arrivals", 0.5), 0.0),
        (True, ("stalled", 9.0), 0.0),
        (True, ("errors", None), None),
        (True, ("not-stopped", 1.0), 1.0),
    ],
)
def test_who_does_not_answer_has_not_survived(
    lived: bool | None, check: tuple[str, float | None] | None, survived: float | None
) -> None:
    spec = make_spec(procedure="survive")
    checks = [
        Check(name=name, passed=False, voids=value is None, value=value, limit=0.001, unit="", detail="")
        for name, value in ([check] if check else [])
    ]
    assert metrics_of(make_trial(survived=lived, checks=checks), spec).get("survived") == survived


def test_in_turns_nothing_is_told_by_the_clock() -> None:
    """A side is frozen half of the time, in which its clocks go on."""
    alone = metrics_of(measured(), WHOLE)
    turns = metrics_of(measured(), WHOLE.model_copy(update={"duet": "in-turns"}))
    assert alone.keys() - turns.keys() == BY_CLOCK & alone.keys()
    assert {"latency_p99", "gc_pause_max"} <= alone.keys() - turns.keys()
