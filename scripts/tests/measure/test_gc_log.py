# SPDX-License-Identifier: Apache-2.0
"""GC logs: excerpts of real ones (HotSpot 17 and 25 written under a zone of -05:00; OpenJ9 killed while it wrote)."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from steelyard.measure.gc_log import (
    Allocation,
    GcLog,
    GcPause,
    GcSettings,
    GcTotals,
    parse_gc_log,
    read_gc_logs,
)

LOGS = Path(__file__).parents[1] / "fixtures" / "gc"
MIB = 1024 * 1024


def read(name: str) -> GcLog:
    return read_gc_logs([LOGS / f"{name}.txt"])


@pytest.fixture(params=["UTC", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize(("version", "stalls"), [(17, [7.131, 2.441, 2.185]), (25, [3.851, 2.987, 38.851])])
def test_threads_that_wait_for_zgc_stall_and_are_in_no_pause(version: int, stalls: list[float]) -> None:
    log = read(f"hotspot{version}-z-stalls")
    assert log.stalls is not None
    assert [1000 * one.seconds for one in log.stalls] == pytest.approx(stalls)
    assert log.totals(0, 4e9).stall_seconds == pytest.approx(sum(stalls) / 1000, abs=1e-6)
    assert max(pause.seconds for pause in log.pauses) < 0.001


def test_a_collector_that_logs_no_stalls_tells_nothing_of_them() -> None:
    assert read("hotspot17-g1").totals(0, 4e9).stall_seconds is None
    assert read("hotspot17-shenandoah").totals(0, 4e9).stall_seconds is None
    assert read("hotspot17-z").totals(0, 4e9).stall_seconds == 0


def test_a_stall_that_cannot_be_read_makes_all_unknown() -> None:
    text = (LOGS / "hotspot17-z-stalls.txt").read_text(encoding="utf-8")
    log = parse_gc_log(text.replace("(main) 2.441ms", "(main) 2.441 milliseconds"))
    assert log.unknown is not None
    assert "stall in the GC log cannot be read" in log.unknown


@pytest.mark.parametrize("version", [17, 25])
@pytest.mark.parametrize(("collector", "threads"), [("Parallel", 2), ("G1", 2), ("Serial", 1)])
def test_hotspot_settings(version: int, collector: str, threads: int) -> None:
    settings = read(f"hotspot{version}-{collector.lower()}").settings
    assert settings.policy == collector
    assert settings.max_heap == 64 * MIB
    assert settings.gc_threads == threads
    assert settings.large_pages == "Disabled"


def test_hotspot_parallel_pauses(zone: str) -> None:
    log = read("hotspot17-parallel")
    assert [one.seconds for one in log.pauses] == pytest.approx(
        [0.354242, 0.003375, 0.001336, 0.009418, 0.000733, 0.006403]
    )
    # Logged at its end, 07:14:05.264 with an offset of -05:00.
    end = datetime(2026, 11, 20, 12, 14, 5, 264000, tzinfo=UTC).timestamp()
    assert log.pauses[0].epoch == pytest.approx(end - 0.354242)


def test_hotspot_g1_concurrent_cycle() -> None:
    log = read("hotspot17-g1")
    # Two cycles: Remark and Cleanup stop the application, the cycle itself does not, and is one collection.
    totals = log.totals(0, 4e9)
    assert len(log.pauses) == 8
    assert totals.collections == len({pause.collection for pause in log.pauses}) == 6
    assert totals.pause_max == pytest.approx(0.005331)
    assert sum(one.seconds for one in log.pauses) == pytest.approx(
        (1.230 + 5.331 + 1.127 + 0.295 + 0.024 + 0.886 + 0.231 + 0.027) / 1000
    )


@pytest.mark.parametrize("version", [17, 25])
def test_hotspot_serial_counts_every_pause_once(version: int) -> None:
    assert read(f"hotspot{version}-serial").totals(0, 4e9).collections == 6


@pytest.mark.parametrize(
    ("name", "pauses", "collections", "stood", "longest"),
    [
        # By hand: the lines with `Pause ... ms` of each excerpt, their sum and the longest in milliseconds, and the
        # different numbers in their `GC(...)`.
        ("hotspot17-z", 12, 4, 0.158, 0.019),
        ("hotspot25-z", 43, 10, 0.883, 0.062),
        ("hotspot17-shenandoah", 32, 10, 8.170, 3.309),
        ("hotspot25-shenandoah", 17, 8, 35.465, 21.943),
    ],
)
def test_collectors_that_work_beside_the_application(
    name: str, pauses: int, collections: int, stood: float, longest: float
) -> None:
    log = read(name)
    assert log.settings.policy == ("The Z Garbage Collector" if name.endswith("z") else "Shenandoah")
    assert (log.settings.max_heap, log.settings.initial_heap) == (96 * MIB, 64 * MIB)
    assert log.settings.gc_threads == 2  # -XX:ParallelGCThreads=2, with one thread for the concurrent phases
    assert log.settings.large_pages == "Disabled"
    assert len(log.pauses) == pauses
    assert sum(pause.seconds for pause in log.pauses) == pytest.approx(stood / 1000)
    totals = log.totals(0, 4e9)
    assert totals.collections == collections
    assert totals.pause_max == pytest.approx(longest / 1000)
    # Within what the times of epoch seconds in a double tell.
    assert totals.pause_seconds == pytest.approx(stood / 1000, abs=pauses * 3e-7)
    # Memory that is freed between pauses is told by none of them: it is unknown, and not 0.
    assert log.allocated == ()
    assert log.allocation(0, 4e9) is None


def test_zgc_pauses_of_both_generations() -> None:
    log = parse_gc_log(
        "[2026-11-20T07:14:12.991-0500][0.195s][info][gc,phases   ] GC(0) Y: Pause Mark Start (Major) 0.023ms\n"
        "[2026-11-20T07:14:12.993-0500][0.197s][info][gc,phases   ] GC(0) Y: Concurrent Mark 1.936ms\n"
        "[2026-11-20T07:14:12.996-0500][0.200s][info][gc,phases   ] GC(0) O: Pause Mark End 0.011ms\n"
    )
    assert [one.seconds for one in log.pauses] == pytest.approx([0.000023, 0.000011])


def test_a_concurrent_cycle_is_one_collection_of_the_window_in_which_it_began() -> None:
    line = "[2026-11-20T07:14:{:02}.000-0500][{}.0s][info][gc] GC({}) Pause {} 1.000ms\n"
    told = ((1, 0, "Young"), (3, 1, "Remark"), (7, 1, "Cleanup"), (9, 2, "Young"), (9, 3, "Init Mark"))
    log = parse_gc_log("".join(line.format(second, second, number, what) for second, number, what in told))
    at = datetime(2026, 11, 20, 12, 14, tzinfo=UTC).timestamp()
    assert log.totals(at, at + 60).collections == 4
    assert log.totals(at + 2, at + 5).collections == 1
    assert log.totals(at + 5, at + 8).collections == 0
    assert log.totals(at + 5, at + 8).pause_seconds == pytest.approx(0.001, abs=1e-6)


def test_window_takes_the_part_of_a_pause_that_lies_inside() -> None:
    log = read("hotspot17-parallel")
    first = log.pauses[0]
    middle = first.epoch + first.seconds / 2
    before, after = log.totals(first.epoch - 1, middle), log.totals(middle, middle + 0.17)
    assert before.collections == 1
    assert before.pause_seconds == pytest.approx(first.seconds / 2)
    assert after.collections == 0
    assert after.pause_max is None
    assert after.pause_seconds == pytest.approx(0.17)


def grown(*used: tuple[int, int], policy: str = "Parallel") -> GcLog:
    """HotSpot's log with a pause each second that found so many MiB and left so many."""
    lines = [f"[2026-11-20T10:00:00.000+0000][0.000s][info][gc] Using {policy}"]
    lines += [
        f"[2026-11-20T10:00:{at:02d}.000+0000][{at}.0s][info][gc          ] GC({at}) Pause Young (Allocation Failure)"
        f" {before}M->{after}M(61M) 0.000ms"
        for at, (before, after) in enumerate(used, start=1)
    ]
    return parse_gc_log("\n".join(lines) + "\n")


TEN = datetime(2026, 11, 20, 10, tzinfo=UTC).timestamp()


def test_hotspot_allocates_what_the_heap_grows_by_between_pauses() -> None:
    log = grown((15, 2), (18, 4), (60, 44), (58, 23))
    assert [one.size // MIB for one in log.allocated] == [15, 16, 56, 14]
    # Between the first and the last collection of the window: what was allocated before the first is not known.
    assert log.allocation(TEN + 1.5, TEN + 9) == Allocation((56 + 14) * MIB, TEN + 2, TEN + 4)


@pytest.mark.parametrize(("t0", "t1"), [(1.5, 2.5), (7, 9)])
def test_less_than_two_collections_in_the_window_tell_no_allocation(t0: float, t1: float) -> None:
    assert grown((15, 2), (18, 4), (60, 44)).allocation(TEN + t0, TEN + t1) is None


def test_a_heap_that_is_freed_beside_the_application_tells_no_allocation() -> None:
    assert grown((15, 2), (18, 4), policy="Shenandoah").allocation(TEN, TEN + 9) is None


@pytest.mark.parametrize("name", ["parallel", "g1", "serial"])
@pytest.mark.parametrize("version", [17, 25])
def test_every_collector_of_hotspot_tells_what_the_heap_held(version: int, name: str) -> None:
    log = read(f"hotspot{version}-{name}")
    assert len(log.allocated) == len(log.pauses)
    found = log.allocation(0, 4e9)
    assert found is not None
    assert (found.begin, found.end) == (log.pauses[0].epoch, log.pauses[-1].epoch)


def test_openj9_says_what_was_allocated() -> None:
    log = read("openj9-gencon-truncated")
    assert [one.size for one in log.allocated] == [34209800, 24036264, 44559216, 45549320]
    begin, end = log.pauses[0].epoch, log.pauses[-1].epoch
    assert log.allocation(0, 4e9) == Allocation(24036264 + 44559216 + 45549320, begin, end)


def test_openj9_killed_while_writing(zone: str) -> None:
    log = read("openj9-gencon-truncated")
    # Three sections with an end, and one of which only the collection's end was written.
    assert [one.seconds for one in log.pauses] == pytest.approx([0.020834, 0.030844, 0.028224, 0.012526])
    assert log.pauses[0].epoch == datetime(2026, 11, 20, 10, 49, 40, 296000).astimezone().timestamp()


def test_openj9_settings() -> None:
    settings = read("openj9-large-pages").settings
    assert settings.policy == "-Xgcpolicy:gencon"
    assert settings.max_heap == 200 * MIB
    assert settings.page_size == 2 * MIB
    assert settings.gc_threads == 2


def test_openj9_sections_that_are_no_collection() -> None:
    def section(second: int, *collections: str) -> str:
        stamp = f"2026-11-20T10:00:{second:02d}.000"
        inside = "".join(
            f'<gc-start id="2" type="{kind}" timestamp="{stamp}">\n<gc-end id="3" type="{kind}" durationms="4.0">\n'
            for kind in collections
        )
        return (
            f'<exclusive-start id="1" timestamp="{stamp}" intervalms="1.0">\n{inside}'
            f'<exclusive-end id="4" timestamp="{stamp}" durationms="9.0" />\n'
        )

    kickoff = '<concurrent-kickoff id="9" timestamp="2026-11-20T10:00:50.000" />\n'
    log = parse_gc_log("<verbosegc>\n" + section(1) + section(2, "scavenge", "global") + kickoff + section(4))
    begin = datetime(2026, 11, 20, 10, 0, 2).astimezone().timestamp()
    assert log.pauses == (GcPause(begin, 0.009),)


@pytest.mark.parametrize("ahead", [0, 330, -300, 60])
def test_openj9_writes_the_time_of_its_own_zone(zone: str, ahead: int, tmp_path: Path) -> None:
    """A container's zone need not be the host's; the log does not tell it, the start of the process does."""
    log = LOGS / "openj9-gencon-truncated.txt"  # initialised at 10:49:32.010, first pause at 10:49:40.296
    began = datetime(2026, 11, 20, 10, 49, 30, tzinfo=UTC).timestamp() - 60 * ahead
    assert read_gc_logs([log], began).pauses[0].epoch == pytest.approx(began + 10.296)
    # Files that continue a log begin later: the first of them tells.
    later = tmp_path / "gc.002.log"
    later.write_text(log.read_text(encoding="utf-8").replace("T10:49", "T11:09"), encoding="utf-8")
    assert read_gc_logs([later, log], began).pauses[0].epoch == pytest.approx(began + 10.296)


def test_several_files_in_any_order(tmp_path: Path) -> None:
    whole = (LOGS / "openj9-gencon-truncated.txt").read_text(encoding="utf-8")
    cut = whole.index("<exclusive-start", whole.index("<exclusive-end"))
    (tmp_path / "gc.001.log").write_text(whole[:cut], encoding="utf-8")
    (tmp_path / "gc.002.log").write_text("<verbosegc>\n" + whole[cut:], encoding="utf-8")
    files = [tmp_path / "gc.002.log", tmp_path / "gc.001.log", tmp_path / "gc.003.log"]
    assert read_gc_logs(files) == parse_gc_log(whole)


@pytest.mark.parametrize("name", ["hotspot25-g1", "openj9-gencon-truncated"])
def test_every_cut_is_readable_and_never_invents_a_pause(name: str) -> None:
    whole = (LOGS / f"{name}.txt").read_text(encoding="utf-8")
    pauses = len(parse_gc_log(whole).pauses)
    found = [len(parse_gc_log(whole[:cut]).pauses) for cut in range(0, len(whole), 97)]
    assert found == sorted(found)
    assert found[-1] <= pauses


def test_no_log_yet(tmp_path: Path) -> None:
    empty = tmp_path / "gc.log"
    empty.write_bytes(b"")
    log = read_gc_logs([empty, tmp_path / "missing.log"])
    assert log.pauses == ()
    assert log.settings == GcSettings()
    assert log.unknown == "the GC log is empty"
    assert log.totals(0, 1) == GcTotals()
    assert log.allocation(0, 4e9) is None


COMMAS = """\
[2026-11-25T10:00:00.000+0000][0,010s][info][gc] Using Parallel
[2026-11-25T10:00:01.000+0000][1,000s][info][gc          ] GC(0) Pause Young (Allocation Failure) 16M->4M(61M) 12,500ms
[2026-11-25T10:00:02.000+0000][2,000s][info][gc          ] GC(1) Pause Young (Allocation Failure) 20M->5M(61M) 7,500ms
[2026-11-25T10:00:03.000+0000][3,000s][info][gc          ] GC(2) Pause Full (Ergonomics) 21M->5M(61M) 30,000ms
"""


def test_decimal_commas() -> None:
    log = parse_gc_log(COMMAS)
    totals = log.totals(0, 4e9)
    assert totals.collections == 3
    assert totals.pause_seconds == pytest.approx(0.050)
    assert totals.pause_max == pytest.approx(0.030)
    assert [one.size for one in log.allocated] == [16 * MIB] * 3


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("7,500ms", "7500us", "line 3 of the GC log tells of a pause and cannot be read"),
        ("7,500ms", "1.007,500ms", "line 3 of the GC log"),
        ("[info][gc          ] GC(1)", "[gc] GC(1)", "line 3 of the GC log"),
        ("2026-11-25T10:00:02", "2026-11-25 at 10", "line 3 of the GC log"),
        ("[info]", "", "no line of the GC log can be read"),
    ],
)
def test_one_pause_that_cannot_be_read_and_no_sum_is_known(old: str, new: str, why: str) -> None:
    log = parse_gc_log(COMMAS.replace(old, new))
    assert log.unknown is not None
    assert log.unknown.startswith(why)
    assert log.totals(0, 4e9) == GcTotals()
    assert log.allocation(0, 4e9) is None


def test_a_pause_that_does_not_tell_what_the_heap_held_tells_no_allocation(tmp_path: Path) -> None:
    path = tmp_path / "gc.log"
    path.write_text(COMMAS.replace("20M->5M(61M)", "20->5"), encoding="utf-8")
    log = read_gc_logs([path])
    assert log.totals(0, 4e9).collections == 3
    assert log.allocation(0, 4e9) is None
    kib = parse_gc_log(COMMAS.replace("20M->5M(61M)", "20480K->5120K(62464K)"))
    assert [one.size for one in kib.allocated] == [16 * MIB] * 3


def test_metronome_tells_sums_alone(tmp_path: Path) -> None:
    path = tmp_path / "gc.xml"
    path.write_text(
        '<?xml version="1.0" encoding="UTF-8"?>\n<verbosegc version="x">\n'
        '<initialized id="1" timestamp="2026-11-25T10:00:00.000">\n'
        '  <attribute name="gcPolicy" value="-Xgcpolicy:metronome" />\n</initialized>\n'
        '<gc-op id="4" type="heartbeat" timestamp="2026-11-25T10:00:02.000">\n'
        '  <quanta quantumCount="100" minTimeMs="0.500" meanTimeMs="1.000" maxTimeMs="3.000" />\n</gc-op>\n',
        encoding="utf-8",
    )
    log = read_gc_logs([path])
    assert log.unknown is not None
    assert log.unknown.startswith("metronome")
    assert log.totals(0, 4e9) == GcTotals()
    assert log.settings.policy == "-Xgcpolicy:metronome"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("durationms", "durationus"),
        ("<exclusive-end", "<exclusive-stop"),
        ('timestamp="2026-11-20T10:49:40', 'timestamp="20.11.2026 10:49:40'),
        ("<verbosegc", "<gc"),
        ("gcPolicy", "policy"),
    ],
)
def test_an_openj9_log_of_another_format_is_unknown(old: str, new: str, tmp_path: Path) -> None:
    text = (LOGS / "openj9-gencon-truncated.txt").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "gc.log"
    path.write_text(
        text.replace(old, new) if old != "gcPolicy" else text[:800].replace(old, new), encoding="utf-8"
    )
    assert read_gc_logs([path]).totals(0, 4e9) == GcTotals()


def test_large_pages_are_told_in_words_that_are_known() -> None:
    text = (LOGS / "hotspot17-parallel.txt").read_text(encoding="utf-8")
    assert parse_gc_log(text).settings.large_pages == "Disabled"
    assert parse_gc_log(text.replace("Support: Disabled", "Support: Off")).settings.large_pages is None


def test_what_was_allocated_is_unknown_where_the_last_section_is_whole_and_does_not_tell_it() -> None:
    text = (LOGS / "openj9-gencon-truncated.txt").read_text(encoding="utf-8")
    last = text.rindex("<allocation-stats")
    assert parse_gc_log(text).allocated
    assert parse_gc_log(text[: last + len("<allocation-stats tot")]).allocated, "it was cut off there"
    assert parse_gc_log(text[:last] + text[last:].replace(" totalBytes=", " bytes=", 1)).allocated == ()
