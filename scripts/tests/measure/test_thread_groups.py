# SPDX-License-Identifier: Apache-2.0
"""Thread groups, on thread tables recorded from real JVMs (name, CPU ticks)."""

from collections import Counter
from pathlib import Path

import pytest

from steelyard.measure.thread_groups import GROUPS, group_of

TABLES = Path(__file__).parents[1] / "fixtures" / "threads"


def ticks_and_threads(name: str) -> tuple[Counter[str], Counter[str]]:
    ticks: Counter[str] = Counter()
    threads: Counter[str] = Counter()
    for line in (TABLES / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        comm, used = line.split("\t")
        ticks[group_of(comm)] += int(used)
        threads[group_of(comm)] += 1
    return ticks, threads


def test_openj9_server() -> None:
    ticks, threads = ticks_and_threads("openj9")
    assert threads == {"jit": 10, "gc": 2, "request": 4, "network": 5, "other": 54}
    assert ticks["jit"] == 5888
    assert ticks["request"] == 306


def test_jitserver_is_all_compilation() -> None:
    ticks, threads = ticks_and_threads("jitserver")
    assert threads["jit"] == 64 + 3
    assert ticks["jit"] == 3364
    assert ticks["other"] == 6


def test_hotspot_server() -> None:
    ticks, threads = ticks_and_threads("hotspot")
    assert ticks["jit"] == 800 + 219 + 9
    assert ticks["gc"] == 20 + 18 + 6
    assert threads["request"] == 4
    assert ticks["network"] == 184 + 1


@pytest.mark.parametrize(
    ("comm", "group"),
    [
        ("Dedicated GC Ma", "gc"),  # as OpenJ9 21 names it under -Xgcpolicy:balanced
        ("G1 Conc#0", "gc"),
        ("G1 Main Marker", "gc"),
        ("VM Thread", "gc"),
        ("VM Periodic Tas", "other"),
        ("ZWorkerYoung#0", "gc"),
        # ZGC without generations, of JDK 21 to 23 (gc/x), and what both have beside their workers.
        *(
            (name, "gc")
            for name in ("XDirector", "XDriver", "XStat", "XUncommitter", "XUnmapper", "XWorker#1")
        ),
        *(
            (name, "gc")
            for name in ("RuntimeWorker#0", "ZDirector", "ZDriverMajor", "ZStat", "ZUncommitter#0")
        ),
        ("StringDedupThre", "gc"),  # of the setting string_deduplication; StringDedupProc in JDK 17
        ("qtp871160466-24", "request"),
        ("main", "other"),
        ("", "other"),
    ],
)
def test_single_names(comm: str, group: str) -> None:
    assert group_of(comm) == group
    assert group in GROUPS
