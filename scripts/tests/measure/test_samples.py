# SPDX-License-Identifier: Apache-2.0
"""Readers of the sampler's files, on files with known figures."""

from pathlib import Path

import numpy as np
import pytest
from builders import make_component, make_spec, make_window

from steelyard.errors import BadInput
from steelyard.measure.clocks import clock_step, longest_gap, sample_gap
from steelyard.measure.columns import NOTHING
from steelyard.measure.cpu import stall
from steelyard.measure.faults import faults, switches
from steelyard.measure.histograms import Recorded
from steelyard.measure.host import other_cpu_share, steal_share
from steelyard.measure.record import component_result
from steelyard.measure.requests import window_counts_away
from steelyard.measure.samples import Counts, Memory, Samples
from steelyard.measure.series import Series, total
from steelyard.measure.services import service_calls
from steelyard.measure.window import UNCOVERED, Unknown
from steelyard.results.measurement import CgroupResult
from steelyard.sampling.columns import COLUMNS

T = 1_700_000_000.0
NO_MEMORY = Memory(None, None, None)


def write(folder: Path, name: str, rows: list[str], end: str = "\n") -> None:
    if name == "processes":
        rows = [f"{row},1,0" for row in rows]
    (folder / f"{name}.csv").write_text("\n".join([COLUMNS[name], *rows]) + end, encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Ten seconds of two servers: `a` does 100 requests/s, `b` 50, sampled half a second apart."""
    processes, threads, counters, host = [], [], [], []
    for s in range(11):
        for name, shift, scale in (("a", 0.0, 1.0), ("b", 0.5, 0.5)):
            t = T + s + shift
            pss = f"{900 + 100 * (s // 10)}" if s % 10 == 0 else ""
            switches = f"{10 * s},{s}" if s % 5 == 0 else ","
            processes.append(
                f"{t},{name},{0.2 * s * scale},{0.05 * s * scale},{1000 + 10 * s},{pss},{7 * s},0,{switches},60,"
            )
            threads += [f"{t},{name},request,{0.2 * s * scale},,", f"{t},{name},other,{0.05 * s * scale},,"]
            counters.append(f"{t},{name},ping,{100 * (s + shift) * scale},{s},{0.1 * s}")
        processes.append(f"{T + s},sampler,0.0,0.0,100,,0,0,,,1,")
        host.append(f"{T + s},{500 + s},{s * 1.0},{s * 0.02},{s * 0.98},{s * 0.1}")
    write(tmp_path, "processes", processes)
    write(tmp_path, "threads", threads)
    write(tmp_path, "counters", counters)
    write(tmp_path, "host", host)
    return tmp_path


def test_request_rate_sums_servers_sampled_at_different_times(folder: Path) -> None:
    trace = Samples.load(folder).request_rate(T + 1, T + 9)
    assert [t for t, _ in trace] == pytest.approx(list(range(1, 9)))
    assert [rate for _, rate in trace] == pytest.approx([150.0] * 8)


def test_request_rate_ends_where_the_slowest_answering_server_is_known(folder: Path) -> None:
    trace = Samples.load(folder).request_rate(T + 1, T + 60)
    assert len(trace) == 9
    assert trace[-1][1] == pytest.approx(150.0)


def test_request_rate_goes_on_after_a_server_died(folder: Path) -> None:
    rows = [f"{T + s},a,ping,{100 * s},0,0" for s in range(31)] + [
        f"{T + s},b,ping,{50 * s},0,0" for s in range(6)
    ]
    write(folder, "counters", rows)
    rates = [rate for _, rate in Samples.load(folder).request_rate(T, T + 30)]
    assert rates[:5] == pytest.approx([150.0] * 5)
    assert rates[5:] == pytest.approx([100.0] * 25)


def test_requests_over_a_window_and_at_the_end(folder: Path) -> None:
    samples = Samples.load(folder)
    assert samples.requests("a", T + 2, T + 8) == pytest.approx(Counts(600, 6))
    assert samples.requests("b", T + 2, T + 8) == pytest.approx(Counts(300, 6))
    assert samples.total_counts() == Counts(1000 + 525, 10 + 10)
    assert samples.requests("a", T + 2, T + 80) is None
    assert samples.requests("nobody", T + 2, T + 8) is None


def test_an_operation_that_is_listed_from_its_first_request_on_counts_whole(folder: Path) -> None:
    """300 of `ping` and, from the middle on, 2,700 of `late`, of which the first sample has 600 already."""
    rows = [f"{T + s},a,ping,{30 * s},0,0" for s in range(11)]
    rows += [f"{T + s},a,late,{600 + 420 * (s - 5)},1,0" for s in range(5, 11)]
    write(folder, "counters", rows)
    samples = Samples.load(folder)
    assert samples.requests("a", T, T + 10) == pytest.approx(Counts(300 + 2700, 1))
    assert sum(rate for _, rate in samples.request_rate(T, T + 10)) == pytest.approx(3000)


def test_an_operation_that_is_no_longer_told_makes_the_count_unknown(folder: Path) -> None:
    rows = [f"{T + s},a,ping,{30 * s},0,0" for s in range(11)]
    write(folder, "counters", [*rows, *(f"{T + s},a,gone,{s},0,0" for s in range(5))])
    assert Samples.load(folder).requests("a", T, T + 10) is None


def test_a_server_without_any_cpu_stalls_the_whole_window(folder: Path) -> None:
    rows = [f"{T + s},a,7.0,1.0,1000,,0,0,,,1," for s in range(31)]
    write(folder, "processes", rows)
    assert stall(Samples.load(folder), ["a"], T, T + 30, Recorded()) == 30.0


def test_counts_are_as_far_away_as_those_of_the_server_that_told_them_latest(folder: Path) -> None:
    with (folder / "counters.csv").open("a", encoding="utf-8") as file:
        file.write(f"{T + 9},a,first-asked-for-late,1,0,0\n")
    samples = Samples.load(folder)
    assert window_counts_away.read(make_window(samples, T + 2, T + 8)) == pytest.approx(0.5 + 0.5)
    assert window_counts_away.read(make_window(samples, T + 2.4, T + 8.5)) == pytest.approx(0.4 + 0.5)
    assert window_counts_away.read(make_window(Samples.load(folder / "nothing"), T + 2, T + 8)) is None


def test_requests_are_those_of_all_operations(folder: Path) -> None:
    rows = [
        f"{T + s},a,{operation},{n * s},{s},0" for s in range(11) for operation, n in (("x", 3), ("y", 4))
    ]
    write(folder, "counters", rows)
    samples = Samples.load(folder)
    assert samples.requests("a", T + 2, T + 8) == pytest.approx(Counts(42, 12))
    assert samples.total_counts() == Counts(70, 20)


def test_calls_between_services_are_no_requests(folder: Path) -> None:
    rows = (folder / "counters.csv").read_text(encoding="utf-8").splitlines()[1:]
    calls = [f"{T + s},a,internal-miles,{30 * s},0,0" for s in range(11)]
    write(folder, "counters", sorted([*rows, *calls]))
    samples = Samples.load(folder)
    assert service_calls.read(make_window(samples, T + 1, T + 9)) == pytest.approx(240)
    assert samples.request_rate(T + 1, T + 9)[-1][1] == pytest.approx(150.0)
    assert samples.requests("a", T + 1, T + 9) == pytest.approx(Counts(800, 8))
    assert samples.total_counts() == Counts(1000 + 525, 10 + 10)


def test_a_server_that_nobody_asked_anything_counts_nothing(folder: Path) -> None:
    rows = (folder / "counters.csv").read_text(encoding="utf-8").splitlines()[1:]
    others = [row for row in rows if row.split(",")[1] != "b"]
    write(folder, "counters", others)
    assert Samples.load(folder).requests("b", T + 1, T + 9) is None, "nobody says that it answered"
    write(folder, "counters", sorted([*others, *(f"{T + s},b,{NOTHING},0,0,0" for s in range(11))]))
    samples = Samples.load(folder)
    assert samples.requests("b", T + 1, T + 9) == Counts(0, 0)
    assert samples.requests("b", T + 1, T + 90) is None, "not over the whole window"
    assert service_calls.read(make_window(samples, T + 1, T + 9)) is None


def test_cpu(folder: Path) -> None:
    samples = Samples.load(folder)
    assert samples.process_names() == ["a", "b"]
    assert samples.cpu_seconds("a", T + 2, T + 6) == pytest.approx(1.0)
    assert samples.cpu_by_group("a", T + 2, T + 6) == pytest.approx({"request": 0.8, "other": 0.2})
    assert samples.cpu_seconds("nobody", T, T + 1) is None
    assert samples.cpu_by_group("nobody", T, T + 1) == {}
    assert samples.wait_by_group("a", T + 2, T + 6) == {}, "this kernel does not tell"


def test_memory_is_summed_at_equal_times(folder: Path) -> None:
    memory = Samples.load(folder).memory(["a", "b"], T + 1, T + 9)
    assert memory.rss_mean == pytest.approx(1050 + 1045)
    assert memory.rss_peak == pytest.approx(1090 + 1085)
    assert Samples.load(folder).memory(["a", "b"], T, T + 10.5).pss_mean == pytest.approx(1900, rel=0.01)
    assert Samples.load(folder).memory(["a", "nobody"], T + 1, T + 9) == NO_MEMORY
    assert Samples.load(folder).memory(["a", "sampler"], T + 1, T + 9).pss_mean is None


def test_pss_is_read_at_both_ends_of_the_window(folder: Path) -> None:
    """As the sampler does it: what is asked for at an end comes with its next sample, up to a second later."""

    def pss(readings: dict[float, int], t0: float = 2.0, t1: float = 62.0) -> float | None:
        rows = [f"{T + s},a,0,0,1000,{readings.get(s, '')},0,0,,,1," for s in sorted({*range(70), *readings})]
        write(folder, "processes", rows)
        return Samples.load(folder).memory(["a"], T + t0, T + t1).pss_mean

    # A server that comes up: 180 MiB when the load begins, 230 at its end.
    assert pss({0.2: 90, 2.0: 180, 63.0: 230}) == pytest.approx(205, abs=1)
    assert pss({2.0: 180, 2.4: 181, 3.0: 183, 63.0: 230}) == pytest.approx(206, abs=2)
    assert pss({2.0: 180}) is None, "at the end nothing was read"
    assert pss({2.0: 180, 69.0: 230}) is None, "long after the end"
    assert pss({63.0: 230}) is None, "at the beginning nothing was read"


def test_what_a_component_had_that_was_killed_on_purpose_is_held_until_then(folder: Path) -> None:
    """PSS is read as the window begins and not again; the rest each second."""
    seconds = range(31)
    write(
        folder,
        "processes",
        [f"{T + s},a,{s},0.0,100,{'' if s else 100},0,0,,,8," for s in seconds],
    )
    write(folder, "cgroups", [f"{T + s},a,{s},0.0,0,0,100,100,100,0,100" for s in seconds])
    samples = Samples.load(folder).end_process("a", T + 30.5, T + 61)
    memory = samples.memory(["a"], T, T + 60)
    half = pytest.approx(100 * 30.5 / 60)
    assert memory.rss_mean == half
    assert memory.rss_peak == 100
    assert memory.pss_mean == half
    group = charged(samples, "a", T, T + 60)
    assert group is not None
    assert all(group.value(f"{name}_mean") == half for name in ("memory", "working_set", "huge"))
    assert (group.value("huge_peak"), group.value("cpu_seconds")) == (100, 30)
    assert samples.series("a", "processes").mean(T, T + 60) == pytest.approx(30.5 / 60)
    assert samples.cpu_seconds("a", T, T + 60) == 30


def test_faults_and_switches(folder: Path) -> None:
    samples = Samples.load(folder)
    assert faults.read(make_window(samples, T + 1, T + 3), make_component(name="a")) == pytest.approx(14)
    assert switches.read(make_window(samples, T + 2, T + 8), make_component(name="a")) == pytest.approx(
        60 + 6
    )
    assert switches.read(make_window(samples, T + 2, T + 8), make_component(name="sampler")) is None
    # Those of three seconds more may all have been before the window.
    for key in (("a", "voluntary_switches"), ("a", "involuntary_switches")):
        read = samples.processes[key]
        samples.processes[key] = Series(read.t[::2], read.v[::2])
    assert switches.read(make_window(samples, T + 3, T + 8), make_component(name="a")) == UNCOVERED


def charged(samples: Samples, name: str, t0: float, t1: float) -> CgroupResult | None:
    """What the container of a component was charged over a window."""
    return component_result(make_window(samples, t0, t1), make_component(name=name)).cgroup


def test_control_groups(folder: Path) -> None:
    """`a` has a quota and is throttled in every fourth period, `b` has none and a kernel that tells less."""
    rows = []
    for s in range(11):
        rows.append(
            f"{T + s},a,{0.3 * s},{0.05 * s},{8 * s},{2 * s},{1000 + 10 * s},{900},{1500 + s},{s // 9},{100 * s}"
        )
        rows.append(f"{T + s},b,{0.5 * s},0.0,0,0,{500},,,,")
    write(folder, "cgroups", rows)
    samples = Samples.load(folder)
    a = charged(samples, "a", T + 2, T + 6)
    assert a is not None
    assert a.value("cpu_seconds") == pytest.approx(1.2)
    assert a.value("throttled_seconds") == pytest.approx(0.2)
    assert a.value("throttled_share") == pytest.approx(0.25)
    assert a.value("memory_mean") == pytest.approx(1040)
    assert a.value("memory_peak") == pytest.approx(1506)
    assert (a.value("working_set_mean"), a.value("oom_kills")) == (900, 1)
    assert (a.value("huge_mean"), a.value("huge_peak")) == (400, 600)
    b = charged(samples, "b", T + 2, T + 6)
    assert b == CgroupResult(
        cpu_seconds=2.0,
        throttled_seconds=0.0,
        throttled_share=0.0,
        memory_mean=500,
        memory_peak=None,
        working_set_mean=None,
        oom_kills=None,
        huge_mean=None,
        huge_peak=None,
    )
    # Of a window that is not covered nothing is known but that something was killed.
    late = charged(samples, "a", T + 2, T + 60)
    assert late == CgroupResult(**(dict.fromkeys(b.model_dump()) | {"oom_kills": 1}))
    assert charged(samples, "nobody", T + 2, T + 6) is None


def test_host_shares(folder: Path) -> None:
    samples = Samples.load(folder)
    assert steal_share.read(make_window(samples, T + 1, T + 9)) == pytest.approx(0.02 / 2)
    assert samples.other_cpu(T + 1, T + 9) == pytest.approx(0.8)
    assert clock_step(samples, T, T + 10) == pytest.approx(0)


def test_what_the_host_did_before_its_first_sample_is_not_known(folder: Path) -> None:
    """Up to a tenth of a short window is carried over; a start-up window lasts a few seconds."""
    samples = Samples.load(folder)
    for figure in (steal_share, other_cpu_share):
        late = figure.read(make_window(samples, T - 1.2, T + 9))
        assert isinstance(late, Unknown)
        assert late.reason == "samples of the host began 1.2 s after the window"
        assert not isinstance(figure.read(make_window(samples, T - 0.9, T + 9)), Unknown)


def test_in_a_start_the_gaps_are_those_of_the_host(folder: Path) -> None:
    """Its servers have no sample before they run, and what asks them writes no account of its health."""
    spec = make_spec(components=[make_component(name="starts-later")], procedure="start-up")
    samples = Samples.load(folder)
    assert sample_gap.read(make_window(samples, T + 1, T + 9, spec)) == pytest.approx(1.0)
    assert sample_gap.read(make_window(samples, T - 3, T + 9, spec)) == pytest.approx(3.0)


def test_clock_step(folder: Path) -> None:
    step = [f"{T + s + (3 if s > 5 else 0)},{500 + s},{s},0,{s},0" for s in range(11)]
    write(folder, "host", step)
    assert clock_step(Samples.load(folder), T, T + 13) == pytest.approx(3)


@pytest.mark.parametrize("step", [5.0, -5.0])
def test_a_step_of_the_clock_late_in_the_window_is_seen(folder: Path, step: float) -> None:
    """+5 s at 57.5 of 60 s: all samples after it bear times beyond the window and its slack."""
    rows = [f"{T + s + (step if s > 57.5 else 0)},{500 + s},{s},0,{s},0" for s in range(70)]
    write(folder, "host", rows)
    assert clock_step(Samples.load(folder), T, T + 60) == pytest.approx(5)


def test_the_longest_gap_is_that_of_any_process_and_may_begin_before_the_window(folder: Path) -> None:
    samples = Samples.load(folder)
    assert longest_gap(samples, ["a", "b"], T + 1, T + 9) == pytest.approx(1.0)
    assert longest_gap(samples, ["a", "nobody"], T + 1, T + 9) is None
    rows = (folder / "processes.csv").read_text(encoding="utf-8").splitlines()[1:]
    gone = {f"{T + s + 0.5},b" for s in (5, 6, 7)}
    rows = [row.removesuffix(",1,0") for row in rows]
    write(folder, "processes", [row for row in rows if row.rpartition(",b,")[0] + ",b" not in gone])
    samples = Samples.load(folder)
    for window in ((T + 1, T + 9), (T + 6, T + 9), (T + 1, T + 7), (T + 5, T + 7)):
        assert longest_gap(samples, ["a", "b"], *window) == pytest.approx(4.0)
    assert longest_gap(samples, ["a"], T + 1, T + 9) == pytest.approx(1.0)
    assert longest_gap(samples, ["a"], T + 1, T + 30) == pytest.approx(20.0), "they end"


def cpu_rows(name: str, used: list[float]) -> list[str]:
    return [f"{T + s},{name},{v},0,1,,0,0,,,1," for s, v in enumerate(used)]


def test_a_stall_is_a_time_without_cpu_of_a_server_that_works_else(folder: Path) -> None:
    works = [0.5 * s for s in range(11)]
    stopped = [0.5 * min(s, 3) + 0.5 * max(s - 7, 0) for s in range(11)]
    bursts = [0.01 * (s // 6) for s in range(11)]  # a few ms each 6 s: its silence is nothing
    rows = [*cpu_rows("a", works), *cpu_rows("b", stopped), *cpu_rows("c", bursts)]
    write(folder, "processes", rows)
    samples = Samples.load(folder)
    assert stall(samples, ["a"], T, T + 10, Recorded()) == 0
    assert stall(samples, ["b"], T, T + 10, Recorded()) == pytest.approx(4.0)
    assert stall(samples, ["c"], T, T + 10, Recorded()) == 0
    assert stall(samples, ["b"], T, T + 30, Recorded()) is None, "it was not sampled to the end"


def test_a_line_that_is_being_written_is_passed_over(folder: Path) -> None:
    before = Samples.load(folder).total_counts()
    with (folder / "counters.csv").open("a", encoding="utf-8") as file:
        file.write(f"{T + 11},a,ping,12")
    assert Samples.load(folder).total_counts() == before


def test_nothing_there_yet(tmp_path: Path) -> None:
    samples = Samples.load(tmp_path)
    assert samples.request_rate(T, T + 10) == []
    assert samples.requests("a", T, T + 10) is None
    assert samples.memory([], T, T + 1) == NO_MEMORY
    assert steal_share.read(make_window(samples, T, T + 1)) is None
    assert samples.other_cpu(T, T + 1) is None
    assert longest_gap(samples, [], T, T + 1) is None
    assert stall(samples, ["a"], T, T + 1, Recorded()) is None
    assert clock_step(samples, T, T + 1) is None
    assert samples.total_counts() is None


def test_other_columns_are_refused(tmp_path: Path) -> None:
    (tmp_path / "host.csv").write_text("when,busy_s\n1,2\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"host\.csv does not have the columns"):
        Samples.load(tmp_path)


def test_series_outside_of_its_samples() -> None:
    series = Series.of([(T + 1, 10.0), (T, 0.0)])
    assert series.at(T + 0.25) == pytest.approx(2.5)
    assert series.at(T + 2) == 10.0
    assert series.at(T + 99) is None
    assert series.delta(T, T + 1) == pytest.approx(10)
    assert series.delta(T, T + 99) is None
    assert series.mean(T, T + 99) is None
    assert series.peak(T - 99, T) is None
    assert total([series, Series(np.array([]), np.array([]))], T, T + 1) is None
    assert Series.of([]).at(T) is None
