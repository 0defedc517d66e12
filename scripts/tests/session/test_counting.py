# SPDX-License-Identifier: Apache-2.0
"""Which events a session counts, and perf beside a real process."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Collection
from pathlib import Path

import pytest
from builders import make_component, make_spec
from waiting import wait_until

from steelyard.clock import SYSTEM
from steelyard.engines.base import Running
from steelyard.errors import BadInput, MissingRequirement
from steelyard.host import perf
from steelyard.measure.counted import Counter
from steelyard.measure.perf_stat import read_perf_stat
from steelyard.processes import Children
from steelyard.session import counting
from steelyard.session.counting import Counting, choose_counters, counts_path

SPECS = [make_spec()]


def host_with(monkeypatch: pytest.MonkeyPatch, *events: str) -> None:
    """A host on which perf counts these."""

    def event_of(counter: Counter, _units: Collection[str]) -> str | None:
        return next((event for event in counter.events if event in events), None)

    monkeypatch.setattr(counting, "event_of", event_of)


def test_nothing_is_counted_unless_it_is_asked_for() -> None:
    assert choose_counters([], [], SPECS) == ({}, [])


def test_each_counter_has_the_first_event_that_the_host_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    host_with(monkeypatch, "task-clock", "ls_l1_d_tlb_miss.all_l2_miss", "cycles")
    events, notes = choose_counters([], ["cycles", "page_walks", "walk_cycles"], SPECS)
    assert events == {
        "counted_cpu": "task-clock",
        "cycles": "cycles",
        "page_walks": "ls_l1_d_tlb_miss.all_l2_miss",
    }
    assert notes == ["Not counted, for this host does not have it: cycles in page walks."]


def test_what_the_command_line_asks_for_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    host_with(monkeypatch, "task-clock", "cpu-migrations")
    with pytest.raises(MissingRequirement, match="--counters: perf cannot count cycles here"):
        choose_counters(["cycles"], [], SPECS)
    assert choose_counters(["all"], [], SPECS)[0].keys() == {"counted_cpu", "migrations"}
    host_with(monkeypatch)
    sentence = (
        "Nothing was counted of the hardware: perf cannot count CPU time, cycles here, the kernel's part included"
        " (`./steelyard doctor`)."
    )
    assert choose_counters([], ["cycles"], SPECS) == ({}, [sentence])


def test_a_counter_that_is_none_is_refused() -> None:
    with pytest.raises(BadInput, match="counters: tlb is none: choose counted_cpu, instructions"):
        choose_counters(["tlb"], [], SPECS)


def test_pods_are_refused_and_an_experiment_that_wants_counters_is_told_why_it_has_none() -> None:
    remote = [make_spec(remote=True)]
    with pytest.raises(
        BadInput, match=r"--counters: perf counts processes of this host, and pods .*: choose"
    ):
        choose_counters(["cycles"], [], remote)
    events, (note,) = choose_counters([], ["cycles"], remote)
    assert events == {}
    assert note.startswith("Nothing was counted of the hardware: perf counts processes of this host")
    assert choose_counters([], [], remote) == ({}, [])


def test_a_host_without_perf_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    perf._try_event.cache_clear()
    with pytest.raises(MissingRequirement, match="--counters: there is no perf here: install linux-perf"):
        choose_counters(["cycles"], [], SPECS)
    _, notes = choose_counters([], ["cycles"], SPECS)
    assert notes == [
        "Nothing was counted of the hardware: there is no perf here: install linux-perf or linux-tools."
    ]


def test_a_perf_that_hangs_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "perf").write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    (tmp_path / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setattr(perf, "_TIME_LIMIT", 0.2)
    perf._try_event.cache_clear()
    says = "--counters: `perf stat -x, -e task-clock -- true` did not end within 0.2 s"
    with pytest.raises(MissingRequirement, match=re.escape(says)):
        choose_counters(["cycles"], [], SPECS)


BUSY = """
import mmap, os, sys, threading, time
def work():
    while not os.path.exists(sys.argv[1]):
        memory = mmap.mmap(-1, 1 << 20)
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1
        memory.close()
        time.sleep(0.001)
def start():
    threading.Thread(target=work).start()
    if os.fork() == 0:
        work()
        os._exit(0)
    work()
    os.wait()
start()
open(sys.argv[2], "w").write(str(sum(os.times()[:4])))
"""


@pytest.mark.full
def test_perf_counts_what_a_real_component_does(tmp_path: Path) -> None:
    """Events of the kernel, which every machine has, of a thread and a child that begin after perf was attached as
    well; held against what the kernel tells of its CPU time."""
    events = {"counted_cpu": "task-clock", "counted_switches": "context-switches", "faults": "page-faults"}
    end, told = tmp_path / "end", tmp_path / "told"
    gate = tmp_path / "gate"
    waiting = f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.01)\n"
    with (
        Children() as children,
        subprocess.Popen([sys.executable, "-c", waiting + BUSY, str(end), str(told)]) as process,
    ):
        count = Counting(events, tmp_path, children, SYSTEM)
        begin = time.time()
        try:
            count.start([Running(make_component(name="server-1"), [process.pid], begin, False, "")])
            path = counts_path(tmp_path, "server-1")
            wait_until(lambda: "page-faults" in path.read_text(encoding="utf-8"), "a second of perf")
            gate.touch()
            wait_until(
                lambda: len(read_perf_stat(path).events["page-faults"].count.t) > 4, "four seconds of perf"
            )
        finally:
            gate.touch()
            end.touch()
            process.wait()
            count.stop()
    stat = read_perf_stat(path)
    times = stat.events["page-faults"].count.t
    assert times[0] >= begin
    cpu, switches, faults = (
        stat.growth(event, float(times[0]), float(times[-1])) for event in events.values()
    )
    assert isinstance(cpu, float), cpu
    assert isinstance(switches, float), switches
    assert isinstance(faults, float), faults
    used = float(told.read_text(encoding="utf-8"))
    # The interpreter's own start came before perf.
    assert used - 1.0 < cpu / 1000 < used + 0.1
    assert switches > 100
    assert faults > 256 * 4
