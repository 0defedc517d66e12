# SPDX-License-Identifier: Apache-2.0
"""The file in which HotSpot keeps its counters: made-up ones in both byte orders, and those of a real JVM."""

import os
import re
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from builders import make_component, make_window
from waiting import wait_until

from steelyard.measure.jvm import (
    classes_loaded,
    compile_seconds,
    lock_waits,
    safepoint_seconds,
    safepoints,
)
from steelyard.measure.samples import Samples, Table
from steelyard.measure.series import Series
from steelyard.measure.window import Unknown
from steelyard.sampling.hsperf import JVM_COLUMNS, JvmFiles, PerfFile, find_file

COUNTERS = {name: 10 * number for number, name in enumerate(JVM_COLUMNS.values(), start=1)}
FREQUENCY = "sun.os.hrt.frequency"
JVM = Path(__file__).parents[1] / "fixtures" / "jvm"


def perf_data(counters: dict[str, int], order: str = "<") -> bytes:
    """Such a file, with an entry of text and one of bytes between the counters."""
    entries = []
    for name, value in {"java.property.java.version": None, **counters, "sun.ci.lastType": None}.items():
        text = name.encode() + b"\0"
        value_at = (20 + len(text) + 7) // 8 * 8
        content = b"17.0.15\0" if value is None else struct.pack(f"{order}q", value)
        kind = ord("B" if value is None else "J")
        head = struct.pack(f"{order}iiibbbbi", value_at + 8, 20, 0, kind, 0, 1, 1, value_at)
        entries.append((head + text).ljust(value_at, b"\0") + content)
    head = struct.pack(">IBBBB", 0xCAFEC0C0, int(order == "<"), 2, 0, 1)
    body = b"".join(entries)
    head += struct.pack(f"{order}iiqii", 32 + len(body), 0, 0, 32, len(entries))
    return head.ljust(32, b"\0") + body


@pytest.mark.parametrize("order", ["<", ">"])
def test_counters_are_read_in_either_byte_order_and_ticks_become_seconds(tmp_path: Path, order: str) -> None:
    path = tmp_path / "4711"
    path.write_bytes(perf_data(COUNTERS | {FREQUENCY: 10}, order))
    file = PerfFile(path)
    values = file.read()
    assert values is not None
    assert values["compilations"] == COUNTERS["sun.ci.totalCompiles"]
    assert values["safepoint_s"] == COUNTERS["sun.rt.safepointTime"] / 10
    with path.open("r+b") as written:
        written.write(perf_data(COUNTERS | {"sun.rt.safepoints": 99, FREQUENCY: 10}, order))
    again = file.read()
    assert again is not None
    assert again["safepoints"] == 99


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xca\xfe\xc0\xc0",
        b"no such file".ljust(64),
        perf_data({FREQUENCY: 1}),
        perf_data(COUNTERS)[:200],
    ],
)
def test_a_file_that_is_none_or_is_not_whole_yet_tells_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "4711"
    path.write_bytes(content)
    assert PerfFile(path).read() is None


def test_it_is_found_in_the_view_of_its_process(tmp_path: Path) -> None:
    """A container's /tmp and process id are its own."""
    process = tmp_path / "proc" / "4711"
    folder = process / "root" / "tmp" / "hsperfdata_server"
    folder.mkdir(parents=True)
    (folder / "7").write_bytes(perf_data(COUNTERS | {FREQUENCY: 1}))
    (process / "status").write_text("Name:\tjava\nNSpid:\t4711\t7\n", encoding="ascii")
    (process / "comm").write_text("python3\n", encoding="ascii")
    assert find_file(4711, str(tmp_path / "proc")) is None
    (process / "comm").write_text("java\n", encoding="ascii")
    file = find_file(4711, str(tmp_path / "proc"))
    assert file is not None
    assert file.read() is not None


def test_what_is_no_jvm_has_no_figures() -> None:
    assert JvmFiles().read([os.getpid()]) is None


def table(**columns: tuple[float, float]) -> Table:
    return {
        ("server-1", name): Series.of([(0.0, first), (60.0, last)]) for name, (first, last) in columns.items()
    }


def test_figures_are_what_the_counters_grew_by() -> None:
    jvm = table(
        safepoints=(3, 15),
        safepoint_s=(0.5, 0.75),
        classes=(100, 110),
        shared_classes=(50, 52),
        compile_s=(9, 2),
    )
    window, component = make_window(Samples({}, {}, {}, {}, jvm=jvm)), make_component(name="server-1")
    assert safepoints.read(window, component) == 12
    assert safepoint_seconds.read(window, component) == 0.25
    assert classes_loaded.read(window, component) == 12
    ended = compile_seconds.read(window, component)
    assert isinstance(ended, Unknown)
    assert ended.reason.startswith("a JVM of it ended")
    assert safepoints.read(make_window(Samples({}, {}, {}, {})), component) is None


@pytest.mark.parametrize(
    ("counts", "known"),
    [
        ([(0.0, 100), (20.0, 300), (21.0, 150), (60.0, 500)], False),
        ([(-1.0, 300), (1.0, 150), (60.0, 500)], False),
        ([(-1.0, 300), (0.0, 100), (60.0, 500), (61.0, 150)], True),
        ([(0.0, 100), (20.0, 100), (60.0, 500)], True),
    ],
)
def test_of_several_jvms_the_end_of_one_is_seen_though_the_others_count_on(
    counts: list[tuple[float, float]], known: bool
) -> None:
    jvm: Table = {("server-1", "safepoints"): Series.of(counts)}
    grown = safepoints.read(make_window(Samples({}, {}, {}, {}, jvm=jvm)), make_component(name="server-1"))
    if known:
        assert grown == 400
    else:
        assert isinstance(grown, Unknown)
        assert grown.reason.startswith("a JVM of it ended")


WAITS = 20
"""For a monitor, of the one thread of LockWaits.java that waits for it."""


def recorded(folder: Path, name: str) -> PerfFile:
    """The file of a real JVM that ran LockWaits.java, before its thread waited or after."""
    with zipfile.ZipFile(JVM / "hsperfdata.zip") as files:
        return PerfFile(Path(files.extract(name, folder)))


@pytest.mark.parametrize("release", [17, 25])
def test_waits_for_locks_are_counted_up_to_hotspot_24_and_unknown_later(tmp_path: Path, release: int) -> None:
    before, after = (recorded(tmp_path, f"{when}-{release}").read() for when in ("before", "after"))
    assert before is not None
    assert after is not None
    # What HotSpot 25 does not count leaves all that it does.
    assert (after["compilations"] or 0) > (before["compilations"] or 0) > 0
    counted = {
        column: Series.of(
            [(at, value) for at, value in enumerate((before[column], after[column])) if value is not None]
        )
        for column in ("safepoints", "lock_waits")
    }
    jvm: Table = {("server-1", column): series for column, series in counted.items() if series.t.size}
    window = make_window(Samples({}, {}, {}, {}, jvm=jvm), end=1.0)
    assert lock_waits.read(window, make_component(name="server-1")) == (WAITS if release == 17 else None)


def test_a_counter_that_a_jvm_has_is_never_taken_for_one_that_it_lacks(tmp_path: Path) -> None:
    """A JVM makes its counters one after another, and may be read meanwhile."""
    file = recorded(tmp_path, "after-17")
    path = tmp_path / "after-17"
    whole = path.read_bytes()
    (entries,) = struct.unpack_from("<i", whole, 28)
    seen = []
    for made in range(entries + 1):
        path.write_bytes(whole[:28] + struct.pack("<i", made) + whole[32:])
        seen.append(PerfFile(path).read())
    assert file.read() == seen[-1]
    assert {None if values is None else values["lock_waits"] for values in seen} == {None, WAITS}
    assert all(values is None or None not in values.values() for values in seen)


def test_of_several_jvms_one_that_does_not_count_leaves_no_sum(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steelyard.sampling.hsperf.find_file", lambda pid: recorded(tmp_path, f"after-{pid}"))
    assert (JvmFiles().read([17]) or {})["lock_waits"] == WAITS
    both = JvmFiles().read([17, 25])
    assert both is not None
    assert both["lock_waits"] is None
    assert both["safepoints"] == 2


PROGRAM = """
public class Collect {
    public static void main(String[] arguments) throws Exception {
        for (int i = 0; i < 5; i++) System.gc();
        System.out.println("collected");
        System.in.read();
    }
}
"""


@pytest.mark.full
def test_a_real_jvm_tells_what_its_own_log_does(tmp_path: Path) -> None:
    source, log = tmp_path / "Collect.java", tmp_path / "safepoints.log"
    source.write_text(PROGRAM, encoding="ascii")
    command = ["java", "-Xmx64m", f"-Xlog:safepoint:file={log}", str(source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as java:
        assert java.stdout is not None
        assert java.stdin is not None
        assert java.stdout.readline() == "collected\n"
        files = JvmFiles()

        def logged() -> list[str]:
            return re.findall(r"Reaching safepoint: (\d+) ns", log.read_text(encoding="utf-8"))

        def told_at_rest() -> dict[str, float] | None:
            before, told, after = len(logged()), files.read([java.pid]), len(logged())
            if told is None or not before == told["safepoints"] == after:
                return None
            return {column: value for column, value in told.items() if value is not None}

        told = wait_until(told_at_rest, "the JVM's file and its log to agree")
        java.stdin.close()
    assert told is not None
    reaching = sum(int(nanoseconds) for nanoseconds in logged()[: int(told["safepoints"])])
    assert told["to_safepoint_s"] == pytest.approx(reaching / 1e9, rel=0.05)
    assert told["safepoints"] >= 5
    assert told["classes"] + told["shared_classes"] > 300
    assert told["compilations"] > 0


@pytest.mark.full
def test_a_real_jvm_counts_as_many_waits_for_locks_as_its_own_threads_do() -> None:
    command = ["java", "-Xmx64m", str(JVM / "LockWaits.java")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as java:
        assert java.stdout is not None
        assert java.stdin is not None
        files = JvmFiles()
        assert java.stdout.readline() == "started\n"
        before = wait_until(lambda: files.read([java.pid]), "the JVM's file")
        java.stdin.write("\n")
        java.stdin.flush()
        assert java.stdout.readline() == f"{WAITS}\n"
        of_all = int(java.stdout.readline())
        after = files.read([java.pid])
        java.stdin.close()
    assert before is not None
    assert after is not None
    if before["lock_waits"] is None:
        pytest.skip("HotSpot counts no waits for locks from release 25 on")
    assert (after["lock_waits"] or 0) - before["lock_waits"] == of_all
