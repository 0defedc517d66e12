# SPDX-License-Identifier: Apache-2.0
"""What the benchmark of the first report reads of a session's output, and the table that it makes."""

import runpy

from steelyard.paths import ROOT

SCRIPT = runpy.run_path(str(ROOT / "scripts" / "bench" / "first_report.py"))


def test_times_are_those_of_the_first_line_of_each_sort() -> None:
    lines = [
        (40.0, "Number of JVMs: 10 trials, about 5 min; results/x"),
        (41.0, "note: interim reports come after each block"),
        (42.5, "trial 1 of 10: block 1, jvms-2"),
        (150.0, "note: interim, after 2 of 5 blocks: throughput of 2 JVMs +10 %"),
        (180.0, "note: interim, after 3 of 5 blocks: throughput of 2 JVMs +11 %"),
        (300.0, "report: results/x/report.html"),
    ]
    assert list(SCRIPT["times_of"](lines).values()) == [42.5, 150.0, 300.0]


def test_a_run_that_lacks_a_part_has_a_dash_in_the_table() -> None:
    rows = SCRIPT["table"]([{"a": 1.0, "exit code": "0"}, {"exit code": "9"}]).splitlines()
    assert rows[2:] == ["| a | 1.0 | - |", "| exit code | 0 | 9 |"]
