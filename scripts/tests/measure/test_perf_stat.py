# SPDX-License-Identifier: Apache-2.0
"""What perf stat wrote, of machines with and without counters, and the figures that come of it.

`MACHINES` are counts that people published of runs of their own, brought to the form in which this project has perf
write them: a POWER LPAR (kernel mailing list, 2020, hot-adding memory), an AMD Ryzen 7 2700X (the README of a ray
tracer) and an Intel Xeon E5-2650 (a comment in a loop in assembler, 2013).
"""

from dataclasses import replace
from typing import NamedTuple

import pytest
from builders import make_component, make_measurement, make_spec, make_trial, make_window

from steelyard.measure.counted import BY_NAME, COUNTERS, read_counter
from steelyard.measure.perf_stat import HEAD, TAIL, parse_perf_stat
from steelyard.measure.record import metrics_of
from steelyard.measure.samples import Samples, Table
from steelyard.measure.series import Series
from steelyard.measure.window import Unknown, Window
from steelyard.results.measurement import ComponentResult

SECONDS = 60


class Published(NamedTuple):
    """A count, and the part of the time in which it was counted, per cent."""

    value: float
    percent: float = 100.0


MACHINES = {
    "power": {
        "task-clock": Published(104_753.42),
        "context-switches": Published(4_708),
        "cpu-migrations": Published(2_444),
        "cycles": Published(445_902_503_057, 66.67),
        "stalled-cycles-frontend": Published(8_558_376_740, 49.99),
        "stalled-cycles-backend": Published(300_346_181_651, 50.01),
        "instructions": Published(258_091_488_691, 66.67),
        "branch-misses": Published(3_100_725_426, 49.99),
    },
    "ryzen": {
        "task-clock": Published(47_259_627.96),
        "context-switches": Published(6_674_340),
        "cpu-migrations": Published(7_245),
        "cycles": Published(183_021_382_277_936, 83.33),
        "stalled-cycles-frontend": Published(1_987_619_295_630, 83.33),
        "stalled-cycles-backend": Published(26_923_029_033_766, 83.33),
        "instructions": Published(252_678_712_192_192, 83.33),
        "branch-misses": Published(167_256_353_422, 83.33),
    },
    "xeon": {
        "task-clock": Published(499.670092),
        "context-switches": Published(1),
        "cpu-migrations": Published(0),
        "cycles": Published(1_001_276_619),
        "stalled-cycles-frontend": Published(970_442),
        "stalled-cycles-backend": Published(837_862),
        "instructions": Published(3_000_556_377),
        "branch-misses": Published(4_271),
    },
}


def lines_of(machine: str) -> list[str]:
    """The counts of a machine, spread evenly over a minute, as perf writes them each second."""
    counts = MACHINES[machine]
    ran = counts["task-clock"].value / SECONDS * 1e6
    lines = [f"{HEAD}0.000\n", "# started on Thu Jan  1 00:00:00 1970\n", "\n"]
    for second in range(1, SECONDS + 1):
        for event, (value, percent) in counts.items():
            counted = ran * percent / 100
            lines.append(
                f"     {second}.000000000,{value / SECONDS:.6f},,{event},{counted:.0f},{percent:.2f},,\n"
            )
    return lines


def window_of(machine: str) -> Window:
    """The minute, of one server; by the kernel it used as much CPU as perf saw."""
    used = MACHINES[machine]["task-clock"].value / 1000
    processes: Table = {
        ("server-1", column): Series.of([(0.0, 0.0), (float(SECONDS), seconds)])
        for column, seconds in (("user_s", used), ("system_s", 0.0))
    }
    events = {
        counter.name: counter.events[0] for counter in COUNTERS if counter.events[0] in MACHINES[machine]
    }
    window = make_window(Samples(processes, {}, {}, {}), 0.0, float(SECONDS))
    return replace(window, counters=events, counted={"server-1": parse_perf_stat(lines_of(machine))})


def figures_of(window: Window) -> dict[str, float | Unknown | None]:
    component = make_component(name="server-1")
    return {counter.name: read_counter(counter, window, component) for counter in COUNTERS}


@pytest.mark.parametrize("machine", ["ryzen", "xeon"])
def test_counts_come_out_as_they_were_published(machine: str) -> None:
    figures = figures_of(window_of(machine))
    for name in ("instructions", "cycles", "branch_misses", "frontend_stalls", "migrations"):
        assert figures[name] == pytest.approx(MACHINES[machine][BY_NAME[name].events[0]].value, rel=1e-6)
    assert figures["dtlb_misses"] is None


def test_what_was_counted_for_less_than_four_fifths_of_the_time_is_unknown() -> None:
    figures = figures_of(window_of("power"))
    assert figures["migrations"] == pytest.approx(2_444)
    cycles = figures["cycles"]
    assert isinstance(cycles, Unknown)
    assert cycles.reason.startswith("it was counted 67 % of the time")


def test_the_metrics_are_per_1000_requests() -> None:
    spec = make_spec(components=[make_component(name="server-1")])
    figures = figures_of(window_of("xeon"))
    known = {name: value for name, value in figures.items() if isinstance(value, float)}
    result = ComponentResult.model_validate({"name": "server-1", "role": "server", **known})
    trial = make_trial(arm=spec.arm, measurement=make_measurement(), components=[result])
    metrics = metrics_of(trial, spec)
    assert metrics["ipc"] == pytest.approx(3_000_556_377 / 1_001_276_619)
    assert metrics["cycles_per_1k"] == pytest.approx(1_001_276_619 / 60)
    assert "dtlb_misses_per_1k" not in metrics
    assert "counted_cpu_per_1k" not in metrics


HOUR = f"{HEAD}100.000\n"


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (["1.0,<not supported>,,cycles,0,100.00,,\n"], "perf does not support cycles here"),
        (["1.0,5,,cycles:u,100,100.00,,\n"], "the kernel's part was not counted"),
        (["1.0,5,,instructions,100,100.00,,\n"], "perf told nothing of cycles"),
        (["Some events weren't counted.\n"], "a line of perf cannot be read: Some events"),
        (["1.0,5,,cycles,100,100.00,,\n"], "perf did not count over the whole window"),
        (
            ["1.0,5,,cycles,1000,100.00,,\n", "10.0,<not counted>,,cycles,0,0.00,,\n"],
            "it was counted 0 % of the time",
        ),
    ],
)
def test_what_there_is_no_count_of_says_why(lines: list[str], reason: str) -> None:
    growth = parse_perf_stat([HOUR, *lines]).growth("cycles", 100.0, 110.0)
    assert isinstance(growth, str)
    assert growth.startswith(reason)


def test_a_second_in_which_it_did_not_run_counts_as_none_and_a_cut_line_is_passed_over() -> None:
    lines = ["1.0,5,,cycles,1000,100.00,,\n", "2.0,<not counted>,,cycles,0,100.00,,\n", "3.0,7"]
    assert parse_perf_stat([HOUR, *lines]).growth("cycles", 100.0, 102.0) == 5


def test_a_slice_whose_share_perf_rounds_to_none_was_counted_too_seldom() -> None:
    """Two decimals: of 20 us in a second perf writes 0.00 %."""
    lines = ["1.0,5,,cycles,1000000000,100.00,,\n", "2.0,61209,,cycles,20000,0.00,,\n"]
    growth = parse_perf_stat([HOUR, *lines]).growth("cycles", 100.0, 102.0)
    assert isinstance(growth, str)
    assert growth.startswith("it was counted 50 % of the time")


def test_times_are_told_from_the_end_as_perf_begins_late() -> None:
    lines = [f"{float(second)},5,,cycles,1000,100.00,,\n" for second in range(1, 11)]
    stat = parse_perf_stat([HOUR, *lines, f"{TAIL}113.000\n"])
    assert stat.growth("cycles", 104.0, 108.0) == 20
    assert isinstance(stat.growth("cycles", 102.0, 108.0), str)


def test_a_component_of_which_perf_saw_too_little_is_unknown() -> None:
    window = window_of("ryzen")
    used = {key: Series(series.t, series.v * 1.2) for key, series in window.samples.processes.items()}
    figure = figures_of(replace(window, samples=replace(window.samples, processes=used)))["cycles"]
    assert isinstance(figure, Unknown)
    assert figure.reason.startswith("perf saw 47,2".replace(",", ""))


def test_perf_may_see_more_than_the_kernel_books() -> None:
    """Its task-clock runs on while interrupts and a hypervisor take the CPU, which some kernels book to nobody."""
    window = window_of("ryzen")
    used = {key: Series(series.t, series.v * 0.8) for key, series in window.samples.processes.items()}
    figures = figures_of(replace(window, samples=replace(window.samples, processes=used)))
    assert figures["cycles"] == pytest.approx(MACHINES["ryzen"]["cycles"].value, rel=1e-6)


def test_a_session_that_counts_nothing_has_no_such_figures() -> None:
    assert set(figures_of(make_window(Samples({}, {}, {}, {}))).values()) == {None}
    counts = replace(window_of("xeon"), counted={})
    assert isinstance(figures_of(counts)["cycles"], Unknown)


def test_an_event_of_one_unit_of_a_hybrid_processor_is_read_by_its_name() -> None:
    lines = [f"{float(second)},5,,cpu_core/cycles/,1000,100.00,,\n" for second in range(1, 11)]
    assert parse_perf_stat([HOUR, *lines]).growth("cpu_core/cycles/", 102.0, 108.0) == 30
    user = [line.replace("cycles/", "cycles/u") for line in lines]
    growth = parse_perf_stat([HOUR, *user]).growth("cpu_core/cycles/", 102.0, 108.0)
    assert growth == "the kernel's part was not counted: set kernel.perf_event_paranoid to 1, or run as root"
