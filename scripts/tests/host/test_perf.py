# SPDX-License-Identifier: Apache-2.0
"""The name by which perf counts an event here. The rows of hybrid processors are made up, true to perf's format."""

from pathlib import Path

import pytest
import trees

from steelyard.errors import MissingRequirement
from steelyard.host.core_kinds import core_units
from steelyard.host.perf import counted_name
from steelyard.host.system import System

HYBRID = """\
<not counted>,,cpu_atom/cycles/,0,0.00,,
1203344,,cpu_core/cycles/,812001,100.00,,
"""


@pytest.mark.parametrize(
    ("rows", "units", "name"),
    [
        ("1203344,,cycles,812001,100.00,,\n", (), "cycles"),
        ("<not supported>,,cycles,0,100.00,,\n", (), None),
        ("1203344,,cycles:u,812001,100.00,,\n", (), None),
        (HYBRID, ("cpu_core",), "cpu_core/cycles/"),
        # The trial ran on a fast core: the others count as well.
        (HYBRID, ("cpu_atom",), "cpu_atom/cycles/"),
        (HYBRID.replace("<not counted>", "<not supported>"), ("cpu_atom",), None),
        (HYBRID.replace("1203344", "<not supported>"), ("cpu_core",), None),
        ("", ("cpu_core",), None),
    ],
)
def test_an_event_goes_by_the_unit_of_the_servers_cores(rows: str, units: tuple[str, ...], name: str) -> None:
    assert counted_name("cycles", rows, units) == name


def test_servers_on_cores_of_two_units_are_told_why_nothing_can_be_counted() -> None:
    with pytest.raises(
        MissingRequirement, match="cores of cpu_atom and cpu_core, each of which counts alone"
    ):
        counted_name("cycles", HYBRID, ["cpu_core", "cpu_atom"])
    assert (
        counted_name("task-clock", "3.1,msec,task-clock,3,100.00,,\n", ["cpu_core", "cpu_atom"])
        == "task-clock"
    )


def test_the_units_are_those_of_the_cpus(tmp_path: Path) -> None:
    trees.put(tmp_path, "sys/devices/cpu_core/cpus", "0-1")
    trees.put(tmp_path, "sys/devices/cpu_atom/cpus", "2-3")
    assert core_units(System(tmp_path), [0, 1]) == {"cpu_core"}
    assert core_units(System(tmp_path), [1, 2]) == {"cpu_core", "cpu_atom"}
    assert core_units(System(tmp_path / "other"), [0, 1]) == set()
